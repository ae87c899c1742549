// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/transports/prio/in kmod/transports/prio/out kmod/lib/prio/rx */
/*
 * The transport prio handles datagrams of a packet as one if each continues the one before. This
 * must have no visible effect. A sender that knows the tokens may send anything, as one packet or
 * one by one. It is placed, counted and dropped in the same way.
 */
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "tap.h"
#include "operator.h"
#include "prio_tells.h"
#include "peer.h"
#include "stranger.h"

#define BYTES		23000		/* in the Blob of a call */
#define EACH		1000U		/* bytes of a message in a datagram */
#define SEGMENT		(MRPC_PRIO_DATA_HDR + EACH)
#define MIDDLE		9		/* the datagram that is wrong */
#define CALLS		256

static struct raw_server srv;
static struct stranger s;
static struct stranger_train t;

/* Calls to send: the message, the fields of its packets and the Blob's tag. */
static struct call {
	u8 message[sizeof(struct mrpc_wire_hdr) + BYTES + 4096];
	struct mrpc_prio_packet p;
	u64 tag;
} calls[3], *c = calls;
static u32 total, segments;
static u64 last_tag;
static bool singly;

/* Number of times that each call has come to the server. */
static unsigned int came[CALLS];

/* The transport's counters of packets. */
struct counts {
	int64_t packets;
	int64_t bytes;
	int64_t marks;
	int64_t drops[MRPC_PRIO_NR_DROPS];
};

static struct counts before, want;

/* -- the server's side ----------------------------------------------------------------- */

static struct counts counts(void)
{
	struct counts c = {
		.packets = counter("packets"),
		.bytes = counter("data_bytes"),
		.marks = counter("marks"),
	};
	unsigned int i;

	for (i = 0; i < MRPC_PRIO_NR_DROPS; i++)
		c.drops[i] = op_transport("prio", MRPC_A_TRANSPORT_DROP, mrpc_prio_drop_name(i));
	return c;
}

/* Called for each request, which must be a valid Blob. */
static void seen(const struct mrpc_cqe *cqe, const void *msg)
{
	u64 of = ((const struct test_Blob *)msg)->tag;

	CHECK(of < CALLS && raw_is_blob(msg, cqe->msg_len, of, BYTES));
	__atomic_add_fetch(&came[of], 1, __ATOMIC_RELAXED);
}

static bool calls_come(u64 of)
{
	uint64_t end = raw_now() + 10 * RAW_S * raw_patience();

	while (!__atomic_load_n(&came[of], __ATOMIC_RELAXED) && raw_now() < end)
		raw_sleep(RAW_MS);
	return came[of] == 1;
}

static void restore_settings(void)
{
	raw_file_write(PARAMETER("silence"), "3000000");
}

static void begin(uint64_t keepalive_us)
{
	atexit(restore_settings);
	raw_server_open(&srv, 4 << 20, 4 << 20);
	srv.seen = seen;
	srv.keepalive_us = keepalive_us;
	raw_server_start(&srv, "prio:127.0.0.1:0", 1);
	/* The stranger does not answer PINGs. */
	CHECK(raw_file_write(PARAMETER("silence"), "60000000"));
	stranger_new(&s, AF_INET, srv.s.port);
	stranger_meet(&s);
}

/* No memory of received messages is left. */
static void nothing_left(void)
{
	CHECK_EQ(gauge("messages_in"), 0);
	CHECK_EQ(gauge("gap_maps"), 0);
	CHECK_EQ(raw_slab_objects("mrpc_prio_gaps"), 0);
	CHECK_EQ(gauge("staged"), 0);
	CHECK_EQ(gauge("outstanding"), 0);
}

static void server_ends(void)
{
	raw_server_stop(&srv);
	CHECK_EQ(srv.bad, 0);
	restore_settings();
}

static void end(void)
{
	nothing_left();
	stranger_leave(&s);
	server_ends();
}

/* -- sending ----------------------------------------------------------------------------- */

/* Makes a new call, the current one; nothing of it has been sent. */
static void call_new(struct call *call)
{
	struct mrpc_msg_len len;
	struct mrpc_wire_hdr hdr;
	struct mrpc_frame f;

	c = call;
	c->tag = ++last_tag;
	total = sizeof(hdr) + peer_blob(c->message + sizeof(hdr), &len, c->tag, BYTES, NULL);
	f = peer_call_frame(c->tag << 16 | c->tag, RAW_ACK, &len);
	mrpc_wire_encode(&f, &hdr);
	memcpy(c->message, &hdr, sizeof(hdr));
	segments = (total + EACH - 1) / EACH;
	c->p = stranger_message(&s, MRPC_PRIO_REQUEST, total, EACH);
	stranger_train(&t, SEGMENT);
}

/* Puts datagram @i of the message of c->p into the train. */
static u8 *put(u32 i)
{
	struct mrpc_prio_packet p = c->p;

	p.offset = i * EACH;
	p.len = min(total - p.offset, EACH);
	return stranger_put(&t, &p, c->message);
}

static void put_some(u32 from, u32 to)
{
	for (; from < to; from++)
		put(from);
}

/* Begins to count. All is expected to be taken; a scene may change that. */
static void expect_all(void)
{
	before = counts();
	want = before;
	want.packets += segments;
	want.bytes += total;
}

static bool counts_become(struct counts *now)
{
	uint64_t until = raw_now() + 5 * RAW_S * raw_patience();

	do {
		*now = counts();
		if (!memcmp(now, &want, sizeof(want)))
			return true;
	} while (raw_now() < until);
	return false;
}

/* Sends the train, and checks the counters. */
static void goes_from(const struct stranger *from, const char *what)
{
	const char *how = singly ? "singly" : "as one";
	struct counts now;
	unsigned int i;

	stranger_send(from, &t, singly);
	if (counts_become(&now))
		return;
	CHECK_MSG(now.packets == want.packets, "%s, %s: %lld packets, not %lld", what, how,
		  (long long)(now.packets - before.packets),
		  (long long)(want.packets - before.packets));
	CHECK_MSG(now.bytes == want.bytes, "%s, %s: %lld bytes, not %lld", what, how,
		  (long long)(now.bytes - before.bytes), (long long)(want.bytes - before.bytes));
	CHECK_MSG(now.marks == want.marks, "%s, %s: %lld marks, not %lld", what, how,
		  (long long)(now.marks - before.marks), (long long)(want.marks - before.marks));
	for (i = 0; i < MRPC_PRIO_NR_DROPS; i++)
		CHECK_MSG(now.drops[i] == want.drops[i], "%s, %s: %s: %lld, not %lld", what, how,
			  mrpc_prio_drop_name(i), (long long)(now.drops[i] - before.drops[i]),
			  (long long)(want.drops[i] - before.drops[i]));
}

static void goes(const char *what)
{
	goes_from(&s, what);
}

/* Sends all of the call once more: it comes once, and unchanged. */
static void completes(void)
{
	CHECK_EQ(came[c->tag], 0);
	stranger_train(&t, SEGMENT);
	put_some(0, segments);
	stranger_send(&s, &t, true);
	CHECK(calls_come(c->tag));
}

/* -- trains ------------------------------------------------------------------------------- */

static void in_order(void)
{
	call_new(calls);
	put_some(0, segments);
	expect_all();
	goes("in order");
	CHECK(calls_come(c->tag));
	/* The same again, for a message that has ended. */
	before = want;
	want.packets += segments;
	want.drops[MRPC_PRIO_DROP_DUPLICATE] += segments;
	goes("again");
	CHECK_EQ(came[c->tag], 1);
}

/* The second half first. */
static void out_of_order(void)
{
	call_new(calls);
	put_some(MIDDLE, segments);
	expect_all();
	want.packets -= MIDDLE;
	want.bytes -= MIDDLE * EACH;
	goes("the second half");
	CHECK_EQ(gauge("gap_maps"), 1);
	CHECK_EQ(raw_slab_objects("mrpc_prio_gaps"), 1);
	stranger_train(&t, SEGMENT);
	put_some(0, MIDDLE);
	want.packets += MIDDLE;
	want.bytes += MIDDLE * EACH;
	goes("the first half");
	CHECK(calls_come(c->tag));
}

/* Datagrams of several calls, one call behind the other. */
static void several(void)
{
	u32 k;

	for (k = 0; k < 3; k++)
		call_new(&calls[k]);
	for (c = calls; c < calls + 3; c++)
		put_some(0, MIDDLE);
	expect_all();
	want.packets = before.packets + 3 * MIDDLE;
	want.bytes = before.bytes + 3 * MIDDLE * EACH;
	goes("several");
	for (c = calls; c < calls + 3; c++)
		completes();
}

/* Granted to the middle of a datagram: each datagram beyond it has no effect. */
static void ungranted(void)
{
	if (singly)	/* a grant may come between two packets */
		return;
	call_new(calls);
	c->p.unscheduled = MIDDLE * EACH + EACH / 2;
	put_some(0, segments);
	expect_all();
	want.bytes = before.bytes + MIDDLE * EACH;
	want.drops[MRPC_PRIO_DROP_UNGRANTED] += segments - MIDDLE;
	goes("ungranted");
	completes();
}

static void unknown_connection(void)
{
	call_new(calls);
	c->p.conn = 77;
	put_some(0, segments);
	expect_all();
	want.bytes = before.bytes;
	want.drops[MRPC_PRIO_DROP_REFUSED] += segments;
	goes("of no connection");
}

/* The datagrams report congestion. */
static void marked(void)
{
	int ce = 3, none = 0;

	CHECK_SYS(setsockopt(s.fd, IPPROTO_IP, IP_TOS, &ce, sizeof(ce)));
	call_new(calls);
	put_some(0, segments);
	expect_all();
	want.marks += segments;
	goes("marked");
	CHECK(calls_come(c->tag));
	CHECK_SYS(setsockopt(s.fd, IPPROTO_IP, IP_TOS, &none, sizeof(none)));
}

/* Each datagram has its own checksum, and one is wrong. */
static void summed(void)
{
	call_new(calls);
	c->p.flags = MRPC_PRIO_CRC;
	put_some(0, MIDDLE);
	put(MIDDLE)[SEGMENT - 1] ^= 1;
	put_some(MIDDLE + 1, segments);
	expect_all();
	want.packets--;
	want.bytes -= EACH;
	want.drops[MRPC_PRIO_DROP_CRC]++;
	goes("summed");
	completes();
}

/* A sender that knows everything, but has another address. */
static void spoofed(void)
{
	struct stranger other;

	stranger_new(&other, AF_INET, srv.s.port);
	call_new(calls);
	put_some(0, segments);
	expect_all();
	want.bytes = before.bytes;
	want.drops[MRPC_PRIO_DROP_STRANGER] += segments;
	goes_from(&other, "spoofed");
	stranger_close(&other);
	completes();
}

/* Runs each scene as one packet and one by one. */
static void both_ways(void (*const scenes[])(void), unsigned int nr)
{
	unsigned int i;

	begin(0);
	for (i = 0; i < 2 * nr; i++) {
		singly = i % 2;
		scenes[i / 2]();
	}
	end();
}

static void (*const trains[])(void) = {
	in_order, out_of_order, several, ungranted, unknown_connection, marked, summed, spoofed,
};

TEST_LIMIT(trains, 120)
{
	both_ways(trains, ARRAY_SIZE(trains));
}

/* -- one wrong datagram ------------------------------------------------------------------ */

/* Changes of a header byte: why the datagram has no effect, or that it has one. */
static const struct {
	const char *what;
	u8 at;
	u8 flip;
	u8 why;		/* MRPC_PRIO_NR_DROPS: it has an effect */
	bool valid;	/* it is counted as a packet */
} odd[] = {
	{ "magic", 0, 1, MRPC_PRIO_DROP_MAGIC, false },
	{ "version", 2, 4, MRPC_PRIO_DROP_VERSION, false },
	{ "type", 3, 0x40, MRPC_PRIO_DROP_TYPE, false },
	{ "flags", 4, 0x80, MRPC_PRIO_DROP_FLAGS, false },
	{ "again", 4, MRPC_PRIO_AGAIN, MRPC_PRIO_NR_DROPS, true },
	{ "priority", 5, 1, MRPC_PRIO_NR_DROPS, true },
	{ "to", 8, 1, MRPC_PRIO_DROP_TOKEN, true },
	{ "crc", 16, 1, MRPC_PRIO_DROP_FLAGS, false },
	{ "crc of another packet", 4, MRPC_PRIO_CRC, MRPC_PRIO_DROP_CRC, false },
	{ "from", 20, 1, MRPC_PRIO_DROP_TOKEN, true },
	{ "conn", 24, 2, MRPC_PRIO_DROP_MISMATCH, true },
	{ "msg", 39, 0x80, MRPC_PRIO_DROP_RANGE, false },
	{ "ack", 47, 1, MRPC_PRIO_NR_DROPS, true },
	{ "total", 50, 2, MRPC_PRIO_DROP_MISMATCH, true },
	{ "beyond the message", 54, 1, MRPC_PRIO_DROP_LENGTH, false },
	{ "unscheduled", 58, 1, MRPC_PRIO_DROP_RANGE, false },
	{ "kind", 60, 3, MRPC_PRIO_DROP_MISMATCH, true },
	{ "reserved", 61, 1, MRPC_PRIO_DROP_RESERVED, false },
	{ "behind", 62, 1, MRPC_PRIO_NR_DROPS, true },
};

static void odd_one(unsigned int i)
{
	bool taken = odd[i].why == MRPC_PRIO_NR_DROPS;

	call_new(calls);
	put_some(0, MIDDLE);
	put(MIDDLE)[odd[i].at] ^= odd[i].flip;
	put_some(MIDDLE + 1, segments);
	expect_all();
	want.packets -= !odd[i].valid;
	if (!taken) {
		want.bytes -= EACH;
		want.drops[odd[i].why]++;
	}
	goes(odd[i].what);
	if (taken)
		CHECK(calls_come(c->tag));
	else
		completes();
}

TEST_LIMIT(odd_one_in_the_middle, 240)
{
	unsigned int i;

	begin(0);
	for (i = 0; i < 2 * ARRAY_SIZE(odd); i++) {
		singly = i % 2;
		odd_one(i / 2);
	}
	end();
}

/* The same datagram twice. */
static void twice(void)
{
	call_new(calls);
	put_some(0, MIDDLE + 1);
	put_some(MIDDLE, segments);
	expect_all();
	want.packets++;
	want.drops[MRPC_PRIO_DROP_DUPLICATE]++;
	goes("twice");
	CHECK(calls_come(c->tag));
}

/* Half of the datagram was received before. */
static void overlapping(void)
{
	struct mrpc_prio_packet p;

	call_new(calls);
	put_some(0, MIDDLE);
	p = c->p;
	p.offset = MIDDLE * EACH - EACH / 2;
	stranger_put(&t, &p, c->message);
	put_some(MIDDLE + 1, segments);
	expect_all();
	want.bytes -= EACH / 2;
	goes("overlapping");
	completes();
}

/* The bytes were received before. The different bytes now do not replace them. */
static void overwriting(void)
{
	call_new(calls);
	put(MIDDLE);
	stranger_send(&s, &t, true);
	stranger_train(&t, SEGMENT);
	expect_all();
	put_some(0, MIDDLE);
	memset(put(MIDDLE) + MRPC_PRIO_DATA_HDR, 0x55, EACH);
	put_some(MIDDLE + 1, segments);
	want.bytes -= EACH;
	want.drops[MRPC_PRIO_DROP_DUPLICATE]++;
	goes("overwriting");
	CHECK(calls_come(c->tag));
}

static void missing(void)
{
	call_new(calls);
	put_some(0, MIDDLE);
	put_some(MIDDLE + 1, segments);
	expect_all();
	want.packets--;
	want.bytes -= EACH;
	goes("missing");
	completes();
}

/* The datagram has two packets, of fewer bytes. */
static void two_packets(void)
{
	struct mrpc_prio_packet p;
	u8 *at;

	call_new(calls);
	put_some(0, MIDDLE);
	at = put(MIDDLE);
	p = c->p;
	p.offset = MIDDLE * EACH;
	p.nr = 400;
	mrpc_prio_encode(&p, at);
	at += MRPC_PRIO_DATA_HDR + p.nr;
	p.offset += p.nr;
	p.nr = 0;
	p.len = EACH - 400 - MRPC_PRIO_DATA_HDR;
	memcpy(at + mrpc_prio_encode(&p, at), c->message + p.offset, p.len);
	put_some(MIDDLE + 1, segments);
	expect_all();
	want.packets++;
	want.bytes -= MRPC_PRIO_DATA_HDR;
	goes("two packets");
	completes();
}

/* The datagram is of another message, which differs only in its number and bytes. */
static void of_another(void)
{
	call_new(&calls[0]);
	call_new(&calls[1]);
	c = &calls[0];
	put_some(0, MIDDLE);
	c = &calls[1];
	put(MIDDLE);
	c = &calls[0];
	put_some(MIDDLE + 1, segments);
	expect_all();
	goes("of another message");
	completes();
	c = &calls[1];
	completes();
}

static void (*const middles[])(void) = {
	twice, overlapping, overwriting, missing, two_packets, of_another,
};

TEST_LIMIT(another_in_the_middle, 120)
{
	both_ways(middles, ARRAY_SIZE(middles));
}

/* -- messages without a beginning ---------------------------------------------------------- */

#define LIVE_US	2000000ULL	/* keepalive: a message may take this and ten seconds */

/* All of a message but its first byte. It does not wait for ever, though others come. */
TEST_LIMIT(no_beginning, 240)
{
	uint64_t end;

	begin(LIVE_US);
	call_new(&calls[1]);
	put_some(1, segments);
	stranger_send(&s, &t, true);
	end = raw_now() + 60 * RAW_S * raw_patience();
	while (!raw_server_conns(&srv, 0, 0)) {
		CHECK(raw_now() < end);
		CHECK(last_tag < CALLS - 1);
		call_new(calls);
		put_some(0, segments);
		stranger_send(&s, &t, true);
		raw_sleep(RAW_S / 2);
	}
	CHECK(came[last_tag - 4] == 1);		/* it was served until then */
	CHECK_EQ(came[1], 0);
	stranger_leave(&s);
	end = raw_now() + 10 * RAW_S * raw_patience();
	while (gauge("messages_in") + gauge("staged") && raw_now() < end)
		raw_sleep(RAW_MS);
	nothing_left();
	server_ends();
}
