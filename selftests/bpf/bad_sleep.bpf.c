// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Is a program that may sleep. */
#include "mrpc_policy.bpf.h"

char _license[] SEC("license") = "GPL";

SEC("struct_ops.s/bad_tx")
int bad_tx(unsigned long long *args)
{
	return MRPC_POLICY_PASS;
}

MRPC_POLICY_OPS struct mrpc_policy_ops bad_sleep = {
	.request_tx	= (void *)bad_tx,
	.name		= "bad_sleep",
	.fields		= { "key" },
};
