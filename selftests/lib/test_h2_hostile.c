// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/lib/http2/hear kmod/lib/http2/owed kmod/lib/http2/connection kmod/lib/http2/parser */
/* Peers of an HTTP/2 connection that make work or ask for memory; and honest ones beside them. */
#include "h2_end.h"
#include "h2_text.h"
#include "tap.h"

#define BURST	(MRPC_H2_COST_BURST + MRPC_H2_COST_RESET * H2_STREAMS)

static struct h2_end e;

static int feed(const char *text)
{
	u8 *in = NULL;
	int len = h2_text(text, &in), ret;

	CHECK_MSG(len >= 0, "no such frames: %s", text);
	ret = h2_end_feed(&e, in, len);
	free(in);
	CHECK_MSG(!h2_end_check(&e), "%s: %s", text, h2_end_check(&e));
	return ret;
}

static int feedf(const char *fmt, ...)
{
	char text[200];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return feed(text);
}

static void begin(bool server)
{
	h2_end_init(&e, server, 1);
	h2_end_flush(&e);
	CHECK(feed(server ? "PREFACE; SETTINGS - 0; SETTINGS a 0" : "SETTINGS - 0; SETTINGS a 0") > 0);
}

/* The socket takes all that is due. */
static void drain(void)
{
	h2_end_flush(&e);
	e.out_len = 0;
	e.nr_events = 0;
}

static void finish(void)
{
	h2_end_flush(&e);
	h2_end_free(&e);
}

/*
 * What can be repeated for ever. @cost tokens each; without time the bucket ends it after BURST tokens
 * at the latest. Streams: 1 is open, 3 is closed by the peer, 5 by this end, 7 has ended.
 */
static const struct {
	const char *frame;
	u32 cost;
} floods[] = {
	{ "SETTINGS - 0", 5 },
	{ "SETTINGS - 0 0004 u65535 0003 z184", 5 },
	{ "SETTINGS a 0", 5 },
	{ "PING - 0 z8", 1 },
	{ "PING a 0 z8", 1 },
	{ "PING a 0 6d72706362796500", 1 },
	{ "GOAWAY - 0 u0 u0", 1 },
	{ "DATA - 1", 1 },
	{ "DATA p 1 05 z5", 1 },
	{ "DATA - 5", 1 },
	{ "HEADERS eh 5 TRAILERS", 1 },
	{ "PRIORITY - 1 u0 00", 1 },
	{ "PRIORITY - 99 u0 00", 1 },
	{ "PRIORITY - 3 u0", 1 },
	{ "PRIORITY - 5 u0", 1 },
	{ "99 - 0 z100", 1 },
	{ "99 - 1 z100", 1 },
	{ "UPDATE - 0 u1", 1 },
	{ "UPDATE - 1 u1", 1 },
	{ "UPDATE - 3 u1", 1 },
	{ "UPDATE - 5 u1", 1 },
	{ "RST - 3 u8", 5 },
	{ "RST - 5 u8", 1 },
	{ "RST - 7 u8", 5 },
};

static void flood_begin(void)
{
	begin(true);
	feed("HEADERS h 1 REQUEST; HEADERS h 3 REQUEST; HEADERS h 5 REQUEST; HEADERS eh 7 REQUEST; RST - 3 u8");
	h2_end_reset(&e, e.live[2], MRPC_H2_CANCEL);
	h2_end_headers(&e, e.live[3], true);
	CHECK_EQ(e.conn.streams.nr, 1);
	drain();
}

TEST(floods)
{
	u32 i, n;

	for (i = 0; i < ARRAY_SIZE(floods); i++) {
		flood_begin();
		for (n = 0; feed(floods[i].frame) > 0; n++) {
			CHECK(n <= BURST);
			drain();
		}
		CHECK_MSG(n <= BURST / floods[i].cost && n >= (BURST - 50) / floods[i].cost,
			  "%s: ends after %u", floods[i].frame, n);
		CHECK_EQ(e.conn.code, MRPC_H2_ENHANCE_YOUR_CALM);
		finish();
	}
}

/* Nothing that is due is written: reading stops, and what is due stays small. */
TEST(floods_unread)
{
	u32 i, n, bytes;

	for (i = 0; i < ARRAY_SIZE(floods); i++) {
		flood_begin();
		for (n = 0; feed(floods[i].frame) > 0; n++)
			CHECK(n <= BURST);
		CHECK(mrpc_h2_congested(&e.conn) || e.conn.code == MRPC_H2_ENHANCE_YOUR_CALM);
		e.out_len = 0;
		h2_end_flush(&e);
		bytes = e.out_len;
		CHECK_MSG(bytes <= MRPC_H2_MAX_OWED + MRPC_H2_OWED_ROOM, "%s: %u bytes are due",
			  floods[i].frame, bytes);
		/* It goes on when the socket takes bytes, until the bucket is empty. */
		CHECK(e.conn.why || feed(floods[i].frame) > 0);
		finish();
	}
}

/* The answers that are due are counted in bytes, and PINGs also in number. */
TEST(answers_unread)
{
	u32 n;

	begin(true);
	for (n = 0; feed("SETTINGS - 0") > 0; n++)
		e.now += NSEC_PER_SEC;
	CHECK(!e.conn.why && mrpc_h2_congested(&e.conn));
	CHECK(n * MRPC_H2_FRAME_HEADER <= MRPC_H2_MAX_OWED);
	CHECK(n * MRPC_H2_FRAME_HEADER > MRPC_H2_MAX_OWED - 32);
	finish();
	begin(true);
	for (n = 0; feed("PING - 0 z8") > 0; n++)
		e.now += NSEC_PER_SEC;
	CHECK(!e.conn.why && mrpc_h2_congested(&e.conn));
	CHECK_EQ(n, MRPC_H2_MAX_PINGS);
	finish();
}

/* A transport that reads on although it must not: an error, and no memory. */
TEST(floods_careless)
{
	u32 i, n;

	for (i = 0; i < ARRAY_SIZE(floods); i++) {
		flood_begin();
		e.careless = true;
		for (n = 0; feed(floods[i].frame) > 0; n++)
			CHECK(n <= BURST);
		CHECK_EQ(e.conn.code, MRPC_H2_ENHANCE_YOUR_CALM);
		finish();
	}
}

/* Streams that are opened and reset at once: CVE-2023-44487, and its kin by errors of our making. */
static const char *const rapid[] = {
	"HEADERS eh %u REQUEST; RST - %u u8",
	"HEADERS h %u REQUEST; UPDATE - %u u0",
	"HEADERS h %u REQUEST; UPDATE - %u u0x7fffffff",
	"HEADERS eh %u REQUEST; DATA - %u 00",
	"HEADERS eh %u REQUEST; HEADERS eh %u REQUEST",
	"HEADERS h %u REQUEST; HEADERS h %u TRAILERS",
	"HEADERS h %u REQUEST; PRIORITY - %u u0",
};

TEST(rapid_reset)
{
	u32 i, n;

	for (i = 0; i < ARRAY_SIZE(rapid); i++) {
		begin(true);
		for (n = 0; feedf(rapid[i], 2 * n + 1, 2 * n + 1) > 0; n++) {
			CHECK(n <= BURST / MRPC_H2_COST_RESET);
			drain();
			CHECK_EQ(e.conn.streams.nr, 0);
		}
		/* WINDOW_UPDATE costs besides. */
		CHECK(n >= BURST / (MRPC_H2_COST_RESET + MRPC_H2_COST_FRAME));
		CHECK_EQ(e.conn.code, MRPC_H2_ENHANCE_YOUR_CALM);
		finish();
	}
}

/* Streams beyond the limit. */
TEST(refused)
{
	u32 n;

	begin(true);
	for (n = 0; feedf("HEADERS h %u REQUEST", 2 * n + 1) > 0; n++) {
		CHECK(n <= BURST);
		h2_end_flush(&e);
		e.nr_events = 0;
	}
	CHECK_EQ(n, H2_STREAMS + BURST / MRPC_H2_COST_RESET);
	CHECK_EQ(e.conn.streams.nr, H2_STREAMS);
	finish();
}

/* The same without reading the answers: the ring never overflows. */
TEST(refused_unread)
{
	u32 n;

	begin(true);
	for (n = 0; feedf("HEADERS h %u REQUEST", 2 * n + 1) > 0; n++)
		CHECK(n <= BURST);
	CHECK(mrpc_h2_congested(&e.conn) && !e.conn.why);
	CHECK_EQ(n, H2_GONE - MRPC_H2_GONE_SPARE);
	/* All that is open can be reset nevertheless. */
	for (n = 0; n < H2_STREAMS; n++)
		h2_end_reset(&e, e.live[n], MRPC_H2_CANCEL);
	CHECK_MSG(!h2_end_check(&e), "%s", h2_end_check(&e));
	h2_end_flush(&e);
	CHECK(!mrpc_h2_congested(&e.conn));
	finish();
	begin(true);
	e.careless = true;
	for (n = 0; feedf("HEADERS h %u REQUEST", 2 * n + 1) > 0; n++)
		CHECK(n <= BURST);
	CHECK_EQ(n, H2_GONE);
	CHECK_EQ(e.conn.code, MRPC_H2_ENHANCE_YOUR_CALM);
	finish();
}

/* CVE-2024-27316: a header block without end. */
TEST(continuation)
{
	u32 n;

	begin(true);
	CHECK(feed("HEADERS e 1 z10") > 0);
	for (n = 0; feed("CONT - 1 z10") > 0; n++)
		CHECK(n < MRPC_H2_MAX_BLOCK_FRAMES);
	CHECK_EQ(e.conn.code, MRPC_H2_ENHANCE_YOUR_CALM);
	finish();
	begin(true);
	CHECK(feed("HEADERS e 1 z10000") > 0);
	CHECK_EQ(feed("CONT - 1 len=6385"), -EPROTO);
	CHECK_EQ(e.conn.code, MRPC_H2_ENHANCE_YOUR_CALM);
	finish();
}

/* As a client: a server that never ends its 1xx responses. */
TEST(informational)
{
	int ret;
	u32 n;

	begin(false);
	h2_end_open(&e, true, &ret);
	for (n = 0; feed("HEADERS h 1 REPLY") > 0; n++) {
		CHECK(n <= BURST);
		if (mrpc_h2_informational(&e.conn, &e.live[0]->s, e.now))
			break;
		drain();
	}
	CHECK_EQ(n, BURST);
	finish();
}

/* What honest peers do, for as long as they like. */
TEST(honest_cancels)
{
	u32 n;

	begin(true);
	/* All streams at once. */
	for (n = 0; n < H2_STREAMS; n++)
		CHECK(feedf("HEADERS h %u REQUEST", 2 * n + 1) > 0);
	for (n = 0; n < H2_STREAMS; n++)
		CHECK(feedf("RST - %u u8", 2 * n + 1) > 0);
	/* Then 20 a second. */
	for (n = H2_STREAMS; n < 4000; n++) {
		e.now += NSEC_PER_SEC / 20;
		CHECK(feedf("HEADERS h %u REQUEST; RST - %u u8", 2 * n + 1, 2 * n + 1) > 0);
		drain();
	}
	finish();
}

TEST(honest_pings)
{
	u32 n;

	begin(true);
	for (n = 0; n < 4000; n++) {
		e.now += NSEC_PER_SEC;
		CHECK(feed("PING - 0 z8") > 0);
		drain();
	}
	finish();
}

/* Calls without pause, each message a token; a cancel beside five of them. */
TEST(honest_calls)
{
	u32 n;

	begin(true);
	for (n = 0; n < 4000; n++) {
		CHECK(feedf("HEADERS h %u REQUEST; DATA e %u 0000000000", 2 * n + 1, 2 * n + 1) > 0);
		mrpc_h2_reward(&e.conn);
		if (n % 6)
			h2_end_headers(&e, e.live[0], true);
		else
			CHECK(feedf("RST - %u u8", 2 * n + 1) > 0);
		CHECK_EQ(e.conn.streams.nr, 0);
		drain();
	}
	finish();
}

/* As gRPC's servers in C++ answer calls whose deadline passes: twice, each time with RST_STREAM. */
TEST(answers_come_twice)
{
	u32 n, id;
	int ret;

	begin(false);
	for (n = 0; n < 4000; n++) {
		id = 2 * n + 1;
		CHECK(h2_end_open(&e, true, &ret));
		CHECK(feedf("HEADERS eh %u TRAILERS; RST - %u u0; HEADERS eh %u TRAILERS; RST - %u u0",
			    id, id, id, id) > 0);
		CHECK_EQ(e.conn.streams.nr, 0);
		drain();
	}
	finish();
}

/* A reader that tells of all that it reads, twice. */
TEST(honest_updates)
{
	u32 n;

	begin(true);
	feed("HEADERS eh 1 REQUEST");
	for (n = 0; n < 4000; n++) {
		CHECK(h2_end_send(&e, e.live[0], 1000, false));
		CHECK(feed("UPDATE - 0 u1000; UPDATE - 1 u1000") > 0);
		drain();
	}
	finish();
}

/* A server may reset all that a client opens: the client paid for the stream. */
TEST(honest_server)
{
	int ret;
	u32 n;

	begin(false);
	for (n = 0; n < 4000; n++) {
		CHECK(h2_end_open(&e, false, &ret));
		CHECK(feedf("HEADERS eh %u TRAILERS; RST - %u u0", 2 * n + 1, 2 * n + 1) > 0);
		drain();
	}
	finish();
}

/* 16 KiB of content earn a token, small pieces as well. */
TEST(content_earns)
{
	u32 n;

	begin(true);
	feed("HEADERS h 1 REQUEST");
	for (n = 0; feed("PING - 0 z8") > 0 && n < BURST - 100; n++)
		drain();
	CHECK(!e.conn.why);
	for (n = 0; n < 1000; n++) {
		CHECK(feed("4*DATA - 1 z12288; 3*PING - 0 z8") > 0);
		drain();
	}
	finish();
}

/* A clock that goes back gives nothing and takes nothing. */
TEST(clock)
{
	u32 n;

	begin(true);
	for (n = 0; n < BURST; n++) {
		e.now -= 1000000;
		CHECK(feed("PING - 0 z8") > 0);
		drain();
	}
	CHECK_EQ(feed("PING - 0 z8"), -EPROTO);
	finish();
}

/* Ids that a peer chooses do not make chains much longer than others: the seed is not known to it. */
TEST(chains)
{
	static struct mrpc_h2_stream streams[256];
	struct mrpc_h2_stream *buckets[64];
	struct mrpc_h2_streams t;
	u32 seed, stride, i, longest, bad = 0;

	for (seed = 1; seed < 200; seed++) {
		stride = 2 << seed % 20;
		mrpc_h2_streams_init(&t, buckets, 6, seed * 2654435761U);
		for (i = 0; i < 256; i++) {
			streams[i] = (struct mrpc_h2_stream){ .id = 1 + i * stride };
			mrpc_h2_streams_add(&t, &streams[i]);
		}
		for (i = 0, longest = 0; i < 64; i++) {
			struct mrpc_h2_stream *s;
			u32 n = 0;

			for (s = buckets[i]; s; s = s->hash)
				n++;
			longest = max(longest, n);
		}
		bad += longest > 32;
	}
	CHECK_MSG(bad < 20, "%u of 199", bad);
}
