/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Histograms of 64-bit values (nanoseconds, bytes). Each power of two is divided into four
 * buckets. So the width of a bucket is at most a quarter of its values.
 *
 * Values 0 to 3 have a bucket each. From there on, bucket 4 * e + s - 4 holds the values with
 * bit e as their highest bit. Their next two bits are s.
 *
 * Only one context writes a histogram, so there is one for each processor or each claim. Other
 * contexts may read at the same time. They see each number either before or after a change.
 */
#ifndef MRPC_LIB_DS_HIST_H
#define MRPC_LIB_DS_HIST_H

#include "lib/ds/types.h"

#ifdef __KERNEL__
#include <linux/compiler.h>
#else
#include "lib/ds/claim_native.h"
#endif

#define MRPC_HIST_BUCKETS	252

/**
 * struct mrpc_hist - a histogram; all zero is an empty one
 * @sum: of all values, modulo 2^64
 * @max: the largest value
 * @count: values in each bucket
 */
struct mrpc_hist {
	u64 sum;
	u64 max;
	u64 count[MRPC_HIST_BUCKETS];
};

/** mrpc_hist_index() - the bucket of a value */
static inline u32 mrpc_hist_index(u64 value)
{
	u32 high;

	if (value < 4)
		return value;
	high = fls64(value) - 1;
	return 4 * high - 4 + (value >> (high - 2) & 3);
}

/** mrpc_hist_low() - the smallest value of bucket @index */
static inline u64 mrpc_hist_low(u32 index)
{
	return index < 4 ? index : (u64)(4 + index % 4) << (index / 4 - 1);
}

/** mrpc_hist_high() - the largest value of bucket @index */
static inline u64 mrpc_hist_high(u32 index)
{
	return index < MRPC_HIST_BUCKETS - 1 ? mrpc_hist_low(index + 1) - 1 : ~0ULL;
}

/**
 * mrpc_hist_record() - count a value
 * @h: the histogram; only the caller writes it
 * @value: the value
 */
static inline void mrpc_hist_record(struct mrpc_hist *h, u64 value)
{
	u64 *count = &h->count[mrpc_hist_index(value)];

	WRITE_ONCE(*count, *count + 1);
	WRITE_ONCE(h->sum, h->sum + value);
	if (value > h->max)
		WRITE_ONCE(h->max, value);
}

/**
 * mrpc_hist_merge() - add the counts of one histogram to another
 * @to: only the caller uses it
 * @from: its writer may change it meanwhile
 */
void mrpc_hist_merge(struct mrpc_hist *to, const struct mrpc_hist *from);

/**
 * mrpc_hist_total() - number of values counted
 * @h: should have no writer; otherwise the total mixes counts of different moments
 */
u64 mrpc_hist_total(const struct mrpc_hist *h);

/**
 * mrpc_hist_quantile() - the value at a given rank
 * @h: must have no writer: a merged copy
 * @millionths: the rank. 500000: the median; 0: the smallest; 1000000: the largest
 *
 * Return: the upper end of the bucket that holds the value of that rank, but at most the
 * largest value counted. So the result is never too small and at most a quarter too large.
 * 0 if the histogram is empty.
 */
u64 mrpc_hist_quantile(const struct mrpc_hist *h, u32 millionths);

#endif /* MRPC_LIB_DS_HIST_H */
