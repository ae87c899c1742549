// SPDX-License-Identifier: GPL-2.0
/*
 * The TCP transport.
 *
 * Sockets are made in the caller's context as user sockets, so that the
 * network namespace, LSM hooks, cgroup rules and memory accounting apply as if
 * the application had made them. Callbacks in softirq only set flags and wake.
 * What is small is copied into the socket, from the rpc and from the heap; large
 * byte blocks are given to it as pages, and their owner is told when the last
 * reference to them is gone (MSG_ZEROCOPY with our own ubuf_info).
 */
#include <linux/bvec.h>
#include <linux/delay.h>
#include <linux/inet.h>
#include <linux/jiffies.h>
#include <linux/module.h>
#include <linux/net.h>
#include <linux/slab.h>
#include <linux/tcp.h>
#include <net/inet_connection_sock.h>
#include <net/sock.h>
#include <net/tcp.h>

#include "conn.h"
#include "session.h"
#include "transport.h"

#define MRPC_TCP_BVECS	32	/* pages in one send */
#define MRPC_TCP_KVECS	16	/* pieces to copy in one send */
#define MRPC_TCP_ZEROCOPY 16384	/* bytes from which pages are worth their notification */
#define MRPC_TCP_COPIED	8	/* packets whose pages were copied that make us copy */
#define MRPC_TCP_RETRY	4096	/* messages until the next try */

/* How long a close waits for what is under way. Whoever closes waits 1 s for us. */
#define MRPC_TCP_LINGER	msecs_to_jiffies(800)

/**
 * struct mrpc_tcp - one link
 *
 * Owned by its connection. @sock->sk->sk_user_data refers back to the
 * connection, under sk_callback_lock, until release.
 *
 * @sock: the socket
 * @stream: receive state; owner of the receive claim
 * @pages: the socket has been given pages of a heap; owner of the transmit claim
 * @down: send and receive fail
 * @copies: messages copied since the last try by reference; owner of the
 *	transmit claim, as the next
 * @copying: the message under way is copied
 * @linger: let the peer have what it was sent before the socket goes
 * @data_ready: the socket's own callback, put back at release
 * @write_space: likewise
 * @state_change: likewise
 */
struct mrpc_tcp {
	struct socket *sock;
	struct mrpc_stream stream;
	bool pages;
	bool down;
	u32 copies;
	bool copying;
	bool linger;
	void (*data_ready)(struct sock *sk);
	void (*write_space)(struct sock *sk);
	void (*state_change)(struct sock *sk);
};

/* A listening socket; sk_user_data refers to the listener. */
struct mrpc_tcp_listener {
	struct socket *sock;
	void (*data_ready)(struct sock *sk);
};

/* -- socket callbacks: softirq, or a sender's backlog ----------------------- */

static void mrpc_tcp_data_ready(struct sock *sk)
{
	struct mrpc_conn *conn;

	read_lock_bh(&sk->sk_callback_lock);
	conn = sk->sk_user_data;
	if (conn)
		mrpc_kick_rx(conn);
	read_unlock_bh(&sk->sk_callback_lock);
}

static void mrpc_tcp_write_space(struct sock *sk)
{
	struct mrpc_conn *conn;

	read_lock_bh(&sk->sk_callback_lock);
	conn = sk->sk_user_data;
	if (conn && sk_stream_is_writeable(sk) &&
	    test_and_clear_bit(SOCK_NOSPACE, &sk->sk_socket->flags))
		mrpc_kick_tx(conn);
	read_unlock_bh(&sk->sk_callback_lock);
}

/* Connected; or reset, or the end of the stream: the receive side finds out which. */
static void mrpc_tcp_state_change(struct sock *sk)
{
	struct mrpc_conn *conn;

	read_lock_bh(&sk->sk_callback_lock);
	conn = sk->sk_user_data;
	if (conn && inet_sk_state_load(sk) == TCP_ESTABLISHED)
		mrpc_kick_tx(conn);
	else if (conn)
		mrpc_kick_rx(conn);
	read_unlock_bh(&sk->sk_callback_lock);
}

static void mrpc_tcp_listen_ready(struct sock *sk)
{
	struct mrpc_listener *l;

	read_lock_bh(&sk->sk_callback_lock);
	l = sk->sk_user_data;
	if (l && inet_sk_state_load(sk) == TCP_LISTEN)
		mrpc_kick_listener(l);
	read_unlock_bh(&sk->sk_callback_lock);
}

/* -- links ------------------------------------------------------------------ */

static void mrpc_tcp_tune(struct socket *sock)
{
	struct sock *sk = sock->sk;

	tcp_sock_set_nodelay(sk);
	/* Nobody may sleep for memory reclaim that waits for the network. */
	lock_sock(sk);
	sk->sk_use_task_frag = false;
	release_sock(sk);
}

/* A BPF program may have given the socket to a sockmap or a ULP. Under sk_callback_lock. */
static bool mrpc_tcp_taken(const struct sock *sk)
{
	return sk->sk_user_data || inet_csk_has_ulp(sk);
}

/*
 * Make @sock the link of @conn; afterwards its events are the connection's.
 * Return: 0; -ENOMEM; -EALREADY: it is somebody else's.
 */
static int mrpc_tcp_attach(struct mrpc_conn *conn, struct socket *sock)
{
	u64 timeout = div_u64(conn->keepalive, NSEC_PER_MSEC);
	struct sock *sk = sock->sk;
	struct mrpc_tcp *tcp;
	int err = 0;

	tcp = kzalloc(sizeof(*tcp), GFP_KERNEL_ACCOUNT);
	if (!tcp)
		return -ENOMEM;
	tcp->sock = sock;
	mrpc_tcp_tune(sock);
	/* A peer that answers window probes, but does not read, would have our
	 * pages for ever.
	 */
	tcp_sock_set_user_timeout(sk, clamp_t(u64, 3 * timeout, 1, INT_MAX));
	kernel_getsockname(sock, (struct sockaddr *)&conn->local);
	kernel_getpeername(sock, (struct sockaddr *)&conn->peer);
	write_lock_bh(&sk->sk_callback_lock);
	if (mrpc_tcp_taken(sk)) {
		err = -EALREADY;
	} else {
		conn->link = tcp;
		tcp->data_ready = sk->sk_data_ready;
		tcp->write_space = sk->sk_write_space;
		tcp->state_change = sk->sk_state_change;
		sk->sk_user_data = conn;
		sk->sk_data_ready = mrpc_tcp_data_ready;
		sk->sk_write_space = mrpc_tcp_write_space;
		sk->sk_state_change = mrpc_tcp_state_change;
	}
	write_unlock_bh(&sk->sk_callback_lock);
	if (err)
		kfree(tcp);
	return err;
}

static int mrpc_tcp_socket(struct net *net, const struct sockaddr_storage *addr, u32 addr_len,
			   struct socket **sock, const char **why)
{
	if (!((addr->ss_family == AF_INET && addr_len >= sizeof(struct sockaddr_in)) ||
	      (addr->ss_family == AF_INET6 && addr_len >= sizeof(struct sockaddr_in6)))) {
		*why = "a tcp address is a sockaddr_in or sockaddr_in6";
		return -EAFNOSUPPORT;
	}
	/* A user socket: hooks, accounting and a namespace reference. */
	return __sock_create(net, addr->ss_family, SOCK_STREAM, IPPROTO_TCP, sock, 0);
}

static int mrpc_tcp_connect(struct mrpc_conn *conn, const void *addr, u32 addr_len, u64 timeout,
			    const char **why)
{
	struct sockaddr_storage ss = {};
	struct socket *sock;
	int err;

	memcpy(&ss, addr, min_t(size_t, addr_len, sizeof(ss)));
	err = mrpc_tcp_socket(conn->session->net, &ss, addr_len, &sock, why);
	if (err)
		return err;
	sock->sk->sk_sndtimeo = clamp_t(u64, nsecs_to_jiffies64(timeout), 1, MAX_SCHEDULE_TIMEOUT - 1);
	err = kernel_connect(sock, (struct sockaddr *)&ss, addr_len, timeout ? 0 : O_NONBLOCK);
	if (err == -EINPROGRESS)
		err = timeout ? -ETIMEDOUT : 0;
	if (!err) {
		conn->peer = ss;	/* it may not be connected yet */
		err = mrpc_tcp_attach(conn, sock);
	}
	if (err)
		sock_release(sock);
	return err;
}

static int mrpc_tcp_listen(struct mrpc_listener *l, const void *addr, u32 addr_len, u32 backlog,
			   const char **why)
{
	struct mrpc_tcp_listener *tl;
	struct sockaddr_storage ss = {};
	struct socket *sock;
	struct sock *sk;
	int err;

	memcpy(&ss, addr, min_t(size_t, addr_len, sizeof(ss)));
	err = mrpc_tcp_socket(l->session->net, &ss, addr_len, &sock, why);
	if (err)
		return err;
	err = -ENOMEM;
	tl = kzalloc(sizeof(*tl), GFP_KERNEL_ACCOUNT);
	if (!tl)
		goto out;
	sk = sock->sk;
	sock_set_reuseaddr(sk);
	err = kernel_bind(sock, (struct sockaddr *)&ss, addr_len);
	if (err)
		goto out;
	err = kernel_listen(sock, min(backlog, 4096U));
	if (err)
		goto out;
	err = kernel_getsockname(sock, (struct sockaddr *)&l->addr);
	if (err < 0)
		goto out;
	l->addr_len = err;
	tl->sock = sock;
	err = 0;
	write_lock_bh(&sk->sk_callback_lock);
	if (mrpc_tcp_taken(sk)) {
		err = -EALREADY;
	} else {
		l->link = tl;
		tl->data_ready = sk->sk_data_ready;
		sk->sk_user_data = l;
		sk->sk_data_ready = mrpc_tcp_listen_ready;
	}
	write_unlock_bh(&sk->sk_callback_lock);
	if (err)
		goto out;
	mrpc_kick_listener(l);
	return 0;
out:
	kfree(tl);
	sock_release(sock);
	return err;
}

static bool mrpc_tcp_waiting(struct mrpc_listener *l)
{
	struct mrpc_tcp_listener *tl = l->link;

	return !reqsk_queue_empty(&inet_csk(tl->sock->sk)->icsk_accept_queue);
}

static int mrpc_tcp_accept(struct mrpc_listener *l, struct mrpc_conn *conn)
{
	struct mrpc_tcp_listener *tl = l->link;
	struct socket *sock;
	struct sock *sk;
	int err;

	err = kernel_accept(tl->sock, &sock, O_NONBLOCK);
	if (err)
		return err;
	sk = sock->sk;
	/* The child inherited the listener's callback and user data, if these
	 * were set when it was made, and if nobody else has put his there.
	 */
	write_lock_bh(&sk->sk_callback_lock);
	if (sk->sk_user_data == l)
		sk->sk_user_data = NULL;
	if (sk->sk_data_ready == mrpc_tcp_listen_ready)
		sk->sk_data_ready = tl->data_ready;
	write_unlock_bh(&sk->sk_callback_lock);
	if (conn)
		err = mrpc_tcp_attach(conn, sock);
	if (!conn || err)
		sock_release(sock);
	return err;
}

static void mrpc_tcp_unlisten(struct mrpc_listener *l)
{
	struct mrpc_tcp_listener *tl = l->link;
	struct sock *sk;

	if (!tl)
		return;
	sk = tl->sock->sk;
	write_lock_bh(&sk->sk_callback_lock);
	sk->sk_user_data = NULL;
	sk->sk_data_ready = tl->data_ready;
	write_unlock_bh(&sk->sk_callback_lock);
	sock_release(tl->sock);
	kfree(tl);
	l->link = NULL;
}

/* -- sending ---------------------------------------------------------------- */

/*
 * Gather the byte section from where @rpc is in it into @bv: pages of the heap,
 * and of zeros for the padding between blocks.
 * Return: number of entries; @bytes: what they hold.
 */
static u32 mrpc_tcp_gather(const struct mrpc_rpc *rpc, struct bio_vec *bv, u32 *bytes)
{
	u32 i, n = 0, at = rpc->seg_done;

	*bytes = 0;
	for (i = rpc->seg; i < rpc->buf.nr_segs && n < MRPC_TCP_BVECS; i++) {
		const struct mrpc_msg_seg *seg = &rpc->buf.segs[i];
		u32 padded = ALIGN(seg->len, 8);

		while (at < seg->len && n < MRPC_TCP_BVECS) {
			u64 src = seg->src + at;
			u32 len = min_t(u32, seg->len - at, PAGE_SIZE - offset_in_page(src));

			bvec_set_page(&bv[n++], mrpc_heap_page(rpc->heap, src), len,
				      offset_in_page(src));
			at += len;
			*bytes += len;
		}
		if (at >= seg->len && at < padded && n < MRPC_TCP_BVECS) {
			bvec_set_page(&bv[n++], ZERO_PAGE(0), padded - at, 0);
			*bytes += padded - at;
		}
		at = 0;
	}
	return n;
}

/* The socket has taken @n bytes. */
static void mrpc_tcp_advance(struct mrpc_rpc *rpc, u32 n)
{
	u32 head = rpc->done < rpc->data_len ? min_t(u64, n, rpc->data_len - rpc->done) : 0;

	rpc->done += n;
	n -= head;
	while (n) {
		u32 left = ALIGN(rpc->buf.segs[rpc->seg].len, 8) - rpc->seg_done;

		if (n < left) {
			rpc->seg_done += n;
			return;
		}
		n -= left;
		rpc->seg++;
		rpc->seg_done = 0;
	}
}

static void mrpc_tcp_kvec(struct kvec *kv, const void *base, u32 len)
{
	kv->iov_base = (void *)base;
	kv->iov_len = len;
}

/* The head, or the whole of a copied message. Return: 0 or a negative errno. */
static int mrpc_tcp_send_data(struct socket *sock, struct mrpc_rpc *rpc, bool more)
{
	struct msghdr msg = { .msg_flags = MSG_DONTWAIT | MSG_NOSIGNAL };
	u32 len = rpc->data_len - rpc->done;
	struct kvec kv;
	int n;

	if (more)
		msg.msg_flags |= MSG_MORE;
	mrpc_tcp_kvec(&kv, rpc->data + rpc->done, len);
	n = kernel_sendmsg(sock, &msg, &kv, 1, len);
	if (n < 0)
		return n;
	rpc->done += n;
	return n == len ? 0 : -EAGAIN;
}

/* What goes into the socket by copying, whatever the stack does with pages. */
static bool mrpc_tcp_small(const struct mrpc_rpc *rpc)
{
	return !rpc->heap || rpc->frame.msg.bytes < MRPC_TCP_ZEROCOPY;
}

/*
 * Append what is left of @rpc to the @n entries of @kv, as addresses: the head,
 * and the byte section straight from the heap, as far as there is room.
 * Return: number of entries; @bytes: what was appended.
 */
static u32 mrpc_tcp_vector(const struct mrpc_rpc *rpc, struct kvec *kv, u32 n, u32 *bytes)
{
	static const u8 zeros[8];
	u32 i, at = rpc->seg_done;

	*bytes = 0;
	if (rpc->done < rpc->data_len) {
		*bytes = rpc->data_len - rpc->done;
		mrpc_tcp_kvec(&kv[n++], rpc->data + rpc->done, *bytes);
	}
	/* A segment takes two entries: itself, and its padding. */
	for (i = rpc->seg; i < rpc->buf.nr_segs && n + 2 <= MRPC_TCP_KVECS; i++) {
		const struct mrpc_msg_seg *seg = &rpc->buf.segs[i];
		u32 padded = ALIGN(seg->len, 8);

		*bytes += padded - at;
		if (at < seg->len) {
			mrpc_tcp_kvec(&kv[n++],
				      mrpc_heap_at(rpc->heap, seg->src + at, seg->len - at),
				      seg->len - at);
			at = seg->len;
		}
		if (at < padded)
			mrpc_tcp_kvec(&kv[n++], zeros, padded - at);
		at = 0;
	}
	return n;
}

/*
 * @rpc, and what follows it while it is small and there is room, in one
 * operation. Return: 0 if the socket took something, or a negative errno.
 */
static int mrpc_tcp_send_some(struct mrpc_conn *conn, struct mrpc_rpc *rpc)
{
	struct msghdr msg = { .msg_flags = MSG_DONTWAIT | MSG_NOSIGNAL };
	struct kvec kv[MRPC_TCP_KVECS] __uninitialized;
	struct mrpc_tcp *tcp = conn->link;
	struct mrpc_rpc *next = rpc;
	u32 nr = 0, bytes = 0, len;
	int n;

	do {
		nr = mrpc_tcp_vector(next, kv, nr, &len);
		bytes += len;
		if (next->done + len < mrpc_rpc_total(next))
			break;
		next = mrpc_tx_next(conn, next, bytes);
	} while (next && mrpc_tcp_small(next) && nr < MRPC_TCP_KVECS);
	if (next)
		msg.msg_flags |= MSG_MORE;
	n = kernel_sendmsg(tcp->sock, &msg, kv, nr, bytes);
	if (n < 0)
		return n;
	for (; n; n -= len, rpc = list_next_entry(rpc, list)) {
		len = min_t(u64, n, mrpc_rpc_total(rpc) - rpc->done);
		mrpc_tcp_advance(rpc, len);
	}
	return 0;
}

/*
 * By copying: small messages, and those of which the network stack would copy
 * the pages itself (lo, veth, a listening packet socket); this costs less.
 * Return: 0 or a negative errno.
 */
static int mrpc_tcp_send_copy(struct mrpc_conn *conn, struct mrpc_rpc *rpc)
{
	int err = 0;

	while (!err && rpc->done < mrpc_rpc_total(rpc))
		err = mrpc_tcp_send_some(conn, rpc);
	return err;
}

/* Does the stack copy what we give it by reference? Now and then try again. */
static bool mrpc_tcp_copies(struct mrpc_conn *conn, struct mrpc_tcp *tcp)
{
	if (atomic_read(&conn->copied) < MRPC_TCP_COPIED)
		return false;
	if (++tcp->copies % MRPC_TCP_RETRY)
		return true;
	atomic_set(&conn->copied, 0);
	return false;
}

/* Byte blocks by reference. Return: 0 or a negative errno. */
static int mrpc_tcp_send_pages(struct mrpc_tcp *tcp, struct mrpc_rpc *rpc, bool more)
{
	struct mrpc_call *call = mrpc_rpc_call(rpc);
	u64 total = mrpc_rpc_total(rpc);
	struct bio_vec bv[MRPC_TCP_BVECS] __uninitialized;

	tcp->pages = true;
	while (rpc->done < total) {
		struct msghdr msg = {
			.msg_flags = MSG_DONTWAIT | MSG_NOSIGNAL | MSG_ZEROCOPY,
			.msg_ubuf = &call->ubuf,
		};
		u32 nr, bytes;
		int n;

		nr = mrpc_tcp_gather(rpc, bv, &bytes);
		if (more || rpc->done + bytes < total)
			msg.msg_flags |= MSG_MORE;
		iov_iter_bvec(&msg.msg_iter, ITER_SOURCE, bv, nr, bytes);
		n = sock_sendmsg(tcp->sock, &msg);
		if (n < 0)
			return n;
		mrpc_tcp_advance(rpc, n);
	}
	return 0;
}

static int mrpc_tcp_send(struct mrpc_conn *conn, struct mrpc_rpc *rpc, bool more)
{
	struct mrpc_tcp *tcp = conn->link;
	int err = 0;

	if (READ_ONCE(tcp->down))
		return -EPIPE;
	if (!rpc->heap && !more && !rpc->done)
		return mrpc_tcp_send_data(tcp->sock, rpc, false);
	/* A message that has begun one way goes on that way. */
	if (!mrpc_tcp_small(rpc) && !rpc->done)
		tcp->copying = mrpc_tcp_copies(conn, tcp);
	if (mrpc_tcp_small(rpc) || tcp->copying)
		return mrpc_tcp_send_copy(conn, rpc);
	if (rpc->done < rpc->data_len)
		err = mrpc_tcp_send_data(tcp->sock, rpc, true);
	return err ?: mrpc_tcp_send_pages(tcp, rpc, more);
}

/* -- receiving -------------------------------------------------------------- */

static int mrpc_tcp_read(struct mrpc_conn *conn, struct kvec *vec, size_t nr, size_t len)
{
	struct mrpc_tcp *tcp = conn->link;
	struct msghdr msg = { .msg_flags = MSG_DONTWAIT };

	if (READ_ONCE(tcp->down))
		return 0;
	return kernel_recvmsg(tcp->sock, &msg, vec, nr, len, MSG_DONTWAIT);
}

static int mrpc_tcp_recv(struct mrpc_conn *conn, int budget)
{
	struct mrpc_tcp *tcp = conn->link;
	struct sock *sk = tcp->sock->sk;
	int n = mrpc_stream_recv(conn, &tcp->stream, mrpc_tcp_read, budget);

	/* The end of the stream may have been announced together with what was
	 * just read: no second event comes.
	 */
	if (n >= 0 && n < budget &&
	    (READ_ONCE(sk->sk_shutdown) & RCV_SHUTDOWN || READ_ONCE(sk->sk_err)))
		mrpc_kick_rx(conn);
	/* Input has stopped for want of room, so a reset is not read: see it. */
	if (n == -EAGAIN && inet_sk_state_load(sk) == TCP_CLOSE)
		return -ECONNRESET;
	return n;
}

static void mrpc_tcp_shutdown(struct mrpc_conn *conn, bool abort)
{
	struct mrpc_tcp *tcp = conn->link;

	WRITE_ONCE(tcp->down, true);
	tcp->linger = !abort;
	/* A reset frees the send queue, and pages under way with it. In the orderly
	 * case the receiving side stays open: where it is shut, input that still
	 * arrives makes TCP reset, and the last replies would not.
	 */
	if (abort)
		sock_no_linger(tcp->sock->sk);
	else
		kernel_sock_shutdown(tcp->sock, SHUT_WR);
}

/* Input that nobody reads makes tcp_close() reset. */
static void mrpc_tcp_discard(struct socket *sock)
{
	struct msghdr msg = {};
	struct kvec kv = { .iov_len = INT_MAX };

	/* One round: the socket's buffer limits it, however fast the peer sends. */
	kernel_recvmsg(sock, &msg, &kv, 1, kv.iov_len, MSG_DONTWAIT | MSG_TRUNC);
}

/* Has the peer something to acknowledge besides our FIN, which may take its time? */
static bool mrpc_tcp_unacked(const struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	return inet_sk_state_load(sk) != TCP_CLOSE &&
	       READ_ONCE(tp->write_seq) - READ_ONCE(tp->snd_una) > 1;
}

/*
 * An orderly end: what was sent, the last replies above all, still arrives, but
 * not at a peer that takes its time.
 */
static void mrpc_tcp_linger(struct mrpc_tcp *tcp)
{
	unsigned long until = jiffies + MRPC_TCP_LINGER, us = 50;
	struct sock *sk = tcp->sock->sk;

	mrpc_tcp_discard(tcp->sock);
	while (mrpc_tcp_unacked(sk) && time_before(jiffies, until)) {
		usleep_range(us, 2 * us);
		us = min(2 * us, 10UL * USEC_PER_MSEC);
		mrpc_tcp_discard(tcp->sock);
	}
	/* The rest is the network's, unless it holds the pages of a session. */
	if (tcp->pages && mrpc_tcp_unacked(sk))
		sock_no_linger(sk);
}

static void mrpc_tcp_release(struct mrpc_conn *conn)
{
	struct mrpc_tcp *tcp = conn->link;
	struct sock *sk = tcp->sock->sk;

	write_lock_bh(&sk->sk_callback_lock);
	sk->sk_user_data = NULL;
	sk->sk_data_ready = tcp->data_ready;
	sk->sk_write_space = tcp->write_space;
	sk->sk_state_change = tcp->state_change;
	write_unlock_bh(&sk->sk_callback_lock);
	if (tcp->linger)
		mrpc_tcp_linger(tcp);
	conn->link = NULL;
	sock_release(tcp->sock);
	mrpc_stream_free(&tcp->stream);
	kfree(tcp);
}

static u64 mrpc_tcp_backlog(struct mrpc_conn *conn)
{
	struct mrpc_tcp *tcp = conn->link;
	struct tcp_sock *tp = tcp_sk(tcp->sock->sk);

	return READ_ONCE(tp->write_seq) - READ_ONCE(tp->snd_una);
}

static struct mrpc_transport_ops mrpc_tcp_ops = {
	.name		= "tcp",
	.owner		= THIS_MODULE,
	.connect	= mrpc_tcp_connect,
	.listen		= mrpc_tcp_listen,
	.waiting	= mrpc_tcp_waiting,
	.accept		= mrpc_tcp_accept,
	.unlisten	= mrpc_tcp_unlisten,
	.send		= mrpc_tcp_send,
	.recv		= mrpc_tcp_recv,
	.shutdown	= mrpc_tcp_shutdown,
	.release	= mrpc_tcp_release,
	.backlog	= mrpc_tcp_backlog,
};

static int __init mrpc_tcp_init(void)
{
	return mrpc_transport_register(&mrpc_tcp_ops);
}

static void __exit mrpc_tcp_exit(void)
{
	mrpc_transport_unregister(&mrpc_tcp_ops);
}

module_init(mrpc_tcp_init);
module_exit(mrpc_tcp_exit);

MODULE_DESCRIPTION("mrpc over TCP");
MODULE_LICENSE("GPL");
MODULE_ALIAS("mrpc-transport-tcp");
