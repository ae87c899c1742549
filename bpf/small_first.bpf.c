// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Small messages first: the priority of a message is the higher the smaller it is, in
 * steps of an eighth of a power of two. A small message is sent quickly, so a large one behind
 * it hardly waits longer, while a small one would wait long behind a large one.
 *
 *	mrpc policy load small_first.bpf.o
 *	mrpc engine add small_first
 *	mrpc egress set dev eth0 discipline strict
 *
 * The last line makes the link go by priorities; without it they are only written
 * into the requests. What applications have asked for is overridden.
 */
#include "mrpc_policy.bpf.h"
#include "log2.bpf.h"

char _license[] SEC("license") = "GPL";

static __always_inline int rank(struct mrpc_policy_ctx *ctx)
{
	bpf_mrpc_set_priority(ctx, 255 - log2_steps(ctx->size, 3));
	return MRPC_POLICY_PASS;
}

MRPC_POLICY(small_request)
{
	return rank(ctx);
}

MRPC_POLICY(small_reply)
{
	return rank(ctx);
}

MRPC_POLICY_OPS struct mrpc_policy_ops small_first = {
	.request_tx	= (void *)small_request,
	.reply_tx	= (void *)small_reply,
	.name		= "small_first",
	.flags		= MRPC_POLICY_RANKS,
};
