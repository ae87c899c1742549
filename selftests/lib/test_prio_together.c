// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/lib/prio/tx */
/* The prio transport: messages that share a datagram. */
#include <string.h>

#include "tap.h"
#include "prio_pair.h"

#define TOGETHER	8

static struct mrpc_prio_chunk chunks[TOGETHER];

static u32 next(u32 most)
{
	CHECK(mrpc_prio_tx_next(&a->ep, now, chunks));
	return mrpc_prio_tx_more(&a->ep, now, chunks, most);
}

static void sent(u32 nr, bool any)
{
	u32 i;

	for (i = 0; i < nr; i++)
		mrpc_prio_tx_sent(&a->ep, &chunks[i], any ? chunks[i].len : 0, any, now);
}

/* In the order of their turns, each with its own header that says whether another follows. */
TEST(prio_together)
{
	static const u32 totals[] = { 100, 60, 80 };
	u32 len = 0, at = 0, i;
	struct packet p;
	u8 buf[1500];

	pair_up();
	submit(a, 1, 60, 5);
	submit(a, 2, 80, 5);
	submit(a, 3, 100, 9);
	CHECK_EQ(next(TOGETHER), 3);
	CHECK_EQ(a->ep.stats.joined, 2);
	CHECK(chunks[0].tx == &a->tx[3]);
	for (i = 0; i < 3; i++) {
		CHECK_EQ(chunks[i].len, totals[i]);
		mrpc_prio_chunk_header(&chunks[i], 0, buf + len);
		memset(buf + len + MRPC_PRIO_DATA_HDR, 0x5a, totals[i]);
		len += MRPC_PRIO_DATA_HDR + totals[i];
	}
	sent(3, true);
	CHECK(!out_data(a, &p));
	for (i = 0; i < 3; i++) {
		p.len = len - at;
		memcpy(p.buf, buf + at, p.len);
		parse_own(&p);
		CHECK_EQ(p.p.len, totals[i]);
		CHECK_EQ(p.p.nr, i < 2 ? totals[i] : 0);
		in(b, &p);
		CHECK_EQ(b->completed, i + 1);
		at += p.p.size;
	}
	CHECK_EQ(at, len);
	talk();
	pass(200 * PAIR_US);
	talk();
	CHECK_EQ(a->ep.nr_tx, 0);
	pair_stop();
}

/* The next message in the order that cannot join ends the datagram: none overtakes it. */
TEST(prio_together_order)
{
	pair_up();
	submit(a, 1, 50, 9);
	submit(a, 2, 900, 7);	/* of another network priority */
	submit(a, 3, 50, 5);
	CHECK_EQ(next(TOGETHER), 1);
	CHECK_EQ(chunks[0].packet.nr, 0);
	sent(1, true);
	CHECK_EQ(next(TOGETHER), 1);
	CHECK_EQ(chunks[0].len, 900);
	sent(1, true);
	CHECK_EQ(next(TOGETHER), 1);
	sent(1, true);
	pair_stop();
}

/* No more than every path takes, and no more than the caller asks for. */
TEST(prio_together_room)
{
	u32 i, nr;

	pair_up();
	for (i = 1; i <= 20; i++)
		submit(a, i, 150, 5);
	/* The budget is 4000, and a path takes 1000 bytes beside a header. */
	nr = next(TOGETHER);
	CHECK_EQ(nr, (MRPC_PRIO_DATA_HDR + PAIR_PAYLOAD) / (MRPC_PRIO_DATA_HDR + 150));
	sent(nr, true);
	CHECK_EQ(next(2), 2);
	sent(2, true);
	/* On a path that takes more, still no more than every path takes. */
	mrpc_prio_peer_payload(&a->peer, 1400);
	CHECK_EQ(next(TOGETHER), 5);
	sent(5, true);
	pair_stop();
}

/* A message that is sent again, announced, empty or gated goes alone. */
TEST(prio_together_alone)
{
	pair_up();
	submit(a, 1, 50, 5);
	submit(a, 2, 50, 5);
	submit(a, 3, 0, 5);
	submit(a, 4, 50, 5);
	mrpc_prio_tx_gate(&a->ep, &a->tx[4], true);
	CHECK_EQ(next(TOGETHER), 1);
	CHECK(chunks[0].tx == &a->tx[3]);
	sent(1, true);
	CHECK_EQ(next(TOGETHER), 2);
	/* They were not sent after all: they have begun, and go one by one. */
	sent(2, false);
	CHECK_EQ(next(TOGETHER), 1);
	sent(1, true);
	CHECK_EQ(next(TOGETHER), 1);
	sent(1, true);
	CHECK(!mrpc_prio_tx_next(&a->ep, now, chunks));
	CHECK(!a->tx[4].msg);
	now += 100000000;
	while (mrpc_prio_timeout(&a->ep, now))
		;
	CHECK_EQ(next(TOGETHER), 1);
	sent(1, true);
	CHECK_EQ(next(TOGETHER), 1);
	CHECK(chunks[0].packet.flags & MRPC_PRIO_AGAIN);
	sent(1, true);
	pair_stop();
}

/* A message that does not fit into the rest of the budget is announced, alone. */
TEST(prio_together_budget)
{
	u32 i;

	pair_up();
	for (i = 1; i <= 5; i++)
		submit(a, i, 900, 9);
	submit(a, 6, 150, 5);
	submit(a, 7, 150, 5);
	for (i = 1; i <= 5; i++) {
		CHECK_EQ(next(TOGETHER), 1);
		sent(1, true);
	}
	while (mrpc_prio_tx_next(&a->ep, now, chunks)) {
		u32 nr = mrpc_prio_tx_more(&a->ep, now, chunks, TOGETHER);

		CHECK(nr == 1 || chunks[0].len == 150);
		CHECK(nr == 1 || a->peer.unscheduled_out <= a->peer.budget);
		sent(nr, true);
	}
	pair_stop();
}
