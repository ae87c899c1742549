// SPDX-License-Identifier: GPL-2.0
#include "lib/ds/hist.h"

void mrpc_hist_merge(struct mrpc_hist *to, const struct mrpc_hist *from)
{
	u32 i;

	to->sum += READ_ONCE(from->sum);
	to->max = max(to->max, READ_ONCE(from->max));
	for (i = 0; i < MRPC_HIST_BUCKETS; i++)
		to->count[i] += READ_ONCE(from->count[i]);
}

u64 mrpc_hist_total(const struct mrpc_hist *h)
{
	u64 total = 0;
	u32 i;

	for (i = 0; i < MRPC_HIST_BUCKETS; i++)
		total += READ_ONCE(h->count[i]);
	return total;
}

/* @total * @millionths / 10^6, rounded up, at least 1. */
static u64 hist_rank(u64 total, u32 millionths)
{
	u32 rem, over;
	u64 rank;

	if (millionths >= 1000000)
		return total;
	rank = div_u64_rem(total, 1000000, &rem) * millionths;
	rank += div_u64_rem((u64)rem * millionths, 1000000, &over);
	return max_t(u64, rank + !!over, 1);
}

u64 mrpc_hist_quantile(const struct mrpc_hist *h, u32 millionths)
{
	u64 total = mrpc_hist_total(h);
	u64 rank = hist_rank(total, millionths);
	u32 i;

	if (!total)
		return 0;
	for (i = 0; i < MRPC_HIST_BUCKETS - 1 && rank > h->count[i]; i++)
		rank -= h->count[i];
	/* A copy taken while a value was being counted can miss it in @max. */
	return max(mrpc_hist_low(i), min(mrpc_hist_high(i), h->max));
}
