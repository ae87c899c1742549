/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Histograms of 64-bit values (nanoseconds, bytes) in buckets that are at most a
 * quarter of their value wide: each power of two is cut in four.
 *
 * Values 0 to 3 have a bucket each. From there, bucket 4 * e + s - 4 holds the
 * values whose highest bit is bit e and whose next two bits are s.
 *
 * One context writes (a histogram for each processor or each claim); others may
 * read at the same time, and see each number either before or after a change.
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
 * @h: the histogram; nobody else writes it
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
 * mrpc_hist_merge() - add what one histogram has to another
 * @to: nobody else uses it
 * @from: may be written meanwhile
 */
void mrpc_hist_merge(struct mrpc_hist *to, const struct mrpc_hist *from);

/**
 * mrpc_hist_total() - how many values have been counted
 * @h: nobody writes it, or the answer is of no one moment
 */
u64 mrpc_hist_total(const struct mrpc_hist *h);

/**
 * mrpc_hist_quantile() - a value that so many are not above
 * @h: nobody writes it: a merged copy
 * @millionths: 500000: the median; 0: the smallest; 1000000: the largest
 *
 * Return: the end of the bucket that holds the value of that rank, but not
 * above the largest value counted: so at most a quarter too large, never too
 * small. 0 if none has been counted.
 */
u64 mrpc_hist_quantile(const struct mrpc_hist *h, u32 millionths);

#endif /* MRPC_LIB_DS_HIST_H */
