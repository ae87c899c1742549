// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * An egress discipline: users share a device by weight, however many connections each has
 * (start-time fair queueing).
 *
 *	mrpc policy load user_fair.bpf.o
 *	mrpc egress set dev eth0 discipline user_fair
 *
 * Map "weights" has for a user id the weight, 1 to 10000 (100 where there is none); here
 * 1000's is 400:
 *
 *	bpftool map update pinned /sys/fs/bpf/mrpc/user_fair/maps/weights \
 *		key hex e8 03 00 00 value hex 90 01 00 00
 *
 * A user's time grows with the bytes that the user sends, the faster the smaller the weight. The
 * user with the least time is next. An idle user begins at the time of the latest turn.
 */
#include "mrpc_policy.bpf.h"

#define WEIGHT	100
#define MOST	10000
#define PRESENT	0xffffffff	/* in place of a user */

char _license[] SEC("license") = "GPL";

/* Users of one domain. */
struct key {
	__u64 netns;
	__u32 domain;
	__u32 uid;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__type(key, __u32);
	__type(value, __u32);
} weights SEC(".maps");

/* In units of bytes at weight 1. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 65536);
	__type(key, struct key);
	__type(value, __u64);
} times SEC(".maps");

/* The domain's lock is held, so no other program changes it. NULL: there is no memory. */
static __always_inline __u64 *time_of(struct mrpc_sched_queue *q, __u32 uid)
{
	struct key key = { .netns = q->netns, .domain = q->domain, .uid = uid };
	__u64 *time = bpf_map_lookup_elem(&times, &key), zero = 0;

	if (time)
		return time;
	bpf_map_update_elem(&times, &key, &zero, BPF_NOEXIST);
	return bpf_map_lookup_elem(&times, &key);
}

static __always_inline __u32 weight_of(__u32 uid)
{
	__u32 *weight = bpf_map_lookup_elem(&weights, &uid);

	return weight && *weight && *weight <= MOST ? *weight : WEIGHT;
}

/* The present time of a user that has a message to send. */
static __always_inline __u64 start(struct mrpc_sched_queue *q)
{
	__u64 *time = time_of(q, q->uid), *present = time_of(q, PRESENT);

	if (!time || !present)
		return 0;
	if (*time < *present)
		*time = *present;
	return *time;
}

MRPC_SCHED_RANK(user_rank)
{
	__u64 *ranked = (__u64 *)bpf_mrpc_own(q, sizeof(*ranked)), time = start(q);

	if (ranked)
		*ranked = time;
	return time;
}

/* Since it was ranked, another connection of the same user may have sent. */
MRPC_SCHED_DEQUEUE(user_dequeue)
{
	__u64 *ranked = (__u64 *)bpf_mrpc_own(q, sizeof(*ranked));

	return ranked && *ranked < start(q);
}

MRPC_SCHED_CHARGE(user_charge)
{
	__u64 *time = time_of(q, q->uid), *present = time_of(q, PRESENT), back;
	__u32 weight = weight_of(q->uid);

	if (!time || !present)
		return;
	if (bytes < 0) {	/* perhaps of a turn from before we came */
		back = (__u64)-bytes * MOST / weight;
		*time = *time > back ? *time - back : 0;
		return;
	}
	if (*time > *present)
		*present = *time;
	*time += (__u64)bytes * MOST / weight;
}

MRPC_POLICY_OPS struct mrpc_sched_ops user_fair = {
	.rank		= (void *)user_rank,
	.dequeue	= (void *)user_dequeue,
	.charge		= (void *)user_charge,
	.name		= "user_fair",
};
