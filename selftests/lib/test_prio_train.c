// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/lib/prio/rx */
/*
 * The prio transport: datagrams received as one have the same effect as one by one. Two endpoints
 * get the same, one of them packet by packet. They must be equal all the time.
 */
#include "rnd.h"
#include "tap.h"
#include "prio_pair.h"

#define MESSAGES	4U	/* at a time */
#define SEGMENT		100
#define LONGEST		(120 * SEGMENT)
#define REMOTE		99	/* the sender's token */

static u64 rnd;
static u32 joined;	/* packets that were received with another one */

/* -- both ends, and the sender to both ------------------------------------------- */

static void both_start(const struct mrpc_prio_rule *r)
{
	struct mrpc_prio_packet hello = {
		.type = MRPC_PRIO_HELLO,
		.token = REMOTE,
		.budget = 1 << 20,
		.max_total = MRPC_PRIO_MAX_TOTAL,
	};

	now = 1000000;
	joined = 0;
	end_start(a, r);
	end_start(b, r);
	mrpc_prio_welcome(&a->ep, &a->peer, PAIR_PAYLOAD, &hello, now);
	mrpc_prio_welcome(&b->ep, &b->peer, PAIR_PAYLOAD, &hello, now);
	/* Timers depend on the token, so that those of several peers differ. */
	b->peer.local = a->peer.local;
	a->there = true;
	b->there = true;
}

static void end_clear(struct end *e)
{
	mrpc_prio_peer_remove(&e->ep, &e->peer);
	e->there = false;
	while (mrpc_prio_rx_ended(&e->ep))
		;
	end_stop(e);
}

static void both_stop(void)
{
	end_clear(a);
	end_clear(b);
}

static u32 receive(struct end *e, struct mrpc_prio_packet *p, bool ecn)
{
	struct mrpc_prio_event ev;

	p->to = e->peer.local;
	p->from = REMOTE;
	mrpc_prio_receive(&e->ep, &e->peer, "sender", 6, p, ecn, now, &ev);
	if (ev.type == MRPC_PRIO_EVENT_MESSAGE && e->refuse) {
		mrpc_prio_refuse(&e->ep, &e->peer, p, e->refuse);
	} else if (ev.type == MRPC_PRIO_EVENT_MESSAGE) {
		CHECK(e->nr_rx < PAIR_MSGS);
		mrpc_prio_accept(&e->ep, &e->peer, &e->rx[e->nr_rx++], p, e->limit, now, &ev);
	}
	take(e, &ev);
	return ev.packets;
}

/* @p and the packets behind it: @nr packets in total, the last one with @last bytes. */
static void chunk(const struct mrpc_prio_packet *p, u32 nr, u32 last, bool ecn)
{
	struct mrpc_prio_packet q;
	u32 i, n;

	for (i = 0; i < nr; i++) {
		q = *p;
		q.offset += i * p->len;
		q.len = i + 1 < nr ? p->len : last;
		CHECK_EQ(receive(a, &q, ecn), 1);
	}
	for (i = 0; i < nr; i += n) {
		q = *p;
		q.offset += i * p->len;
		q.len = i + 1 < nr ? p->len : last;
		q.train = nr - 1 - i;
		q.train_len = i + 1 < nr ? (q.train - 1) * p->len + last : 0;
		n = receive(b, &q, ecn);
		CHECK(n >= 1 && n <= nr - i);
		joined += n - 1;
	}
}

/* -- are they the same? ------------------------------------------------------------ */

static void same_rx(const struct mrpc_prio_rx *x, const struct mrpc_prio_rx *y)
{
	CHECK_EQ(x->msg, y->msg);
	CHECK_EQ(x->state, y->state);
	CHECK_EQ(x->got, y->got);
	if (x->state == MRPC_PRIO_RX_ENDED)
		return;
	CHECK_EQ(x->next, y->next);
	CHECK_EQ(x->granted, y->granted);
	CHECK_EQ(x->limit, y->limit);
	CHECK_EQ(x->cut, y->cut);
	CHECK_EQ(x->lost, y->lost);
	CHECK_EQ(x->asked, y->asked);
	CHECK_EQ(x->told, y->told);
	CHECK_EQ(x->repeats, y->repeats);
	CHECK_EQ(x->say, y->say);
	CHECK_EQ(x->priority, y->priority);
	CHECK_EQ(x->urge, y->urge);
	CHECK_EQ(x->tries, y->tries);
	CHECK_EQ(x->moved, y->moved);
	CHECK_EQ(x->timer.armed, y->timer.armed);
	if (x->timer.armed)
		CHECK_EQ(x->timer.when, y->timer.when);
	CHECK_EQ(!x->gaps, !y->gaps);
	if (!x->gaps)
		return;
	CHECK_EQ(x->gaps->nr, y->gaps->nr);
	CHECK(!memcmp(x->gaps->have, y->gaps->have, x->gaps->nr * sizeof(x->gaps->have[0])));
}

static void same(void)
{
	u32 i;

	for (i = 0; i < sizeof(a->ep.stats) / sizeof(u64); i++)
		CHECK_MSG(((u64 *)&a->ep.stats)[i] == ((u64 *)&b->ep.stats)[i],
			  "counter %u: %llu and %llu", i,
			  (unsigned long long)((u64 *)&a->ep.stats)[i],
			  (unsigned long long)((u64 *)&b->ep.stats)[i]);
	CHECK_EQ(a->nr_rx, b->nr_rx);
	CHECK_EQ(a->bytes, b->bytes);
	CHECK_EQ(a->completed, b->completed);
	CHECK_EQ(a->ep.outstanding, b->ep.outstanding);
	CHECK_EQ(a->ep.remaining, b->ep.remaining);
	CHECK_EQ(a->peer.rx_scale, b->peer.rx_scale);
	CHECK_EQ(a->peer.ecn, b->peer.ecn);
	CHECK_EQ(a->peer.rx_base, b->peer.rx_base);
	CHECK_EQ(a->peer.timer.when, b->peer.timer.when);
	for (i = 0; i < a->nr_rx; i++)
		same_rx(&a->rx[i], &b->rx[i]);
}

/* Both send the same, except their tokens. */
static void same_words(void)
{
	struct mrpc_prio_peer *peer;
	struct packet p, q;

	for (;;) {
		p.len = mrpc_prio_control_next(&a->ep, now, p.buf, sizeof(p.buf), &peer);
		q.len = mrpc_prio_control_next(&b->ep, now, q.buf, sizeof(q.buf), &peer);
		CHECK_EQ(p.len, q.len);
		if (!p.len)
			return;
		parse_own(&p);
		parse_own(&q);
		CHECK_EQ(p.p.type, q.p.type);
		CHECK_EQ(p.p.flags, q.p.flags);
		if (p.p.type == MRPC_PRIO_CONTROL)
			CHECK(!memcmp(p.p.entries, q.p.entries,
				      p.len - sizeof(struct mrpc_prio_hdr)));
	}
}

/* -- anything ------------------------------------------------------------------------ */

static struct mrpc_prio_packet messages[MESSAGES];

static void message_new(struct mrpc_prio_packet *m, u64 msg)
{
	*m = (struct mrpc_prio_packet){
		.type = MRPC_PRIO_DATA,
		.conn = 1,
		.msg = msg,
		.total = rnd_below(&rnd, LONGEST),
		.priority = rnd_below(&rnd, 3),
		.kind = MRPC_PRIO_REQUEST,
		.behind = min_t(u64, msg - 1, 500),
	};
	m->unscheduled = rnd_below(&rnd, min(m->total, a->peer.offered) + 1);
	a->limit = rnd_below(&rnd, 3) ? U32_MAX : rnd_below(&rnd, m->total + 1);
	b->limit = a->limit;
	a->refuse = rnd_below(&rnd, 10) ? 0 : MRPC_PRIO_LATER;
	b->refuse = a->refuse;
}

/* Random bytes of a message, mostly valid and where it would continue. */
static void chunk_random(const struct mrpc_prio_packet *m)
{
	u32 left, nr = 1 + rnd_below(&rnd, 16), last, i;
	struct mrpc_prio_packet p = *m;

	for (i = 0; i < a->nr_rx; i++)
		if (a->rx[i].msg == m->msg && rnd_below(&rnd, 3))
			p.offset = min(a->rx[i].next, m->total);
	if (!p.offset || !rnd_below(&rnd, 5))
		p.offset = rnd_below(&rnd, m->total / SEGMENT + 1) * SEGMENT;
	if (!rnd_below(&rnd, 10))
		p.offset = rnd_below(&rnd, m->total + 1);
	left = m->total - p.offset;
	p.len = rnd_below(&rnd, 10) ? SEGMENT : 1 + rnd_below(&rnd, SEGMENT);
	p.len = min(p.len, left);
	nr = left ? min(nr, (left - 1) / p.len + 1) : 1;
	last = nr == 1 ? p.len : min(left - (nr - 1) * p.len, p.len);
	if (nr > 1 && !rnd_below(&rnd, 5))
		last = 1 + rnd_below(&rnd, last);
	p.flags = rnd_below(&rnd, 6) ? 0 : MRPC_PRIO_URGE;
	if (!rnd_below(&rnd, 30))
		p.priority = rnd_below(&rnd, 5);
	if (!rnd_below(&rnd, 30))
		p.kind = MRPC_PRIO_REPLY;
	chunk(&p, nr, last, !rnd_below(&rnd, 10));
}

/* Every third segment, from some point on: more gaps than can be remembered. */
static void comb(const struct mrpc_prio_packet *m)
{
	struct mrpc_prio_packet p = *m;
	u32 at = rnd_below(&rnd, 20);

	p.len = SEGMENT;
	for (; (at + 1) * SEGMENT <= m->total; at += 3) {
		p.offset = at * SEGMENT;
		chunk(&p, 1, SEGMENT, false);
	}
}

/* The same operation at both ends, on an existing message. */
static void meddle(u32 i)
{
	struct end *e;
	u32 limit = rnd_below(&rnd, LONGEST), what = rnd_below(&rnd, 8);

	for (e = a; e; e = e == a ? b : NULL) {
		struct mrpc_prio_rx *rx = &e->rx[i];

		if (what)
			mrpc_prio_rx_limit(&e->ep, rx, min(max(limit, rx->limit), rx->total), now);
		else
			mrpc_prio_rx_reject(&e->ep, rx, now);
	}
}

static void train_random(u64 seed)
{
	struct mrpc_prio_rule r;
	u64 msg = 0;
	u32 i, k;

	rnd = seed;
	pair_rule(&r);
	r.window = (1 + rnd_below(&rnd, 110)) * SEGMENT + r.step;
	r.unscheduled = rnd_below(&rnd, LONGEST);
	r.outstanding = r.window + rnd_below(&rnd, 30) * SEGMENT;
	r.overcommit = 1 + rnd_below(&rnd, 4);
	both_start(&r);
	for (i = 0; i < MESSAGES; i++)
		message_new(&messages[i], ++msg);
	for (k = 0; k < 1500; k++) {
		a->fail_alloc = b->fail_alloc = !rnd_below(&rnd, 20);
		i = rnd_below(&rnd, MESSAGES);
		if (!rnd_below(&rnd, 30))
			comb(&messages[i]);
		else if (rnd_below(&rnd, 12))
			chunk_random(&messages[i]);
		else if (a->nr_rx && rnd_below(&rnd, 2))
			meddle(a->nr_rx - 1 - rnd_below(&rnd, min(a->nr_rx, MESSAGES)));
		else
			message_new(&messages[i], ++msg);
		same();
		if (!rnd_below(&rnd, 3))
			same_words();
		if (!rnd_below(&rnd, 8))
			pass(rnd_below(&rnd, 5000) * PAIR_US);
	}
	both_stop();
}

TEST(prio_train_random)
{
	u64 drops_of[MRPC_PRIO_NR_DROPS] = { 0 }, seed;
	u32 all = 0, i;

	for (seed = 1; seed <= 100; seed++) {
		train_random(seed);
		all += joined;
		for (i = 0; i < MRPC_PRIO_NR_DROPS; i++)
			drops_of[i] += a->ep.stats.drops[i];
	}
	NOTE("%u packets were received with another one", all);
	CHECK(all > 50000);
	/* Every possible outcome for the bytes of a packet has occurred. */
	CHECK(drops_of[MRPC_PRIO_DROP_MISMATCH]);
	CHECK(drops_of[MRPC_PRIO_DROP_DUPLICATE]);
	CHECK(drops_of[MRPC_PRIO_DROP_UNGRANTED]);
	CHECK(drops_of[MRPC_PRIO_DROP_GAPS]);
	CHECK(drops_of[MRPC_PRIO_DROP_MEMORY]);
	CHECK(drops_of[MRPC_PRIO_DROP_REFUSED]);
}

/* -- where a train ends -------------------------------------------------------------- */

/* A message of ten segments; the first one is received. */
static struct mrpc_prio_packet ten_begun(u32 unscheduled)
{
	struct mrpc_prio_packet p = {
		.type = MRPC_PRIO_DATA,
		.conn = 1,
		.msg = 1,
		.total = 10 * SEGMENT,
		.unscheduled = unscheduled,
		.len = SEGMENT,
		.kind = MRPC_PRIO_REQUEST,
	};
	struct mrpc_prio_rule r;

	pair_rule(&r);
	both_start(&r);
	chunk(&p, 1, SEGMENT, false);
	CHECK_EQ(b->rx[0].got, SEGMENT);
	p.offset = SEGMENT;
	return p;
}

TEST(prio_train_whole)
{
	struct mrpc_prio_packet p = ten_begun(10 * SEGMENT);

	chunk(&p, 9, SEGMENT, true);
	CHECK_EQ(joined, 8);
	CHECK_EQ(b->completed, 1);
	CHECK_EQ(b->ep.stats.packets, 10);
	CHECK_EQ(b->ep.stats.marks, 9);
	CHECK_EQ(b->ep.stats.data_bytes, 10 * SEGMENT);
	same();
	chunk(&p, 9, SEGMENT, false);
	CHECK_EQ(drops(b, MRPC_PRIO_DROP_DUPLICATE), 9);
	same();
	both_stop();
}

/* Granted up to the middle of a packet: that packet and later ones have no effect. */
TEST(prio_train_ungranted)
{
	struct mrpc_prio_packet p = ten_begun(5 * SEGMENT + SEGMENT / 2);

	chunk(&p, 9, SEGMENT, false);
	CHECK_EQ(joined, 3);
	CHECK_EQ(b->rx[0].got, 5 * SEGMENT);
	CHECK_EQ(drops(b, MRPC_PRIO_DROP_UNGRANTED), 5);
	same();
	both_stop();
}

/* The middle is already received; then the bytes before and behind it come. */
TEST(prio_train_around)
{
	struct mrpc_prio_packet p = ten_begun(10 * SEGMENT), q = p;

	q.offset = 4 * SEGMENT + SEGMENT / 2;
	chunk(&q, 2, SEGMENT, false);
	CHECK_EQ(joined, 0);		/* the first one makes the map of gaps */
	chunk(&p, 9, SEGMENT, false);
	CHECK_EQ(joined, 2 + 2);	/* 1 to 3; 4, 5 and 6 are cut; 7 to 9 */
	CHECK_EQ(b->completed, 1);
	CHECK_EQ(drops(b, MRPC_PRIO_DROP_DUPLICATE), 1);	/* 5 */
	same();
	both_stop();
}

/* No more gaps can be remembered: no packet is taken, and each is counted. */
TEST(prio_train_gaps_full)
{
	struct mrpc_prio_packet p = ten_begun(10 * SEGMENT);
	u32 i;

	p.len = 10;
	for (i = 0; i < MRPC_PRIO_NR_GAPS; i++) {
		p.offset = 2 * SEGMENT + 2 * i * p.len;
		chunk(&p, 1, p.len, false);
	}
	CHECK_EQ(b->rx[0].gaps->nr, MRPC_PRIO_NR_GAPS);
	p.offset = 9 * SEGMENT;
	chunk(&p, 5, p.len, false);
	CHECK_EQ(joined, 0);
	CHECK_EQ(drops(b, MRPC_PRIO_DROP_GAPS), 5);
	same();
	/* Packets that continue without a gap need no memory. */
	p.offset = SEGMENT;
	chunk(&p, 10, p.len, false);
	CHECK_EQ(joined, 9);
	same();
	both_stop();
}
