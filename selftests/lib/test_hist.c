// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/lib/ds/hist */
/* Histograms: kmod/lib/ds/hist.c, against sorted lists of the values themselves. */
#include "lib/ds/hist.h"
#include "rnd.h"
#include "tap.h"

static u64 any_value(uint64_t *rnd)
{
	u64 v = (u64)rnd_next(rnd) << 32 | rnd_next(rnd);

	return v >> rnd_below(rnd, 64);
}

static int compare(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return x < y ? -1 : x > y;
}

/* The buckets follow each other without a gap, from 0 to the last value. */
TEST(buckets_cover_everything)
{
	u64 next = 0;
	u32 i;

	for (i = 0; i < MRPC_HIST_BUCKETS; i++) {
		u64 low = mrpc_hist_low(i), high = mrpc_hist_high(i);

		CHECK_EQ(low, next);
		CHECK(high >= low);
		CHECK_EQ(mrpc_hist_index(low), i);
		CHECK_EQ(mrpc_hist_index(high), i);
		CHECK_EQ(mrpc_hist_index(low + (high - low) / 2), i);
		/* Not wider than a quarter of its smallest value. */
		CHECK(high - low <= low / 4);
		next = high + 1;
	}
	CHECK_EQ(next, 0);
}

TEST(an_empty_one)
{
	struct mrpc_hist h = { 0 };

	CHECK_EQ(mrpc_hist_total(&h), 0);
	CHECK_EQ(mrpc_hist_quantile(&h, 0), 0);
	CHECK_EQ(mrpc_hist_quantile(&h, 500000), 0);
	CHECK_EQ(mrpc_hist_quantile(&h, 1000000), 0);
}

TEST(one_value)
{
	static const u64 values[] = { 0, 1, 3, 4, 7, 8, 1000000, ~0ULL >> 1, ~0ULL };
	u32 i, q;

	for (i = 0; i < ARRAY_SIZE(values); i++) {
		struct mrpc_hist h = { 0 };

		mrpc_hist_record(&h, values[i]);
		for (q = 0; q <= 1000000; q += 250000)
			CHECK_EQ(mrpc_hist_quantile(&h, q), values[i]);
	}
}

TEST(quantiles_of_random_values)
{
	enum { MOST = 500 };
	uint64_t rnd = 1;
	u32 round, i, q;

	for (round = 0; round < 300; round++) {
		u32 n = 1 + rnd_below(&rnd, MOST);
		struct mrpc_hist h = { 0 };
		u64 values[MOST], sum = 0;

		for (i = 0; i < n; i++) {
			values[i] = any_value(&rnd);
			sum += values[i];
			mrpc_hist_record(&h, values[i]);
		}
		qsort(values, n, sizeof(*values), compare);
		CHECK_EQ(mrpc_hist_total(&h), n);
		CHECK_EQ(h.sum, sum);
		CHECK_EQ(h.max, values[n - 1]);
		for (q = 0; q <= 1000000; q += 1 + rnd_below(&rnd, 50000)) {
			u64 rank = ((u64)n * q + 999999) / 1000000;
			u64 exact = values[rank ? rank - 1 : 0];
			u64 got = mrpc_hist_quantile(&h, q);

			CHECK_MSG(got >= exact && got - exact <= exact / 4 && got <= h.max,
				  "%u values, quantile %u: %llu for %llu", n, q,
				  (unsigned long long)got, (unsigned long long)exact);
		}
		CHECK_EQ(mrpc_hist_quantile(&h, 1000000), values[n - 1]);
		CHECK_EQ(mrpc_hist_quantile(&h, ~0U), values[n - 1]);
	}
}

/* More values than a product with a million can hold. */
TEST(quantile_of_very_many)
{
	struct mrpc_hist h = { .max = 100 };

	h.count[mrpc_hist_index(8)] = 3ULL << 60;
	h.count[mrpc_hist_index(100)] = 1ULL << 60;
	CHECK_EQ(mrpc_hist_quantile(&h, 500000), mrpc_hist_high(mrpc_hist_index(8)));
	CHECK_EQ(mrpc_hist_quantile(&h, 750000), mrpc_hist_high(mrpc_hist_index(8)));
	CHECK_EQ(mrpc_hist_quantile(&h, 750001), 100);
}

TEST(merging_is_as_counting_together)
{
	struct mrpc_hist parts[3] = { 0 }, all = { 0 }, merged = { 0 };
	uint64_t rnd = 2;
	u32 i;

	for (i = 0; i < 10000; i++) {
		u64 v = any_value(&rnd);

		mrpc_hist_record(&parts[rnd_below(&rnd, 3)], v);
		mrpc_hist_record(&all, v);
	}
	for (i = 0; i < 3; i++)
		mrpc_hist_merge(&merged, &parts[i]);
	CHECK(!memcmp(&merged, &all, sizeof(all)));
}

/* A copy in which the largest value is counted, but not yet the largest. */
TEST(a_torn_copy_is_not_too_small)
{
	struct mrpc_hist h = { .max = 5 };

	h.count[mrpc_hist_index(5)] = 1;
	h.count[mrpc_hist_index(1000)] = 1;
	CHECK_EQ(mrpc_hist_quantile(&h, 1000000), mrpc_hist_low(mrpc_hist_index(1000)));
}
