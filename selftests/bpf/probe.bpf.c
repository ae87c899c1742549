// SPDX-License-Identifier: GPL-2.0
/* A policy that does what the test says and tells what it sees. */
#include "mrpc_policy.bpf.h"
#include "probe.h"
#include "test.mrpc.bpf.h"

char _license[] SEC("license") = "GPL";

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, PROBE_HOOKS);
	__type(key, __u32);
	__type(value, struct probe_order);
} orders SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, PROBE_HOOKS);
	__type(key, __u32);
	__type(value, struct probe_seen);
} seen SEC(".maps");

static void look(struct mrpc_policy_ctx *ctx, struct probe_seen *s)
{
	__sync_fetch_and_add(&s->runs, 1);
	s->datapath = ctx->datapath;
	s->call = ctx->call;
	s->deadline = ctx->deadline;
	s->age = ctx->age;
	s->generation = ctx->generation;
	s->uid = ctx->uid;
	s->pid = ctx->pid;
	s->size = ctx->size;
	s->meta_len = ctx->meta_len;
	s->method = ctx->method;
	s->status = ctx->status;
	s->kind = ctx->kind;
	s->server = ctx->server;
	s->transmit = ctx->transmit;
	s->priority = ctx->priority;
	s->peer_family = ctx->peer_family;
	s->peer_port = ctx->peer_port;
	__builtin_memcpy(s->peer, ctx->peer, sizeof(s->peer));
}

static void read_all(struct mrpc_policy_ctx *ctx, struct probe_seen *s)
{
	__u32 i;

	for (i = 0; i < PROBE_FIELDS; i++) {
		struct probe_value *v = &s->values[i];
		__u64 num = 0xdead;

		v->num_ret = bpf_mrpc_field_num(ctx, i, &num);
		v->num = num;
		v->data_ret = bpf_mrpc_field_data(ctx, i, 0, v->data, sizeof(v->data));
		v->has = bpf_mrpc_field_has(ctx, i);
	}
	s->meta_ret = bpf_mrpc_meta(ctx, "color", s->meta, sizeof(s->meta));
	s->name_ret = bpf_mrpc_method(ctx, s->name, sizeof(s->name));
	s->identity_ret = bpf_mrpc_identity(ctx, s->identity, sizeof(s->identity));
}

static long spin(__u32 i, void *data)
{
	*(__u64 *)data += i;
	return 0;
}

static void act(struct mrpc_policy_ctx *ctx, const struct probe_order *o, struct probe_seen *s)
{
	__u64 sum = 0, *stored;
	char text[PROBE_TEXT_LEN];

	__builtin_memcpy(text, o->text, sizeof(text));
	if (o->does & PROBE_WRITE_TAG)
		s->did = bpf_mrpc_field_set_num(ctx, PROBE_TAG, o->value);
	if (o->does & PROBE_WRITE_TEXT)
		s->did = bpf_mrpc_field_set_data(ctx, PROBE_TEXT, text, 8);
	if (o->does & PROBE_WRITE_BOOL)
		s->did = bpf_mrpc_field_set_num(ctx, PROBE_BOOL, o->value);
	if (o->does & PROBE_WRITE_DATA)
		s->did = bpf_mrpc_field_set_data(ctx, PROBE_DATA, text, 8);
	if (o->does & PROBE_PRIORITY)
		s->did = bpf_mrpc_set_priority(ctx, o->value);
	if (o->does & PROBE_DEADLINE)
		s->did = bpf_mrpc_set_deadline(ctx, bpf_ktime_get_ns() + o->value);
	if (o->does & PROBE_STATUS)
		s->did = bpf_mrpc_status(ctx, o->status, "as the probe was told");
	if (o->does & PROBE_HOLD)
		s->did = bpf_mrpc_delay(ctx, o->value);
	if (o->does & PROBE_SPIN)
		s->did = bpf_loop(o->value, spin, &sum, 0);
	if (o->does & PROBE_REDIRECT)
		s->did = bpf_mrpc_redirect(ctx, o->value);
	if (o->does & PROBE_REPLICA)
		s->did = bpf_mrpc_replica(ctx, o->value, &s->replica, sizeof(s->replica));
	if (o->does & PROBE_STORE) {
		stored = (void *)bpf_mrpc_storage(ctx, sizeof(*stored));
		if (stored)
			s->stored = ++*stored;
	}
}

static __always_inline int hook(struct mrpc_policy_ctx *ctx, __u32 which)
{
	struct probe_order *o = bpf_map_lookup_elem(&orders, &which);
	struct probe_seen *s = bpf_map_lookup_elem(&seen, &which);

	if (!o || !s || (o->only_method && o->only_method != ctx->method + 1))
		return MRPC_POLICY_PASS;
	look(ctx, s);
	if (o->does & PROBE_READ)
		read_all(ctx, s);
	act(ctx, o, s);
	if (which <= PROBE_REPLY_RX)
		bpf_mrpc_count(ctx, which, 1);
	return o->verdict;
}

MRPC_POLICY(request_tx) { return hook(ctx, PROBE_REQUEST_TX); }
MRPC_POLICY(request_rx) { return hook(ctx, PROBE_REQUEST_RX); }
MRPC_POLICY(reply_tx) { return hook(ctx, PROBE_REPLY_TX); }
MRPC_POLICY(reply_rx) { return hook(ctx, PROBE_REPLY_RX); }
MRPC_POLICY(begin) { return hook(ctx, PROBE_INIT); }
MRPC_POLICY(end) { return hook(ctx, PROBE_EXIT); }
MRPC_POLICY(tick) { return hook(ctx, PROBE_TICK); }

MRPC_POLICY_OPS struct mrpc_policy_ops probe = {
	.request_tx	= (void *)request_tx,
	.request_rx	= (void *)request_rx,
	.reply_tx	= (void *)reply_tx,
	.reply_rx	= (void *)reply_rx,
	.init		= (void *)begin,
	.exit		= (void *)end,
	.tick		= (void *)tick,
	.name		= "probe",
	.flags		= MRPC_POLICY_WRITES | MRPC_POLICY_RANKS | MRPC_POLICY_AGES,
	.storage	= 16,
	.period		= 20000000,
	.fields		= {
		[PROBE_TAG]		= TEST_BLOB__TAG,
		[PROBE_TEXT]		= TEST_BLOB__TEXT,
		[PROBE_DATA]		= TEST_BLOB__DATA,
		[PROBE_DATA_LEN]	= "data#",
		[PROBE_NAME]		= "f_leaf.name",
		[PROBE_BOOL]		= TEST_ALL__F_BOOL,
		[PROBE_OPTIONAL]	= "o_int32",
		[PROBE_ITEM]		= "r_int32[1]",
		[PROBE_ENTRY]		= TEST_ALL__M_LEAF__NUMBER(7),
		[PROBE_DOUBLE]		= "f_double",
		[PROBE_COUNT]		= "r_leaf#",
		[PROBE_LEAF]		= TEST_ALL__F_LEAF,
	},
	.counters	= { "request_tx", "request_rx", "reply_tx", "reply_rx" },
};

/* Judges requests of clients alone, and declares nothing: what a policy costs. */
MRPC_POLICY(nothing) { return MRPC_POLICY_PASS; }

MRPC_POLICY_OPS struct mrpc_policy_ops empty = {
	.request_tx	= (void *)nothing,
	.name		= "empty",
};
