// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Power of two choices: of two replicas, drawn by lot, the one that would be done sooner gets
 * the call. That is the number of calls it has, times how long its calls take, for its weight.
 * So a slow replica gets fewer calls before any of them fails, and, unlike with "least", many
 * clients that see the same do not all run to the same replica.
 *
 *	mrpc policy load p2c.bpf.o
 *	mrpc engine add lb scope service kv.Store side client chooser p2c \
 *		members tcp:10.0.0.1:7000,tcp:10.0.0.2:7000,tcp:10.0.0.3:7000
 */
#include "mrpc_policy.bpf.h"

char _license[] SEC("license") = "GPL";

enum { FIRST, SECOND };	/* counters: of the two that were drawn */

/* The index of the fit candidate that has @skip others before it. */
static __always_inline __u32 nth_fit(__u32 fit, __u32 skip)
{
	__u32 i;

	for (i = 0; i < MRPC_LB_CANDIDATES; i++)
		if (fit & 1 << i && !skip--)
			break;
	return i;
}

static __always_inline __u32 count_fit(__u32 fit)
{
	__u32 i, nr = 0;

	for (i = 0; i < MRPC_LB_CANDIDATES; i++)
		nr += fit >> i & 1;
	return nr;
}

/* A replica of unknown latency counts as fast, so that it is tried. */
static __always_inline __u64 load_of(const struct mrpc_lb_candidate *c)
{
	return (__u64)(c->outstanding + 1) * (c->latency / 1000 + 1);
}

MRPC_LB_PICK(p2c_pick)
{
	__u32 fit = set->fit, nr = count_fit(fit), one, two;
	struct mrpc_lb_candidate *a, *b;

	if (nr < 2)
		return MRPC_LB_ANY;
	one = bpf_get_prandom_u32() % nr;
	two = bpf_get_prandom_u32() % (nr - 1);
	two += two >= one;	/* another one */
	one = nth_fit(fit, one);
	two = nth_fit(fit, two);
	a = bpf_mrpc_candidate(set, one);
	b = bpf_mrpc_candidate(set, two);
	if (!a || !b)
		return MRPC_LB_ANY;
	if (load_of(a) * b->weight > load_of(b) * a->weight) {
		bpf_mrpc_count(ctx, SECOND, 1);
		return two;
	}
	bpf_mrpc_count(ctx, FIRST, 1);
	return one;
}

MRPC_POLICY_OPS struct mrpc_lb_ops p2c = {
	.pick		= (void *)p2c_pick,
	.name		= "p2c",
	.counters	= { [FIRST] = "first", [SECOND] = "second" },
};
