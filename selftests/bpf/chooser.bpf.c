// SPDX-License-Identifier: GPL-2.0
/* A policy that chooses as the test says and tells what it sees. */
#include "mrpc_policy.bpf.h"
#include "chooser.h"
#include "test.mrpc.bpf.h"

char _license[] SEC("license") = "GPL";

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, CHOOSER_HOOKS);
	__type(key, __u32);
	__type(value, struct chooser_order);
} orders SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, CHOOSER_HOOKS);
	__type(key, __u32);
	__type(value, struct chooser_seen);
} seen SEC(".maps");

static long spin(__u32 i, void *data)
{
	*(__u64 *)data += i;
	return 0;
}

static void misuse(struct mrpc_policy_ctx *ctx, struct chooser_seen *s)
{
	s->misuse[0] = bpf_mrpc_status(ctx, MRPC_POLICY_ABORTED, "not here");
	s->misuse[1] = bpf_mrpc_delay(ctx, 1);
	s->misuse[2] = bpf_mrpc_set_priority(ctx, 7);
	s->misuse[3] = bpf_mrpc_set_deadline(ctx, bpf_ktime_get_ns());
	s->misuse[4] = bpf_mrpc_redirect(ctx, 0);
	s->misuse[5] = bpf_mrpc_field_set_num(ctx, CHOOSER_TAG, 1);
}

/* What all hooks do. Return: what the test says, or NULL. */
static __always_inline struct chooser_order *act(struct mrpc_policy_ctx *ctx, __u32 which,
						 struct chooser_seen **to)
{
	struct chooser_order *o = bpf_map_lookup_elem(&orders, &which);
	struct chooser_seen *s = bpf_map_lookup_elem(&seen, &which);
	__u64 sum = 0, *stored;

	if (!o || !s)
		return 0;
	*to = s;
	__sync_fetch_and_add(&s->runs, 1);
	s->datapath = ctx->datapath;
	s->call = ctx->call;
	s->generation = ctx->generation;
	s->age = ctx->age;
	s->kind = ctx->kind;
	s->method = ctx->method;
	if (o->does & CHOOSER_READ) {
		s->tag_ret = bpf_mrpc_field_num(ctx, CHOOSER_TAG, &s->tag);
		s->text_ret = bpf_mrpc_field_data(ctx, CHOOSER_TEXT, 0, s->text, sizeof(s->text));
		bpf_mrpc_method(ctx, s->name, sizeof(s->name));
	}
	if (o->does & CHOOSER_MISUSE)
		misuse(ctx, s);
	if (o->does & CHOOSER_SPIN)
		bpf_loop(o->value, spin, &sum, 0);
	if (o->does & CHOOSER_STORE) {
		stored = (void *)bpf_mrpc_storage(ctx, sizeof(*stored));
		if (stored)
			s->stored = __sync_fetch_and_add(stored, 1) + 1;
	}
	return o;
}

static void look(struct mrpc_lb_set *set, struct chooser_seen *s)
{
	struct mrpc_lb_candidate *c;
	__u32 i;

	s->looked = 0;
	for (i = 0; i < MRPC_LB_CANDIDATES + 2; i++) {
		c = bpf_mrpc_candidate(set, i);
		if (!c || i >= MRPC_LB_CANDIDATES)
			break;
		s->looked++;
		s->all[i].key = c->key;
		s->all[i].picks = c->picks;
		s->all[i].failures = c->failures;
		s->all[i].latency = c->latency;
		s->all[i].weight = c->weight;
		s->all[i].outstanding = c->outstanding;
		s->all[i].bad = c->bad;
		s->all[i].state = c->state;
		s->all[i].fit = c->fit;
	}
}

MRPC_LB_PICK(pick)
{
	struct chooser_seen *s;
	struct chooser_order *o = act(ctx, CHOOSER_PICK, &s);
	__u64 tag = 0;

	if (!o)
		return MRPC_LB_ANY;
	s->nr = set->nr;
	s->fit = set->fit;
	if (o->does & CHOOSER_LOOK)
		look(set, s);
	bpf_mrpc_count(ctx, CHOOSER_PICKED, 1);
	if (o->does & CHOOSER_BY_TAG && !bpf_mrpc_field_num(ctx, CHOOSER_TAG, &tag))
		return tag;
	return o->answer;
}

MRPC_LB_DONE(done)
{
	struct chooser_seen *s;

	if (!act(ctx, CHOOSER_DONE, &s))
		return;
	s->end.key = end->key;
	s->end.latency = end->latency;
	s->end.index = end->index;
	s->end.status = end->status;
	s->end.sent = end->sent;
	__sync_fetch_and_add(&s->not_sent, !end->sent);
	__sync_fetch_and_add(&s->unavailable, end->status == MRPC_POLICY_UNAVAILABLE);
	bpf_mrpc_count(ctx, CHOOSER_ENDED, 1);
}

static __always_inline int other(struct mrpc_policy_ctx *ctx, __u32 which)
{
	struct chooser_seen *s;
	struct chooser_order *o = act(ctx, which, &s);

	return o ? o->answer : 0;
}

MRPC_POLICY(begin) { return other(ctx, CHOOSER_INIT); }
MRPC_POLICY(end) { return other(ctx, CHOOSER_EXIT); }
MRPC_POLICY(tick) { return other(ctx, CHOOSER_TICK); }

MRPC_POLICY_OPS struct mrpc_lb_ops chooser = {
	.pick		= (void *)pick,
	.done		= (void *)done,
	.init		= (void *)begin,
	.exit		= (void *)end,
	.tick		= (void *)tick,
	.name		= "chooser",
	.flags		= MRPC_POLICY_AGES,
	.storage	= 16,
	.period		= 20000000,
	.fields		= { [CHOOSER_TAG] = TEST_BLOB__TAG, [CHOOSER_TEXT] = TEST_BLOB__TEXT },
	.counters	= { [CHOOSER_PICKED] = "picked", [CHOOSER_ENDED] = "ended" },
};

/* Is told of calls alone. */
MRPC_LB_DONE(listen)
{
	bpf_mrpc_count(ctx, 0, 1);
}

MRPC_POLICY_OPS struct mrpc_lb_ops listener = {
	.done		= (void *)listen,
	.name		= "listener",
	.counters	= { "heard" },
};
