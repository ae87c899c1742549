// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Has a loop without an end. */
#include "mrpc_policy.bpf.h"

char _license[] SEC("license") = "GPL";

MRPC_POLICY(bad_tx)
{
	volatile __u32 turns = ctx->size;

	while (turns != 1)
		turns = turns + 2;
	return MRPC_POLICY_PASS;
}

MRPC_POLICY_OPS struct mrpc_policy_ops bad_loop = {
	.request_tx	= (void *)bad_tx,
	.name		= "bad_loop",
	.fields		= { "key" },
};
