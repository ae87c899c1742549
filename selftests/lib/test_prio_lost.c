// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/lib/prio/gaps kmod/lib/prio/tx_heard */
/*
 * The prio transport: many peers lose packets together, as in an incast. They are asked for the
 * lost bytes in turn.
 */
#include "tap.h"
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

static void guests_start(u32 window)
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

static void guests_stop(void)
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
static void comes(u32 i, u32 msg, u32 total, u32 from, u32 to, u8 flags)
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
static void hear(void)
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

static u32 asked_of(u32 from, u32 to)
{
	u32 i, n = 0;

	for (i = from; i < to; i++)
		n += !!guest[i].asks;
	return n;
}

/* Guest @i loses @lost bytes of a message. The bytes before them are received. */
static void loses(u32 i, u32 msg, u32 lost)
{
	comes(i, msg, SOME + lost, 0, SOME, 0);
}

/* The bytes that guest @i was asked for come. */
static void answers(u32 i)
{
	struct guest *g = &guest[i];
	u32 nr = g->ask.msg - 1;

	g->asks = 0;
	comes(i, g->ask.msg, g->rx[nr].total, g->ask.from, g->ask.to, MRPC_PRIO_AGAIN);
}

/*
 * All peers together are asked for a window's bytes. Beyond that, a peer not asked for anything is
 * asked for a step, and at most TURNS peers at a time. The message with the least left goes first.
 * Bytes that wait for their turn do not count.
 */
TEST(prio_lost_together)
{
	u32 i, rounds, all = 0;

	guests_start(4000);
	for (i = 0; i < NR; i++)
		loses(i, 1, i == NR - 1 ? 500 : 3000);
	hear();
	CHECK(b->ep.outstanding > 2 * 4000);
	pass(b->ep.rule.rto_min + PAIR_US);
	CHECK_EQ(b->ep.outstanding, 0);
	hear();
	CHECK_EQ(asked_of(0, NR), TURNS);
	CHECK_EQ(guest[NR - 1].asked, 500);
	CHECK_EQ(b->ep.nr_asked, TURNS);
	CHECK_EQ(b->ep.repeats, 500 + 3000 + (TURNS - 2) * 1000);
	CHECK_EQ(b->ep.outstanding, b->ep.repeats);
	for (rounds = 0; rounds < 100; rounds++) {
		for (i = 0; i < NR; i++) {
			if (guest[i].asks)
				answers(i);
			hear();
			CHECK(b->ep.nr_asked <= TURNS);
			CHECK(b->ep.repeats <= 4000 + TURNS * 1000);
		}
	}
	for (i = 0; i < NR; i++) {
		CHECK_EQ(guest[i].done, 1);
		all += guest[i].asked;
	}
	/* Each byte was asked for once. */
	CHECK_EQ(all, (NR - 1) * 3000 + 500);
	guests_stop();
}

/* More than a window is asked for in pieces, each when the one before has come. */
TEST(prio_lost_in_pieces)
{
	struct guest *g = &guest[0];

	guests_start(2000);
	loses(0, 1, 5000);
	pass(b->ep.rule.rto_min + PAIR_US);
	hear();
	CHECK_EQ(g->ask.from, SOME);
	CHECK_EQ(g->ask.to, SOME + 2000);
	g->asks = 0;
	comes(0, 1, SOME + 5000, SOME, SOME + 1000, MRPC_PRIO_AGAIN);
	hear();
	CHECK_EQ(g->ask.from, SOME + 2000);
	CHECK_EQ(g->ask.to, SOME + 3000);
	/* Bytes asked for and lost again are all that is lost: they are asked for again. */
	g->asks = 0;
	pass(b->ep.rule.rto_min + PAIR_US);
	hear();
	CHECK_EQ(g->asked, 3000 + 2000);
	CHECK_EQ(g->ask.from, SOME + 1000);
	CHECK_EQ(g->ask.to, SOME + 3000);
	CHECK_EQ(b->ep.repeats, 2000);
	guests_stop();
}

/* All turns are with silent peers. They hold them only until that is noticed. */
TEST(prio_turn_of_the_silent)
{
	u64 begun;
	u32 i;

	guests_start(4000);
	for (i = 0; i < NR; i++)
		loses(i, 1, i < TURNS ? 2000 : 3000);
	pass(b->ep.rule.rto_min + PAIR_US);
	hear();
	CHECK_EQ(asked_of(0, TURNS), TURNS);
	CHECK_EQ(asked_of(TURNS, NR), 0);
	/* A waiting peer announces again, and is told that its message is known. */
	comes(NR - 1, 1, SOME + 3000, 0, 0, MRPC_PRIO_AGAIN | MRPC_PRIO_URGE);
	hear();
	CHECK_EQ(guest[NR - 1].grant.from, SOME);
	for (i = 0; i < TURNS; i++)
		guest[i].asks = 0;
	begun = now;
	while (!asked_of(TURNS, NR) && now < begun + 1000000000) {
		pass(100 * PAIR_US);
		hear();
	}
	CHECK(now - begun <= 3 * b->ep.rule.rto_min);
	/* Waiting does not count as a try: the request has the timeout of a first one. */
	for (i = TURNS; i < NR; i++) {
		CHECK_EQ(guest[i].rx[0].tries, 1);
		CHECK(!guest[i].rx[0].stalled);
	}
	/* The silent peers are asked now and then for a step, beside the others. */
	for (i = 0; i < TURNS; i++) {
		CHECK(guest[i].rx[0].stalled);
		CHECK_EQ(guest[i].ask.to - guest[i].ask.from, 1000);
		answers(i);
		CHECK(!guest[i].rx[0].stalled);
	}
	guests_stop();
}

/* One peer uses all the room. Each other peer gets a step. */
TEST(prio_turn_beside_who_holds_all)
{
	u32 i;

	guests_start(4000);
	loses(0, 1, 4000);
	pass(b->ep.rule.rto_min + PAIR_US);
	hear();
	CHECK_EQ(b->ep.repeats, 4000);
	for (i = 1; i < NR; i++)
		loses(i, 1, 1500);
	pass(b->ep.rule.rto_min + PAIR_US);
	hear();
	CHECK_EQ(b->ep.repeats, 4000 + (TURNS - 1) * 1000);
	CHECK_EQ(asked_of(1, NR), TURNS - 1);
	guests_stop();
}

/* A peer that was asked goes behind peers that were not, and gets nothing beyond the window. */
TEST(prio_turn_of_each)
{
	guests_start(5000);
	loses(0, 1, 2000);
	loses(0, 2, 2000);
	loses(1, 1, 3000);
	loses(2, 1, 3000);
	pass(b->ep.rule.rto_min + PAIR_US);
	hear();
	CHECK_EQ(guest[0].asked, 2000);
	CHECK_EQ(guest[1].asked, 3000);
	CHECK_EQ(guest[2].asked, 1000);
	answers(0);
	hear();
	CHECK_EQ(guest[0].asked, 3000);
	guests_stop();
}

/* A peer at the limit of its own window does not block the next peer. */
TEST(prio_turn_of_the_next)
{
	guests_start(8000);
	loses(0, 1, 2000);
	loses(1, 1, 2500);
	loses(1, 2, 2500);
	pass(b->ep.rule.rto_min + PAIR_US);
	guest[0].peer.rx_scale = 64;
	guest[0].peer.rx_cut = now;
	hear();
	CHECK_EQ(guest[0].asked, 1000);
	CHECK_EQ(guest[1].asked, 5000);
	answers(0);
	hear();
	CHECK_EQ(guest[0].asked, 2000);
	guests_stop();
}

/* A sender remembers a limited number of ranges. More are asked for when these have come. */
TEST(prio_lost_ranges)
{
	u32 i;

	guests_start(20000);
	for (i = 1; i < 16; i += 2)
		comes(0, 1, 30000, 1000 * i, 1000 * i + 1000, 0);
	hear();
	CHECK_EQ(guest[0].asks, MRPC_PRIO_NR_RANGES);
	CHECK_EQ(guest[0].asked, MRPC_PRIO_NR_RANGES * 1000);
	comes(0, 1, 30000, 0, 1000, MRPC_PRIO_AGAIN);
	hear();
	CHECK_EQ(guest[0].asks, MRPC_PRIO_NR_RANGES + 1);
	CHECK_EQ(guest[0].ask.to, 9000);
	guests_stop();
}

/* A newly found loss does not extend the time for bytes asked for before. */
TEST(prio_lost_again)
{
	struct guest *g = &guest[0];
	u64 half;

	guests_start(20000);
	half = b->ep.rule.rto_min * 3 / 4;
	comes(0, 1, 30000, 1000, 5000, 0);
	hear();
	CHECK_EQ(g->asked, 1000);
	pass(half);
	comes(0, 1, 30000, 6000, 10000, 0);
	hear();
	CHECK_EQ(g->asked, 2000);
	pass(half);
	hear();
	CHECK_EQ(g->asked, 4000);
	CHECK_EQ(g->rx[0].tries, 0);
	guests_stop();
}

/* A silent peer is asked for a step. If something comes before that is sent, for all. */
TEST(prio_lost_step_is_told)
{
	struct guest *g = &guest[0];
	u32 i;

	guests_start(20000);
	loses(0, 1, 5000);
	for (i = 0; i < 3; i++) {
		hear();
		g->asks = 0;
		pass(b->ep.rule.rto_max + PAIR_US);
	}
	CHECK(g->rx[0].stalled);
	CHECK_EQ(g->rx[0].asked, SOME + 1000);
	comes(0, 1, SOME + 5000, SOME + 4000, SOME + 5000, 0);
	hear();
	CHECK_EQ(g->ask.from, SOME);
	CHECK_EQ(g->ask.to, SOME + 4000);
	guests_stop();
}

/* Earlier requests in vain do not count against the answer to a rejection. */
TEST(prio_reject_begins_anew)
{
	struct mrpc_prio_rx *rx = &guest[0].rx[0];
	u32 i;

	guests_start(4000);
	loses(0, 1, 3000);
	for (i = 0; i < 30; i++) {
		guest[0].peer.heard = now;
		guest[0].peer.asked = 0;
		pass(b->ep.rule.rto_max + PAIR_US);
		hear();
	}
	CHECK(rx->tries > 10);
	mrpc_prio_rx_reject(&b->ep, rx, now);
	CHECK_EQ(rx->tries, 0);
	pass(b->ep.rule.rto_min + PAIR_US);
	CHECK_EQ(rx->tries, 1);
	CHECK_EQ(guest[0].peer.state, MRPC_PRIO_PEER_UP);
	guests_stop();
}

/* First packets lost together are repeated together; after a second loss they are spread. */
TEST(prio_repeats_spread)
{
	static struct mrpc_prio_tx tx[NR];
	u32 turn[2][NR] = { 0 }, most = 0, i, j, t;
	struct mrpc_prio_chunk c;
	struct packet p;

	guests_start(4000);
	for (i = 0; i < NR; i++) {
		guest[i].peer.budget = 4000;
		tx[i] = (struct mrpc_prio_tx){ .conn = 1, .total = 500 };
		CHECK_EQ(mrpc_prio_submit(&b->ep, &guest[i].peer, &tx[i], now), 0);
	}
	hear();
	while (out_data(b, &p))
		;
	for (t = 1; t < 40; t++) {
		pass(250 * PAIR_US);
		while (mrpc_prio_tx_next(&b->ep, now, &c)) {
			i = c.tx - tx;
			turn[!!turn[0][i]][i] = t;
			out_chunk(b, &c, &p);
		}
	}
	for (i = 0; i < NR; i++) {
		u32 same = 0;

		CHECK_EQ(turn[0][i], turn[0][0]);
		for (j = 0; j < NR; j++)
			same += turn[1][j] == turn[1][i];
		CHECK(turn[1][i] > turn[0][i]);
		most = max(most, same);
	}
	CHECK_MSG(most <= NR / 2, "%u of %u at once", most, NR);
	guests_stop();
}

/* Requests to silent peers are spread, too. */
TEST(prio_steps_spread)
{
	u32 i, ms, most = 0, all = 0;

	guests_start(100000);
	for (i = 0; i < NR; i++)
		loses(i, 1, 500);
	for (ms = 0; ms < 45; ms++) {
		bool stalled = guest[0].rx[0].stalled;

		for (i = 0; i < NR; i++)
			guest[i].asks = 0;
		pass(1000 * PAIR_US);
		hear();
		if (stalled) {
			most = max(most, asked_of(0, NR));
			all += asked_of(0, NR);
		}
	}
	CHECK(all >= 2 * NR);
	CHECK_MSG(most <= NR * 3 / 4, "%u of %u at once", most, NR);
	guests_stop();
}

/* A few of the bytes that guest @i was asked for come, and nothing else. */
static void trickles(u32 i)
{
	struct mrpc_prio_rx *rx = &guest[i].rx[0];

	if (rx->next < rx->asked)
		comes(i, 1, rx->total, rx->next, rx->next + 1, MRPC_PRIO_AGAIN);
}

/* A few of these bytes come, but never the first byte. */
static void trickles_beyond(u32 i)
{
	struct mrpc_prio_rx *rx = &guest[i].rx[0];
	u32 at = rx->next + 2 + rx->got - SOME;

	if (rx->next < rx->asked)
		comes(i, 1, rx->total, at, at + 1, MRPC_PRIO_AGAIN);
}

/* The first byte comes, but only once for each request. */
static void trickles_once(u32 i)
{
	struct mrpc_prio_rx *rx = &guest[i].rx[0];

	if (guest[i].asks && rx->next < rx->asked)
		trickles(i);
	guest[i].asks = 0;
}

/* A guest that has stalled sends enough to end that, and then trickles again. */
static void trickles_and_pays(u32 i)
{
	if (guest[i].rx[0].stalled && guest[i].asks)
		answers(i);
	else
		trickles(i);
}

/* All turns are with guests that hardly use them, and their messages rank first. */
static void others_get_on_beside(void (*trickle)(u32 i), u32 lost, u32 rounds)
{
	u32 i, n, done = 0;

	guests_start(8000);
	for (i = 0; i < NR; i++)
		loses(i, 1, i < TURNS ? lost : 30000);
	pass(b->ep.rule.rto_min + PAIR_US);
	hear();
	CHECK_EQ(asked_of(0, TURNS), TURNS);
	CHECK_EQ(asked_of(TURNS, NR), 0);
	for (n = 0; n < rounds && done < NR - TURNS; n++) {
		pass(b->ep.rule.rto_min / 2);
		for (i = 0; i < TURNS; i++)
			trickle(i);
		for (i = TURNS, done = 0; i < NR; i++) {
			hear();
			if (guest[i].asks)
				answers(i);
			done += guest[i].done;
		}
	}
	CHECK_EQ(done, NR - TURNS);
	for (i = 0; i < TURNS; i++)
		CHECK_EQ(guest[i].done, 0);
	guests_stop();
}

/* A few bytes all the time: each gives the next one time to come, but not for ever. */
TEST(prio_turn_of_who_trickles)
{
	others_get_on_beside(trickles, 20000, 300);
}

/* A few bytes for each request: the next request goes to another guest. */
TEST(prio_turn_of_who_trickles_beyond)
{
	others_get_on_beside(trickles_beyond, 20000, 300);
}

TEST(prio_turn_of_who_trickles_once)
{
	others_get_on_beside(trickles_once, 20000, 300);
}

/* A step's bytes for each turn: the guest has another turn after all waiting guests. */
TEST(prio_turn_of_who_pays)
{
	others_get_on_beside(trickles_and_pays, 29000, 400);
}

/* Guest @i sends little of a large message, of which later bytes came, until it stalls. */
static void stalls(u32 i)
{
	struct mrpc_prio_rx *rx = &guest[i].rx[0];
	u64 begun = now;

	comes(i, 1, 30000, 0, SOME, 0);
	comes(i, 1, 30000, 6000, 8999, 0);
	while (!rx->stalled && now < begun + 100 * b->ep.rule.rto_min) {
		pass(b->ep.rule.rto_min / 2);
		comes(i, 1, 30000, rx->next, rx->next + 1, 0);
	}
	CHECK(rx->stalled);
	CHECK_EQ(rx->lost, 0);
}

/* A guest that never sends the first missing byte stalls, too, however often the timer runs. */
TEST(prio_stalls_who_trickles_beyond)
{
	struct mrpc_prio_rx *rx = &guest[0].rx[0];
	u32 rounds = 0, at = SOME + 2;

	guests_start(8000);
	comes(0, 1, 30000, 0, SOME, 0);
	for (; !rx->stalled && rounds < 100; rounds++, at++) {
		pass(b->ep.rule.rto_min / 2);
		comes(0, 1, 30000, at, at + 1, 0);
	}
	NOTE("after %u bytes", rounds);
	CHECK(rx->stalled);
	guests_stop();
}

/* A stalled message is asked for by its timer, even if more of it is found lost. */
TEST(prio_stalled_is_asked)
{
	struct mrpc_prio_rx *rx = &guest[0].rx[0];

	guests_start(8000);
	stalls(0);
	comes(0, 1, 30000, 8999, 9000, 0);
	CHECK_EQ(rx->lost, 6000);
	comes(0, 1, 30000, rx->next, rx->next + 1, 0);
	CHECK(rx->stalled);
	pass(b->ep.rule.rto_max);
	hear();
	CHECK_EQ(guest[0].asks, 1);
	guests_stop();
}

/* When it makes progress, it waits in the line as others do, without a timer. */
TEST(prio_stalled_waits_again)
{
	u32 i;

	guests_start(8000);
	stalls(0);
	for (i = 1; i <= TURNS; i++) {
		comes(i, 1, 30000, 0, SOME, 0);
		comes(i, 1, 30000, SOME + 1000, SOME + 5000, 0);
	}
	hear();
	CHECK_EQ(b->ep.nr_asked, TURNS);
	comes(0, 1, 30000, 8999, 11000, 0);
	hear();
	CHECK(!guest[0].rx[0].stalled);
	CHECK(!guest[0].rx[0].timer.armed);
	CHECK_EQ(guest[0].asks, 0);
	guests_stop();
}

/* A peer that waits for its turn, or for its reader, is not slow because of that. */
TEST(prio_waits_and_is_not_slow)
{
	struct mrpc_prio_rx *last = &guest[NR - 1].rx[0], *first = &guest[0].rx[0];
	u64 begun;
	u32 i;

	guests_start(8000);
	comes(0, 1, 30000, 0, SOME, 0);
	mrpc_prio_rx_limit(&b->ep, first, SOME, now);
	for (i = 1; i < NR; i++)
		loses(i, 1, i == NR - 1 ? 3000 : 2000);
	for (begun = now; now < begun + 5 * b->ep.rule.rto_min; hear())
		pass(b->ep.rule.rto_min / 4);
	CHECK_EQ(guest[NR - 1].asks, 0);
	comes(NR - 1, 1, SOME + 3000, SOME + 1000, SOME + 1001, 0);
	CHECK(!last->stalled);
	mrpc_prio_rx_limit(&b->ep, first, 30000, now);
	comes(0, 1, 30000, SOME, SOME + 1, 0);
	CHECK(!first->stalled);
	guests_stop();
}

/* Fast enough is a step in four timeouts, before and after a stall. */
TEST(prio_slow_and_steady)
{
	struct mrpc_prio_rx *rx = &guest[0].rx[0];
	u32 i;

	guests_start(8000);
	comes(0, 1, 30000, 0, SOME, 0);
	for (i = 0; i < 40; i++) {
		pass(b->ep.rule.rto_min / 2);
		comes(0, 1, 30000, rx->next, rx->next + 200, 0);
		CHECK(!rx->stalled);
	}
	comes(0, 1, 30000, rx->next, rx->next + 600, 0);
	for (i = 0; i < 10; i++) {
		pass(b->ep.rule.rto_min / 2);
		comes(0, 1, 30000, rx->next, rx->next + 1, 0);
	}
	CHECK(rx->stalled);
	comes(0, 1, 30000, rx->next, rx->next + 900, 0);
	CHECK(rx->stalled);
	comes(0, 1, 30000, rx->next, rx->next + 100, 0);
	CHECK(!rx->stalled);
	guests_stop();
}

/* A peer that wasted a turn is equal again after it used one, also by completing a message. */
TEST(prio_turn_forgiven)
{
	guests_start(8000);
	loses(0, 1, 800);
	pass(b->ep.rule.rto_min + PAIR_US);
	hear();
	trickles(0);
	pass(b->ep.rule.rto_min + PAIR_US);
	CHECK(guest[0].peer.vain);
	guest[0].asks = 0;
	hear();
	CHECK_EQ(guest[0].asks, 1);
	answers(0);
	CHECK_EQ(guest[0].done, 1);
	CHECK_EQ(guest[0].peer.vain, 0);
	guests_stop();
}

/* A stalled message that gets little is asked for less and less often, as if nothing came. */
TEST(prio_stalled_is_seldom_asked)
{
	struct mrpc_prio_rx *rx = &guest[0].rx[0];
	u32 i;

	guests_start(8000);
	stalls(0);
	for (i = 0; i < 80; i++) {
		pass(b->ep.rule.rto_min / 2);
		comes(0, 1, 30000, 12000 + i, 12001 + i, 0);
		hear();
	}
	CHECK(rx->stalled);
	CHECK_MSG(guest[0].asks <= 10, "asked %u times", guest[0].asks);
	guests_stop();
}

static void silent_until_stalled(u32 i)
{
	u64 begun = now;

	while (!guest[i].rx[0].stalled && now < begun + 100 * b->ep.rule.rto_min) {
		pass(b->ep.rule.rto_min / 2);
		hear();
	}
	CHECK(guest[i].rx[0].stalled);
}

/* If less than a step is missing, or was asked for, less is enough. */
TEST(prio_stalled_gets_on)
{
	static const u32 begins[] = { 0, 2100, 3100, 4100, 5100 };
	struct mrpc_prio_rx *few = &guest[0].rx[0], *holes = &guest[1].rx[0];
	u32 i;

	guests_start(40000);
	loses(0, 1, 800);
	silent_until_stalled(0);
	comes(0, 1, SOME + 800, SOME, SOME + 50, 0);
	CHECK(few->stalled);
	comes(0, 1, SOME + 800, SOME + 50, SOME + 110, 0);
	CHECK(!few->stalled);
	for (i = 0; i < ARRAY_SIZE(begins); i++)
		comes(1, 1, 30000, begins[i], begins[i] / 1000 * 1000 + (i ? 1000 : 2000), 0);
	silent_until_stalled(1);
	CHECK_EQ(holes->asked, 5100);
	for (i = 0; i < 4; i++) {
		CHECK(holes->stalled);
		comes(1, 1, 30000, holes->next, holes->next + 100, 0);
	}
	CHECK(!holes->stalled);
	guests_stop();
}
