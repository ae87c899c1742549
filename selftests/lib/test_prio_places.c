// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/lib/prio/places */
/*
 * The prio transport: honest peers on a line have their share of it. Hostile peers hold what they
 * are granted, rank first, and send almost nothing.
 */
#include "tap.h"
#include "prio_line.h"

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
