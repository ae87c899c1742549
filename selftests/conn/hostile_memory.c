// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/call/stream kmod/core/rx_buffer kmod/core/heap */
/*
 * A server with a peer that claims memory, holds it, or wants more than there is.
 */
#include <stdlib.h>
#include <string.h>

#include "tap.h"
#include "peer.h"

static struct raw_pair p;
static struct peer w;

static void begin(uint32_t max_message)
{
	raw_server_open(&p.srv, 48 << 20, 8 << 20);
	raw_open(&p.c, 1 << 20, 1 << 20);
	p.srv.max_message = max_message;
	raw_pair_start(&p, "tcp4", 1);
}

/* The server does not reserve memory for a length that a header claims. */
TEST(claimed_memory)
{
	static const u8 zeros[4096];
	static struct peer many[16];
	const struct mrpc_msg_len len = { .structs = 15 << 20 };
	struct mrpc_frame f;
	long long before;
	u32 i;

	begin(0);
	before = raw_meminfo("MemAvailable");
	for (i = 0; i < ARRAY_SIZE(many); i++) {
		peer_shake(&many[i], p.srv.s.port);
		f = peer_call_frame(peer_id(&many[i], 0), RAW_ECHO, &len);
		CHECK(peer_send_frame(&many[i], &f, NULL, 0));
	}
	raw_sleep(RAW_S / 2);
	for (i = 0; i < ARRAY_SIZE(many); i++)
		CHECK(peer_send(&many[i], zeros, sizeof(zeros)));
	raw_sleep(RAW_S / 2);
	raw_pair_alive(&p);
	NOTE("%lld MiB of %lld are gone", (before - raw_meminfo("MemAvailable")) >> 10, before >> 10);
	CHECK(before - raw_meminfo("MemAvailable") < 100 << 10);
	for (i = 0; i < ARRAY_SIZE(many); i++)
		peer_close(&many[i]);
	raw_pair_end_alone(&p);
}

/* The buffer of a large head does not stay for the beginning of the next frame. */
TEST_LIMIT(large_heads_are_given_back, 120)
{
	const struct mrpc_msg_len len = { .structs = 15 << 20 };
	u8 next[sizeof(struct mrpc_wire_hdr)];
	u8 *garbage = malloc(len.structs);
	static struct peer many[16];
	struct mrpc_frame f;
	long long before;
	u32 i;

	begin(0);
	CHECK(garbage);
	memset(garbage, 0xff, len.structs);
	before = raw_meminfo("MemAvailable");
	for (i = 0; i < ARRAY_SIZE(many); i++) {
		peer_shake(&many[i], p.srv.s.port);
		f = peer_call_frame(peer_id(&many[i], 0), RAW_ECHO, &len);
		CHECK(peer_send_frame(&many[i], &f, garbage, len.structs));
		/* The next frame begins, or claims as much again. */
		if (i % 2)
			f = (struct mrpc_frame){ .type = MRPC_WIRE_PING, .call_id = 1 };
		else
			f = peer_call_frame(peer_id(&many[i], 1), RAW_ECHO, &len);
		mrpc_wire_encode(&f, (void *)next);
		CHECK(peer_send(&many[i], next, i % 2 ? 8 : sizeof(next)));
		peer_expect(&many[i], MRPC_WIRE_REPLY);
	}
	raw_sleep(RAW_S / 2);
	NOTE("%lld MiB of %lld are gone", (before - raw_meminfo("MemAvailable")) >> 10, before >> 10);
	CHECK(before - raw_meminfo("MemAvailable") < 100 << 10);
	for (i = 0; i < ARRAY_SIZE(many); i++) {
		if (i % 2) {
			CHECK(peer_send(&many[i], next + 8, sizeof(next) - 8));
			peer_expect(&many[i], MRPC_WIRE_PONG);
		}
		peer_close(&many[i]);
	}
	free(garbage);
	raw_pair_end_alone(&p);
}

/* A message too large for the listener, or for the receive heap, is refused and skipped. */
TEST(too_large)
{
	u8 *body = calloc(1, 10 << 20);
	struct mrpc_msg_len len;
	struct mrpc_frame f;
	u32 size, i;

	begin(9 << 20);
	peer_shake(&w, p.srv.s.port);
	for (i = 0; i < 4; i++) {
		size = peer_blob(body, &len, 1, (i % 2 ? 8 << 20 : 9 << 20), NULL);
		f = peer_call_frame(peer_id(&w, 1), RAW_ECHO, &len);
		CHECK(peer_send_frame(&w, &f, body, size));
		peer_expect(&w, MRPC_WIRE_REPLY);
		CHECK_EQ(w.frame.call_id, f.call_id);
		CHECK_EQ(w.frame.status, MRPC_RESOURCE_EXHAUSTED);
		CHECK(w.frame.detail_len);
		peer_echo(&w, 1, i, 1000);
	}
	CHECK_EQ(raw_server_requests(&p.srv), 4);
	free(body);
	peer_close(&w);
	raw_pair_end_alone(&p);
}

/* A message that fills a receive heap of 64 KiB, and the part that is sent first. */
#define BIG		33000
#define BIG_PART	10000

static u8 big[sizeof(struct mrpc_wire_hdr) + BIG + 256];

/* Makes a CALL of Ack in @big. Return: its bytes. */
static u32 big_call(struct peer *to, u64 tag, u32 remaining_us)
{
	struct mrpc_msg_len len;
	struct mrpc_frame f;
	u32 size;

	size = peer_blob(big + sizeof(struct mrpc_wire_hdr), &len, tag, BIG, NULL);
	f = peer_call_frame(peer_id(to, 0), RAW_ACK, &len);
	f.remaining_us = remaining_us;
	mrpc_wire_encode(&f, (void *)big);
	return sizeof(struct mrpc_wire_hdr) + size;
}

/*
 * One message holds the whole receive heap. Another one, with all of its bytes sent, waits for it.
 * The first one's block comes back. There is no other event: no release, no byte, no keepalive.
 */
static void heap_comes_back(bool reset)
{
	static struct peer first;
	u32 size;

	raw_server_open(&p.srv, 1 << 20, 65536);
	p.srv.keepalive_us = RAW_HOUR_US;
	raw_open(&p.c, 1 << 20, 65536);
	raw_pair_start(&p, "tcp4", 1);
	peer_shake(&first, p.srv.s.port);
	peer_shake(&w, p.srv.s.port);
	raw_sleep(2500 * RAW_MS);	/* the checks of a connection's first second have passed */
	size = big_call(&first, 1, reset ? 0 : 700000);
	CHECK(peer_send(&first, big, BIG_PART));
	raw_sleep(200 * RAW_MS * raw_scale());
	CHECK(peer_send(&w, big, big_call(&w, 2, 0)));
	CHECK_EQ(peer_recv(&w, 500), -1);
	CHECK_EQ(raw_server_requests(&p.srv), 0);
	if (reset) {
		peer_reset(&first);
	} else {
		/* Too late: the message is received to its end, but not delivered. */
		peer_expect(&first, MRPC_WIRE_REPLY);
		CHECK_EQ(first.frame.status, MRPC_DEADLINE_EXCEEDED);
		CHECK_EQ(peer_recv(&w, 0), -1);
		big_call(&first, 1, 0);
		CHECK(peer_send(&first, big + BIG_PART, size - BIG_PART));
	}
	CHECK_MSG(peer_recv(&w, 3000 * raw_patience()) == 1, "nobody told it that there is room");
	CHECK_EQ(w.frame.type, MRPC_WIRE_REPLY);
	CHECK_EQ(w.frame.status, MRPC_OK);
	CHECK_EQ(raw_server_requests(&p.srv), 1);
	if (!reset)
		peer_close(&first);
	peer_close(&w);
	raw_pair_end_alone(&p);
}

TEST(heap_of_a_reset)
{
	heap_comes_back(true);
}

TEST(heap_of_a_late_one)
{
	heap_comes_back(false);
}
