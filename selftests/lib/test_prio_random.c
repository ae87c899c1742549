// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/lib/prio */
/*
 * The prio transport on bad networks: random messages, faults, restarts and changes. Each
 * message is delivered at most once and byte for byte, each ends, and nothing is left. A seed that
 * fails comes back: PRIO_SEED=n test_prio_random; PRIO_SEEDS=n: so many.
 */
#include <stdio.h>

#include "prio_net.h"
#include "prio_net_check.h"
#include "rnd.h"
#include "tap.h"

#define SEEDS	1000

static struct pnet_net net;

static u32 some(u32 below)
{
	return pnet_rnd(&net, below);
}

static void random_rule(u64 seed, struct mrpc_prio_rule *r)
{
	u64 s = seed * 77 + 5;

	mrpc_prio_rule_default(r);
	r->chunk = rnd_below(&s, 2) ? 16384 : 500 + rnd_below(&s, 9000);
	r->step = 1 + rnd_below(&s, 8000);
	r->window = r->step + rnd_below(&s, 60000);
	r->outstanding = max(r->window, r->chunk) + rnd_below(&s, 100000);
	r->unscheduled = rnd_below(&s, 4) ? rnd_below(&s, 30000) : 0;
	r->proportional = rnd_below(&s, 2);
	r->overcommit = 1 + rnd_below(&s, 4);
	r->order = rnd_below(&s, MRPC_PRIO_NR_ORDERS);
	r->crc = rnd_below(&s, 2);
	r->reorder = rnd_below(&s, 3) ? rnd_below(&s, 20000) : 0;
	r->max_rx = rnd_below(&s, 4) ? 1000 : 1 + rnd_below(&s, 6);
	r->max_rx_peer = 1 + rnd_below(&s, 30);
	r->rto_min = 100000 + rnd_below(&s, 1000000);
	r->rto_max = r->rto_min * (1 + rnd_below(&s, 8));
	r->ack_delay = rnd_below(&s, 3) ? rnd_below(&s, r->rto_min / 2) : 0;
	r->silence = 1000000000;
}

/* Half of the runs have one kind of fault only, which others would hide. */
static void random_faults(struct pnet_faults *f)
{
	u32 which = some(2) ? some(11) : 11;

	*f = (struct pnet_faults){
		.loss = which == 0 || which == 11 ? some(1500) : 0,
		.dup = which == 1 || which == 11 ? some(1500) : 0,
		.corrupt = which == 2 || which == 11 ? some(500) : 0,
		.forge = which == 3 || which == 11 ? some(1000) : 0,
		.ecn = which == 4 || which == 11 ? some(3000) : 0,
		.late = which == 5 || which == 11 ? some(1000) : 0,
		.fail = which == 6 || which == 11 ? some(1000) : 0,
		.defer = which == 7 || which == 11 ? some(2000) : 0,
		.untaken = which == 8 || which == 11 ? some(500) : 0,
		.memory = which == 9 || which == 11 ? some(500) : 0,
		.mtu = which == 10 || (which == 11 && !some(4)) ? 1200 + some(300) : 0,
		.jitter = some(2) ? 1 + some(400000) : 1,
	};
}

static u32 random_total(void)
{
	switch (some(5)) {
	case 0:
		return some(3);
	case 1:
		return some(200);
	case 2:
		return some(3000);
	case 3:
		return some(30000);
	default:
		return some(some(8) ? 60000 : 300000);
	}
}

static void random_send(void)
{
	u32 src = some(net.hosts), dst = (src + 1 + some(net.hosts - 1)) % net.hosts;
	u32 total = random_total();
	struct pnet_msg *m = pnet_send(&net, src, dst, total, some(3) ? 128 : some(4) * 60,
				       !some(5));

	if (!m)
		return;
	m->unknown = !some(40);
	m->hold = some(8) ? 0 : 1 + some(total + 1);
	pnet_pump(&net, src);
}

static struct pnet_rx *random_rx(void)
{
	struct pnet_rx *r = net.all_rx;
	u32 i;

	for (i = some(8); r && r->next && i; i--)
		r = r->next;
	return r;
}

static void random_rule_change(void)
{
	struct mrpc_prio_rule r = net.rule;
	u32 i = some(net.hosts);

	r.order = some(MRPC_PRIO_NR_ORDERS);
	r.overcommit = 1 + some(4);
	r.proportional = some(2);
	CHECK_EQ(mrpc_prio_set(&net.host[i].ep, &r), 0);
	pnet_pump(&net, i);
}

/* What happens to messages. */
static void random_action(void)
{
	struct pnet_msg *m = net.nr_msgs ? net.msgs[some(net.nr_msgs)] : NULL;
	struct pnet_rx *r = random_rx();

	switch (some(16)) {
	case 0:
		if (m && !some(3)) {
			pnet_abort(&net, m);
			pnet_pump(&net, m->src);
		}
		break;
	case 1:
		if (r && !some(3)) {
			u32 dst = r->msg->dst;

			pnet_reject(&net, r);
			pnet_pump(&net, dst);
		}
		break;
	case 2:
	case 3:
	case 4:
		if (r && r->msg->hold) {
			u32 dst = r->msg->dst;

			pnet_limit(&net, r, U32_MAX);
			pnet_pump(&net, dst);
		}
		break;
	case 5:
		if (m && !m->ended) {
			mrpc_prio_tx_priority(&net.host[m->src].ep, &m->tx, some(256));
			pnet_pump(&net, m->src);
		}
		break;
	case 6:
		random_rule_change();
		break;
	case 7:
		if (m && !m->ended && m->tx.peer)
			mrpc_prio_peer_payload(m->tx.peer, 100 + some(1300));
		break;
	case 8:
		if (!some(20))
			net.host[some(net.hosts)].stalled_until = net.now + some(20000000);
		break;
	default:
		random_send();
	}
}

/* The upper layers want everything. */
static void drain(void)
{
	struct pnet_rx *r;
	u32 i;

	for (i = 0; i < net.nr_msgs; i++)
		net.msgs[i]->hold = 0;
	for (r = net.all_rx; r; r = r->next)
		pnet_limit(&net, r, U32_MAX);
	for (i = 0; i < net.hosts; i++)
		pnet_pump(&net, i);
}

static void run_seed(u64 seed, bool restarts)
{
	struct mrpc_prio_rule rule;
	u32 i, actions, pause;

	random_rule(seed, &rule);
	pnet_init(&net, 2 + seed % (PNET_HOSTS - 1), seed, &rule);
	random_faults(&net.faults);
	net.ns_per_kb = 1 + some(2000);
	actions = 10 + some(60);
	pause = 1 + some(300000);
	for (i = 0; i < actions && !net.wrong[0]; i++) {
		if (restarts && !some(12)) {
			u32 h = some(net.hosts);

			pnet_restart(&net, h);
		}
		random_action();
		pnet_run(&net, net.now + some(pause));
		pnet_check(&net);
	}
	net.faults = (struct pnet_faults){ .jitter = 1 };
	drain();
	pnet_run(&net, net.now + 100000000000ULL);
	pnet_check(&net);
	pnet_check_end(&net);
	if (net.nr_events && !net.wrong[0])
		snprintf(net.wrong, sizeof(net.wrong), "%u events are left", net.nr_events);
}

static void run_seeds(bool restarts)
{
	const char *one = getenv("PRIO_SEED"), *many = getenv("PRIO_SEEDS");
	u64 first = one ? strtoull(one, NULL, 0) : 0, seed;
	u64 nr = one ? 1 : many ? strtoull(many, NULL, 0) : SEEDS;
	u64 steps = 0, delivered = 0, ended = 0, silent = 0, joined = 0, i;

	for (seed = first; seed < first + nr; seed++) {
		run_seed(seed, restarts);
		CHECK_MSG(!net.wrong[0], "seed %llu: %s", (unsigned long long)seed, net.wrong);
		steps += net.steps;
		for (i = 0; i < net.hosts; i++)
			joined += net.host[i].ep.stats.joined;
		for (i = 0; i < net.nr_msgs; i++) {
			delivered += net.msgs[i]->delivered;
			ended += net.msgs[i]->tx.status != MRPC_PRIO_DONE;
			silent += net.msgs[i]->tx.status == MRPC_PRIO_SILENT;
		}
		pnet_fini(&net);
	}
	CHECK(one || joined);
	NOTE("%llu seeds, %llu events, %llu messages delivered, %llu ended otherwise (%llu silent)",
	     (unsigned long long)nr, (unsigned long long)steps, (unsigned long long)delivered,
	     (unsigned long long)ended, (unsigned long long)silent);
}

TEST_LIMIT(prio_random, 200)
{
	run_seeds(false);
}

TEST_LIMIT(prio_random_restarts, 200)
{
	run_seeds(true);
}

/* Eight messages of 600 kB. Return: ns that they took */
static u64 run_costs(u64 seed, const struct pnet_faults *f)
{
	struct mrpc_prio_rule rule;
	u64 start;
	u32 i;

	mrpc_prio_rule_default(&rule);
	pnet_init(&net, 2, seed, &rule);
	net.faults = *f;
	start = net.now;
	for (i = 0; i < 8; i++)
		CHECK(pnet_send(&net, 0, 1, 600000, 100, false));
	pnet_pump(&net, 0);
	while (net.host[0].ep.nr_tx && !net.wrong[0])
		pnet_run(&net, net.now + 1000000);
	start = net.now - start;
	pnet_run(&net, net.now + 10000000000ULL);
	pnet_check(&net);
	pnet_check_end(&net);
	CHECK_MSG(!net.wrong[0], "%s", net.wrong);
	return start;
}

/*
 * What is sent again is about what was lost, and little time is; reordering alone costs nothing.
 */
TEST(prio_loss_costs)
{
	static const u32 losses[] = { 0, 1, 10, 100 };
	u64 took[ARRAY_SIZE(losses)] = { 0 }, lost, again;
	u32 i, seed;

	for (i = 0; i < ARRAY_SIZE(losses); i++) {
		struct pnet_faults f = { .loss = losses[i], .jitter = 1 };

		lost = 0;
		again = 0;
		for (seed = 0; seed < 8; seed++) {
			took[i] += run_costs(seed, &f);
			lost += net.lost_bytes;
			again += net.host[0].ep.stats.resent;
			pnet_fini(&net);
		}
		NOTE("loss %u/10000: %llu us, lost %llu, sent again %llu", losses[i],
		     (unsigned long long)took[i] / 8000, (unsigned long long)lost,
		     (unsigned long long)again);
		CHECK(again <= lost + lost / 2 + 2000);
	}
	CHECK(took[3] < 2 * took[0]);
}

TEST(prio_reorder_costs)
{
	struct pnet_faults f = { .jitter = 15000 };
	u64 took = run_costs(1, &f);

	NOTE("reordered: %llu us, sent again %llu, %u gaps at once",
	     (unsigned long long)took / 1000, (unsigned long long)net.host[0].ep.stats.resent, net.max_gaps);
	CHECK(net.max_gaps > 0);
	CHECK_EQ(net.host[0].ep.stats.resent, 0);
	pnet_fini(&net);
}

/*
 * A line of 20 Mbit/s that others fill as well, in bursts, to three quarters in all: what waits
 * longer in its queue than the messages before did is not sent again. Return: bytes of messages
 */
static u64 run_line(u64 seed, u32 loss)
{
	struct mrpc_prio_rule rule;
	u32 ms, side;
	u64 sent = 0;

	mrpc_prio_rule_default(&rule);
	pnet_init(&net, 2, seed, &rule);
	net.faults.loss = loss;
	net.delay = 50000;
	net.line_ns_per_kb = 409600;
	for (ms = 0; ms < 10000; ms++) {
		pnet_run(&net, net.now + 1000000);
		if (!pnet_rnd(&net, 10))
			pnet_line(&net, 4400 + pnet_rnd(&net, 8800));
		if (pnet_rnd(&net, 100) < 40) {
			side = pnet_rnd(&net, 2);
			CHECK(pnet_send(&net, side, !side, 2000, 100, false));
			pnet_pump(&net, side);
			sent += 2000;
		}
	}
	pnet_run(&net, net.now + 10000000000ULL);
	pnet_check(&net);
	pnet_check_end(&net);
	CHECK_MSG(!net.wrong[0], "%s", net.wrong);
	return sent;
}

TEST(prio_queue_of_others)
{
	u64 seed, sent = 0, again = 0, lost = 0;

	for (seed = 0; seed < 4; seed++) {
		sent += run_line(seed, 0);
		again += net.host[0].ep.stats.resent + net.host[1].ep.stats.resent;
		pnet_fini(&net);
	}
	NOTE("of %llu bytes %llu were sent again", (unsigned long long)sent,
	     (unsigned long long)again);
	CHECK(again < sent / 400);
	again = 0;
	for (seed = 0; seed < 4; seed++) {
		run_line(seed, 100);
		again += net.host[0].ep.stats.resent + net.host[1].ep.stats.resent;
		lost += net.lost_bytes;
		pnet_fini(&net);
	}
	NOTE("%llu were lost, and %llu sent again", (unsigned long long)lost,
	     (unsigned long long)again);
	/* The acknowledgement may be what was lost. */
	CHECK(again < 3 * lost);
}
