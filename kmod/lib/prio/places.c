// SPDX-License-Identifier: GPL-2.0
/*
 * The prio transport: peers that hold grants and do not send. The places among granted peers and
 * the outstanding bytes have one purpose: to keep the way to this end busy. While the way is busy,
 * no peer harms another. How long a peer takes does not matter: that may be the way's fault, and
 * only the peer reports times.
 *
 * While a peer waits and less comes than could, the missing bytes become a debt. All peers that
 * hold something share it in equal parts. Received bytes pay the debt of their own peer. A peer
 * that owes too much is slow. A slow peer takes no place and none of the outstanding bytes. It is
 * granted beside the others, in turn, until it has paid.
 */
#include "lib/prio/places.h"
#include "lib/prio/prio.h"
#include "lib/prio/table.h"

#define PACE_SHIFT	20	/* mrpc_prio.pace: bytes in 1 << this ns */
#define WHILE_SHIFT	28	/* a period, 0.27 s: the pace of this and the last one are known */
#define BUSY		4	/* 1/4 of the pace may be missing */
#define LOOKS		4	/* until a peer of which nothing comes is slow */
#define LOOK_MIN	50000	/* ns */
#define AT_ONCE		16	/* holders in a look */

/* Bytes that come in 2^20 ns while the way to this end is busy. */
static u64 places_pace(const struct mrpc_prio *ep)
{
	/* At first the pace is not known. Later, a small amount of received bytes tells little. */
	u64 least = div64_u64((u64)ep->rule.outstanding << PACE_SHIFT, ep->rule.rto_max) / 2;
	u64 pace = max_t(u64, max_t(u64, max(ep->pace, ep->pace_before), least), 1);

	return pace - pace / BUSY;
}

static u64 places_look(const struct mrpc_prio *ep)
{
	u64 look = div64_u64((u64)ep->rule.outstanding << PACE_SHIFT, LOOKS * places_pace(ep));

	return max_t(u64, max(look, ep->rule.rto_min / 16), LOOK_MIN);
}

/* The debt that a peer may have. */
static u32 places_credit(const struct mrpc_prio *ep)
{
	return max(ep->rule.outstanding / ep->rule.overcommit, 1U);
}

static bool places_holds(const struct mrpc_prio_peer *peer)
{
	return !peer->slow && !peer->near && peer->rx_counted;
}

static u32 places_owes(const struct mrpc_prio *ep, const struct mrpc_prio_peer *peer)
{
	return places_holds(peer) ? ep->lost - peer->owes : peer->owes;
}

/* Converts owes from the debt to its distance from mrpc_prio.lost, or back. */
static void places_turn(const struct mrpc_prio *ep, struct mrpc_prio_peer *peer)
{
	peer->owes = ep->lost - peer->owes;
}

/* Sets the bytes of @peer that were granted or announced and are not received. */
void mrpc_prio_places_hold(struct mrpc_prio *ep, struct mrpc_prio_peer *peer, u32 bytes)
{
	bool held = places_holds(peer);

	*(peer->slow ? &ep->slow_held : &ep->outstanding) += (u64)bytes - peer->rx_counted;
	if (peer->near)
		ep->nr_near += !!bytes - !!peer->rx_counted;
	peer->rx_counted = bytes;
	if (places_holds(peer) == held)
		return;
	places_turn(ep, peer);
	mrpc_link_del(&peer->holds);
	if (!held)
		mrpc_link_add(&ep->holders, &peer->holds);
}

/* Makes @peer slow, or no longer slow. The caller updates its rank. */
static void places_slow(struct mrpc_prio *ep, struct mrpc_prio_peer *peer, bool slow)
{
	u32 bytes = peer->rx_counted;

	mrpc_prio_places_hold(ep, peer, 0);
	mrpc_link_del(&peer->holds);
	peer->slow = slow;
	peer->pays = false;
	peer->owes = slow ? ep->rule.outstanding : 0;
	mrpc_prio_places_hold(ep, peer, bytes);
	if (peer->spare) {
		peer->spare = false;
		ep->nr_spare--;
	}
}

/* A near peer owes nothing, and never will. */
void mrpc_prio_peer_near(struct mrpc_prio *ep, struct mrpc_prio_peer *peer, bool near)
{
	u32 bytes = peer->rx_counted;

	if (near == peer->near)
		return;
	if (peer->slow)
		places_slow(ep, peer, false);
	mrpc_prio_places_hold(ep, peer, 0);
	peer->near = near;
	peer->owes = 0;
	mrpc_prio_places_hold(ep, peer, bytes);
	mrpc_prio_peer_rank(ep, peer);
	ep->grants_due = true;
}

/* @bytes of @peer came: they pay its debt. The caller updates its rank. */
void mrpc_prio_places_pay(struct mrpc_prio *ep, struct mrpc_prio_peer *peer, u32 bytes)
{
	u32 owes = places_owes(ep, peer);

	bytes = min(bytes, owes);
	peer->owes += places_holds(peer) ? bytes : -bytes;
	if (!peer->slow)
		return;
	peer->pays = true;
	if (bytes == owes) {
		places_slow(ep, peer, false);
	} else if (!mrpc_link_empty(&peer->holds)) {
		/* It sends, so it goes first: other slow peers may not send. */
		mrpc_link_del(&peer->holds);
		mrpc_link_add(ep->slow.next, &peer->holds);
	}
}

static bool places_owes_much(const struct mrpc_prio *ep, const struct mrpc_prio_peer *peer)
{
	return !peer->slow && places_owes(ep, peer) >= places_credit(ep);
}

/*
 * A message of @peer ended early, and @bytes that it held will not come. They count as held, too.
 * Otherwise a peer could begin another message just before each look and owe nothing. While the
 * way is busy that harms no peer, and costs nothing.
 */
void mrpc_prio_places_back(struct mrpc_prio *ep, struct mrpc_prio_peer *peer, u32 bytes)
{
	if (!ep->waits || !ep->lacks || peer->slow || peer->near)
		return;
	bytes = min(bytes, places_credit(ep) / LOOKS);
	peer->owes += places_holds(peer) ? -bytes : bytes;
	if (!places_owes_much(ep, peer))
		return;
	places_slow(ep, peer, true);
	mrpc_prio_peer_rank(ep, peer);
}

/* Checks the debt of some holders. They take turns, so each is checked again and again. */
static void places_charge(struct mrpc_prio *ep)
{
	u32 i;

	for (i = 0; i < AT_ONCE && !mrpc_link_empty(&ep->holders); i++) {
		struct mrpc_prio_peer *peer = container_of(ep->holders.next, struct mrpc_prio_peer,
							   holds);

		mrpc_link_del(&peer->holds);
		mrpc_link_add(&ep->holders, &peer->holds);
		if (!places_owes_much(ep, peer))
			continue;
		places_slow(ep, peer, true);
		mrpc_prio_peer_rank(ep, peer);
	}
}

static void places_begin(struct mrpc_prio *ep, bool waits, u64 now)
{
	u64 look = places_look(ep);

	ep->waits = waits;
	ep->look_at = now;
	ep->look_bytes = ep->came;
	ep->look_drops = ep->stats.drops[MRPC_PRIO_DROP_MEMORY];
	mrpc_wheel_arm(&ep->timers, &ep->places, now + (waits ? look : max(look, ep->rule.rto_min)));
}

/*
 * Records a measured @pace. If this end pauses, the bytes that pile up make one measurement too
 * great. So of two in a row the lesser counts. Return: true if it is the greatest so far
 */
static bool places_pace_is(struct mrpc_prio *ep, u32 pace, u64 now)
{
	u32 this = now >> WHILE_SHIFT, both = min(pace, ep->pace_last);
	u32 before = max(ep->pace, ep->pace_before);

	if (this != ep->pace_while) {
		ep->pace_before = ep->pace;
		ep->pace = 0;
		ep->pace_while = this;
	}
	ep->pace_last = pace;
	ep->pace = max(ep->pace, both);
	return both > before;
}

/* @bytes of @peer came. Measures the pace over a window's bytes, or over a longer time. */
void mrpc_prio_places_came(struct mrpc_prio *ep, const struct mrpc_prio_peer *peer, u32 bytes,
			   u64 now)
{
	u64 ns = now - ep->pace_at, all;

	if (peer->near)
		return;
	ep->came += bytes;
	all = ep->came - ep->pace_bytes;
	if (all < ep->rule.window || ns < ep->rule.rto_min)
		return;
	ep->pace_bytes = ep->came;
	ep->pace_at = now;
	if (places_pace_is(ep, min_t(u64, div64_u64(all << PACE_SHIFT, ns), U32_MAX), now) &&
	    ep->places.armed)
		places_begin(ep, ep->waits, now);
}

/*
 * All possible grants are made. @waits: a peer still waits for what others hold; @more: some slow
 * peers may have had no turn.
 */
void mrpc_prio_places_wait(struct mrpc_prio *ep, bool waits, bool more, u64 now)
{
	if (!waits && !more)
		mrpc_wheel_stop(&ep->timers, &ep->places);
	else if (!ep->places.armed || (waits && !ep->waits))
		places_begin(ep, waits, now);
	ep->waits = waits;
	ep->lacks &= ep->places.armed;
}

/*
 * The look while a peer waited. Bytes that a pause of this end held back are no peer's debt.
 * Neither are bytes that came and found no memory. A near peer may have used the places of others.
 */
void mrpc_prio_places_timer(struct mrpc_prio *ep, u64 now)
{
	u64 ns = min(now - ep->look_at, 2 * places_look(ep));
	u64 could = min_t(u64, ns, U32_MAX) * places_pace(ep) >> PACE_SHIFT;
	u64 came = ep->came - ep->look_bytes;

	ep->lacks = ep->waits && could > came && !ep->nr_near &&
		    ep->look_drops == ep->stats.drops[MRPC_PRIO_DROP_MEMORY];
	if (ep->lacks) {
		ep->lost += min_t(u64, could - came, ep->rule.outstanding / LOOKS) /
			    ep->rule.overcommit;
		places_charge(ep);
	}
	ep->waits = false;
	ep->grants_due = true;
}

/* As rx_key(), but as coarse as the order between peers. */
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

/*
 * Ranks @peer by its first message. A peer that announces and does not send would hold a place with
 * one urgent message after the other. So it comes last until it sends.
 */
void mrpc_prio_peer_rank(struct mrpc_prio *ep, struct mrpc_prio_peer *peer)
{
	const struct mrpc_prio_rx *first = mrpc_prio_peer_first(peer);
	bool last = peer->tardy && mrpc_prio_rank_has(&ep->rx, 0);
	bool wants = first && !peer->slow && !peer->rx_granted;

	ep->nr_wants += (u32)wants - peer->wants;
	peer->wants = wants;
	if (peer->slow) {
		mrpc_prio_rank_del(&ep->rx, &peer->entity);
		if (!first)
			mrpc_link_del(&peer->holds);
		else if (mrpc_link_empty(&peer->holds))
			mrpc_link_add(peer->pays ? ep->slow.next : &ep->slow, &peer->holds);
	} else if (first) {
		mrpc_prio_rank_put(&ep->rx, &peer->entity, last ? 0 : first->priority,
				   last ? MRPC_ORDER_LEVELS - 1 : rx_level(ep, first), false);
	} else {
		mrpc_prio_rank_del(&ep->rx, &peer->entity);
	}
}
