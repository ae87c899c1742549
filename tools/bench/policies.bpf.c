// SPDX-License-Identifier: GPL-2.0
/* What a policy costs: one that does nothing, and one that does what acl does. */
#include "mrpc_policy.bpf.h"

#define KEY_LEN	32

char _license[] SEC("license") = "GPL";

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 100000);
	__type(key, char[KEY_LEN]);
	__type(value, __u8);
} blocked SEC(".maps");

enum { KEY };

MRPC_POLICY(nothing)
{
	return MRPC_POLICY_PASS;
}

MRPC_POLICY(look_up)
{
	char key[KEY_LEN];

	if (bpf_mrpc_field_data(ctx, KEY, 0, key, sizeof(key)) < 0 ||
	    bpf_map_lookup_elem(&blocked, key))
		return MRPC_POLICY_REJECT;
	return MRPC_POLICY_PASS;
}

MRPC_POLICY_OPS struct mrpc_policy_ops bpf_empty = {
	.request_tx	= (void *)nothing,
	.name		= "bpf_empty",
};

MRPC_POLICY_OPS struct mrpc_policy_ops bpf_acl = {
	.request_tx	= (void *)look_up,
	.name		= "bpf_acl",
	.fields		= { [KEY] = "bench.Request:key" },
};
