// SPDX-License-Identifier: GPL-2.0
/*
 * The prio transport: many peers, each with a message that never arrives, or that takes no message.
 * The repeats to all of them together are bounded.
 */
#include "tap.h"
#include "prio_pair.h"

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
	CHECK_EQ(b->ep.rx_vain + b->ep.tx_vain, 0);
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
	CHECK_EQ(b->ep.rx_vain, NR);
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
	CHECK_EQ(b->ep.tx_vain, NR);
	strangers_stop();
}

/* One peer with many messages, and many peers with one each: the shares of peers are the same. */
TEST(prio_vain_apart)
{
	static struct mrpc_prio_tx many[1000];
	u32 packets[2] = { 0 }, i;
	struct mrpc_prio_chunk c;
	u64 until;

	strangers_start();
	for (i = 0; i < ARRAY_SIZE(many); i++) {
		many[i].total = 1;
		CHECK_EQ(mrpc_prio_submit(&b->ep, &strangers[0].peer, &many[i], now), 0);
	}
	for (i = 0; i < 10; i++) {
		strangers[i].tx.total = 1;
		CHECK_EQ(mrpc_prio_submit(&b->ep, &strangers[i].peer, &strangers[i].tx, now), 0);
	}
	sends(3);
	CHECK_EQ(b->ep.tx_vain, 10);
	CHECK_EQ(strangers[0].peer.tx_vain, ARRAY_SIZE(many) + 1);
	for (until = now + 60 * SECOND; now < until;) {
		pass(1000000);
		while (mrpc_prio_tx_next(&b->ep, now, &c)) {
			mrpc_prio_tx_sent(&b->ep, &c, c.len, true, now);
			if (c.peer == &strangers[1].peer)
				packets[1]++;
			else if (c.tx == &many[0])
				packets[0]++;
		}
	}
	/* It waits as if it were alone: 0.2 to 0.3 s. One of a thousand waits for its peer's share. */
	CHECK_MSG(packets[1] >= 180, "%u packets in a minute", packets[1]);
	CHECK_MSG(packets[0] >= 20 && packets[0] <= 50, "%u packets in a minute", packets[0]);
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
