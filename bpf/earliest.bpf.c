// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * An egress discipline: the earliest deadline first, to the nanosecond. What has none goes
 * behind all that has, the highest priority first.
 *
 *	mrpc policy load earliest.bpf.o
 *	mrpc egress set dev eth0 discipline earliest
 *
 * The discipline "deadline", which needs no policy, does so, too; but what has none leaves as it
 * came there.
 *
 * A call's deadline is that of its application, or what a policy has set; a reply has that of
 * its request.
 */
#include "mrpc_policy.bpf.h"

#define NEVER	(1ULL << 63)

char _license[] SEC("license") = "GPL";

MRPC_SCHED_RANK(earliest_rank)
{
	return q->deadline ?: NEVER + 255 - q->priority;
}

MRPC_POLICY_OPS struct mrpc_sched_ops earliest = {
	.rank	= (void *)earliest_rank,
	.name	= "earliest",
};
