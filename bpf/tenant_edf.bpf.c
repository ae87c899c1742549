// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Earliest deadline first, inside classes of tenants: a request of a higher class goes
 * before all of a lower one, and inside a class the request with the least time left goes first.
 * Times differ by half powers of two; requests without a deadline are the last of their class.
 *
 *	mrpc policy load tenant_edf.bpf.o
 *	mrpc engine add tenant_edf scope side client
 *	mrpc egress set dev eth0 discipline strict
 *
 * Map "classes" has for a user id the class, 0 (as without an entry) to 3; here 1000's is 3:
 *
 *	bpftool map update pinned /sys/fs/bpf/mrpc/tenant_edf/maps/classes \
 *		key hex e8 03 00 00 value hex 03 00 00 00
 */
#include "mrpc_policy.bpf.h"
#include "log2.bpf.h"

#define CLASSES	4
#define STEPS	64	/* of priority, in each class */

char _license[] SEC("license") = "GPL";

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__type(key, __u32);
	__type(value, __u32);
} classes SEC(".maps");

/* 0: there is no hurry; STEPS - 1: it should have been there a microsecond ago. */
static __always_inline __u32 urgency(__u64 deadline)
{
	__u64 now = bpf_ktime_get_ns(), us;

	if (!deadline)
		return 0;
	us = deadline > now ? (deadline - now) / 1000 : 0;
	return STEPS - 1 - log2_steps(us >> 32 ? 0xffffffff : us, 1);
}

MRPC_POLICY(edf_request)
{
	__u32 uid = ctx->uid, *class = bpf_map_lookup_elem(&classes, &uid), base = 0;

	if (class)
		base = *class < CLASSES ? *class : CLASSES - 1;
	bpf_mrpc_set_priority(ctx, base * STEPS + urgency(ctx->deadline));
	return MRPC_POLICY_PASS;
}

MRPC_POLICY_OPS struct mrpc_policy_ops tenant_edf = {
	.request_tx	= (void *)edf_request,
	.name		= "tenant_edf",
	.flags		= MRPC_POLICY_RANKS,
};
