// SPDX-License-Identifier: GPL-2.0
/*
 * The prio transport: packets without payload. Things to say wait at the peer and at its messages
 * until the caller fetches them. So the events of a batch share a packet.
 */
#include "lib/prio/control.h"
#include "lib/prio/gaps.h"
#include "lib/prio/grant.h"
#include "lib/prio/prio.h"
#include "lib/prio/rx.h"
#include "lib/prio/say.h"
#include "lib/prio/table.h"
#include "lib/prio/time.h"
#include "lib/prio/tx_heard.h"

/* -- acknowledgements ---------------------------------------------------------- */

/* -- what came ----------------------------------------------------------------- */

void mrpc_prio_control(struct mrpc_prio *ep, struct mrpc_prio_peer *peer,
		       const struct mrpc_prio_packet *p, u64 now)
{
	struct mrpc_prio_note note;
	u32 i;

	if (p->flags & MRPC_PRIO_ECN)
		mrpc_prio_peer_cut(ep, peer, &peer->tx_scale, &peer->tx_cut, now);
	for (i = 0; i < p->nr; i++) {
		mrpc_prio_note_get(p, i, &note);
		switch (note.op) {
		case MRPC_PRIO_PING:
			mrpc_prio_note_add(ep, peer, MRPC_PRIO_PONG, note.msg, 0);
			break;
		case MRPC_PRIO_PONG:
			if (peer->ping && note.msg == peer->ping)
				mrpc_prio_peer_rtt(peer, now - peer->ping, now);
			break;
		case MRPC_PRIO_BUSY:
		case MRPC_PRIO_ABORT:
			mrpc_prio_rx_heard(ep, peer, &note, now);
			break;
		default:
			mrpc_prio_tx_heard(ep, peer, &note, now);
		}
	}
}

/* -- what is said -------------------------------------------------------------- */

/* A CONTROL packet being made. It has room for @max entries. */
struct writer {
	u8 *at;
	u32 nr;
	u32 max;
};

static void write_note(struct writer *w, const struct mrpc_prio_note *note)
{
	mrpc_prio_note_put(note, w->at + w->nr++ * sizeof(struct mrpc_prio_entry));
}

static void write_op(struct writer *w, u8 op, u64 msg, u16 code)
{
	struct mrpc_prio_note note = { .op = op, .msg = msg, .code = code };

	write_note(w, &note);
}

static void write_peer(struct mrpc_prio *ep, struct mrpc_prio_peer *peer, struct writer *w, u64 now)
{
	if (peer->say & BIT(16 + MRPC_PRIO_PING)) {
		peer->say &= ~BIT(16 + MRPC_PRIO_PING);
		peer->ping = now;
		write_op(w, MRPC_PRIO_PING, now, 0);
	}
	while (peer->nr_acks && w->nr < w->max) {
		u32 i = --peer->nr_acks;
		struct mrpc_prio_note note = {
			.op = MRPC_PRIO_ACK,
			.msg = peer->acks[i].msg,
			.from = peer->acks[i].more,
			.to = peer->acks[i].more >> 32,
		};

		write_note(w, &note);
		ep->stats.acks++;
	}
	while (peer->nr_notes && w->nr < w->max) {
		u32 i = --peer->nr_notes;
		struct mrpc_prio_note note = {
			.op = peer->note_op[i],
			.msg = peer->note_msg[i],
			.code = peer->note_code[i],
		};

		write_note(w, &note);
	}
}

/* Return: true if all entries had room. */
static bool write_rx(struct mrpc_prio *ep, struct mrpc_prio_rx *rx, struct writer *w, u64 now)
{
	struct mrpc_prio_range missing[MRPC_PRIO_NR_RANGES];
	u32 i, n;

	if (w->max - w->nr < MRPC_PRIO_NR_RANGES + 1)
		return false;
	if (rx->say & BIT(MRPC_PRIO_REFUSE))
		write_op(w, MRPC_PRIO_REFUSE, rx->msg, rx->code);
	if (rx->say & BIT(MRPC_PRIO_GRANT)) {
		struct mrpc_prio_note note = {
			.op = MRPC_PRIO_GRANT,
			.msg = rx->msg,
			.from = rx->next,
			.to = rx->granted,
			.class = rx->class,
		};

		write_note(w, &note);
		ep->stats.grants++;
	}
	if (rx->say & BIT(MRPC_PRIO_RESEND)) {
		n = mrpc_prio_gaps_ranges(rx, rx->told, rx->asked, missing, ARRAY_SIZE(missing));
		for (i = 0; i < n; i++) {
			struct mrpc_prio_note note = {
				.op = MRPC_PRIO_RESEND,
				.msg = rx->msg,
				.from = missing[i].from,
				.to = missing[i].to,
			};

			write_note(w, &note);
		}
		ep->stats.resends += n;
			/* The missing bytes now have as long to come as before. */
		if (n && missing[0].from == rx->next)
			mrpc_prio_rx_arm(ep, rx, now);
	}
	rx->say = 0;
	return true;
}

static void write_messages(struct mrpc_prio *ep, struct mrpc_prio_peer *peer, struct writer *w,
			   u64 now)
{
	while (!mrpc_link_empty(&peer->rx_control)) {
		struct mrpc_prio_rx *rx = container_of(peer->rx_control.next, struct mrpc_prio_rx,
						       control);

		if (!write_rx(ep, rx, w, now))
			return;
		mrpc_link_del(&rx->control);
	}
	while (!mrpc_link_empty(&peer->tx_control) && w->max - w->nr >= 2) {
		struct mrpc_prio_tx *tx = container_of(peer->tx_control.next, struct mrpc_prio_tx,
						       control);

		if (tx->say & BIT(MRPC_PRIO_ABORT))
			write_op(w, MRPC_PRIO_ABORT, tx->msg, 0);
		if (tx->say & BIT(MRPC_PRIO_BUSY))
			write_op(w, MRPC_PRIO_BUSY, tx->msg, 0);
		tx->say = 0;
		mrpc_link_del(&tx->control);
	}
}

static bool peer_silent(const struct mrpc_prio_peer *peer)
{
	return !peer->say && !peer->nr_acks && !peer->nr_notes &&
	       mrpc_link_empty(&peer->rx_control) && mrpc_link_empty(&peer->tx_control);
}

static u32 write_control(struct mrpc_prio *ep, struct mrpc_prio_peer *peer, u64 now, u8 *buf,
			 u32 size)
{
	struct mrpc_prio_packet p = {
		.type = MRPC_PRIO_CONTROL,
		.flags = (peer->crc ? MRPC_PRIO_CRC : 0) | (peer->ecn ? MRPC_PRIO_ECN : 0),
		.to = peer->remote,
		.from = peer->local,
	};
	struct writer w = {
		.at = buf + sizeof(struct mrpc_prio_hdr),
		.max = (size - sizeof(struct mrpc_prio_hdr)) / sizeof(struct mrpc_prio_entry),
	};

	write_peer(ep, peer, &w, now);
	write_messages(ep, peer, &w, now);
	if (!w.nr)
		return 0;
	peer->ecn = false;
	p.nr = w.nr;
	return mrpc_prio_encode(&p, buf) + w.nr * sizeof(struct mrpc_prio_entry);
}

static u32 write_handshake(struct mrpc_prio *ep, struct mrpc_prio_peer *peer, u64 now, u8 *buf)
{
	bool hello = peer->say & BIT(MRPC_PRIO_HELLO);
	struct mrpc_prio_packet p = {
		.type = hello ? MRPC_PRIO_HELLO : MRPC_PRIO_WELCOME,
		.flags = MRPC_PRIO_CRC,
		.to = hello ? 0 : peer->remote,
		.token = peer->local,
		.cookie = hello ? peer->cookie : 0,
		.epoch = hello ? peer->epoch : 0,
		.stamp = hello ? now : peer->cookie,
		.features = ep->rule.crc ? MRPC_PRIO_FEATURE_CRC : 0,
		.budget = hello ? ep->rule.unscheduled : peer->offered,
		.max_total = ep->rule.max_total,
	};

	if (hello) {
		peer->ping = now;
		/* The peer may answer any HELLO of these. */
		peer->offered = max(peer->offered, p.budget);
	}
	peer->say &= hello ? ~BIT(MRPC_PRIO_HELLO) : ~BIT(MRPC_PRIO_WELCOME);
	return mrpc_prio_encode(&p, buf);
}

u32 mrpc_prio_control_next(struct mrpc_prio *ep, u64 now, void *buf, u32 size,
			   struct mrpc_prio_peer **peer)
{
	mrpc_prio_grant(ep, now);
	/* A loss of these packets goes unnoticed. So their size is one that every path takes. */
	size = min_t(u32, size, MRPC_PRIO_DATA_HDR + MRPC_PRIO_BASE_PAYLOAD);
	while (!mrpc_link_empty(&ep->controls)) {
		struct mrpc_prio_peer *p = container_of(ep->controls.next, struct mrpc_prio_peer,
							control);
		u32 len;

		mrpc_link_del(&p->control);
		if (p->say & (BIT(MRPC_PRIO_HELLO) | BIT(MRPC_PRIO_WELCOME)))
			len = write_handshake(ep, p, now, buf);
		else if (p->state == MRPC_PRIO_PEER_UP)
			len = write_control(ep, p, now, buf, size);
		else
			len = 0;
		if (!len)
			continue;
		if (!peer_silent(p))
			mrpc_prio_due(ep, p);
		*peer = p;
		return len;
	}
	return 0;
}
