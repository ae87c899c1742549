// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Writes where it may only read. */
#include "mrpc_policy.bpf.h"

char _license[] SEC("license") = "GPL";

MRPC_SCHED_RANK(bad_rank)
{
	q->priority = 3;
	return 0;
}

MRPC_POLICY_OPS struct mrpc_sched_ops bad_rank_write = {
	.rank	= (void *)bad_rank,
	.name	= "bad_rank_write",
};
