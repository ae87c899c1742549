/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Egress disciplines in eBPF: policies that rank the datapaths of a domain. See
 * uapi/linux/mrpc_policy.h for what authors see.
 */
#ifndef MRPC_POLICY_RANK_H
#define MRPC_POLICY_RANK_H

#include <linux/types.h>

#include "lib/ds/order.h"

struct mrpc_discipline_ops;

extern const struct mrpc_order_ranker mrpc_sched_ranker;
extern const struct mrpc_discipline_ops mrpc_sched_discipline;

#endif /* MRPC_POLICY_RANK_H */
