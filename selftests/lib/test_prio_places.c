// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/lib/prio/places */
/*
 * The prio transport: one endpoint receives over a line from honest peers, which send what they are
 * granted. Hostile peers hold what they are granted, rank first, and send almost nothing.
 */
#include "tap.h"
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

static bool is_honest(const struct sender *s)
{
	return s < senders + HONEST;
}

static struct mrpc_prio_rx *rx_of(struct sender *s, u64 msg)
{
	return &s->rx[msg % ARRAY_SIZE(s->rx)];
}

static void came(struct sender *s, u64 msg, u32 unscheduled, u32 from, u32 len)
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

static void begins(struct sender *s, u32 unscheduled)
{
	s->msg++;
	s->sent = 0;
	s->granted = unscheduled;
	came(s, s->msg, unscheduled, 0, 0);
}

static void gives_up(struct sender *s)
{
	struct mrpc_prio_rx *rx = rx_of(s, s->msg);
	struct mrpc_prio_note note = { .op = MRPC_PRIO_ABORT, .msg = s->msg };

	mrpc_prio_rx_heard(&ep, &s->peer, &note, now);
	while ((rx = mrpc_prio_rx_ended(&ep)))
		;
}

static void send_piece(struct sender *s, u32 from, u32 to)
{
	CHECK(tail - head < QUEUE);
	queue[tail++ % QUEUE] = (struct piece){ now + line->way, s, s->msg, from, to };
}

/* Puts up to @most granted bytes of the last message into the queue before the line. */
static void sends(struct sender *s, u32 most)
{
	u32 end = min(s->granted, s->sent + most), to;

	for (; s->sent < end; s->sent = to) {
		to = min(s->sent + line->piece, end);
		send_piece(s, s->sent, to);
	}
}

static void honest_begins(struct sender *s)
{
	begins(s, line->window / 4);
	sends(s, s->total);
}

static void granted(struct sender *s, const struct mrpc_prio_note *note)
{
	if (note->msg != s->msg)
		return;
	s->granted = max(s->granted, note->to);
	if (is_honest(s))
		sends(s, s->total);
}

static void hears(void)
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
static void pass(void)
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

static void welcome(struct sender *s)
{
	static u64 token;
	struct mrpc_prio_packet hello = {
		.token = ++token, .budget = U32_MAX, .max_total = U32_MAX,
	};

	mrpc_prio_welcome(&ep, &s->peer, line->piece, &hello, now);
}

static void start(const struct line *l)
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

static void stop(void)
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

static void honest_begin(void)
{
	u32 i;

	for (i = 0; i < HONEST; i++)
		honest_begins(&senders[i]);
}

/* Number of packets in @ns */
static u32 packets(u64 ns)
{
	return ns * line->rate / 1000000 / line->piece + 1;
}

/* Time for all outstanding bytes, and for the way */
static u64 round_of(void)
{
	return (u64)line->outstanding * 1000000 / line->rate + line->way;
}

static void hostile_begin(struct sender *s, enum hostile what)
{
	u32 i;

	s->total = what == ALL_GRANTED ? line->window / 4 : 2 * line->window;
	/* It always answers late. */
	s->peer.srtt = 150000000;
	for (i = 0; i < (what == ALL_GRANTED ? ARRAY_SIZE(s->rx) : 1); i++)
		begins(s, what == ANNOUNCE ? min(s->total, line->window) : 0);
}

/* Each message gets an eighth of a window, or of itself, before it would stall. */
static void trickle(struct sender *s)
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
static void comes_anew(struct sender *s, u32 unscheduled)
{
	mrpc_prio_peer_remove(&ep, &s->peer);
	while (mrpc_prio_rx_ended(&ep))
		;
	s->msg = 0;
	memset(s->rx, 0, sizeof(s->rx));
	welcome(s);
	begins(s, unscheduled);
}

static void hostile_act(struct sender *s, enum hostile what)
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
static u32 share(u64 ns, enum hostile what)
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

/*
 * @nr hostile peers on a line that was in use before, or (@cold) was not. Return: the share of the
 * honest peers after a bounded time.
 */
static u32 beside(const struct line *l, u32 nr, enum hostile what, bool cold)
{
	u64 settle;
	u32 k, all;

	start(l);
	settle = (nr / l->overcommit + 2) * 2 * round_of();
	if (cold)
		settle += (nr / l->overcommit + 1) * 8 * ep.rule.rto_max;
	if (!cold) {
		honest_begin();
		share(5 * round_of() + KNOWN, what);
		CHECK(share(5 * round_of(), what) >= 95);
	}
	for (k = 0; k < nr; k++)
		hostile_begin(&senders[HONEST + k], what);
	nr_hostile = nr;
	hears();
	if (cold)
		honest_begin();
	share(settle, what);
	all = share(20 * round_of() + 1000000000ULL * (l->rate < 10000), what);
	NOTE("%u bytes in 1 ms, %u hostile%s: %u %%, and these %u %%", l->rate, nr,
	     cold ? ", at first" : "", all, hostile_share);
	stop();
	return what == PAY ? all + hostile_share : all;
}

static void at_least(u32 percent, enum hostile what)
{
	u32 least = 100, i, k;

	for (i = 0; i < ARRAY_SIZE(lines); i++)
		for (k = lines[i].overcommit; k <= HOSTILE; k *= 4) {
			least = min(least, beside(&lines[i], k, what, false));
			least = min(least, beside(&lines[i], k, what, true));
		}
	CHECK_MSG(least >= percent, "%u %%", least);
}

/* No hostile peer */
TEST(prio_places_alone)
{
	u32 i, k;

	for (i = 0; i < ARRAY_SIZE(lines); i++) {
		start(&lines[i]);
		honest_begin();
		share(2 * round_of() + KNOWN, SEND);
		CHECK(share(20 * round_of(), SEND) >= 95);
		for (k = 0; k < HONEST; k++)
			CHECK(!senders[k].peer.slow);
		stop();
	}
}

TEST(prio_places_trickle)
{
	at_least(70, TRICKLE);
}

TEST(prio_places_renewed)
{
	at_least(70, RENEW);
}

TEST(prio_places_all_granted)
{
	at_least(70, ALL_GRANTED);
}

TEST(prio_places_announced)
{
	at_least(70, ANNOUNCE);
}

/* A peer that pays takes part of the line, and the others have the rest. */
TEST(prio_places_paid)
{
	at_least(70, PAY);
}

/* A hostile peer comes under new addresses, again and again. */
TEST(prio_places_strangers)
{
	at_least(70, STRANGER);
	at_least(70, STRANGER_SAYS);
}

/* A peer that has sent nothing, and waits for a grant, is alone. */
TEST(prio_places_stranger_alone)
{
	struct sender *s = &senders[0];

	start(&lines[0]);
	comes_anew(s, 0);
	CHECK_EQ(s->peer.tardy, MRPC_PRIO_TARDY);
	hears();
	CHECK_EQ(s->granted, line->window);
	sends(s, line->step);
	share(line->way + 1000000, SEND);
	CHECK_EQ(s->peer.tardy, 0);
	CHECK_EQ(s->peer.entity.priority, 5);
	stop();
}

/* Bytes that pile up during a pause of this end come at once. They do not set the pace. */
TEST(prio_places_pause)
{
	u32 i;

	start(&lines[1]);
	honest_begin();
	share(200000000, SEND);
	for (i = 0; i < 20; i++) {
		u64 until = now + 8000000;

		/* All that was under way during the pause has come at its end. */
		for (now = until; head != tail; head++) {
			struct piece *q = &queue[head % QUEUE];

			came(q->s, q->msg, rx_of(q->s, q->msg)->unscheduled, q->from,
			     q->to - q->from);
			if (q->to == q->s->total && q->msg == q->s->msg)
				honest_begins(q->s);
		}
		hears();
		share(6000000, SEND);
	}
	CHECK_MSG(max(ep.pace, ep.pace_before) < line->rate * 21 / 20, "%u", ep.pace);
	for (i = 0; i < HONEST; i++)
		CHECK(!senders[i].peer.slow);
	stop();
}

/* The line becomes slower: this is soon known. */
TEST(prio_places_slower)
{
	struct line slower = lines[1];
	u32 i;

	slower.rate /= 20;
	start(&lines[1]);
	honest_begin();
	share(200000000, SEND);
	CHECK(ep.pace > line->rate * 9 / 10);
	line = &slower;
	share(700000000, SEND);
	CHECK_MSG(max(ep.pace, ep.pace_before) < line->rate * 11 / 10, "%u", ep.pace);
	for (i = 0; i < HONEST; i++)
		CHECK(!senders[i].peer.slow);
	stop();
}

/* Bytes of near peers say nothing about the line: no peer becomes slow by them, nor a near one. */
TEST(prio_places_near)
{
	struct sender *s = &senders[HONEST];
	u32 i, k, pace;

	start(&lines[1]);
	mrpc_prio_peer_near(&ep, &s->peer, true);
	honest_begin();
	share(20000000, SEND);
	pace = ep.pace;
	s->total = 1 << 30;
	begins(s, line->window);
	for (i = 0; i < 20000; i++) {
		u32 len = min(line->piece, s->granted - s->sent);

		if (len)
			came(s, s->msg, line->window, s->sent, len);
		s->sent += len;
		hears();
		if (i % 16 == 0)
			pass();
	}
	CHECK(s->sent > 50000000);
	CHECK_MSG(ep.pace < pace + pace / 10, "%u", ep.pace);
	/* A near peer stops sending, and keeps its place. */
	for (i = 0; i < 4; i++) {
		mrpc_prio_peer_near(&ep, &senders[HONEST + i].peer, true);
		hostile_begin(&senders[HONEST + i], TRICKLE);
	}
	share(20 * round_of(), SEND);
	CHECK_EQ(ep.nr_near, 4);
	for (k = 0; k < PEERS; k++)
		CHECK(!senders[k].peer.slow);
	/* A peer that is near no longer is treated as the others. */
	for (i = 0; i < 4; i++)
		mrpc_prio_peer_near(&ep, &senders[HONEST + i].peer, false);
	CHECK_EQ(ep.nr_near, 0);
	share(20 * round_of(), SEND);
	for (i = 0; i < 4; i++)
		CHECK(senders[HONEST + i].peer.slow);
	mrpc_prio_peer_near(&ep, &senders[HONEST].peer, true);
	CHECK(!senders[HONEST].peer.slow && senders[HONEST].peer.entity.listed);
	stop();
}

/* A peer that gives up its messages harms no other on a busy line. */
TEST(prio_places_given_up)
{
	struct sender *s = &senders[HONEST];
	u32 i;

	start(&lines[1]);
	honest_begin();
	share(20000000, SEND);
	hostile_begin(s, RENEW);
	for (i = 0; i < 200; i++) {
		share(2000000, SEND);
		gives_up(s);
		begins(s, 0);
		CHECK(!s->peer.slow);
	}
	CHECK(share(20 * round_of(), SEND) >= 95);
	stop();
}

/* A look in which a packet found no memory adds to no peer's debt. */
TEST(prio_places_memory)
{
	u32 i;

	start(&lines[1]);
	honest_begin();
	share(20000000, SEND);
	for (i = 0; i < 4; i++)
		hostile_begin(&senders[HONEST + i], TRICKLE);
	for (i = 0; i < packets(20 * round_of()); i++) {
		mrpc_prio_count(&ep, MRPC_PRIO_DROP_MEMORY);
		pass();
	}
	for (i = 0; i < 4; i++)
		CHECK(!senders[HONEST + i].peer.slow);
	share(20 * round_of(), SEND);
	for (i = 0; i < 4; i++)
		CHECK(senders[HONEST + i].peer.slow);
	stop();
}

/* A reader that does not read limits its message. Bytes beyond the limit are not waited for. */
TEST(prio_places_limit)
{
	struct sender *s = &senders[HONEST];
	struct mrpc_prio_rx *rx;

	start(&lines[1]);
	s->total = 4 * line->window;
	begins(s, line->window);
	rx = rx_of(s, 1);
	CHECK_EQ(s->peer.rx_counted, line->window);
	mrpc_prio_rx_limit(&ep, rx, line->window / 2, now);
	CHECK_EQ(s->peer.rx_counted, line->window / 2);
	sends(s, s->total);
	share(line->way + 20000000, SEND);
	CHECK_EQ(rx->got, line->window / 2);
	CHECK_EQ(s->peer.rx_counted, 0);
	CHECK_EQ(ep.outstanding, 0);
	CHECK(!ep.places.armed);
	mrpc_prio_rx_limit(&ep, rx, U32_MAX, now);
	hears();
	CHECK(s->peer.rx_counted > 0);
	stop();
}

/* A peer that holds a grant does not wait because of those that have a place. */
TEST(prio_places_granted)
{
	u32 i;

	start(&lines[1]);
	for (i = 0; i < line->overcommit; i++) {
		senders[i].total = 2 * line->window;
		begins(&senders[i], 0);
		hears();
		CHECK_EQ(senders[i].granted, line->window);
	}
	CHECK(!ep.places.armed);
	/* A peer that ranks first takes a place. */
	hostile_begin(&senders[HONEST], TRICKLE);
	hears();
	CHECK(ep.waits);	/* for room */
	mrpc_prio_peer_remove(&ep, &senders[HONEST].peer);
	while (mrpc_prio_rx_ended(&ep))
		;
	welcome(&senders[HONEST]);
	senders[HONEST].peer.tardy = 0;
	senders[HONEST].peer.fresh = false;
	ep.rule.outstanding *= 2;
	senders[HONEST].msg = 0;
	hostile_begin(&senders[HONEST], TRICKLE);
	hears();
	CHECK_EQ(senders[HONEST].granted, line->window);
	CHECK(!ep.waits && !ep.places.armed);
	begins(&senders[HONEST + 1], 0);
	hears();
	CHECK(!ep.waits);	/* it has a place, as it ranks first */
	senders[HONEST - 1].total = 4 * line->window;
	begins(&senders[HONEST - 1], 0);
	hears();
	CHECK(ep.waits && ep.places.armed);
	stop();
}

static void all_slow(u32 nr)
{
	u32 i;

	honest_begin();
	share(20000000, SEND);
	for (i = 0; i < nr; i++)
		hostile_begin(&senders[HONEST + i], TRICKLE);
	share(20 * round_of(), SEND);
	for (i = 0; i < nr; i++)
		CHECK(senders[HONEST + i].peer.slow);
}

/* Of slow peers, one that sends goes first, also with its next message; none holds much. */
TEST(prio_places_slow_first)
{
	struct sender *s = &senders[PEERS - 2];
	u32 i, k, part = max(lines[1].outstanding / (4 * lines[1].overcommit), lines[1].step);

	start(&lines[1]);
	all_slow(HOSTILE);
	for (i = 0; i < HOSTILE; i++) {
		gives_up(&senders[HONEST + i]);
		begins(&senders[HONEST + i], 0);
	}
	for (k = 0; k < 200; k++) {
		hears();
		sends(s, s->total);
		share(1000000, SEND);
		for (i = 0; i < HOSTILE; i++)
			CHECK_MSG(senders[HONEST + i].peer.rx_counted <= part, "%u",
				  senders[HONEST + i].peer.rx_counted);
		if (s->peer.pays)
			break;
	}
	CHECK(s->peer.slow && s->peer.pays);
	gives_up(s);
	CHECK(mrpc_link_empty(&s->peer.holds));
	begins(s, 0);
	CHECK(ep.slow.next == &s->peer.holds || s->granted);
	stop();
}

/* A few slow peers with all their possible grants keep no timer running. */
TEST(prio_places_slow_quiet)
{
	u32 i;

	start(&lines[1]);
	all_slow(4);
	for (i = 0; i < HONEST; i++)
		gives_up(&senders[i]);
	for (i = 0; i < 20; i++) {
		now += 100000;
		while (mrpc_prio_timeout(&ep, now))
			;
		hears();
	}
	for (i = 0; i < 4; i++)
		CHECK(senders[HONEST + i].peer.slow);
	CHECK(!mrpc_link_empty(&ep.slow));
	CHECK(!ep.places.armed);
	stop();
}

/* Counts need more than 32 bits; messages have stalled, and all make progress. */
TEST(prio_places_much)
{
	struct line wide = { 12500000, 10000, 8192, 4, 16384, 1 << 30, 1 << 30 };
	struct sender *s = &senders[HONEST];
	u32 i;

	start(&wide);
	s->total = 1 << 30;
	for (i = 0; i < ARRAY_SIZE(s->rx); i++) {
		begins(s, 0);
		hears();
		CHECK_EQ(s->granted, 1 << 30);
		rx_of(s, s->msg)->stalled = true;
		mrpc_prio_rx_update(&ep, rx_of(s, s->msg));
		CHECK_EQ(ep.outstanding, 0);
	}
	for (i = 0; i < ARRAY_SIZE(s->rx); i++) {
		s->rx[i].stalled = false;
		mrpc_prio_rx_update(&ep, &s->rx[i]);
	}
	CHECK_EQ(s->peer.rx_granted, 1ULL << 32);
	CHECK_EQ(ep.outstanding, U32_MAX);
	stop();
}

/* Looks are at most this often, however short the shortest time is. */
TEST(prio_places_looks)
{
	struct line fast = { 12500000, 10000, 8192, 64, 8192, 8192, 16384 };
	u32 i;

	start(&fast);
	ep.rule.ack_delay = 0;
	ep.rule.rto_min = 1;
	ep.pace = U32_MAX;
	for (i = 0; i < PEERS; i++)
		begins(&senders[i], 0);
	hears();
	CHECK(ep.places.armed && ep.waits);
	CHECK((ep.places.when << MRPC_WHEEL_TICK_SHIFT) - now >= 48000);
	stop();
}

/* A peer that was slow and sends again has the rank of its messages. */
TEST(prio_places_again)
{
	u32 i, k;

	for (i = 0; i < ARRAY_SIZE(lines); i++) {
		start(&lines[i]);
		honest_begin();
		share(2 * round_of() + KNOWN, SEND);
		nr_hostile = HOSTILE;
		for (k = 0; k < HOSTILE; k++)
			hostile_begin(&senders[HONEST + k], TRICKLE);
		share(20 * round_of(), TRICKLE);
		for (k = 0; k < HOSTILE; k++)
			CHECK(senders[HONEST + k].peer.slow);
		CHECK(ep.outstanding <= line->outstanding + line->overcommit * line->step +
		      HONEST * line->window / 4);
		CHECK(ep.slow_held <= HOSTILE * line->window);
		for (k = 0; k < HOSTILE; k++) {
			gives_up(&senders[HONEST + k]);
			begins(&senders[HONEST + k], 0);
			senders[HONEST + k].sends_at = 0;
		}
		share(100 * round_of(), SEND);
		for (k = 0; k < HOSTILE; k++)
			CHECK_MSG(!senders[HONEST + k].peer.slow, "%u bytes in 1 ms: %u owes %u",
				  line->rate, k, senders[HONEST + k].peer.owes);
		CHECK_EQ(ep.slow_held, 0);
		CHECK(share(20 * round_of(), SEND) < 10);
		CHECK(hostile_share > 90);
		stop();
	}
}
