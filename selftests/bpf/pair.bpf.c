// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Two policies; the second has the name of an engine type of a module. */
#include "mrpc_policy.bpf.h"

char _license[] SEC("license") = "GPL";

MRPC_POLICY(pass)
{
	return MRPC_POLICY_PASS;
}

MRPC_POLICY_OPS struct mrpc_policy_ops a_first = {
	.request_tx = (void *)pass, .name = "first", .version = 3,
};

MRPC_POLICY_OPS struct mrpc_policy_ops b_second = {
	.request_tx = (void *)pass, .name = "null",
};
