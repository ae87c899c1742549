// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Goes beyond what it has asked for. */
#include "mrpc_policy.bpf.h"

char _license[] SEC("license") = "GPL";

MRPC_SCHED_RANK(bad_rank)
{
	__u8 *own = bpf_mrpc_own(q, 8);

	return own ? own[8] : 0;
}

MRPC_POLICY_OPS struct mrpc_sched_ops bad_rank_own = {
	.rank	= (void *)bad_rank,
	.name	= "bad_rank_own",
};
