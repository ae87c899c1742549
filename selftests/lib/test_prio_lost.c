// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/lib/prio/gaps kmod/lib/prio/tx_heard */
/*
 * The prio transport: many peers lose packets together, as in an incast. They are asked for the
 * lost bytes in turn.
 */
#include "tap.h"
#include "prio_guests.h"

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
