// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Says that a buffer is larger than it is. */
#include "mrpc_policy.bpf.h"

char _license[] SEC("license") = "GPL";

MRPC_POLICY(bad_tx)
{
	char key[16];

	bpf_mrpc_field_data(ctx, 0, 0, key, 64);
	return key[0] ? MRPC_POLICY_PASS : MRPC_POLICY_REJECT;
}

MRPC_POLICY_OPS struct mrpc_policy_ops bad_size = {
	.request_tx	= (void *)bad_tx,
	.name		= "bad_size",
	.fields		= { "key" },
};
