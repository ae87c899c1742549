// SPDX-License-Identifier: GPL-2.0
/*
 * The prio transport: which settings an endpoint can have. See lib/prio/rule.h for the contract.
 */
#include "lib/ds/order.h"
#include "lib/prio/rule.h"

bool mrpc_prio_rule_ok(const struct mrpc_prio_rule *r)
{
	return r->chunk >= 1 && r->chunk <= MRPC_ORDER_MAX_QUANTUM && r->step >= 1 &&
	       r->window >= r->step && r->outstanding >= max(r->step, r->chunk) &&
	       r->outstanding <= MRPC_PRIO_MAX_TOTAL && r->window <= r->outstanding &&
	       r->unscheduled <= MRPC_PRIO_MAX_TOTAL && r->overcommit >= 1 &&
	       r->overcommit <= MRPC_PRIO_MAX_OVERCOMMIT && r->order < MRPC_PRIO_NR_ORDERS &&
	       r->max_total <= MRPC_PRIO_MAX_TOTAL && r->max_rx >= 1 && r->max_rx_peer >= 1 &&
	       (u64)r->step * r->max_rx_peer <= 1ULL << 31 &&
	       r->rto_min >= 1 && r->ack_delay <= r->rto_min / 2 && r->rto_max >= r->rto_min &&
	       r->silence >= r->rto_min && r->silence <= 1ULL << 40;
}
