// SPDX-License-Identifier: GPL-2.0
/*
 * Token buckets; see bucket.h for the contract.
 *
 * The largest rate and the longest time would need products of 104 bits. They
 * are had in parts that fit 64: the rate is split at 10^9, the time at a second.
 */
#include "lib/ds/bucket.h"

static u64 bucket_missing(const struct mrpc_bucket *b, u64 want)
{
	/* At most twice 2^60: that much is owed at most. */
	return want - b->level;
}

static void bucket_fill(struct mrpc_bucket *b, u64 now)
{
	u64 gap, earned, seconds = 0, whole;
	u32 ns, part;

	if (now <= b->last)
		return;
	gap = now - b->last;
	b->last = now;
	if (b->level == (s64)b->burst)
		return;
	ns = gap;
	if (gap >= NSEC_PER_SEC)
		seconds = div_u64_rem(gap, NSEC_PER_SEC, &ns);
	earned = div_u64_rem((u64)ns * b->rate_mod + b->part, NSEC_PER_SEC, &part);
	earned += (u64)ns * b->rate_div;
	if (check_mul_overflow(seconds, b->rate, &whole) ||
	    check_add_overflow(earned, whole, &earned) ||
	    earned >= bucket_missing(b, b->burst)) {
		b->level = b->burst;
		b->part = 0;
		return;
	}
	b->level += earned;
	b->part = part;
}

u64 mrpc_bucket_when_limited(struct mrpc_bucket *b, u64 now, u32 n)
{
	u64 want = min_t(u64, n, b->burst);
	u64 ns, rem, when;
	u32 i;

	bucket_fill(b, now);
	if (b->level >= (s64)want)
		return 0;

	/*
	 * (missing * 10^9 - part) / rate, rounded up; the last token apart, so
	 * that part can be taken off. 10^9 is three digits to the base of 1000.
	 */
	ns = div64_u64_rem(bucket_missing(b, want) - 1, b->rate, &rem);
	if (ns >= ~0ULL / NSEC_PER_SEC)
		return MRPC_BUCKET_NEVER;
	for (i = 0; i < 3; i++)
		ns = ns * 1000 + div64_u64_rem(rem * 1000, b->rate, &rem);
	ns += div64_u64(rem + NSEC_PER_SEC - b->part + b->rate - 1, b->rate);
	if (check_add_overflow(b->last, ns, &when))
		return MRPC_BUCKET_NEVER;
	return when;
}

static bool bucket_valid(u64 rate, u64 burst)
{
	if (rate == MRPC_BUCKET_UNLIMITED)
		return true;
	return rate && rate <= MRPC_BUCKET_MAX_RATE && burst && burst <= MRPC_BUCKET_MAX_BURST;
}

int mrpc_bucket_init(struct mrpc_bucket *b, u64 now, u64 rate, u64 burst)
{
	if (!bucket_valid(rate, burst))
		return -EINVAL;
	*b = (struct mrpc_bucket){ .rate = rate, .last = now };
	if (rate == MRPC_BUCKET_UNLIMITED)
		return 0;
	b->burst = burst;
	b->level = burst;
	b->rate_div = div_u64_rem(rate, NSEC_PER_SEC, &b->rate_mod);
	return 0;
}

int mrpc_bucket_set(struct mrpc_bucket *b, u64 now, u64 rate, u64 burst)
{
	struct mrpc_bucket old = *b;
	int ret;

	ret = mrpc_bucket_init(b, now, rate, burst);
	if (ret || rate == MRPC_BUCKET_UNLIMITED || old.rate == MRPC_BUCKET_UNLIMITED)
		return ret;
	bucket_fill(&old, now);
	b->last = old.last;
	if (old.level < b->level) {
		b->level = old.level;
		b->part = old.part;
	}
	return 0;
}

s64 mrpc_bucket_level(const struct mrpc_bucket *b, u64 now)
{
	struct mrpc_bucket copy = *b;

	if (b->rate == MRPC_BUCKET_UNLIMITED)
		return S64_MAX;
	bucket_fill(&copy, now);
	return copy.level;
}
