// SPDX-License-Identifier: GPL-2.0
/*
 * Sockets that an application hands over. The application has made the connection, and with TLS the
 * handshake: keys are in the kernel, certificates never are. Security hooks and seccomp have seen
 * its system calls.
 */
#include <linux/delay.h>
#include <linux/fdtable.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/net.h>
#include <linux/tcp.h>
#include <linux/tls.h>
#include <net/inet_connection_sock.h>
#include <net/sock.h>
#include <net/tls.h>

#include "core/link.h"
#include "transports/sock.h"
#include "transports/sock_adopt.h"

#define MRPC_SOCK_TRIES		20	/* looks for other users of a socket that was taken away */
#define MRPC_SOCK_PAUSE		100	/* us between two of these */

/* Return: 0 if a socket is of the kind that can be taken, in @state; else a negative errno. */
static int mrpc_sock_check(const struct sock *sk, const struct net *net, int state,
			   const char **why)
{
	int now = inet_sk_state_load(sk);

	if (sk->sk_type != SOCK_STREAM || sk->sk_protocol != IPPROTO_TCP ||
	    (sk->sk_family != AF_INET && sk->sk_family != AF_INET6)) {
		*why = "the descriptor is no TCP socket";
		return -EPROTOTYPE;
	}
	if (sock_net(sk) != net) {
		*why = "the socket is of another network namespace than the session";
		return -EXDEV;
	}
	if (tcp_sk(sk)->repair) {
		*why = "the socket is in repair mode";
		return -EINVAL;
	}
	/* A peer that ended at once may have said why. */
	if (now == state || (state == TCP_ESTABLISHED && now == TCP_CLOSE_WAIT))
		return 0;
	*why = state == TCP_LISTEN ? "the socket does not listen" : "the socket is not connected";
	return state == TCP_LISTEN ? -EINVAL : -ENOTCONN;
}

/**
 * mrpc_sock_find() - find a TCP socket of the calling process
 * @net: the namespace that it must be of
 * @fd: the descriptor
 * @state: TCP_ESTABLISHED or TCP_LISTEN
 * @sock: out: the socket, a reference for mrpc_sock_take_over() or sockfd_put()
 * @why: out: the reason of a failure that the errno does not tell
 *
 * Context: process. Return: 0 or a negative errno.
 */
int mrpc_sock_find(struct net *net, int fd, int state, struct socket **sock, const char **why)
{
	struct socket *found;
	int err;

	found = sockfd_lookup(fd, &err);
	if (!found) {
		*why = "there is no such descriptor, or it is no socket";
		return err;
	}
	err = mrpc_sock_check(found->sk, net, state, why);
	if (err)
		sockfd_put(found);
	*sock = found;
	return err;
}

/*
 * Another user could change the socket under the link: its callbacks above all. @users: references
 * of this module, and of the process's table.
 */
static bool mrpc_sock_alone(const struct socket *sock, int users)
{
	return file_count(sock->file) == users;
}

/**
 * mrpc_sock_take_over() - take a socket away from the calling process
 * @sock: from mrpc_sock_find(); afterwards one for mrpc_sock_put(). On failure it is put
 * @fd: the descriptor; -1 afterwards if it was taken away, also if that fails then
 * @why: out: the reason of a failure
 *
 * Context: process; may sleep. Return: 0 or -EBUSY.
 */
int mrpc_sock_take_over(struct socket *sock, int *fd, const char **why)
{
	int i;

	if (mrpc_sock_alone(sock, 2)) {
		/* After this no thread can get the socket, and one that has it is counted. A look
		 * at /proc has it for a moment.
		 */
		close_fd(*fd);
		*fd = -1;
		for (i = 0; i < MRPC_SOCK_TRIES && !mrpc_sock_alone(sock, 1); i++)
			usleep_range(MRPC_SOCK_PAUSE, 2 * MRPC_SOCK_PAUSE);
		if (mrpc_sock_alone(sock, 1))
			return 0;
	}
	*why = "the socket has other users: descriptors, processes, threads or rings";
	sockfd_put(sock);
	return -EBUSY;
}

/* What is wrong with the TLS of a socket; NULL: nothing. The socket is locked. */
static const char *mrpc_sock_tls_wrong(const struct sock *sk)
{
	const struct tls_context *ctx = tls_get_ctx(sk);

	if (strcmp(inet_csk(sk)->icsk_ulp_ops->name, "tls"))
		return "the socket has an upper-layer protocol that is not TLS";
	if (ctx->tx_conf != TLS_SW || ctx->rx_conf != TLS_SW)
		return "the socket's TLS is not set up by software in both directions";
	if (ctx->prot_info.version != TLS_1_3_VERSION)
		return "the socket's TLS is not of version 1.3";
	/* That would wait for the peer as long as the application wanted it to. */
	if (ctx->partially_sent_record || !list_empty(&tls_sw_ctx_tx(ctx)->tx_list) ||
	    tls_sw_ctx_tx(ctx)->open_rec || sk->sk_write_pending)
		return "the socket's TLS has still something to send";
	return NULL;
}

/* Looks at the upper-layer protocol of a socket. Return: 0: there is none, or TLS that is ready. */
static int mrpc_sock_tls(struct mrpc_link *link, struct sock *sk, const char **why)
{
	const struct tls_prot_info *prot;
	const char *wrong = NULL;

	lock_sock(sk);
	if (inet_csk_has_ulp(sk)) {
		wrong = mrpc_sock_tls_wrong(sk);
		prot = &tls_get_ctx(sk)->prot_info;
		link->tls_version = wrong ? 0 : prot->version;
		link->tls_cipher = wrong ? 0 : prot->cipher_type;
	}
	release_sock(sk);
	if (!wrong)
		return 0;
	*why = wrong;
	return -EPROTONOSUPPORT;
}

/**
 * mrpc_sock_adopt() - begin a link with a connected socket of the calling process
 * @link: the link; its addresses and what TLS says are filled in
 * @fd: the descriptor; -1 afterwards if it was taken away
 * @attach: makes the socket that of the link
 * @why: out: the reason of a failure that the errno does not tell
 *
 * Context: process; may sleep. Return: 0 or a negative errno.
 */
int mrpc_sock_adopt(struct mrpc_link *link, int *fd, mrpc_sock_attach attach, const char **why)
{
	struct socket *sock;
	int err;

	err = mrpc_sock_find(link->net, *fd, TCP_ESTABLISHED, &sock, why);
	if (err)
		return err;
	err = mrpc_sock_tls(link, sock->sk, why);
	if (err) {
		sockfd_put(sock);
		return err;
	}
	err = mrpc_sock_take_over(sock, fd, why);
	if (err)
		return err;
	/* Until then another thread could change it. */
	err = mrpc_sock_tls(link, sock->sk, why) ?: attach(link, sock);
	if (err)
		mrpc_sock_put(sock);
	return err;
}
EXPORT_SYMBOL_GPL(mrpc_sock_adopt);
