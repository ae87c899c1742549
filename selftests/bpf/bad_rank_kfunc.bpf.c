// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Calls what is for programs that judge messages. */
#include "mrpc_policy.bpf.h"

char _license[] SEC("license") = "GPL";

MRPC_SCHED_RANK(bad_rank)
{
	return bpf_mrpc_count((struct mrpc_policy_ctx *)q, 0, 1);
}

MRPC_POLICY_OPS struct mrpc_sched_ops bad_rank_kfunc = {
	.rank	= (void *)bad_rank,
	.name	= "bad_rank_kfunc",
};
