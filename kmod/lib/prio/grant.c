// SPDX-License-Identifier: GPL-2.0
/*
 * The prio transport: grants to senders. Peers are ranked by their first message. The first
 * rule.overcommit peers are granted, one message each. Lost bytes are asked for in turn. If all
 * peers repeated their lost bytes at once, they would be lost again.
 */
#include "lib/prio/gaps.h"
#include "lib/prio/grant.h"
#include "lib/prio/places.h"
#include "lib/prio/say.h"
#include "lib/prio/table.h"
#include "lib/prio/time.h"

#define GRANTS_AT_ONCE	64	/* in one call; more follow in the next */
#define TURNS		8	/* peers that are asked for lost bytes at a time */
#define SLOW_AT_ONCE	4	/* slow peers that have a turn */
#define SLOW_PART	4	/* a slow peer beside others may hold 1/4 of a place's part */

static bool rx_grantable(const struct mrpc_prio_rx *rx)
{
	return rx->state == MRPC_PRIO_RX_ACTIVE && !rx->stalled &&
	       rx->granted < min(rx->limit, rx->total);
}

/* The key of a message. The least key is first. */
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

/*
 * Announced bytes need not come. So the announcements of one peer count at most as much as it was
 * offered, which is the most it may really have under way. They do not count at all before the
 * peer has ever sent anything, because it may use many addresses.
 */
static void peer_count(struct mrpc_prio *ep, struct mrpc_prio_peer *peer)
{
	u64 counted = peer->rx_granted;

	if (!peer->fresh)
		counted += min_t(u64, peer->rx_unasked, peer->offered);
	mrpc_prio_places_hold(ep, peer, min_t(u64, counted, U32_MAX));
	if (peer->spare && !peer->rx_granted) {
		peer->spare = false;
		ep->nr_spare--;
		ep->grants_due = true;
	}
}

static void peer_repeats(struct mrpc_prio *ep, struct mrpc_prio_peer *peer, u32 repeats)
{
	ep->repeats += (u64)repeats - peer->repeats;
	ep->nr_asked += !!repeats - !!peer->repeats;
	peer->repeats = repeats;
}

/* Start of the bytes that are lost and not yet asked for. */
static u32 rx_unasked(const struct mrpc_prio_rx *rx)
{
	return max(rx->asked, rx->next);
}

/*
 * Lost bytes count only after they are asked for. Bytes that are dropped on arrival, because the
 * upper layer does not take them, count only after it takes them.
 */
static void rx_count(struct mrpc_prio *ep, struct mrpc_prio_rx *rx)
{
	bool counts = rx->state == MRPC_PRIO_RX_ACTIVE && !rx->stalled;
	u32 want = max(min(rx->granted, rx->limit), rx->got);
	u32 due = counts ? want - rx->got : 0, repeats = 0, counted;
	struct mrpc_prio_peer *peer = rx->peer;

	if (counts && rx->lost > rx->next) {
		u32 lost = min(rx->lost, want);

		repeats = min(due, mrpc_prio_gaps_missing(rx, rx->next, min(rx->asked, lost)));
		due -= min(due - repeats, mrpc_prio_gaps_missing(rx, rx_unasked(rx), lost));
	}
	counted = repeats + min(due - repeats, rx->granted - rx->unscheduled);
	peer_repeats(ep, peer, peer->repeats + repeats - rx->repeats);
	rx->repeats = repeats;
	peer->rx_granted += (u64)counted - rx->counted;
	rx->counted = counted;
	peer->rx_unasked += (u64)(due - counted) - rx->unasked;
	rx->unasked = due - counted;
	peer_count(ep, peer);
}

static void heap_put(struct mrpc_lheap *heap, struct mrpc_lheap_node *n, u64 key)
{
	if (mrpc_lheap_in(n))
		mrpc_lheap_move(heap, n, key);
	else
		mrpc_lheap_add(heap, n, key, 0);
}

/* Lost bytes that can be asked for. A sender remembers a limited number of ranges. */
static u32 rx_lost(const struct mrpc_prio_rx *rx)
{
	u32 end = min(rx->lost, min(rx->granted, rx->limit));

	if (end <= rx->next)
		return 0;
	if (rx->gaps && rx->gaps->nr >= MRPC_PRIO_NR_RANGES)
		end = min(end, rx->gaps->have[MRPC_PRIO_NR_RANGES - 1].from);
	return mrpc_prio_gaps_missing(rx, rx_unasked(rx), end);
}

/*
 * A peer that has not been asked for anything goes before peers that have. A peer that was asked
 * and made no progress goes behind all peers that it has kept waiting. Its messages' own priority
 * does not change that.
 */
static void peer_line(struct mrpc_prio *ep, struct mrpc_prio_peer *peer)
{
	struct mrpc_lheap_node *first = mrpc_lheap_first(&peer->rx_line);
	u64 key;

	if (!first) {
		mrpc_lheap_del(&ep->line, &peer->line);
		return;
	}
	key = peer->vain ? 1ULL << 62 | peer->vain : first->key >> 2;
	heap_put(&ep->line, &peer->line, (u64)!!peer->repeats << 63 | key);
}

static void rx_line(struct mrpc_prio *ep, struct mrpc_prio_rx *rx)
{
	if (rx->state == MRPC_PRIO_RX_ACTIVE && !rx->stalled && rx_lost(rx))
		heap_put(&rx->peer->rx_line, &rx->line, rx_key(ep, rx));
	else
		mrpc_lheap_del(&rx->peer->rx_line, &rx->line);
	peer_line(ep, rx->peer);
}

static void rx_count_vain(struct mrpc_prio *ep, struct mrpc_prio_rx *rx)
{
	bool refused = rx->state == MRPC_PRIO_RX_REFUSED && rx->tries >= MRPC_PRIO_VAIN_TRIES;
	bool vain = refused || (rx->state == MRPC_PRIO_RX_ACTIVE && rx->stalled);

	mrpc_prio_vain_count(&ep->rx_vain, rx->peer, &rx->vain, vain);
}

/* The only place where a message is counted, and where it and its peer are ranked. */
void mrpc_prio_rx_update(struct mrpc_prio *ep, struct mrpc_prio_rx *rx)
{
	struct mrpc_prio_peer *peer = rx->peer;
	bool grantable = rx_grantable(rx);
	u32 left = grantable ? rx->total - rx->got : 0;

	rx_count(ep, rx);
	rx_count_vain(ep, rx);
	ep->remaining += (u64)left - rx->left;
	rx->left = left;
	rx_line(ep, rx);
	if (grantable)
		heap_put(&peer->rx_heap, &rx->heap, rx_key(ep, rx));
	else
		mrpc_lheap_del(&peer->rx_heap, &rx->heap);
	mrpc_prio_peer_rank(ep, peer);
}

static u32 peer_window(const struct mrpc_prio *ep, struct mrpc_prio_peer *peer, u64 window,
		       u64 now)
{
	mrpc_prio_peer_grow(ep, peer, &peer->rx_scale, &peer->rx_cut, now);
	return max_t(u64, window * peer->rx_scale / MRPC_PRIO_SCALE, ep->rule.step);
}

/* Bytes that may be granted ahead of what is here. */
static u32 rx_window(const struct mrpc_prio *ep, struct mrpc_prio_rx *rx, u64 now)
{
	u64 window = ep->rule.window;

	if (ep->rule.proportional)
		window = max_t(u64, ep->rule.chunk,
			       div64_u64((u64)ep->rule.outstanding * (rx->total - rx->got),
					 ep->remaining));
	return peer_window(ep, rx->peer, window, now);
}

/*
 * Other peers may hold all outstanding bytes for any time. A peer that holds nothing still gets a
 * step, but only a bounded number of peers at once. A slow peer waits only for other slow peers,
 * which may never send.
 */
static bool rx_spare(const struct mrpc_prio *ep, const struct mrpc_prio_peer *peer)
{
	return !peer->rx_granted && (peer->slow || ep->nr_spare < ep->rule.overcommit);
}

/* Room beyond that. No slow peer may hold all of it while other slow peers wait. */
static u64 rx_room(const struct mrpc_prio *ep, const struct mrpc_prio_peer *peer)
{
	u64 held = peer->slow ? ep->slow_held : ep->outstanding;
	u64 room = max_t(u64, ep->rule.outstanding, held) - held;
	u32 part = max(ep->rule.outstanding / (SLOW_PART * ep->rule.overcommit), ep->rule.step);

	if (peer->slow && ep->slow.next != ep->slow.prev)
		room = min_t(u64, room, max(part, peer->rx_counted) - peer->rx_counted);
	return room;
}

/* Would @rx be granted more, if others did not hold all outstanding bytes? */
static bool rx_waits_for_room(const struct mrpc_prio *ep, struct mrpc_prio_rx *rx, u64 now)
{
	const struct mrpc_prio_peer *peer = rx->peer;

	return rx_room(ep, peer) < ep->rule.step && (!peer->rx_granted || peer->spare) &&
	       (u64)rx->got + rx_window(ep, rx, now) > rx->granted;
}

/* @place: in the order of granted messages. Return: true if it was granted more */
static bool rx_grant(struct mrpc_prio *ep, struct mrpc_prio_rx *rx, u32 place, u64 now)
{
	u64 room = rx_room(ep, rx->peer);
	u32 end = min(rx->limit, rx->total);
	u64 to = min_t(u64, (u64)rx->got + rx_window(ep, rx, now), end);
	bool spare = to > rx->granted + room && room < ep->rule.step && rx_spare(ep, rx->peer);

	to = min_t(u64, to, rx->granted + (spare ? ep->rule.step : room));
	if (to <= rx->granted || (to - rx->granted < ep->rule.step && to < end))
		return false;
	if (spare && !rx->peer->slow) {
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

/* The timer runs while expected bytes are missing, or the sender does not know a refusal. */
void mrpc_prio_rx_arm(struct mrpc_prio *ep, struct mrpc_prio_rx *rx, u64 now)
{
	if (rx->state != MRPC_PRIO_RX_REFUSED && (rx->next >= mrpc_prio_rx_want(rx) || mrpc_prio_rx_waits(rx))) {
		mrpc_wheel_stop(&ep->timers, &rx->timer);
		return;
	}
	if (!rx->timer.armed)
		rx->mark_at = now;
	mrpc_wheel_arm(&ep->timers, &rx->timer, now +
		       (rx->vain ? mrpc_prio_rto_vain(ep, rx->peer, rx->tries, &ep->rx_vain) :
				   mrpc_prio_rto(ep, rx->peer, rx->tries)));
}

void mrpc_prio_rx_say(struct mrpc_prio *ep, struct mrpc_prio_rx *rx, u16 say)
{
	rx->say |= say;
	if (mrpc_link_empty(&rx->control))
		mrpc_link_add(&rx->peer->rx_control, &rx->control);
	mrpc_prio_due(ep, rx->peer);
}

/* Asks for the first @bytes of @rx that are lost and not yet asked for. */
void mrpc_prio_rx_ask(struct mrpc_prio *ep, struct mrpc_prio_rx *rx, u32 bytes, u64 now)
{
	u32 from = rx_unasked(rx), i, n;
	struct mrpc_prio_range r[MRPC_PRIO_NR_RANGES];

	n = mrpc_prio_gaps_ranges(rx, from, rx->lost, r, ARRAY_SIZE(r));
	rx->told = rx->say & BIT(MRPC_PRIO_RESEND) ? min(rx->told, from) : from;
	for (i = 0; i < n && bytes; i++) {
		u32 len = min(bytes, r[i].to - r[i].from);

		rx->asked = r[i].from + len;
		bytes -= len;
	}
	mrpc_prio_rx_say(ep, rx, BIT(MRPC_PRIO_RESEND));
	if (!rx->timer.armed)
		mrpc_prio_rx_arm(ep, rx, now);
}

/*
 * Gives the first peer's first message its turn, if there is room. Room is one window for all
 * peers together, and one window scaled to its path for each peer. A peer that was not asked for
 * anything gets a step in any case while few peers are asked: those may be silent.
 */
static bool line_ask(struct mrpc_prio *ep, struct mrpc_prio_peer *peer, u64 now)
{
	struct mrpc_prio_rx *rx = container_of(mrpc_lheap_first(&peer->rx_line),
					       struct mrpc_prio_rx, line);
	u64 window = peer_window(ep, peer, ep->rule.window, now), room;
	u32 want = rx_lost(rx), least = min(want, ep->rule.step);

	if (peer->repeats + least > window) {
		/* It comes back when some of these bytes have come, or are lost again. */
		mrpc_lheap_del(&ep->line, &peer->line);
		return true;
	}
	room = max(ep->rule.window, ep->repeats) - ep->repeats;
	if (room < least && (peer->repeats || ep->nr_asked >= TURNS))
		return false;
	room = min(max_t(u64, room, least), window - peer->repeats);
	mrpc_prio_rx_ask(ep, rx, min_t(u64, want, room), now);
	mrpc_prio_rx_update(ep, rx);
	return true;
}

/* Grants to some slow peers. @grants: grants so far. Return: true if others may be left */
static bool grant_slow(struct mrpc_prio *ep, u32 grants, u64 now)
{
	const struct mrpc_order_link *l;
	u32 before = grants, nr = 0, i;

	for (l = ep->slow.next; l != &ep->slow && nr <= SLOW_AT_ONCE; l = l->next)
		nr++;
	for (i = 0; i < SLOW_AT_ONCE && !mrpc_link_empty(&ep->slow); i++) {
		struct mrpc_prio_peer *peer = container_of(ep->slow.next, struct mrpc_prio_peer,
							   holds);
		struct mrpc_prio_rx *rx;

		mrpc_link_del(&peer->holds);
		mrpc_link_add(&ep->slow, &peer->holds);
		while ((rx = mrpc_prio_peer_first(peer)) && rx_grant(ep, rx, U32_MAX, now)) {
			if (++grants == GRANTS_AT_ONCE) {
				ep->grants_due = true;
				return true;
			}
		}
	}
	return grants > before || nr > SLOW_AT_ONCE;
}

/*
 * Grants until no peer in the first places can be granted more. A peer that is granted all leaves
 * its place to another, so the search starts again.
 */
void mrpc_prio_grant(struct mrpc_prio *ep, u64 now)
{
	struct mrpc_prio_ranked *e, *next;
	struct mrpc_lheap_node *n;
	u32 place = 0, grants = 0, idle = 0;
	bool waits = false;

	if (!ep->grants_due)
		return;
	ep->grants_due = false;
	while ((n = mrpc_lheap_first(&ep->line)) &&
	       line_ask(ep, container_of(n, struct mrpc_prio_peer, line), now)) {
		if (++grants == GRANTS_AT_ONCE) {
			ep->grants_due = true;
			return;
		}
	}
	for (e = mrpc_prio_rank_first(&ep->rx); e && place < ep->rule.overcommit; e = next) {
		struct mrpc_prio_peer *peer = container_of(e, struct mrpc_prio_peer, entity);
		struct mrpc_prio_rx *rx = mrpc_prio_peer_first(peer);
		bool granted;

		waits |= rx_waits_for_room(ep, rx, now);
		granted = rx_grant(ep, rx, place, now);
		if (granted && ++grants == GRANTS_AT_ONCE) {
			ep->grants_due = true;
			return;
		}
		if (granted && !mrpc_lheap_in(&rx->heap)) {
			next = mrpc_prio_rank_first(&ep->rx);
			place = 0;
			idle = 0;
			continue;
		}
		next = mrpc_prio_rank_next(&ep->rx, e);
		place++;
		idle += peer->wants;
	}
	/* Peers beyond the places that hold a grant do not wait because of those in the places. */
	waits |= e && ep->nr_wants > idle;
	mrpc_prio_places_wait(ep, waits, grant_slow(ep, grants, now), now);
}
