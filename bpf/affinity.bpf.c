// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Calls with the same key go to the same replica, whose caches know it, from all clients, as
 * with lb's policy "hash". But no replica gets more than its share of the calls that a connection
 * has under way, and a half: what is too much for the first in the key's order goes to the
 * second, and so on. A hot key is spread over a few replicas, always the same.
 *
 *	mrpc policy load affinity.bpf.o
 *	mrpc engine add lb scope service kv.Store side client chooser affinity \
 *		members tcp:10.0.0.1:7000,tcp:10.0.0.2:7000,tcp:10.0.0.3:7000
 *
 * The key is field "key", of which up to 64 bytes count. Calls without one go as lb's own policy
 * says. Map "slack" has what a replica may have more than its share, in percent: 50.
 */
#include <stdbool.h>

#include "mrpc_policy.bpf.h"

#define WORDS	8	/* of a key */

char _license[] SEC("license") = "GPL";

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} slack SEC(".maps");

enum { KEY };			/* fields */
enum { FIRST, OTHER, NO_KEY };	/* counters: in the key's order */

static __always_inline __u64 mix(__u64 sum, __u64 word)
{
	sum = (sum ^ word) * 0x9e3779b97f4a7c15;
	return sum ^ sum >> 29;
}

/* What is under way: a share of it, by weight, is what a replica may have. */
struct load {
	__u64 calls;
	__u64 weight;
};

static __always_inline struct load load_of(struct mrpc_lb_set *set)
{
	struct load all = { .calls = 1 };	/* the one at hand */
	struct mrpc_lb_candidate *c;
	__u32 i;

	for (i = 0; i < MRPC_LB_CANDIDATES; i++) {
		c = bpf_mrpc_candidate(set, i);
		if (!c)
			break;
		if (!c->fit)
			continue;
		all.calls += c->outstanding;
		all.weight += c->weight;
	}
	return all;
}

static __always_inline __u64 more(void)
{
	__u32 zero = 0, *percent = bpf_map_lookup_elem(&slack, &zero);

	return percent && *percent ? *percent : 50;
}

/* One has room always: not all can have more than their share. */
static __always_inline int choose(struct mrpc_lb_set *set, __u64 hash, bool *first)
{
	__u64 score, best = 0, best_with_room = 0, percent = 100 + more();
	struct load all = load_of(set);
	struct mrpc_lb_candidate *c;
	int i, owner = MRPC_LB_ANY, chosen = MRPC_LB_ANY;

	for (i = 0; i < MRPC_LB_CANDIDATES; i++) {
		c = bpf_mrpc_candidate(set, i);
		if (!c)
			break;
		if (!c->fit)
			continue;
		score = mix(mix(hash, c->key), 0) | 1;
		if (score > best) {
			best = score;
			owner = i;
		}
		if (score > best_with_room &&
		    c->outstanding * all.weight * 100 < all.calls * c->weight * percent) {
			best_with_room = score;
			chosen = i;
		}
	}
	*first = chosen == owner;
	return chosen;
}

MRPC_LB_PICK(affinity_pick)
{
	__u64 key[WORDS], hash = 0;
	bool first;
	int i, chosen;

	if (bpf_mrpc_field_data(ctx, KEY, 0, key, sizeof(key)) < 0) {
		bpf_mrpc_count(ctx, NO_KEY, 1);
		return MRPC_LB_ANY;
	}
	for (i = 0; i < WORDS; i++)
		hash = mix(hash, key[i]);
	chosen = choose(set, hash, &first);
	bpf_mrpc_count(ctx, first ? FIRST : OTHER, 1);
	return chosen;
}

MRPC_POLICY_OPS struct mrpc_lb_ops affinity = {
	.pick		= (void *)affinity_pick,
	.name		= "affinity",
	.fields		= { [KEY] = "key" },
	.counters	= { [FIRST] = "first", [OTHER] = "other", [NO_KEY] = "no_key" },
};
