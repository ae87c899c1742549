// SPDX-License-Identifier: GPL-2.0
/*
 * The TCP transport: links, receiving, and the end of links.
 *
 * Sockets are made in the caller's context as user sockets. So network namespace, LSM hooks, cgroup
 * rules and memory accounting apply as if the application had made them.
 *
 * Part of every version of the transport: tcp.h.
 */
#include <linux/delay.h>
#include <linux/inet.h>
#include <linux/jiffies.h>
#include <linux/module.h>
#include <linux/net.h>
#include <linux/slab.h>
#include <linux/tcp.h>
#include <net/inet_connection_sock.h>
#include <net/rps.h>
#include <net/sock.h>
#include <net/tcp.h>

#include "call/stream.h"
#include "core/link.h"
#include "core/listener.h"
#include "core/memcopy.h"
#include "core/rpc.h"
#include "exec/kick.h"
#include "lib/message/feature.h"
#include "lib/message/wire.h"
#include "transports/sock.h"
#include "transports/tcp/tcp.h"

/* A listening socket; sk_user_data refers to the listener. */
struct mrpc_tcp_listener {
	struct socket *sock;
	void (*data_ready)(struct sock *sk);
};

/* Softirq: only kicks the listener. */
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

/*
 * Makes @sock the socket of @link; afterwards its events go there.
 * Return: 0; -ENOMEM; -EALREADY: other code uses the socket's callbacks.
 */
static int mrpc_tcp_attach(struct mrpc_link *link, struct socket *sock)
{
	u64 timeout = div_u64(link->keepalive, NSEC_PER_MSEC);
	struct sock *sk = sock->sk;
	struct mrpc_tcp *tcp;
	int err;

	tcp = kzalloc(sizeof(*tcp), GFP_KERNEL_ACCOUNT);
	if (!tcp)
		return -ENOMEM;
	tcp->sock = sock;
	tcp->prot = sk->sk_prot;
	tcp_sock_set_nodelay(sk);
	/* sk_use_task_frag stays set: the sender is a task that is in no other send, and memory
	 * reclaim does not wait for this socket. A fragment of the socket's own would be 32 KiB
	 * for each idle connection.
	 */
	/* Without a timeout, a peer that answers window probes and does not read would hold
	 * pages of the heap for ever.
	 */
	tcp_sock_set_user_timeout(sk, clamp_t(u64, 3 * timeout, 1, INT_MAX));
	kernel_getsockname(sock, (struct sockaddr *)&link->local);
	kernel_getpeername(sock, (struct sockaddr *)&link->peer);
	link->priv = tcp;
	err = mrpc_sock_hook(link, sk, &tcp->hooks);
	if (err) {
		link->priv = NULL;
		kfree(tcp);
	}
	return err;
}

int mrpc_tcp_connect(struct mrpc_link *link, const void *addr, u32 addr_len,
		     const char **why)
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
		link->peer = ss;	/* it may not be connected yet */
		err = mrpc_tcp_attach(link, sock);
	}
	if (err)
		sock_release(sock);
	return err;
}

int mrpc_tcp_listen(struct mrpc_listener *l, const void *addr, u32 addr_len, u32 backlog,
		    const char **why)
{
	struct mrpc_tcp_listener *tl;
	struct sockaddr_storage ss;
	struct socket *sock;
	struct sock *sk;
	int err;

	err = mrpc_sock_new(l->net, IPPROTO_TCP, addr, addr_len, &ss, &sock, why);
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
	if (mrpc_sock_taken(sk)) {
		err = -EALREADY;
	} else {
		l->priv = tl;
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

bool mrpc_tcp_waiting(struct mrpc_listener *l)
{
	struct mrpc_tcp_listener *tl = l->priv;

	return !reqsk_queue_empty(&inet_csk(tl->sock->sk)->icsk_accept_queue);
}

int mrpc_tcp_accept(struct mrpc_listener *l, struct mrpc_link *link)
{
	struct mrpc_tcp_listener *tl = l->priv;
	struct socket *sock;
	struct sock *sk;
	int err;

	err = kernel_accept(tl->sock, &sock, O_NONBLOCK);
	if (err)
		return err;
	sk = sock->sk;
	/* The child inherited the listener's callback and user data if they were set when it
	 * was made. Other code may have replaced them since.
	 */
	write_lock_bh(&sk->sk_callback_lock);
	if (sk->sk_user_data == l)
		sk->sk_user_data = NULL;
	if (sk->sk_data_ready == mrpc_tcp_listen_ready)
		sk->sk_data_ready = tl->data_ready;
	write_unlock_bh(&sk->sk_callback_lock);
	if (link)
		err = mrpc_tcp_attach(link, sock);
	if (!link || err)
		sock_release(sock);
	return err;
}

void mrpc_tcp_unlisten(struct mrpc_listener *l)
{
	struct mrpc_tcp_listener *tl = l->priv;
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
	l->priv = NULL;
}

/* -- receiving -------------------------------------------------------------- */

/*
 * Copies received bytes that follow the first @behind bytes, at most @len. Return: number of bytes.
 * The socket is locked.
 */
static u32 mrpc_tcp_copy(struct sock *sk, u32 behind, u8 *to, u32 len)
{
	const struct tcp_sock *tp = tcp_sk(sk);
	struct sk_buff *skb;
	u32 done = 0;

	if (unlikely(tp->urg_data))
		return 0;
	skb_queue_walk(&sk->sk_receive_queue, skb) {
		/* A packet may begin with bytes that the one before it has, too. */
		u32 at = tp->copied_seq + behind + done - TCP_SKB_CB(skb)->seq, n;

		if (unlikely(TCP_SKB_CB(skb)->tcp_flags & TCPHDR_SYN))
			break;
		if (at >= skb->len)
			continue;
		n = min(skb->len - at, len - done);
		if (mrpc_block_from_skb(skb, at, to + done, n))
			break;
		done += n;
		if (done == len)
			break;
	}
	return done;
}

/*
 * Reads after the LSM hook has allowed it, without the layers above TCP. Return: bytes; 0: there
 * are none, or the case is unusual: the caller must ask the socket.
 */
static u32 mrpc_tcp_read_some(struct sock *sk, const struct kvec *to, size_t nr)
{
	u32 n, done = 0;

	lock_sock(sk);
	sock_rps_record_flow(sk);
	do {
		n = mrpc_tcp_copy(sk, done, to->iov_base, to->iov_len);
		done += n;
	} while (unlikely(--nr) && n == to++->iov_len);
	if (done)
		tcp_read_done(sk, done);
	release_sock(sk);
	return done;
}

/*
 * Asks the LSM hook for permission. Return: 1: granted. Otherwise why nothing can be read, which
 * the socket reports only once: 0: the stream has ended, or a negative errno.
 */
static int mrpc_tcp_ask(struct mrpc_tcp *tcp, struct mrpc_tcp_pass *pass)
{
	struct msghdr msg = {};
	struct kvec kv;
	u8 first;
	int n;

	kv.iov_base = &first;
	kv.iov_len = 1;
	n = kernel_recvmsg(tcp->sock, &msg, &kv, 1, 1, MSG_DONTWAIT | MSG_PEEK);
	if (n == 1)
		mrpc_tcp_pass(pass);
	return n;
}

static int mrpc_tcp_read(struct mrpc_link *link, struct kvec *vec, size_t nr, size_t len)
{
	struct mrpc_tcp *tcp = link->priv;
	struct mrpc_tcp_pass *pass = &tcp->pass[MRPC_RX];
	struct msghdr msg = {};
	int n;

	if (READ_ONCE(tcp->down))
		return 0;
	if (likely(mrpc_tcp_plain(tcp))) {
		n = mrpc_tcp_passed(pass) ? 1 : mrpc_tcp_ask(tcp, pass);
		if (n != 1)
			return n;
		n = mrpc_tcp_read_some(tcp->sock->sk, vec, nr);
		if (n)
			return n;
	}
	return kernel_recvmsg(tcp->sock, &msg, vec, nr, len, MSG_DONTWAIT);
}

int mrpc_tcp_recv(struct mrpc_link *link, int budget)
{
	struct mrpc_tcp *tcp = link->priv;
	struct sock *sk = tcp->sock->sk;
	int n = mrpc_stream_recv(link, &tcp->stream, mrpc_tcp_read, budget);

	/* The end of the stream may have come together with the bytes just read: then there is
	 * no second event.
	 */
	if (n >= 0 && n < budget &&
	    (READ_ONCE(sk->sk_shutdown) & RCV_SHUTDOWN || READ_ONCE(sk->sk_err)))
		mrpc_link_kick_rx(link);
	/* Input has stopped for lack of room, so a reset is not read. It is detected here. */
	if (n == -EAGAIN && inet_sk_state_load(sk) == TCP_CLOSE)
		return -ECONNRESET;
	return n;
}

void mrpc_tcp_shutdown(struct mrpc_link *link, bool abort)
{
	struct mrpc_tcp *tcp = link->priv;

	WRITE_ONCE(tcp->down, true);
	/* A reset frees the send queue, with its pages. In the orderly case the receiving side
	 * stays open: if it were shut, later input would make TCP reset, and the last replies
	 * would not arrive.
	 */
	if (abort)
		sock_no_linger(tcp->sock->sk);
	else
		kernel_sock_shutdown(tcp->sock, SHUT_WR);
}

/* Takes unread input: otherwise tcp_close() would reset. */
static void mrpc_tcp_discard(struct socket *sock)
{
	struct msghdr msg = {};
	struct kvec kv = { .iov_len = INT_MAX };

	/* One round: the socket's buffer limits it, at any speed of the peer. */
	kernel_recvmsg(sock, &msg, &kv, 1, kv.iov_len, MSG_DONTWAIT | MSG_TRUNC);
}

/* Has the peer anything to acknowledge, except the FIN, which may take its time? */
static bool mrpc_tcp_unacked(const struct sock *sk)
{
	const struct tcp_sock *tp = tcp_sk(sk);

	return inet_sk_state_load(sk) != TCP_CLOSE &&
	       READ_ONCE(tp->write_seq) - READ_ONCE(tp->snd_una) > 1;
}

bool mrpc_tcp_busy(struct mrpc_link *link)
{
	struct mrpc_tcp *tcp = link->priv;

	mrpc_tcp_discard(tcp->sock);
	return mrpc_tcp_unacked(tcp->sock->sk);
}

void mrpc_tcp_release(struct mrpc_link *link)
{
	struct mrpc_tcp *tcp = link->priv;
	struct sock *sk = tcp->sock->sk;

	mrpc_sock_unhook(sk, &tcp->hooks);
	/* Unsent bytes are left to the network, unless they hold pages of a session. */
	if (tcp->pages && mrpc_tcp_unacked(sk))
		sock_no_linger(sk);
	link->priv = NULL;
	sock_release(tcp->sock);
	mrpc_stream_free(link, &tcp->stream);
	put_cred(tcp->pass[MRPC_TX].cred);
	put_cred(tcp->pass[MRPC_RX].cred);
	kfree(tcp->bounce);
	kfree(tcp);
}

u64 mrpc_tcp_backlog(struct mrpc_link *link)
{
	struct mrpc_tcp *tcp = link->priv;
	struct tcp_sock *tp = tcp_sk(tcp->sock->sk);

	return READ_ONCE(tp->write_seq) - READ_ONCE(tp->snd_una);
}

/* -- from version to version -------------------------------------------------- */

/* The state is the whole link. Bytes in the socket, and half received ones, go with it. */
void *mrpc_tcp_decompose(struct mrpc_link *link)
{
	return link->priv;
}

/*
 * All versions are made from this source, so they have one layout. A version with another layout
 * converts here what @from has decomposed, or refuses.
 */
void *mrpc_tcp_restore(struct mrpc_link *link, const struct mrpc_transport_ops *from, void *state,
		       u64 uses, struct netlink_ext_ack *extack)
{
	struct mrpc_tcp *tcp = state;

	/* The buffer stays for messages that have a checksum and are not sent yet. */
	if (uses & MRPC_FEATURE_CRC && !tcp->bounce) {
		tcp->bounce = kmalloc(MRPC_TCP_BOUNCE, GFP_KERNEL_ACCOUNT);
		if (!tcp->bounce)
			return ERR_PTR(-ENOMEM);
	}
	return tcp;
}
