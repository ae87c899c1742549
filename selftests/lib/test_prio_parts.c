// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/lib/ds/lheap kmod/lib/ds/wheel kmod/lib/prio/rank */
/*
 * What the prio transport is made of: the heap, the wheel of timers and the order by rank, each
 * against a search over everything.
 */
#include <stdlib.h>

#include "lib/ds/lheap.h"
#include "lib/prio/rank.h"
#include "rnd.h"
#include "tap.h"
#include "lib/ds/wheel.h"

#define NR	60

TEST(lheap_random)
{
	struct mrpc_lheap_node all[NR] = { 0 };
	struct mrpc_lheap h = { 0 };
	u64 rnd = 7;
	u32 round, i;

	for (round = 0; round < 30000; round++) {
		struct mrpc_lheap_node *n = &all[rnd_below(&rnd, NR)], *first = mrpc_lheap_first(&h);
		u64 key = rnd_below(&rnd, 1000), least = U64_MAX;

		switch (rnd_below(&rnd, 4)) {
		case 0:
			mrpc_lheap_del(&h, n);
			break;
		case 1:
			if (first)
				mrpc_lheap_del(&h, first);
			break;
		default:
			if (mrpc_lheap_in(n))
				mrpc_lheap_move(&h, n, key);
			else
				mrpc_lheap_add(&h, n, key, 0);
		}
		for (i = 0; i < NR; i++)
			if (mrpc_lheap_in(&all[i]))
				least = min(least, all[i].key);
		first = mrpc_lheap_first(&h);
		CHECK_EQ(!first, least == U64_MAX);
		CHECK(!first || (mrpc_lheap_in(first) && first->key == least));
	}
	while (mrpc_lheap_first(&h))
		mrpc_lheap_del(&h, mrpc_lheap_first(&h));
}

/* Times from next to nothing to beyond the longest wheel */
static u64 random_time(u64 *rnd)
{
	return (u64)rnd_next(rnd) >> rnd_below(rnd, 32) << rnd_below(rnd, 10);
}

TEST(wheel_random)
{
	static struct mrpc_timer all[NR];
	u64 when[NR], rnd = 11, now = 12345678, last;
	static struct mrpc_wheel w;
	u32 round, i;

	mrpc_wheel_init(&w, now);
	CHECK_EQ(mrpc_wheel_next(&w), -1LL);
	for (round = 0; round < 40000; round++) {
		struct mrpc_timer *t = &all[i = rnd_below(&rnd, NR)];
		u64 next = mrpc_wheel_next(&w), earliest = U64_MAX;

		if (rnd_below(&rnd, 3)) {
			when[i] = now + random_time(&rnd);
			mrpc_wheel_arm(&w, t, when[i]);
		} else {
			mrpc_wheel_stop(&w, t);
		}
		for (i = 0; i < NR; i++)
			if (all[i].armed)
				earliest = min(earliest, when[i]);
		next = mrpc_wheel_next(&w);
		CHECK_EQ(next == U64_MAX, earliest == U64_MAX);
		CHECK(earliest == U64_MAX || next < earliest + 1024 + (now & 1023));
		/* Sometimes late, sometimes as told */
		last = now;
		now = rnd_below(&rnd, 2) && next != U64_MAX ? max(now, next) :
		      now + random_time(&rnd) % 100000000;
		while ((t = mrpc_wheel_expire(&w, now))) {
			CHECK(!t->armed);
			CHECK(when[t - all] <= now);
		}
		for (i = 0; i < NR; i++)
			CHECK(!all[i].armed || when[i] + 1024 > now);
		CHECK(now >= last);
	}
}

/* Several that are due come in the order of their ticks. */
TEST(wheel_order)
{
	static const u64 times[] = { 5, 255, 256, 257, 511, 65535, 65536, 65537, 16777215, 16777216,
				     20000000, 40000000 };
	static struct mrpc_timer t[ARRAY_SIZE(times)];
	static struct mrpc_wheel w;
	u32 start, i;

	for (start = 0; start < 600; start += 37) {
		u64 base = (u64)start << 10;

		mrpc_wheel_init(&w, base);
		for (i = ARRAY_SIZE(times); i--;)
			mrpc_wheel_arm(&w, &t[i], base + (times[i] << 10));
		for (i = 0; i < ARRAY_SIZE(times); i++) {
			CHECK(!mrpc_wheel_expire(&w, base + (times[i] << 10) - 1));
			CHECK(mrpc_wheel_expire(&w, base + (times[i] << 10)) == &t[i]);
		}
		CHECK_EQ(mrpc_wheel_next(&w), -1LL);
	}
	/* What is over fires next. */
	mrpc_wheel_arm(&w, &t[0], 0);
	CHECK(mrpc_wheel_next(&w) <= w.now << 10);
	CHECK(mrpc_wheel_expire(&w, w.now << 10) == &t[0]);
}

TEST(rank_random)
{
	static struct mrpc_order_levels levels[4];
	static const u8 priorities[4] = { 0, 7, 128, 255 };
	struct mrpc_prio_ranked all[NR] = { 0 }, *e;
	struct mrpc_prio_rank r = { 0 };
	u32 round, i, n, listed;
	u64 rnd = 3;

	for (i = 0; i < 4; i++) {
		CHECK(!mrpc_prio_rank_has(&r, priorities[i]));
		mrpc_prio_rank_give(&r, priorities[i], &levels[i]);
		CHECK(mrpc_prio_rank_has(&r, priorities[i]));
	}
	for (round = 0; round < 20000; round++) {
		e = &all[rnd_below(&rnd, NR)];
		if (rnd_below(&rnd, 3))
			mrpc_prio_rank_put(&r, e, priorities[rnd_below(&rnd, 4)],
					   rnd_below(&rnd, 4) + 252 * rnd_below(&rnd, 2),
					   rnd_below(&rnd, 2));
		else
			mrpc_prio_rank_del(&r, e);
		for (i = 0, listed = 0; i < NR; i++)
			listed += all[i].listed;
		for (e = mrpc_prio_rank_first(&r), n = 0; e; n++) {
			struct mrpc_prio_ranked *next = mrpc_prio_rank_next(&r, e);

			CHECK(e->listed);
			CHECK(!next || next->priority < e->priority ||
			      (next->priority == e->priority && next->level >= e->level));
			e = next;
		}
		CHECK_EQ(n, listed);
	}
}

/* Among equals: the head first, then as they came. */
TEST(rank_equals)
{
	static struct mrpc_order_levels levels;
	struct mrpc_prio_ranked a[4] = { 0 };
	struct mrpc_prio_rank r = { 0 };
	u32 i;

	mrpc_prio_rank_give(&r, 9, &levels);
	for (i = 0; i < 3; i++)
		mrpc_prio_rank_put(&r, &a[i], 9, 5, false);
	mrpc_prio_rank_put(&r, &a[3], 9, 5, true);
	mrpc_prio_rank_put(&r, &a[2], 9, 5, true);	/* is there: stays */
	CHECK(mrpc_prio_rank_first(&r) == &a[3]);
	CHECK(mrpc_prio_rank_next(&r, &a[3]) == &a[0]);
	CHECK(mrpc_prio_rank_next(&r, &a[1]) == &a[2]);
	CHECK(!mrpc_prio_rank_next(&r, &a[2]));
}
