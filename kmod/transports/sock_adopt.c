// SPDX-License-Identifier: GPL-2.0
/*
 * Sockets that an application hands over. The application has made the connection, and with TLS the
 * handshake: keys are in the kernel, certificates never are. Security hooks and seccomp have seen
 * its system calls.
 */
#include <linux/fdtable.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/net.h>
#include <linux/tls.h>
#include <net/inet_connection_sock.h>
#include <net/sock.h>
#include <net/tls.h>

#include "core/link.h"
#include "transports/sock.h"
#include "transports/sock_adopt.h"

/* Return: 0 if a socket is of the kind that can be taken, in @state; else a negative errno. */
static int mrpc_sock_check(const struct sock *sk, const struct net *net, int state,
			   const char **why)
{
	if (sk->sk_type != SOCK_STREAM || sk->sk_protocol != IPPROTO_TCP ||
	    (sk->sk_family != AF_INET && sk->sk_family != AF_INET6)) {
		*why = "the descriptor is no TCP socket";
		return -EPROTOTYPE;
	}
	if (sock_net(sk) != net) {
		*why = "the socket is of another network namespace than the session";
		return -EXDEV;
	}
	/* A peer that ended at once may have said why. */
	if (inet_sk_state_load(sk) == state ||
	    (state == TCP_ESTABLISHED && inet_sk_state_load(sk) == TCP_CLOSE_WAIT))
		return 0;
	*why = state == TCP_LISTEN ? "the socket does not listen" : "the socket is not connected";
	return state == TCP_LISTEN ? -EINVAL : -ENOTCONN;
}

/*
 * The caller has a reference, and so has the process's table unless it is @closed. Another user
 * could change the socket under the link: its callbacks above all.
 */
static int mrpc_sock_alone(const struct socket *sock, bool closed, const char **why)
{
	if (file_count(sock->file) == (closed ? 1 : 2))
		return 0;
	*why = "the socket has other users: descriptors, processes, threads or rings";
	return -EBUSY;
}

/**
 * mrpc_sock_take_fd() - take a TCP socket away from the calling process
 * @net: the namespace that it must be of
 * @fd: the descriptor; -1 afterwards if it was taken away, also if that fails then
 * @state: TCP_ESTABLISHED or TCP_LISTEN
 * @sock: out: the socket, to be given to mrpc_sock_put()
 * @why: out: the reason of a failure that the errno does not tell
 *
 * Context: process; may sleep. Return: 0 or a negative errno.
 */
int mrpc_sock_take_fd(struct net *net, int *fd, int state, struct socket **sock,
		      const char **why)
{
	int err;

	*sock = sockfd_lookup(*fd, &err);
	if (!*sock) {
		*why = "there is no such descriptor, or it is no socket";
		return err;
	}
	err = mrpc_sock_check((*sock)->sk, net, state, why) ?: mrpc_sock_alone(*sock, false, why);
	if (!err) {
		/* After this no thread can get the socket, and one that has it is counted. */
		close_fd(*fd);
		*fd = -1;
		err = mrpc_sock_alone(*sock, true, why);
	}
	if (err)
		mrpc_sock_put(*sock);
	return err;
}

/* Looks at the upper-layer protocol of a socket. Return: 0: there is none, or TLS that is ready. */
static int mrpc_sock_tls(struct mrpc_link *link, struct sock *sk, const char **why)
{
	const struct tls_context *ctx;
	int err = 0;

	lock_sock(sk);
	if (!inet_csk_has_ulp(sk))
		goto out;
	err = -EPROTONOSUPPORT;
	if (strcmp(inet_csk(sk)->icsk_ulp_ops->name, "tls")) {
		*why = "the socket has an upper-layer protocol that is not TLS";
		goto out;
	}
	ctx = tls_get_ctx(sk);
	if (ctx->tx_conf != TLS_SW || ctx->rx_conf != TLS_SW) {
		*why = "the socket's TLS is not set up by software in both directions";
	} else if (ctx->prot_info.version != TLS_1_3_VERSION) {
		*why = "the socket's TLS is not of version 1.3";
	} else {
		link->tls_version = ctx->prot_info.version;
		link->tls_cipher = ctx->prot_info.cipher_type;
		err = 0;
	}
out:
	release_sock(sk);
	return err;
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

	err = mrpc_sock_take_fd(link->net, fd, TCP_ESTABLISHED, &sock, why);
	if (err)
		return err;
	err = mrpc_sock_tls(link, sock->sk, why) ?: attach(link, sock);
	if (err)
		mrpc_sock_put(sock);
	return err;
}
EXPORT_SYMBOL_GPL(mrpc_sock_adopt);
