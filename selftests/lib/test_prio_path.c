// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/lib/prio/path */
/*
 * The prio transport: paths that do not take packets as large as they should, and do not say so.
 */
#include "tap.h"
#include "prio_net.h"
#include "prio_net_check.h"

#define NS_PER_S	1000000000ULL

static struct pnet_net net;

/* Two hosts that believe in packets of @payload bytes, on a path of @mtu. */
static void path_start(u64 seed, u32 payload, u32 mtu)
{
	struct mrpc_prio_rule rule;

	mrpc_prio_rule_default(&rule);
	pnet_init(&net, 2, seed, &rule);
	net.payload = payload;
	net.faults.mtu = mtu;
	net.faults.jitter = 1;
}

static void path_stop(void)
{
	pnet_run(&net, net.now + 10 * NS_PER_S);
	pnet_check(&net);
	pnet_check_end(&net);
	CHECK_MSG(!net.wrong[0], "%s", net.wrong);
	pnet_fini(&net);
}

static void send_one(u32 total)
{
	CHECK(pnet_send(&net, 0, 1, total, 100, false));
	pnet_pump(&net, 0);
	pnet_run(&net, net.now + NS_PER_S);
	CHECK_MSG(!net.wrong[0], "%s", net.wrong);
	CHECK_EQ(net.host[0].ep.nr_tx, 0);
}

static u32 payload(void)
{
	return net.host[0].peers[1].peer.payload;
}

static u64 shrinks(void)
{
	return net.host[0].ep.stats.shrinks;
}

/* A large message: its bytes are asked for again and again, until packets are small. */
TEST(prio_blackhole_large)
{
	static const struct {
		u32 payload;
		u32 mtu;
		u32 after;
		u32 shrinks;
	} cases[] = {
		{ 1400, 1463, MRPC_PRIO_BASE_PAYLOAD + 252, 1 },
		{ 1400, 1300, MRPC_PRIO_BASE_PAYLOAD, 2 },
		{ 1388, 1400, MRPC_PRIO_BASE_PAYLOAD, 1 },
		{ 1900, 1452, MRPC_PRIO_BASE_PAYLOAD + 252, 1 },
		{ 1900, 1200, MRPC_PRIO_BASE_PAYLOAD, 2 },
		{ 1136, 1200, MRPC_PRIO_BASE_PAYLOAD, 0 },
		{ 1400, 1464, 1400, 0 },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		path_start(i, cases[i].payload, cases[i].mtu);
		send_one(1000000);
		CHECK_EQ(payload(), cases[i].after);
		CHECK_EQ(shrinks(), cases[i].shrinks);
		/* From then on nothing is lost. */
		net.lost_bytes = 0;
		send_one(1000000);
		CHECK_EQ(net.lost_bytes, 0);
		path_stop();
	}
}

/* Messages of a packet each: the peer knows of none before a small packet came. */
TEST(prio_blackhole_small)
{
	u32 i;

	path_start(1, 1400, 1250);
	for (i = 0; i < 3; i++)
		send_one(100);
	CHECK_EQ(shrinks(), 0);
	for (i = 0; i < 6; i++)
		send_one(1300);
	CHECK_EQ(payload(), MRPC_PRIO_BASE_PAYLOAD);
	path_stop();
}

/* Loss of whatever size is not taken for it, nor is a path that is dead for a while. */
TEST(prio_blackhole_not)
{
	u32 i, seed;

	for (seed = 0; seed < 20; seed++) {
		path_start(seed, 1400, 0);
		net.faults.loss = 500;
		for (i = 0; i < 20; i++)
			send_one(100000);
		CHECK_EQ(shrinks(), 0);
		CHECK(net.lost_bytes > 50000);
		net.blackhole = true;
		CHECK(pnet_send(&net, 0, 1, 100000, 100, false));
		CHECK(pnet_send(&net, 0, 1, 1300, 100, false));
		pnet_pump(&net, 0);
		pnet_run(&net, net.now + NS_PER_S);
		net.blackhole = false;
		pnet_run(&net, net.now + NS_PER_S);
		CHECK_EQ(net.host[0].ep.nr_tx, 0);
		CHECK_EQ(shrinks(), 0);
		path_stop();
	}
}

/* Large packets are tried again after a while, or when the caller knows better. */
TEST(prio_blackhole_ends)
{
	struct mrpc_prio_peer *peer = &net.host[0].peers[1].peer;

	path_start(3, 1400, 1300);
	send_one(100000);
	send_one(100000);
	CHECK_EQ(payload(), MRPC_PRIO_BASE_PAYLOAD);
	mrpc_prio_peer_payload(peer, 1400);
	CHECK_EQ(payload(), MRPC_PRIO_BASE_PAYLOAD);
	net.faults.mtu = 0;
	pnet_run(&net, net.now + 590 * NS_PER_S);
	send_one(100000);
	CHECK_EQ(payload(), MRPC_PRIO_BASE_PAYLOAD);
	pnet_run(&net, net.now + 20 * NS_PER_S);
	send_one(100000);
	CHECK_EQ(payload(), 1400);
	net.faults.mtu = 1300;
	send_one(100000);
	send_one(100000);
	CHECK_EQ(payload(), MRPC_PRIO_BASE_PAYLOAD);
	mrpc_prio_peer_payload(peer, 1300);
	CHECK_EQ(payload(), 1300);
	mrpc_prio_peer_payload(peer, 1200);
	send_one(100000);
	CHECK_EQ(payload(), 1200);
	path_stop();
}
