// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Denies keys that are in a map; keeper_*.bpf.c are what it can, or cannot, be replaced with. */
#include "mrpc_policy.bpf.h"

#ifndef KEY_LEN
#define KEY_LEN	64
#endif
#ifndef DETAIL
#define DETAIL	"kept out"
#endif
#ifndef LIMIT
#define LIMIT	5
#endif

char _license[] SEC("license") = "GPL";

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 100);
	__type(key, char[KEY_LEN]);
	__type(value, __u8);
} denied SEC(".maps");

__u64 calls;
__u64 limit = LIMIT;
#ifdef MORE_DATA
__u64 more[2] = { 1, 2 };
#endif

MRPC_POLICY(keeper_tx)
{
	char key[64];
	int len = bpf_mrpc_field_data(ctx, 0, 0, key, sizeof(key));

	__sync_fetch_and_add(&calls, 1);
	if (len == -2 /* ENOENT */ || !limit)
		return MRPC_POLICY_PASS;
	if (len >= 0 && !bpf_map_lookup_elem(&denied, key))
		return MRPC_POLICY_PASS;
	bpf_mrpc_count(ctx, 0, 1);
	bpf_mrpc_status(ctx, MRPC_POLICY_PERMISSION_DENIED, DETAIL);
	return MRPC_POLICY_REJECT;
}

#ifdef MORE
MRPC_POLICY(keeper_rx)
{
	return MRPC_POLICY_PASS;
}
#endif

MRPC_POLICY_OPS struct mrpc_policy_ops keeper = {
	.request_tx	= (void *)keeper_tx,
#ifdef MORE
	.reply_rx	= (void *)keeper_rx,
#endif
	.name		= "keeper",
	.fields		= { "key" },
	.counters	= { "kept" },
};
