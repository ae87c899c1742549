// SPDX-License-Identifier: GPL-2.0
/*
 * The TCP transport: the link's interface for the egress scheduler.
 *
 * Part of every version of the transport: tcp.h.
 */
#include <linux/netdevice.h>
#include <net/dst.h>
#include <net/tcp.h>

#include "core/link.h"
#include "transports/tcp/tcp.h"

/*
 * Bytes that the socket holds and has not given to the device. snd_nxt only grows. Only the owner
 * of the transmit claim makes write_seq grow. Read in this order, without the socket's lock, the
 * result is never too small.
 */
static u32 mrpc_tcp_unsent(const struct sock *sk)
{
	u32 nxt = READ_ONCE(tcp_sk(sk)->snd_nxt);

	smp_rmb();	/* pairs with the socket's lock: the context that moved snd_nxt held it */
	return max_t(s32, READ_ONCE(tcp_sk(sk)->write_seq) - nxt, 0);
}

static bool mrpc_tcp_takes(const struct sock *sk, u32 chunk)
{
	return mrpc_tcp_unsent(sk) < chunk && sk_stream_is_writeable(sk);
}

/* While SOCK_NOSPACE is set, every acknowledgement calls write_space. */
u32 mrpc_tcp_credit(struct mrpc_link *link, u32 chunk)
{
	struct mrpc_tcp *tcp = link->priv;
	struct sock *sk = tcp->sock->sk;

	if (!mrpc_tcp_takes(sk, chunk)) {
		set_bit(SOCK_NOSPACE, &tcp->sock->flags);
		smp_mb__after_atomic();	/* the next look sees an acknowledgement before this */
		if (!mrpc_tcp_takes(sk, chunk))
			return 0;
	}
	if (test_bit(SOCK_NOSPACE, &tcp->sock->flags))
		clear_bit(SOCK_NOSPACE, &tcp->sock->flags);
	return U32_MAX;
}

/*
 * Bytes below. sk_wmem_alloc counts packets in the queueing discipline and the device. While there
 * are some, the socket's unsent bytes also delay other messages: they go right after them. While
 * there are none, unsent bytes wait for the peer's window, or the network.
 */
u64 mrpc_tcp_below(struct mrpc_link *link)
{
	struct mrpc_tcp *tcp = link->priv;
	struct sock *sk = tcp->sock->sk;
	u64 queued = max(sk_wmem_alloc_get(sk), 0);

	return queued ? queued + mrpc_tcp_unsent(sk) : 0;
}

void mrpc_tcp_device(struct mrpc_link *link, char *name)
{
	struct mrpc_tcp *tcp = link->priv;
	struct dst_entry *dst;

	name[0] = 0;
	rcu_read_lock();	/* a device leaves its routes, and then waits for RCU */
	dst = rcu_dereference(tcp->sock->sk->sk_dst_cache);
	if (dst)
		strscpy(name, READ_ONCE(dst->dev)->name, IFNAMSIZ);
	rcu_read_unlock();
}
