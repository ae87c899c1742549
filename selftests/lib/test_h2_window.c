// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/lib/http2/connection kmod/lib/http2/hear kmod/lib/http2/owed kmod/lib/http2/window */
/*
 * Flow control of HTTP/2 against naive models; and two ends that are connected to each other, with
 * random acts of both.
 */
#include "h2_end.h"
#include "rnd.h"
#include "tap.h"

#define STREAMS	8

static struct h2_end a, b;	/* a is the client */

static void feed_frame(struct h2_end *e, u8 type, u8 flags, u32 stream, const void *payload, u32 len)
{
	u8 in[64];

	memcpy(mrpc_h2_put_frame(in, len, type, flags, stream), payload, len);
	h2_end_feed(e, in, MRPC_H2_FRAME_HEADER + len);
}

static void feed_word(struct h2_end *e, u8 type, u32 stream, u32 word)
{
	u8 payload[4];

	put_unaligned_be32(word, payload);
	feed_frame(e, type, 0, stream, payload, 4);
}

static void feed_window(struct h2_end *e, u32 window)
{
	u8 payload[6] = { 0, MRPC_H2_SET_WINDOW };

	put_unaligned_be32(window, payload + 2);
	feed_frame(e, MRPC_H2_SETTINGS, 0, 0, payload, 6);
}

/* The bucket is not what is tested here. */
static void forgive(struct h2_end *e)
{
	e->conn.bucket.level = e->conn.bucket.burst;
	h2_end_flush(e);
	e->out_len = 0;
	e->nr_events = 0;
}

static void client_with_streams(u32 nr)
{
	int ret;

	h2_end_init(&a, false, 1);
	feed_frame(&a, MRPC_H2_SETTINGS, 0, 0, "", 0);
	while (nr--)
		CHECK(h2_end_open(&a, false, &ret));
}

/* What a sender may send: initial window + updates - sent, of each. */
TEST(sender)
{
	s64 initial = 65535, conn = 65535, stream[STREAMS] = { 0 };
	u32 step, i, n, errors = 0, windows = 0;
	u64 rnd = 3;

	client_with_streams(STREAMS);
	for (step = 0; step < 50000; step++) {
		s64 may;

		forgive(&a);
		i = rnd_below(&rnd, STREAMS);
		n = rnd_below(&rnd, 3) ? rnd_below(&rnd, 30000) + 1 : 1U << rnd_below(&rnd, 31);
		switch (rnd_below(&rnd, 8)) {
		case 0:
			if (conn + n > S32_MAX)
				break;
			feed_word(&a, MRPC_H2_WINDOW_UPDATE, 0, n);
			conn += n;
			break;
		case 1:
		case 2:
			feed_word(&a, MRPC_H2_WINDOW_UPDATE, 2 * i + 1, n);
			if (initial + stream[i] + n <= S32_MAX) {
				stream[i] += n;
				break;
			}
			/* The model opens it again as a stream of the same number. */
			CHECK_EQ(h2_end_last(&a).type, MRPC_H2_EV_STREAM_ERROR);
			CHECK_EQ(h2_end_last(&a).code, MRPC_H2_FLOW_CONTROL_ERROR);
			errors++;
			h2_end_free(&a);
			client_with_streams(STREAMS);
			memset(stream, 0, sizeof(stream));
			initial = conn = 65535;
			break;
		case 3:
			if (rnd_below(&rnd, 4))
				break;
			n = rnd_below(&rnd, rnd_below(&rnd, 2) ? 100000 : 1000);
			for (may = 0, i = 0; i < STREAMS; i++)
				may = max(may, stream[i]);
			if (may + n > S32_MAX)
				break;
			feed_window(&a, n);
			initial = n;
			windows++;
			break;
		default:
			h2_end_send(&a, a.live[i], n, false);
			may = max_t(s64, 0, min_t(s64, 16384, min(conn, initial + stream[i])));
			stream[i] -= min_t(s64, n, may);
			conn -= min_t(s64, n, may);
		}
		for (i = 0; i < STREAMS; i++) {
			may = max_t(s64, 0, min_t(s64, 16384, min(conn, initial + stream[i])));
			CHECK_EQ(a.live[i]->s.tx_window, initial + stream[i]);
			CHECK_EQ(mrpc_h2_may_send(&a.conn, &a.live[i]->s), may);
		}
		CHECK_MSG(!h2_end_check(&a), "%s", h2_end_check(&a));
	}
	CHECK(errors > 10 && windows > 1000);
	h2_end_free(&a);
}

/* A window can be negative for long, and opens again. */
TEST(negative)
{
	client_with_streams(1);
	while (mrpc_h2_may_send(&a.conn, &a.live[0]->s))
		h2_end_send(&a, a.live[0], 16384, false);
	feed_word(&a, MRPC_H2_WINDOW_UPDATE, 0, 100000);
	feed_window(&a, 0);
	CHECK_EQ(a.live[0]->s.tx_window, -65535);
	CHECK_EQ(mrpc_h2_may_send(&a.conn, &a.live[0]->s), 0);
	feed_word(&a, MRPC_H2_WINDOW_UPDATE, 1, 65535);
	CHECK_EQ(mrpc_h2_may_send(&a.conn, &a.live[0]->s), 0);
	feed_window(&a, 1);
	CHECK_EQ(mrpc_h2_may_send(&a.conn, &a.live[0]->s), 1);
	h2_end_free(&a);
}

/* DATA that the peer may not send: the stream, or all of it. */
TEST(too_much)
{
	static u8 in[MRPC_H2_FRAME_HEADER + MRPC_H2_MAX_FRAME];
	int ret, frames = 0, size = sizeof(in);

	client_with_streams(0);
	a.greedy = true;
	h2_end_open(&a, false, &ret);
	feed_frame(&a, MRPC_H2_HEADERS, MRPC_H2_FLAG_END_HEADERS, 1, "\x88", 1);
	mrpc_h2_put_data_header(in, 1, MRPC_H2_MAX_FRAME, false);
	h2_end_flush(&a);
	while (h2_end_feed(&a, in, size) == size && h2_end_last(&a).type == MRPC_H2_EV_DATA)
		frames++;
	CHECK_EQ(frames, H2_WINDOW / MRPC_H2_MAX_FRAME);
	CHECK_EQ(h2_end_last(&a).type, MRPC_H2_EV_STREAM_ERROR);
	CHECK_EQ(h2_end_last(&a).code, MRPC_H2_FLOW_CONTROL_ERROR);
	/* What came of it later is ignored and credited, so the connection stands at what is not read. */
	while (frames++ < 1000 && h2_end_feed(&a, in, size) == size)
		h2_end_flush(&a);
	CHECK(!a.conn.why);
	CHECK_EQ(a.conn.rx.target - a.conn.rx.left - a.conn.rx.credit, H2_WINDOW);
	/* Without WINDOW_UPDATE the connection's window ends, too. */
	for (frames = 0; h2_end_feed(&a, in, size) == size; frames++)
		;
	CHECK(frames <= H2_CONN_WINDOW / MRPC_H2_MAX_FRAME);
	CHECK_EQ(a.conn.code, MRPC_H2_FLOW_CONTROL_ERROR);
	h2_end_free(&a);
}

/* A reader that takes little at a time must not stop the sender, and must not talk too much. */
TEST(due)
{
	struct mrpc_h2_window w;
	u32 updates = 0, steps;

	mrpc_h2_window_init(&w, 65535, 1 << 20);
	CHECK(mrpc_h2_window_due(&w));
	CHECK_EQ(mrpc_h2_window_say(&w), (1 << 20) - 65535);
	CHECK(!mrpc_h2_window_due(&w));
	for (steps = 0; steps < 10000; steps++) {
		if (mrpc_h2_window_take(&w, 1000))
			mrpc_h2_window_credit(&w, 1000);
		if (mrpc_h2_window_due(&w)) {
			mrpc_h2_window_say(&w);
			updates++;
		}
	}
	CHECK(updates <= 10000 * 1000 / (1 << 18) + 1);
	/* Nothing is consumed, then one byte. */
	while (mrpc_h2_window_take(&w, 1))
		;
	w.credit = 0;
	CHECK(!mrpc_h2_window_due(&w));
	mrpc_h2_window_credit(&w, 1);
	CHECK(mrpc_h2_window_due(&w));
	/* More than came. */
	mrpc_h2_window_credit(&w, U32_MAX);
	CHECK_EQ(w.left + w.credit, w.target);
	mrpc_h2_window_grow(&w, 100);
	CHECK_EQ(w.target, 1 << 20);
	mrpc_h2_window_grow(&w, U32_MAX);
	CHECK_EQ(w.target, S32_MAX);
	CHECK_EQ(w.left + w.credit, w.target);
}

TEST(grow)
{
	struct h2_sent f;

	client_with_streams(1);
	h2_end_flush(&a);
	a.out_len = 0;
	mrpc_h2_grow_window(&a.conn, 2 * H2_CONN_WINDOW, 4 * H2_WINDOW);
	h2_end_flush(&a);
	CHECK(h2_end_find(&a, MRPC_H2_WINDOW_UPDATE, &f));
	CHECK(f.stream == 0 && get_unaligned_be32(f.data) == H2_CONN_WINDOW);
	a.out_len = 0;
	/* A stream follows as something is credited. */
	mrpc_h2_took(&a.conn, &a.live[0]->s, 0);
	h2_end_flush(&a);
	CHECK(h2_end_find(&a, MRPC_H2_WINDOW_UPDATE, &f));
	CHECK(f.stream == 1 && get_unaligned_be32(f.data) == 3 * H2_WINDOW);
	CHECK_EQ(a.conn.rx.left, 2 * H2_CONN_WINDOW);
	h2_end_free(&a);
}

/* A stream that the peer has ended needs no window. */
TEST(ended)
{
	static u8 in[MRPC_H2_FRAME_HEADER + MRPC_H2_MAX_FRAME];
	struct h2_sent f;
	u32 frames;

	client_with_streams(1);
	feed_frame(&a, MRPC_H2_HEADERS, MRPC_H2_FLAG_END_HEADERS, 1, "\x88", 1);
	h2_end_flush(&a);
	mrpc_h2_put_data_header(in, 1, MRPC_H2_MAX_FRAME, false);
	for (frames = 0; !mrpc_h2_owes(&a.conn); frames++)
		h2_end_feed(&a, in, sizeof(in));
	CHECK_EQ(frames, H2_WINDOW / 4 / MRPC_H2_MAX_FRAME);
	CHECK_EQ(a.conn.streams.nr_due, 1);
	feed_frame(&a, MRPC_H2_DATA, MRPC_H2_FLAG_END_STREAM, 1, "", 0);
	mrpc_h2_took(&a.conn, &a.live[0]->s, 100);
	a.out_len = 0;
	h2_end_flush(&a);
	CHECK(!h2_end_find(&a, MRPC_H2_WINDOW_UPDATE, &f));
	CHECK_MSG(!h2_end_check(&a), "%s", h2_end_check(&a));
	h2_end_free(&a);
}

/* Moves some of what @from says to @to. */
static void carry(struct h2_end *from, struct h2_end *to, u64 *rnd, u32 most)
{
	u32 n = min(from->out_len, rnd_below(rnd, most) + 1);
	int used = h2_end_feed_in(to, from->out, n, rnd_below(rnd, 8) ? n + 1 : rnd_below(rnd, 40) + 1);

	CHECK_MSG(used >= 0, "%s", to->conn.why);
	memmove(from->out, from->out + used, from->out_len - used);
	from->out_len -= used;
}

static void random_act(struct h2_end *e, u64 *rnd, bool resets)
{
	struct h2_stream *s = e->live[rnd_below(rnd, H2_STREAMS)];
	int ret;

	/* The sum of both ends' work is not abuse. */
	e->conn.bucket.level = e->conn.bucket.burst;
	e->nr_events = 0;
	e->now += rnd_below(rnd, 1000000);
	switch (rnd_below(rnd, 16)) {
	case 0:
		if (!e->conn.server && e->conn.settled && e->conn.streams.nr < H2_STREAMS)
			h2_end_open(e, !rnd_below(rnd, 8), &ret);
		break;
	case 1:
		if (s && e->conn.server && !s->headed)
			h2_end_headers(e, s, false);
		break;
	case 2:
		if (s && resets && !rnd_below(rnd, 4))
			h2_end_reset(e, s, MRPC_H2_CANCEL);
		break;
	case 3:
		mrpc_h2_ping(&e->conn);
		break;
	case 4:
		if (!rnd_below(rnd, 100))
			mrpc_h2_grow_window(&e->conn, rnd_below(rnd, 1 << 22), rnd_below(rnd, 1 << 21));
		break;
	case 5: case 6: case 7:
		if (s)
			h2_end_read(e, s, rnd_below(rnd, 100000));
		h2_end_drop(e);
		break;
	case 8: case 9:
		h2_end_flush(e);
		break;
	default:
		/* A server answers when it has said HEADERS. */
		if (!s || (e->conn.server && !s->got && !s->s.remote_end))
			break;
		if (e->conn.server && !s->headed)
			h2_end_headers(e, s, false);
		h2_end_send(e, s, rnd_below(rnd, 40000), !rnd_below(rnd, 30));
	}
}

static void check_pair(void)
{
	CHECK_MSG(!h2_end_check(&a), "client: %s", h2_end_check(&a));
	CHECK_MSG(!h2_end_check(&b), "server: %s", h2_end_check(&b));
}

/* All is read and carried: nothing is lost of windows. */
static void settle(u64 *rnd)
{
	u32 i, round;

	for (round = 0; round < 10000; round++) {
		for (i = 0; i < H2_STREAMS; i++) {
			if (a.live[i])
				h2_end_read(&a, a.live[i], U32_MAX);
			if (b.live[i])
				h2_end_read(&b, b.live[i], U32_MAX);
		}
		h2_end_drop(&a);
		h2_end_drop(&b);
		h2_end_flush(&a);
		h2_end_flush(&b);
		if (!a.out_len && !b.out_len)
			break;
		carry(&a, &b, rnd, 100000);
		carry(&b, &a, rnd, 100000);
	}
	CHECK(round < 10000);
	check_pair();
	CHECK_EQ(a.conn.rx.left + a.conn.rx.credit, a.conn.rx.target);
	CHECK_EQ(b.conn.rx.left + b.conn.rx.credit, b.conn.rx.target);
	CHECK_EQ(a.conn.tx_window, b.conn.rx.left);
	CHECK_EQ(b.conn.tx_window, a.conn.rx.left);
	CHECK_EQ(a.conn.streams.nr, b.conn.streams.nr);
	for (i = 0; i < H2_STREAMS; i++) {
		struct mrpc_h2_stream *s;

		if (!a.live[i])
			continue;
		s = mrpc_h2_streams_find(&b.conn.streams, a.live[i]->s.id);
		CHECK(s);
		CHECK(s->remote_end || a.live[i]->s.tx_window == s->rx.left);
		CHECK(a.live[i]->s.remote_end || s->tx_window == a.live[i]->s.rx.left);
	}
}

static void run_pair(u64 seed, bool resets)
{
	u32 round, step;
	u64 rnd = seed;

	h2_end_init(&a, false, seed);
	h2_end_init(&b, true, seed * 77);
	a.greedy = b.greedy = true;
	h2_end_flush(&a);
	h2_end_flush(&b);
	for (round = 0; round < 4; round++) {
		for (step = 0; step < 3000; step++) {
			random_act(&a, &rnd, resets);
			random_act(&b, &rnd, resets);
			if (a.out_len)
				carry(&a, &b, &rnd, 20000);
			if (b.out_len)
				carry(&b, &a, &rnd, 20000);
			if (!(step % 16))
				check_pair();
		}
		settle(&rnd);
	}
	CHECK(a.sent > 5000000 && b.sent > 5000000);
	CHECK(resets || (a.sent == b.got && b.sent == a.got && !a.dropped && !b.dropped));
	NOTE("%u streams, %llu and %llu bytes, %u and %u frames", b.last_new / 2, (unsigned long long)b.got,
	     (unsigned long long)a.got, b.parsed, a.parsed);
	h2_end_free(&a);
	h2_end_free(&b);
}

TEST(pair)
{
	run_pair(11, false);
}

TEST(pair_with_resets)
{
	run_pair(12, true);
}
