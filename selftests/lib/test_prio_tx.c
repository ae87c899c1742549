// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/lib/prio/tx */
/*
 * The prio transport: sending. For messages that wait for turns, see test_prio_gated.c.
 */
#include "tap.h"
#include "prio_pair.h"

TEST(prio_urgent_first)
{
	struct packet p;
	u32 i;

	pair_up();
	submit(a, 1, 100000, 5);
	CHECK(out_data(a, &p));
	CHECK_EQ(p.p.msg, 2);
	submit(a, 2, 64, 6);
	submit(a, 3, 50000, 5);		/* fewer bytes */
	CHECK(out_data(a, &p));
	CHECK_EQ(p.p.total, 64);
	CHECK_EQ(p.p.len, 64);
	for (i = 0; i < 3; i++) {
		CHECK(out_data(a, &p));
		CHECK_EQ(p.p.total, 50000);
		CHECK_EQ(p.p.offset, i ? (i - 1) * 1000 : 0);
		if (!i)
			say(b, MRPC_PRIO_GRANT, p.p.msg, 0, 2000, 0);
	}
	/* A new priority for a message under way */
	CHECK_EQ(mrpc_prio_tx_priority(&a->ep, &a->tx[1], 7), 0);
	CHECK(out_data(a, &p));
	CHECK_EQ(p.p.total, 100000);
	CHECK_EQ(p.p.priority, 7);
	pair_stop();
}

/* The network priority of the next packet, of @len bytes of payload. */
static u8 out_class(u32 len)
{
	struct mrpc_prio_chunk c;
	struct packet p;

	CHECK(mrpc_prio_tx_next(&a->ep, now, &c));
	CHECK_EQ(c.len, len);
	out_chunk(a, &c, &p);
	return c.class;
}

/* Network priority by size, for unscheduled bytes and for announcements. */
TEST(prio_classes)
{
	pair_up();
	submit(a, 1, 200, 5);
	CHECK_EQ(out_class(200), 6);
	submit(a, 2, 201, 5);
	CHECK_EQ(out_class(201), 5);
	submit(a, 3, 100000, 5);
	CHECK_EQ(out_class(1000), 4);
	CHECK_EQ(out_class(1000), 4);
	submit(a, 4, 50000, 5);
	CHECK_EQ(out_class(0), 4);	/* nothing is left of the budget */
	submit(a, 5, 0, 5);
	CHECK_EQ(out_class(0), 6);
	say(b, MRPC_PRIO_GRANT, 4, 0, 3000, 0);
	CHECK_EQ(a->tx[3].granted, 3000);
	CHECK_EQ(out_class(1000), 0);
	pair_stop();
}

/* Number of turns, of @turns, that message @msg gets. */
static u32 turns_of(u64 msg, u32 turns)
{
	struct packet p;
	u32 nr = 0;

	while (turns--) {
		CHECK(out_data(a, &p));
		nr += p.p.msg == msg;
	}
	return nr;
}

/* A message that always ranks behind others has a turn now and then, after a long wait. */
TEST(prio_longest)
{
	struct packet p;

	pair_up();
	submit(a, 1, 100000, 5);
	CHECK(out_data(a, &p));
	CHECK_EQ(p.p.msg, 2);
	say(b, MRPC_PRIO_GRANT, 2, 0, 50000, 0);
	submit(a, 2, 500000, 6);
	CHECK(out_data(a, &p));
	say(b, MRPC_PRIO_GRANT, 3, 0, 500000, 0);
	CHECK_EQ(turns_of(2, 40), 0);
	now += a->ep.rule.rto_max;
	CHECK_EQ(turns_of(2, 16), 1);
	CHECK_EQ(turns_of(2, 64), 0);
	now += 10 * a->ep.rule.rto_max;
	CHECK_EQ(turns_of(2, 64), 1);
	/* Two such messages together have no more. */
	submit(a, 3, 200000, 7);
	CHECK_EQ(turns_of(4, 1), 1);
	say(b, MRPC_PRIO_GRANT, 4, 0, 50000, 0);
	mrpc_prio_tx_priority(&a->ep, &a->tx[3], 5);
	now += a->ep.rule.rto_max;
	CHECK_EQ(turns_of(3, 64), 62);
	/* A message that may not send does not wait for a turn. */
	mrpc_prio_tx_abort(&a->ep, &a->tx[1], now);
	mrpc_prio_tx_abort(&a->ep, &a->tx[3], now);
	now += a->ep.rule.rto_max;
	CHECK_EQ(turns_of(3, 32), 32);
	pair_stop();
}

TEST(prio_unscheduled_budget)
{
	struct packet p;
	u32 i, bytes = 0, empty = 0;

	pair_up();
	for (i = 1; i <= 10; i++)
		submit(a, i, 1500, 5);
	while (out_data(a, &p)) {
		bytes += p.p.len;
		empty += !p.p.len;
		CHECK(p.p.unscheduled <= 1500);
	}
	/* Two of 1500; the others are announced: a quarter is reserved for small ones. */
	CHECK_EQ(bytes, 3000);
	CHECK_EQ(empty, 8);
	CHECK_EQ(a->peer.unscheduled_out, 3000);
	for (i = 11; i <= 13; i++) {
		submit(a, i, 400, 5);
		CHECK(out_data(a, &p));
		CHECK_EQ(p.p.len, i < 13 ? 400 : 0);
	}
	say(b, MRPC_PRIO_GRANT, a->tx[1].msg, 1000, 1500, 0);
	CHECK_EQ(a->peer.unscheduled_out, 2300);
	/* Whole packets only */
	submit(a, 14, 1900, 5);
	CHECK(out_data(a, &p));
	CHECK_EQ(p.p.unscheduled, 0);
	pair_stop();
}

TEST(prio_empty_messages)
{
	u32 i;

	pair_up();
	for (i = 1; i <= 100; i++)
		submit(a, i, 0, i);
	talk();
	pass(200 * PAIR_US);
	talk();
	CHECK_EQ(b->completed, 100);
	for (i = 0; mrpc_prio_tx_ended(&a->ep); i++)
		;
	CHECK_EQ(i, 100);
	CHECK_EQ(a->ep.stats.timeouts, 0);
	pair_stop();
}

/*
 * At most 1024 messages may be unseen. The others wait, and the most urgent one begins first.
 */
TEST(prio_message_window)
{
	struct packet p;
	u32 i;

	pair_up();
	for (i = 1; i <= 1100; i++)
		submit(a, i, 10, 5);
	for (i = 0; out_data(a, &p); i++)
		CHECK(p.p.behind < MRPC_PRIO_WINDOW);
	CHECK_EQ(i, MRPC_PRIO_WINDOW);
	submit(a, 0, 10, 9);
	CHECK(!out_data(a, &p));
	CHECK(!mrpc_prio_tx_best(&a->ep));
	/* One in the middle does not help; the first one does. */
	say(b, MRPC_PRIO_ACK, 500, 0, 0, 0);
	CHECK(!out_data(a, &p));
	say(b, MRPC_PRIO_ACK, 2, 0, 0, 0);
	CHECK(out_data(a, &p));
	CHECK_EQ(p.p.priority, 9);
	CHECK(!out_data(a, &p));
	say(b, MRPC_PRIO_ACK, 3, 0xffffffff, 0xffffffff, 0);
	for (i = 0; out_data(a, &p); i++)
		;
	CHECK_EQ(i, 65);
	pair_stop();
}

/* A chunk that was not sent changes nothing. */
TEST(prio_send_fails)
{
	struct mrpc_prio_chunk c, d;
	struct packet p;

	pair_up();
	submit(a, 1, 3000, 5);
	CHECK(mrpc_prio_tx_next(&a->ep, now, &c));
	CHECK(!mrpc_prio_tx_next(&a->ep, now, &d));
	mrpc_prio_tx_sent(&a->ep, &c, 0, false, now);
	CHECK_EQ(a->tx[1].sent, 0);
	CHECK(mrpc_prio_tx_next(&a->ep, now, &d));
	CHECK_EQ(d.offset, 0);
	CHECK_EQ(d.packet.msg, c.packet.msg);
	/* The message ends meanwhile: it comes back when the chunk does. */
	mrpc_prio_tx_abort(&a->ep, &a->tx[1], now);
	say(b, MRPC_PRIO_ACK, a->tx[1].msg, 0, 0, 0);
	CHECK_EQ(a->ep.nr_tx, 0);
	CHECK(!mrpc_prio_tx_ended(&a->ep));
	mrpc_prio_tx_sent(&a->ep, &d, d.len, true, now);
	CHECK(mrpc_prio_tx_ended(&a->ep) == &a->tx[1]);
	CHECK_EQ(a->tx[1].status, MRPC_PRIO_ABORTED);
	CHECK(!out_data(a, &p));
	pair_stop();
}

TEST(prio_submit_refused)
{
	pair_up();
	a->tx[1] = (struct mrpc_prio_tx){ .conn = 1, .total = MRPC_PRIO_MAX_TOTAL + 1 };
	CHECK_EQ(mrpc_prio_submit(&a->ep, &a->peer, &a->tx[1], now), -EMSGSIZE);
	a->fail_alloc = true;
	a->tx[1] = (struct mrpc_prio_tx){ .conn = 1, .total = 1, .priority = 200 };
	CHECK_EQ(mrpc_prio_submit(&a->ep, &a->peer, &a->tx[1], now), -ENOMEM);
	CHECK_EQ(a->ep.nr_tx, 0);
	a->fail_alloc = false;
	pair_stop();
}

/*
 * An urgent first packet was lost. It is announced again with that packet, not before the timeout.
 * From the second time on, the timeout may be half as long again: see prio_repeats_spread.
 */
TEST(prio_announced_again)
{
	struct packet p;
	u32 i;

	pair_up();
	submit(a, 1, 500, 5);
	CHECK(out(a, &p));
	for (i = 0; i < 4; i++) {
		u64 rto = a->ep.rule.rto_min << i;

		pass(rto - PAIR_US * 5);
		CHECK(!out(a, &p));
		pass(i ? rto / 2 : PAIR_US * 10);
		CHECK(out(a, &p));
		CHECK_EQ(p.p.len, 500);
		CHECK(p.p.flags & MRPC_PRIO_AGAIN);
		CHECK(p.p.flags & MRPC_PRIO_URGE);
	}
	in(b, &p);
	talk();
	CHECK(mrpc_prio_tx_ended(&a->ep) == &a->tx[1]);
	CHECK_EQ(a->tx[1].status, MRPC_PRIO_DONE);
	pair_stop();
}

/* 20 ms pass; packets of @a are lost. Return: number of packets */
static u32 repeats(void)
{
	struct packet p;
	u32 n = 0, ms;

	for (ms = 0; ms < 20; ms++) {
		pass(1000 * PAIR_US);
		while (out(a, &p))
			n++;
	}
	return n;
}

/* The way becomes longer than messages wait. The sender learns it and does not repeat all. */
TEST(prio_way_becomes_longer)
{
	struct packet first, ack;
	u32 i, n;

	pair_up();
	for (i = 0; i < 6; i++) {
		submit(a, i + 1, 100, 0);
		CHECK(out(a, &first));
		n = repeats();
		in(b, &first);
		pass(200 * PAIR_US);
		CHECK(out(b, &ack));
		n += repeats();
		in(a, &ack);
		CHECK(mrpc_prio_tx_ended(&a->ep) == &a->tx[i + 1]);
		CHECK_MSG(i < 2 ? n : n <= (i == 2), "message %u: %u repetitions", i, n);
	}
	CHECK_EQ(a->peer.late, 0);
	CHECK(a->peer.srtt > 5000 * PAIR_US);
	CHECK_EQ(b->completed, 6);
	pair_stop();
}

/* Sends message @i; its packet is in @p. */
static void sends(u32 i, struct packet *p)
{
	submit(a, i, 100, 0);
	CHECK(out(a, p));
	CHECK_EQ(p->p.len, 100);
}

/* @p comes to @b, which acknowledges it at once, and @a gets that. */
static void answered(const struct packet *p)
{
	struct packet ack;

	in(b, p);
	pass(200 * PAIR_US);
	CHECK(out(b, &ack));
	in(a, &ack);
	CHECK(mrpc_prio_tx_ended(&a->ep));
}

/* During this time @a repeats nothing. */
static void silent(u64 us)
{
	struct packet p;

	for (; us; us -= 100) {
		pass(100 * PAIR_US);
		CHECK(!out(a, &p));
	}
}

/* While earlier messages are acknowledged, a message is only late. */
TEST(prio_late_is_not_lost)
{
	struct packet first, second, again;

	pair_up();
	sends(1, &first);
	silent(1000);
	sends(2, &second);
	silent(700);
	answered(&first);
	silent(1900);		/* 2.8 ms since the second one */
	pass(1000 * PAIR_US);
	CHECK(out(a, &again));
	CHECK_EQ(again.p.msg, second.p.msg);
	CHECK_EQ(a->ep.stats.timeouts, 1);
	answered(&again);
	pair_stop();
}

/* If a later message is acknowledged, an earlier one is lost. */
TEST(prio_overtaken_is_lost)
{
	struct packet first, second, again;

	pair_up();
	sends(1, &first);
	silent(1000);
	sends(2, &second);
	silent(400);
	answered(&second);
	silent(300);
	pass(200 * PAIR_US);	/* 2.1 ms since the first one, 0.5 since an acknowledgement */
	CHECK(out(a, &again));
	CHECK_EQ(again.p.msg, first.p.msg);
	answered(&again);
	pair_stop();
}

/* The way may become as long as some seconds ago, without repeats. */
TEST(prio_long_ways_are_remembered)
{
	struct packet p, again;
	u32 i;

	pair_up();
	for (i = 1; i < 8; i++) {
		sends(i, &p);
		repeats();
		answered(&p);
	}
	CHECK(a->peer.srtt > 5000 * PAIR_US);
	for (; i < 50; i++) {
		sends(i, &p);
		answered(&p);
	}
	CHECK(a->peer.srtt + 4 * a->peer.rttvar < 1000 * PAIR_US);
	sends(i++, &p);
	CHECK_EQ(repeats(), 0);
	answered(&p);
	for (; i < 90; i++) {
		pass(200000 * PAIR_US);
		sends(i, &p);
		answered(&p);
	}
	sends(i, &p);
	silent(1900);
	pass(300 * PAIR_US);
	CHECK(out(a, &again));
	CHECK_EQ(again.p.msg, p.p.msg);
	pair_stop();
}

/* Entries that no peer sends that follows the rules */
TEST(prio_hostile_entries)
{
	struct packet p;

	pair_up();
	submit(a, 1, 100000, 5);
	CHECK(out(a, &p));
	in(b, &p);
	say(b, MRPC_PRIO_GRANT, 99, 0, 1000, 0);
	say(b, MRPC_PRIO_ACK, 99, 0, 0, 0);
	say(b, MRPC_PRIO_REFUSE, 99, 0, 0, MRPC_PRIO_UNKNOWN);
	say(b, MRPC_PRIO_BUSY, 99, 0, 0, 0);
	CHECK_EQ(drops(a, MRPC_PRIO_DROP_UNKNOWN), 4);
	say(b, MRPC_PRIO_GRANT, 2, 0, 100001, 0);
	say(b, MRPC_PRIO_GRANT, 2, 90000, 90000, 0);
	say(b, MRPC_PRIO_RESEND, 2, 0, 100001, 0);
	CHECK_EQ(drops(a, MRPC_PRIO_DROP_STALE), 3);
	say(b, MRPC_PRIO_ACK, 2, 0, 0, 0);		/* not all of it was sent */
	CHECK_EQ(drops(a, MRPC_PRIO_DROP_UNKNOWN), 5);
	CHECK_EQ(a->tx[1].granted, 3000);
	CHECK_EQ(a->ep.nr_tx, 1);
	/* A grant never goes back. */
	say(b, MRPC_PRIO_GRANT, 2, 0, 9000, 0);
	say(b, MRPC_PRIO_GRANT, 2, 0, 5000, 0);
	CHECK_EQ(a->tx[1].granted, 9000);
	say(b, MRPC_PRIO_REFUSE, 2, 0, 0, MRPC_PRIO_LATER);
	CHECK_EQ(a->tx[1].granted, 9000);
	pair_stop();
}

/* An answer comes after the timeout for a new announcement, but before that is sent. */
TEST(prio_announced_after_answer)
{
	struct packet p;
	u32 sent;

	pair_up();
	submit(a, 1, 200000, 5);
	while (out_data(a, &p))
		in(b, &p);
	sent = a->tx[1].sent;
	CHECK(sent > 0 && sent == a->tx[1].granted);
	pass(2 * a->ep.rule.rto_max);
	CHECK(a->tx[1].announce);
	say(b, MRPC_PRIO_GRANT, 2, 0, sent, 0);
	CHECK(out_data(a, &p));
	CHECK_EQ(p.p.len, 0);
	CHECK_EQ(a->tx[1].sent, sent);
	CHECK(!out_data(a, &p));
	pair_stop();
}

/* Put off while the caller has its first chunk: it still begins again. */
TEST(prio_put_off_while_out)
{
	struct mrpc_prio_chunk c;
	struct packet p;

	pair_up();
	submit(a, 1, 20000, 5);
	CHECK(mrpc_prio_tx_next(&a->ep, now, &c));
	CHECK(c.len > 0);
	say(b, MRPC_PRIO_REFUSE, 2, 0, 0, MRPC_PRIO_LATER);
	out_chunk(a, &c, &p);
	CHECK_EQ(a->tx[1].sent, 0);
	CHECK(!out_data(a, &p));
	pass(2 * a->ep.rule.rto_max);
	CHECK(out_data(a, &p));
	CHECK_EQ(p.p.unscheduled, 0);
	CHECK_EQ(p.p.len, 0);
	in(b, &p);
	flow(b);
	CHECK(out_data(a, &p));
	CHECK_EQ(p.p.offset, 0);
	CHECK(p.p.len > 0);
	pair_stop();
}

/* The last chunk came nevertheless: the acknowledgement of the message is accepted. */
TEST(prio_put_off_and_came)
{
	struct mrpc_prio_chunk c;
	struct packet p;

	pair_up();
	submit(a, 1, 2 * PAIR_PAYLOAD, 5);
	CHECK(out_data(a, &p));
	CHECK(mrpc_prio_tx_next(&a->ep, now, &c));
	say(b, MRPC_PRIO_REFUSE, 2, 0, 0, MRPC_PRIO_LATER);
	out_chunk(a, &c, &p);
	in(b, &p);
	say(b, MRPC_PRIO_RESEND, 2, 0, PAIR_PAYLOAD, 0);
	flow(a);
	CHECK_EQ(b->completed, 1);
	pass(a->ep.rule.rto_max);
	talk();
	CHECK(mrpc_prio_tx_ended(&a->ep) == &a->tx[1]);
	CHECK_EQ(a->tx[1].status, MRPC_PRIO_DONE);
	pair_stop();
}

/* Requested bytes are sent again, before new ones, once. The ranges are joined. */
TEST(prio_sent_again)
{
	struct packet p;
	u32 i;

	pair_up();
	submit(a, 1, 20000, 5);
	say(b, MRPC_PRIO_PING, 1, 0, 0, 0);
	say(b, MRPC_PRIO_GRANT, 2, 0, 4000, 0);
	CHECK_EQ(drops(a, MRPC_PRIO_DROP_UNKNOWN), 1);
	for (i = 0; i < 3; i++)
		CHECK(out_data(a, &p));
	CHECK(!out_data(a, &p));
	say(b, MRPC_PRIO_GRANT, 2, 0, 4000, 0);
	CHECK(out_data(a, &p));
	say(b, MRPC_PRIO_GRANT, 2, 0, 6000, 0);
	say(b, MRPC_PRIO_RESEND, 2, 1000, 1500, 0);
	say(b, MRPC_PRIO_RESEND, 2, 1500, 1700, 0);
	say(b, MRPC_PRIO_RESEND, 2, 3000, 3100, 0);
	say(b, MRPC_PRIO_RESEND, 2, 1200, 1600, 0);
	CHECK_EQ(a->tx[1].nr_again, 2);
	CHECK(out_data(a, &p));
	CHECK_EQ(p.p.offset, 1000);
	CHECK_EQ(p.p.len, 700);
	CHECK(p.p.flags & MRPC_PRIO_AGAIN);
	CHECK(out_data(a, &p));
	CHECK_EQ(p.p.offset, 3000);
	CHECK_EQ(p.p.len, 100);
	CHECK(out_data(a, &p));
	CHECK_EQ(p.p.offset, 4000);
	CHECK(!(p.p.flags & MRPC_PRIO_AGAIN));
	CHECK_EQ(a->tx[1].resent, 800);
	/* Bytes that were never sent are only granted. */
	say(b, MRPC_PRIO_RESEND, 2, 6000, 8000, 0);
	CHECK_EQ(a->tx[1].granted, 8000);
	CHECK(a->tx[1].say & BIT(MRPC_PRIO_BUSY));
	/* Too many ranges: the first ones are kept. */
	a->peer.again_credit = a->ep.rule.outstanding;
	for (i = 0; i < 6; i++)
		say(b, MRPC_PRIO_RESEND, 2, i * 500, i * 500 + 1, 0);
	CHECK_EQ(a->tx[1].nr_again, MRPC_PRIO_NR_RANGES);
	CHECK_EQ(drops(a, MRPC_PRIO_DROP_LIMIT), 2);
	pair_stop();
}

/* A request for an ended message is answered, so that its receiver does not wait. */
TEST(prio_resend_of_nothing)
{
	struct mrpc_prio_note note;

	pair_up();
	say(b, MRPC_PRIO_RESEND, 77, 0, 10, 0);
	CHECK(hears(a, MRPC_PRIO_ABORT, &note));
	CHECK_EQ(note.msg, 77);
	pair_stop();
}

TEST(prio_abort)
{
	struct mrpc_prio_note note;
	struct packet late;

	pair_up();
	/* Aborted before it began */
	submit(a, 1, 100, 5);
	mrpc_prio_tx_abort(&a->ep, &a->tx[1], now);
	CHECK(mrpc_prio_tx_ended(&a->ep) == &a->tx[1]);
	CHECK_EQ(talk(), 0);
	/* Its packets were lost: a late one does not begin it. */
	submit(a, 2, 100, 5);
	CHECK(out_data(a, &late));
	mrpc_prio_tx_abort(&a->ep, &a->tx[2], now);
	CHECK(hears(a, MRPC_PRIO_ABORT, &note));
	in(b, &late);
	CHECK_EQ(b->nr_rx, 0);
	CHECK_EQ(drops(b, MRPC_PRIO_DROP_DUPLICATE), 1);
	talk();
	CHECK(mrpc_prio_tx_ended(&a->ep) == &a->tx[2]);
	CHECK_EQ(a->tx[2].status, MRPC_PRIO_ABORTED);
	/* Aborted in the middle; ABORT is lost once. */
	submit(a, 3, 100000, 5);
	flow(a);
	CHECK_EQ(b->ep.nr_rx, 1);
	mrpc_prio_tx_abort(&a->ep, &a->tx[3], now);
	CHECK(out_control(a, &late));
	pass(a->ep.rule.rto_max);
	talk();
	CHECK(mrpc_prio_tx_ended(&a->ep) == &a->tx[3]);
	CHECK(mrpc_prio_rx_ended(&b->ep) == &b->rx[0]);
	CHECK_EQ(b->rx[0].status, MRPC_PRIO_ABORTED);
	CHECK_EQ(b->ep.nr_rx, 0);
	CHECK_EQ(b->ep.outstanding, 0);
	pair_stop();
}
