// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Sheds load that is of no use: requests that have waited too long already, and requests whose
 * caller will have given up before the answer. Under overload the server then has time for
 * requests that can still be answered in time.
 *
 *	mrpc policy load shed.bpf.o
 *	mrpc engine add shed scope service kv.Store side server
 *
 * At a client, behind an engine that makes requests wait, it sheds by their whole age;
 * at a server by the time since they have arrived, and by what is left of their
 * deadline. Map "limits" has one entry; here 20 ms of age, and 5 ms that an answer takes:
 *
 *	bpftool map update pinned /sys/fs/bpf/mrpc/shed/maps/limits key hex 0 0 0 0 \
 *		value hex 00 2d 31 01 00 00 00 00  40 4b 4c 00 00 00 00 00
 */
#include "mrpc_policy.bpf.h"

char _license[] SEC("license") = "GPL";

struct limits {
	__u64 age;	/* ns a request may have; 0: any */
	__u64 need;	/* ns it must have left; 0: nothing */
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct limits);
} limits SEC(".maps");

enum { TOO_OLD, TOO_LATE };

static __always_inline int judge(struct mrpc_policy_ctx *ctx)
{
	__u32 zero = 0;
	struct limits *l = bpf_map_lookup_elem(&limits, &zero);

	if (!l)
		return MRPC_POLICY_PASS;
	if (l->age && ctx->age > l->age) {
		bpf_mrpc_count(ctx, TOO_OLD, 1);
		bpf_mrpc_status(ctx, MRPC_POLICY_UNAVAILABLE, "overload: it has waited too long");
		return MRPC_POLICY_REJECT;
	}
	if (l->need && ctx->deadline && ctx->deadline < bpf_ktime_get_ns() + l->need) {
		bpf_mrpc_count(ctx, TOO_LATE, 1);
		bpf_mrpc_status(ctx, MRPC_POLICY_DEADLINE_EXCEEDED, "too little time is left");
		return MRPC_POLICY_REJECT;
	}
	return MRPC_POLICY_PASS;
}

MRPC_POLICY(shed_tx)
{
	return judge(ctx);
}

MRPC_POLICY(shed_rx)
{
	return judge(ctx);
}

MRPC_POLICY_OPS struct mrpc_policy_ops shed = {
	.request_tx	= (void *)shed_tx,
	.request_rx	= (void *)shed_rx,
	.name		= "shed",
	.flags		= MRPC_POLICY_AGES,
	.counters	= { [TOO_OLD] = "too_old", [TOO_LATE] = "too_late" },
};
