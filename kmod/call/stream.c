// SPDX-License-Identifier: GPL-2.0
/*
 * A byte stream to frames.
 *
 * Input is read into a buffer that exists only while it holds something, so an
 * idle connection costs none. The byte section of a large message is read
 * straight to its place, and in the same operation what follows it into the
 * buffer: a header, most likely. How much is read ahead therefore depends on what
 * came last. Of small messages as many as there are, of large ones little more
 * than a header: what is read ahead of a byte section is copied twice.
 */
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "call/receive.h"
#include "call/stream.h"
#include "core/conn.h"
#include "core/memcopy.h"
#include "core/rpc.h"
#include "core/rx_buffer.h"
#include "core/transport.h"
#include "lib/message/wire.h"

#define MRPC_STREAM_AHEAD	512	/* read ahead when messages are large */
#define MRPC_STREAM_LARGE	4096	/* bytes of a large byte section */
#define MRPC_STREAM_TURN	(1 << 20)	/* bytes before others get a turn */

static void mrpc_stream_empty(struct mrpc_link *link, struct mrpc_stream *st)
{
	mrpc_stream_recycle(link, st->buf, st->cap);
	st->buf = NULL;
	st->cap = 0;
	st->start = 0;
	st->end = 0;
}

/* Has the unparsed input in a buffer of @cap bytes, which is enough. Return: 0 or -ENOMEM. */
static int mrpc_stream_resize(struct mrpc_link *link, struct mrpc_stream *st, u32 cap)
{
	u32 have = st->end - st->start;
	u8 *buf = mrpc_stream_alloc(link, &cap);

	if (!buf)
		return -ENOMEM;
	if (st->buf)
		memcpy(buf, st->buf + st->start, have);
	mrpc_stream_recycle(link, st->buf, st->cap);
	st->buf = buf;
	st->cap = cap;
	st->start = 0;
	st->end = have;
	return 0;
}

/*
 * Gives a large buffer back when the head that it was for has been read. What has come of the next
 * frame decides what remains, as it decides how a buffer grows: what a header claims does not.
 */
static void mrpc_stream_shrink(struct mrpc_link *link, struct mrpc_stream *st)
{
	u32 need = max_t(u32, MRPC_STREAM_BUF, 2 * (st->end - st->start));

	if (need <= st->cap / 2)	/* without memory it stays */
		mrpc_stream_resize(link, st, need);
}

/* Frames are multiples of 8 bytes, so what starts one stays aligned. */
static int mrpc_stream_room(struct mrpc_link *link, struct mrpc_stream *st, u32 need)
{
	u32 have = st->end - st->start;

	if (st->buf && st->start && (have == 0 || st->start + need > st->cap)) {
		memmove(st->buf, st->buf + st->start, have);
		st->start = 0;
		st->end = have;
	}
	if (st->buf && need <= st->cap)
		return 0;
	return mrpc_stream_resize(link, st, need);
}

/**
 * mrpc_stream_free() - end of a stream
 * @link: the link
 * @st: the stream
 */
void mrpc_stream_free(struct mrpc_link *link, struct mrpc_stream *st)
{
	mrpc_stream_recycle(link, st->buf, st->cap);
	memset(st, 0, sizeof(*st));
}
EXPORT_SYMBOL_GPL(mrpc_stream_free);

static void mrpc_stream_skip(struct mrpc_stream *st)
{
	u32 n = min_t(u64, st->skip, st->end - st->start);

	st->start += n;
	st->skip -= n;
}

/* Move what is buffered of the byte section to its place. */
static void mrpc_stream_body(struct mrpc_stream *st, struct mrpc_sink *sink)
{
	u32 n = min(sink->left, st->end - st->start);

	if (st->trailer)
		st->sum = mrpc_checksum(st->sum, st->buf + st->start, n);
	if (sink->addr) {
		mrpc_block_copy(sink->addr, st->buf + st->start, n);
		sink->addr += n;
	}
	sink->left -= n;
	st->start += n;
}

/*
 * The head has come: is it what was sent? It is looked at before anything is done about
 * the frame. A frame that is refused by its size is not read, and not checked either.
 */
static int mrpc_stream_check(struct mrpc_conn *conn, struct mrpc_stream *st, u32 head)
{
	struct mrpc_wire_hdr *hdr = (void *)(st->buf + st->start);

	hdr->crc = 0;
	if (~mrpc_checksum(MRPC_CHECKSUM_INIT, hdr, head) != conn->receive.sink.a.frame.crc)
		return -EBADMSG;
	st->checked = true;	/* room for the message may come later */
	WRITE_ONCE(conn->stats.rx_summed, conn->stats.rx_summed + 1);
	return 0;
}

/* The byte section has come. Return: 1: it is what was sent; 0: its checksum is to come. */
static int mrpc_stream_trailer(struct mrpc_stream *st)
{
	const struct mrpc_wire_trailer *trailer = (void *)(st->buf + st->start);

	if (st->end - st->start < sizeof(*trailer))
		return 0;
	if (trailer->resv)
		return -EPROTO;
	if (~st->sum != le32_to_cpu(trailer->crc))
		return -EBADMSG;
	st->start += sizeof(*trailer);
	st->trailer = 0;
	return 1;
}

static int mrpc_stream_header(struct mrpc_conn *conn, struct mrpc_stream *st)
{
	/* The sink is not active: it is ours. */
	struct mrpc_frame *f = &conn->receive.sink.a.frame;
	const char *why;
	int err;

	err = mrpc_wire_decode((const void *)(st->buf + st->start), conn->link.max_message, f, &why);
	if (err && err != -EMSGSIZE)
		return err;
	/* A frame whose head is there is asked about with it. */
	if (st->end - st->start < sizeof(struct mrpc_wire_hdr) + mrpc_frame_head_known(f) &&
	    !mrpc_sink_expects(&conn->link, f))
		return -EPROTO;
	st->too_big = err || f->head_len > MRPC_MAX_HEAD;
	st->have_frame = true;
	if (f->msg.bytes >= MRPC_STREAM_LARGE)
		st->ahead = MRPC_STREAM_AHEAD;
	else if (st->ahead < MRPC_STREAM_BUF)
		st->ahead = max(2 * st->ahead, MRPC_STREAM_AHEAD);
	return 0;
}

/* So many bytes are missing: a peer that sends them too slowly is given up (conn/timer.c). */
static void mrpc_stream_waits(struct mrpc_conn *conn, u32 bytes)
{
	if (conn->receive.since)
		return;
	WRITE_ONCE(conn->receive.len, bytes);
	WRITE_ONCE(conn->receive.since, ktime_get_ns());
}

/*
 * Parse what is buffered. Return: 1: a frame is complete; 0: more input is
 * needed; else as mrpc_transport_ops.recv.
 */
static int mrpc_stream_parse(struct mrpc_conn *conn, struct mrpc_stream *st)
{
	struct mrpc_sink *sink = &conn->receive.sink;
	struct mrpc_frame *f = &sink->a.frame;	/* kept there until it is active */
	u32 head;
	int err;

	mrpc_stream_skip(st);
	if (st->skip)
		return 0;
	if (!sink->active) {
		if (!st->have_frame) {
			if (st->end - st->start < sizeof(struct mrpc_wire_hdr))
				return 0;
			err = mrpc_stream_header(conn, st);
			if (err)
				return err;
		}
		head = sizeof(struct mrpc_wire_hdr) + mrpc_frame_head_known(f);
		if (st->too_big) {
			err = mrpc_sink_too_big(&conn->link, f);
			if (err)
				return err;
			st->skip = (u64)head + f->msg.bytes + mrpc_frame_trailer(f);
			st->have_frame = false;
			return 1;
		}
		if (st->end - st->start < head) {
			mrpc_stream_waits(conn, head - (st->end - st->start));
			return 0;
		}
		/* From here the peer is not waited for; the byte section has its own time. */
		if (unlikely(conn->receive.since))
			WRITE_ONCE(conn->receive.since, 0);
		if (unlikely(f->flags & MRPC_WIRE_CRC) && !st->checked) {
			err = mrpc_stream_check(conn, st, head);
			if (err)
				return err;
		}
		st->trailer = mrpc_frame_trailer(f);
		err = mrpc_sink_head(&conn->link, f,
				     st->buf + st->start + sizeof(struct mrpc_wire_hdr));
		if (err)
			return err;
		st->start += head;
		st->have_frame = false;
		st->checked = false;
		st->sum = MRPC_CHECKSUM_INIT;
	}
	mrpc_stream_body(st, sink);
	err = 1;
	if (!sink->left && st->trailer)
		err = mrpc_stream_trailer(st);
	if (err < 0)
		return err;
	if (sink->left || !err) {
		mrpc_stream_waits(conn, sink->left);
		return 0;
	}
	mrpc_sink_done(&conn->link);
	return 1;
}

/*
 * Is there perhaps more than the @n bytes that were read? A read of TLS ends at a record, or behind
 * what was decrypted already. Only a read that finds nothing lets TLS look at what has come.
 */
static bool mrpc_stream_more(const struct mrpc_conn *conn, int n, size_t want)
{
	return n == want || conn->link.tls_version;
}

/*
 * Read a byte section to its place, and ahead into the buffer, which is there as
 * long as a message is incomplete, and empty. Return: as mrpc_stream_fill().
 */
static int mrpc_stream_fill_body(struct mrpc_conn *conn, struct mrpc_stream *st,
				 mrpc_stream_read read, bool *more)
{
	struct mrpc_sink *sink = &conn->receive.sink;
	u32 body = min_t(u32, sink->left, INT_MAX / 2), want;
	struct kvec vec[2];
	int n;

	st->start = 0;
	st->end = 0;
	vec[0] = (struct kvec){ .iov_base = sink->addr, .iov_len = body };
	vec[1] = (struct kvec){ .iov_base = st->buf, .iov_len = min(st->ahead, st->cap) };
	want = body + vec[1].iov_len;
	n = read(&conn->link, vec, 2, want);
	if (n > 0) {
		body = min_t(u32, body, n);
		if (st->trailer)
			st->sum = mrpc_checksum(st->sum, sink->addr, body);
		sink->addr += body;
		sink->left -= body;
		st->end = n - body;
	}
	*more = mrpc_stream_more(conn, n, want);
	return n;
}

/*
 * Read more. Return: bytes, 0 at the end of the stream, -EAGAIN. @more: there
 * may be more than was read.
 */
static int mrpc_stream_fill(struct mrpc_conn *conn, struct mrpc_stream *st,
			    mrpc_stream_read read, bool *more)
{
	u32 have = st->end - st->start, need = sizeof(struct mrpc_wire_hdr);
	struct mrpc_sink *sink = &conn->receive.sink;
	struct kvec vec;
	int n;

	if (sink->active && sink->addr && sink->left && !have)
		return mrpc_stream_fill_body(conn, st, read, more);
	/* A header claims; memory follows what has really come. */
	if (st->have_frame && !st->too_big)
		need = min_t(u64, need + mrpc_frame_head_known(&sink->a.frame),
			     max_t(u64, MRPC_STREAM_BUF, 2ULL * have));
	n = mrpc_stream_room(&conn->link, st, need);
	if (n)
		return n;
	vec.iov_base = st->buf + st->end;
	vec.iov_len = st->cap - st->end;
	/* What is thrown away may come in any quantity. */
	if (st->ahead < vec.iov_len && !st->skip && !sink->active)
		vec.iov_len = max(st->ahead, need - min(need, have));
	n = read(&conn->link, &vec, 1, vec.iov_len);
	if (n > 0)
		st->end += n;
	*more = mrpc_stream_more(conn, n, vec.iov_len);
	return n;
}

int mrpc_stream_recv(struct mrpc_link *link, struct mrpc_stream *st,
		     mrpc_stream_read read, int budget)
{
	struct mrpc_conn *conn = mrpc_link_conn(link);
	u32 turn = READ_ONCE(conn->exec.turn_bytes) ?: MRPC_STREAM_TURN;
	bool more = true;
	int frames = 0, n;
	u64 bytes = 0;

	for (;;) {
		n = 0;
		if (st->start != st->end || conn->receive.sink.active)
			n = mrpc_stream_parse(conn, st);
		if (n < 0)
			return n;
		frames += n;
		if (frames == budget || mrpc_recv_stops(link, budget, &frames))
			return frames;
		if (n)
			continue;
		if (!more)
			break;
		/* Large messages use a turn up as many small ones do. */
		if (bytes >= turn)
			return budget;
		if (READ_ONCE(conn->state) == MRPC_CONN_CLOSED)
			return -ESHUTDOWN;
		n = mrpc_stream_fill(conn, st, read, &more);
		if (n == -EAGAIN)
			break;
		if (!n)
			return -ESHUTDOWN;
		if (n < 0)
			return n;
		WRITE_ONCE(link->last_rx, get_jiffies_64());
		bytes += n;
	}
	if (st->buf && st->start == st->end && !conn->receive.sink.active)
		mrpc_stream_empty(link, st);
	else if (unlikely(st->cap > MRPC_STREAM_BUF))
		mrpc_stream_shrink(link, st);
	return frames;
}
EXPORT_SYMBOL_GPL(mrpc_stream_recv);
