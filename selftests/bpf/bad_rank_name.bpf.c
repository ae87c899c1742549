// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Has the name of a discipline that is no policy. */
#include "mrpc_policy.bpf.h"

char _license[] SEC("license") = "GPL";

MRPC_SCHED_RANK(bad_rank)
{
	return q->left;
}

MRPC_POLICY_OPS struct mrpc_sched_ops bad_rank_name = {
	.rank	= (void *)bad_rank,
	.name	= "strict",
};
