// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/lib/prio/rx */
/*
 * The prio transport: receiving, grants, loss.
 */
#include "tap.h"
#include "prio_pair.h"

/* -- at most once -------------------------------------------------------------- */

TEST(prio_rx_duplicates)
{
	struct packet p;

	pair_up();
	submit(a, 1, 300, 5);
	CHECK(out_data(a, &p));
	in(b, &p);
	CHECK_EQ(b->completed, 1);
	in(b, &p);
	in(b, &p);
	CHECK_EQ(b->nr_rx, 1);
	CHECK_EQ(drops(b, MRPC_PRIO_DROP_DUPLICATE), 2);
	/* It is acknowledged again, without delay. */
	talk();
	CHECK(mrpc_prio_tx_ended(&a->ep) == &a->tx[1]);
	pair_stop();
}

TEST(prio_rx_window)
{
	struct packet p, q;
	u32 i;

	pair_up();
	submit(a, 1, 300, 5);
	CHECK(out_data(a, &p));
	/* A number that no sender may use yet */
	q = p;
	q.buf[32] = 2;
	q.buf[33] = 4;			/* 1026 */
	q.buf[62] = 0xff;
	q.buf[63] = 3;			/* all before 3 are known */
	in(b, &q);
	CHECK_EQ(b->nr_rx, 1);
	q.buf[62] = 0xfe;
	q.buf[32] = 4;
	q.buf[33] = 8;			/* 2052 - 1022 */
	in(b, &q);
	CHECK_EQ(b->nr_rx, 2);
	q.buf[32] = 5;
	q.buf[33] = 12;
	in(b, &q);			/* base moves to 2055 only */
	CHECK_EQ(b->nr_rx, 3);
	in(b, &p);			/* is behind the base by now */
	CHECK_EQ(b->nr_rx, 3);
	pair_stop();

	pair_up();
	for (i = 1; i <= 2; i++) {
		submit(a, i, 300, 5);
		CHECK(out_data(a, &p));
	}
	q = p;
	q.buf[32] = 2;
	q.buf[33] = 4;			/* 1026: 1024 beyond 2 */
	q.buf[62] = 0;
	q.buf[62 + 1] = 0;
	q.p.behind = 0;
	/* The sender says that only numbers before 3 are known: 1026 - 1023 */
	q.buf[62] = 0xff;
	q.buf[63] = 3;
	in(b, &q);
	CHECK_EQ(b->peer.rx_base, 3);
	CHECK_EQ(b->nr_rx, 1);
	in(b, &p);			/* 3 */
	CHECK_EQ(b->nr_rx, 2);
	CHECK_EQ(b->peer.rx_base, 4);
	pair_stop();
}

TEST(prio_rx_mismatch)
{
	static const u8 fields[] = { 24, 48, 60 };	/* conn, total, kind */
	struct packet p;
	u32 i;

	pair_up();
	submit(a, 1, 4000, 5);
	CHECK(out_data(a, &p));
	in(b, &p);
	CHECK(out_data(a, &p));
	for (i = 0; i < ARRAY_SIZE(fields); i++) {
		in_changed(b, &p, fields[i], p.buf[fields[i]] ^ 2);
		CHECK_EQ(drops(b, MRPC_PRIO_DROP_MISMATCH), i + 1);
	}
	CHECK_EQ(b->rx[0].got, 1000);
	pair_stop();
}

/* A reply's packet acknowledges the request: no extra packet is needed. */
TEST(prio_ack_travels)
{
	struct packet p;

	pair_up();
	submit(a, 1, 300, 5);
	CHECK(out_data(a, &p));
	in(b, &p);
	CHECK(!out_control(b, &p));
	submit(b, 1, 400, 5);
	CHECK(out(b, &p));
	CHECK_EQ(p.p.type, MRPC_PRIO_DATA);
	CHECK_EQ(p.p.ack, a->tx[1].msg);
	in(a, &p);
	CHECK(mrpc_prio_tx_ended(&a->ep) == &a->tx[1]);
	CHECK(!out_control(b, &p));
	/* The reply is acknowledged by itself if no other packet goes out. */
	CHECK(!out(a, &p));
	pass(a->ep.rule.ack_delay + 2 * PAIR_US);
	CHECK(out_control(a, &p));
	in(b, &p);
	CHECK(mrpc_prio_tx_ended(&b->ep) == &b->tx[1]);
	CHECK_EQ(b->ep.nr_tx, 0);
	pair_stop();
}

TEST(prio_ack_is_urged)
{
	struct packet p;

	pair_up();
	a->tx[1] = (struct mrpc_prio_tx){ .conn = 1, .total = 10, .urgent = true };
	CHECK_EQ(mrpc_prio_submit(&a->ep, &a->peer, &a->tx[1], now), 0);
	CHECK(out_data(a, &p));
	CHECK(p.p.flags & MRPC_PRIO_URGE);
	in(b, &p);
	CHECK(out_control(b, &p));
	in(a, &p);
	CHECK_EQ(a->ep.nr_tx, 0);
	pair_stop();
}

/* Acknowledgements of messages share entries, in any order of arrival. */
TEST(prio_acks_share)
{
	struct packet p[150];
	u64 acks;
	u32 i;

	pair_up();
	acks = b->ep.stats.acks;
	for (i = 0; i < 150; i++) {
		submit(a, 1 + i, 1, 5);
		CHECK(out_data(a, &p[i]));
	}
	for (i = 0; i < 150; i++)
		in(b, &p[i * 37 % 150]);
	while (out_control(b, &p[0]))
		in(a, &p[0]);
	pass(b->ep.rule.ack_delay + 2 * PAIR_US);
	while (out_control(b, &p[0]))
		in(a, &p[0]);
	CHECK_EQ(a->ep.nr_tx, 0);
	CHECK(b->ep.stats.acks - acks <= 8);
	pair_stop();
}

/* -- grants -------------------------------------------------------------------- */

TEST(prio_grant_windows)
{
	struct mrpc_prio_note note;
	struct packet p;

	pair_up();
	submit(a, 1, 100000, 5);
	while (out_data(a, &p))
		in(b, &p);
	CHECK_EQ(b->rx[0].got, 3000);
	CHECK(hears(b, MRPC_PRIO_GRANT, &note));
	CHECK_EQ(note.from, 3000);
	CHECK_EQ(note.to, 7000);
	CHECK_EQ(note.class, 3);
	CHECK_EQ(b->ep.outstanding, 4000);
	talk();
	CHECK_EQ(b->completed, 1);
	CHECK_EQ(b->ep.outstanding, 0);
	CHECK_EQ(b->ep.remaining, 0);
	pair_stop();
}

/* Messages of one peer are granted one at a time. An interrupted one resumes later. */
TEST(prio_grant_order)
{
	struct mrpc_prio_note note;
	struct packet p;
	u32 i;

	pair_up();
	for (i = 1; i <= 3; i++)
		submit(a, i, 40000 - 10000 * i, i == 3 ? 1 : 5);
	while (out_data(a, &p))
		in(b, &p);
	CHECK_EQ(b->nr_rx, 3);
	while (hears(b, MRPC_PRIO_GRANT, &note))
		CHECK(note.msg == a->tx[2].msg);
	/* First the smaller one of priority 5, last that of 1. */
	talk();
	CHECK_EQ(b->completed, 3);
	pair_stop();
}

TEST(prio_grant_orders)
{
	u32 order, proportional;

	for (order = 0; order < MRPC_PRIO_NR_ORDERS; order++)
		for (proportional = 0; proportional < 2; proportional++) {
			struct mrpc_prio_rule r;
			u32 i;

			pair_up();
			r = b->ep.rule;
			r.order = order;
			r.proportional = proportional;
			CHECK_EQ(mrpc_prio_set(&b->ep, &r), 0);
			for (i = 1; i <= 5; i++)
				submit(a, i, i * 7000, 5);
			talk();
			CHECK_EQ(b->completed, 5);
			CHECK(b->ep.outstanding + b->ep.remaining == 0);
			pair_stop();
		}
}

/* The upper layer limits a message: no grant goes beyond. Other messages are not limited. */
TEST(prio_limit)
{
	struct packet p;
	u32 grants;

	pair_up();
	b->limit = 2500;
	submit(a, 1, 100000, 5);
	talk();
	CHECK_EQ(b->rx[0].got, 2500);
	b->limit = U32_MAX;
	submit(a, 2, 20000, 4);
	talk();
	CHECK_EQ(b->completed, 1);
	/* Bytes beyond the limit are never asked for. */
	grants = b->ep.stats.resends;
	pass(a->ep.rule.rto_max * 4);
	talk();
	CHECK_EQ(b->ep.stats.resends, grants);
	mrpc_prio_rx_limit(&b->ep, &b->rx[0], 5000, now);
	talk();
	CHECK_EQ(b->rx[0].got, 5000);
	mrpc_prio_rx_limit(&b->ep, &b->rx[0], U32_MAX, now);
	talk();
	CHECK_EQ(b->completed, 2);
	CHECK(!out(a, &p));
	pair_stop();
}

TEST(prio_reject)
{
	struct mrpc_prio_note note;
	struct packet p;

	pair_up();
	submit(a, 1, 100000, 5);
	flow(a);
	mrpc_prio_rx_reject(&b->ep, &b->rx[0], now);
	CHECK_EQ(b->ep.outstanding, 0);
	CHECK(out_control(b, &p));	/* REFUSE, lost */
	CHECK(!mrpc_prio_rx_ended(&b->ep));
	pass(b->ep.rule.rto_max);
	CHECK(hears(b, MRPC_PRIO_REFUSE, &note));
	CHECK_EQ(note.code, MRPC_PRIO_REJECTED);
	CHECK(mrpc_prio_tx_ended(&a->ep) == &a->tx[1]);
	CHECK_EQ(a->tx[1].status, MRPC_PRIO_REFUSED);
	CHECK_EQ(a->tx[1].code, MRPC_PRIO_REJECTED);
	talk();
	CHECK(mrpc_prio_rx_ended(&b->ep) == &b->rx[0]);
	CHECK_EQ(b->rx[0].status, MRPC_PRIO_REFUSED);
	CHECK_EQ(b->ep.nr_rx, 0);
	pair_stop();
}

TEST(prio_refuse)
{
	static const u32 codes[] = { MRPC_PRIO_UNKNOWN, MRPC_PRIO_TOO_BIG };
	u32 i;

	pair_up();
	for (i = 0; i < ARRAY_SIZE(codes); i++) {
		b->refuse = codes[i];
		submit(a, 1, 2000, 5);
		talk();
		CHECK(mrpc_prio_tx_ended(&a->ep) == &a->tx[1]);
		CHECK_EQ(a->tx[1].status, MRPC_PRIO_REFUSED);
		CHECK_EQ(a->tx[1].code, codes[i]);
		CHECK_EQ(b->ep.nr_rx, 0);
	}
	CHECK_EQ(a->peer.unscheduled_out, 0);
	/* LATER: announced again after a while, without payload, until it is accepted */
	b->refuse = MRPC_PRIO_LATER;
	submit(a, 1, 2000, 5);
	talk();
	CHECK_EQ(a->ep.nr_tx, 1);
	CHECK_EQ(a->tx[1].granted, 0);
	CHECK_EQ(talk(), 0);
	pass(a->ep.rule.rto_min * 3);
	CHECK(talk() > 0);
	b->refuse = 0;
	pass(a->ep.rule.rto_min * 13);
	talk();
	CHECK_EQ(b->completed, 1);
	CHECK_EQ(b->bytes, 2000);
	pair_stop();
}

TEST(prio_limits)
{
	struct mrpc_prio_rule r;
	u32 i;

	pair_up();
	r = b->ep.rule;
	r.max_rx_peer = 3;
	r.max_total = 50000;
	CHECK_EQ(mrpc_prio_set(&b->ep, &r), 0);
	b->limit = 100;
	for (i = 1; i <= 10; i++)
		submit(a, i, 40000, 5);
	talk();
	CHECK_EQ(b->ep.nr_rx, 3);
	CHECK_EQ(drops(b, MRPC_PRIO_DROP_LIMIT), 7);
	submit(a, 11, 50001, 5);
	talk();
	CHECK(mrpc_prio_tx_ended(&a->ep) == &a->tx[11]);
	CHECK_EQ(a->tx[11].code, MRPC_PRIO_TOO_BIG);
	/* They come as the first ones end. */
	b->limit = U32_MAX;
	for (i = 0; i < 3; i++)
		mrpc_prio_rx_limit(&b->ep, &b->rx[i], U32_MAX, now);
	for (i = 0; i < 100; i++) {
		talk();
		pass(a->ep.rule.rto_max);
	}
	CHECK_EQ(b->completed, 10);
	pair_stop();
}

/* Without memory messages come later. Without memory for gaps, bytes beyond a gap are lost. */
TEST(prio_no_memory)
{
	struct packet p[3];
	u32 i;

	pair_up();
	b->fail_alloc = true;
	submit(a, 1, 400, 77);
	talk();
	CHECK_EQ(b->ep.nr_rx, 0);
	CHECK_EQ(drops(b, MRPC_PRIO_DROP_MEMORY), 1);
	b->fail_alloc = false;
	pass(a->ep.rule.rto_max);
	talk();
	CHECK_EQ(b->completed, 1);
	b->fail_alloc = true;
	submit(a, 2, 3000, 77);
	for (i = 0; i < 3; i++)
		CHECK(out_data(a, &p[i]));
	in(b, &p[0]);
	in(b, &p[2]);
	CHECK_EQ(b->rx[1].got, 1000);
	CHECK_EQ(drops(b, MRPC_PRIO_DROP_MEMORY), 2);
	pass(a->ep.rule.rto_max);
	talk();
	CHECK_EQ(b->completed, 2);
	pair_stop();
}

/* A sender that sends more than it may */
TEST(prio_ungranted)
{
	struct packet p;

	pair_up();
	submit(a, 1, 100000, 5);
	CHECK(out_data(a, &p));
	in_changed(b, &p, 57, 0xff);	/* unscheduled: more than it was offered */
	CHECK_EQ(b->nr_rx, 0);
	CHECK_EQ(drops(b, MRPC_PRIO_DROP_RANGE), 1);
	in(b, &p);
	in_changed(b, &p, 53, 0x0f);	/* offset 3840 */
	CHECK_EQ(drops(b, MRPC_PRIO_DROP_UNGRANTED), 1);
	CHECK_EQ(b->rx[0].got, 1000);
	pair_stop();
}

/* -- loss ---------------------------------------------------------------------- */

/* Packets 1, 3 and 4 of 0 to 7 are lost. They are asked for once, when enough came beyond. */
TEST(prio_gaps_asked)
{
	struct mrpc_prio_note note;
	struct mrpc_prio_rule r;
	struct packet p[8], q;
	u32 i;

	pair_up();
	r = a->ep.rule;
	r.unscheduled = 16000;
	r.window = 16000;
	r.outstanding = 16000;
	CHECK_EQ(mrpc_prio_set(&b->ep, &r), 0);
	submit(a, 1, 20000, 5);
	CHECK(out_data(a, &q));
	in(b, &q);
	CHECK(hears(b, MRPC_PRIO_GRANT, &note));
	for (i = 0; i < 8; i++)
		CHECK(out_data(a, &p[i]));
	for (i = 0; i < 8; i++) {
		if (i == 1 || i == 3 || i == 4)
			continue;
		in(b, &p[i]);
		CHECK_EQ(b->ep.nr_gaps, i >= 2);
	}
	/* 2000 to 3000: 6000 more came to 9000; 4000 to 6000: just 3000. */
	CHECK(hears(b, MRPC_PRIO_RESEND, &note));
	CHECK_EQ(note.from, 2000);
	CHECK_EQ(note.to, 3000);
	CHECK_EQ(b->ep.stats.resends, 2);
	CHECK_EQ(a->tx[1].nr_again, 2);
	CHECK(!hears(b, MRPC_PRIO_RESEND, &note));
	for (i = 0; i < 2; i++) {
		CHECK(out_data(a, &q));
		CHECK(q.p.flags & MRPC_PRIO_AGAIN);
		in(b, &q);
	}
	CHECK_EQ(q.p.offset, 4000);
	CHECK_EQ(b->ep.nr_gaps, 1);
	CHECK(out_data(a, &q));
	CHECK_EQ(q.p.offset, 5000);
	in(b, &q);
	CHECK_EQ(b->ep.nr_gaps, 0);
	talk();
	CHECK_EQ(b->completed, 1);
	CHECK_EQ(a->tx[1].resent, 3000);
	pair_stop();
}

/* Bytes that are asked for late have as long to come as before. */
TEST(prio_gaps_asked_late)
{
	struct mrpc_prio_rule r;
	struct packet p[8];
	u32 i;

	pair_up();
	r = a->ep.rule;
	r.unscheduled = 16000;
	r.window = 16000;
	r.outstanding = 16000;
	CHECK_EQ(mrpc_prio_set(&b->ep, &r), 0);
	submit(a, 1, 16000, 5);
	CHECK(out_data(a, &p[0]));
	in(b, &p[0]);
	flow(b);
	for (i = 0; i < 6; i++)
		CHECK(out_data(a, &p[i]));
	/* The first packet is lost, the others come slowly. */
	for (i = 1; i < 4; i++)
		in(b, &p[i]);
	pass(b->ep.rule.rto_min - 500 * PAIR_US);
	CHECK_EQ(b->ep.stats.resends, 0);
	in(b, &p[4]);
	flow(b);
	CHECK_EQ(b->ep.stats.resends, 1);
	CHECK_EQ(a->tx[1].nr_again, 1);
	pass(b->ep.rule.rto_min - 500 * PAIR_US);
	in(b, &p[5]);
	flow(b);
	CHECK_EQ(b->ep.stats.resends, 1);
	pass(1000 * PAIR_US);
	flow(b);
	CHECK_EQ(b->ep.stats.resends, 2);
	talk();
	CHECK_EQ(b->completed, 1);
	pair_stop();
}

/* The last packets are lost: the timer finds that. It also finds lost repeats. */
TEST(prio_tail_lost)
{
	struct packet p;
	u32 i;

	pair_up();
	submit(a, 1, 3000, 5);
	CHECK(out_data(a, &p));
	in(b, &p);
	CHECK(out_data(a, &p));
	CHECK(out_data(a, &p));
	CHECK(!out_data(a, &p));
	talk();
	for (i = 0; i < 3; i++) {
		pass(b->ep.rule.rto_min << (i + 1));
		while (out_control(b, &p))
			in(a, &p);
		CHECK_EQ(a->tx[1].nr_again, 1);
		while (out(a, &p))
			;
	}
	pass(b->ep.rule.rto_max);
	talk();
	CHECK_EQ(b->completed, 1);
	pair_stop();
}

/* A sender has had no turn for a while: its earlier packets are late, not lost. */
TEST(prio_sender_late)
{
	struct packet p[3], q;
	u32 i;

	pair_up();
	submit(a, 1, 5000, 5);
	for (i = 0; i < 3; i++)
		CHECK(out_data(a, &p[i]));
	in(b, &p[0]);
	flow(b);
	CHECK_EQ(a->tx[1].granted, 5000);
	pass(b->ep.rule.rto_min);
	flow(b);
	CHECK_EQ(b->ep.stats.resends, 1);
	CHECK_EQ(a->tx[1].nr_again, 0);
	CHECK(hears(a, MRPC_PRIO_BUSY, &(struct mrpc_prio_note){}));
	CHECK(out_data(a, &q));
	CHECK_EQ(q.p.offset, 3000);
	CHECK(out_data(a, &p[0]));
	/* Now no later packet will come that would show a loss. */
	pass(b->ep.rule.rto_min << 2);
	flow(b);
	CHECK_EQ(b->ep.stats.resends, 2);
	CHECK_EQ(a->tx[1].nr_again, 1);
	for (i = 1; i < 3; i++)
		in(b, &p[i]);
	in(b, &q);
	in(b, &p[0]);
	CHECK_EQ(b->completed, 1);
	pair_stop();
}

/* A message of which nothing comes holds no share of the outstanding bytes. */
TEST(prio_stalled)
{
	struct packet p;
	u32 i;

	pair_up();
	submit(a, 1, 100000, 5);
	flow(a);
	CHECK(out_control(b, &p));
	CHECK_EQ(b->ep.outstanding, 4000);
	for (i = 0; i < 3; i++) {
		pass(b->ep.rule.rto_min << (i + 1));
		while (out(a, &p) || out_control(b, &p))
			;
	}
	CHECK(b->rx[0].stalled);
	CHECK_EQ(b->ep.outstanding, 0);
	pass(b->ep.rule.rto_max);
	talk();
	CHECK_EQ(b->completed, 1);
	pair_stop();
}

/* As many pieces as can be remembered; more count as lost. */
TEST(prio_gaps_full)
{
	struct packet p[80];
	struct mrpc_prio_rule r;
	u32 i;

	pair_rule(&r);
	r.unscheduled = 200000;
	r.window = 200000;
	r.outstanding = 200000;
	r.reorder = 0;
	pair_start_rule(&r);
	submit(a, 0, 0, 0);
	talk();
	submit(a, 1, 70000, 5);
	for (i = 0; i < 70; i++)
		CHECK(out_data(a, &p[i]));
	for (i = 1; i < 70; i += 2)
		in(b, &p[i]);
	CHECK_EQ(b->rx[1].gaps->nr, MRPC_PRIO_NR_GAPS);
	CHECK_EQ(drops(b, MRPC_PRIO_DROP_GAPS), 5);
	for (i = 0; i < 70; i += 2)
		in(b, &p[i]);
	CHECK_EQ(b->ep.nr_gaps, 1);
	for (i = 0; i < 70; i++)
		in(b, &p[i]);
	CHECK_EQ(b->completed, 2);
	CHECK_EQ(b->ep.nr_gaps, 0);
	pair_stop();
}

/* Pieces of any size overlap in any way. Each byte is offered once. */
TEST(prio_gaps_overlap)
{
	struct mrpc_prio_chunk c;
	struct packet p;
	u64 s = 3;
	u32 i;

	pair_up();
	submit(a, 1, 3000, 5);
	CHECK(mrpc_prio_tx_next(&a->ep, now, &c));
	for (i = 0; i < 4000 && !b->completed; i++) {
		u32 from = (s = s * 6364136223846793005ULL + 1) >> 33;
		u32 len = (s = s * 6364136223846793005ULL + 1) >> 33;

		from %= 3000;
		len = 1 + len % min_t(u32, 3000 - from, 700);
		c.offset = from;
		mrpc_prio_chunk_header(&c, 0, p.buf);
		p.len = MRPC_PRIO_DATA_HDR + len;
		in(b, &p);
	}
	CHECK_EQ(b->completed, 1);
	CHECK_EQ(b->bytes, 3000);
	CHECK_EQ(b->ep.nr_gaps, 0);
	mrpc_prio_tx_sent(&a->ep, &c, 0, true, now);
	pair_stop();
}

/* -- congestion ---------------------------------------------------------------- */

TEST(prio_ecn)
{
	struct packet p;
	u32 i;

	pair_up();
	a->peer.srtt = 100 * PAIR_US;
	b->peer.srtt = 100 * PAIR_US;
	submit(a, 1, 100000, 5);
	for (i = 0; i < 3; i++) {
		CHECK(out_data(a, &p));
		in_ecn(b, &p, true);
	}
	CHECK_EQ(b->ep.stats.marks, 3);
	CHECK_EQ(b->peer.rx_scale, 512);	/* once in a round trip */
	CHECK(out_control(b, &p));
	CHECK(p.p.flags & MRPC_PRIO_ECN);
	CHECK_EQ(b->rx[0].granted - b->rx[0].got, 2000);
	in(a, &p);
	CHECK_EQ(a->peer.tx_scale, 512);
	now += 250 * PAIR_US;
	CHECK(out_data(a, &p));
	in(b, &p);
	CHECK(out_control(b, &p));
	CHECK(!(p.p.flags & MRPC_PRIO_ECN));
	in(a, &p);
	CHECK_EQ(b->peer.rx_scale, 512 + 2 * 64);
	for (i = 0; i < 20; i++) {
		now += 200 * PAIR_US;
		if (out_data(a, &p))
			in_ecn(b, &p, true);
		if (out_control(b, &p))
			in(a, &p);
	}
	CHECK_MSG(b->peer.rx_scale >= 64 && b->peer.rx_scale <= 400, "scale %u", b->peer.rx_scale);
	for (i = 0; i < 40; i++) {
		pass(1000 * PAIR_US);
		talk();
	}
	CHECK_EQ(b->completed, 1);
	pair_stop();
}
