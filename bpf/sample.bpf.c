// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Follows one call in so many: a line for each of the four places where it passes. The
 * choice goes by the call's id alone, so a call that is followed at the client is followed
 * at the server, too. (Ids are given in order on each connection, so the first calls of all
 * connections are chosen, or not, alike.)
 *
 *	mrpc policy load sample.bpf.o
 *	mrpc engine add sample
 *	mrpc-sample
 *
 * Map "config" has one number: one call in so many, 0, as at first, for none. For all:
 *
 *	bpftool map update pinned /sys/fs/bpf/mrpc/sample/maps/config \
 *		key hex 0 0 0 0 value hex 1 0 0 0
 *
 * Without a reader, or with a slow one, samples are counted as lost; calls never wait.
 */
#include <stdbool.h>

#include "mrpc_policy.bpf.h"
#include "sample.h"

char _license[] SEC("license") = "GPL";

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} config SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 20);
} samples SEC(".maps");

enum { SAMPLED, LOST };

static __always_inline bool chosen(__u64 call)
{
	__u32 zero = 0, *one_in = bpf_map_lookup_elem(&config, &zero);

	return one_in && *one_in && (call * 0x9e3779b97f4a7c15 >> 32) % *one_in == 0;
}

static __always_inline void fill(struct mrpc_policy_ctx *ctx, struct sample *s)
{
	s->time = bpf_ktime_get_ns();
	s->call = ctx->call;
	s->left = ctx->deadline > s->time ? ctx->deadline - s->time : !!ctx->deadline;
	s->age = ctx->age;
	s->datapath = ctx->datapath;
	s->uid = ctx->uid;
	s->pid = ctx->pid;
	s->size = ctx->size;
	s->status = ctx->status;
	s->priority = ctx->priority;
	s->server = ctx->server;
	s->transmit = ctx->transmit;
	s->reply = ctx->kind == MRPC_POLICY_REPLY;
	s->peer_family = ctx->peer_family;
	s->peer_port = ctx->peer_port;
	__builtin_memset(s->resv, 0, sizeof(s->resv));
	__builtin_memcpy(s->peer, ctx->peer, sizeof(s->peer));
	bpf_mrpc_method(ctx, s->method, sizeof(s->method));
}

static __always_inline int look(struct mrpc_policy_ctx *ctx)
{
	struct sample *s;

	if (!chosen(ctx->call))
		return MRPC_POLICY_PASS;
	s = bpf_ringbuf_reserve(&samples, sizeof(*s), 0);
	bpf_mrpc_count(ctx, s ? SAMPLED : LOST, 1);
	if (s) {
		fill(ctx, s);
		bpf_ringbuf_submit(s, 0);
	}
	return MRPC_POLICY_PASS;
}

MRPC_POLICY(sample_request_tx) { return look(ctx); }
MRPC_POLICY(sample_request_rx) { return look(ctx); }
MRPC_POLICY(sample_reply_tx) { return look(ctx); }
MRPC_POLICY(sample_reply_rx) { return look(ctx); }

MRPC_POLICY_OPS struct mrpc_policy_ops sample = {
	.request_tx	= (void *)sample_request_tx,
	.request_rx	= (void *)sample_request_rx,
	.reply_tx	= (void *)sample_reply_tx,
	.reply_rx	= (void *)sample_reply_rx,
	.name		= "sample",
	.flags		= MRPC_POLICY_AGES,
	.counters	= { [SAMPLED] = "sampled", [LOST] = "lost" },
};
