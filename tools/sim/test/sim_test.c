// SPDX-License-Identifier: GPL-2.0
/* The simulator itself: clock, lengths, network, models. */
#include <stddef.h>

#include "endpoint.h"
#include "random.h"
#include "result.h"
#include "tap.h"

/* ---- the clock -------------------------------------------------------------- */

static u64 last_at;
static uintptr_t last_number;
static u32 happened;

static void happen(void *who, void *what)
{
	struct sim_clock *c = who;
	uintptr_t number = (uintptr_t)what;

	CHECK(c->now > last_at || (c->now == last_at && number > last_number));
	last_at = c->now;
	last_number = number;
	happened++;
}

TEST(events_come_in_order)
{
	struct sim_clock c = {};
	u64 random = 1;
	uintptr_t i;

	for (i = 1; i <= 10000; i++) {
		sim_at(&c, c.now + rnd_below(&random, 500), happen, &c, (void *)i);
		if (i % 3 == 0)
			sim_step(&c);
	}
	while (sim_step(&c))
		;
	CHECK_EQ(happened, 10000);
	sim_clock_fini(&c);
}

/* ---- checksums -------------------------------------------------------------- */

/* Bit by bit. */
static u32 slow_crc(const u8 *packet, u32 len)
{
	u32 field = offsetof(struct mrpc_prio_hdr, crc), crc = ~0U, i, k;

	for (i = 0; i < len; i++) {
		crc ^= i >= field && i < field + 4 ? 0 : packet[i];
		for (k = 0; k < 8; k++)
			crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78U : 0);
	}
	return ~crc;
}

TEST(checksums_of_all_lengths)
{
	u8 *packet;
	u64 random = 3;
	u32 len, i;

	for (len = 0; len < 200; len++) {
		packet = malloc(len);	/* where the sanitizer sees its end */
		for (i = 0; i < len; i++)
			packet[i] = (u8)rnd_below(&random, 256);
		CHECK_EQ(endpoint_crc(packet, len), slow_crc(packet, len));
		free(packet);
	}
}

/* ---- lengths ---------------------------------------------------------------- */

TEST(lengths_follow_their_table)
{
	static const char *const names[] = { "w1", "w2", "w3", "w4", "w5" };
	const struct sim_workload *w;
	u64 random = 7;
	u32 i, k, below, middle;

	CHECK(!sim_workload_find("w6"));
	for (i = 0; i < ARRAY_SIZE(names); i++) {
		w = sim_workload_find(names[i]);
		CHECK(w);
		CHECK_EQ(w->quantiles[SIM_QUANTILES - 1].ppm, 1000000);
		for (k = 1; k < SIM_QUANTILES; k++) {
			CHECK(w->quantiles[k].bytes > w->quantiles[k - 1].bytes);
			CHECK(w->quantiles[k].ppm > w->quantiles[k - 1].ppm);
		}
		middle = w->quantiles[10].bytes;
		for (k = below = 0; k < 100000; k++)
			below += sim_workload_draw(w, &random) <= middle;
		CHECK(labs((long)below - (long)w->quantiles[10].ppm / 10) < 700);
	}
}

/* ---- runs ------------------------------------------------------------------- */

static struct sim_config small(const struct sim_transport *t)
{
	struct sim_config c = {
		.topology = {
			.hosts = 16, .racks = 4, .spines = 2, .host_mbps = 10000,
			.core_mbps = 40000, .wire_ns = 250, .host_ns = 1500, .buffer = 1000000,
		},
		.transport = t, .pattern = SIM_RANDOM, .workload = sim_workload_find("w3"),
		.load = 0.8, .messages = 20000, .size = 20000, .fan = 15, .window = 200,
		.seed = 1, .drain = 20,
	};

	c.topology.spray = !t->fifo;
	return c;
}

static struct sim_result result_of(const struct sim_config *c)
{
	struct sim_result r;
	struct sim sim;

	sim_run(&sim, c);
	sim_result_of(&sim, &r);
	sim_fini(&sim);
	return r;
}

static const struct sim_transport *const all[] = {
	&sim_prio, &sim_dctcp, &sim_srpt, &sim_sr, &sim_gbn,
};

/* Alone in the network, a message takes the time that slowdowns are measured by. */
TEST(nothing_is_faster_than_alone)
{
	static const u32 sizes[] = { 0, 1, 1408, 1409, 5000, 100000 };
	struct sim_config c = small(&sim_srpt);
	struct sim_result r;
	u32 i, near;	/* 0: across the core; 1: one rack; 2: a slow core */

	for (near = 0; near < 3; near++) {
		if (near == 2)
			c.topology.core_mbps = 3000;
		for (i = 0; i < ARRAY_SIZE(sizes); i++) {
			c.topology.racks = near == 1 ? 1 : 16;
			c.topology.spines = near == 1 ? 0 : 2;
			c.topology.spray = false;
			c.pattern = SIM_INCAST;
			c.fan = 1;
			c.size = sizes[i];
			r = result_of(&c);
			CHECK_EQ(r.messages, 2);
			CHECK_MSG(r.all.p99 > 0.9999 && r.all.p99 < 1.0001, "%u bytes: %f",
				  sizes[i], r.all.p99);
		}
	}
}

TEST(all_transports_deliver_all)
{
	struct sim_config c;
	struct sim_result r;
	u32 i, pattern;

	for (i = 0; i < ARRAY_SIZE(all); i++) {
		for (pattern = SIM_RANDOM; pattern <= SIM_MIXED; pattern++) {
			c = small(all[i]);
			c.pattern = pattern;
			r = result_of(&c);
			CHECK_MSG(!r.unfinished, "%s, pattern %u: %u of %u", all[i]->name, pattern,
				  r.unfinished, r.messages);
			CHECK(r.messages >= 30);
			CHECK_MSG(r.all.p50 >= 0.999, "%s: %f", all[i]->name, r.all.p50);
		}
	}
}

TEST(the_same_seed_is_the_same_run)
{
	struct sim_result a, b, other;
	struct sim_config c;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(all); i++) {
		c = small(all[i]);
		c.messages = 3000;
		a = result_of(&c);
		b = result_of(&c);
		c.seed = 2;
		other = result_of(&c);
		CHECK(!memcmp(&a, &b, sizeof(a)));
		CHECK(memcmp(&a, &other, sizeof(a)));
	}
}

TEST(load_is_what_was_asked_for)
{
	struct sim_config c = small(&sim_srpt);
	struct sim_result r;

	c.workload = sim_workload_find("w1");
	c.messages = 100000;
	c.load = 0.5;
	r = result_of(&c);
	CHECK_MSG(r.utilisation > 0.48 && r.utilisation < 0.52, "%f", r.utilisation);
}

TEST(the_ideal_is_better_than_fair_sharing)
{
	struct sim_config c = small(&sim_srpt);
	struct sim_result ideal = result_of(&c), fair;

	c = small(&sim_dctcp);
	fair = result_of(&c);
	CHECK_MSG(2 * ideal.small.p99 < fair.small.p99, "%f, %f", ideal.small.p99,
		  fair.small.p99);
}

TEST(small_buffers_drop_and_marks_mark)
{
	struct sim_config c = small(&sim_dctcp);
	struct sim_result r;

	c.pattern = SIM_INCAST;
	c.size = 100000;
	c.topology.buffer = 20000;
	r = result_of(&c);
	CHECK(r.dropped > 100);
	CHECK(r.edge_max <= 20000);
	CHECK_EQ(r.unfinished, 0);
	CHECK(r.counters.again > 0);
	c.topology.buffer = 0;
	c.topology.shared = 30000;
	r = result_of(&c);
	CHECK(r.dropped > 100);
	c.topology.shared = 0;
	r = result_of(&c);
	CHECK_EQ(r.dropped, 0);
	CHECK(r.marked > 0);
}

/* ---- prio ------------------------------------------------------------------- */

/* What Documentation/simulator.rst shows with more hosts, with room for the difference. */
TEST(prio_is_near_the_ideal)
{
	struct sim_config c = small(&sim_srpt);
	struct sim_result ideal = result_of(&c), prio, fair;

	c = small(&sim_prio);
	prio = result_of(&c);
	c = small(&sim_dctcp);
	fair = result_of(&c);
	CHECK_MSG(prio.small.p99 < 1.5 * ideal.small.p99, "%f, %f", prio.small.p99,
		  ideal.small.p99);
	CHECK_MSG(prio.large.p99 < fair.large.p99, "%f, %f", prio.large.p99, fair.large.p99);
	CHECK_EQ(prio.counters.bitmaps, 0);
}

TEST(prio_takes_an_incast)
{
	struct sim_config c = small(&sim_prio);
	struct sim_result r;

	c.topology.hosts = 101;
	c.topology.racks = 5;
	c.pattern = SIM_INCAST;
	c.fan = 100;
	c.size = 100000;
	/* What 100 senders send without being asked, and a little. */
	c.topology.buffer = 100 * 20000;
	r = result_of(&c);
	CHECK_EQ(r.unfinished, 0);
	CHECK_EQ(r.dropped, 0);
	/* 10 MB at 10 Gb/s, with headers. */
	CHECK_MSG(r.milliseconds > 8 && r.milliseconds < 10, "%f ms", r.milliseconds);
}

TEST(prio_repeats_what_is_lost_and_little_else)
{
	struct sim_config c = small(&sim_prio);
	struct sim_result r;

	c.lose = 10000;
	c.workload = sim_workload_find("w4");
	c.messages = 4000;
	c.load = 0.5;
	r = result_of(&c);
	CHECK_EQ(r.unfinished, 0);
	CHECK(r.lost > 1000);
	CHECK_MSG(r.counters.again < 3 * r.lost * sim_segment() / 2, "%llu bytes for %llu packets",
		  (unsigned long long)r.counters.again, (unsigned long long)r.lost);
	CHECK_EQ(r.counters.bitmaps, 0);
	CHECK(r.counters.max_bitmaps > 0);
}

/* Racks have more to send than the core takes: marked senders send less, and nothing is lost. */
TEST(prio_heeds_marks)
{
	struct sim_config c = small(&sim_prio);
	struct sim_result deaf, r;

	c.workload = sim_workload_find("w4");
	c.messages = 4000;
	c.load = 0.6;
	c.topology.spines = 1;
	c.topology.core_mbps = 15000;
	c.topology.buffer = 300000;
	deaf = result_of(&c);
	CHECK_EQ(deaf.marked, 0);
	CHECK_EQ(deaf.unfinished, 0);
	CHECK_MSG(deaf.dropped > 1000, "%llu dropped", (unsigned long long)deaf.dropped);
	c.topology.mark = 80000;
	r = result_of(&c);
	CHECK(r.marked > 1000);
	CHECK_EQ(r.unfinished, 0);
	CHECK_MSG(r.core_p99 < deaf.core_p99 * 3 / 4, "%llu, %llu",
		  (unsigned long long)r.core_p99, (unsigned long long)deaf.core_p99);
	CHECK_MSG(r.dropped < deaf.dropped / 10, "%llu dropped", (unsigned long long)r.dropped);
	CHECK(r.counters.again < deaf.counters.again / 2);
	/* What may not begin without a grant gets one soon. */
	CHECK_MSG(r.large.p99 < 30, "%f, %f", r.large.p99, deaf.large.p99);
}

/* As long as messages may be: all of it at the cable's rate, and the state of one message. */
TEST(prio_sends_a_gib)
{
	struct sim_config c = small(&sim_prio);
	struct sim_result r;

	c.topology.hosts = 2;
	c.topology.racks = 1;
	c.topology.spines = 0;
	c.pattern = SIM_INCAST;
	c.fan = 1;
	c.size = 1U << 30;
	r = result_of(&c);
	CHECK_EQ(r.unfinished, 0);
	CHECK_EQ(r.counters.again, 0);
	CHECK_EQ(r.counters.max_bitmaps, 0);
	/* 8.6 Gbit, and headers of 64, 8, 20 and 38 bytes for each 1408 */
	CHECK_MSG(r.milliseconds > 930 && r.milliseconds < 945, "%f ms", r.milliseconds);
	CHECK_MSG(r.counters.memory < 20000, "%llu bytes", (unsigned long long)r.counters.memory);
}
