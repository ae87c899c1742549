// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Calls what the kernel does not have. */
#include "mrpc_policy.bpf.h"

char _license[] SEC("license") = "GPL";

int bpf_mrpc_frobnicate(struct mrpc_policy_ctx *ctx) __ksym;

MRPC_POLICY(bad_tx)
{
	return bpf_mrpc_frobnicate(ctx);
}

MRPC_POLICY_OPS struct mrpc_policy_ops bad_function = {
	.request_tx	= (void *)bad_tx,
	.name		= "bad_function",
	.fields		= { "key" },
};
