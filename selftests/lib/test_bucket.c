// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/lib/ds/bucket */
/*
 * Token buckets: kmod/lib/ds/bucket.c, against a model that counts billionths of
 * tokens in 128 bits.
 */
#include "lib/ds/bucket.h"
#include "rnd.h"
#include "tap.h"

#define SECOND	1000000000ULL

typedef __int128 wide;

struct model {
	wide nano;	/* billionths of a token */
	u64 rate;
	u64 burst;
	u64 last;
};

static wide least(wide a, wide b)
{
	return a < b ? a : b;
}

static void model_fill(struct model *m, u64 now)
{
	if (now <= m->last)
		return;
	m->nano = least(m->nano + (wide)(now - m->last) * m->rate, (wide)m->burst * SECOND);
	m->last = now;
}

static u64 model_when(struct model *m, u64 now, u32 n)
{
	wide want = least(n, m->burst) * SECOND, ns;

	model_fill(m, now);
	/* Whole tokens only. */
	if (m->nano >= want)
		return 0;
	ns = (want - m->nano + m->rate - 1) / m->rate;
	return ns > (wide)(~0ULL - m->last) ? MRPC_BUCKET_NEVER : m->last + (u64)ns;
}

static void model_set(struct model *m, u64 now, u64 rate, u64 burst)
{
	model_fill(m, now);
	m->rate = rate;
	m->burst = burst;
	m->nano = least(m->nano, (wide)burst * SECOND);
}

static void check_same(const struct mrpc_bucket *b, const struct model *m)
{
	CHECK((wide)b->level * (wide)SECOND + b->part == m->nano);
	CHECK_EQ(b->last, m->last);
	CHECK(b->part < SECOND);
}

/* Small and large numbers alike. */
static u64 any_below(uint64_t *rnd, u64 limit)
{
	u64 v = ((u64)rnd_next(rnd) << 32 | rnd_next(rnd)) >> rnd_below(rnd, 64);

	return v % limit;
}

static u64 any_rate(uint64_t *rnd)
{
	static const u64 odd[] = { 1, 2, 3, 7, 999999999, 1000000000, 1000000001,
				   MRPC_BUCKET_MAX_RATE - 1, MRPC_BUCKET_MAX_RATE };

	if (rnd_below(rnd, 3))
		return 1 + any_below(rnd, MRPC_BUCKET_MAX_RATE);
	return odd[rnd_below(rnd, ARRAY_SIZE(odd))];
}

static u64 any_burst(uint64_t *rnd)
{
	return 1 + any_below(rnd, MRPC_BUCKET_MAX_BURST);
}

TEST(against_the_model)
{
	uint64_t rnd = 1;
	u32 round, i;

	for (round = 0; round < 3000; round++) {
		struct model m = { .rate = any_rate(&rnd), .burst = any_burst(&rnd) };
		u64 now = any_below(&rnd, ~0ULL);
		struct mrpc_bucket b;

		m.last = now;
		m.nano = (wide)m.burst * SECOND;
		CHECK_EQ(mrpc_bucket_init(&b, now, m.rate, m.burst), 0);
		check_same(&b, &m);
		for (i = 0; i < 200; i++) {
			u32 n = any_below(&rnd, 1ULL << 32);
			u64 gap = any_below(&rnd, ~0ULL), when;

			if (!rnd_below(&rnd, 20)) {
				u64 rate = any_rate(&rnd), burst = any_burst(&rnd);

				CHECK_EQ(mrpc_bucket_set(&b, now, rate, burst), 0);
				model_set(&m, now, rate, burst);
				check_same(&b, &m);
			}
			/* Mostly forward, sometimes a little back. */
			if (!rnd_below(&rnd, 10))
				now -= least(now, gap % 1000);
			else
				now += least(~0ULL - now, gap >> rnd_below(&rnd, 64));
			if (!rnd_below(&rnd, 8)) {
				CHECK_EQ(mrpc_bucket_reserve(&b, now, n), model_when(&m, now, n));
				m.nano -= (wide)n * SECOND;
				check_same(&b, &m);
			}
			if (!rnd_below(&rnd, 16)) {
				mrpc_bucket_return(&b, n);
				m.nano = least(m.nano + (wide)n * SECOND, (wide)m.burst * SECOND);
				check_same(&b, &m);
			}
			when = mrpc_bucket_take(&b, now, n);
			CHECK_EQ(when, model_when(&m, now, n));
			if (!when)
				m.nano -= (wide)n * SECOND;
			check_same(&b, &m);
			CHECK(!when || when > now || when == MRPC_BUCKET_NEVER);
			if (when && when != MRPC_BUCKET_NEVER && rnd_below(&rnd, 2)) {
				/* Not a nanosecond too late or too early. */
				CHECK(when == b.last + 1 || mrpc_bucket_when(&b, when - 1, n));
				CHECK_EQ(mrpc_bucket_take(&b, when, n), 0);
				now = when;
				model_fill(&m, when);
				m.nano -= (wide)n * SECOND;
				check_same(&b, &m);
			}
		}
	}
}

/* A million looks between two takes earn what one look does. */
TEST(looking_costs_nothing)
{
	static const u64 rates[] = { 1, 3, 999999937, MRPC_BUCKET_MAX_RATE - 1 };
	u32 i, k;

	for (k = 0; k < ARRAY_SIZE(rates); k++) {
		struct mrpc_bucket often, seldom;
		u64 now = 5;

		mrpc_bucket_init(&often, now, rates[k], 1ULL << 50);
		often.level = 0;
		seldom = often;
		for (i = 0; i < 1000000; i++) {
			now += 1 + i % 7;
			mrpc_bucket_when(&often, now, ~0U);
		}
		mrpc_bucket_when(&seldom, now, ~0U);
		CHECK_EQ(often.level, seldom.level);
		CHECK_EQ(often.part, seldom.part);
		CHECK_EQ(often.level, (u64)((wide)(now - 5) * rates[k] / SECOND));
	}
}

/* A user that always waits as told gets the rate, exactly. */
TEST(waiting_gives_the_rate)
{
	static const struct { u64 rate, burst; u32 n; } cases[] = {
		{ 1, 1, 1 }, { 7, 1, 1 }, { 1000, 10, 3 }, { 1000, 10, 64 },
		{ 125000000, 65536, 1500 }, { 3, 1, 1000 },
		{ MRPC_BUCKET_MAX_RATE, 1, 1 << 30 }, { 1000000007, 1 << 20, 4096 },
	};
	u32 i, k;

	for (k = 0; k < ARRAY_SIZE(cases); k++) {
		u64 now = 1000, taken = 0, when;
		struct mrpc_bucket b;
		wide allowed;

		mrpc_bucket_init(&b, now, cases[k].rate, cases[k].burst);
		for (i = 0; i < 100000; i++) {
			when = mrpc_bucket_take(&b, now, cases[k].n);
			if (when) {
				now = when;
				when = mrpc_bucket_take(&b, now, cases[k].n);
			}
			CHECK_EQ(when, 0);
			taken += cases[k].n;
		}
		allowed = (wide)(now - 1000) * cases[k].rate / SECOND + cases[k].burst;
		CHECK((wide)taken <= allowed + cases[k].n);
		CHECK((wide)taken + cases[k].burst + cases[k].n >= allowed);
	}
}

TEST(more_than_the_burst_passes_and_is_owed)
{
	struct mrpc_bucket b;

	CHECK_EQ(mrpc_bucket_init(&b, 0, 100, 10), 0);
	CHECK_EQ(mrpc_bucket_take(&b, 0, 110), 0);
	CHECK_EQ(mrpc_bucket_level(&b, 0), -100);
	CHECK_EQ(mrpc_bucket_level(&b, SECOND / 2), -50);
	CHECK_EQ(mrpc_bucket_take(&b, 0, 0), SECOND);
	CHECK_EQ(mrpc_bucket_take(&b, 0, 1), SECOND + SECOND / 100);
	CHECK_EQ(mrpc_bucket_take(&b, 0, 1000), SECOND + SECOND / 10);
	CHECK_EQ(mrpc_bucket_take(&b, SECOND + SECOND / 10, 1000), 0);
	CHECK_EQ(b.level, 10 - 1000);
}

/* Users that reserve get tokens in turn, and together no more than there are. */
TEST(reserving)
{
	struct mrpc_bucket b;
	u64 now = 5 * SECOND;
	u32 i;

	CHECK_EQ(mrpc_bucket_init(&b, now, 1000, 3), 0);
	for (i = 0; i < 3; i++)
		CHECK_EQ(mrpc_bucket_reserve(&b, now, 1), 0);
	for (i = 1; i <= 100; i++)
		CHECK_EQ(mrpc_bucket_reserve(&b, now, 1), now + i * SECOND / 1000);
	/* No other user comes between. */
	CHECK_EQ(mrpc_bucket_take(&b, now + SECOND / 20, 1), now + 101 * SECOND / 1000);
	/* Half of them are not needed after all. */
	mrpc_bucket_return(&b, 50);
	CHECK_EQ(mrpc_bucket_level(&b, now + SECOND / 20), 0);
	mrpc_bucket_return(&b, 1000);
	CHECK_EQ(b.level, 3);
	/* More than can be earned in a lifetime. */
	CHECK_EQ(mrpc_bucket_set(&b, now + SECOND, 1, 1), 0);
	for (i = 0; i < 64; i++)
		mrpc_bucket_reserve(&b, now + SECOND, ~0U);
	CHECK_EQ(mrpc_bucket_reserve(&b, now + SECOND, 1), MRPC_BUCKET_NEVER);
}

TEST(unlimited)
{
	struct mrpc_bucket b;
	u32 i;

	CHECK_EQ(mrpc_bucket_init(&b, 77, MRPC_BUCKET_UNLIMITED, 0), 0);
	for (i = 0; i < 100; i++)
		CHECK_EQ(mrpc_bucket_take(&b, i, ~0U), 0);
	CHECK_EQ(mrpc_bucket_when(&b, 0, ~0U), 0);
	CHECK_EQ(mrpc_bucket_level(&b, 0), S64_MAX);
	CHECK_EQ(mrpc_bucket_reserve(&b, 0, ~0U), 0);
	mrpc_bucket_return(&b, ~0U);
	CHECK_EQ(mrpc_bucket_level(&b, 0), S64_MAX);
	/* Limited again: full, whatever has passed. */
	CHECK_EQ(mrpc_bucket_set(&b, 100, 1000, 5), 0);
	CHECK_EQ(mrpc_bucket_take(&b, 100, 5), 0);
	CHECK_EQ(mrpc_bucket_take(&b, 100, 1), 100 + SECOND / 1000);
}

TEST(a_change_keeps_what_was_earned)
{
	struct mrpc_bucket b;

	mrpc_bucket_init(&b, 0, 1000, 100);
	CHECK_EQ(mrpc_bucket_take(&b, 0, 100), 0);
	/* 20 and a half by then. */
	CHECK_EQ(mrpc_bucket_set(&b, 20500000, 2000, 50), 0);
	CHECK_EQ(b.level, 20);
	CHECK_EQ(mrpc_bucket_take(&b, 20500000, 20), 0);
	CHECK_EQ(mrpc_bucket_take(&b, 20500000, 1), 20500000 + 250000);
	/* A smaller burst clamps; what is owed stays. */
	CHECK_EQ(mrpc_bucket_set(&b, SECOND, 2000, 7), 0);
	CHECK_EQ(b.level, 7);
	CHECK_EQ(mrpc_bucket_take(&b, SECOND, 1007), 0);
	CHECK_EQ(mrpc_bucket_set(&b, SECOND, 1, 1000000), 0);
	CHECK_EQ(b.level, -1000);
}

TEST(values_out_of_range)
{
	struct mrpc_bucket b, before;

	mrpc_bucket_init(&b, 3, 4, 5);
	before = b;
	CHECK_EQ(mrpc_bucket_set(&b, 9, 0, 5), -EINVAL);
	CHECK_EQ(mrpc_bucket_set(&b, 9, MRPC_BUCKET_MAX_RATE + 1, 5), -EINVAL);
	CHECK_EQ(mrpc_bucket_set(&b, 9, MRPC_BUCKET_UNLIMITED - 1, 5), -EINVAL);
	CHECK_EQ(mrpc_bucket_set(&b, 9, 1, 0), -EINVAL);
	CHECK_EQ(mrpc_bucket_set(&b, 9, 1, MRPC_BUCKET_MAX_BURST + 1), -EINVAL);
	CHECK(!memcmp(&b, &before, sizeof(b)));
}

TEST(the_end_of_time)
{
	struct mrpc_bucket b;

	mrpc_bucket_init(&b, ~0ULL - 10, 1, 1);
	CHECK_EQ(mrpc_bucket_take(&b, ~0ULL - 10, 1), 0);
	CHECK_EQ(mrpc_bucket_take(&b, ~0ULL - 10, 1), MRPC_BUCKET_NEVER);
	CHECK_EQ(mrpc_bucket_take(&b, ~0ULL, 1), MRPC_BUCKET_NEVER);
}
