/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Egress disciplines in eBPF: policies that rank the datapaths of a domain. See
 * uapi/linux/mrpc_policy.h for what authors see.
 */
#ifndef MRPC_POLICY_RANK_H
#define MRPC_POLICY_RANK_H

#include "egress/domain.h"
#include "policy/policy.h"

extern const struct mrpc_order_ranker mrpc_sched_ranker;

struct mrpc_policy *mrpc_sched_get(const char *name, struct netlink_ext_ack *extack);
void mrpc_sched_put(struct mrpc_policy *policy);
u64 mrpc_sched_generation(struct mrpc_policy *policy);
int mrpc_sched_ops_init(void);

/* For programs */
u8 *bpf_mrpc_own(struct mrpc_sched_queue *q, const size_t rdwr_buf_size);

#endif /* MRPC_POLICY_RANK_H */
