// SPDX-License-Identifier: GPL-2.0
/*
 * The prio transport: many peers, each with a message that never arrives, or that takes no message.
 * The repeats to all of them together are bounded.
 */
#include "tap.h"
#include "prio_pair.h"
#include "lib/prio/table.h"

#define NR		10000
#define PER_S		8000	/* packets in vain, of any kind */
#define SECOND		1000000000ULL

static struct stranger {
	struct mrpc_prio_peer peer;
	struct mrpc_prio_rx rx;
	struct mrpc_prio_tx tx;
} strangers[NR];

static void strangers_start(void)
{
	struct mrpc_prio_packet hello = {
		.type = MRPC_PRIO_HELLO, .max_total = 1 << 20, .budget = 1 << 20,
	};
	struct mrpc_prio_rule r;
	u32 i;

	pair_up();
	r = b->ep.rule;
	r.silence = 600 * SECOND;
	CHECK_EQ(mrpc_prio_set(&b->ep, &r), 0);
	memset(strangers, 0, sizeof(strangers));
	for (i = 0; i < NR; i++) {
		hello.token = 1000 + i;
		mrpc_prio_welcome(&b->ep, &strangers[i].peer, PAIR_PAYLOAD, &hello, now);
		strangers[i].peer.offered = 1 << 20;
	}
}

static void strangers_stop(void)
{
	u32 i;

	for (i = 0; i < NR; i++)
		mrpc_prio_peer_remove(&b->ep, &strangers[i].peer);
	while (mrpc_prio_rx_ended(&b->ep))
		;
	while (mrpc_prio_tx_ended(&b->ep))
		;
	CHECK_EQ(b->ep.rx_vain.hosts + b->ep.tx_vain.hosts, 0);
	pair_stop();
}

/* A packet of a message of 3000 bytes, of which the first one is lost. */
static void gap(struct stranger *s)
{
	struct mrpc_prio_packet p = {
		.type = MRPC_PRIO_DATA, .to = s->peer.local, .from = s->peer.remote, .conn = 1,
		.msg = 1, .total = 3000, .unscheduled = 3000, .offset = 1000, .len = 1000,
	};
	struct mrpc_prio_event ev;

	mrpc_prio_receive(&b->ep, &s->peer, "stranger", 8, &p, false, now, &ev);
	CHECK_EQ(ev.type, MRPC_PRIO_EVENT_MESSAGE);
	mrpc_prio_accept(&b->ep, &s->peer, &s->rx, &p, U32_MAX, now, &ev);
	CHECK_EQ(ev.type, MRPC_PRIO_EVENT_DATA);
	CHECK(!mrpc_prio_taken(&b->ep, &ev, now));
}

/* What b sends in so many seconds, looked at each millisecond. */
static u32 sends(u32 seconds)
{
	struct mrpc_prio_peer *peer;
	struct mrpc_prio_chunk c;
	u64 until = now + seconds * SECOND;
	u32 packets = 0;
	u8 buf[1500];

	while (now < until) {
		pass(1000000);
		while (mrpc_prio_control_next(&b->ep, now, buf, sizeof(buf), &peer))
			packets++;
		while (mrpc_prio_tx_next(&b->ep, now, &c)) {
			mrpc_prio_tx_sent(&b->ep, &c, c.len, true, now);
			packets++;
		}
	}
	return packets;
}

static void check_bounded(void)
{
	u32 packets;

	sends(3);
	packets = sends(10);
	CHECK_MSG(packets <= 10 * PER_S, "%u packets in 10 s", packets);
	/* All of them get on, if they want to. */
	CHECK(packets >= 4 * NR);
}

TEST(prio_vain_gaps)
{
	u32 i;

	strangers_start();
	for (i = 0; i < NR; i++)
		gap(&strangers[i]);
	check_bounded();
	CHECK_EQ(b->ep.rx_vain.messages[0], NR);
	strangers_stop();
}

/* They get no refusal of their messages. This also tests the limit of the tries of one peer. */
TEST(prio_vain_refusals)
{
	u32 i;

	strangers_start();
	for (i = 0; i < NR; i++) {
		gap(&strangers[i]);
		mrpc_prio_rx_reject(&b->ep, &strangers[i].rx, now);
	}
	check_bounded();
	strangers_stop();
}

/* The peers acknowledge no message. */
TEST(prio_vain_messages)
{
	u32 i;

	strangers_start();
	for (i = 0; i < NR; i++) {
		strangers[i].tx.total = 100;
		CHECK_EQ(mrpc_prio_submit(&b->ep, &strangers[i].peer, &strangers[i].tx, now), 0);
	}
	check_bounded();
	CHECK_EQ(b->ep.tx_vain.messages[0], NR);
	strangers_stop();
}

/* One host with many ports, and a few others: the shares of hosts are the same. */
TEST(prio_vain_apart)
{
	u32 packets[2] = { 0 }, i, many = NR - 4;
	struct mrpc_prio_chunk c;
	u64 until;

	strangers_start();
	for (i = 0; i < NR; i++) {
		strangers[i].peer.host = i < many ? 1 : i;
		strangers[i].tx.total = 1;
		CHECK_EQ(mrpc_prio_submit(&b->ep, &strangers[i].peer, &strangers[i].tx, now), 0);
	}
	sends(10);
	CHECK_EQ(b->ep.tx_vain.hosts, 5);
	CHECK_EQ(b->ep.tx_vain.messages[1], many);
	for (until = now + 60 * SECOND; now < until;) {
		pass(1000000);
		while (mrpc_prio_tx_next(&b->ep, now, &c)) {
			mrpc_prio_tx_sent(&b->ep, &c, c.len, true, now);
			if (c.peer == &strangers[0].peer)
				packets[0]++;
			else if (c.peer == &strangers[NR - 1].peer)
				packets[1]++;
		}
	}
	/* An other host waits as if it were alone, 0.2 to 0.3 s: the many for their host's share. */
	CHECK_MSG(packets[1] >= 180, "%u packets in a minute", packets[1]);
	CHECK_MSG(packets[0] >= 5 && packets[0] <= 12, "%u packets in a minute", packets[0]);
	strangers_stop();
}

/* Numbers that a peer may choose: one message in each bucket, or a few. */
TEST(prio_numbers_are_spread)
{
	static const u32 shifts[] = { 0, 10, 20, 32, 44, 52 };
	u32 i, n, nr;
	struct mrpc_order_link *bucket, *other;
	u64 msg;

	strangers_start();
	for (i = 0; i < ARRAY_SIZE(shifts); i++) {
		bucket = mrpc_prio_bucket(&b->ep, &strangers[0].peer, 1, true);
		for (n = 1, nr = 0; n < 1024; n++) {
			msg = ((u64)n << shifts[i]) + 1;
			other = mrpc_prio_bucket(&b->ep, &strangers[0].peer, msg, true);
			nr += other == bucket;
		}
		CHECK_MSG(nr < 64, "2^%u apart: %u of 1023 share a bucket", shifts[i], nr);
	}
	strangers_stop();
}

/* All is due at once: others get the lock in between. */
TEST(prio_timers_in_batches)
{
	u64 before;
	u32 i;

	strangers_start();
	for (i = 0; i < NR; i++)
		gap(&strangers[i]);
	now += 100 * b->ep.rule.rto_min;
	for (i = 0; i < NR / 64; i++) {
		before = b->ep.stats.timeouts;
		CHECK(mrpc_prio_timeout(&b->ep, now));
		CHECK(b->ep.stats.timeouts - before <= 64);
	}
	while (mrpc_prio_timeout(&b->ep, now))
		;
	CHECK_EQ(b->ep.stats.timeouts, NR);
	CHECK(mrpc_prio_deadline(&b->ep) > now);
	strangers_stop();
}
