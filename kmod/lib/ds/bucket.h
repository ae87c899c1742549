/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Token buckets. A bucket gives out a fixed number of tokens (calls, bytes) a second, and at
 * most a burst of them at once.
 *
 * A bucket counts whole tokens and billionths of one, so frequent calls lose and gain nothing.
 * Over any time it gives the burst plus rate * time. What a large take has borrowed is
 * subtracted from that. A clock that goes backwards (it differs between processors) neither
 * adds nor removes tokens.
 *
 * A bucket has no lock. If it belongs to one datapath, the datapath's claim protects it. If
 * several datapaths share it, a spinlock of its owner protects it.
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
 * @burst: most tokens that the bucket holds
 * @level: tokens it holds; negative: tokens it owes
 * @last: time up to which it is filled, ns
 * @part: billionths of a token besides @level; 0 when it is full
 * @rate_div: @rate / 10^9
 * @rate_mod: @rate % 10^9
 *
 * It holds no pointer and no reference. So a plain copy continues where the original was.
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
 * mrpc_bucket_init() - initialise a full bucket
 * @b: the bucket; its old content is ignored
 * @now: ns
 * @rate: 1 to MRPC_BUCKET_MAX_RATE tokens per second, or MRPC_BUCKET_UNLIMITED
 * @burst: 1 to MRPC_BUCKET_MAX_BURST tokens; ignored if unlimited
 *
 * Return: 0, or -EINVAL and @b is unchanged.
 */
int mrpc_bucket_init(struct mrpc_bucket *b, u64 now, u64 rate, u64 burst);

/**
 * mrpc_bucket_set() - change rate and burst of a bucket that is in use
 * @b: the bucket
 * @now: ns
 * @rate: as for mrpc_bucket_init()
 * @burst: as for mrpc_bucket_init()
 *
 * Tokens earned at the old rate stay, up to the new burst. Tokens owed stay owed. A bucket
 * that was unlimited starts full. A time that mrpc_bucket_take() returned before is no longer
 * valid: the caller must ask again.
 *
 * Return: 0, or -EINVAL and @b is unchanged.
 */
int mrpc_bucket_set(struct mrpc_bucket *b, u64 now, u64 rate, u64 burst);

/**
 * mrpc_bucket_level() - tokens that the bucket has at @now
 * @b: the bucket
 * @now: ns
 *
 * For display to people. Return: negative if tokens are owed; S64_MAX: unlimited.
 */
s64 mrpc_bucket_level(const struct mrpc_bucket *b, u64 now);

u64 mrpc_bucket_when_limited(struct mrpc_bucket *b, u64 now, u32 n);

/**
 * mrpc_bucket_when() - tell when @n tokens can be taken
 * @b: the bucket
 * @now: ns
 * @n: tokens. A full bucket also gives more than the burst. It then owes the rest and gives
 *	nothing until it has earned that
 *
 * A caller that needs tokens of two buckets takes from both if this returns 0 for both.
 *
 * Return: 0: now. Otherwise a time after @now (ns). At that time the answer is 0, unless
 * another caller has taken tokens meanwhile.
 */
static inline u64 mrpc_bucket_when(struct mrpc_bucket *b, u64 now, u32 n)
{
	if (b->rate == MRPC_BUCKET_UNLIMITED)
		return 0;
	return mrpc_bucket_when_limited(b, now, n);
}

/**
 * mrpc_bucket_take() - take @n tokens if the bucket has them
 * @b: the bucket
 * @now: ns
 * @n: tokens, all or none
 *
 * Return: 0: taken. Otherwise nothing is taken, and the value is that of mrpc_bucket_when().
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
 * mrpc_bucket_reserve() - take @n tokens, even if they are not earned yet
 * @b: the bucket
 * @now: ns
 * @n: tokens
 *
 * For a caller that waits in a queue: no other caller gets these tokens. All tokens
 * reserved at one time must be fewer than MRPC_BUCKET_MAX_BURST.
 *
 * Return: 0: the bucket had them. Otherwise the time when they are earned, ns.
 */
static inline u64 mrpc_bucket_reserve(struct mrpc_bucket *b, u64 now, u32 n)
{
	u64 when = mrpc_bucket_when(b, now, n);

	if (b->rate != MRPC_BUCKET_UNLIMITED)
		b->level -= n;
	return when;
}

/**
 * mrpc_bucket_return() - give back tokens that are not needed
 * @b: the bucket
 * @n: tokens; the bucket drops those that exceed its burst
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
