// SPDX-License-Identifier: GPL-2.0
/*
 * The prio transport: who may send to us. Peers are ranked by their first message; the
 * first so many are granted, one message each.
 */
#include "prio_core.h"

#define GRANTS_AT_ONCE	64	/* before somebody else has a look; more follow */

static bool rx_grantable(const struct mrpc_prio_rx *rx)
{
	return rx->state == MRPC_PRIO_RX_ACTIVE && !rx->stalled &&
	       rx->granted < min(rx->limit, rx->total);
}

/* The least is the first. */
static u64 rx_key(const struct mrpc_prio *ep, const struct mrpc_prio_rx *rx)
{
	u64 key = (u64)(255 - rx->priority) << 56;

	switch (ep->rule.order) {
	case MRPC_PRIO_FIFO:
		return key | (rx->serial & ((1ULL << 56) - 1));
	case MRPC_PRIO_FAIR:
		return key | div64_u64((u64)rx->got << 24, rx->total);
	default:
		return key | (rx->total - rx->got);
	}
}

/* The same, as coarse as the order between peers is. */
static u8 rx_level(const struct mrpc_prio *ep, const struct mrpc_prio_rx *rx)
{
	switch (ep->rule.order) {
	case MRPC_PRIO_FIFO:
		return 0;
	case MRPC_PRIO_FAIR:
		return div64_u64((u64)rx->got * (MRPC_ORDER_LEVELS - 1), rx->total);
	default:
		return mrpc_levels_size(rx->total - rx->got);
	}
}

static struct mrpc_prio_rx *peer_first(const struct mrpc_prio_peer *peer)
{
	struct mrpc_lheap_node *n = mrpc_lheap_first(&peer->rx_heap);

	return n ? container_of(n, struct mrpc_prio_rx, heap) : NULL;
}

/*
 * What is announced need not come. So all that one peer announces counts no more than what
 * it was offered, which is as much as it may really have under way.
 */
static void peer_count(struct mrpc_prio *ep, struct mrpc_prio_peer *peer)
{
	u64 counted = min_t(u64, peer->rx_unasked, peer->offered) + peer->rx_granted;

	ep->outstanding += counted - peer->rx_counted;
	peer->rx_counted = counted;
	if (peer->spare && !peer->rx_granted) {
		peer->spare = false;
		ep->nr_spare--;
		ep->grants_due = true;
	}
}

static void rx_count(struct mrpc_prio *ep, struct mrpc_prio_rx *rx)
{
	bool counts = rx->state == MRPC_PRIO_RX_ACTIVE && !rx->stalled;
	u32 due = counts && rx->granted > rx->got ? rx->granted - rx->got : 0;
	u32 counted = min(due, rx->granted - rx->unscheduled);
	struct mrpc_prio_peer *peer = rx->peer;

	peer->rx_granted += (u64)counted - rx->counted;
	rx->counted = counted;
	peer->rx_unasked += (u64)(due - counted) - rx->unasked;
	rx->unasked = due - counted;
	peer_count(ep, peer);
}

/* The one place where a message counts, and where it and its peer are ranked. */
void mrpc_prio_rx_update(struct mrpc_prio *ep, struct mrpc_prio_rx *rx)
{
	struct mrpc_prio_peer *peer = rx->peer;
	bool grantable = rx_grantable(rx);
	u32 left = grantable ? rx->total - rx->got : 0;
	struct mrpc_prio_rx *first;

	rx_count(ep, rx);
	ep->remaining += (u64)left - rx->left;
	rx->left = left;
	if (!grantable)
		mrpc_lheap_del(&peer->rx_heap, &rx->heap);
	else if (mrpc_lheap_in(&rx->heap))
		mrpc_lheap_move(&peer->rx_heap, &rx->heap, rx_key(ep, rx));
	else
		mrpc_lheap_add(&peer->rx_heap, &rx->heap, rx_key(ep, rx), 0);
	first = peer_first(peer);
	if (first)
		mrpc_prio_rank_put(&ep->rx, &peer->entity, first->priority, rx_level(ep, first),
				   false);
	else
		mrpc_prio_rank_del(&ep->rx, &peer->entity);
}

/* Bytes that may be granted ahead of what is here. */
static u32 rx_window(const struct mrpc_prio *ep, struct mrpc_prio_rx *rx, u64 now)
{
	struct mrpc_prio_peer *peer = rx->peer;
	u64 window = ep->rule.window;

	if (ep->rule.proportional)
		window = max_t(u64, ep->rule.chunk,
			       div64_u64((u64)ep->rule.outstanding * (rx->total - rx->got),
					 ep->remaining));
	mrpc_prio_peer_grow(ep, peer, &peer->rx_scale, &peer->rx_cut, now);
	return max_t(u64, window * peer->rx_scale / MRPC_PRIO_SCALE, ep->rule.step);
}

/*
 * Others may hold all that may be outstanding, for as long as they like: who holds nothing
 * gets a step, but not so many peers at once that there is no bound.
 */
static bool rx_spare(const struct mrpc_prio *ep, const struct mrpc_prio_peer *peer)
{
	return !peer->rx_granted && ep->nr_spare < ep->rule.overcommit;
}

/* @place: in the order of those that are granted. Return: whether it was */
static bool rx_grant(struct mrpc_prio *ep, struct mrpc_prio_rx *rx, u32 place, u64 now)
{
	u64 room = ep->rule.outstanding > ep->outstanding ?
		   ep->rule.outstanding - ep->outstanding : 0;
	u32 end = min(rx->limit, rx->total);
	u64 to = min_t(u64, (u64)rx->got + rx_window(ep, rx, now), end);
	bool spare = to > rx->granted + room && room < ep->rule.step && rx_spare(ep, rx->peer);

	to = min_t(u64, to, rx->granted + (spare ? ep->rule.step : room));
	if (to <= rx->granted || (to - rx->granted < ep->rule.step && to < end))
		return false;
	if (spare) {
		rx->peer->spare = true;
		ep->nr_spare++;
	}
	rx->granted = to;
	rx->class = place < 3 ? 3 - place : 0;
	mrpc_prio_rx_say(ep, rx, BIT(MRPC_PRIO_GRANT));
	if (!rx->timer.armed)
		mrpc_prio_rx_arm(ep, rx, now);
	mrpc_prio_rx_update(ep, rx);
	return true;
}

/*
 * Grants until nobody in the first places can be granted more. One that is granted all
 * leaves its place to another, so the search begins anew.
 */
void mrpc_prio_grant(struct mrpc_prio *ep, u64 now)
{
	struct mrpc_prio_ranked *e, *next;
	u32 place = 0, grants = 0;

	if (!ep->grants_due)
		return;
	ep->grants_due = false;
	for (e = mrpc_prio_rank_first(&ep->rx); e && place < ep->rule.overcommit; e = next) {
		struct mrpc_prio_peer *peer = container_of(e, struct mrpc_prio_peer, entity);
		struct mrpc_prio_rx *rx = peer_first(peer);
		bool granted = rx_grant(ep, rx, place, now);

		if (granted && ++grants == GRANTS_AT_ONCE) {
			ep->grants_due = true;
			return;
		}
		if (granted && !mrpc_lheap_in(&rx->heap)) {
			next = mrpc_prio_rank_first(&ep->rx);
			place = 0;
			continue;
		}
		next = mrpc_prio_rank_next(&ep->rx, e);
		place++;
	}
}
