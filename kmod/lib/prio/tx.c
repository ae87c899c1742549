// SPDX-License-Identifier: GPL-2.0
/*
 * The prio transport: sending. Invariant: a message is in the order of messages that can send if
 * and only if it has bytes that may be sent, or is to be announced.
 */
#include "lib/prio/path.h"
#include "lib/prio/peer.h"
#include "lib/prio/prio.h"
#include "lib/prio/say.h"
#include "lib/prio/table.h"
#include "lib/prio/time.h"
#include "lib/prio/tx.h"

#define SMALL	200	/* bytes; unscheduled messages up to this go in the highest class */
#define MEDIUM	1400
#define LONGEST	16	/* one of so many turns is for the message that waits longest */

/* -- what can send ------------------------------------------------------------- */

static bool window_open(const struct mrpc_prio_peer *peer)
{
	return peer->next_msg - peer->tx_base < MRPC_PRIO_WINDOW;
}

/* Does @tx have something to send, if it has a turn? */
static bool tx_able(const struct mrpc_prio_tx *tx)
{
	if (tx->out || tx->peer->state != MRPC_PRIO_PEER_UP)
		return false;
	if (tx->state == MRPC_PRIO_TX_FRESH)
		return window_open(tx->peer);
	return tx->state == MRPC_PRIO_TX_ACTIVE &&
	       (tx->announce || tx->nr_again || tx->sent < tx->granted);
}

/* Lost bytes go before new ones. An unanswered announcement goes again with the first packet. */
static struct mrpc_prio_range tx_range(const struct mrpc_prio_tx *tx, bool *again)
{
	*again = true;
	if (tx->nr_again)
		return tx->again[0];
	*again = tx->tries;
	if (tx->sent < tx->granted) {
		*again = false;
		return (struct mrpc_prio_range){ tx->sent, tx->granted };
	}
	if (!tx->seen && tx->tries)
		return (struct mrpc_prio_range){ 0, mrpc_prio_path_first(tx) };
	return (struct mrpc_prio_range){ 0, 0 };
}

u32 mrpc_prio_tx_wants(const struct mrpc_prio_tx *tx)
{
	struct mrpc_prio_range r;
	bool again;

	if (!tx_able(tx))
		return 0;
	if (tx->state == MRPC_PRIO_TX_FRESH)
		return tx->total;
	r = tx_range(tx, &again);
	return r.to - r.from;
}

u64 mrpc_prio_tx_left(const struct mrpc_prio_tx *tx)
{
	u64 left = tx->total - tx->sent;
	u32 i;

	for (i = 0; i < tx->nr_again; i++)
		left += tx->again[i].to - tx->again[i].from;
	return max_t(u64, left, mrpc_prio_tx_wants(tx));
}

/* Is @tx in the order of messages that send by themselves? Without payload it needs no turn. */
static bool tx_can(const struct mrpc_prio_tx *tx)
{
	return tx_able(tx) && !(tx->gated && mrpc_prio_tx_wants(tx));
}

static void tx_wait(struct mrpc_prio_tx *tx)
{
	if (!mrpc_lheap_in(&tx->wait))
		mrpc_lheap_add(&tx->peer->tx_wait, &tx->wait,
			       (u64)(255 - tx->priority) << 56 | tx->total, 0);
}

static void tx_list(struct mrpc_prio *ep, struct mrpc_prio_tx *tx, bool fresh)
{
	mrpc_prio_rank_put(&ep->tx, &tx->entity, tx->priority,
			   mrpc_levels_size(tx->total - tx->sent), !fresh);
	if (!fresh && mrpc_link_empty(&tx->since))
		mrpc_link_add(&ep->tx_since, &tx->since);
}

static void tx_unlist(struct mrpc_prio *ep, struct mrpc_prio_tx *tx)
{
	mrpc_prio_rank_del(&ep->tx, &tx->entity);
	mrpc_link_del(&tx->since);
}

static void tx_count_vain(struct mrpc_prio *ep, struct mrpc_prio_tx *tx)
{
	bool vain = tx->state != MRPC_PRIO_TX_ENDED && tx->tries >= MRPC_PRIO_VAIN_TRIES;

	mrpc_prio_vain_count(&ep->tx_vain, tx->peer, &tx->vain, vain);
}

/* The only place where a message is listed or delisted. A begun message resumes at the head. */
void mrpc_prio_tx_update(struct mrpc_prio *ep, struct mrpc_prio_tx *tx)
{
	bool fresh = tx->state == MRPC_PRIO_TX_FRESH;

	tx_count_vain(ep, tx);
	if (tx->gated && mrpc_link_empty(&tx->gate))
		mrpc_link_add(&ep->gates, &tx->gate);
	if (tx_can(tx))
		tx_list(ep, tx, fresh);
	else
		tx_unlist(ep, tx);
	if (fresh && !tx_able(tx))
		tx_wait(tx);
	else
		mrpc_lheap_del(&tx->peer->tx_wait, &tx->wait);
}

/* Lets up to @nr waiting messages begin, if there is an association and room. */
void mrpc_prio_tx_refill(struct mrpc_prio *ep, struct mrpc_prio_peer *peer, u32 nr)
{
	struct mrpc_lheap_node *n;

	if (peer->state != MRPC_PRIO_PEER_UP || !window_open(peer))
		return;
	while (nr-- && (n = mrpc_lheap_first(&peer->tx_wait)))
		mrpc_prio_tx_update(ep, container_of(n, struct mrpc_prio_tx, wait));
}

/* The peer has seen @tx, or never will: its number no longer blocks the window. */
void mrpc_prio_tx_mark(struct mrpc_prio *ep, struct mrpc_prio_tx *tx)
{
	struct mrpc_prio_peer *peer = tx->peer;
	u64 base = peer->tx_base, at;

	tx->seen = true;
	if (tx->msg < base)
		return;
	peer->tx_seen[tx->msg % MRPC_PRIO_WINDOW / 64] |= 1ULL << tx->msg % 64;
	for (at = base; at < peer->next_msg; at++) {
		u64 *word = &peer->tx_seen[at % MRPC_PRIO_WINDOW / 64];

		if (!(*word & 1ULL << at % 64))
			break;
		*word &= ~(1ULL << at % 64);
	}
	peer->tx_base = at;
	mrpc_prio_tx_refill(ep, peer, at - base);
}

/* Frees its part of the unscheduled budget. */
void mrpc_prio_tx_release(struct mrpc_prio_tx *tx)
{
	tx->peer->unscheduled_out -= tx->debt;
	tx->debt = 0;
}

/*
 * Time to give up an urgent message without content. Such a message waits for no grant. If the
 * receiver has not taken it by then, it does not want to. The time allows for a silent receiver,
 * and other answers of the receiver do not extend it.
 */
static u64 tx_spurned_at(const struct mrpc_prio *ep, const struct mrpc_prio_tx *tx)
{
	bool empty = tx->urgent && !tx->total;

	return empty && tx->state == MRPC_PRIO_TX_ACTIVE ? tx->begun_at + 2 * ep->rule.silence :
							   U64_MAX;
}

/* Time until @tx, or its ABORT, is announced again. */
static u64 tx_rto(const struct mrpc_prio *ep, const struct mrpc_prio_tx *tx)
{
	return tx->vain ? mrpc_prio_rto_vain(ep, tx->peer, tx->tries, &ep->tx_vain) :
			  mrpc_prio_rto_apart(ep, tx->peer, tx->tries);
}

void mrpc_prio_tx_arm(struct mrpc_prio *ep, struct mrpc_prio_tx *tx, u64 now)
{
	bool waits = tx->state == MRPC_PRIO_TX_ACTIVE && tx->seen && tx->sent < tx->total;
	u64 look = now + (waits ? ep->rule.rto_max : tx_rto(ep, tx));

	mrpc_wheel_arm(&ep->timers, &tx->timer, min(look, tx_spurned_at(ep, tx)));
}

/* -- its life ------------------------------------------------------------------ */

int mrpc_prio_submit(struct mrpc_prio *ep, struct mrpc_prio_peer *peer, struct mrpc_prio_tx *tx,
		     u64 now)
{
	struct mrpc_prio_tx m = {
		.conn = tx->conn,
		.total = tx->total,
		.priority = tx->priority,
		.kind = tx->kind,
		.urgent = tx->urgent,
		.state = MRPC_PRIO_TX_FRESH,
		.peer = peer,
		.timer = { .kind = MRPC_PRIO_TIMER_TX },
	};

	if (m.total > peer->max_total || m.total > MRPC_PRIO_MAX_TOTAL)
		return -EMSGSIZE;
	if (!mrpc_prio_rank_ready(ep, &ep->tx, m.priority))
		return -ENOMEM;
	*tx = m;
	mrpc_link_init(&tx->hash);
	mrpc_link_init(&tx->control);
	mrpc_link_init(&tx->gate);
	mrpc_link_init(&tx->since);
	mrpc_link_add(&peer->tx_all, &tx->of_peer);
	peer->nr_tx++;
	ep->nr_tx++;
	mrpc_prio_peer_want(ep, peer, now);
	mrpc_prio_peer_busy(ep, peer, now);
	mrpc_prio_tx_update(ep, tx);
	return 0;
}

static void tx_give_back(struct mrpc_prio *ep, struct mrpc_prio_tx *tx)
{
	mrpc_link_add(&ep->tx_list, &tx->control);
}

void mrpc_prio_tx_end(struct mrpc_prio *ep, struct mrpc_prio_tx *tx, u8 status)
{
	struct mrpc_prio_peer *peer = tx->peer;

	tx->state = MRPC_PRIO_TX_ENDED;
	tx->status = status;
	mrpc_prio_tx_release(tx);
	tx_unlist(ep, tx);
	tx_count_vain(ep, tx);
	mrpc_lheap_del(&peer->tx_wait, &tx->wait);
	mrpc_wheel_stop(&ep->timers, &tx->timer);
	mrpc_link_del(&tx->hash);
	mrpc_link_del(&tx->of_peer);
	mrpc_link_del(&tx->control);
	mrpc_link_del(&tx->gate);
	peer->nr_tx--;
	ep->nr_tx--;
	if (tx->msg && !tx->seen)
		mrpc_prio_tx_mark(ep, tx);
	else
		mrpc_prio_tx_refill(ep, peer, 1);
	if (!tx->out)
		tx_give_back(ep, tx);
}

void mrpc_prio_tx_say(struct mrpc_prio *ep, struct mrpc_prio_tx *tx, u16 say)
{
	tx->say |= say;
	if (mrpc_link_empty(&tx->control))
		mrpc_link_add(&tx->peer->tx_control, &tx->control);
	mrpc_prio_due(ep, tx->peer);
}

void mrpc_prio_tx_abort(struct mrpc_prio *ep, struct mrpc_prio_tx *tx, u64 now)
{
	if (tx->state == MRPC_PRIO_TX_FRESH) {
		mrpc_prio_tx_end(ep, tx, MRPC_PRIO_ABORTED);
	} else if (tx->state == MRPC_PRIO_TX_ACTIVE) {
		tx->state = MRPC_PRIO_TX_ABORTING;
		tx->begun_at = now;
		tx->tries = 0;
		mrpc_prio_tx_update(ep, tx);
		mrpc_prio_tx_say(ep, tx, BIT(MRPC_PRIO_ABORT));
		mrpc_prio_tx_arm(ep, tx, now);
	}
}

int mrpc_prio_tx_priority(struct mrpc_prio *ep, struct mrpc_prio_tx *tx, u8 priority)
{
	if (tx->state == MRPC_PRIO_TX_ENDED)
		return 0;
	if (!mrpc_prio_rank_ready(ep, &ep->tx, priority))
		return -ENOMEM;
	tx->priority = priority;
	mrpc_lheap_del(&tx->peer->tx_wait, &tx->wait);
	mrpc_prio_tx_update(ep, tx);
	return 0;
}

/*
 * Time when a missing answer means that @tx is lost. It is lost at once if a message was
 * acknowledged that was sent later, by a quarter of a round trip (as in RFC 9002). While earlier
 * messages are still acknowledged, and for the probe timeout after that, it is only late.
 */
static u64 tx_lost_at(const struct mrpc_prio *ep, const struct mrpc_prio_tx *tx)
{
	const struct mrpc_prio_peer *peer = tx->peer;

	if (tx->state != MRPC_PRIO_TX_ACTIVE || !tx->sent_at ||
	    peer->passed > tx->sent_at + peer->srtt / 4)
		return 0;
	return max(peer->acked, tx->sent_at) + mrpc_prio_pto(ep, peer, tx->tries);
}

/*
 * Its timer: no answer for a while. A message that only waits for its turn here is not concerned.
 * Return: false if its receiver does not answer what it must answer.
 */
bool mrpc_prio_tx_timer(struct mrpc_prio *ep, struct mrpc_prio_tx *tx, u64 now)
{
	u64 lost_at = tx_lost_at(ep, tx);

	if (tx_spurned_at(ep, tx) <= now) {
		mrpc_prio_tx_abort(ep, tx, now);
		return true;
	}
	if (lost_at > now) {
		mrpc_wheel_arm(&ep->timers, &tx->timer,
			       min(lost_at, now + mrpc_prio_rto(ep, tx->peer, tx->tries)));
		return true;
	}
	if (tx->state == MRPC_PRIO_TX_ABORTING || !(tx->out || tx_able(tx))) {
		tx->tries = min_t(u32, tx->tries + 1, MRPC_PRIO_MAX_TRIES);
		tx_count_vain(ep, tx);
		ep->stats.timeouts++;
	}
	if (tx->state == MRPC_PRIO_TX_ABORTING) {
		/* Times between may be short: a pause of the way is not the end of all. Or long. */
		if (tx->tries >= MRPC_PRIO_LAST_TRIES &&
		    now >= tx->begun_at + 2 * ep->rule.silence)
			return false;
		mrpc_prio_tx_say(ep, tx, BIT(MRPC_PRIO_ABORT));
	} else if (!tx->out && !tx_able(tx)) {
		if (!tx->seen)
			mrpc_prio_peer_late(ep, tx->peer, tx->tries, now);
		tx->announce = true;
		mrpc_prio_tx_update(ep, tx);
	}
	mrpc_prio_tx_arm(ep, tx, now);
	return true;
}

/* -- the next chunk ------------------------------------------------------------ */

/*
 * Bytes that a message may send at once when it begins: whole packets, unless it is all. A quarter
 * of the budget is reserved for small messages. So they do not wait for a grant behind large ones.
 */
static u32 tx_unscheduled(const struct mrpc_prio_tx *tx)
{
	const struct mrpc_prio_peer *peer = tx->peer;
	u32 budget = (u64)peer->budget * peer->tx_scale / MRPC_PRIO_SCALE;
	u32 kept = tx->total > budget / 8 ? budget / 4 : 0, rest;
	u32 room = budget > peer->unscheduled_out + kept ?
		   budget - peer->unscheduled_out - kept : 0;

	if (room >= tx->total)
		return tx->total;
	div_u64_rem(room, peer->payload, &rest);
	return room - rest;
}

static void tx_begin(struct mrpc_prio *ep, struct mrpc_prio_tx *tx, u64 now)
{
	struct mrpc_prio_peer *peer = tx->peer;

	mrpc_prio_peer_grow(ep, peer, &peer->tx_scale, &peer->tx_cut, now);
	mrpc_prio_path_raise(peer, now);
	tx->state = MRPC_PRIO_TX_ACTIVE;
	tx->begun_at = now;
	tx->association = peer->local;
	tx->msg = peer->next_msg++;
	tx->unscheduled = tx_unscheduled(tx);
	tx->granted = tx->unscheduled;
	tx->debt = tx->unscheduled;
	peer->unscheduled_out += tx->debt;
	tx->announce = true;
	mrpc_link_add(mrpc_prio_bucket(ep, peer, tx->msg, false), &tx->hash);
}

/* Is little left of what may be under way without an answer? */
static bool tx_pressing(const struct mrpc_prio_peer *peer)
{
	return peer->unscheduled_out > peer->budget / 2 ||
	       peer->next_msg - peer->tx_base > MRPC_PRIO_WINDOW / 2;
}

/* Class of unscheduled bytes, and of packets without payload: an announcement must not wait. */
static u8 tx_small_class(const struct mrpc_prio_tx *tx)
{
	return tx->total <= SMALL ? 6 : tx->total <= MEDIUM ? 5 : 4;
}

static u8 tx_class(const struct mrpc_prio_tx *tx, u32 offset, u32 len)
{
	return len && offset >= tx->unscheduled ? tx->class : tx_small_class(tx);
}

static void tx_fill(struct mrpc_prio_tx *tx, u32 most, struct mrpc_prio_chunk *chunk)
{
	struct mrpc_prio_peer *peer = tx->peer;
	bool again;
	struct mrpc_prio_range r = tx_range(tx, &again);
	struct mrpc_prio_packet *p = &chunk->packet;

	memset(chunk, 0, sizeof(*chunk));
	chunk->tx = tx;
	chunk->peer = peer;
	chunk->offset = r.from;
	chunk->len = mrpc_prio_path_len(tx, r.from, min(r.to - r.from, most));
	chunk->class = tx_class(tx, r.from, chunk->len);
	p->type = MRPC_PRIO_DATA;
	p->flags = peer->crc ? MRPC_PRIO_CRC : 0;
	if (again)
		p->flags |= MRPC_PRIO_AGAIN;
	if (tx->tries || tx->urgent || tx_pressing(peer))
		p->flags |= MRPC_PRIO_URGE;
	p->priority = tx->priority;
	p->to = peer->remote;
	p->from = peer->local;
	p->conn = tx->conn;
	p->msg = tx->msg;
	p->ack = mrpc_prio_ack_take(peer);
	p->total = tx->total;
	p->unscheduled = tx->unscheduled;
	p->kind = tx->kind;
	p->behind = tx->msg > peer->tx_base ? tx->msg - peer->tx_base : 0;
}

const struct mrpc_prio_tx *mrpc_prio_tx_best(const struct mrpc_prio *ep)
{
	struct mrpc_prio_ranked *e = mrpc_prio_rank_first(&ep->tx);

	return e ? container_of(e, struct mrpc_prio_tx, entity) : NULL;
}

/* Starts the turn of @tx, with at most @most bytes of payload. */
static void tx_start(struct mrpc_prio *ep, struct mrpc_prio_tx *tx, u32 most, u64 now,
		     struct mrpc_prio_chunk *chunk)
{
	tx_unlist(ep, tx);
	if (tx->state == MRPC_PRIO_TX_FRESH)
		tx_begin(ep, tx, now);
	tx->out = true;
	tx_fill(tx, most, chunk);
}

/*
 * The message that has the next turn, or NULL. The window of a peer may have closed since a fresh
 * message was listed. Then that message waits for the window, and the next one is considered.
 */
static struct mrpc_prio_tx *tx_first(struct mrpc_prio *ep)
{
	struct mrpc_prio_ranked *e;

	while ((e = mrpc_prio_rank_first(&ep->tx))) {
		struct mrpc_prio_tx *tx = container_of(e, struct mrpc_prio_tx, entity);

		if (tx_can(tx))
			return tx;
		ep->stats.wasted++;
		mrpc_prio_tx_update(ep, tx);
	}
	return NULL;
}

/*
 * Now and then, the begun message that has waited longest gets a turn. Others may go before it for
 * any time, but its receiver must not wait for ever for a message that it has given room to.
 */
static struct mrpc_prio_tx *tx_longest(struct mrpc_prio *ep, u64 now)
{
	struct mrpc_prio_tx *tx;

	if (++ep->turns % LONGEST || mrpc_link_empty(&ep->tx_since))
		return NULL;
	tx = container_of(ep->tx_since.next, struct mrpc_prio_tx, since);
	return tx_can(tx) && now - tx->sent_at >= ep->rule.rto_max ? tx : NULL;
}

bool mrpc_prio_tx_next(struct mrpc_prio *ep, u64 now, struct mrpc_prio_chunk *chunk)
{
	struct mrpc_prio_tx *tx = tx_longest(ep, now) ?: tx_first(ep);

	if (!tx)
		return false;
	tx_start(ep, tx, ep->rule.chunk, now, chunk);
	return true;
}

/* Is the chunk all of a message, for the first time? */
static bool chunk_whole(const struct mrpc_prio_chunk *chunk)
{
	return chunk->len && chunk->len == chunk->tx->total &&
	       !(chunk->packet.flags & MRPC_PRIO_AGAIN);
}

/* Can all of @tx go with @chunk, in @room more bytes? */
static bool tx_joins(const struct mrpc_prio *ep, const struct mrpc_prio_tx *tx,
		     const struct mrpc_prio_chunk *chunk, u32 room)
{
	return tx->peer == chunk->peer && tx->state == MRPC_PRIO_TX_FRESH && tx->total &&
	       room > MRPC_PRIO_DATA_HDR && tx->total <= room - MRPC_PRIO_DATA_HDR &&
	       tx->total <= ep->rule.chunk && tx_unscheduled(tx) == tx->total &&
	       tx_small_class(tx) == chunk->class;
}

/*
 * Messages larger than a packet discover a path that takes no large packets. So messages that share
 * a datagram go in one that every path takes.
 */
u32 mrpc_prio_tx_more(struct mrpc_prio *ep, u64 now, struct mrpc_prio_chunk *chunks, u32 most)
{
	u32 room = MRPC_PRIO_DATA_HDR + min(chunks->peer->payload, MRPC_PRIO_BASE_PAYLOAD);
	u32 used = MRPC_PRIO_DATA_HDR + chunks->len, nr = 1;
	struct mrpc_prio_tx *tx;

	if (!chunk_whole(chunks) || used > room)
		return 1;
	while (nr < most && (tx = tx_first(ep)) && tx_joins(ep, tx, chunks, room - used)) {
		tx_start(ep, tx, tx->total, now, &chunks[nr]);
		chunks[nr - 1].packet.nr = chunks[nr - 1].len;
		used += MRPC_PRIO_DATA_HDR + chunks[nr].len;
		nr++;
	}
	ep->stats.joined += nr - 1;
	return nr;
}

/* -- turns that the caller gives ---------------------------------------------------- */

void mrpc_prio_tx_gate(struct mrpc_prio *ep, struct mrpc_prio_tx *tx, bool gated)
{
	if (tx->state == MRPC_PRIO_TX_ENDED)
		return;
	tx->gated = gated;
	mrpc_link_del(&tx->gate);
	mrpc_prio_tx_update(ep, tx);
}

struct mrpc_prio_tx *mrpc_prio_tx_gates(struct mrpc_prio *ep)
{
	struct mrpc_order_link *l = ep->gates.next;

	if (l == &ep->gates)
		return NULL;
	mrpc_link_del(l);
	return container_of(l, struct mrpc_prio_tx, gate);
}

bool mrpc_prio_tx_turn(struct mrpc_prio *ep, struct mrpc_prio_tx *tx, u32 bytes, u64 now,
		       struct mrpc_prio_chunk *chunk)
{
	if (tx->state == MRPC_PRIO_TX_ENDED)
		return false;
	if (!mrpc_prio_tx_wants(tx)) {
		ep->stats.wasted++;
		mrpc_prio_tx_update(ep, tx);
		return false;
	}
	tx_start(ep, tx, min(bytes, ep->rule.chunk), now, chunk);
	return true;
}

void mrpc_prio_chunk_header(const struct mrpc_prio_chunk *chunk, u32 at, void *buf)
{
	struct mrpc_prio_packet p = chunk->packet;

	p.offset = chunk->offset + at;
	mrpc_prio_encode(&p, buf);
}

/*
 * A peer that asks for bytes over and over could make this end send much for little. So the bytes
 * sent again are bounded by those sent for the first time, plus one chunk per timeout of the
 * receiver. With that chunk the message gets on, however much is lost.
 */
void mrpc_prio_again_earn(const struct mrpc_prio *ep, struct mrpc_prio_peer *peer, u64 bytes)
{
	peer->again_credit = min_t(u64, peer->again_credit + bytes, ep->rule.outstanding);
}

void mrpc_prio_again_remove(struct mrpc_prio_tx *tx, u32 i)
{
	tx->nr_again--;
	memmove(&tx->again[i], &tx->again[i + 1], (tx->nr_again - i) * sizeof(tx->again[0]));
}

/* These bytes were sent. If the middle of a range was, the range is sent again from there on. */
static void again_cut(struct mrpc_prio_tx *tx, u32 from, u32 to)
{
	u32 i = 0;

	while (i < tx->nr_again) {
		struct mrpc_prio_range *r = &tx->again[i];

		if (r->from >= from && r->from < to)
			r->from = to;
		if (r->from >= r->to)
			mrpc_prio_again_remove(tx, i);
		else
			i++;
	}
}

/*
 * Packets of @chunk went out, with @sent bytes of payload. They may arrive even if the message was
 * put off since, but then it begins again.
 */
static void tx_advance(struct mrpc_prio *ep, struct mrpc_prio_tx *tx,
		       const struct mrpc_prio_chunk *chunk, u32 sent, u64 now)
{
	u32 end = chunk->offset + sent;

	if (end > tx->most) {
		mrpc_prio_again_earn(ep, tx->peer, end - tx->most);
		tx->most = end;
	}
	if (chunk->packet.unscheduled != tx->unscheduled)
		return;
	if (chunk->packet.flags & MRPC_PRIO_AGAIN) {
		again_cut(tx, chunk->offset, end);
		tx->resent += sent;
		ep->stats.resent += sent;
	} else if (chunk->offset == tx->sent) {	/* an announcement is at 0 */
		tx->sent = end;
	}
	tx->announce = false;
	tx->sent_at = now;
	mrpc_prio_tx_arm(ep, tx, now);
}

void mrpc_prio_tx_sent(struct mrpc_prio *ep, const struct mrpc_prio_chunk *chunk, u32 sent,
		       bool any, u64 now)
{
	struct mrpc_prio_tx *tx = chunk->tx;

	tx->out = false;
	if (!any) {
		ep->stats.wasted++;
		if (chunk->packet.ack && chunk->packet.to == chunk->peer->remote)
			mrpc_prio_ack(ep, chunk->peer, chunk->packet.ack, false, now);
	}
	if (tx->state == MRPC_PRIO_TX_ENDED) {
		tx_give_back(ep, tx);
		return;
	}
	if (tx->state != MRPC_PRIO_TX_ACTIVE)
		return;
	if (any)
		tx_advance(ep, tx, chunk, sent, now);
	mrpc_prio_tx_update(ep, tx);
}
