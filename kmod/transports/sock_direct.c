// SPDX-License-Identifier: GPL-2.0
/*
 * Reading and sending without the layers above TCP: the LSM hooks have allowed it, and no other
 * protocol is on top.
 */
#include <linux/tcp.h>
#include <net/rps.h>
#include <net/tcp.h>

#include "core/memcopy.h"
#include "transports/sock_direct.h"

static void mrpc_sock_pass(struct mrpc_sock_pass *pass)
{
	if (pass->cred != current_cred()) {
		put_cred(pass->cred);
		pass->cred = get_current_cred();
	}
	pass->when = jiffies;
}

/*
 * Copies received bytes that follow the first @behind bytes, at most @len. Return: number of bytes.
 * The socket is locked.
 */
static u32 mrpc_sock_copy(struct sock *sk, u32 behind, u8 *to, u32 len)
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
static u32 mrpc_sock_read_some(struct sock *sk, const struct kvec *to, size_t nr)
{
	u32 n, done = 0;

	lock_sock(sk);
	sock_rps_record_flow(sk);
	do {
		n = mrpc_sock_copy(sk, done, to->iov_base, to->iov_len);
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
static int mrpc_sock_ask(struct socket *sock, struct mrpc_sock_pass *pass)
{
	struct msghdr msg = {};
	struct kvec kv;
	u8 first;
	int n;

	kv.iov_base = &first;
	kv.iov_len = 1;
	n = kernel_recvmsg(sock, &msg, &kv, 1, 1, MSG_DONTWAIT | MSG_PEEK);
	if (n == 1)
		mrpc_sock_pass(pass);
	return n;
}

/**
 * mrpc_sock_direct_read() - read from a socket of a link
 * @sock: the socket
 * @tls: its TLS
 * @d: of the socket; the caller owns the receive claim
 * @vec: where to; may be changed
 * @nr: entries of @vec
 * @len: bytes of @vec
 *
 * Context: process; may sleep. Return: as mrpc_sock_read().
 */
int mrpc_sock_direct_read(struct socket *sock, struct mrpc_sock_tls *tls,
			  struct mrpc_sock_direct *d, struct kvec *vec, size_t nr, size_t len)
{
	struct mrpc_sock_pass *pass = &d->pass[MRPC_RX];
	int n;

	if (likely(mrpc_sock_plain(sock, tls, d))) {
		n = mrpc_sock_passed(pass) ? 1 : mrpc_sock_ask(sock, pass);
		if (n != 1)
			return n;
		n = mrpc_sock_read_some(sock->sk, vec, nr);
		if (n)
			return n;
	}
	return mrpc_sock_read(sock, tls, vec, nr, len);
}
EXPORT_SYMBOL_GPL(mrpc_sock_direct_read);

/**
 * mrpc_sock_direct_send() - send into a socket of a link
 * @sock: the socket
 * @tls: its TLS
 * @d: of the socket; the caller owns the transmit claim
 * @msg: what to send
 *
 * Context: process; may sleep. Return: bytes that the socket took, or a negative errno.
 */
int mrpc_sock_direct_send(struct socket *sock, struct mrpc_sock_tls *tls,
			  struct mrpc_sock_direct *d, struct msghdr *msg)
{
	struct mrpc_sock_pass *pass = &d->pass[MRPC_TX];
	struct sock *sk = sock->sk;
	int n;

	if (likely(mrpc_sock_passed(pass) && mrpc_sock_plain(sock, tls, d))) {
		lock_sock(sk);
		sock_rps_record_flow(sk);
		n = tcp_sendmsg_locked(sk, msg, msg_data_left(msg));
		release_sock(sk);
		return n;
	}
	n = mrpc_sock_send(sock, tls, msg);
	if (n >= 0)
		mrpc_sock_pass(pass);
	return n;
}
EXPORT_SYMBOL_GPL(mrpc_sock_direct_send);

/** mrpc_sock_direct_end() - drop what @d refers to, at the end of its link */
void mrpc_sock_direct_end(struct mrpc_sock_direct *d)
{
	put_cred(d->pass[MRPC_TX].cred);
	put_cred(d->pass[MRPC_RX].cred);
}
EXPORT_SYMBOL_GPL(mrpc_sock_direct_end);
