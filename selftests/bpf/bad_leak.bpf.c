// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Takes a record of a ring buffer, and does not give it back. */
#include "mrpc_policy.bpf.h"

char _license[] SEC("license") = "GPL";

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
} records SEC(".maps");

MRPC_POLICY(bad_tx)
{
	__u64 *record = bpf_ringbuf_reserve(&records, sizeof(*record), 0);

	if (!record)
		return MRPC_POLICY_PASS;
	*record = ctx->call;
	return MRPC_POLICY_REJECT;
}

MRPC_POLICY_OPS struct mrpc_policy_ops bad_leak = {
	.request_tx	= (void *)bad_tx,
	.name		= "bad_leak",
	.fields		= { "key" },
};
