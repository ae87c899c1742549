// SPDX-License-Identifier: GPL-2.0
/*
 * The prio transport: associations. They are made by a handshake with a cookie, watched
 * while there are messages, and end all at once.
 */
#include "lib/ds/siphash.h"
#include "lib/prio/association.h"
#include "lib/prio/peer.h"
#include "lib/prio/prio.h"
#include "lib/prio/rx.h"
#include "lib/prio/say.h"
#include "lib/prio/table.h"
#include "lib/prio/time.h"
#include "lib/prio/tx.h"

#define EPOCH_SHIFT	33	/* 8.6 s */

static void peer_tell(struct mrpc_prio *ep, struct mrpc_prio_peer *peer)
{
	if (mrpc_link_empty(&peer->events))
		mrpc_link_add(&ep->events, &peer->events);
}

/*
 * All messages end, but those that the peer has never heard of if it has restarted: they
 * wait for the next association.
 */
static void peer_end_messages(struct mrpc_prio *ep, struct mrpc_prio_peer *peer, u8 status)
{
	struct mrpc_order_link *l, *next;

	for (l = peer->tx_all.next; l != &peer->tx_all; l = next) {
		struct mrpc_prio_tx *tx = container_of(l, struct mrpc_prio_tx, of_peer);

		next = l->next;
		if (tx->state == MRPC_PRIO_TX_FRESH && status == MRPC_PRIO_RESTARTED)
			mrpc_prio_tx_update(ep, tx);
		else
			mrpc_prio_tx_end(ep, tx, tx->state == MRPC_PRIO_TX_ABORTING ?
					 MRPC_PRIO_ABORTED : status);
	}
	while (!mrpc_link_empty(&peer->rx_all)) {
		struct mrpc_prio_rx *rx = container_of(peer->rx_all.next, struct mrpc_prio_rx,
						       of_peer);

		mrpc_prio_rx_end(ep, rx, rx->state == MRPC_PRIO_RX_REFUSED ?
				 MRPC_PRIO_REFUSED : status);
	}
}

static void peer_end(struct mrpc_prio *ep, struct mrpc_prio_peer *peer, u8 status, u64 now)
{
	/* Not UP: nothing is listed, or noted for the peer, while messages end. */
	peer->state = MRPC_PRIO_PEER_IDLE;
	peer->status = status;
	peer_end_messages(ep, peer, status);
	mrpc_prio_peer_clear(peer);
	mrpc_link_del(&peer->control);
	mrpc_prio_peer_arm(ep, peer);
	peer_tell(ep, peer);
	if (peer->nr_tx)
		mrpc_prio_peer_ask(ep, peer, now);
}

/* It is heard, but does not answer what it must answer: its messages end. */
void mrpc_prio_peer_give_up(struct mrpc_prio *ep, struct mrpc_prio_peer *peer, u64 now)
{
	peer_end(ep, peer, MRPC_PRIO_SILENT, now);
}

void mrpc_prio_peer_remove(struct mrpc_prio *ep, struct mrpc_prio_peer *peer)
{
	struct mrpc_order_link *l;

	peer->state = MRPC_PRIO_PEER_IDLE;
	peer_end_messages(ep, peer, MRPC_PRIO_REMOVED);
	for (l = ep->tx_list.next; l != &ep->tx_list; l = l->next) {
		struct mrpc_prio_tx *tx = container_of(l, struct mrpc_prio_tx, control);

		if (tx->peer == peer)
			tx->peer = NULL;
	}
	for (l = ep->rx_list.next; l != &ep->rx_list; l = l->next) {
		struct mrpc_prio_rx *rx = container_of(l, struct mrpc_prio_rx, control);

		if (rx->peer == peer)
			rx->peer = NULL;
	}
	mrpc_wheel_stop(&ep->timers, &peer->timer);
	mrpc_link_del(&peer->control);
	mrpc_link_del(&peer->events);
	mrpc_link_del(&peer->of_endpoint);
	ep->nr_peers--;
}

static void peer_heard(struct mrpc_prio_peer *peer, u64 now)
{
	peer->heard = now;
	peer->asked = 0;
}

/* The association stands: @p, a HELLO or WELCOME, says what the other end wants. */
static void peer_up(struct mrpc_prio *ep, struct mrpc_prio_peer *peer,
		    const struct mrpc_prio_packet *p, u64 now)
{
	if (peer->state == MRPC_PRIO_PEER_IDLE)
		peer->local = mrpc_prio_token(ep);
	peer->state = MRPC_PRIO_PEER_UP;
	peer->remote = p->token;
	peer->budget = min(ep->rule.unscheduled, p->budget);
	peer->max_total = p->max_total;
	peer->again_credit = 0;
	peer->again_at = now;
	peer->crc = ep->rule.crc || p->features & MRPC_PRIO_FEATURE_CRC;
	peer->say &= ~BIT(MRPC_PRIO_HELLO);
	peer->tries = 0;
	peer_heard(peer, now);
	peer->beat = U64_MAX;
	if (peer->nr_tx)
		mrpc_prio_peer_busy(ep, peer, now);
	mrpc_prio_peer_arm(ep, peer);
	mrpc_prio_tx_refill(ep, peer, U32_MAX);
	peer_tell(ep, peer);
}

/* It stands by @p, a HELLO, which a WELCOME answers, also if we had only begun to ask. */
static void peer_welcome(struct mrpc_prio *ep, struct mrpc_prio_peer *peer,
			 const struct mrpc_prio_packet *p, u64 now)
{
	peer_up(ep, peer, p, now);
	peer->offered = max(peer->offered, ep->rule.unscheduled);
	peer->cookie = p->stamp;
	peer->say |= BIT(MRPC_PRIO_WELCOME);
	mrpc_prio_due(ep, peer);
}

/* Is it there? Only messages make that a question. */
static void peer_probe(struct mrpc_prio *ep, struct mrpc_prio_peer *peer, u64 now)
{
	if (!peer->nr_tx && !peer->nr_rx) {
		peer->beat = U64_MAX;
		return;
	}
	peer->beat = now + mrpc_prio_peer_beat(ep);
	if (now - peer->heard < mrpc_prio_peer_beat(ep))
		return;
	peer->say |= BIT(16 + MRPC_PRIO_PING);
	if (!peer->asked)
		peer->asked = now;
	mrpc_prio_due(ep, peer);
}

void mrpc_prio_peer_timer(struct mrpc_prio *ep, struct mrpc_prio_peer *peer, u64 now)
{
	if (peer->nr_acks && peer->ack_due <= now) {
		peer->ack_due = U64_MAX;
		mrpc_prio_due(ep, peer);
	}
	if (peer->beat <= now) {
		if (peer->asked && now - peer->asked >= ep->rule.silence) {
			peer_end(ep, peer, MRPC_PRIO_SILENT, now);
			return;
		}
		if (peer->state == MRPC_PRIO_PEER_UP) {
			peer_probe(ep, peer, now);
		} else {
			peer->say |= BIT(MRPC_PRIO_HELLO);
			peer->tries = min_t(u32, peer->tries + 1, MRPC_PRIO_MAX_TRIES);
			peer->beat = now + mrpc_prio_rto(ep, peer, peer->tries);
			mrpc_prio_due(ep, peer);
		}
	}
	mrpc_prio_peer_arm(ep, peer);
}

static u64 cookie_make(const struct mrpc_prio *ep, const void *addr, u32 addr_len, u64 token,
		       u32 epoch, u64 ours)
{
	struct {
		u8 addr[MRPC_PRIO_MAX_ADDR];
		u64 token;
		u64 ours;
		u32 epoch;
		u32 addr_len;
	} data;

	memset(&data, 0, sizeof(data));
	memcpy(data.addr, addr, min_t(u32, addr_len, MRPC_PRIO_MAX_ADDR));
	data.token = token;
	data.ours = ours;
	data.epoch = epoch;
	data.addr_len = addr_len;
	return mrpc_siphash(&data, sizeof(data), ep->key);
}

static void answer(struct mrpc_prio_event *ev, struct mrpc_prio_packet *p)
{
	p->flags = MRPC_PRIO_CRC;
	ev->type = MRPC_PRIO_EVENT_ANSWER;
	ev->answer_len = mrpc_prio_encode(p, ev->answer);
}

static void answer_reset(struct mrpc_prio_event *ev, const struct mrpc_prio_packet *p)
{
	struct mrpc_prio_packet reset = { .type = MRPC_PRIO_RESET, .to = p->to };

	answer(ev, &reset);
}

static void hello_in(struct mrpc_prio *ep, struct mrpc_prio_peer *peer, const void *addr,
		     u32 addr_len, const struct mrpc_prio_packet *p, u64 now,
		     struct mrpc_prio_event *ev)
{
	u64 ours = peer && peer->state == MRPC_PRIO_PEER_UP ? peer->local : 0;
	u32 epoch = now >> EPOCH_SHIFT;

	if (ours && p->token == peer->remote) {
		peer_heard(peer, now);
		peer->cookie = p->stamp;
		peer->say |= BIT(MRPC_PRIO_WELCOME);
		mrpc_prio_due(ep, peer);
		return;
	}
	if (epoch - p->epoch > 1 ||
	    p->cookie != cookie_make(ep, addr, addr_len, p->token, p->epoch, ours)) {
		struct mrpc_prio_packet cookie = {
			.type = MRPC_PRIO_COOKIE,
			.to = p->token,
			.epoch = epoch,
			.cookie = cookie_make(ep, addr, addr_len, p->token, epoch, ours),
			.stamp = p->stamp,
		};

		mrpc_prio_drop(ep, MRPC_PRIO_DROP_COOKIE);
		answer(ev, &cookie);
		return;
	}
	if (!peer) {
		ev->type = MRPC_PRIO_EVENT_PEER;
		return;
	}
	if (ours)
		peer_end(ep, peer, MRPC_PRIO_RESTARTED, now);
	peer_welcome(ep, peer, p, now);
}

void mrpc_prio_welcome(struct mrpc_prio *ep, struct mrpc_prio_peer *peer, u32 payload,
		       const struct mrpc_prio_packet *p, u64 now)
{
	mrpc_prio_peer_add(ep, peer, payload, now);
	/* A host that comes again and again under new addresses owes nothing, but is the last each time. */
	peer->tardy = MRPC_PRIO_TARDY;
	peer->fresh = true;
	mrpc_prio_rank_ready(ep, &ep->rx, 0);
	peer_welcome(ep, peer, p, now);
}

/* COOKIE or WELCOME, which a peer sends that was asked. */
static void answer_in(struct mrpc_prio *ep, struct mrpc_prio_peer *peer,
		      const struct mrpc_prio_packet *p, u64 now)
{
	if (p->to != peer->local) {
		mrpc_prio_drop(ep, MRPC_PRIO_DROP_TOKEN);
		return;
	}
	if (peer->state != MRPC_PRIO_PEER_HELLO) {
		mrpc_prio_drop(ep, MRPC_PRIO_DROP_STATE);
		return;
	}
	if (peer->ping && p->stamp == peer->ping)
		mrpc_prio_peer_rtt(peer, now - peer->ping, now);
	if (p->type == MRPC_PRIO_WELCOME) {
		peer_up(ep, peer, p, now);
		return;
	}
	peer->cookie = p->cookie;
	peer->epoch = p->epoch;
	peer->say |= BIT(MRPC_PRIO_HELLO);
	mrpc_prio_due(ep, peer);
}

static void reset_in(struct mrpc_prio *ep, struct mrpc_prio_peer *peer,
		     const struct mrpc_prio_packet *p, u64 now)
{
	if (peer->state != MRPC_PRIO_PEER_UP || p->to != peer->remote)
		mrpc_prio_drop(ep, MRPC_PRIO_DROP_TOKEN);
	else
		peer_end(ep, peer, MRPC_PRIO_RESTARTED, now);
}

/* DATA or CONTROL. Return: whether it is of the association. */
static bool packet_belongs(struct mrpc_prio *ep, const struct mrpc_prio_peer *peer,
			   const struct mrpc_prio_packet *p, struct mrpc_prio_event *ev)
{
	if (peer->state == MRPC_PRIO_PEER_HELLO && p->to == peer->local) {
		mrpc_prio_drop(ep, MRPC_PRIO_DROP_STATE);
		return false;
	}
	if (peer->state != MRPC_PRIO_PEER_UP || p->to != peer->local ||
	    p->from != (u32)peer->remote) {
		mrpc_prio_drop(ep, MRPC_PRIO_DROP_TOKEN);
		answer_reset(ev, p);
		return false;
	}
	if (peer->crc && !(p->flags & MRPC_PRIO_CRC)) {
		mrpc_prio_drop(ep, MRPC_PRIO_DROP_CRC);
		return false;
	}
	return true;
}

/*
 * A packet came: as mrpc_prio_receive().
 * Return: whether it is one of an association, with payload or without, that is to be looked at.
 */
bool mrpc_prio_admit(struct mrpc_prio *ep, struct mrpc_prio_peer *peer, const void *addr,
		     u32 addr_len, const struct mrpc_prio_packet *p, u64 now,
		     struct mrpc_prio_event *ev)
{
	if (p->type == MRPC_PRIO_HELLO) {
		hello_in(ep, peer, addr, addr_len, p, now, ev);
		return false;
	}
	if (!peer) {
		mrpc_prio_drop(ep, MRPC_PRIO_DROP_STRANGER);
		if (p->type == MRPC_PRIO_DATA || p->type == MRPC_PRIO_CONTROL)
			answer_reset(ev, p);
		return false;
	}
	if (p->type == MRPC_PRIO_RESET) {
		reset_in(ep, peer, p, now);
		return false;
	}
	if (p->type == MRPC_PRIO_COOKIE || p->type == MRPC_PRIO_WELCOME) {
		answer_in(ep, peer, p, now);
		return false;
	}
	if (!packet_belongs(ep, peer, p, ev))
		return false;
	peer_heard(peer, now);
	return true;
}
