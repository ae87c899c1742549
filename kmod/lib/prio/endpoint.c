// SPDX-License-Identifier: GPL-2.0
/*
 * The prio transport: an endpoint as a whole. See prio.h for the contract.
 */
#include "lib/ds/siphash.h"
#include "lib/prio/association.h"
#include "lib/prio/control.h"
#include "lib/prio/grant.h"
#include "lib/prio/places.h"
#include "lib/prio/prio.h"
#include "lib/prio/rx.h"
#include "lib/prio/table.h"
#include "lib/prio/time.h"
#include "lib/prio/tx.h"
#include "lib/prio/tx_heard.h"

#define TIMERS_AT_ONCE	64	/* that fire before others have the lock */

int mrpc_prio_init(struct mrpc_prio *ep, const struct mrpc_prio_rule *rule,
		   const struct mrpc_prio_ops *ops, void *ctx, struct mrpc_order_link *hash,
		   u32 buckets, const u64 key[2], u64 now)
{
	u32 i;

	if (!mrpc_prio_rule_ok(rule) || buckets < 2 || buckets & (buckets - 1))
		return -EINVAL;
	memset(ep, 0, sizeof(*ep));
	ep->rule = *rule;
	ep->ops = ops;
	ep->ctx = ctx;
	ep->key[0] = key[0];
	ep->key[1] = key[1];
	ep->multiplier = mrpc_siphash("buckets", 7, ep->key) | 1;
	ep->hash = hash;
	ep->buckets = buckets;
	for (i = 0; i < buckets; i++)
		mrpc_link_init(&hash[i]);
	mrpc_wheel_init(&ep->timers, now);
	mrpc_link_init(&ep->peers);
	mrpc_link_init(&ep->controls);
	mrpc_link_init(&ep->events);
	mrpc_link_init(&ep->tx_since);
	mrpc_link_init(&ep->tx_list);
	mrpc_link_init(&ep->gates);
	mrpc_link_init(&ep->rx_list);
	mrpc_link_init(&ep->holders);
	mrpc_link_init(&ep->slow);
	ep->places.kind = MRPC_PRIO_TIMER_PLACES;
	ep->pace_at = now;
	return 0;
}

/* What is being received is ordered anew. */
int mrpc_prio_set(struct mrpc_prio *ep, const struct mrpc_prio_rule *rule)
{
	struct mrpc_order_link *p, *m;

	if (!mrpc_prio_rule_ok(rule))
		return -EINVAL;
	ep->rule = *rule;
	for (p = ep->peers.next; p != &ep->peers; p = p->next) {
		struct mrpc_prio_peer *peer = container_of(p, struct mrpc_prio_peer, of_endpoint);

		for (m = peer->rx_all.next; m != &peer->rx_all; m = m->next)
			mrpc_prio_rx_update(ep, container_of(m, struct mrpc_prio_rx, of_peer));
	}
	ep->grants_due = true;
	return 0;
}

static void rank_free(struct mrpc_prio *ep, struct mrpc_prio_rank *r)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(r->of); i++)
		if (r->of[i])
			ep->ops->free(ep->ctx, r->of[i], sizeof(*r->of[i]));
}

void mrpc_prio_fini(struct mrpc_prio *ep)
{
	rank_free(ep, &ep->tx);
	rank_free(ep, &ep->rx);
}

void mrpc_prio_count(struct mrpc_prio *ep, u32 drop)
{
	mrpc_prio_drop(ep, drop);
}

u64 mrpc_prio_deadline(const struct mrpc_prio *ep)
{
	return mrpc_wheel_next(&ep->timers);
}

static void tx_fire(struct mrpc_prio *ep, struct mrpc_prio_tx *tx, u64 now)
{
	if (!mrpc_prio_tx_timer(ep, tx, now))
		mrpc_prio_peer_give_up(ep, tx->peer, now);
}

static void rx_fire(struct mrpc_prio *ep, struct mrpc_prio_rx *rx, u64 now)
{
	if (!mrpc_prio_rx_timer(ep, rx, now))
		mrpc_prio_peer_give_up(ep, rx->peer, now);
}

static void timer_fire(struct mrpc_prio *ep, struct mrpc_timer *t, u64 now)
{
	switch (t->kind) {
	case MRPC_PRIO_TIMER_TX:
		tx_fire(ep, container_of(t, struct mrpc_prio_tx, timer), now);
		break;
	case MRPC_PRIO_TIMER_RX:
		rx_fire(ep, container_of(t, struct mrpc_prio_rx, timer), now);
		break;
	case MRPC_PRIO_TIMER_PLACES:
		mrpc_prio_places_timer(ep, now);
		break;
	default:
		mrpc_prio_peer_timer(ep, container_of(t, struct mrpc_prio_peer, timer), now);
	}
}

bool mrpc_prio_timeout(struct mrpc_prio *ep, u64 now)
{
	struct mrpc_timer *t;
	u32 nr = 0;

	while (nr++ < TIMERS_AT_ONCE) {
		t = mrpc_wheel_expire(&ep->timers, now);
		if (!t)
			return false;
		timer_fire(ep, t, now);
	}
	return mrpc_prio_deadline(ep) <= now;
}

void mrpc_prio_receive(struct mrpc_prio *ep, struct mrpc_prio_peer *peer, const void *addr,
		       u32 addr_len, const struct mrpc_prio_packet *p, bool ecn, u64 now,
		       struct mrpc_prio_event *ev)
{
	ev->type = MRPC_PRIO_EVENT_NONE;
	ev->packets = 1;
	ep->stats.packets++;
	if (!mrpc_prio_admit(ep, peer, addr, addr_len, p, now, ev))
		return;
	if (p->type == MRPC_PRIO_CONTROL) {
		mrpc_prio_control(ep, peer, p, now);
		return;
	}
	if (ecn) {
		peer->ecn = true;
		mrpc_prio_peer_cut(ep, peer, &peer->rx_scale, &peer->rx_cut, now);
	}
	if (p->ack)
		mrpc_prio_tx_acked(ep, peer, p->ack, now);
	mrpc_prio_rx_data(ep, peer, p, now, ev);
	ep->stats.packets += ev->packets - 1;
	if (ecn)
		ep->stats.marks += ev->packets;
}

static struct mrpc_order_link *list_pop(struct mrpc_order_link *head)
{
	struct mrpc_order_link *l = head->next;

	if (mrpc_link_empty(head))
		return NULL;
	mrpc_link_del(l);
	return l;
}

struct mrpc_prio_tx *mrpc_prio_tx_ended(struct mrpc_prio *ep)
{
	struct mrpc_order_link *l = list_pop(&ep->tx_list);

	return l ? container_of(l, struct mrpc_prio_tx, control) : NULL;
}

struct mrpc_prio_rx *mrpc_prio_rx_ended(struct mrpc_prio *ep)
{
	struct mrpc_order_link *l = list_pop(&ep->rx_list);

	return l ? container_of(l, struct mrpc_prio_rx, control) : NULL;
}

struct mrpc_prio_peer *mrpc_prio_peer_event(struct mrpc_prio *ep)
{
	struct mrpc_order_link *l = list_pop(&ep->events);

	return l ? container_of(l, struct mrpc_prio_peer, events) : NULL;
}
