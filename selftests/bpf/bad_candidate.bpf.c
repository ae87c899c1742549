// SPDX-License-Identifier: GPL-2.0
/* Does not look whether there is a candidate. */
#include "mrpc_policy.bpf.h"

char _license[] SEC("license") = "GPL";

MRPC_LB_PICK(bad_pick)
{
	return bpf_mrpc_candidate(set, 0)->outstanding ? 1 : 0;
}

MRPC_POLICY_OPS struct mrpc_lb_ops bad = {
	.pick	= (void *)bad_pick,
	.name	= "bad",
};
