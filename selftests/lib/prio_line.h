/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One endpoint of the prio transport receives over a line from honest peers, which send what they
 * are granted, and from hostile peers. Include after tap.h.
 */
#ifndef PRIO_LINE_H
#define PRIO_LINE_H

#include "lib/prio/grant.h"
#include "lib/prio/prio.h"
#include "lib/prio/rx.h"
#include "lib/prio/table.h"
#include "prio_malloc.h"

#define BUCKETS		4096
#define HONEST		8
#define HOSTILE		16
#define PEERS		(HONEST + HOSTILE)
#define QUEUE		4096	/* packets */
#define KNOWN		4000000	/* ns that a line is in use before a hostile peer comes */

struct line {
	u32 rate;	/* bytes in 1 ms */
	u32 way;	/* ns from a grant to the queue before the line */
	u32 piece;	/* bytes of a packet */
	u32 overcommit;
	u32 step;
	u32 window;
	u32 outstanding;
};

static const struct line lines[] = {
	{ 1250000, 100000, 8192, 4, 16384, 131072, 524288 },	/* 10 Gb/s, default settings */
	{ 125000, 1000000, 8192, 4, 16384, 131072, 524288 },
	{ 1250, 1000000, 2048, 4, 4096, 32768, 262144 },	/* with settings for it */
};

/* Behaviour of a hostile peer. */
enum hostile {
	TRICKLE,	/* a packet now and then */
	RENEW,		/* nothing: its messages are given up and replaced all the time */
	ALL_GRANTED,	/* many messages that are all granted, and trickle */
	ANNOUNCE,	/* the bytes that it announces as unscheduled do not come */
	PAY,		/* all that it is granted, very late */
	SEND,		/* all that it is granted, at once */
	STRANGER,	/* nothing, and it comes again under another address */
	STRANGER_SAYS,	/* as STRANGER, and it announces bytes, too */
};

struct sender {
	struct mrpc_prio_peer peer;
	struct mrpc_prio_rx rx[4];	/* by number */
	u64 msg;			/* the last one */
	u64 sends_at;
	u32 total;
	u32 sent;			/* of the last one, into the queue */
	u32 granted;
};

struct piece {
	u64 at;		/* the queue */
	struct sender *s;
	u64 msg;
	u32 from;
	u32 to;
};

static struct mrpc_prio ep;
static struct mrpc_order_link hash[BUCKETS];
static struct sender senders[PEERS];
static struct piece queue[QUEUE];
static u32 head, tail;
static const struct line *line;
static u64 now, honest_bytes, hostile_bytes;
static u32 nr_hostile, hostile_share;

static inline bool is_honest(const struct sender *s)
{
	return s < senders + HONEST;
}

static inline struct mrpc_prio_rx *rx_of(struct sender *s, u64 msg)
{
	return &s->rx[msg % ARRAY_SIZE(s->rx)];
}

static inline void came(struct sender *s, u64 msg, u32 unscheduled, u32 from, u32 len)
{
	struct mrpc_prio_packet p = {
		.type = MRPC_PRIO_DATA,
		.to = s->peer.local,
		.from = s->peer.remote,
		.conn = 1,
		.msg = msg,
		.behind = min_t(u64, msg - 1, ARRAY_SIZE(s->rx)),
		.priority = is_honest(s) ? 5 : 255,
		.total = s->total,
		.unscheduled = unscheduled,
		.offset = from,
		.len = len,
	};
	struct mrpc_prio_event ev;

	mrpc_prio_receive(&ep, &s->peer, "address", 7, &p, false, now, &ev);
	if (ev.type == MRPC_PRIO_EVENT_MESSAGE)
		mrpc_prio_accept(&ep, &s->peer, rx_of(s, msg), &p, U32_MAX, now, &ev);
	if (ev.type == MRPC_PRIO_EVENT_DATA) {
		*(is_honest(s) ? &honest_bytes : &hostile_bytes) += ev.len;
		mrpc_prio_taken(&ep, &ev, now);
	}
}

static inline void begins(struct sender *s, u32 unscheduled)
{
	s->msg++;
	s->sent = 0;
	s->granted = unscheduled;
	came(s, s->msg, unscheduled, 0, 0);
}

static inline void gives_up(struct sender *s)
{
	struct mrpc_prio_rx *rx = rx_of(s, s->msg);
	struct mrpc_prio_note note = { .op = MRPC_PRIO_ABORT, .msg = s->msg };

	mrpc_prio_rx_heard(&ep, &s->peer, &note, now);
	while ((rx = mrpc_prio_rx_ended(&ep)))
		;
}

static inline void send_piece(struct sender *s, u32 from, u32 to)
{
	CHECK(tail - head < QUEUE);
	queue[tail++ % QUEUE] = (struct piece){ now + line->way, s, s->msg, from, to };
}

/* Puts up to @most granted bytes of the last message into the queue before the line. */
static inline void sends(struct sender *s, u32 most)
{
	u32 end = min(s->granted, s->sent + most), to;

	for (; s->sent < end; s->sent = to) {
		to = min(s->sent + line->piece, end);
		send_piece(s, s->sent, to);
	}
}

static inline void honest_begins(struct sender *s)
{
	begins(s, line->window / 4);
	sends(s, s->total);
}

static inline void granted(struct sender *s, const struct mrpc_prio_note *note)
{
	if (note->msg != s->msg)
		return;
	s->granted = max(s->granted, note->to);
	if (is_honest(s))
		sends(s, s->total);
}

static inline void hears(void)
{
	u8 buf[MRPC_PRIO_MAX_CONTROL * 24 + 24] __attribute__((__aligned__(8)));
	struct mrpc_prio_packet p;
	struct mrpc_prio_peer *peer;
	u32 len, why, i;

	while ((len = mrpc_prio_control_next(&ep, now, buf, sizeof(buf), &peer))) {
		CHECK(!mrpc_prio_parse(buf, len, len, &p, &why));
		peer->heard = now;
		peer->asked = 0;
		for (i = 0; p.type == MRPC_PRIO_CONTROL && i < p.nr; i++) {
			struct mrpc_prio_note note;

			mrpc_prio_note_get(&p, i, &note);
			if (note.op == MRPC_PRIO_GRANT)
				granted(container_of(peer, struct sender, peer), &note);
		}
	}
}

/* The time of a packet passes, and one arrives if there is one. */
static inline void pass(void)
{
	struct piece *q = &queue[head % QUEUE];

	now += (u64)line->piece * 1000000 / line->rate;
	while (mrpc_prio_timeout(&ep, now))
		;
	if (head != tail && q->at <= now) {
		head++;
		came(q->s, q->msg, rx_of(q->s, q->msg)->unscheduled, q->from, q->to - q->from);
		if (is_honest(q->s) && q->to == q->s->total && q->msg == q->s->msg)
			honest_begins(q->s);
	}
	hears();
}

static inline void welcome(struct sender *s)
{
	static u64 token;
	struct mrpc_prio_packet hello = {
		.token = ++token, .budget = U32_MAX, .max_total = U32_MAX,
	};

	mrpc_prio_welcome(&ep, &s->peer, line->piece, &hello, now);
}

static inline void start(const struct line *l)
{
	static const u64 key[2] = { 3, 4 };
	struct mrpc_prio_rule r;
	u32 i;

	mrpc_prio_rule_default(&r);
	line = l;
	r.chunk = l->step;
	r.step = l->step;
	r.unscheduled = l->window;
	r.window = l->window;
	r.outstanding = l->outstanding;
	r.overcommit = l->overcommit;
	now = 1000000;
	head = tail = nr_hostile = 0;
	honest_bytes = 0;
	memset(senders, 0, sizeof(senders));
	CHECK_EQ(mrpc_prio_init(&ep, &r, &prio_malloc_ops, NULL, hash, BUCKETS, key, now), 0);
	for (i = 0; i < PEERS; i++) {
		welcome(&senders[i]);
		senders[i].peer.tardy = 0;	/* it has sent something */
		senders[i].peer.fresh = false;
		senders[i].total = (4 + i % 3) * l->window;
	}
	hears();
}

static inline void stop(void)
{
	u32 i;

	for (i = 0; i < PEERS; i++)
		mrpc_prio_peer_remove(&ep, &senders[i].peer);
	while (mrpc_prio_rx_ended(&ep))
		;
	CHECK_EQ(ep.nr_rx, 0);
	CHECK_EQ(ep.outstanding, 0);
	mrpc_prio_fini(&ep);
}

static inline void honest_begin(void)
{
	u32 i;

	for (i = 0; i < HONEST; i++)
		honest_begins(&senders[i]);
}

/* Number of packets in @ns */
static inline u32 packets(u64 ns)
{
	return ns * line->rate / 1000000 / line->piece + 1;
}

/* Time for all outstanding bytes, and for the way */
static inline u64 round_of(void)
{
	return (u64)line->outstanding * 1000000 / line->rate + line->way;
}

static inline void hostile_begin(struct sender *s, enum hostile what)
{
	u32 i;

	s->total = what == ALL_GRANTED ? line->window / 4 : 2 * line->window;
	/* It always answers late. */
	s->peer.srtt = 150000000;
	for (i = 0; i < (what == ALL_GRANTED ? ARRAY_SIZE(s->rx) : 1); i++)
		begins(s, what == ANNOUNCE ? min(s->total, line->window) : 0);
}

/* Each message gets an eighth of a window, or of itself, before it would stall. */
static inline void trickle(struct sender *s)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(s->rx) && s->msg > i; i++) {
		struct mrpc_prio_rx *rx = rx_of(s, s->msg - i);
		u32 missing = rx->granted - rx->next;

		if (rx->peer && rx->state == MRPC_PRIO_RX_ACTIVE && missing)
			came(s, rx->msg, rx->unscheduled, rx->next,
			     min(missing, min(s->total, line->window) / 32));
	}
}

/* The endpoint forgets all about the peer. */
static inline void comes_anew(struct sender *s, u32 unscheduled)
{
	mrpc_prio_peer_remove(&ep, &s->peer);
	while (mrpc_prio_rx_ended(&ep))
		;
	s->msg = 0;
	memset(s->rx, 0, sizeof(s->rx));
	welcome(s);
	begins(s, unscheduled);
}

static inline void hostile_act(struct sender *s, enum hostile what)
{
	if (now < s->sends_at)
		return;
	switch (what) {
	case RENEW:
		s->sends_at = now + 3000000 + (now & 0xffff);
		gives_up(s);
		begins(s, 0);
		break;
	case PAY:
		s->sends_at = now + 4 * round_of();
		sends(s, s->total);
		break;
	case SEND:
		sends(s, s->total);
		break;
	case STRANGER:
	case STRANGER_SAYS:
		s->sends_at = now + round_of() / 2;
		comes_anew(s, what == STRANGER ? 0 : line->window);
		break;
	default:
		s->sends_at = now + 100000000 + (now & 0xfffff);
		trickle(s);
	}
	if (rx_of(s, s->msg)->state != MRPC_PRIO_RX_ACTIVE)
		begins(s, what == ANNOUNCE ? min(s->total, line->window) : 0);
}

/* Return: the honest peers' share of the line's bytes in @ns, in % */
static inline u32 share(u64 ns, enum hostile what)
{
	u64 honest = honest_bytes, hostile = hostile_bytes, all;
	u32 n = packets(ns), i, k;

	for (i = 0; i < n; i++) {
		for (k = 0; k < nr_hostile; k++)
			hostile_act(&senders[HONEST + k], what);
		pass();
	}
	all = (u64)n * line->piece;
	hostile_share = (hostile_bytes - hostile) * 100 / all;
	return (honest_bytes - honest) * 100 / all;
}

#endif /* PRIO_LINE_H */
