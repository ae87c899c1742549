// SPDX-License-Identifier: GPL-2.0
/*
 * What transports with sockets share: making a socket for an application, and the callbacks of a
 * socket. The callbacks run in softirq or a sender's backlog; they only set flags and wake.
 */
#include <linux/fs.h>
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

/*
 * TLS has a record, found by a context other than a read: by its work, which goes on where it had
 * no memory. A read finds the next record itself.
 */
static void mrpc_sock_record_ready(struct sock *sk)
{
	if (!READ_ONCE(tls_sw_ctx_rx(tls_get_ctx(sk))->reader_present))
		mrpc_sock_data_ready(sk);
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
 * encrypted. Input is reported as it comes. The socket is locked.
 */
static void mrpc_sock_hook_tls(struct sock *sk, struct mrpc_sock_hooks *hooks)
{
	struct tls_context *ctx = tls_get_ctx(sk);

	hooks->write_space = ctx->sk_write_space;
	hooks->record_ready = tls_sw_ctx_rx(ctx)->saved_data_ready;
	ctx->sk_write_space = mrpc_sock_write_space;
	tls_sw_ctx_rx(ctx)->saved_data_ready = mrpc_sock_record_ready;
}

static void mrpc_sock_unhook_tls(struct sock *sk, const struct mrpc_sock_hooks *hooks)
{
	struct tls_context *ctx = tls_get_ctx(sk);

	ctx->sk_write_space = hooks->write_space;
	tls_sw_ctx_rx(ctx)->saved_data_ready = hooks->record_ready;
}

/* The socket reports an error, and nothing else: TLS cannot take a record, or make one. */
static void mrpc_sock_error_report(struct sock *sk)
{
	struct mrpc_link *link;

	read_lock_bh(&sk->sk_callback_lock);
	link = sk->sk_user_data;
	if (link) {
		mrpc_link_kick_rx(link);
		mrpc_link_kick_tx(link);
	}
	read_unlock_bh(&sk->sk_callback_lock);
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

	lock_sock(sk);	/* TLS calls back under it */
	write_lock_bh(&sk->sk_callback_lock);
	if (mrpc_sock_taken(sk, link->tls_version)) {
		err = -EALREADY;
	} else {
		hooks->data_ready = sk->sk_data_ready;
		hooks->state_change = sk->sk_state_change;
		hooks->error_report = sk->sk_error_report;
		sk->sk_user_data = link;
		sk->sk_data_ready = mrpc_sock_data_ready;
		sk->sk_state_change = mrpc_sock_state_change;
		sk->sk_error_report = mrpc_sock_error_report;
		if (link->tls_version) {
			mrpc_sock_hook_tls(sk, hooks);
		} else {
			hooks->write_space = sk->sk_write_space;
			sk->sk_write_space = mrpc_sock_write_space;
		}
		mrpc_sock_note_error(link, sk);
	}
	write_unlock_bh(&sk->sk_callback_lock);
	release_sock(sk);
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
	lock_sock(sk);
	write_lock_bh(&sk->sk_callback_lock);
	sk->sk_user_data = NULL;
	sk->sk_data_ready = hooks->data_ready;
	sk->sk_state_change = hooks->state_change;
	sk->sk_error_report = hooks->error_report;
	if (hooks->record_ready)
		mrpc_sock_unhook_tls(sk, hooks);
	else
		sk->sk_write_space = hooks->write_space;
	write_unlock_bh(&sk->sk_callback_lock);
	release_sock(sk);
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
 * mrpc_sock_close() - close the socket of a link
 * @sock: the socket; the caller has the only reference
 *
 * A socket that was taken from an application is closed a moment later, by the kernel: that takes
 * the lock of its inode, which must not be taken under those of a link. If it is to be reset, its
 * queues, which hold pages of a session, are emptied before the function returns.
 *
 * Context: process; may sleep.
 */
void mrpc_sock_close(struct socket *sock)
{
	struct sock *sk = sock->sk;

	if (!sock->file) {
		sock_release(sock);
		return;
	}
	if (sock_flag(sk, SOCK_LINGER) && !inet_csk_has_ulp(sk)) {
		lock_sock(sk);
		tcp_disconnect(sk, 0);
		release_sock(sk);
	}
	fput(sock->file);
}
EXPORT_SYMBOL_GPL(mrpc_sock_close);

/**
 * mrpc_sock_put() - close a socket that is of no link
 * @sock: the socket; the caller has the only reference
 *
 * It is closed before the function returns: sockets that wait to be accepted call this module.
 * Context: process; may sleep; no lock of a link is held.
 */
void mrpc_sock_put(struct socket *sock)
{
	if (sock->file)
		__fput_sync(sock->file);
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

/*
 * Resets what an application can have set on a socket that it hands over: a close that waits, TLS
 * that waits to send what it has encrypted, a wake-up that comes late, a look that begins elsewhere,
 * errors and time stamps that are queued for a reader that never comes.
 */
static void mrpc_sock_reset(struct sock *sk)
{
	lock_sock(sk);
	sock_reset_flag(sk, SOCK_LINGER);
	sk->sk_sndtimeo = 0;
	sk->sk_rcvtimeo = 0;
	WRITE_ONCE(sk->sk_rcvlowat, 1);
	WRITE_ONCE(sk->sk_peek_off, -1);
	WRITE_ONCE(sk->sk_tsflags, 0);
	inet_clear_bit(RECVERR, sk);
	inet_clear_bit(RECVERR6, sk);
	release_sock(sk);
	skb_queue_purge(&sk->sk_error_queue);
}

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

	mrpc_sock_reset(sock->sk);
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
