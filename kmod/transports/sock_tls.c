// SPDX-License-Identifier: GPL-2.0
/*
 * How links read, send and end a TCP socket, which may have kernel TLS. With TLS, records that are
 * no data come between the others: tickets, which are skipped, and alerts. The kernel cannot follow
 * a change of keys: it ends the connection.
 */
#include <linux/ktime.h>
#include <linux/net.h>
#include <linux/slab.h>
#include <linux/tls.h>
#include <linux/unaligned.h>
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

/* Where the kernel says of which type a record is, or is told. */
union mrpc_tls_cmsg {
	struct cmsghdr hdr;
	u8 space[CMSG_SPACE(sizeof(u8))];
};

/**
 * mrpc_sock_tls_begin() - begin with a socket that has TLS
 * @link: its link
 * @sk: the socket. Records that it has sent before count as full ones
 * @tls: its state, zeros
 *
 * Context: process.
 */
void mrpc_sock_tls_begin(struct mrpc_link *link, const struct sock *sk,
			 struct mrpc_sock_tls *tls)
{
	u64 records = get_unaligned_be64(tls_get_ctx(sk)->tx.rec_seq);

	tls->link = link;
	tls->sealed = min(records, MRPC_TLS_SEALED >> MRPC_TLS_RECORD_SHIFT);
	tls->sealed <<= MRPC_TLS_RECORD_SHIFT;
}
EXPORT_SYMBOL_GPL(mrpc_sock_tls_begin);

/* -- reading ------------------------------------------------------------------ */

/*
 * Reads one kind of records. Return: as recvmsg(); @type: what came. It is 0 if nothing came: then
 * 0 bytes are the end of the stream, else a record without content.
 */
static int mrpc_sock_tls_recv(struct socket *sock, struct kvec *vec, size_t nr, size_t len,
			      u8 *type)
{
	union mrpc_tls_cmsg c = {};
	struct msghdr msg = { .msg_control = &c, .msg_controllen = sizeof(c) };
	int n = kernel_recvmsg(sock, &msg, vec, nr, len, MSG_DONTWAIT);

	*type = 0;
	if (c.hdr.cmsg_level == SOL_TLS && c.hdr.cmsg_type == TLS_GET_RECORD_TYPE)
		*type = *(u8 *)CMSG_DATA(&c.hdr);
	return n;
}

/*
 * TLS ends a connection whose records it cannot take or make: the first send or read afterwards
 * gets the error. Return: @err, or -EPROTO.
 */
static int mrpc_sock_tls_error(struct mrpc_link *link, int err)
{
	if (err != -EBADMSG && err != -EMSGSIZE && err != -EINVAL)
		return err;
	cmpxchg(&link->why, NULL, "TLS: a record came that the peer cannot have sent");
	return -EPROTO;
}

/* Copies up to @len of the first bytes of @vec, which has at least these. */
static void mrpc_sock_tls_gather(u8 *to, size_t len, const struct kvec *vec)
{
	size_t n;

	for (; len; vec++) {
		n = min(len, vec->iov_len);
		memcpy(to, vec->iov_base, n);
		to += n;
		len -= n;
	}
}

/* What one record without data means, of which @n bytes are in @vec. As mrpc_tls_control(). */
static int mrpc_sock_tls_control(struct mrpc_sock_tls *tls, u8 type, const struct kvec *vec,
				 size_t n)
{
	u8 alert[MRPC_TLS_ALERT_LEN];
	const struct kvec whole = { .iov_base = alert, .iov_len = n };
	const char *why = NULL;
	size_t len;
	int err;

	/* An alert is looked at in one piece. One that is too long is not looked at. */
	if (type == MRPC_TLS_ALERT) {
		mrpc_sock_tls_gather(alert, min(n, sizeof(alert)), vec);
		vec = &whole;
	}
	do {
		len = min(n, vec->iov_len);
		err = mrpc_tls_control(&tls->control, type, vec->iov_base, len, &why);
		n -= len;
		vec++;
	} while (!err && n);
	if (why)
		cmpxchg(&tls->link->why, NULL, why);
	return err;
}

/**
 * mrpc_sock_read() - read data
 * @sock: the socket; the caller owns the receive claim of its link
 * @tls: its TLS
 * @vec: where to; the content of records without data comes there, too, and is overwritten
 * @nr: entries of @vec
 * @len: bytes of @vec
 *
 * With TLS, the caller reads until -EAGAIN: no event comes for input that TLS holds.
 *
 * Context: process; may sleep.
 * Return: bytes; 0: the stream has ended; -EAGAIN: there is nothing now; else the link is dead.
 */
int mrpc_sock_read(struct socket *sock, struct mrpc_sock_tls *tls, struct kvec *vec, size_t nr,
		   size_t len)
{
	struct msghdr msg = {};
	int i, n, err;
	u8 type;

	if (!tls->link)
		return kernel_recvmsg(sock, &msg, vec, nr, len, MSG_DONTWAIT);
	for (i = 0; i < MRPC_TLS_CONTROLS; i++) {
		n = mrpc_sock_tls_recv(sock, vec, nr, len, &type);
		if (n < 0)
			return mrpc_sock_tls_error(tls->link, n);
		if (!type || (n && type == MRPC_TLS_DATA))
			return n;
		if (type == MRPC_TLS_DATA)
			continue;
		err = mrpc_sock_tls_control(tls, type, vec, n);
		if (err)
			return err == -ESHUTDOWN ? 0 : err;
	}
	mrpc_link_kick_rx(tls->link);
	return -EAGAIN;
}
EXPORT_SYMBOL_GPL(mrpc_sock_read);

/* -- sending ------------------------------------------------------------------ */

static int mrpc_sock_tls_send(struct socket *sock, struct mrpc_sock_tls *tls, struct msghdr *msg)
{
	struct mrpc_link *link = tls->link;
	int n;

	/* Each send is a record: one that waited for more would wait until the next send. */
	msg->msg_flags &= MSG_DONTWAIT | MSG_NOSIGNAL;
	msg->msg_ubuf = NULL;
	n = sock_sendmsg(sock, msg);
	if (n > 0) {
		tls->sealed += n;
		if (unlikely(tls->sealed >= MRPC_TLS_SEALED) && !link->worn) {
			WRITE_ONCE(link->worn, true);
			mrpc_link_arm(link, ktime_get_ns());
		}
		return n;
	}
	if (n == -EINTR || n == -ERESTARTSYS) {
		/* A signal ended the wait for work of TLS that sends what it holds. That work
		 * does not wait: the socket has no time for it.
		 */
		mrpc_link_kick_tx(link);
		return -EAGAIN;
	}
	return mrpc_sock_tls_error(link, n);
}

/**
 * mrpc_sock_send() - send data
 * @sock: the socket; the caller owns the transmit claim of its link
 * @tls: its TLS
 * @msg: the data. With TLS, its content may change afterwards; pages of it have references until
 *	TCP has the record
 *
 * Context: process; may sleep. Return: bytes that the socket has taken, or a negative errno.
 */
int mrpc_sock_send(struct socket *sock, struct mrpc_sock_tls *tls, struct msghdr *msg)
{
	return tls->link ? mrpc_sock_tls_send(sock, tls, msg) : sock_sendmsg(sock, msg);
}
EXPORT_SYMBOL_GPL(mrpc_sock_send);

/* -- the end ------------------------------------------------------------------ */

/**
 * mrpc_sock_tls_sends() - return true if TLS holds something that TCP has not taken
 * @sk: a socket with TLS; nothing is sent meanwhile
 *
 * Context: process; may sleep.
 */
bool mrpc_sock_tls_sends(struct sock *sk)
{
	struct tls_context *ctx = tls_get_ctx(sk);
	bool sends;

	lock_sock(sk);
	sends = ctx->partially_sent_record || !list_empty(&tls_sw_ctx_tx(ctx)->tx_list);
	release_sock(sk);
	return sends;
}
EXPORT_SYMBOL_GPL(mrpc_sock_tls_sends);

static bool mrpc_sock_can_send(const struct sock *sk)
{
	return (1 << inet_sk_state_load(sk)) & (TCPF_ESTABLISHED | TCPF_CLOSE_WAIT);
}

/* Return: 0; -EAGAIN: later; or another negative errno. */
static int mrpc_sock_tls_close_notify(struct socket *sock)
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
	int n;

	*(u8 *)CMSG_DATA(&c.hdr) = MRPC_TLS_ALERT;
	n = kernel_sendmsg(sock, &msg, &kv, 1, sizeof(alert));
	return n == -EINTR || n == -ENOMEM ? -EAGAIN : min(n, 0);
}

/*
 * Drops unread input, in pages. After a record without data nothing more is read: the peer's keys
 * may have changed, and TLS would end what is still to be sent.
 */
static void mrpc_sock_tls_discard(struct socket *sock, struct mrpc_sock_tls *tls)
{
	struct kvec kv = { .iov_base = kmalloc(PAGE_SIZE, GFP_KERNEL), .iov_len = PAGE_SIZE };
	int i, n;
	u8 type;

	for (i = 0; i < MRPC_TLS_DROPS && kv.iov_base && !tls->deaf; i++) {
		n = mrpc_sock_tls_recv(sock, &kv, 1, PAGE_SIZE, &type);
		if (n < 0 || !type)
			break;
		tls->deaf = type != MRPC_TLS_DATA;
	}
	kfree(kv.iov_base);
}

/* As mrpc_sock_end(). The end goes after what TLS still has to send. */
static bool mrpc_sock_tls_end(struct socket *sock, struct mrpc_sock_tls *tls)
{
	struct sock *sk = sock->sk;

	mrpc_sock_tls_discard(sock, tls);
	if (!tls->ended) {
		if (mrpc_sock_can_send(sk) &&
		    (mrpc_sock_tls_sends(sk) || mrpc_sock_tls_close_notify(sock) == -EAGAIN))
			return true;
		tls->ended = true;
	}
	if (mrpc_sock_can_send(sk)) {
		if (mrpc_sock_tls_sends(sk))
			return true;
		kernel_sock_shutdown(sock, SHUT_WR);
	}
	return mrpc_sock_unacked(sk);
}

/**
 * mrpc_sock_shutdown() - begin to end a socket in order; mrpc_sock_end() goes on
 * @sock: the socket
 * @tls: its TLS
 *
 * The receiving side stays open: if it were shut, later input would make TCP reset, and the last
 * replies would not arrive. Threads may still send and read. Context: process; may sleep.
 */
void mrpc_sock_shutdown(struct socket *sock, const struct mrpc_sock_tls *tls)
{
	if (!tls->link)
		kernel_sock_shutdown(sock, SHUT_WR);
}
EXPORT_SYMBOL_GPL(mrpc_sock_shutdown);

/**
 * mrpc_sock_end() - go on to end a socket in order
 * @sock: the socket; no thread sends or reads
 * @tls: its TLS
 *
 * Context: process; may sleep.
 * Return: true: the peer has still something to take or to acknowledge; call again.
 */
bool mrpc_sock_end(struct socket *sock, struct mrpc_sock_tls *tls)
{
	if (tls->link)
		return mrpc_sock_tls_end(sock, tls);
	mrpc_sock_discard(sock);
	return mrpc_sock_unacked(sock->sk);
}
EXPORT_SYMBOL_GPL(mrpc_sock_end);
