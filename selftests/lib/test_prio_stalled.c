// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/lib/prio/gaps kmod/lib/prio/tx_heard */
/*
 * The prio transport: peers that send few of the lost bytes that they are asked for. Their messages
 * stall, and the other peers have their turns.
 */
#include "tap.h"
#include "prio_guests.h"

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
