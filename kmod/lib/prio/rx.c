// SPDX-License-Identifier: GPL-2.0
/*
 * The prio transport: receiving messages. Each number makes at most one message. So a number that
 * was seen is remembered as long as the sender could repeat it.
 */
#include "lib/prio/gaps.h"
#include "lib/prio/grant.h"
#include "lib/prio/peer.h"
#include "lib/prio/places.h"
#include "lib/prio/prio.h"
#include "lib/prio/rx.h"
#include "lib/prio/say.h"
#include "lib/prio/table.h"
#include "lib/prio/time.h"

#define FEW	8	/* messages of a peer */
#define MUCH	8	/* 1/8 of the missing bytes is as good as a step */
#define SLOW	4	/* timeouts without progress, until a message that gets bytes stalls */

static struct mrpc_prio_rx *rx_find(const struct mrpc_prio *ep, const struct mrpc_prio_peer *peer,
				    u64 msg)
{
	struct mrpc_order_link *head = mrpc_prio_bucket(ep, peer, msg, true), *l;

	for (l = head->next; l != head; l = l->next) {
		struct mrpc_prio_rx *rx = container_of(l, struct mrpc_prio_rx, hash);

		if (rx->peer == peer && rx->msg == msg)
			return rx;
	}
	return NULL;
}

/* -- numbers that were seen ---------------------------------------------------- */

static u64 *seen_word(struct mrpc_prio_peer *peer, u64 msg)
{
	return &peer->rx_seen[msg % MRPC_PRIO_WINDOW / 64];
}

static bool seen_test(struct mrpc_prio_peer *peer, u64 msg)
{
	return msg < peer->rx_base || *seen_word(peer, msg) & 1ULL << msg % 64;
}

/* Moves the base on, to @base at least. All numbers behind the base are seen or abandoned. */
static void seen_move(struct mrpc_prio_peer *peer, u64 base)
{
	if (base > peer->rx_base && base - peer->rx_base >= MRPC_PRIO_WINDOW) {
		memset(peer->rx_seen, 0, sizeof(peer->rx_seen));
		peer->rx_base = base;
	}
	for (;;) {
		u64 *word = seen_word(peer, peer->rx_base), bit = 1ULL << peer->rx_base % 64;

		if (peer->rx_base >= base && !(*word & bit))
			return;
		*word &= ~bit;
		peer->rx_base++;
	}
}

static void seen_set(struct mrpc_prio_peer *peer, u64 msg)
{
	*seen_word(peer, msg) |= 1ULL << msg % 64;
	seen_move(peer, peer->rx_base);
}

/* -- its life ------------------------------------------------------------------ */

/* Stops receiving @rx and removes it from all lists. */
static void rx_forget(struct mrpc_prio *ep, struct mrpc_prio_rx *rx)
{
	rx->state = MRPC_PRIO_RX_ENDED;
	mrpc_prio_rx_update(ep, rx);
	mrpc_prio_gaps_free(ep, rx);
	mrpc_wheel_stop(&ep->timers, &rx->timer);
	mrpc_link_del(&rx->hash);
	mrpc_link_del(&rx->of_peer);
	mrpc_link_del(&rx->control);
	rx->peer->nr_rx--;
	ep->nr_rx--;
	ep->grants_due = true;
}

void mrpc_prio_rx_end(struct mrpc_prio *ep, struct mrpc_prio_rx *rx, u8 status)
{
	u32 held = rx->counted + rx->unasked;

	rx->status = status;
	rx_forget(ep, rx);
	mrpc_prio_places_back(ep, rx->peer, held);
	mrpc_link_add(&ep->rx_list, &rx->control);
}

void mrpc_prio_rx_reject(struct mrpc_prio *ep, struct mrpc_prio_rx *rx, u64 now)
{
	if (rx->state != MRPC_PRIO_RX_ACTIVE)
		return;
	rx->state = MRPC_PRIO_RX_REFUSED;
	rx->code = MRPC_PRIO_REJECTED;
	rx->say = 0;
	rx->tries = 0;
	mrpc_prio_rx_update(ep, rx);
	mrpc_prio_gaps_free(ep, rx);
	mrpc_prio_rx_arm(ep, rx, now);
	rx->mark_at = now;
	mrpc_prio_rx_say(ep, rx, BIT(MRPC_PRIO_REFUSE));
	ep->grants_due = true;
}

void mrpc_prio_rx_limit(struct mrpc_prio *ep, struct mrpc_prio_rx *rx, u32 limit, u64 now)
{
	if (rx->state != MRPC_PRIO_RX_ACTIVE)
		return;
	rx->limit = limit;
	if (rx->cut && rx->next < mrpc_prio_rx_want(rx)) {
		rx->lost = max(rx->lost, rx->cut);
		if (rx->cut <= rx->limit)
			rx->cut = 0;
	}
	mrpc_prio_rx_update(ep, rx);
	mrpc_prio_rx_arm(ep, rx, now);
	ep->grants_due = true;
}

/* Waiting for @rx was in vain: other waiting peers go before its sender. */
static void rx_vain(struct mrpc_prio *ep, struct mrpc_prio_rx *rx)
{
	ep->vain = ep->vain + 1 ?: 1;
	rx->peer->vain = ep->vain;
}

static void rx_stall(struct mrpc_prio *ep, struct mrpc_prio_rx *rx)
{
	if (rx->stalled)
		return;
	rx->stalled = true;
	rx->mark = rx->got;
	rx->tries = MRPC_PRIO_VAIN_TRIES;
	rx->peer->tardy = MRPC_PRIO_TARDY;
	mrpc_prio_rank_ready(ep, &ep->rx, 0);
	rx_vain(ep, rx);
}

/*
 * The first missing byte has not come in time. The bytes asked for are lost again. If nothing
 * came, all granted bytes are lost. A stalled message is asked for a step now and then, outside
 * the line: there it delays no other peer.
 */
static void rx_overdue(struct mrpc_prio *ep, struct mrpc_prio_rx *rx, u64 now)
{
	if (!rx->moved || !rx->gaps) {
		rx->lost = mrpc_prio_rx_want(rx);
		rx->tries = min_t(u32, rx->tries + 1, MRPC_PRIO_MAX_TRIES);
	}
	if (rx->tries >= MRPC_PRIO_VAIN_TRIES)
		rx_stall(ep, rx);
	else if (rx->moved && !rx->got_on)
		rx_vain(ep, rx);
	rx->moved = false;
	rx->got_on = false;
	rx->asked = 0;
	if (rx->stalled)
		mrpc_prio_rx_ask(ep, rx, ep->rule.step, now);
	mrpc_prio_rx_update(ep, rx);
	ep->grants_due = true;
}

/* The peer sends what was expected: @bytes, and all that was asked for if @asked. */
static void rx_forgive(const struct mrpc_prio *ep, const struct mrpc_prio_rx *rx, u32 bytes,
		       bool asked)
{
	struct mrpc_prio_peer *peer = rx->peer;

	if (peer->tardy)
		peer->tardy -= min_t(u64, peer->tardy, div64_u64((u64)bytes * MRPC_PRIO_TARDY,
								 ep->rule.step) + 1);
	peer->fresh &= !!peer->tardy;
	if (asked && !rx->stalled)
		peer->vain = 0;
}

/* Is it progress? That is a step, or an eighth of what was missing. */
static bool rx_much(const struct mrpc_prio *ep, const struct mrpc_prio_rx *rx)
{
	u32 missing = mrpc_prio_rx_want(rx) - min(rx->mark, mrpc_prio_rx_want(rx));

	return rx->got - rx->mark >= min(ep->rule.step, missing / MUCH);
}

/*
 * A packet of @bytes came. All bytes before @before were received, and now all before @here. A
 * small packet does not extend the time to wait for more. Otherwise a peer that sends a few bytes
 * now and then would hold a turn for as long as it likes.
 */
static void rx_came(struct mrpc_prio *ep, struct mrpc_prio_rx *rx, u32 bytes, u32 before,
		    u32 here, u64 now)
{
	bool asked = rx->asked > before;

	rx->got += bytes;
	mrpc_prio_places_pay(ep, rx->peer, bytes);
	rx_forgive(ep, rx, bytes, asked && here >= rx->asked);
	rx->moved = true;
	if (!rx->stalled)
		rx->tries = 0;
	if (here < (asked ? rx->asked : mrpc_prio_rx_want(rx)) && !rx_much(ep, rx)) {
		if (rx->timer.armed && now - rx->mark_at > SLOW * mrpc_prio_rto(ep, rx->peer, 0))
			rx_stall(ep, rx);
		return;
	}
	rx->tries = 0;
	rx->stalled = false;
	rx->got_on = true;
	rx->mark = rx->got;
	rx->mark_at = now;
}

/* The packets of @ev brought @r. Each packet counts as if it had come alone. */
static void rx_came_all(struct mrpc_prio *ep, struct mrpc_prio_rx *rx,
			const struct mrpc_prio_event *ev, const struct mrpc_prio_range *r,
			u32 before, u64 now)
{
	u32 at, end, here;

	for (at = r->from; at < r->to; at = end) {
		end = at + min(ev->each, r->to - at);
		here = r->from > before ? before : end < r->to ? end : rx->next;
		rx_came(ep, rx, end - at, r->from > before ? before : at, here, now);
	}
}

/* Return: false if its sender does not answer a message that it must answer. */
bool mrpc_prio_rx_timer(struct mrpc_prio *ep, struct mrpc_prio_rx *rx, u64 now)
{
	u64 mark = rx->mark_at;

	ep->stats.timeouts++;
	if (rx->state == MRPC_PRIO_RX_REFUSED) {
		rx->tries = min_t(u32, rx->tries + 1, MRPC_PRIO_MAX_TRIES);
		if (rx->tries == MRPC_PRIO_MAX_TRIES ||
		    (rx->tries >= MRPC_PRIO_LAST_TRIES && now >= mark + 2 * ep->rule.silence))
			return false;
		mrpc_prio_rx_update(ep, rx);
		mrpc_prio_rx_say(ep, rx, BIT(MRPC_PRIO_REFUSE));
	} else {
		rx_overdue(ep, rx, now);
	}
	mrpc_prio_rx_arm(ep, rx, now);
	if (rx->timer.armed)	/* the same bytes were missing before */
		rx->mark_at = mark;
	return true;
}

/* -- data ---------------------------------------------------------------------- */

/* Offers the part of @p that is new and wanted, to be placed. */
static void rx_offer(struct mrpc_prio *ep, struct mrpc_prio_rx *rx,
		     const struct mrpc_prio_packet *p, struct mrpc_prio_event *ev)
{
	struct mrpc_prio_range r = { p->offset, p->offset + p->len };

	if (r.to > rx->granted) {
		mrpc_prio_drop(ep, MRPC_PRIO_DROP_UNGRANTED);
		return;
	}
	if (r.to > rx->limit) {
		rx->cut = max(rx->cut, r.to);
		r.to = rx->limit;
	}
	if (rx->total && !mrpc_prio_gaps_new(rx, &r)) {
		if (p->len)
			mrpc_prio_drop(ep, rx->cut ? MRPC_PRIO_DROP_REFUSED :
				       MRPC_PRIO_DROP_DUPLICATE);
		return;
	}
	ev->type = MRPC_PRIO_EVENT_DATA;
	ev->packets = 1;	/* mrpc_prio_accept() has an event of its own */
	ev->rx = rx;
	ev->offset = r.from;
	ev->len = r.to - r.from;
	ev->each = ev->len;
	ev->skip = r.from - p->offset;
}

/*
 * Extends @ev, which covers all of @p, to its train, as far as each packet would be placed like @p.
 * The bytes must be new and wanted, and it must be certain that they can be remembered.
 */
static void rx_train(const struct mrpc_prio_rx *rx, const struct mrpc_prio_packet *p,
		     struct mrpc_prio_event *ev)
{
	u32 end = p->offset + p->len + p->train_len;
	const struct mrpc_prio_gaps *g = rx->gaps;
	struct mrpc_prio_range r = { p->offset, min(end, min(rx->granted, rx->limit)) };

	if (ev->len != p->len || (p->offset != rx->next && (!g || g->nr == MRPC_PRIO_NR_GAPS)))
		return;
	mrpc_prio_gaps_new(rx, &r);
	if (r.to == end) {
		ev->len = end - p->offset;
		ev->packets += p->train;
	} else {
		ev->packets = (r.to - p->offset) / p->len;
		ev->len = ev->packets * p->len;
	}
}

static bool rx_matches(const struct mrpc_prio_rx *rx, const struct mrpc_prio_packet *p)
{
	return rx->total == p->total && rx->conn == p->conn && rx->kind == p->kind;
}

/* Handles a packet of a known message. */
static void rx_more(struct mrpc_prio *ep, struct mrpc_prio_rx *rx,
		    const struct mrpc_prio_packet *p, struct mrpc_prio_event *ev)
{
	if (!rx_matches(rx, p)) {
		mrpc_prio_drop(ep, MRPC_PRIO_DROP_MISMATCH);
		return;
	}
	if (rx->state == MRPC_PRIO_RX_REFUSED) {
		mrpc_prio_rx_say(ep, rx, BIT(MRPC_PRIO_REFUSE));
		return;
	}
	if (p->priority != rx->priority && mrpc_prio_rank_ready(ep, &ep->rx, p->priority)) {
		rx->priority = p->priority;
		mrpc_prio_rx_update(ep, rx);
		ep->grants_due = true;
	}
	rx->urge = p->flags & MRPC_PRIO_URGE;
	rx_offer(ep, rx, p, ev);
	if (rx->urge && (ev->type == MRPC_PRIO_EVENT_NONE || !rx->got))
		mrpc_prio_rx_say(ep, rx, BIT(MRPC_PRIO_GRANT));
}

/* Is there no room for a message? Peers with few messages find room if others have taken all. */
static bool rx_full(const struct mrpc_prio *ep, const struct mrpc_prio_peer *peer)
{
	u64 max = peer->nr_rx < FEW ? 2ULL * ep->rule.max_rx : ep->rule.max_rx;

	return ep->nr_rx >= max || peer->nr_rx >= ep->rule.max_rx_peer;
}

static void rx_refuse(struct mrpc_prio *ep, struct mrpc_prio_peer *peer, u64 msg, u16 code,
		      u32 drop)
{
	mrpc_prio_drop(ep, drop);
	mrpc_prio_note_add(ep, peer, MRPC_PRIO_REFUSE, msg, code);
}

/* Handles the first packet that came of a message. */
static void rx_new(struct mrpc_prio *ep, struct mrpc_prio_peer *peer,
		   const struct mrpc_prio_packet *p, struct mrpc_prio_event *ev)
{
	if (p->msg - peer->rx_base >= MRPC_PRIO_WINDOW)
		mrpc_prio_drop(ep, MRPC_PRIO_DROP_WINDOW);
	else if (p->unscheduled > peer->offered)
		mrpc_prio_drop(ep, MRPC_PRIO_DROP_RANGE);
	else if (p->total > ep->rule.max_total)
		rx_refuse(ep, peer, p->msg, MRPC_PRIO_TOO_BIG, MRPC_PRIO_DROP_REFUSED);
	else if (rx_full(ep, peer))
		rx_refuse(ep, peer, p->msg, MRPC_PRIO_LATER, MRPC_PRIO_DROP_LIMIT);
	else if (!mrpc_prio_rank_ready(ep, &ep->rx, p->priority))
		rx_refuse(ep, peer, p->msg, MRPC_PRIO_LATER, MRPC_PRIO_DROP_MEMORY);
	else
		ev->type = MRPC_PRIO_EVENT_MESSAGE;
}

void mrpc_prio_rx_data(struct mrpc_prio *ep, struct mrpc_prio_peer *peer,
		       const struct mrpc_prio_packet *p, u64 now, struct mrpc_prio_event *ev)
{
	struct mrpc_prio_rx *rx;

	seen_move(peer, p->msg - p->behind);
	rx = rx_find(ep, peer, p->msg);
	if (rx) {
		rx_more(ep, rx, p, ev);
		if (p->train && ev->type == MRPC_PRIO_EVENT_DATA)
			rx_train(rx, p, ev);
	} else if (seen_test(peer, p->msg)) {
		mrpc_prio_drop(ep, MRPC_PRIO_DROP_DUPLICATE);
		mrpc_prio_ack(ep, peer, p->msg, true, now);
	} else {
		rx_new(ep, peer, p, ev);
	}
}

void mrpc_prio_accept(struct mrpc_prio *ep, struct mrpc_prio_peer *peer, struct mrpc_prio_rx *rx,
		      const struct mrpc_prio_packet *p, u32 limit, u64 now,
		      struct mrpc_prio_event *ev)
{
	ev->type = MRPC_PRIO_EVENT_NONE;
	*rx = (struct mrpc_prio_rx){
		.conn = p->conn,
		.msg = p->msg,
		.total = p->total,
		.priority = p->priority,
		.kind = p->kind,
		.peer = peer,
		.granted = p->unscheduled,
		.unscheduled = p->unscheduled,
		.limit = min(limit, p->total),
		.serial = ++ep->serial,
		.timer = { .kind = MRPC_PRIO_TIMER_RX },
	};
	mrpc_link_init(&rx->control);
	mrpc_link_add(mrpc_prio_bucket(ep, peer, rx->msg, true), &rx->hash);
	mrpc_link_add(&peer->rx_all, &rx->of_peer);
	peer->nr_rx++;
	ep->nr_rx++;
	seen_set(peer, rx->msg);
	mrpc_prio_peer_busy(ep, peer, now);
	mrpc_prio_rx_update(ep, rx);
	mrpc_prio_rx_arm(ep, rx, now);
	ep->grants_due = true;
	rx_more(ep, rx, p, ev);
}

void mrpc_prio_refuse(struct mrpc_prio *ep, struct mrpc_prio_peer *peer,
		      const struct mrpc_prio_packet *p, u32 code)
{
	rx_refuse(ep, peer, p->msg, code, MRPC_PRIO_DROP_REFUSED);
}

/* All of @rx is received. */
static void rx_complete(struct mrpc_prio *ep, struct mrpc_prio_rx *rx, u64 now)
{
	struct mrpc_prio_peer *peer = rx->peer;

	rx_forget(ep, rx);
	mrpc_prio_ack(ep, peer, rx->msg, rx->urge, now);
}

bool mrpc_prio_taken(struct mrpc_prio *ep, const struct mrpc_prio_event *ev, u64 now)
{
	struct mrpc_prio_range r = { ev->offset, ev->offset + ev->len };
	struct mrpc_prio_rx *rx = ev->rx;
	u32 next = rx->next;

	if (rx->state != MRPC_PRIO_RX_ACTIVE)
		return false;
	if (ev->len && (!mrpc_prio_gaps_new(rx, &r) || !mrpc_prio_gaps_add(ep, rx, &r)))
		return false;
	ep->stats.data_bytes += r.to - r.from;
	mrpc_prio_places_came(ep, rx->peer, r.to - r.from, now);
	rx_came_all(ep, rx, ev, &r, next, now);
	if (rx->got == rx->total) {
		rx_complete(ep, rx, now);
		return true;
	}
	rx->lost = max(rx->lost, mrpc_prio_gaps_far(ep, rx));
	mrpc_prio_rx_update(ep, rx);
	ep->grants_due = true;
	if (rx->next > next || !rx->timer.armed || mrpc_prio_rx_waits(rx))
		mrpc_prio_rx_arm(ep, rx, now);
	return false;
}

/* -- what the sender says ------------------------------------------------------ */

/*
 * ABORT. If the message has not been seen, it counts as seen now. So a late packet of it does not
 * begin it.
 */
static void rx_aborted(struct mrpc_prio *ep, struct mrpc_prio_peer *peer, struct mrpc_prio_rx *rx,
		       u64 msg, u64 now)
{
	if (rx) {
		mrpc_prio_rx_end(ep, rx, rx->state == MRPC_PRIO_RX_REFUSED ?
				 MRPC_PRIO_REFUSED : MRPC_PRIO_ABORTED);
	} else if (!seen_test(peer, msg)) {
		if (msg - peer->rx_base >= MRPC_PRIO_WINDOW) {
			mrpc_prio_drop(ep, MRPC_PRIO_DROP_WINDOW);
			return;
		}
		seen_set(peer, msg);
	}
	mrpc_prio_ack(ep, peer, msg, true, now);
}

void mrpc_prio_rx_heard(struct mrpc_prio *ep, struct mrpc_prio_peer *peer,
			const struct mrpc_prio_note *note, u64 now)
{
	struct mrpc_prio_rx *rx = rx_find(ep, peer, note->msg);

	if (note->op == MRPC_PRIO_ABORT)
		rx_aborted(ep, peer, rx, note->msg, now);
	else if (!rx || rx->state != MRPC_PRIO_RX_ACTIVE)
		mrpc_prio_drop(ep, MRPC_PRIO_DROP_UNKNOWN);
}
