// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/lib/message/credit */
/*
 * Credit of streams: a sender, a receiver and what is on its way between them, against the rules
 * that a reader and a writer of a stream rely on.
 */
#include "lib/message/credit.h"
#include "rnd.h"
#include "tap.h"

#define QUEUE	4096

/* What is on its way: messages in order, and announcements that overtake each other. */
static u64 messages[QUEUE];
static u32 first, last;
static u64 announced[QUEUE];
static u32 nr_announced;

TEST(window)
{
	struct mrpc_credit_tx tx;
	struct mrpc_credit_rx rx;

	mrpc_credit_init(&tx, &rx);
	CHECK(mrpc_credit_take(&tx, MRPC_STREAM_WINDOW - 1));
	/* One more, of any size, as there is a byte left. */
	CHECK(mrpc_credit_take(&tx, 1ULL << 30));
	CHECK(!mrpc_credit_take(&tx, 1));
	CHECK(mrpc_credit_covers(&rx));
	mrpc_credit_arrived(&rx, MRPC_STREAM_WINDOW - 1);
	CHECK(mrpc_credit_covers(&rx));
	mrpc_credit_arrived(&rx, 1ULL << 30);
	CHECK(!mrpc_credit_covers(&rx));
	CHECK(!mrpc_credit_due(&rx));
	CHECK(!mrpc_credit_grant(&rx, MRPC_STREAM_WINDOW + (1ULL << 30)));
	CHECK(mrpc_credit_grant(&rx, MRPC_STREAM_WINDOW / 4 - 1));
	CHECK(!mrpc_credit_due(&rx));
	CHECK(mrpc_credit_grant(&rx, 1));
	CHECK_EQ(mrpc_credit_due(&rx), MRPC_STREAM_WINDOW + MRPC_STREAM_WINDOW / 4);
}

TEST(cost)
{
	struct mrpc_frame f = { .meta_len = 5, .msg = { .structs = 16, .text = 3, .bytes = 8 } };

	CHECK_EQ(mrpc_credit_cost(&f), MRPC_STREAM_MESSAGE + 5 + mrpc_msg_total(&f.msg));
}

/* An old announcement, or one of a liar, never takes credit away. */
TEST(announcements)
{
	struct mrpc_credit_tx tx;
	struct mrpc_credit_rx rx;

	mrpc_credit_init(&tx, &rx);
	mrpc_credit_hear(&tx, 0);
	CHECK_EQ(tx.may, MRPC_STREAM_WINDOW);
	mrpc_credit_hear(&tx, ~0ULL);
	mrpc_credit_hear(&tx, 5);
	CHECK_EQ(tx.may, ~0ULL);
}

static u64 random_cost(u64 *rnd)
{
	return MRPC_STREAM_MESSAGE + (rnd_below(rnd, 8) ? rnd_below(rnd, 2000) :
							  rnd_below(rnd, 1 << 20));
}

/*
 * Whatever the order of events: what has come and is not granted is a window and one message at
 * most, the receiver never finds an honest sender without credit, and a reader that grants all gets
 * all.
 */
TEST(random_events)
{
	u64 rnd = 1, sent = 0, unread = 0, largest = 0;
	struct mrpc_credit_tx tx;
	struct mrpc_credit_rx rx;
	u32 step;

	mrpc_credit_init(&tx, &rx);
	for (step = 0; step < 2000000; step++) {
		u64 cost, may;

		switch (rnd_below(&rnd, 4)) {
		case 0:
			cost = random_cost(&rnd);
			if (last - first == QUEUE || !mrpc_credit_take(&tx, cost))
				break;
			messages[last++ % QUEUE] = cost;
			largest = max(largest, cost);
			sent++;
			break;
		case 1:
			if (first == last)
				break;
			CHECK(mrpc_credit_covers(&rx));
			cost = messages[first++ % QUEUE];
			mrpc_credit_arrived(&rx, cost);
			unread += cost;
			break;
		case 2:
			cost = unread ? rnd_below(&rnd, min(unread, 1ULL << 20)) + 1 : 0;
			CHECK(mrpc_credit_grant(&rx, cost));
			unread -= cost;
			may = mrpc_credit_due(&rx);
			if (!may || nr_announced == QUEUE)
				break;
			mrpc_credit_said(&rx, may);
			announced[nr_announced++] = may;
			break;
		case 3:
			if (!nr_announced)
				break;
			cost = rnd_below(&rnd, nr_announced);
			mrpc_credit_hear(&tx, announced[cost]);
			announced[cost] = announced[--nr_announced];
			break;
		}
		CHECK_EQ(unread, rx.sum - rx.granted);
		CHECK(tx.may <= rx.said);
		CHECK(tx.sum - rx.granted < MRPC_STREAM_WINDOW + largest);
	}
	/* All is read and told: the sender goes on. */
	while (first != last)
		mrpc_credit_arrived(&rx, messages[first++ % QUEUE]);
	CHECK(mrpc_credit_grant(&rx, rx.sum - rx.granted));
	while (nr_announced)
		mrpc_credit_hear(&tx, announced[--nr_announced]);
	if (mrpc_credit_due(&rx))
		mrpc_credit_hear(&tx, mrpc_credit_due(&rx));
	CHECK(mrpc_credit_take(&tx, 1));
	CHECK(sent > 1000);
}
