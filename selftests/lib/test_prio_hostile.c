// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/lib/prio/rx kmod/lib/prio/grant */
/*
 * The prio transport: a peer that knows the tokens and breaks the rules. It takes no more than its
 * share from other peers.
 */
#include "tap.h"
#include "prio_pair.h"

#define NR	64

/* Another peer of b. The test controls what it sends. */
static struct {
	struct mrpc_prio_peer peer;
	struct mrpc_prio_rx rx[NR];
	u32 nr;
} hostile;

static void hostile_start(void)
{
	struct mrpc_prio_packet hello = {
		.type = MRPC_PRIO_HELLO,
		.token = 99,
		.budget = 1 << 20,
		.max_total = MRPC_PRIO_MAX_TOTAL,
	};

	memset(&hostile, 0, sizeof(hostile));
	mrpc_prio_welcome(&b->ep, &hostile.peer, PAIR_PAYLOAD, &hello, now);
}

static void hostile_stop(void)
{
	mrpc_prio_peer_remove(&b->ep, &hostile.peer);
	while (mrpc_prio_rx_ended(&b->ep))
		;
	pair_stop();
}

/* Two places; the hostile peer may hold one. */
static void two_places(void)
{
	struct mrpc_prio_rule r;

	pair_up();
	r = b->ep.rule;
	r.overcommit = 2;
	CHECK_EQ(mrpc_prio_set(&b->ep, &r), 0);
}

/* The hostile peer begins a message, and sends @len bytes of it. */
static void hostile_begins(u32 total, u32 unscheduled, u32 len)
{
	struct mrpc_prio_packet p = {
		.type = MRPC_PRIO_DATA,
		.to = hostile.peer.local,
		.from = hostile.peer.remote,
		.conn = 1,
		.msg = 1 + hostile.nr,
		.total = total,
		.unscheduled = unscheduled,
		.len = len,
		.priority = 255,
	};
	struct mrpc_prio_event ev;

	mrpc_prio_receive(&b->ep, &hostile.peer, "hostile", 7, &p, false, now, &ev);
	CHECK_EQ(ev.type, MRPC_PRIO_EVENT_MESSAGE);
	mrpc_prio_accept(&b->ep, &hostile.peer, &hostile.rx[hostile.nr++], &p, U32_MAX, now, &ev);
	if (ev.type == MRPC_PRIO_EVENT_DATA)
		CHECK(!mrpc_prio_taken(&b->ep, &ev, now));
}

/* Packets of b to other peers are lost. */
static u32 flow_to_a(void)
{
	struct mrpc_prio_peer *peer;
	struct packet p;
	u32 n = 0;

	while ((p.len = mrpc_prio_control_next(&b->ep, now, p.buf, sizeof(p.buf), &peer))) {
		if (peer != &b->peer)
			continue;
		n++;
		in(a, &p);
	}
	return n;
}

static void a_sends(u32 total)
{
	submit(a, 1, total, 5);
	while (flow(a) + flow_to_a())
		;
}

/* Announced and withheld bytes, again and again, count at most as the peer was offered. */
TEST(prio_unscheduled_withheld)
{
	u32 i;

	two_places();
	hostile_start();
	for (i = 0; i < NR - 1; i++)
		hostile_begins(50000, hostile.peer.offered, i & 1);
	/* The peer has not sent anything yet, so its announcement does not count. */
	CHECK_EQ(b->ep.outstanding, 0);
	hostile_begins(50000, hostile.peer.offered, PAIR_PAYLOAD);
	CHECK_EQ(b->ep.outstanding, hostile.peer.offered);
	a_sends(20000);
	CHECK_EQ(b->completed, 1);
	hostile_stop();
	CHECK_EQ(b->ep.outstanding, 0);
}

/* Granted and withheld: all outstanding bytes are in use, and other peers still go on. */
TEST(prio_grants_withheld)
{
	u32 all, i;

	two_places();
	all = b->ep.rule.outstanding;
	hostile_start();
	for (i = 0; i < NR; i++)
		hostile_begins(4000, 0, 0);
	flow_to_a();
	CHECK_EQ(b->ep.outstanding, all);
	CHECK_EQ(hostile.peer.rx_granted, all);
	a_sends(20000);
	CHECK_EQ(b->completed, 1);
	CHECK_EQ(b->ep.nr_spare, 0);
	CHECK_EQ(b->ep.outstanding, all);
	hostile_stop();
	CHECK_EQ(b->ep.outstanding, 0);
}

/*
 * Two peers announce urgent messages and send nothing. When one message has stalled, the next one
 * would be granted, and the two would hold all places. A peer that sends gets its place back.
 */
TEST(prio_places_withheld)
{
	struct mrpc_prio_packet hello = { .type = MRPC_PRIO_HELLO, .max_total = 1 << 20 };
	static struct mrpc_prio_peer peers[2];
	static struct mrpc_prio_rx rx[2][NR];
	struct mrpc_prio_packet p;
	struct mrpc_prio_event ev;
	u32 i, k;

	two_places();
	/* There was no message of the least priority yet. */
	pair_free(b, b->ep.rx.of[255], sizeof(*b->ep.rx.of[255]));
	b->ep.rx.of[255] = NULL;
	for (k = 0; k < 2; k++) {
		hello.token = 200 + k;
		mrpc_prio_welcome(&b->ep, &peers[k], PAIR_PAYLOAD, &hello, now);
		peers[k].tardy = 0;	/* it has sent something */
		for (i = 0; i < NR; i++) {
			p = (struct mrpc_prio_packet){
				.type = MRPC_PRIO_DATA, .to = peers[k].local, .conn = 1,
				.from = peers[k].remote, .msg = 1 + i, .total = 40000,
				.priority = 255,
			};
			mrpc_prio_receive(&b->ep, &peers[k], "places", 6, &p, false, now, &ev);
			CHECK_EQ(ev.type, MRPC_PRIO_EVENT_MESSAGE);
			mrpc_prio_accept(&b->ep, &peers[k], &rx[k][i], &p, U32_MAX, now, &ev);
		}
	}
	a_sends(20000);
	CHECK_EQ(b->completed, 0);
	for (i = 0; i < 10; i++) {
		pass(b->ep.rule.rto_min);
		while (flow(a) + flow_to_a())
			;
	}
	CHECK_EQ(b->completed, 1);
	CHECK(peers[0].tardy && peers[1].tardy);
	CHECK_EQ(peers[0].entity.priority, 0);
	p.msg = rx[1][0].msg;
	for (i = 0; i < 2; i++) {
		p.len = PAIR_PAYLOAD / 2;
		p.offset = i * p.len;
		CHECK_EQ(peers[1].entity.priority, 0);
		mrpc_prio_receive(&b->ep, &peers[1], "places", 6, &p, false, now, &ev);
		CHECK_EQ(ev.type, MRPC_PRIO_EVENT_DATA);
		CHECK(!mrpc_prio_taken(&b->ep, &ev, now));
	}
	CHECK_EQ(peers[1].entity.priority, 255);
	for (k = 0; k < 2; k++)
		mrpc_prio_peer_remove(&b->ep, &peers[k]);
	while (mrpc_prio_rx_ended(&b->ep))
		;
	pair_stop();
}

/* Steps beyond the outstanding limit go to at most rule.overcommit peers. */
TEST(prio_spare_is_bounded)
{
	struct mrpc_prio_packet hello = { .type = MRPC_PRIO_HELLO, .max_total = 1 << 20 };
	static struct mrpc_prio_peer peers[10];
	static struct mrpc_prio_rx rx[10];
	struct mrpc_prio_event ev;
	u32 i;

	pair_up();
	hostile_start();
	for (i = 0; i < NR; i++)
		hostile_begins(4000, 0, 0);
	flow_to_a();
	for (i = 0; i < 10; i++) {
		struct mrpc_prio_packet p = { .type = MRPC_PRIO_DATA, .conn = 1, .msg = 1,
					      .total = 700, .priority = 255 };

		hello.token = 1000 + i;
		mrpc_prio_welcome(&b->ep, &peers[i], PAIR_PAYLOAD, &hello, now);
		peers[i].tardy = 0;
		CHECK(mrpc_prio_rank_has(&b->ep.rx, p.priority));
		mrpc_prio_accept(&b->ep, &peers[i], &rx[i], &p, U32_MAX, now, &ev);
	}
	flow_to_a();
	CHECK_EQ(b->ep.nr_spare, b->ep.rule.overcommit);
	CHECK(b->ep.outstanding <= b->ep.rule.outstanding +
	      b->ep.rule.overcommit * b->ep.rule.step);
	for (i = 0; i < 10; i++)
		mrpc_prio_peer_remove(&b->ep, &peers[i]);
	CHECK_EQ(b->ep.nr_spare, 0);
	hostile_stop();
}

/*
 * The peer asks for the same bytes over and over. Few bytes are sent per time, and none at once
 * without credit earned by sending.
 */
TEST(prio_resend_is_bounded)
{
	u64 before, sent;
	u32 i;

	pair_up();
	submit(a, 1, 100000, 5);
	flow(a);
	say(b, MRPC_PRIO_GRANT, 2, 3000, 100000, 0);
	flow(a);
	CHECK_EQ(a->tx[1].sent, 100000);
	before = a->ep.stats.resent;
	for (i = 0; i < 200; i++) {
		say(b, MRPC_PRIO_RESEND, 2, 0, 100000, 0);
		flow(a);
	}
	sent = a->ep.stats.resent - before;
	CHECK(sent > 0);
	CHECK(sent <= a->ep.rule.outstanding);
	CHECK(drops(a, MRPC_PRIO_DROP_LIMIT) > 100);
	/* Time goes on: a chunk for each shortest time between two requests */
	before = a->ep.stats.resent;
	for (i = 0; i < 100; i++) {
		pass(a->ep.rule.rto_min / 10);
		say(b, MRPC_PRIO_RESEND, 2, 0, 100000, 0);
		flow(a);
	}
	sent = a->ep.stats.resent - before;
	CHECK(sent >= 9 * a->ep.rule.chunk);
	CHECK(sent <= 10 * a->ep.rule.chunk);
	pair_stop();
}

/* Single bytes cost a packet each: the peer asks for the first and the last byte in turn. */
TEST(prio_resend_costs_a_packet)
{
	u32 i, packets = 0;
	struct packet p;

	pair_up();
	submit(a, 1, 100000, 5);
	flow(a);
	say(b, MRPC_PRIO_GRANT, 2, 3000, 100000, 0);
	flow(a);
	CHECK_EQ(a->tx[1].sent, 100000);
	for (i = 0; i < 1000; i++) {
		say(b, MRPC_PRIO_RESEND, 2, 0, 1, 0);
		say(b, MRPC_PRIO_RESEND, 2, 99999, 100000, 0);
		while (out_data(a, &p))
			packets++;
	}
	CHECK(packets > 0);
	CHECK(packets <= a->ep.rule.outstanding / PAIR_PAYLOAD);
	pair_stop();
}

/* Bytes that wait for their turn cost nothing when they are asked for again. */
TEST(prio_resend_is_counted_once)
{
	u32 i;

	pair_up();
	submit(a, 1, 4000, 5);
	say(b, MRPC_PRIO_GRANT, 2, 0, 4000, 0);
	flow(a);
	say(b, MRPC_PRIO_GRANT, 2, 0, 4000, 0);
	flow(a);
	CHECK_EQ(a->tx[1].sent, 4000);
	for (i = 0; i < 100; i++)
		say(b, MRPC_PRIO_RESEND, 2, 1000, 3000, 0);
	CHECK_EQ(drops(a, MRPC_PRIO_DROP_LIMIT), 0);
	CHECK_EQ(a->tx[1].nr_again, 1);
	CHECK_EQ(a->tx[1].again[0].to, 3000);
	pair_stop();
}

/* Numbers near the maximum are invalid: the base must not come near them. */
TEST(prio_last_number)
{
	struct mrpc_prio_packet q, p = {
		.type = MRPC_PRIO_DATA, .to = 1, .conn = 1, .msg = ~0ULL, .total = 1,
	};
	u8 buf[MRPC_PRIO_DATA_HDR];
	u32 why = 0, len;

	len = mrpc_prio_encode(&p, buf);
	CHECK_EQ(mrpc_prio_parse(buf, len, len, &q, &why), -EPROTO);
	CHECK_EQ(why, MRPC_PRIO_DROP_RANGE);
	p.msg = MRPC_PRIO_MAX_MSG;
	len = mrpc_prio_encode(&p, buf);
	CHECK_EQ(mrpc_prio_parse(buf, len, len, &q, &why), 0);
}

/* A message is refused, and the peer never acknowledges that: the peer is given up. */
TEST(prio_refusal_unheard)
{
	u32 i;

	two_places();
	hostile_start();
	hostile_begins(100000, 1000, 1000);
	mrpc_prio_rx_reject(&b->ep, &hostile.rx[0], now);
	for (i = 0; i < 2000 && hostile.peer.state == MRPC_PRIO_PEER_UP; i++) {
		hostile.peer.heard = now;	/* it sends PINGs all the time */
		hostile.peer.asked = 0;
		now += 10000000;
		while (mrpc_prio_timeout(&b->ep, now))
			;
		flow_to_a();
	}
	CHECK(hostile.peer.state != MRPC_PRIO_PEER_UP);
	CHECK(mrpc_prio_rx_ended(&b->ep) == &hostile.rx[0]);
	hostile_stop();
}

/* The peer never takes an urgent message without content, but answers about it every ms. */
static void empty_not_taken(u8 op, u16 code)
{
	struct mrpc_prio_tx *tx, *waits;
	struct packet p;
	u32 ms, silence;

	pair_up();
	silence = 2 * a->ep.rule.silence / (1000 * PAIR_US);
	a->tx[1] = (struct mrpc_prio_tx){ .conn = 1, .urgent = true };
	tx = &a->tx[1];
	CHECK_EQ(mrpc_prio_submit(&a->ep, &a->peer, tx, now), 0);
	waits = submit(a, 2, 100 * PAIR_PAYLOAD, 5);
	for (ms = 0; a->peer.state == MRPC_PRIO_PEER_UP && ms < 20000; ms++) {
		while (out(a, &p))
			;
		if (!ms)
			say(b, MRPC_PRIO_GRANT, waits->msg, 0, 0, 0);
		say(b, op, tx->msg, 0, 0, code);
		CHECK_EQ(waits->state, MRPC_PRIO_TX_ACTIVE);
		CHECK(tx->state == MRPC_PRIO_TX_ACTIVE ? ms < silence + 10 : ms >= silence);
		now += 1000 * PAIR_US;
		while (mrpc_prio_timeout(&a->ep, now))
			;
	}
	CHECK(a->peer.state != MRPC_PRIO_PEER_UP);
	CHECK_EQ(a->peer.status, MRPC_PRIO_SILENT);
	CHECK_EQ(tx->status, MRPC_PRIO_ABORTED);
	CHECK_EQ(waits->status, MRPC_PRIO_SILENT);
	pair_stop();
}

/* Such a message is given up. A message with a part not granted may wait. */
TEST(prio_empty_not_taken)
{
	empty_not_taken(MRPC_PRIO_GRANT, 0);
	empty_not_taken(MRPC_PRIO_REFUSE, MRPC_PRIO_LATER);
	empty_not_taken(MRPC_PRIO_PONG, 0);
}
