// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/lib/prio/places */
/*
 * The prio transport: which peers on a line are slow, and what slow peers get.
 */
#include "tap.h"
#include "prio_line.h"

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
