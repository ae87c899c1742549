// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/lib/http2/hear kmod/lib/http2/connection kmod/lib/http2/owed kmod/lib/http2/stream */
/* Streams and connections of HTTP/2: each state with each frame, then what begins and ends them. */
#include "h2_end.h"
#include "h2_text.h"
#include "tap.h"

static struct h2_end e;
static struct h2_sent out;

static int feed(const char *text)
{
	u8 *in = NULL;
	int len = h2_text(text, &in), ret;

	CHECK_MSG(len >= 0, "no such frames: %s", text);
	ret = h2_end_feed_in(&e, in, len, 1 << 20);
	free(in);
	CHECK_MSG(!h2_end_check(&e), "%s: %s", text, h2_end_check(&e));
	return ret;
}

static void begin(bool server)
{
	h2_end_init(&e, server, 1);
	h2_end_flush(&e);
	CHECK(feed(server ? "PREFACE; SETTINGS - 0; SETTINGS a 0" : "SETTINGS - 0; SETTINGS a 0") > 0);
	h2_end_flush(&e);
	e.out_len = 0;
}

static void finish(void)
{
	h2_end_flush(&e);
	CHECK_MSG(!h2_end_check(&e), "%s", h2_end_check(&e));
	h2_end_free(&e);
}

/* Stream 1 is brought to a state. */
enum state {
	IDLE,
	OPEN,
	HALF_LOCAL,
	HALF_REMOTE,
	RESET_BY_US,
	RESET_BY_PEER,
	CLOSED,
	NR_STATES,
};

static const char *const states[] = {
	"idle", "open", "half-closed (local)", "half-closed (remote)", "reset by this end",
	"reset by the peer", "closed",
};

static void server_to(enum state state)
{
	if (state == IDLE)
		return;
	feed(state == HALF_REMOTE || state == CLOSED ? "HEADERS eh 1 REQUEST" : "HEADERS h 1 REQUEST");
	if (state == HALF_LOCAL || state == CLOSED)
		h2_end_headers(&e, e.live[0], true);
	if (state == RESET_BY_US)
		h2_end_reset(&e, e.live[0], MRPC_H2_CANCEL);
	if (state == RESET_BY_PEER)
		feed("RST - 1 u8");
}

static void client_to(enum state state)
{
	int ret;

	if (state == IDLE)
		return;
	h2_end_open(&e, state == HALF_LOCAL || state == CLOSED, &ret);
	CHECK_EQ(ret, 0);
	/* So that what comes is not the beginning of an answer. */
	feed(state == HALF_REMOTE || state == CLOSED ? "HEADERS eh 1 REPLY" : "HEADERS h 1 REPLY");
	if (state == RESET_BY_US)
		h2_end_reset(&e, e.live[0], MRPC_H2_CANCEL);
	if (state == RESET_BY_PEER)
		feed("RST - 1 u8");
}

/*
 * What an end makes of a frame: "Cn" error n of the connection, "Sn" of the stream, "-" ignored, or
 * the event: H, D, R, O; "." the stream is closed. A second word is that of a client if it
 * differs.
 */
static const struct {
	const char *frame;
	const char *is[NR_STATES];
} matrix[] = {
	/*				idle	open	local	remote	we	peer	closed */
	{ "HEADERS h 1 TRAILERS",	{ "H C1", "S1", "S1", "S5", "-", "C5 -", "C5 -" } },
	{ "HEADERS eh 1 TRAILERS",	{ "H C1", "H", "H.", "S5", "-", "C5 -", "C5 -" } },
	{ "DATA - 1 0000",		{ "C1",	"D", "D", "S5", "-", "C5 -", "C5 -" } },
	{ "DATA e 1 0000",		{ "C1",	"D", "D.", "S5", "-", "C5 -", "C5 -" } },
	{ "DATA e 1",			{ "C1",	"D", "D.", "S5", "-", "C5 -", "C5 -" } },
	{ "DATA p 1 03 0000 000000",	{ "C1",	"D", "D", "S5", "-", "C5 -", "C5 -" } },
	{ "DATA p 1 03 000000",		{ "C1",	"D", "D", "S5", "-", "C5 -", "C5 -" } },
	{ "RST - 1 u8",			{ "C1",	"R.", "R.", "R.", "-", "-", "-" } },
	{ "UPDATE - 1 u5",		{ "C1",	"O", "-", "O", "-", "-", "-" } },
	{ "UPDATE - 1 u0",		{ "C1",	"S1", "S1", "S1", "-", "-", "-" } },
	{ "UPDATE - 1 u0x7fffffff",	{ "C1",	"S3", "S3", "S3", "-", "-", "-" } },
	{ "PRIORITY - 1 u0 01",		{ "-", "-", "-", "-", "-", "-", "-" } },
	{ "PRIORITY - 1 u0",		{ "C6", "S6", "S6", "S6", "-", "-", "-" } },
	{ "PUSH h 1 u2 REQUEST",	{ "C1", "C1", "C1", "C1", "C1", "C1", "C1" } },
	{ "CONT h 1 TRAILERS",		{ "C1", "C1", "C1", "C1", "C1", "C1", "C1" } },
	{ "99 0xff 1 z5",		{ "-", "-", "-", "-", "-", "-", "-" } },
};

static void say_result(int ret, char *text, size_t room)
{
	struct mrpc_h2_event ev = h2_end_last(&e);

	if (ret < 0)
		snprintf(text, room, "C%u", e.conn.code);
	else if (!e.nr_events)
		snprintf(text, room, "-");
	else if (ev.type == MRPC_H2_EV_STREAM_ERROR)
		snprintf(text, room, "S%u", ev.code);
	else
		snprintf(text, room, "%c%s", " rHDRGdpOS"[ev.type], ev.closed ? "." : "");
}

static void check_credited(void)
{
	const struct h2_stream *s = e.live[0];

	CHECK_EQ(e.conn.rx.left + e.conn.rx.credit, e.conn.rx.target);
	if (s && !s->s.remote_end)
		CHECK_EQ(s->s.rx.left + s->s.rx.credit, s->s.rx.target);
}

static void check_state(u32 row, enum state state, bool server)
{
	const char *is = matrix[row].is[state], *client = strchr(is, ' ');
	char said[16], want[16];

	snprintf(want, sizeof(want), "%.*s", server && client ? (int)(client - is) : 15,
		 server || !client ? is : client + 1);
	begin(server);
	if (server)
		server_to(state);
	else
		client_to(state);
	h2_end_flush(&e);
	e.out_len = 0;
	e.nr_events = 0;
	say_result(feed(matrix[row].frame), said, sizeof(said));
	CHECK_MSG(!strcmp(said, want), "%s, %s, at a %s: is %s, not %s", states[state], matrix[row].frame,
		  server ? "server" : "client", said, want);
	h2_end_flush(&e);
	CHECK_EQ(h2_end_find(&e, MRPC_H2_GOAWAY, &out), want[0] == 'C');
	CHECK_EQ(h2_end_find(&e, MRPC_H2_RST_STREAM, &out), want[0] == 'S');
	if (want[0] == 'S')
		CHECK(out.stream == 1 && get_unaligned_be32(out.data) == (u32)atoi(want + 1));
	/* All content is credited, and padding, and what is ignored. */
	if (want[0] != 'C')
		check_credited();
	finish();
}

TEST(states)
{
	u32 row, state;

	for (row = 0; row < ARRAY_SIZE(matrix); row++)
		for (state = 0; state < NR_STATES; state++) {
			check_state(row, state, true);
			check_state(row, state, false);
		}
}

TEST(config)
{
	struct mrpc_h2_stream *buckets[2];
	struct mrpc_h2_gone gone[64];
	const struct mrpc_h2_config good = { .max_streams = 32, .stream_window = 65535, .conn_window = 65535,
		.buckets = buckets, .bits = 1, .gone = gone, .nr_gone = 64 };
	struct mrpc_h2_config bad[] = { good, good, good, good, good, good, good, good };
	struct mrpc_h2_conn c;
	u32 i;

	CHECK_EQ(mrpc_h2_init(&c, &good, 0), 0);
	bad[0].max_streams = 0;
	bad[1].stream_window = 65534;
	bad[2].conn_window = 65534;
	bad[3].bits = 0;
	bad[4].nr_gone = 63;
	bad[5].max_streams = 33;
	bad[6].conn_window = 1U << 31;
	bad[7].max_streams = U32_MAX;
	for (i = 0; i < ARRAY_SIZE(bad); i++)
		CHECK_EQ(mrpc_h2_init(&c, &bad[i], 0), -EINVAL);
}

/* What an end says first, byte by byte. */
TEST(beginning)
{
	static const char server[] = "SETTINGS - 0 0003 u16 0004 u262144 0006 u16384; UPDATE - 0 u983041";
	static const char client[] =
		"PREFACE; SETTINGS - 0 0002 u0 0004 u262144 0006 u16384; UPDATE - 0 u983041";
	u32 i;

	for (i = 0; i < 2; i++) {
		u8 *want;
		int len = h2_text(i ? server : client, &want);

		h2_end_init(&e, i, 1);
		CHECK(mrpc_h2_owes(&e.conn));
		CHECK_EQ(mrpc_h2_owed(&e.conn, want, 32), 0);
		h2_end_flush(&e);
		CHECK(len == (int)e.out_len && !memcmp(want, e.out, len));
		CHECK_EQ(mrpc_h2_deadline(&e.conn), e.now + MRPC_H2_SETTINGS_TIMEOUT_NS);
		free(want);
		finish();
	}
}

TEST(ready)
{
	begin(false);
	CHECK_EQ(e.nr_events, 1);
	CHECK_EQ(e.events[0].type, MRPC_H2_EV_READY);
	CHECK_EQ(mrpc_h2_deadline(&e.conn), MRPC_H2_NEVER);
	CHECK_EQ(e.conn.peer.max_streams, U32_MAX);
	feed("SETTINGS - 0 0003 u7 0006 u4000 0003 u9");
	CHECK_EQ(h2_end_last(&e).type, MRPC_H2_EV_OPENED);
	CHECK_EQ(e.conn.peer.max_streams, 9);
	CHECK_EQ(e.conn.peer.max_header_list, 4000);
	finish();
}

TEST(settings_timeout)
{
	struct mrpc_h2_event ev;

	h2_end_init(&e, true, 1);
	h2_end_flush(&e);
	feed("PREFACE; SETTINGS - 0");
	e.now = mrpc_h2_deadline(&e.conn) - 1;
	CHECK_EQ(mrpc_h2_expire(&e.conn, e.now, &ev), 0);
	CHECK_EQ(mrpc_h2_expire(&e.conn, ++e.now, &ev), -EPROTO);
	CHECK_EQ(e.conn.code, MRPC_H2_SETTINGS_TIMEOUT);
	CHECK_EQ(mrpc_h2_expire(&e.conn, e.now, &ev), -EPROTO);
	CHECK_EQ(mrpc_h2_deadline(&e.conn), MRPC_H2_NEVER);
	finish();
}

/* The encoder hears of the peer's table behind the acknowledgement: smallest and last size. */
TEST(table_size)
{
	u32 least = 0, last = 0;

	begin(false);
	CHECK(!mrpc_h2_table_size(&e.conn, &least, &last));
	feed("SETTINGS - 0 0001 u100 0001 u2000; SETTINGS - 0 0001 u8192");
	CHECK(!mrpc_h2_table_size(&e.conn, &least, &last));
	h2_end_flush(&e);
	CHECK(mrpc_h2_table_size(&e.conn, &least, &last));
	CHECK_EQ(least, 100);
	CHECK_EQ(last, 8192);
	CHECK(!mrpc_h2_table_size(&e.conn, &least, &last));
	feed("SETTINGS - 0 0001 u9000");
	h2_end_flush(&e);
	CHECK(mrpc_h2_table_size(&e.conn, &least, &last));
	CHECK_EQ(least, 8192);
	CHECK_EQ(last, 9000);
	finish();
}

TEST(concurrency)
{
	int ret, i;

	begin(false);
	feed("SETTINGS - 0 0003 u2");
	CHECK(h2_end_open(&e, true, &ret) && h2_end_open(&e, true, &ret));
	CHECK(!h2_end_open(&e, true, &ret));
	CHECK_EQ(ret, -EAGAIN);
	feed("HEADERS eh 1 TRAILERS");
	CHECK(h2_end_open(&e, true, &ret));
	CHECK_EQ(mrpc_h2_streams_newest(&e.conn.streams)->id, 5);
	/* This end's own limit. */
	feed("SETTINGS - 0 0003 u1000");
	for (i = 2; i < H2_STREAMS; i++)
		CHECK(h2_end_open(&e, true, &ret));
	CHECK_EQ(mrpc_h2_open(&e.conn, &(struct mrpc_h2_stream){ 0 }, true), -EAGAIN);
	/* None at all. */
	feed("SETTINGS - 0 0003 u0");
	h2_end_reset(&e, e.live[3], MRPC_H2_CANCEL);
	CHECK(!h2_end_open(&e, true, &ret));
	CHECK_EQ(ret, -EAGAIN);
	finish();
}

/* As long as RST_STREAMs are not written, only so many streams can be opened. */
TEST(resets_unwritten)
{
	int ret, n = 0;

	begin(false);
	while (h2_end_open(&e, true, &ret)) {
		h2_end_reset(&e, e.live[0], MRPC_H2_CANCEL);
		n++;
	}
	CHECK_EQ(ret, -EAGAIN);
	CHECK_EQ(n, H2_GONE - MRPC_H2_GONE_SPARE);
	CHECK(mrpc_h2_congested(&e.conn));
	h2_end_flush(&e);
	CHECK(!mrpc_h2_congested(&e.conn));
	CHECK(h2_end_open(&e, true, &ret));
	finish();
}

/* A client ignores what comes for those that are not remembered any more, too. */
TEST(ring)
{
	int ret, i;

	begin(false);
	for (i = 0; i <= H2_GONE; i++) {
		CHECK(h2_end_open(&e, true, &ret));
		h2_end_reset(&e, e.live[0], MRPC_H2_CANCEL);
		h2_end_flush(&e);
	}
	CHECK(feed("HEADERS h 3 REPLY; DATA - 3 z100; HEADERS eh 3 TRAILERS; RST - 129 u8") > 0);
	CHECK(feed("HEADERS h 1 REPLY") > 0);
	finish();
}

TEST(ids_used_up)
{
	int ret;

	begin(false);
	CHECK_EQ(mrpc_h2_ids_left(&e.conn), 1U << 30);
	e.conn.next_id = MRPC_H2_MAX_ID - 2;
	CHECK_EQ(mrpc_h2_ids_left(&e.conn), 2);
	CHECK(h2_end_open(&e, true, &ret));
	CHECK(h2_end_open(&e, true, &ret));
	CHECK_EQ(mrpc_h2_ids_left(&e.conn), 0);
	CHECK(!h2_end_open(&e, true, &ret));
	CHECK_EQ(ret, -ENOSPC);
	CHECK(feed("HEADERS eh 0x7fffffff TRAILERS; HEADERS eh 0x7ffffffd TRAILERS") > 0);
	CHECK_EQ(e.conn.streams.nr, 0);
	finish();
}

TEST(informational)
{
	int ret;

	begin(false);
	h2_end_open(&e, true, &ret);
	feed("HEADERS h 1 REPLY");
	CHECK_EQ(mrpc_h2_informational(&e.conn, &e.live[0]->s, e.now), 0);
	/* No content behind it, but other headers. */
	feed("HEADERS h 1 REPLY");
	CHECK(!h2_end_last(&e).trailers);
	feed("DATA - 1 00; HEADERS eh 1 TRAILERS");
	CHECK(h2_end_last(&e).trailers && h2_end_last(&e).closed);
	h2_end_open(&e, true, &ret);
	feed("HEADERS h 3 REPLY");
	mrpc_h2_informational(&e.conn, &e.live[0]->s, e.now);
	feed("DATA - 3 00");
	CHECK_EQ(h2_end_last(&e).type, MRPC_H2_EV_STREAM_ERROR);
	finish();
}

/* A stream that is closed can be given to all functions, and nothing happens. */
TEST(closed_stream)
{
	struct mrpc_h2_stream s;

	begin(false);
	CHECK_EQ(mrpc_h2_open(&e.conn, &s, false), 0);
	CHECK_EQ(mrpc_h2_may_send(&e.conn, &s), MRPC_H2_MAX_FRAME);
	CHECK(mrpc_h2_reset(&e.conn, &s, MRPC_H2_CANCEL));
	CHECK(!mrpc_h2_reset(&e.conn, &s, MRPC_H2_CANCEL));
	CHECK_EQ(mrpc_h2_may_send(&e.conn, &s), 0);
	CHECK(!mrpc_h2_end_local(&e.conn, &s));
	mrpc_h2_took(&e.conn, &s, 100);
	mrpc_h2_forget(&e.conn, &s);
	h2_end_flush(&e);
	CHECK_EQ(e.conn.streams.nr, 0);
	CHECK_EQ(mrpc_h2_gone_room(&e.conn), H2_GONE);
	finish();
}

TEST(refused)
{
	begin(true);
	e.shy = true;
	feed("HEADERS h 1 REQUEST; DATA - 1 00; HEADERS eh 1 TRAILERS");
	h2_end_flush(&e);
	CHECK(h2_end_find(&e, MRPC_H2_RST_STREAM, &out));
	CHECK_EQ(get_unaligned_be32(out.data), MRPC_H2_REFUSED_STREAM);
	CHECK_EQ(e.conn.streams.nr, 0);
	finish();
}

/* GOAWAY of all streams and PING, then GOAWAY of the last; what comes later is ignored. */
TEST(drain)
{
	u8 *want;
	int len;

	begin(true);
	feed("HEADERS h 1 REQUEST");
	mrpc_h2_goaway(&e.conn, e.now);
	h2_end_flush(&e);
	len = h2_text("GOAWAY - 0 u0x7fffffff u0; PING - 0 6d72706362796500", &want);
	CHECK(len == (int)e.out_len && !memcmp(want, e.out, len));
	free(want);
	CHECK_EQ(mrpc_h2_deadline(&e.conn), e.now + MRPC_H2_DRAIN_TIMEOUT_NS);
	feed("HEADERS eh 5 REQUEST");
	CHECK_EQ(h2_end_last(&e).id, 5);
	feed("PING a 0 6d72706362796500");
	CHECK_EQ(h2_end_last(&e).type, MRPC_H2_EV_DRAINED);
	CHECK_EQ(h2_end_last(&e).id, 5);
	CHECK_EQ(mrpc_h2_deadline(&e.conn), MRPC_H2_NEVER);
	e.out_len = e.nr_events = 0;
	feed("HEADERS h 7 REQUEST; DATA - 7 z1000; RST - 9 u8; UPDATE - 11 u1; PRIORITY - 13 u0 00");
	CHECK_EQ(e.nr_events, 0);
	h2_end_flush(&e);
	len = h2_text("GOAWAY - 0 u5 u0", &want);
	CHECK(len == (int)e.out_len && !memcmp(want, e.out, len));
	free(want);
	CHECK_EQ(e.conn.rx.left + e.conn.rx.credit, e.conn.rx.target);
	feed("DATA e 1 00");
	CHECK_EQ(h2_end_last(&e).type, MRPC_H2_EV_DATA);
	mrpc_h2_goaway(&e.conn, e.now);
	CHECK(!mrpc_h2_owes(&e.conn));
	/* An error behind it: the last id does not grow. */
	e.out_len = 0;
	CHECK_EQ(feed("DATA e 2 00"), -EPROTO);
	h2_end_flush(&e);
	CHECK(h2_end_find(&e, MRPC_H2_GOAWAY, &out));
	CHECK_EQ(get_unaligned_be32(out.data), 5);
	finish();
}

TEST(drain_without_answer)
{
	struct mrpc_h2_event ev;

	begin(true);
	feed("HEADERS h 3 REQUEST");
	mrpc_h2_goaway(&e.conn, e.now);
	h2_end_flush(&e);
	e.now = mrpc_h2_deadline(&e.conn);
	CHECK_EQ(mrpc_h2_expire(&e.conn, e.now - 1, &ev), 0);
	CHECK_EQ(ev.type, MRPC_H2_EV_NONE);
	CHECK_EQ(mrpc_h2_expire(&e.conn, e.now, &ev), 0);
	CHECK_EQ(ev.type, MRPC_H2_EV_DRAINED);
	CHECK_EQ(ev.id, 3);
	CHECK_EQ(mrpc_h2_expire(&e.conn, e.now, &ev), 0);
	CHECK_EQ(ev.type, MRPC_H2_EV_NONE);
	/* A late answer tells nothing new. */
	e.nr_events = 0;
	feed("PING a 0 6d72706362796500");
	CHECK_EQ(e.nr_events, 0);
	finish();
}

TEST(client_leaves)
{
	int ret;

	begin(false);
	h2_end_open(&e, true, &ret);
	mrpc_h2_goaway(&e.conn, e.now);
	e.out_len = 0;
	h2_end_flush(&e);
	CHECK(h2_end_find(&e, MRPC_H2_GOAWAY, &out));
	CHECK_EQ(get_unaligned_be32(out.data), 0);
	CHECK(!h2_end_open(&e, true, &ret));
	CHECK_EQ(ret, -ESHUTDOWN);
	feed("HEADERS eh 1 TRAILERS");
	CHECK(h2_end_last(&e).closed);
	finish();
}

TEST(server_leaves)
{
	struct mrpc_h2_stream *s;
	int ret, i;

	begin(false);
	for (i = 0; i < 4; i++)
		h2_end_open(&e, true, &ret);
	feed("GOAWAY - 0 u3 u11 746f6f5f6d616e795f70696e6773");
	CHECK_EQ(h2_end_last(&e).type, MRPC_H2_EV_GOAWAY);
	CHECK_EQ(h2_end_last(&e).code, MRPC_H2_ENHANCE_YOUR_CALM);
	CHECK(!h2_end_open(&e, true, &ret));
	CHECK_EQ(ret, -ESHUTDOWN);
	for (i = 0; (s = mrpc_h2_streams_newest(&e.conn.streams)) && s->id > 3; i++) {
		CHECK_EQ(s->id, 7 - 2 * i);
		mrpc_h2_forget(&e.conn, s);
		e.live[3 - i] = NULL;
		free(container_of(s, struct h2_stream, s));
	}
	CHECK_EQ(e.conn.streams.nr, 2);
	finish();
}

TEST(ping)
{
	begin(false);
	CHECK(mrpc_h2_ping(&e.conn));
	CHECK(!mrpc_h2_ping(&e.conn));
	h2_end_flush(&e);
	CHECK(h2_end_find(&e, MRPC_H2_PING, &out));
	CHECK(!memcmp(out.data, "mrpcping", 8));
	CHECK(!mrpc_h2_ping(&e.conn));
	feed("PING a 0 6d72706370696e67");
	CHECK_EQ(h2_end_last(&e).type, MRPC_H2_EV_PONG);
	CHECK(mrpc_h2_ping(&e.conn));
	/* An answer that comes before the question. */
	e.nr_events = 0;
	feed("PING a 0 6d72706370696e67");
	CHECK_EQ(e.nr_events, 0);
	finish();
}

/* The sentence goes to the peer; nothing else is said. */
TEST(error)
{
	begin(true);
	feed("HEADERS h 1 REQUEST; PING - 0 z8; SETTINGS - 0");
	CHECK_EQ(mrpc_h2_fail(&e.conn, MRPC_H2_COMPRESSION_ERROR, "first"), -EPROTO);
	CHECK_EQ(mrpc_h2_fail(&e.conn, MRPC_H2_INTERNAL_ERROR, "second"), -EPROTO);
	CHECK_EQ(mrpc_h2_may_send(&e.conn, &e.live[0]->s), 0);
	h2_end_flush(&e);
	CHECK(h2_end_find(&e, MRPC_H2_GOAWAY, &out));
	CHECK_EQ(e.out_len, 9 + 8 + 5);
	CHECK_EQ(get_unaligned_be32(out.data), 1);
	CHECK_EQ(get_unaligned_be32(out.data + 4), MRPC_H2_COMPRESSION_ERROR);
	CHECK(!memcmp(out.data + 8, "first", 5));
	finish();
}
