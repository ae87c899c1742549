// SPDX-License-Identifier: GPL-2.0
/*
 * The prio transport: associations. They are made by a handshake with a cookie, watched
 * while there are messages, and end all at once.
 */
#include "lib/prio/core.h"
#include "lib/ds/siphash.h"

#define EPOCH_SHIFT	33	/* 8.6 s */
#define WHILE_SHIFT	31	/* 2.1 s */
#define RTT_SHIFT	10
#define VAIN_APART	125000ULL	/* ns between two repeats in vain */

/* -- time ---------------------------------------------------------------------- */

/* @way: how long a packet and its answer may take */
static u64 peer_timeout(const struct mrpc_prio *ep, const struct mrpc_prio_peer *peer, u64 way,
			u32 tries)
{
	u64 timeout = max(ep->rule.rto_min, way + ep->rule.ack_delay);

	tries = max_t(u32, tries, peer->late);
	return min(timeout << min_t(u32, tries, MRPC_PRIO_MAX_TRIES), ep->rule.rto_max);
}

/* What the latest round trips say (RFC 6298). */
static u64 peer_way(const struct mrpc_prio_peer *peer)
{
	return peer->srtt + 4 * peer->rttvar;
}

/* Until it is worth a look whether something is lost. */
u64 mrpc_prio_rto(const struct mrpc_prio *ep, const struct mrpc_prio_peer *peer, u32 tries)
{
	return peer_timeout(ep, peer, peer_way(peer), tries);
}

/*
 * What was lost twice was perhaps lost together with what others sent at that time: from then on
 * it takes up to half as long again, by a number that no two associations share.
 */
static u64 peer_apart(const struct mrpc_prio_peer *peer, u64 rto)
{
	return rto + (rto / 2 * (peer->local & 1023) >> 10);
}

/* As mrpc_prio_rto(), for what is in no line. */
u64 mrpc_prio_rto_apart(const struct mrpc_prio *ep, const struct mrpc_prio_peer *peer, u32 tries)
{
	u64 rto = mrpc_prio_rto(ep, peer, tries);

	return tries ? peer_apart(peer, rto) : rto;
}

/*
 * The same where repeats are in vain, as those of @nr messages are: a stranger may have many, and
 * all of them together are worth no more than so many packets a second.
 */
u64 mrpc_prio_rto_vain(const struct mrpc_prio *ep, const struct mrpc_prio_peer *peer, u32 tries,
		       u32 nr)
{
	return peer_apart(peer, max(mrpc_prio_rto(ep, peer, tries), nr * VAIN_APART));
}

/*
 * Until something is lost of which there is no other sign. A queue that others fill grows by more
 * between two messages than these tell: it may become as long as it was in the last seconds,
 * and a quarter more.
 */
u64 mrpc_prio_pto(const struct mrpc_prio *ep, const struct mrpc_prio_peer *peer, u32 tries)
{
	u64 longest = (u64)max(peer->rtt_max, peer->rtt_max_before) << RTT_SHIFT;

	return peer_timeout(ep, peer, max(peer_way(peer), longest + longest / 4), tries);
}

/*
 * A message was not heard of in time, @tries times now. What is repeated says nothing of how long
 * the way is: so all messages wait for longer, until one has told that was sent once (RFC 6298,
 * 5.5). Those that are late together count once.
 */
void mrpc_prio_peer_late(const struct mrpc_prio *ep, struct mrpc_prio_peer *peer, u32 tries,
			 u64 now)
{
	if (tries <= peer->late && now < peer->late_until)
		return;
	peer->late = min_t(u32, max_t(u32, tries, peer->late + 1), MRPC_PRIO_MAX_TRIES);
	peer->late_until = now + mrpc_prio_rto(ep, peer, 0);
}

static void peer_longest(struct mrpc_prio_peer *peer, u64 sample, u64 now)
{
	u32 this = now >> WHILE_SHIFT;

	if (this != peer->rtt_while) {
		peer->rtt_max_before = this - peer->rtt_while == 1 ? peer->rtt_max : 0;
		peer->rtt_max = 0;
		peer->rtt_while = this;
	}
	peer->rtt_max = max_t(u32, peer->rtt_max, (sample >> RTT_SHIFT) + 1);
}

/* As TCP does it (RFC 6298). */
void mrpc_prio_peer_rtt(struct mrpc_prio_peer *peer, u64 sample, u64 now)
{
	u64 off = sample > peer->srtt ? sample - peer->srtt : peer->srtt - sample;

	peer->late = 0;
	/* A clock that is off by minutes must not be believed. */
	sample = min_t(u64, sample, 1ULL << 36);
	peer_longest(peer, sample, now);
	if (!peer->srtt) {
		peer->srtt = max_t(u64, sample, 1);
		peer->rttvar = sample / 2;
		return;
	}
	peer->rttvar = peer->rttvar - peer->rttvar / 4 + min_t(u64, off, 1ULL << 36) / 4;
	peer->srtt = peer->srtt - peer->srtt / 8 + sample / 8;
}

static u64 peer_round(const struct mrpc_prio *ep, const struct mrpc_prio_peer *peer)
{
	return peer->srtt ? peer->srtt : ep->rule.rto_min;
}

/* Once per round trip: what is under way was sent before anybody knew. */
void mrpc_prio_peer_cut(const struct mrpc_prio *ep, const struct mrpc_prio_peer *peer, u16 *scale,
			u64 *last, u64 now)
{
	if (*scale < MRPC_PRIO_SCALE && now - *last < peer_round(ep, peer))
		return;
	*scale = max(*scale / 2, MRPC_PRIO_MIN_SCALE);
	*last = now;
}

void mrpc_prio_peer_grow(const struct mrpc_prio *ep, const struct mrpc_prio_peer *peer, u16 *scale,
			 u64 *last, u64 now)
{
	u64 round = peer_round(ep, peer), rounds;

	if (*scale >= MRPC_PRIO_SCALE)
		return;
	rounds = div64_u64(now - *last, round);
	*last += rounds * round;
	*scale = min_t(u64, *scale + rounds * (MRPC_PRIO_SCALE / 16), MRPC_PRIO_SCALE);
}

void mrpc_prio_peer_arm(struct mrpc_prio *ep, struct mrpc_prio_peer *peer)
{
	u64 when = peer->nr_acks ? min(peer->ack_due, peer->beat) : peer->beat;

	if (when == U64_MAX)
		mrpc_wheel_stop(&ep->timers, &peer->timer);
	else
		mrpc_wheel_arm(&ep->timers, &peer->timer, when);
}

static u64 peer_beat(const struct mrpc_prio *ep)
{
	return max_t(u64, ep->rule.silence / 8, 1);
}

/* There is a message: the peer is asked now and then whether it lives. */
void mrpc_prio_peer_busy(struct mrpc_prio *ep, struct mrpc_prio_peer *peer, u64 now)
{
	if (peer->state != MRPC_PRIO_PEER_UP || peer->beat != U64_MAX)
		return;
	peer->heard = max(peer->heard, now);
	peer->beat = now + peer_beat(ep);
	mrpc_prio_peer_arm(ep, peer);
}

/* -- states -------------------------------------------------------------------- */

static u64 token_draw(struct mrpc_prio *ep)
{
	u64 data[2] = { 0, 0x6e656b6f74 }, token;

	do {
		data[0] = ++ep->drawn;
		token = mrpc_siphash(data, sizeof(data), ep->key);
	} while (!token);
	return token;
}

static void peer_tell(struct mrpc_prio *ep, struct mrpc_prio_peer *peer)
{
	if (mrpc_link_empty(&peer->events))
		mrpc_link_add(&ep->events, &peer->events);
}

/* No association, and nothing left of one. */
static void peer_clear(struct mrpc_prio_peer *peer)
{
	peer->state = MRPC_PRIO_PEER_IDLE;
	peer->ecn = false;
	peer->crc = false;
	peer->tries = 0;
	peer->say = 0;
	peer->local = 0;
	peer->remote = 0;
	peer->cookie = 0;
	peer->epoch = 0;
	peer->unscheduled_out = 0;
	peer->tx_scale = MRPC_PRIO_SCALE;
	peer->rx_scale = MRPC_PRIO_SCALE;
	peer->srtt = 0;
	peer->rttvar = 0;
	peer->late = 0;
	peer->ping = 0;
	peer->rtt_max = 0;
	peer->rtt_max_before = 0;
	peer->acked = 0;
	peer->passed = 0;
	peer->asked = 0;
	peer->beat = U64_MAX;
	peer->next_msg = 1;
	peer->tx_base = 1;
	peer->rx_base = 1;
	memset(peer->tx_seen, 0, sizeof(peer->tx_seen));
	memset(peer->rx_seen, 0, sizeof(peer->rx_seen));
	peer->nr_acks = 0;
	peer->nr_notes = 0;
}

void mrpc_prio_peer_add(struct mrpc_prio *ep, struct mrpc_prio_peer *peer, u32 payload, u64 now)
{
	memset(peer, 0, sizeof(*peer));
	mrpc_prio_peer_payload(peer, payload);
	peer->heard = now;
	peer->max_total = MRPC_PRIO_MAX_TOTAL;
	peer->timer.kind = MRPC_PRIO_TIMER_PEER;
	peer_clear(peer);
	mrpc_link_init(&peer->tx_all);
	mrpc_link_init(&peer->rx_all);
	mrpc_link_init(&peer->tx_control);
	mrpc_link_init(&peer->rx_control);
	mrpc_link_init(&peer->holds);
	mrpc_link_init(&peer->control);
	mrpc_link_init(&peer->events);
	mrpc_link_add(&ep->peers, &peer->of_endpoint);
	ep->nr_peers++;
}

/* Asks for an association. */
static void peer_ask(struct mrpc_prio *ep, struct mrpc_prio_peer *peer, u64 now)
{
	peer->state = MRPC_PRIO_PEER_HELLO;
	peer->local = token_draw(ep);
	peer->offered = 0;
	peer->asked = now;
	peer->tries = 0;
	peer->say |= BIT(MRPC_PRIO_HELLO);
	mrpc_prio_due(ep, peer);
	peer->beat = now + mrpc_prio_rto(ep, peer, 0);
	mrpc_prio_peer_arm(ep, peer);
}

/* A message waits for an association. */
void mrpc_prio_peer_want(struct mrpc_prio *ep, struct mrpc_prio_peer *peer, u64 now)
{
	if (peer->state == MRPC_PRIO_PEER_IDLE)
		peer_ask(ep, peer, now);
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
	peer_clear(peer);
	mrpc_link_del(&peer->control);
	mrpc_prio_peer_arm(ep, peer);
	peer_tell(ep, peer);
	if (peer->nr_tx)
		peer_ask(ep, peer, now);
}

/* It is heard, but does not answer what it must answer: nobody is kept by that. */
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
		peer->local = token_draw(ep);
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
	peer->beat = now + peer_beat(ep);
	if (now - peer->heard < peer_beat(ep))
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

/* -- packets ------------------------------------------------------------------- */

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
	/* Who comes again and again under new addresses owes nothing, but is the last each time. */
	peer->tardy = MRPC_PRIO_TARDY;
	peer->fresh = true;
	mrpc_prio_rank_ready(ep, &ep->rx, 0);
	peer_welcome(ep, peer, p, now);
}

/* COOKIE or WELCOME, which only who asked expects. */
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

void mrpc_prio_receive(struct mrpc_prio *ep, struct mrpc_prio_peer *peer, const void *addr,
		       u32 addr_len, const struct mrpc_prio_packet *p, bool ecn, u64 now,
		       struct mrpc_prio_event *ev)
{
	ev->type = MRPC_PRIO_EVENT_NONE;
	ev->packets = 1;
	ep->stats.packets++;
	if (p->type == MRPC_PRIO_HELLO) {
		hello_in(ep, peer, addr, addr_len, p, now, ev);
		return;
	}
	if (!peer) {
		mrpc_prio_drop(ep, MRPC_PRIO_DROP_STRANGER);
		if (p->type == MRPC_PRIO_DATA || p->type == MRPC_PRIO_CONTROL)
			answer_reset(ev, p);
		return;
	}
	if (p->type == MRPC_PRIO_RESET) {
		reset_in(ep, peer, p, now);
		return;
	}
	if (p->type == MRPC_PRIO_COOKIE || p->type == MRPC_PRIO_WELCOME) {
		answer_in(ep, peer, p, now);
		return;
	}
	if (!packet_belongs(ep, peer, p, ev))
		return;
	peer_heard(peer, now);
	if (p->type == MRPC_PRIO_CONTROL) {
		mrpc_prio_control(ep, peer, p, now);
		return;
	}
	if (ecn) {
		peer->ecn = true;
		mrpc_prio_peer_cut(ep, peer, &peer->rx_scale, &peer->rx_cut, now);
	}
	mrpc_prio_rx_data(ep, peer, p, now, ev);
	ep->stats.packets += ev->packets - 1;
	if (ecn)
		ep->stats.marks += ev->packets;
}
