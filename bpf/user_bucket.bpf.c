// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * A token bucket for each user, over all of the user's connections on this host: so many
 * requests a second, and so many at once after a pause. One that comes too early waits, if
 * that is not longer than the operator allows, or else fails with RESOURCE_EXHAUSTED.
 *
 *	mrpc policy load user_bucket.bpf.o
 *	mrpc engine add user_bucket scope side client
 *
 * Map "limits" has them, by user id; the entry of 0xffffffff is for all others, and without it
 * they have no limit. For user 1000, 500 a second, 50 at once, and no call waits:
 *
 *	bpftool map update pinned /sys/fs/bpf/mrpc/user_bucket/maps/limits \
 *		key hex e8 03 00 00 value hex f4 01 00 00  32 00 00 00  00 00 00 00
 *
 * A bucket is one time: when it will be full again. Each request takes that further by the
 * time that one token needs.
 */
#include "mrpc_policy.bpf.h"

#define OTHERS	0xffffffff
#define SECOND	1000000000ULL
#define NEVER	(~0ULL)

char _license[] SEC("license") = "GPL";

struct limit {
	__u32 rate;		/* requests a second; 0: none pass */
	__u32 burst;		/* at once after a pause, at least 1 */
	__u32 patience_ms;	/* how long one may wait, below a minute */
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__type(key, __u32);
	__type(value, struct limit);
} limits SEC(".maps");

struct bucket {
	struct bpf_spin_lock lock;
	__u32 rate;		/* that it was made for */
	__u64 full;		/* CLOCK_MONOTONIC ns */
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__type(key, __u32);
	__type(value, struct bucket);
} buckets SEC(".maps");

enum { LIMITED };

static __always_inline struct bucket *bucket_of(__u32 uid)
{
	struct bucket *bucket = bpf_map_lookup_elem(&buckets, &uid), empty = {};

	if (bucket)
		return bucket;
	bpf_map_update_elem(&buckets, &uid, &empty, BPF_NOEXIST);
	return bpf_map_lookup_elem(&buckets, &uid);
}

/* Return: how long the request waits for its token; NEVER: longer than it may. */
static __always_inline __u64 take(struct bucket *bucket, const struct limit *limit)
{
	__u64 token = SECOND / (limit->rate ? limit->rate : 1);
	__u64 deep = token * (limit->burst ? limit->burst : 1);
	__u64 patience = limit->patience_ms * 1000000ULL;
	__u64 now = bpf_ktime_get_ns(), full, wait;

	bpf_spin_lock(&bucket->lock);
	full = bucket->full > now ? bucket->full : now;
	if (bucket->rate != limit->rate) {	/* what had been spent was something else */
		bucket->rate = limit->rate;
		full = now;
	}
	wait = full + token > now + deep ? full + token - now - deep : 0;
	bucket->full = wait <= patience ? full + token : full;
	bpf_spin_unlock(&bucket->lock);
	return wait <= patience ? wait : NEVER;
}

MRPC_POLICY(bucket_request)
{
	__u32 uid = ctx->uid, others = OTHERS;
	struct limit *limit = bpf_map_lookup_elem(&limits, &uid);
	struct bucket *bucket;
	__u64 wait = NEVER;

	if (!limit)
		limit = bpf_map_lookup_elem(&limits, &others);
	if (!limit)
		return MRPC_POLICY_PASS;
	bucket = bucket_of(uid);
	if (bucket && limit->rate)
		wait = take(bucket, limit);
	if (!wait)
		return MRPC_POLICY_PASS;
	bpf_mrpc_count(ctx, LIMITED, 1);
	if (wait != NEVER && !bpf_mrpc_delay(ctx, wait))
		return MRPC_POLICY_DELAY;
	bpf_mrpc_status(ctx, MRPC_POLICY_RESOURCE_EXHAUSTED, "this user makes too many calls");
	return MRPC_POLICY_REJECT;
}

MRPC_POLICY_OPS struct mrpc_policy_ops user_bucket = {
	.request_tx	= (void *)bucket_request,
	.name		= "user_bucket",
	.counters	= { [LIMITED] = "limited" },
};
