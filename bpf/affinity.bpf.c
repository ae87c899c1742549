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

/* Two walks over the candidates: the first sums calls in flight, the second chooses. */
struct walk {
	struct mrpc_lb_set *set;
	__u64 hash;
	__u64 percent;
	__u64 calls;		/* under way, with the one at hand */
	__u64 weight;		/* of all */
	__u64 best;
	__u64 best_with_room;
	__s64 owner;
	__s64 chosen;
};

static long add_up(__u32 i, struct walk *w)
{
	struct mrpc_lb_candidate *c = bpf_mrpc_candidate(w->set, i);

	if (!c)
		return 1;
	if (c->fit) {
		w->calls += c->outstanding;
		w->weight += c->weight;
	}
	return 0;
}

static long compare(__u32 i, struct walk *w)
{
	struct mrpc_lb_candidate *c = bpf_mrpc_candidate(w->set, i);
	__u64 score;

	if (!c)
		return 1;
	if (!c->fit)
		return 0;
	score = mix(mix(w->hash, c->key), 0) | 1;
	if (score > w->best) {
		w->best = score;
		w->owner = i;
	}
	if (score > w->best_with_room &&
	    c->outstanding * w->weight * 100 < w->calls * c->weight * w->percent) {
		w->best_with_room = score;
		w->chosen = i;
	}
	return 0;
}

static __always_inline __u64 more(void)
{
	__u32 zero = 0, *percent = bpf_map_lookup_elem(&slack, &zero);

	return percent && *percent ? *percent : 50;
}

/* One has room always: not all can have more than their share. */
static __always_inline int choose(struct mrpc_lb_set *set, __u64 hash, bool *first)
{
	struct walk w = {
		.set = set,
		.hash = hash,
		.percent = 100 + more(),
		.calls = 1,
		.owner = MRPC_LB_ANY,
		.chosen = MRPC_LB_ANY,
	};

	bpf_loop(set->nr, add_up, &w, 0);
	bpf_loop(set->nr, compare, &w, 0);
	*first = w.chosen == w.owner;
	return w.chosen;
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
