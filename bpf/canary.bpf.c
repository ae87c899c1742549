// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * A share of the requests for the canary: the one replica that runs the new version.
 *
 * A policy cannot send a request elsewhere itself. It writes a number into a field, and
 * the lb engine behind it, with policy "hash" over that field, takes those with one number to
 * one replica, as long as it is fit:
 *
 *	mrpc policy load canary.bpf.o
 *	mrpc engine add canary scope service kv.Store side client
 *	mrpc engine add lb scope service kv.Store side client after canary policy hash \
 *		field shard members tcp:10.0.0.1:7000,tcp:10.0.0.2:7000
 *
 * Which number goes to which replica is lb's choice: try some, and write one that goes to the
 * canary and one that does not into map "rule", with the canary's share in hundredths of a
 * percent. All other requests go to one replica, too: for more, use several numbers. Requests
 * with the same key (field "key", up to 64 bytes) go the same way as long as the share
 * stays; keys in map "always" go to the canary. Those without a key are drawn by lot.
 *
 * At the canary's own host ("side server"), with "gate" set, requests that are not marked
 * for it are rejected, so a client with a wrong route learns it.
 */
#include <stdbool.h>

#include "mrpc_policy.bpf.h"

#define WORDS	8	/* of a key */
#define ALL	10000

char _license[] SEC("license") = "GPL";

struct rule {
	__u64 canary;	/* what is written into requests for it */
	__u64 others;	/* and into the others */
	__u32 share;
	__u32 gate;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct rule);
} rule SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 100000);
	__type(key, __u64[WORDS]);
	__type(value, __u8);
} always SEC(".maps");

enum { KEY, SHARD };
enum { CANARY, OTHERS };

static __always_inline bool chosen(struct mrpc_policy_ctx *ctx, __u32 share)
{
	__u64 key[WORDS], sum = 0;
	int i;

	if (bpf_mrpc_field_data(ctx, KEY, 0, key, sizeof(key)) < 0)
		return bpf_get_prandom_u32() % ALL < share;
	if (bpf_map_lookup_elem(&always, key))
		return true;
	for (i = 0; i < WORDS; i++) {
		sum = (sum ^ key[i]) * 0x9e3779b97f4a7c15;
		sum ^= sum >> 32;
	}
	return sum % ALL < share;
}

MRPC_POLICY(canary_request)
{
	__u32 zero = 0;
	struct rule *r = bpf_map_lookup_elem(&rule, &zero);
	bool canary;

	if (!r || !bpf_mrpc_field_has(ctx, SHARD))
		return MRPC_POLICY_PASS;
	canary = chosen(ctx, r->share);
	if (bpf_mrpc_field_set_num(ctx, SHARD, canary ? r->canary : r->others))
		return MRPC_POLICY_REJECT;
	bpf_mrpc_count(ctx, canary ? CANARY : OTHERS, 1);
	return MRPC_POLICY_PASS;
}

MRPC_POLICY(canary_gate)
{
	__u32 zero = 0;
	struct rule *r = bpf_map_lookup_elem(&rule, &zero);
	__u64 shard = 0;

	if (!r || !r->gate || !bpf_mrpc_field_has(ctx, SHARD) ||
	    (!bpf_mrpc_field_num(ctx, SHARD, &shard) && shard == r->canary))
		return MRPC_POLICY_PASS;
	bpf_mrpc_status(ctx, MRPC_POLICY_FAILED_PRECONDITION, "it is not for the canary");
	return MRPC_POLICY_REJECT;
}

MRPC_POLICY_OPS struct mrpc_policy_ops canary = {
	.request_tx	= (void *)canary_request,
	.request_rx	= (void *)canary_gate,
	.name		= "canary",
	.flags		= MRPC_POLICY_WRITES,
	.fields		= { [KEY] = "key", [SHARD] = "shard" },
	.counters	= { [CANARY] = "canary", [OTHERS] = "others" },
};
