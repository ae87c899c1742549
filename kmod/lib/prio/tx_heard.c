// SPDX-License-Identifier: GPL-2.0
/*
 * The prio transport: what the receiver of a message says about it.
 */
#include "lib/prio/path.h"
#include "lib/prio/say.h"
#include "lib/prio/table.h"
#include "lib/prio/time.h"
#include "lib/prio/tx.h"
#include "lib/prio/tx_heard.h"

static struct mrpc_prio_tx *tx_find(const struct mrpc_prio *ep, const struct mrpc_prio_peer *peer,
				    u64 msg)
{
	struct mrpc_order_link *head = mrpc_prio_bucket(ep, peer, msg, false), *l;

	for (l = head->next; l != head; l = l->next) {
		struct mrpc_prio_tx *tx = container_of(l, struct mrpc_prio_tx, hash);

		if (tx->peer == peer && tx->msg == msg)
			return tx;
	}
	return NULL;
}

/* -- ranges to send again ------------------------------------------------------ */

static u32 again_credit(const struct mrpc_prio *ep, struct mrpc_prio_peer *peer, u64 now)
{
	u64 times = div64_u64(now - peer->again_at, ep->rule.rto_min);
	u32 chunk = max(ep->rule.chunk, peer->payload);

	peer->again_at += times * ep->rule.rto_min;
	mrpc_prio_again_earn(ep, peer, min_t(u64, times, U32_MAX) * chunk);
	return peer->again_credit;
}

static u32 again_bytes(const struct mrpc_prio_tx *tx)
{
	u32 i, n = 0;

	for (i = 0; i < tx->nr_again; i++)
		n += tx->again[i].to - tx->again[i].from;
	return n;
}

/* Ascending, joined with what it touches. If there is no room it will be asked for again. */
static void again_add(struct mrpc_prio *ep, struct mrpc_prio_tx *tx, u32 from, u32 to)
{
	u32 i = 0;

	while (i < tx->nr_again && tx->again[i].to < from)
		i++;
	while (i < tx->nr_again && tx->again[i].from <= to) {
		from = min(from, tx->again[i].from);
		to = max(to, tx->again[i].to);
		mrpc_prio_again_remove(tx, i);
	}
	if (tx->nr_again == MRPC_PRIO_NR_RANGES) {
		mrpc_prio_drop(ep, MRPC_PRIO_DROP_LIMIT);
		return;
	}
	memmove(&tx->again[i + 1], &tx->again[i], (tx->nr_again - i) * sizeof(tx->again[0]));
	tx->again[i] = (struct mrpc_prio_range){ from, to };
	tx->nr_again++;
}

/*
 * As many of these as may be: the others will be asked for again. A range that is not joined with
 * another one is a packet, however little is in it, and costs as much.
 */
static void again_ask(struct mrpc_prio *ep, struct mrpc_prio_tx *tx, u32 from, u32 to, u64 now)
{
	u32 credit = again_credit(ep, tx->peer, now), before = again_bytes(tx), nr = tx->nr_again;
	u32 cost;

	if (!credit) {
		mrpc_prio_drop(ep, MRPC_PRIO_DROP_LIMIT);
		return;
	}
	again_add(ep, tx, from, from + min(to - from, credit));
	cost = again_bytes(tx) - before;
	if (tx->nr_again > nr)
		cost = max_t(u32, cost, tx->peer->payload);
	tx->peer->again_credit -= min(credit, cost);
}

/* -- entries ------------------------------------------------------------------- */

static void tx_news(struct mrpc_prio *ep, struct mrpc_prio_tx *tx)
{
	tx->tries = 0;
	mrpc_prio_tx_release(tx);
	if (!tx->seen)
		mrpc_prio_tx_mark(ep, tx);
}

static void tx_granted(struct mrpc_prio *ep, struct mrpc_prio_tx *tx,
		       const struct mrpc_prio_note *note, u64 now)
{
	bool resend = note->op == MRPC_PRIO_RESEND;

	if (note->to > tx->total || (!resend && note->from > tx->most)) {
		mrpc_prio_drop(ep, MRPC_PRIO_DROP_STALE);
		return;
	}
	mrpc_prio_path_seen(ep, tx, resend ? 0 : note->from, now);
	tx_news(ep, tx);
	tx->granted = max(tx->granted, note->to);
	if (!resend) {
		tx->here = max(tx->here, note->from);
		tx->class = note->class;
	} else if (note->to <= tx->sent) {
		mrpc_prio_path_missing(ep, tx, note->from, note->to, now);
		again_ask(ep, tx, note->from, note->to, now);
	} else {
		mrpc_prio_tx_say(ep, tx, BIT(MRPC_PRIO_BUSY));
	}
	mrpc_prio_tx_update(ep, tx);
	mrpc_prio_tx_arm(ep, tx, now);
}

/* From the beginning, without a grant not a byte, and not before a while has passed. */
static void tx_put_off(struct mrpc_prio *ep, struct mrpc_prio_tx *tx, u64 now)
{
	mrpc_prio_tx_release(tx);
	tx->unscheduled = 0;
	tx->granted = 0;
	tx->sent = 0;
	tx->sent_at = 0;
	tx->nr_again = 0;
	tx->stuck = 0;
	tx->announce = false;
	tx->tries = min_t(u32, tx->tries + 1, MRPC_PRIO_MAX_TRIES);
	mrpc_prio_tx_update(ep, tx);
	mrpc_prio_tx_arm(ep, tx, now);
}

static void tx_refused(struct mrpc_prio *ep, struct mrpc_prio_peer *peer, struct mrpc_prio_tx *tx,
		       const struct mrpc_prio_note *note, u64 now)
{
	if (note->code == MRPC_PRIO_REJECTED)
		mrpc_prio_note_add(ep, peer, MRPC_PRIO_ABORT, note->msg, 0);
	if (!tx) {
		mrpc_prio_drop(ep, MRPC_PRIO_DROP_UNKNOWN);
	} else if (tx->state == MRPC_PRIO_TX_ABORTING) {
		/* LATER: it does not know it, but might have a copy of a packet before it. */
		if (note->code != MRPC_PRIO_LATER)
			mrpc_prio_tx_end(ep, tx, MRPC_PRIO_ABORTED);
	} else if (note->code != MRPC_PRIO_LATER) {
		tx->code = note->code;
		mrpc_prio_tx_end(ep, tx, MRPC_PRIO_REFUSED);
	} else if (tx->seen) {
		mrpc_prio_drop(ep, MRPC_PRIO_DROP_STALE);
	} else {
		tx_put_off(ep, tx, now);
	}
}

/* Return: whether @msg was there, and could be complete. */
bool mrpc_prio_tx_acked(struct mrpc_prio *ep, struct mrpc_prio_peer *peer, u64 msg, u64 now)
{
	struct mrpc_prio_tx *tx = tx_find(ep, peer, msg);
	bool once;

	if (!tx)
		return false;
	if (tx->state == MRPC_PRIO_TX_ABORTING) {
		mrpc_prio_tx_end(ep, tx, MRPC_PRIO_ABORTED);
		return true;
	}
	if (tx->most < tx->total)
		return false;
	mrpc_prio_path_seen(ep, tx, tx->total, now);
	peer->acked = now;
	/* Which one of several came is not known; none was sent before it began. */
	once = !tx->tries && !tx->resent && tx->sent_at;
	peer->passed = max(peer->passed, once ? tx->sent_at : tx->begun_at);
	if (once)
		mrpc_prio_peer_rtt(peer, now - tx->sent_at, now);
	mrpc_prio_tx_end(ep, tx, MRPC_PRIO_DONE);
	return true;
}

static void tx_acks(struct mrpc_prio *ep, struct mrpc_prio_peer *peer,
		    const struct mrpc_prio_note *note, u64 now)
{
	u64 more = (u64)note->to << 32 | note->from, msg = note->msg;
	bool known = false;

	/* No number that there has not been is looked for: a packet has room for thousands. */
	for (; peer->nr_tx && msg < peer->next_msg; more &= more - 1) {
		known |= mrpc_prio_tx_acked(ep, peer, msg, now);
		if (!more)
			break;
		msg = note->msg + 1 + __ffs64(more);
	}
	if (!known)
		mrpc_prio_drop(ep, MRPC_PRIO_DROP_UNKNOWN);
}

void mrpc_prio_tx_heard(struct mrpc_prio *ep, struct mrpc_prio_peer *peer,
			const struct mrpc_prio_note *note, u64 now)
{
	struct mrpc_prio_tx *tx;

	if (note->op == MRPC_PRIO_ACK) {
		tx_acks(ep, peer, note, now);
		return;
	}
	tx = tx_find(ep, peer, note->msg);
	if (note->op == MRPC_PRIO_REFUSE) {
		tx_refused(ep, peer, tx, note, now);
	} else if (tx && tx->state == MRPC_PRIO_TX_ACTIVE) {
		tx_granted(ep, tx, note, now);
	} else {
		if (!tx && note->op == MRPC_PRIO_RESEND)
			mrpc_prio_note_add(ep, peer, MRPC_PRIO_ABORT, note->msg, 0);
		mrpc_prio_drop(ep, MRPC_PRIO_DROP_UNKNOWN);
	}
}
