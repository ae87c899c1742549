// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Is not free. */
#include "mrpc_policy.bpf.h"

char _license[] SEC("license") = "Proprietary";

MRPC_POLICY(bad_tx)
{
	return MRPC_POLICY_PASS;
}

MRPC_POLICY_OPS struct mrpc_policy_ops bad_license = {
	.request_tx	= (void *)bad_tx,
	.name		= "bad_license",
	.fields		= { "key" },
};
