// SPDX-License-Identifier: GPL-2.0
/*
 * The TCP transport: sending.
 *
 * Small data is copied into the socket, from the rpc and from the heap. Large byte blocks are given
 * to it as pages. Their owner is told when the last reference to them is gone (MSG_ZEROCOPY with
 * an own ubuf_info).
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
#include "core/link.h"
#include "core/heap.h"
#include "core/memcopy.h"
#include "core/rpc.h"
#include "core/transport.h"
#include "lib/message/wire.h"
#include "transports/tcp/tcp.h"

#define MRPC_TCP_BVECS	32	/* pages in one send */
#define MRPC_TCP_KVECS	64	/* pieces to copy in one send: 1 KiB of stack */
#define MRPC_TCP_ZEROCOPY 16384	/* bytes from which pages are worth their notification */
#define MRPC_TCP_BLOCKS	4096	/* bytes in one send from which this file does the copying */
#define MRPC_TCP_ASK	64	/* first bytes of these, which ask the LSM hook */
#define MRPC_TCP_PARTS	4	/* pieces of them at once: 128 KiB, two of TCP's packets */
#define MRPC_TCP_LEAST	16384	/* bytes of them that are tried even without known room */
#define MRPC_TCP_COPIED	8	/* packets whose pages the stack copied, until this file copies */
#define MRPC_TCP_RETRY	4096	/* messages until the next try with pages */

/*
 * Gathers the byte section, from the present position of @rpc, into @bv: pages of the heap, and of
 * zeros for the padding between blocks.
 * Return: number of entries; @bytes: their length.
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

/* Advances the position of @rpc: the socket has taken @n bytes. */
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

/* Sends @msg into the socket. Return: bytes that the socket took, or a negative errno. */
static int mrpc_tcp_put(struct mrpc_tcp *tcp, struct msghdr *msg)
{
	return mrpc_sock_direct_send(tcp->sock, &tcp->tls, &tcp->direct, msg);
}

/* Step function of iov_iter: returns 0 bytes left, because it copies all. */
static size_t mrpc_tcp_copy_part(void *from, size_t at, size_t len, void *to, void *unused)
{
	mrpc_block_copy(to + at, from, len);
	return 0;
}

/* Copies the next @len bytes of @from, which has at least as many. */
static void mrpc_tcp_copy_iter(void *to, struct iov_iter *from, u32 len)
{
	iterate_and_advance_kernel(from, len, to, NULL, mrpc_tcp_copy_part);
}

/* Is the socket's copy slower than this module's (core/memcopy.h), and can it take pages? */
static bool mrpc_tcp_blocks(const struct mrpc_tcp *tcp, size_t len)
{
	return len >= MRPC_TCP_BLOCKS && !mrpc_block_memcpy_is_best() && mrpc_tcp_plain(tcp) &&
	       tcp->sock->sk->sk_route_caps & NETIF_F_SG;
}

/*
 * Copies up to @most bytes of @from into the pages into which the socket would copy them.
 * Return: number of bytes; @bv: their pages, with a reference to each, @nr of these.
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
 * Sends some of @from. Return: bytes that the socket took, or a negative errno; @want: bytes that
 * it was given. The socket is locked.
 */
static int mrpc_tcp_put_block(struct sock *sk, struct iov_iter *from, int flags, u32 *want)
{
	u32 nr = 0, len = iov_iter_count(from), most = max(sk_stream_wspace(sk), MRPC_TCP_LEAST);
	struct msghdr msg = { .msg_flags = flags, .msg_iter = *from };
	struct bio_vec bv[MRPC_TCP_PARTS] __uninitialized;
	int n;

	/* If the socket has already reported no room, nothing is copied only to find it again. */
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

	if (!mrpc_sock_passed(&tcp->direct.pass[MRPC_TX])) {
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
		/* Acknowledgements that came meanwhile make room. */
		sk_flush_backlog(sk);
	} while (n == want && done < len);
	release_sock(sk);
	/* The socket reports an error only once. */
	return done && (n >= 0 || n == -EAGAIN) ? done : n;
}

/* Sends @len bytes that are copied from @kv, in the better one of the two ways. */
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

/* Sends a message that was copied whole, and that nothing follows. Return: 0 or a negative errno. */
static int mrpc_tcp_send_data(struct mrpc_tcp *tcp, struct mrpc_rpc *rpc)
{
	struct msghdr msg = { .msg_flags = MSG_DONTWAIT | MSG_NOSIGNAL };
	struct kvec kv;
	int n;

	mrpc_tcp_kvec(&kv, rpc->data, rpc->data_len);
	n = mrpc_tcp_put_kvec(tcp, &msg, &kv, 1, kv.iov_len);
	if (n < 0)
		return n;
	rpc->done = n;
	return n == rpc->data_len ? 0 : -EAGAIN;
}

/* Is the message copied into the socket in any case? */
static bool mrpc_tcp_small(const struct mrpc_rpc *rpc)
{
	return !rpc->heap || rpc->frame.msg.bytes < MRPC_TCP_ZEROCOPY;
}

/* Can the message be sent in one operation with others? */
static bool mrpc_tcp_joins(const struct mrpc_rpc *rpc)
{
	return mrpc_tcp_small(rpc) && !(rpc->frame.flags & MRPC_WIRE_CRC);
}

/*
 * Appends the rest of @rpc to the @n entries of @kv, as addresses: the head, and the byte section
 * straight from the heap, as far as there is room.
 * Return: number of entries; @bytes: length of what was appended.
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

/* The same for any message. Most messages sent with others were copied whole: one entry. */
static u32 mrpc_tcp_vector(const struct mrpc_rpc *rpc, struct kvec *kv, u32 n, u32 *bytes)
{
	if (unlikely(rpc->buf.nr_segs))
		return mrpc_tcp_vector_heap(rpc, kv, n, bytes);
	*bytes = rpc->data_len - rpc->done;
	mrpc_tcp_kvec(&kv[n], rpc->data + rpc->done, *bytes);
	return n + 1;
}

/*
 * Sends @rpc, and the following ones while they are small and there is room, in one operation.
 * Return: 0 if the socket took something, or a negative errno.
 */
static int mrpc_tcp_send_some(struct mrpc_link *link, struct mrpc_rpc *rpc)
{
	struct msghdr msg = { .msg_flags = MSG_DONTWAIT | MSG_NOSIGNAL };
	struct kvec kv[MRPC_TCP_KVECS] __uninitialized;
	struct mrpc_tcp *tcp = link->priv;
	struct mrpc_rpc *next = rpc;
	u32 nr = 0, bytes = 0, len;
	int n;

	do {
		nr = mrpc_tcp_vector(next, kv, nr, &len);
		bytes += len;
		if (next->done + len < mrpc_rpc_total(next))
			break;
		next = mrpc_tx_next(link, next, bytes);
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
 * Sends by copying. For small messages, and when the network stack would copy the pages itself (lo,
 * veth, a listening packet socket): then this costs less.
 * Return: 0 or a negative errno.
 */
static int mrpc_tcp_send_copy(struct mrpc_link *link, struct mrpc_rpc *rpc)
{
	int err = 0;

	while (!err && rpc->done < mrpc_rpc_total(rpc))
		err = mrpc_tcp_send_some(link, rpc);
	return err;
}

/* Does the stack copy what it is given by reference? Now and then it is tried again. */
static bool mrpc_tcp_copies(struct mrpc_link *link, struct mrpc_tcp *tcp)
{
	if (atomic_read(&link->copied) < MRPC_TCP_COPIED)
		return false;
	if (++tcp->copies % MRPC_TCP_RETRY)
		return true;
	atomic_set(&link->copied, 0);
	return false;
}

/*
 * Does one send of at most @left bytes: the head and copied data, or pages. If no others are left,
 * it uses the flags @last. Return: bytes that the socket took, or a negative errno; @want: bytes
 * that it was given.
 */
static int mrpc_tcp_send_part(struct mrpc_tcp *tcp, struct mrpc_rpc *rpc, u64 left, int last,
			      u32 *want)
{
	struct msghdr msg = { .msg_flags = MSG_DONTWAIT | MSG_NOSIGNAL };
	bool copy = mrpc_tcp_small(rpc) || tcp->copying;
	union {
		struct bio_vec bv[MRPC_TCP_BVECS];
		struct kvec kv[MRPC_TCP_KVECS];
	} part __uninitialized;
	u32 nr = 1, len;

	if (copy) {
		nr = mrpc_tcp_vector(rpc, part.kv, 0, &len);
	} else if (rpc->done < rpc->data_len) {
		len = rpc->data_len - rpc->done;
		mrpc_tcp_kvec(part.kv, rpc->data + rpc->done, len);
		copy = true;
	} else {
		nr = mrpc_tcp_gather(rpc, part.bv, &len);
		tcp->pages = true;
		msg.msg_flags |= MSG_ZEROCOPY;
		msg.msg_ubuf = &mrpc_rpc_call(rpc)->ubuf;
	}
	*want = min(len, left);
	/* Pages after the head belong to it, and to its packet. */
	msg.msg_flags |= *want < left ? MSG_MORE : last;
	if (copy)
		return mrpc_tcp_put_kvec(tcp, &msg, part.kv, nr, *want);
	iov_iter_bvec(&msg.msg_iter, ITER_SOURCE, part.bv, nr, *want);
	return mrpc_tcp_put(tcp, &msg);
}

/* Sends the next @bytes of @rpc, the last with the flags @last. Return: 0 or a negative errno. */
static int mrpc_tcp_send_parts(struct mrpc_tcp *tcp, struct mrpc_rpc *rpc, u64 bytes, int last)
{
	u32 want;
	int n;

	for (; bytes; bytes -= n) {
		n = mrpc_tcp_send_part(tcp, rpc, bytes, last, &want);
		if (n < 0)
			return n;
		mrpc_tcp_advance(rpc, n);
		if (n < want)
			return -EAGAIN;
	}
	return 0;
}

/* -- with a checksum ---------------------------------------------------------- */

/*
 * The sum must cover the bytes that are really sent. An application may write to its byte blocks
 * while they are sent. So each piece is copied, and the copy is summed and sent. Nothing is sent by
 * reference.
 */

/* Copies the next piece of the byte section. Return: its bytes. */
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
 * Sends at most @left of @len bytes. If the last of them is among these, it uses the flags @last.
 * Return: bytes that the socket has taken, or a negative errno.
 */
static int mrpc_tcp_give(struct mrpc_tcp *tcp, struct kvec *kv, size_t nr, u64 len, u64 left,
			 int last)
{
	struct msghdr msg = { .msg_flags = MSG_DONTWAIT | MSG_NOSIGNAL };

	msg.msg_flags |= len < left ? MSG_MORE : last;
	return mrpc_tcp_put_kvec(tcp, &msg, kv, nr, min(len, left));
}

/* Sends a message that is in kernel memory, where no application can write, and its trailer. */
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

/* Sends a piece of the byte section, from the heap. */
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

/* Sends the other parts of a message from the heap: the head, and the trailer at the end. */
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

/* Computes the sum in the header, before anything of the message is sent. */
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

/* Sends the next @bytes of @rpc, the last with the flags @last. Return: 0 or a negative errno. */
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

/* As mrpc_tcp_send(), for any message. */
static noinline int mrpc_tcp_send_any(struct mrpc_link *link, const struct mrpc_queue *q,
				      struct mrpc_rpc *rpc, u64 limit)
{
	u64 bytes = min(mrpc_rpc_total(rpc) - rpc->done, limit);
	struct mrpc_tcp *tcp = link->priv;
	bool chunk = limit != U64_MAX;
	/* Nothing joins a chunk in its packet. What follows a message joins it. */
	int last = chunk ? MSG_EOR : mrpc_queue_is_last(q, rpc) ? 0 : MSG_MORE;

	if (rpc->frame.flags & MRPC_WIRE_CRC)
		return mrpc_tcp_send_summed(tcp, rpc, bytes, last);
	/* A message that has begun one way is sent that way to its end. */
	if (!mrpc_tcp_small(rpc) && !rpc->done)
		tcp->copying = mrpc_tcp_copies(link, tcp);
	if (!chunk && (mrpc_tcp_small(rpc) || tcp->copying))
		return mrpc_tcp_send_copy(link, rpc);
	return mrpc_tcp_send_parts(tcp, rpc, bytes, last);
}

int mrpc_tcp_send(struct mrpc_link *link, struct mrpc_queue *q, u64 limit)
{
	struct mrpc_rpc *rpc = mrpc_queue_peek(q);
	struct mrpc_tcp *tcp = link->priv;

	if (READ_ONCE(tcp->down))
		return -EPIPE;
	if (likely(limit == U64_MAX && !rpc->heap && !rpc->done && mrpc_queue_is_last(q, rpc) &&
		   !(rpc->frame.flags & MRPC_WIRE_CRC)))
		return mrpc_tcp_send_data(tcp, rpc);
	return mrpc_tcp_send_any(link, q, rpc, limit);
}
