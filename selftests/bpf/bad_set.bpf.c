// SPDX-License-Identifier: GPL-2.0
/* Writes what there is to choose from. */
#include "mrpc_policy.bpf.h"

char _license[] SEC("license") = "GPL";

MRPC_LB_PICK(bad_pick)
{
	set->fit = 0;
	return 0;
}

MRPC_POLICY_OPS struct mrpc_lb_ops bad = {
	.pick	= (void *)bad_pick,
	.name	= "bad",
};
