// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Returns what is no verdict, for each message. */
#include "mrpc_policy.bpf.h"

char _license[] SEC("license") = "GPL";

int verdict = 77;

MRPC_POLICY(wrong_tx)
{
	return verdict;
}

MRPC_POLICY_OPS struct mrpc_policy_ops wrong = {
	.request_tx	= (void *)wrong_tx,
	.name		= "wrong",
};
