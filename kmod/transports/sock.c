// SPDX-License-Identifier: GPL-2.0
/*
 * What transports with sockets share: making a socket for an application, and the callbacks of a
 * socket. The callbacks run in softirq or a sender's backlog; they only set flags and wake.
 */
#include <linux/file.h>
#include <linux/tcp.h>
#include <net/tcp.h>
#include <net/tls.h>

#include "core/link.h"
#include "egress/port.h"
#include "exec/kick.h"
#include "transports/sock.h"

static void mrpc_sock_data_ready(struct sock *sk)
{
	struct mrpc_link *link;

	read_lock_bh(&sk->sk_callback_lock);
	link = sk->sk_user_data;
	if (link)
		mrpc_link_kick_rx(link);
	read_unlock_bh(&sk->sk_callback_lock);
}

static void mrpc_sock_write_space(struct sock *sk)
{
	struct mrpc_link *link;

	read_lock_bh(&sk->sk_callback_lock);
	link = sk->sk_user_data;
	if (link && mrpc_link_in_domain(link))
		mrpc_link_kick_room(link);
	else if (link && sk_stream_is_writeable(sk) &&
		 test_and_clear_bit(SOCK_NOSPACE, &sk->sk_socket->flags))
		mrpc_link_kick_tx(link);
	read_unlock_bh(&sk->sk_callback_lock);
}

/*
 * Keeps the error of a socket. Send and receive take the error out of the socket: the second of
 * them would see an orderly end or a broken pipe.
 */
static void mrpc_sock_note_error(struct mrpc_link *link, const struct sock *sk)
{
	int err = READ_ONCE(sk->sk_err);

	if (err && err != EPIPE)
		cmpxchg(&link->err, 0, -err);
}

/* The socket is connected, was reset or its stream ended: the receive side finds out which. */
static void mrpc_sock_state_change(struct sock *sk)
{
	struct mrpc_link *link;

	read_lock_bh(&sk->sk_callback_lock);
	link = sk->sk_user_data;
	if (link && inet_sk_state_load(sk) == TCP_ESTABLISHED) {
		mrpc_link_kick_tx(link);
	} else if (link) {
		mrpc_sock_note_error(link, sk);
		mrpc_link_kick_rx(link);
	}
	read_unlock_bh(&sk->sk_callback_lock);
}

/*
 * TLS stays between the socket and the link where there is room to send: it sends first what it has
 * encrypted. Input is reported as it comes, as an input that TLS refuses never becomes a record. It
 * is reported again by the work that TLS does when it had no memory.
 */
static void mrpc_sock_hook_tls(struct sock *sk, struct mrpc_sock_hooks *hooks)
{
	struct tls_context *ctx = tls_get_ctx(sk);

	hooks->write_space = ctx->sk_write_space;
	hooks->record_ready = tls_sw_ctx_rx(ctx)->saved_data_ready;
	ctx->sk_write_space = mrpc_sock_write_space;
	tls_sw_ctx_rx(ctx)->saved_data_ready = mrpc_sock_data_ready;
}

static void mrpc_sock_unhook_tls(struct sock *sk, const struct mrpc_sock_hooks *hooks)
{
	struct tls_context *ctx = tls_get_ctx(sk);

	ctx->sk_write_space = hooks->write_space;
	tls_sw_ctx_rx(ctx)->saved_data_ready = hooks->record_ready;
}

/**
 * mrpc_sock_hook() - make the events of a socket those of a connection
 * @link: the link
 * @sk: the socket; its sk_user_data refers to @link until mrpc_sock_unhook()
 * @hooks: out: what to give to mrpc_sock_unhook()
 *
 * Context: process.
 * Return: 0; -EALREADY: another user has taken the socket.
 */
int mrpc_sock_hook(struct mrpc_link *link, struct sock *sk, struct mrpc_sock_hooks *hooks)
{
	int err = 0;

	write_lock_bh(&sk->sk_callback_lock);
	if (mrpc_sock_taken(sk, link->tls_version)) {
		err = -EALREADY;
	} else {
		hooks->data_ready = sk->sk_data_ready;
		hooks->state_change = sk->sk_state_change;
		sk->sk_user_data = link;
		sk->sk_data_ready = mrpc_sock_data_ready;
		sk->sk_state_change = mrpc_sock_state_change;
		if (link->tls_version) {
			mrpc_sock_hook_tls(sk, hooks);
		} else {
			hooks->write_space = sk->sk_write_space;
			sk->sk_write_space = mrpc_sock_write_space;
		}
		mrpc_sock_note_error(link, sk);
	}
	write_unlock_bh(&sk->sk_callback_lock);
	return err;
}
EXPORT_SYMBOL_GPL(mrpc_sock_hook);

/**
 * mrpc_sock_unhook() - put a socket's own callbacks back
 * @sk: the socket
 * @hooks: from mrpc_sock_hook()
 *
 * No callback into the connection runs afterwards. Context: process.
 */
void mrpc_sock_unhook(struct sock *sk, const struct mrpc_sock_hooks *hooks)
{
	write_lock_bh(&sk->sk_callback_lock);
	sk->sk_user_data = NULL;
	sk->sk_data_ready = hooks->data_ready;
	sk->sk_state_change = hooks->state_change;
	if (hooks->record_ready)
		mrpc_sock_unhook_tls(sk, hooks);
	else
		sk->sk_write_space = hooks->write_space;
	write_unlock_bh(&sk->sk_callback_lock);
}
EXPORT_SYMBOL_GPL(mrpc_sock_unhook);

/**
 * mrpc_sock_new() - make a socket for an IP address that an application gave
 * @net: the namespace of the socket
 * @protocol: IPPROTO_TCP or IPPROTO_UDP
 * @addr: the address
 * @addr_len: bytes of @addr, at most those of @ss
 * @ss: out: the address, followed by zeros
 * @sock: out: the socket
 * @why: out: the reason of a failure that the errno does not tell
 *
 * It is a user's socket: security hooks and accounting apply, and it holds a reference to the
 * namespace. Context: process; may sleep.
 * Return: 0 or a negative errno.
 */
int mrpc_sock_new(struct net *net, int protocol, const void *addr, u32 addr_len,
		  struct sockaddr_storage *ss, struct socket **sock, const char **why)
{
	int err;

	memset(ss, 0, sizeof(*ss));
	memcpy(ss, addr, min_t(size_t, addr_len, sizeof(*ss)));
	if (!((ss->ss_family == AF_INET && addr_len >= sizeof(struct sockaddr_in)) ||
	      (ss->ss_family == AF_INET6 && addr_len >= sizeof(struct sockaddr_in6)))) {
		*why = "the address is no sockaddr_in or sockaddr_in6";
		return -EAFNOSUPPORT;
	}
	err = __sock_create(net, ss->ss_family,
			    protocol == IPPROTO_TCP ? SOCK_STREAM : SOCK_DGRAM, protocol, sock, 0);
	/* "Any address" means both families, whatever net.ipv6.bindv6only says. */
	if (!err && ss->ss_family == AF_INET6)
		(*sock)->sk->sk_ipv6only = false;
	return err;
}
EXPORT_SYMBOL_GPL(mrpc_sock_new);

/**
 * mrpc_sock_put() - give up the reference to a socket, made here or taken from an application
 * @sock: the socket
 *
 * Context: process; may sleep.
 */
void mrpc_sock_put(struct socket *sock)
{
	if (sock->file)
		sockfd_put(sock);
	else
		sock_release(sock);
}
EXPORT_SYMBOL_GPL(mrpc_sock_put);

/**
 * mrpc_sock_connect() - begin a TCP connection to an address that an application gave
 * @link: the link; its peer's address is filled in
 * @addr: the address
 * @addr_len: bytes of @addr
 * @attach: makes the socket that of the link. It may not be connected yet
 * @why: out: the reason of a failure that the errno does not tell
 *
 * Context: process; may sleep. Return: 0 or a negative errno.
 */
int mrpc_sock_connect(struct mrpc_link *link, const void *addr, u32 addr_len,
		      mrpc_sock_attach attach, const char **why)
{
	struct sockaddr_storage ss;
	struct socket *sock;
	int err;

	err = mrpc_sock_new(link->net, IPPROTO_TCP, addr, addr_len, &ss, &sock, why);
	if (err)
		return err;
	err = kernel_connect(sock, (struct sockaddr *)&ss, addr_len, O_NONBLOCK);
	if (err == -EINPROGRESS)
		err = 0;
	if (!err) {
		link->peer = ss;
		err = attach(link, sock);
	}
	if (err)
		sock_release(sock);
	return err;
}
EXPORT_SYMBOL_GPL(mrpc_sock_connect);

/**
 * mrpc_sock_prepare() - set the options of a link's TCP socket, and note its addresses
 * @link: the link; its keepalive tells for how long a peer may not answer
 * @sock: the socket
 *
 * Context: process; may sleep.
 */
void mrpc_sock_prepare(struct mrpc_link *link, struct socket *sock)
{
	u64 timeout = div_u64(link->keepalive, NSEC_PER_MSEC);

	/* What an application can have set on a socket that it hands over: a close that waits,
	 * bytes that wait for others, a wake-up that comes late, a look that begins elsewhere.
	 */
	lock_sock(sock->sk);
	sock_reset_flag(sock->sk, SOCK_LINGER);
	WRITE_ONCE(sock->sk->sk_rcvlowat, 1);
	WRITE_ONCE(sock->sk->sk_peek_off, -1);
	release_sock(sock->sk);
	tcp_sock_set_cork(sock->sk, false);
	tcp_sock_set_nodelay(sock->sk);
	/* sk_use_task_frag stays set: the sender is a task that is in no other send, and memory
	 * reclaim does not wait for this socket. A fragment of the socket's own would be 32 KiB
	 * for each idle connection.
	 */
	/* Without a timeout, a peer that answers window probes and does not read would hold
	 * pages of the heap for ever.
	 */
	tcp_sock_set_user_timeout(sock->sk, clamp_t(u64, 3 * timeout, 1, INT_MAX));
	kernel_getsockname(sock, (struct sockaddr *)&link->local);
	kernel_getpeername(sock, (struct sockaddr *)&link->peer);
}
EXPORT_SYMBOL_GPL(mrpc_sock_prepare);

/**
 * mrpc_sock_discard() - take unread input: otherwise tcp_close() would reset
 * @sock: the socket
 *
 * Context: process; may sleep.
 */
void mrpc_sock_discard(struct socket *sock)
{
	struct msghdr msg = {};
	struct kvec kv = { .iov_len = INT_MAX };

	/* One round: the socket's buffer limits it, at any speed of the peer. */
	kernel_recvmsg(sock, &msg, &kv, 1, kv.iov_len, MSG_DONTWAIT | MSG_TRUNC);
}
EXPORT_SYMBOL_GPL(mrpc_sock_discard);

/**
 * mrpc_sock_backlog() - return the bytes that the peer has not acknowledged
 * @sk: a TCP socket
 *
 * Context: any.
 */
u64 mrpc_sock_backlog(const struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	return READ_ONCE(tp->write_seq) - READ_ONCE(tp->snd_una);
}
EXPORT_SYMBOL_GPL(mrpc_sock_backlog);

/**
 * mrpc_sock_unacked() - return true if the peer has something to acknowledge
 * @sk: a TCP socket
 *
 * A FIN does not count: it may take its time. Context: any.
 */
bool mrpc_sock_unacked(const struct sock *sk)
{
	return inet_sk_state_load(sk) != TCP_CLOSE && mrpc_sock_backlog(sk) > 1;
}
EXPORT_SYMBOL_GPL(mrpc_sock_unacked);
