/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MRPC_POLICY_CLASS_RANK_H
#define MRPC_POLICY_CLASS_RANK_H

#include <linux/types.h>

struct mrpc_policy;
struct mrpc_sched_queue;
struct netlink_ext_ack;

u64 mrpc_sched_generation(struct mrpc_policy *policy);
struct mrpc_policy *mrpc_sched_get(const char *name, struct netlink_ext_ack *extack);
void mrpc_sched_put(struct mrpc_policy *policy);
int mrpc_sched_ops_init(void);
u8 *bpf_mrpc_own(struct mrpc_sched_queue *q, const size_t rdwr_buf_size);

#endif /* MRPC_POLICY_CLASS_RANK_H */
