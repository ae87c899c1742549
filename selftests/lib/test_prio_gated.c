// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/lib/prio/tx */
/*
 * The prio transport: a gated message sends only in turns that the caller gives it.
 */
#include "tap.h"
#include "prio_pair.h"

/* Which gated message has changed wants; -1: none. */
static int gate(struct end *e)
{
	struct mrpc_prio_tx *tx = mrpc_prio_tx_gates(&e->ep);

	return tx ? (int)(tx - e->tx) : -1;
}

static struct mrpc_prio_tx *submit_gated(struct end *e, u32 i, u32 total, u8 priority)
{
	struct mrpc_prio_tx *tx = submit(e, i, total, priority);

	mrpc_prio_tx_gate(&e->ep, tx, true);
	return tx;
}

/* Did @tx have a chunk for a turn of @bytes? */
static bool out_turn(struct end *e, struct mrpc_prio_tx *tx, u32 bytes, struct packet *p)
{
	struct mrpc_prio_chunk c;

	if (!mrpc_prio_tx_turn(&e->ep, tx, bytes, now, &c))
		return false;
	CHECK_EQ(mrpc_prio_tx_wants(tx), 0);
	out_chunk(e, &c, p);
	return true;
}

/* A gated message sends only in its turns. Other messages are not affected. */
TEST(prio_gated)
{
	struct mrpc_prio_tx *tx, *empty;
	struct packet p;

	pair_up();
	tx = submit_gated(a, 1, 2500, 9);
	CHECK_EQ(gate(a), 1);
	CHECK_EQ(gate(a), -1);
	CHECK_EQ(mrpc_prio_tx_wants(tx), 2500);
	CHECK_EQ(mrpc_prio_tx_left(tx), 2500);
	submit(a, 2, 100, 1);
	CHECK(out_data(a, &p));
	CHECK_EQ(p.p.total, 100);
	CHECK(!out_data(a, &p));
	in(b, &p);
	pass(200 * PAIR_US);
	while (out_control(b, &p))
		in(a, &p);
	CHECK_EQ(a->ep.nr_tx, 1);
	/* A message that waits for its turn is not repeated and not given up. */
	pass(5 * a->ep.rule.rto_max);
	CHECK(!out_data(a, &p));
	CHECK_EQ(tx->tries, 0);
	CHECK(out_turn(a, tx, 300, &p));
	CHECK_EQ(p.p.len, 300);
	CHECK_EQ(gate(a), 1);
	CHECK_EQ(mrpc_prio_tx_left(tx), 2200);
	CHECK(out_turn(a, tx, 100000, &p));	/* a chunk */
	CHECK_EQ(p.p.offset, 300);
	CHECK_EQ(p.p.len, 1000);
	/* An empty message needs no turn. */
	empty = submit_gated(a, 3, 0, 9);
	CHECK_EQ(mrpc_prio_tx_wants(empty), 0);
	CHECK(out_data(a, &p));
	CHECK_EQ(p.p.total, 0);
	CHECK(!out_turn(a, empty, 10, &p));
	/* The gate is removed in the middle of the message. */
	mrpc_prio_tx_gate(&a->ep, tx, false);
	CHECK(out_data(a, &p));
	CHECK_EQ(p.p.offset, 1300);
	mrpc_prio_tx_gate(&a->ep, tx, true);
	CHECK(!out_data(a, &p));
	CHECK(out_turn(a, tx, 1000, &p));
	CHECK_EQ(p.p.offset, 2300);
	CHECK_EQ(p.p.len, 200);
	CHECK(!out_turn(a, tx, 1000, &p));
	pair_stop();
}

/* Without a grant of the receiver it wants no turn. For lost bytes it wants one again. */
TEST(prio_gated_grants)
{
	struct mrpc_prio_tx *tx;
	struct packet p;
	u64 msg;

	pair_up();
	tx = submit_gated(a, 1, 100000, 9);
	while (mrpc_prio_tx_wants(tx))
		CHECK(out_turn(a, tx, 1000, &p));
	CHECK(tx->sent && tx->sent == tx->granted);
	while (gate(a) >= 0)
		;
	msg = p.p.msg;
	say(b, MRPC_PRIO_GRANT, msg, 0, tx->sent + 1500, 0);
	CHECK_EQ(gate(a), 1);
	CHECK_EQ(mrpc_prio_tx_wants(tx), 1500);
	say(b, MRPC_PRIO_RESEND, msg, 1000, 1600, 0);
	CHECK_EQ(gate(a), 1);
	CHECK_EQ(mrpc_prio_tx_wants(tx), 600);
	CHECK_EQ(mrpc_prio_tx_left(tx), 100000 - tx->sent + 600);
	CHECK(!out_data(a, &p));
	CHECK(out_turn(a, tx, 400, &p));
	CHECK_EQ(p.p.offset, 1000);
	CHECK_EQ(p.p.len, 400);
	CHECK(p.p.flags & MRPC_PRIO_AGAIN);
	CHECK(out_turn(a, tx, 400, &p));
	CHECK_EQ(p.p.offset, 1400);
	CHECK_EQ(p.p.len, 200);
	CHECK_EQ(mrpc_prio_tx_wants(tx), 1500);
	/* An aborted message wants no turns. */
	while (gate(a) >= 0)
		;
	mrpc_prio_tx_abort(&a->ep, tx, now);
	CHECK_EQ(gate(a), 1);
	CHECK_EQ(mrpc_prio_tx_wants(tx), 0);
	CHECK(!out_turn(a, tx, 1000, &p));
	pair_stop();
}

/* A message that cannot begin for lack of numbers wants no turn until there are some. */
TEST(prio_gated_window)
{
	struct mrpc_prio_tx *tx;
	struct packet p;
	u32 i;

	pair_up();
	for (i = 1; i < MRPC_PRIO_WINDOW + 10; i++) {
		submit(a, i, 10, 9);
		out_data(a, &p);
	}
	tx = submit_gated(a, i, 10, 9);
	CHECK_EQ(mrpc_prio_tx_wants(tx), 0);
	CHECK(!out_turn(a, tx, 1000, &p));
	pair_stop();
}
