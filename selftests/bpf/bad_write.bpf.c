// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Writes where it may only read. */
#include "mrpc_policy.bpf.h"

char _license[] SEC("license") = "GPL";

MRPC_POLICY(bad_tx)
{
	ctx->priority = 3;
	return MRPC_POLICY_PASS;
}

MRPC_POLICY_OPS struct mrpc_policy_ops bad_write = {
	.request_tx	= (void *)bad_tx,
	.name		= "bad_write",
	.fields		= { "key" },
};
