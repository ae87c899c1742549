// SPDX-License-Identifier: GPL-2.0
/*
 * Sockets with kernel TLS. Records that are no data come between the others: tickets, which are
 * skipped, and alerts. The kernel cannot follow a change of keys: it ends the connection.
 */
#include <linux/net.h>
#include <linux/unaligned.h>
#include <linux/slab.h>
#include <linux/tls.h>
#include <net/sock.h>
#include <net/tcp.h>
#include <net/tls.h>

#include "core/link.h"
#include "exec/kick.h"
#include "transports/sock.h"
#include "transports/sock_tls.h"

#define MRPC_TLS_CONTROLS	16	/* records without data until others get a turn */
#define MRPC_TLS_DROPS		64	/* pages of input that are dropped in one turn */
/*
 * Bytes that one key encrypts: RFC 8446, section 5.5, allows AES-GCM 24 million full records. Linux
 * 6.12 cannot change the key, so a connection does not take new calls then.
 */
#define MRPC_TLS_SEALED		(1ULL << 38)
#define MRPC_TLS_RECORD_SHIFT	14	/* of the bytes of a full record */

union mrpc_tls_cmsg {
	struct cmsghdr hdr;
	u8 space[CMSG_SPACE(sizeof(u8))];
};

/*
 * TLS ends a connection whose records it cannot take: with the first of them, in either direction.
 * Return: @err, or -EPROTO.
 */
static int mrpc_sock_tls_error(struct mrpc_link *link, int err)
{
	if (err != -EBADMSG && err != -EMSGSIZE && err != -EINVAL)
		return err;
	cmpxchg(&link->why, NULL, "TLS: a record came that the peer cannot have sent");
	return -EPROTO;
}

/* What one record without data means, of which @n bytes are in @vec. As mrpc_tls_control(). */
static int mrpc_sock_tls_control(struct mrpc_link *link, struct mrpc_sock_tls *tls, u8 type,
				 const struct kvec *vec, size_t n)
{
	const char *why = NULL;
	size_t len;
	int err;

	do {
		len = min(n, vec->iov_len);
		err = mrpc_tls_control(&tls->control, type, vec->iov_base, len, &why);
		n -= len;
		vec++;
	} while (!err && n);
	if (why)
		cmpxchg(&link->why, NULL, why);
	return err;
}

/**
 * mrpc_sock_tls_begin() - begin with a socket that has TLS
 * @sk: the socket. Records that it has sent before count as full ones
 * @tls: its state, zeros
 *
 * Context: process.
 */
void mrpc_sock_tls_begin(const struct sock *sk, struct mrpc_sock_tls *tls)
{
	u64 records = get_unaligned_be64(tls_get_ctx(sk)->tx.rec_seq);

	tls->sealed = min(records, MRPC_TLS_SEALED >> MRPC_TLS_RECORD_SHIFT);
	tls->sealed <<= MRPC_TLS_RECORD_SHIFT;
}
EXPORT_SYMBOL_GPL(mrpc_sock_tls_begin);

/**
 * mrpc_sock_tls_read() - read data of a socket with TLS
 * @link: the link; the caller owns its receive claim
 * @sock: the socket
 * @tls: its state
 * @vec: where to; the content of records without data comes there, too, and is overwritten
 * @nr: entries of @vec
 * @len: bytes of @vec
 *
 * Context: process; may sleep.
 * Return: bytes; 0: the stream has ended; -EAGAIN: there is nothing now; else the link is dead.
 */
int mrpc_sock_tls_read(struct mrpc_link *link, struct socket *sock, struct mrpc_sock_tls *tls,
		       struct kvec *vec, size_t nr, size_t len)
{
	int i, n, err;

	for (i = 0; i < MRPC_TLS_CONTROLS; i++) {
		union mrpc_tls_cmsg c = {};
		struct msghdr msg = { .msg_control = &c, .msg_controllen = sizeof(c) };
		u8 type = MRPC_TLS_DATA;

		n = kernel_recvmsg(sock, &msg, vec, nr, len, MSG_DONTWAIT);
		if (n < 0)
			return mrpc_sock_tls_error(link, n);
		if (c.hdr.cmsg_level == SOL_TLS && c.hdr.cmsg_type == TLS_GET_RECORD_TYPE)
			type = *(u8 *)CMSG_DATA(&c.hdr);
		if (type == MRPC_TLS_DATA)
			return n;
		err = mrpc_sock_tls_control(link, tls, type, vec, n);
		if (err)
			return err == -ESHUTDOWN ? 0 : err;
	}
	mrpc_link_kick_rx(link);
	return -EAGAIN;
}
EXPORT_SYMBOL_GPL(mrpc_sock_tls_read);

/**
 * mrpc_sock_tls_waits() - return true if TLS holds input for which no event comes
 * @sk: a socket with TLS; the caller owns the receive claim of its link
 *
 * A read ends before a record of another type. That one is decrypted or complete already.
 */
bool mrpc_sock_tls_waits(const struct sock *sk)
{
	const struct tls_sw_context_rx *rx = tls_sw_ctx_rx(tls_get_ctx(sk));

	return !skb_queue_empty_lockless(&rx->rx_list) || READ_ONCE(rx->strp.msg_ready);
}
EXPORT_SYMBOL_GPL(mrpc_sock_tls_waits);

/**
 * mrpc_sock_tls_send() - send data through a socket with TLS
 * @link: the link; the caller owns its transmit claim
 * @sock: the socket
 * @tls: its state
 * @msg: the data. Each is a record: a record that waited for more would wait until the next send
 *
 * TLS copies or encrypts at once: the memory is the caller's again afterwards.
 *
 * Context: process; may sleep. Return: bytes that TLS has taken, or a negative errno.
 */
int mrpc_sock_tls_send(struct mrpc_link *link, struct socket *sock, struct mrpc_sock_tls *tls,
		       struct msghdr *msg)
{
	int n;

	msg->msg_flags &= MSG_DONTWAIT | MSG_NOSIGNAL;
	msg->msg_ubuf = NULL;
	n = sock_sendmsg(sock, msg);
	if (n > 0) {
		tls->sealed += n;
		if (unlikely(tls->sealed >= MRPC_TLS_SEALED) && !link->worn)
			WRITE_ONCE(link->worn, true);
		return n;
	}
	if (n != -EINTR && n != -ERESTARTSYS)
		return n < 0 ? mrpc_sock_tls_error(link, n) : n;
	/* A signal ended the wait for work of TLS that sends what it holds: that is soon over. */
	mrpc_link_kick_tx(link);
	return -EAGAIN;
}
EXPORT_SYMBOL_GPL(mrpc_sock_tls_send);

/* Does TLS hold something that TCP has not taken? Nothing is sent meanwhile. */
static bool mrpc_sock_tls_sends(struct sock *sk)
{
	struct tls_context *ctx = tls_get_ctx(sk);
	bool sends;

	lock_sock(sk);
	sends = ctx->partially_sent_record || !list_empty(&tls_sw_ctx_tx(ctx)->tx_list);
	release_sock(sk);
	return sends && inet_sk_state_load(sk) == TCP_ESTABLISHED;
}

static void mrpc_sock_tls_close_notify(struct socket *sock)
{
	u8 alert[MRPC_TLS_ALERT_LEN] = { MRPC_TLS_WARNING, MRPC_TLS_CLOSE_NOTIFY };
	struct kvec kv = { .iov_base = alert, .iov_len = sizeof(alert) };
	union mrpc_tls_cmsg c = {
		.hdr = {
			.cmsg_level = SOL_TLS,
			.cmsg_type = TLS_SET_RECORD_TYPE,
			.cmsg_len = CMSG_LEN(sizeof(u8)),
		},
	};
	struct msghdr msg = {
		.msg_control = &c,
		.msg_controllen = sizeof(c),
		.msg_flags = MSG_DONTWAIT | MSG_NOSIGNAL,
	};

	*(u8 *)CMSG_DATA(&c.hdr) = MRPC_TLS_ALERT;
	kernel_sendmsg(sock, &msg, &kv, 1, sizeof(alert));
}

/* Drops unread input, in pages, so that the end of the socket is no reset. */
static void mrpc_sock_tls_discard(struct socket *sock)
{
	struct kvec kv = { .iov_base = kmalloc(PAGE_SIZE, GFP_KERNEL), .iov_len = PAGE_SIZE };
	int i, n = kv.iov_base ? 1 : 0;

	for (i = 0; i < MRPC_TLS_DROPS && n > 0; i++) {
		union mrpc_tls_cmsg c = {};
		struct msghdr msg = { .msg_control = &c, .msg_controllen = sizeof(c) };

		n = kernel_recvmsg(sock, &msg, &kv, 1, PAGE_SIZE, MSG_DONTWAIT);
	}
	kfree(kv.iov_base);
}

/**
 * mrpc_sock_tls_end() - end a socket with TLS in order, step by step
 * @sock: the socket; no thread sends or reads
 * @tls: its state
 *
 * The end goes after what TLS still has to send. Context: process; may sleep.
 * Return: true: call again.
 */
bool mrpc_sock_tls_end(struct socket *sock, struct mrpc_sock_tls *tls)
{
	mrpc_sock_tls_discard(sock);
	if (!tls->ended) {
		if (mrpc_sock_tls_sends(sock->sk))
			return true;
		mrpc_sock_tls_close_notify(sock);
		tls->ended = true;
	}
	if (mrpc_sock_tls_sends(sock->sk))
		return true;
	if (!(READ_ONCE(sock->sk->sk_shutdown) & SEND_SHUTDOWN))
		kernel_sock_shutdown(sock, SHUT_WR);
	return mrpc_sock_unacked(sock->sk);
}
EXPORT_SYMBOL_GPL(mrpc_sock_tls_end);
