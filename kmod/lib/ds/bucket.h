/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Token buckets: so many tokens (calls, bytes) a second, and no more than a
 * burst at once.
 *
 * A bucket counts whole tokens and billionths of one, so that nothing is lost
 * or gained however often it is asked: over any time it gives the burst and
 * rate * time, and what a large take has borrowed comes off that. A clock that
 * goes backwards (two processors' views of it) earns nothing and costs nothing.
 *
 * A bucket has no lock. One for a datapath is used under the datapath's claim;
 * one that several datapaths share, under a spinlock of its owner's.
 */
#ifndef MRPC_LIB_DS_BUCKET_H
#define MRPC_LIB_DS_BUCKET_H

#include "lib/ds/types.h"

#define MRPC_BUCKET_UNLIMITED	(~0ULL)			/* as a rate */
#define MRPC_BUCKET_MAX_RATE	1000000000000ULL	/* tokens per second */
#define MRPC_BUCKET_MAX_BURST	(1ULL << 60)
#define MRPC_BUCKET_NEVER	(~0ULL)			/* as a time */

/**
 * struct mrpc_bucket - a token bucket
 * @rate: tokens per second, or MRPC_BUCKET_UNLIMITED
 * @burst: most tokens that it holds
 * @level: tokens it holds; negative: owed
 * @last: until when it has been filled, ns
 * @part: billionths of a token besides @level; 0 when it is full
 * @rate_div: @rate / 10^9
 * @rate_mod: @rate % 10^9
 *
 * It holds no pointer and no reference: a copy continues where the original was.
 */
struct mrpc_bucket {
	u64 rate;
	u64 burst;
	s64 level;
	u64 last;
	u32 part;
	u32 rate_div;
	u32 rate_mod;
	u32 resv;
};

/**
 * mrpc_bucket_init() - a full bucket
 * @b: the bucket, whatever it holds
 * @now: ns
 * @rate: 1 to MRPC_BUCKET_MAX_RATE tokens per second, or MRPC_BUCKET_UNLIMITED
 * @burst: 1 to MRPC_BUCKET_MAX_BURST tokens; not looked at if unlimited
 *
 * Return: 0, or -EINVAL and @b is unchanged.
 */
int mrpc_bucket_init(struct mrpc_bucket *b, u64 now, u64 rate, u64 burst);

/**
 * mrpc_bucket_set() - another rate and burst, while in use
 * @b: the bucket
 * @now: ns
 * @rate: as for mrpc_bucket_init()
 * @burst: as for mrpc_bucket_init()
 *
 * What has been earned at the old rate stays, up to the new burst; what is owed
 * stays owed. A bucket that was unlimited starts full. A time that
 * mrpc_bucket_take() returned before no longer holds: ask again.
 *
 * Return: 0, or -EINVAL and @b is unchanged.
 */
int mrpc_bucket_set(struct mrpc_bucket *b, u64 now, u64 rate, u64 burst);

/**
 * mrpc_bucket_level() - tokens there would be at @now
 * @b: the bucket
 * @now: ns
 *
 * For people to look at. Return: negative if some are owed; S64_MAX: unlimited.
 */
s64 mrpc_bucket_level(const struct mrpc_bucket *b, u64 now);

u64 mrpc_bucket_when_limited(struct mrpc_bucket *b, u64 now, u32 n);

/**
 * mrpc_bucket_when() - when could @n tokens be taken?
 * @b: the bucket
 * @now: ns
 * @n: tokens. More than the burst can be taken when the bucket is full: it owes
 *	the rest and gives nothing until that is earned
 *
 * For who needs tokens of two buckets: take from both if both say 0.
 *
 * Return: 0: now. Otherwise a time after @now (ns); when it has come, and
 * nobody has taken any meanwhile, the answer is 0.
 */
static inline u64 mrpc_bucket_when(struct mrpc_bucket *b, u64 now, u32 n)
{
	if (b->rate == MRPC_BUCKET_UNLIMITED)
		return 0;
	return mrpc_bucket_when_limited(b, now, n);
}

/**
 * mrpc_bucket_take() - take @n tokens
 * @b: the bucket
 * @now: ns
 * @n: tokens, all or none
 *
 * Return: 0: taken. Otherwise nothing was taken, and as mrpc_bucket_when().
 */
static inline u64 mrpc_bucket_take(struct mrpc_bucket *b, u64 now, u32 n)
{
	u64 when;

	if (b->rate == MRPC_BUCKET_UNLIMITED)
		return 0;
	when = mrpc_bucket_when_limited(b, now, n);
	if (!when)
		b->level -= n;
	return when;
}

/**
 * mrpc_bucket_reserve() - take @n tokens, earned or not
 * @b: the bucket
 * @now: ns
 * @n: tokens
 *
 * For who waits in turn with others: nobody else gets these tokens. All that is
 * reserved at one time must be less than MRPC_BUCKET_MAX_BURST.
 *
 * Return: 0: they were there. Otherwise when they will have been earned, ns.
 */
static inline u64 mrpc_bucket_reserve(struct mrpc_bucket *b, u64 now, u32 n)
{
	u64 when = mrpc_bucket_when(b, now, n);

	if (b->rate != MRPC_BUCKET_UNLIMITED)
		b->level -= n;
	return when;
}

/**
 * mrpc_bucket_return() - give tokens back that were not needed
 * @b: the bucket
 * @n: tokens; what the bucket cannot hold is lost
 */
static inline void mrpc_bucket_return(struct mrpc_bucket *b, u32 n)
{
	if (b->rate == MRPC_BUCKET_UNLIMITED)
		return;
	b->level += n;
	if (b->level >= (s64)b->burst) {
		b->level = b->burst;
		b->part = 0;
	}
}

#endif /* MRPC_LIB_DS_BUCKET_H */
