// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Egress disciplines for tests: by size, in either direction. One is slow on request. */
#include "mrpc_policy.bpf.h"

char _license[] SEC("license") = "GPL";

__u64 spins;
__u64 ranks, charged;

static long spin(__u32 i, void *arg)
{
	return 0;
}

MRPC_SCHED_RANK(rank_small)
{
	ranks++;
	if (spins)
		bpf_loop(spins, spin, NULL, 0);
	return q->size;
}

MRPC_SCHED_CHARGE(rank_charge)
{
	charged += bytes;
}

MRPC_SCHED_RANK(rank_large)
{
	return -(__u64)q->size;
}

/* Always asks for a new rank: no queue ever has a turn. */
MRPC_SCHED_DEQUEUE(rank_never)
{
	return 1;
}

MRPC_POLICY_OPS struct mrpc_sched_ops small = {
	.rank	= (void *)rank_small,
	.charge	= (void *)rank_charge,
	.name	= "by_size",
};

MRPC_POLICY_OPS struct mrpc_sched_ops large = {
	.rank	= (void *)rank_large,
	.name	= "by_size",
};

MRPC_POLICY_OPS struct mrpc_sched_ops never = {
	.rank		= (void *)rank_large,
	.dequeue	= (void *)rank_never,
	.name		= "never",
};
