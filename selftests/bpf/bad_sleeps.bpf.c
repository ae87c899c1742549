// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Calls a function that may sleep. */
#include "mrpc_policy.bpf.h"

char _license[] SEC("license") = "GPL";

int bpf_copy_from_user_str(void *dst, __u32 dst__sz, const void *unsafe_ptr__ign,
			   __u64 flags) __ksym;

MRPC_POLICY(bad_tx)
{
	char text[16];

	return bpf_copy_from_user_str(text, sizeof(text), (void *)ctx->call, 0);
}

MRPC_POLICY_OPS struct mrpc_policy_ops bad_sleeps = {
	.request_tx	= (void *)bad_tx,
	.name		= "bad_sleeps",
};
