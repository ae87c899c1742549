// SPDX-License-Identifier: GPL-2.0
/*
 * The prio transport: what is found by number, and the levels of an order.
 */
#include "lib/prio/rank.h"
#include "lib/prio/table.h"

bool mrpc_prio_rank_ready(struct mrpc_prio *ep, struct mrpc_prio_rank *r, u8 priority)
{
	struct mrpc_order_levels *ls;

	if (mrpc_prio_rank_has(r, priority))
		return true;
	ls = ep->ops->alloc(ep->ctx, sizeof(*ls));
	if (!ls)
		return false;
	mrpc_prio_rank_give(r, priority, ls);
	return true;
}

/*
 * Numbers are the peer's choice: which of them share a bucket is not to be guessed. What they
 * are multiplied with is secret, and the product's highest bits count: only these depend on all of
 * a number (Dietzfelbinger et al., 1997: two numbers share a bucket by chance only).
 */
struct mrpc_order_link *mrpc_prio_bucket(const struct mrpc_prio *ep,
					 const struct mrpc_prio_peer *peer, u64 msg, bool rx)
{
	u64 product = (peer->local + msg) * ep->multiplier;
	u32 half = ep->buckets / 2;
	u32 at = (product >> 32) * half >> 32;

	return &ep->hash[rx ? half + at : at];
}
