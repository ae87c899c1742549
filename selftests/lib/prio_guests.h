/* SPDX-License-Identifier: GPL-2.0 */
/* Many peers of one endpoint of the prio transport, which lose packets. Include after tap.h. */
#ifndef PRIO_GUESTS_H
#define PRIO_GUESTS_H

#include "prio_pair.h"

#define NR	20
#define TURNS	8
#define SOME	(2 * PAIR_PAYLOAD)	/* of a message, before what is lost */

/* Peers of b that the test controls, and what b asked each of them for, ascending. */
static struct guest {
	struct mrpc_prio_peer peer;
	struct mrpc_prio_rx rx[2];
	u32 nr;
	u32 done;
	u32 asks;
	u32 asked;		/* bytes in all */
	struct mrpc_prio_note ask;
	struct mrpc_prio_note grant;
} guest[NR];

static inline void guests_start(u32 window)
{
	struct mrpc_prio_packet hello = { .type = MRPC_PRIO_HELLO, .max_total = 1 << 20 };
	struct mrpc_prio_rule r;
	u32 i;

	pair_up();
	r = b->ep.rule;
	r.window = window;
	r.outstanding = 2 * window;
	CHECK_EQ(mrpc_prio_set(&b->ep, &r), 0);
	memset(guest, 0, sizeof(guest));
	for (i = 0; i < NR; i++) {
		hello.token = 1000 + i;
		mrpc_prio_welcome(&b->ep, &guest[i].peer, PAIR_PAYLOAD, &hello, now);
		guest[i].peer.offered = 40000;
	}
}

static inline void guests_stop(void)
{
	u32 i;

	for (i = 0; i < NR; i++)
		mrpc_prio_peer_remove(&b->ep, &guest[i].peer);
	while (mrpc_prio_rx_ended(&b->ep))
		;
	CHECK_EQ(b->ep.repeats + b->ep.nr_asked + b->ep.outstanding, 0);
	pair_stop();
}

/* Bytes of message @msg (from 1) come. All of it is unscheduled. */
static inline void comes(u32 i, u32 msg, u32 total, u32 from, u32 to, u8 flags)
{
	struct guest *g = &guest[i];
	struct mrpc_prio_packet p = {
		.type = MRPC_PRIO_DATA, .to = g->peer.local, .from = g->peer.remote, .conn = 1,
		.msg = msg, .total = total, .unscheduled = total, .offset = from,
		.len = to - from, .priority = 5, .flags = flags,
	};
	struct mrpc_prio_event ev;

	mrpc_prio_receive(&b->ep, &g->peer, "guest", 5, &p, false, now, &ev);
	if (ev.type == MRPC_PRIO_EVENT_MESSAGE)
		mrpc_prio_accept(&b->ep, &g->peer, &g->rx[g->nr++], &p, U32_MAX, now, &ev);
	if (ev.type == MRPC_PRIO_EVENT_DATA)
		g->done += mrpc_prio_taken(&b->ep, &ev, now);
}

/* Handles what b sends. */
static inline void hear(void)
{
	struct mrpc_prio_note note;
	struct mrpc_prio_peer *peer;
	struct packet p;
	u32 i;

	while ((p.len = mrpc_prio_control_next(&b->ep, now, p.buf, sizeof(p.buf), &peer))) {
		struct guest *g = container_of(peer, struct guest, peer);

		parse_own(&p);
		if (peer == &b->peer)
			continue;
		for (i = 0; p.p.type == MRPC_PRIO_CONTROL && i < p.p.nr; i++) {
			mrpc_prio_note_get(&p.p, i, &note);
			if (note.op == MRPC_PRIO_GRANT)
				g->grant = note;
			if (note.op != MRPC_PRIO_RESEND)
				continue;
			g->asked += note.to - note.from;
			if (g->asks++)
				note.from = g->ask.from;
			g->ask = note;
		}
	}
}

static inline u32 asked_of(u32 from, u32 to)
{
	u32 i, n = 0;

	for (i = from; i < to; i++)
		n += !!guest[i].asks;
	return n;
}

/* Guest @i loses @lost bytes of a message. The bytes before them are received. */
static inline void loses(u32 i, u32 msg, u32 lost)
{
	comes(i, msg, SOME + lost, 0, SOME, 0);
}

/* The bytes that guest @i was asked for come. */
static inline void answers(u32 i)
{
	struct guest *g = &guest[i];
	u32 nr = g->ask.msg - 1;

	g->asks = 0;
	comes(i, g->ask.msg, g->rx[nr].total, g->ask.from, g->ask.to, MRPC_PRIO_AGAIN);
}

#endif /* PRIO_GUESTS_H */
