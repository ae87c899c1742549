// SPDX-License-Identifier: GPL-2.0
/*
 * The TCP transport: sending.
 *
 * What is small is copied into the socket, from the rpc and from the heap; large
 * byte blocks are given to it as pages, and their owner is told when the last
 * reference to them is gone (MSG_ZEROCOPY with our own ubuf_info).
 *
 * Part of every version of the transport: tcp.h.
 */
#include <linux/bvec.h>
#include <linux/iov_iter.h>
#include <linux/mm.h>
#include <linux/net.h>
#include <net/rps.h>
#include <net/sock.h>
#include <net/tcp.h>

#include "call/tx.h"
#include "core/conn.h"
#include "core/heap.h"
#include "core/memcopy.h"
#include "core/rpc.h"
#include "core/transport.h"
#include "lib/message/wire.h"
#include "transports/tcp/tcp.h"

#define MRPC_TCP_BVECS	32	/* pages in one send */
#define MRPC_TCP_KVECS	64	/* pieces to copy in one send: 1 KiB of stack */
#define MRPC_TCP_ZEROCOPY 16384	/* bytes from which pages are worth their notification */
#define MRPC_TCP_BLOCKS	4096	/* bytes in one send that are worth being copied by us */
#define MRPC_TCP_ASK	64	/* bytes of these that the LSM hook is asked with */
#define MRPC_TCP_PARTS	4	/* pieces of them at once: 128 KiB, two of TCP's packets */
#define MRPC_TCP_LEAST	16384	/* bytes of them that are tried where there may be no room */
#define MRPC_TCP_COPIED	8	/* packets whose pages were copied that make us copy */
#define MRPC_TCP_RETRY	4096	/* messages until the next try */

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

/*
 * What @msg has, into the socket. Where the LSM hook has passed us, without the layers
 * above TCP. Return: bytes that it took, or a negative errno.
 */
static int mrpc_tcp_put(struct mrpc_tcp *tcp, struct msghdr *msg)
{
	struct mrpc_tcp_pass *pass = &tcp->pass[MRPC_TX];
	struct sock *sk = tcp->sock->sk;
	int n;

	if (likely(mrpc_tcp_passed(pass) && mrpc_tcp_plain(tcp))) {
		lock_sock(sk);
		sock_rps_record_flow(sk);
		n = tcp_sendmsg_locked(sk, msg, msg_data_left(msg));
		release_sock(sk);
		return n;
	}
	n = sock_sendmsg(tcp->sock, msg);
	if (n >= 0)
		mrpc_tcp_pass(pass);
	return n;
}

/* As iov_iter's functions have it: all of it is done. */
static size_t mrpc_tcp_copy_part(void *from, size_t at, size_t len, void *to, void *unused)
{
	mrpc_block_copy(to + at, from, len);
	return 0;
}

/* Copy the next @len bytes of @from, which has as many. */
static void mrpc_tcp_copy_iter(void *to, struct iov_iter *from, u32 len)
{
	iterate_and_advance_kernel(from, len, to, NULL, mrpc_tcp_copy_part);
}

/* Would the socket copy worse than we do (core/memcopy.h), and can it take pages? */
static bool mrpc_tcp_blocks(const struct mrpc_tcp *tcp, size_t len)
{
	return len >= MRPC_TCP_BLOCKS && !mrpc_block_memcpy_is_best() && mrpc_tcp_plain(tcp) &&
	       tcp->sock->sk->sk_route_caps & NETIF_F_SG;
}

/*
 * Copy up to @most bytes of @from into the pages where the socket would have copied them itself.
 * Return: how many; @bv: where they are, with a reference to each page, @nr of these.
 */
static u32 mrpc_tcp_fill(struct sock *sk, struct iov_iter *from, u32 most, struct bio_vec *bv,
			 u32 *nr)
{
	struct page_frag *frag = sk_page_frag(sk);
	u32 n, done = 0;

	for (*nr = 0; done < most && *nr < MRPC_TCP_PARTS; done += n) {
		n = min_t(u32, most - done, PAGE_SIZE);
		if (!skb_page_frag_refill(n, frag, sk->sk_allocation))
			break;
		n = min(most - done, frag->size - frag->offset);
		mrpc_tcp_copy_iter(page_address(frag->page) + frag->offset, from, n);
		get_page(frag->page);
		bvec_set_page(&bv[(*nr)++], frag->page, n, frag->offset);
		frag->offset += n;
	}
	return done;
}

/*
 * Some of @from. Return: how many bytes the socket took; @want: how many it was given; or a
 * negative errno. The socket is locked.
 */
static int mrpc_tcp_put_block(struct sock *sk, struct iov_iter *from, int flags, u32 *want)
{
	u32 nr = 0, len = iov_iter_count(from), most = max(sk_stream_wspace(sk), MRPC_TCP_LEAST);
	struct msghdr msg = { .msg_flags = flags, .msg_iter = *from };
	struct bio_vec bv[MRPC_TCP_PARTS] __uninitialized;
	int n;

	/* Where the socket has said that there is no room nothing is copied to hear it again. */
	if (likely(sk_stream_memory_free(sk) || !test_bit(SOCK_NOSPACE, &sk->sk_socket->flags)))
		*want = mrpc_tcp_fill(sk, from, min(len, most), bv, &nr);
	if (unlikely(!nr)) {
		*want = len;
	} else {
		iov_iter_bvec(&msg.msg_iter, ITER_SOURCE, bv, nr, *want);
		if (*want < len)
			msg.msg_flags = (flags | MSG_MORE) & ~MSG_EOR;
		msg.msg_flags |= MSG_SPLICE_PAGES | MSG_NO_SHARED_FRAGS;
	}
	n = tcp_sendmsg_locked(sk, &msg, *want);
	while (nr)
		put_page(bv[--nr].bv_page);
	return n;
}

static noinline int mrpc_tcp_put_blocks(struct mrpc_tcp *tcp, const struct msghdr *all)
{
	struct iov_iter from = all->msg_iter;
	u32 done = 0, want, len = iov_iter_count(&from);
	struct sock *sk = tcp->sock->sk;
	int n;

	if (!mrpc_tcp_passed(&tcp->pass[MRPC_TX])) {
		/* The first bytes ask the LSM hook. */
		struct msghdr msg = {
			.msg_flags = (all->msg_flags | MSG_MORE) & ~MSG_EOR,
			.msg_iter = from,
		};

		iov_iter_truncate(&msg.msg_iter, MRPC_TCP_ASK);
		n = mrpc_tcp_put(tcp, &msg);
		if (n < MRPC_TCP_ASK)
			return n;
		iov_iter_advance(&from, n);
		done = n;
	}
	lock_sock(sk);
	sock_rps_record_flow(sk);
	do {
		n = mrpc_tcp_put_block(sk, &from, all->msg_flags, &want);
		if (n < 0)
			break;
		done += n;
		/* What has been acknowledged meanwhile makes room. */
		sk_flush_backlog(sk);
	} while (n == want && done < len);
	release_sock(sk);
	/* An error is said only once. */
	return done && (n >= 0 || n == -EAGAIN) ? done : n;
}

/* The same of @len bytes that are copied from @kv. */
static inline int mrpc_tcp_put_kvec(struct mrpc_tcp *tcp, struct msghdr *msg,
				    const struct kvec *kv, size_t nr, size_t len)
{
	iov_iter_kvec(&msg->msg_iter, ITER_SOURCE, kv, nr, len);
	return mrpc_tcp_blocks(tcp, len) ? mrpc_tcp_put_blocks(tcp, msg) : mrpc_tcp_put(tcp, msg);
}

static void mrpc_tcp_kvec(struct kvec *kv, const void *base, u32 len)
{
	kv->iov_base = (void *)base;
	kv->iov_len = len;
}

/* The head, or the whole of a copied message. Return: 0 or a negative errno. */
static int mrpc_tcp_send_data(struct mrpc_tcp *tcp, struct mrpc_rpc *rpc, bool more)
{
	struct msghdr msg = { .msg_flags = MSG_DONTWAIT | MSG_NOSIGNAL };
	u32 len = rpc->data_len - rpc->done;
	struct kvec kv;
	int n;

	if (more)
		msg.msg_flags |= MSG_MORE;
	mrpc_tcp_kvec(&kv, rpc->data + rpc->done, len);
	n = mrpc_tcp_put_kvec(tcp, &msg, &kv, 1, len);
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

/* What can be sent in one operation with others. */
static bool mrpc_tcp_joins(const struct mrpc_rpc *rpc)
{
	return mrpc_tcp_small(rpc) && !(rpc->frame.flags & MRPC_WIRE_CRC);
}

/*
 * Append what is left of @rpc to the @n entries of @kv, as addresses: the head,
 * and the byte section straight from the heap, as far as there is room.
 * Return: number of entries; @bytes: what was appended.
 */
static noinline u32 mrpc_tcp_vector_heap(const struct mrpc_rpc *rpc, struct kvec *kv, u32 n,
					 u32 *bytes)
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

/* The same; most of those that are sent with others were copied whole: they are one piece. */
static u32 mrpc_tcp_vector(const struct mrpc_rpc *rpc, struct kvec *kv, u32 n, u32 *bytes)
{
	if (unlikely(rpc->buf.nr_segs))
		return mrpc_tcp_vector_heap(rpc, kv, n, bytes);
	*bytes = rpc->data_len - rpc->done;
	mrpc_tcp_kvec(&kv[n], rpc->data + rpc->done, *bytes);
	return n + 1;
}

/*
 * @rpc, and what follows it while it is small and there is room, in one
 * operation. Return: 0 if the socket took something, or a negative errno.
 */
static int mrpc_tcp_send_some(struct mrpc_conn *conn, struct mrpc_rpc *rpc)
{
	struct msghdr msg = { .msg_flags = MSG_DONTWAIT | MSG_NOSIGNAL };
	struct kvec kv[MRPC_TCP_KVECS] __uninitialized;
	struct mrpc_tcp *tcp = conn->link.priv;
	struct mrpc_rpc *next = rpc;
	u32 nr = 0, bytes = 0, len;
	int n;

	do {
		nr = mrpc_tcp_vector(next, kv, nr, &len);
		bytes += len;
		if (next->done + len < mrpc_rpc_total(next))
			break;
		next = mrpc_tx_next(conn, next, bytes);
	} while (next && mrpc_tcp_joins(next) && nr < MRPC_TCP_KVECS);
	if (next)
		msg.msg_flags |= MSG_MORE;
	n = mrpc_tcp_put_kvec(tcp, &msg, kv, nr, bytes);
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
	if (atomic_read(&conn->link.copied) < MRPC_TCP_COPIED)
		return false;
	if (++tcp->copies % MRPC_TCP_RETRY)
		return true;
	atomic_set(&conn->link.copied, 0);
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
		n = mrpc_tcp_put(tcp, &msg);
		if (n < 0)
			return n;
		mrpc_tcp_advance(rpc, n);
	}
	return 0;
}

/* -- with a checksum ---------------------------------------------------------- */

/*
 * The sum goes over what is really sent: an application may write to its byte blocks
 * while they are on their way, so each piece is copied, and its copy summed and sent.
 * Nothing goes by reference.
 */

/* Copy the next piece of the byte section. Return: its bytes. */
static u32 mrpc_tcp_piece(const struct mrpc_rpc *rpc, u8 *to)
{
	struct kvec kv[MRPC_TCP_KVECS] __uninitialized;
	struct iov_iter from;
	u32 nr, len;

	nr = mrpc_tcp_vector(rpc, kv, 0, &len);
	len = min_t(u32, len, MRPC_TCP_BOUNCE);
	iov_iter_kvec(&from, ITER_SOURCE, kv, nr, len);
	mrpc_tcp_copy_iter(to, &from, len);
	return len;
}

/*
 * At most @left of @len bytes, behind the last of which comes what the flags @last
 * say. Return: bytes that the socket has taken, or a negative errno.
 */
static int mrpc_tcp_give(struct mrpc_tcp *tcp, struct kvec *kv, size_t nr, u64 len, u64 left,
			 int last)
{
	struct msghdr msg = { .msg_flags = MSG_DONTWAIT | MSG_NOSIGNAL };

	msg.msg_flags |= len < left ? MSG_MORE : last;
	return mrpc_tcp_put_kvec(tcp, &msg, kv, nr, min(len, left));
}

/* What is in kernel memory, so that nobody can change it: all of it, and the trailer. */
static int mrpc_tcp_send_summed_data(struct mrpc_tcp *tcp, struct mrpc_rpc *rpc, u64 left,
				     int last)
{
	u32 size = mrpc_frame_trailer(&rpc->frame), nr = 0, at = 0;
	struct mrpc_wire_trailer trailer = { .crc = cpu_to_le32(~rpc->sum) };
	struct kvec kv[2];
	int n;

	if (rpc->done < rpc->data_len)
		mrpc_tcp_kvec(&kv[nr++], rpc->data + rpc->done, rpc->data_len - rpc->done);
	else
		at = rpc->done - rpc->data_len;
	if (at < size)
		mrpc_tcp_kvec(&kv[nr++], (u8 *)&trailer + at, size - at);
	n = mrpc_tcp_give(tcp, kv, nr, mrpc_rpc_total(rpc) - rpc->done, left, last);
	if (n > 0)
		rpc->done += n;
	return min(n, 0);
}

/* A piece of the byte section, from the heap. */
static int mrpc_tcp_send_summed_piece(struct mrpc_tcp *tcp, struct mrpc_rpc *rpc, u64 left,
				      int last)
{
	u32 len = mrpc_tcp_piece(rpc, tcp->bounce);
	struct kvec kv;
	int n;

	mrpc_tcp_kvec(&kv, tcp->bounce, len);
	n = mrpc_tcp_give(tcp, &kv, 1, len, left, last);
	if (n < 0)
		return n;
	rpc->sum = mrpc_checksum(rpc->sum, tcp->bounce, n);
	mrpc_tcp_advance(rpc, n);
	return 0;
}

/* The head, and behind the byte section the trailer, are what is left of one from the heap. */
static int mrpc_tcp_send_summed_ends(struct mrpc_tcp *tcp, struct mrpc_rpc *rpc, u64 left,
				     int last)
{
	struct mrpc_wire_trailer trailer = { .crc = cpu_to_le32(~rpc->sum) };
	u64 bytes_end = (u64)rpc->data_len + rpc->frame.msg.bytes;
	struct kvec kv;
	int n;

	if (rpc->done < rpc->data_len)
		mrpc_tcp_kvec(&kv, rpc->data + rpc->done, rpc->data_len - rpc->done);
	else
		mrpc_tcp_kvec(&kv, (u8 *)&trailer + (rpc->done - bytes_end),
			      mrpc_rpc_total(rpc) - rpc->done);
	n = mrpc_tcp_give(tcp, &kv, 1, kv.iov_len, left, last);
	if (n > 0)
		rpc->done += n;
	return min(n, 0);
}

/* Before anything of it is sent: what its header says. */
static void mrpc_tcp_sum_head(struct mrpc_rpc *rpc)
{
	u32 head = sizeof(struct mrpc_wire_hdr) + mrpc_frame_head(&rpc->frame);
	struct mrpc_wire_hdr *hdr = (void *)rpc->data;

	hdr->crc = 0;
	hdr->crc = cpu_to_le32(~mrpc_checksum(MRPC_CHECKSUM_INIT, rpc->data, head));
	rpc->sum = MRPC_CHECKSUM_INIT;
	if (!rpc->heap && rpc->data_len > head)
		rpc->sum = mrpc_checksum(rpc->sum, rpc->data + head, rpc->data_len - head);
}

/* The next @bytes of @rpc, with the flags @last behind them. Return: 0 or a negative errno. */
static int mrpc_tcp_send_summed(struct mrpc_tcp *tcp, struct mrpc_rpc *rpc, u64 bytes, int last)
{
	u64 end = rpc->done + bytes;
	int err = 0;

	if (!rpc->done)
		mrpc_tcp_sum_head(rpc);
	while (!err && rpc->done < end) {
		u64 left = end - rpc->done;

		if (!rpc->heap)
			err = mrpc_tcp_send_summed_data(tcp, rpc, left, last);
		else if (rpc->done >= rpc->data_len &&
			 rpc->done < (u64)rpc->data_len + rpc->frame.msg.bytes)
			err = mrpc_tcp_send_summed_piece(tcp, rpc, left, last);
		else
			err = mrpc_tcp_send_summed_ends(tcp, rpc, left, last);
	}
	return err;
}

int mrpc_tcp_send(struct mrpc_conn *conn, struct mrpc_rpc *rpc, bool more)
{
	struct mrpc_tcp *tcp = conn->link.priv;
	int err = 0;

	if (READ_ONCE(tcp->down))
		return -EPIPE;
	if (unlikely(rpc->frame.flags & MRPC_WIRE_CRC))
		return mrpc_tcp_send_summed(tcp, rpc, mrpc_rpc_total(rpc) - rpc->done,
					    more ? MSG_MORE : 0);
	if (!rpc->heap && !more && !rpc->done)
		return mrpc_tcp_send_data(tcp, rpc, false);
	/* A message that has begun one way goes on that way. */
	if (!mrpc_tcp_small(rpc) && !rpc->done)
		tcp->copying = mrpc_tcp_copies(conn, tcp);
	if (mrpc_tcp_small(rpc) || tcp->copying)
		return mrpc_tcp_send_copy(conn, rpc);
	if (rpc->done < rpc->data_len)
		err = mrpc_tcp_send_data(tcp, rpc, true);
	return err ?: mrpc_tcp_send_pages(tcp, rpc, more);
}

/* -- sending by turns: egress domains --------------------------------------- */

/*
 * One operation of at most @bytes: the head and what is copied, or pages. @last:
 * nothing more of the chunk follows. Return: bytes that the socket took, or a
 * negative errno; @want: what it was given.
 */
static int mrpc_tcp_send_part(struct mrpc_conn *conn, struct mrpc_rpc *rpc, u32 bytes, u32 *want)
{
	struct msghdr msg = { .msg_flags = MSG_DONTWAIT | MSG_NOSIGNAL };
	struct mrpc_tcp *tcp = conn->link.priv;
	bool copy = mrpc_tcp_small(rpc) || tcp->copying;
	struct bio_vec bv[MRPC_TCP_BVECS] __uninitialized;
	struct kvec kv[MRPC_TCP_KVECS] __uninitialized;
	u32 nr = 1, len;

	if (copy) {
		nr = mrpc_tcp_vector(rpc, kv, 0, &len);
	} else if (rpc->done < rpc->data_len) {
		len = rpc->data_len - rpc->done;
		mrpc_tcp_kvec(kv, rpc->data + rpc->done, len);
		copy = true;
	} else {
		nr = mrpc_tcp_gather(rpc, bv, &len);
		tcp->pages = true;
		msg.msg_flags |= MSG_ZEROCOPY;
		msg.msg_ubuf = &mrpc_rpc_call(rpc)->ubuf;
	}
	*want = min(len, bytes);
	/* Pages after the head are of the same chunk; nothing else is. */
	msg.msg_flags |= *want < bytes ? MSG_MORE : MSG_EOR;
	if (copy)
		return mrpc_tcp_put_kvec(tcp, &msg, kv, nr, *want);
	iov_iter_bvec(&msg.msg_iter, ITER_SOURCE, bv, nr, *want);
	return mrpc_tcp_put(tcp, &msg);
}

int mrpc_tcp_send_chunk(struct mrpc_conn *conn, struct mrpc_rpc *rpc, u32 bytes)
{
	struct mrpc_tcp *tcp = conn->link.priv;
	u32 want;
	int n;

	if (READ_ONCE(tcp->down))
		return -EPIPE;
	if (!mrpc_tcp_small(rpc) && !rpc->done)
		tcp->copying = mrpc_tcp_copies(conn, tcp);
	bytes = min_t(u64, bytes, mrpc_rpc_total(rpc) - rpc->done);
	if (unlikely(rpc->frame.flags & MRPC_WIRE_CRC))
		return mrpc_tcp_send_summed(tcp, rpc, bytes, MSG_EOR);
	for (; bytes; bytes -= n) {
		n = mrpc_tcp_send_part(conn, rpc, bytes, &want);
		if (n < 0)
			return n;
		mrpc_tcp_advance(rpc, n);
		if (n < want)
			return -EAGAIN;
	}
	return 0;
}
