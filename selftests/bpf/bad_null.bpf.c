// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Does not look whether a key is there. */
#include "mrpc_policy.bpf.h"

char _license[] SEC("license") = "GPL";

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} values SEC(".maps");

MRPC_POLICY(bad_tx)
{
	__u32 key = ctx->uid, *value = bpf_map_lookup_elem(&values, &key);

	return *value;
}

MRPC_POLICY_OPS struct mrpc_policy_ops bad_null = {
	.request_tx	= (void *)bad_tx,
	.name		= "bad_null",
	.fields		= { "key" },
};
