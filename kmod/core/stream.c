// SPDX-License-Identifier: GPL-2.0
/*
 * A byte stream to frames.
 *
 * Input is read into a buffer that exists only while it holds something, so an
 * idle connection costs none. The byte section of a large message is read
 * straight to its place.
 */
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>

#include "conn.h"
#include "session.h"
#include "transport.h"

#define MRPC_STREAM_BUF		16384
#define MRPC_STREAM_TURN	(1 << 20)	/* bytes before others get a turn */

/* The usual case costs no allocation: the session keeps one buffer. */
static u8 *mrpc_stream_alloc(struct mrpc_session *session, u32 cap)
{
	u8 *buf = NULL;

	if (cap == MRPC_STREAM_BUF)
		buf = xchg(&session->rx_spare, NULL);
	return buf ?: kvmalloc(cap, GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
}

static void mrpc_stream_recycle(struct mrpc_session *session, struct mrpc_stream *st)
{
	if (st->cap != MRPC_STREAM_BUF || cmpxchg(&session->rx_spare, NULL, st->buf))
		kvfree(st->buf);
	st->buf = NULL;
	st->cap = 0;
	st->start = 0;
	st->end = 0;
}

/* Frames are multiples of 8 bytes, so what starts one stays aligned. */
static int mrpc_stream_room(struct mrpc_session *session, struct mrpc_stream *st, u32 need)
{
	u32 have = st->end - st->start;
	u32 cap;
	u8 *buf;

	if (st->buf && st->start && (have == 0 || st->start + need > st->cap)) {
		memmove(st->buf, st->buf + st->start, have);
		st->start = 0;
		st->end = have;
	}
	if (st->buf && need <= st->cap)
		return 0;
	cap = max_t(u32, need, MRPC_STREAM_BUF);
	buf = mrpc_stream_alloc(session, cap);
	if (!buf)
		return -ENOMEM;
	if (have)
		memcpy(buf, st->buf + st->start, have);
	kvfree(st->buf);
	st->buf = buf;
	st->cap = cap;
	st->start = 0;
	st->end = have;
	return 0;
}

/**
 * mrpc_stream_free() - end of a stream
 * @st: the stream
 */
void mrpc_stream_free(struct mrpc_stream *st)
{
	kvfree(st->buf);
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

	if (sink->addr) {
		memcpy(sink->addr, st->buf + st->start, n);
		sink->addr += n;
	}
	sink->left -= n;
	st->start += n;
}

static int mrpc_stream_header(struct mrpc_conn *conn, struct mrpc_stream *st)
{
	const char *why;
	int err;

	err = mrpc_wire_decode((const void *)(st->buf + st->start), conn->max_message,
			       &st->frame, &why);
	if (err && err != -EMSGSIZE)
		return err;
	if (!mrpc_sink_expects(conn, &st->frame))
		return -EPROTO;
	st->too_big = err || mrpc_msg_head_len(&st->frame.msg) > MRPC_MAX_HEAD;
	st->have_frame = true;
	return 0;
}

/*
 * Parse what is buffered. Return: 1: a frame is complete; 0: more input is
 * needed; else as mrpc_transport_ops.recv.
 */
static int mrpc_stream_parse(struct mrpc_conn *conn, struct mrpc_stream *st)
{
	struct mrpc_sink *sink = &conn->sink;
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
		head = sizeof(struct mrpc_wire_hdr) + mrpc_frame_head(&st->frame);
		if (st->too_big) {
			err = mrpc_sink_too_big(conn, &st->frame);
			if (err)
				return err;
			st->skip = (u64)head + st->frame.msg.bytes;
			st->have_frame = false;
			return 1;
		}
		if (st->end - st->start < head)
			return 0;
		err = mrpc_sink_head(conn, &st->frame,
				     st->buf + st->start + sizeof(struct mrpc_wire_hdr));
		if (err)
			return err;
		st->start += head;
		st->have_frame = false;
	}
	mrpc_stream_body(st, sink);
	if (sink->left)
		return 0;
	mrpc_sink_done(conn);
	return 1;
}

/*
 * Read more. Return: bytes, 0 at the end of the stream, -EAGAIN. @more: there
 * may be more than was read.
 */
static int mrpc_stream_fill(struct mrpc_conn *conn, struct mrpc_stream *st,
			    int (*read)(struct mrpc_conn *conn, void *buf, size_t len),
			    bool *more)
{
	struct mrpc_sink *sink = &conn->sink;
	u32 have = st->end - st->start, need = sizeof(struct mrpc_wire_hdr), want;
	int n, err;

	if (sink->active && sink->addr && st->start == st->end) {
		want = min_t(u32, sink->left, INT_MAX);
		n = read(conn, sink->addr, want);
		if (n > 0) {
			sink->addr += n;
			sink->left -= n;
			conn->last_rx = ktime_get_coarse_ns();
		}
		*more = n == want;
		return n;
	}
	/* A header claims; memory follows what has really come. */
	if (st->have_frame && !st->too_big)
		need = min_t(u64, need + mrpc_frame_head(&st->frame),
			     max_t(u64, MRPC_STREAM_BUF, 2ULL * have));
	err = mrpc_stream_room(conn->session, st, need);
	if (err)
		return err;
	want = st->cap - st->end;
	n = read(conn, st->buf + st->end, want);
	if (n > 0) {
		st->end += n;
		conn->last_rx = ktime_get_coarse_ns();
	}
	*more = n == want;
	return n;
}

int mrpc_stream_recv(struct mrpc_conn *conn, struct mrpc_stream *st,
		     int (*read)(struct mrpc_conn *conn, void *buf, size_t len), int budget)
{
	bool more = true;
	int frames = 0, n;
	u64 bytes = 0;

	for (;;) {
		n = 0;
		if (st->start != st->end || conn->sink.active)
			n = mrpc_stream_parse(conn, st);
		if (n < 0)
			return n;
		frames += n;
		if (frames == budget)
			return frames;
		if (n)
			continue;
		if (!more)
			break;
		/* Large messages use a turn up as many small ones do. */
		if (bytes >= MRPC_STREAM_TURN)
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
		bytes += n;
	}
	if (st->buf && st->start == st->end)
		mrpc_stream_recycle(conn->session, st);
	return frames;
}
EXPORT_SYMBOL_GPL(mrpc_stream_recv);
