// SPDX-License-Identifier: GPL-2.0
/*
 * What a decision of the egress scheduler costs, natively; see usage(). One
 * decision is one whole turn of a queue: the grant, its use, the return of the
 * bytes, and the next message when one ends. tools/bench/sched makes the table.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "lib/egress.h"
#include "lib/prio/prio.h"
#include "prio_hear.h"
#include "../../selftests/lib/prio_malloc.h"

#define ROUNDS	5

static struct mrpc_egress d;
static struct mrpc_egress_queue *queues;
static struct mrpc_order_tenant *tenants;
static unsigned int nr_queues;
static u64 seed = 1;

static void usage(void)
{
	fputs("usage: sched_bench DISCIPLINE QUEUES ACTIVE TURNS\n\n"
	      "Prints the nanoseconds of a turn, the best of five rounds of TURNS. ACTIVE of\n"
	      "the QUEUES have work and credit. DISCIPLINE: fifo, strict, small, deadline; fair:\n"
	      "16 tenants, strict inside; tenants: as many tenants as queues; ranked: by a heap,\n"
	      "as under a policy; scan: strict by looking at every queue, for comparison.\n"
	      "walk, set: of one queue in a dump or a change of the discipline. prio: QUEUES\n"
	      "messages of the prio transport, to 64 peers; a turn is the choice of a chunk, its\n"
	      "report, the acknowledgement of a message that ends and the next message.\n", stderr);
	exit(2);
}

static u32 rnd(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed >> 32;
}

/* A message each microsecond, of which each is to be there in one to 65 ms. */
static void offer(struct mrpc_egress_queue *q)
{
	static u64 now;
	u32 r = rnd();

	now += 1000;
	mrpc_egress_work(&d, q, r, now + 1000000 + (u64)(r >> 16) * 1000,
			 1 + (r >> 8) % (3 * MRPC_EGRESS_CHUNK));
}

/* The loops are not inlined: their names tell a profiler what to count. */
__attribute__((__noinline__)) void run_turns(unsigned int turns)
{
	while (turns--) {
		struct mrpc_egress_queue *q = mrpc_egress_next(&d, turns);
		u32 bytes = mrpc_egress_take(&d, q);

		mrpc_egress_dequeued(&d, q, bytes, U32_MAX);
		mrpc_egress_gone(&d, q, bytes);
		if (!q->order.left)
			offer(q);
	}
}

__attribute__((__noinline__)) void run_scans(unsigned int turns)
{
	while (turns--) {
		struct mrpc_egress_queue *q, *best = NULL;
		u32 bytes;

		for (q = queues; q < queues + nr_queues; q++)
			if (q->order.left && q->credit &&
			    (!best || q->order.priority > best->order.priority))
				best = q;
		bytes = min_t(u64, best->order.left, d.rule.chunk);
		best->order.left -= bytes;
		if (!best->order.left) {
			u32 r = rnd();

			best->order.priority = r;
			best->order.left = 1 + (r >> 8) % (3 * MRPC_EGRESS_CHUNK);
		}
	}
}

__attribute__((__noinline__)) void run_walks(unsigned int turns)
{
	struct mrpc_order_entity *e;

	for (; turns >= d.order.listed; turns -= d.order.listed) {
		for (e = mrpc_order_walk_begin(&d.order, U32_MAX); e; e = mrpc_order_walk_next(e))
			;
		mrpc_order_walk_end(&d.order);
	}
}

__attribute__((__noinline__)) void run_sets(unsigned int turns)
{
	struct mrpc_egress_rule rule = d.rule;

	for (; turns >= d.order.listed; turns -= d.order.listed) {
		rule.within = MRPC_ORDER_STRICT + MRPC_ORDER_SMALL - rule.within;
		mrpc_egress_set(&d, &rule);
		while (mrpc_order_settle(&d.order))
			;
	}
}

static u64 rank(struct mrpc_order_entity *e)
{
	return e->left;
}

static const struct mrpc_order_ranker ranker = { .rank = rank };

/* -- messages of the prio transport -------------------------------------------- */

#define PRIO_PEERS	64
#define PRIO_BUCKETS	(1U << 15)

static struct mrpc_prio prio;
static struct mrpc_prio_peer prio_peers[PRIO_PEERS];
static struct mrpc_order_link prio_hash[PRIO_BUCKETS];
static struct mrpc_prio_tx *messages;

static void prio_offer(struct mrpc_prio_tx *tx)
{
	u32 r = rnd();

	tx->conn = 1;
	tx->total = 1 + (r >> 8) % (3 * MRPC_EGRESS_CHUNK);
	tx->priority = r % 8 * 32;
	if (mrpc_prio_submit(&prio, &prio_peers[(tx - messages) % PRIO_PEERS], tx, 0))
		abort();
}

static void set_up_prio(unsigned int active)
{
	struct mrpc_prio_packet welcome = { .token = 1, .max_total = U32_MAX };
	u64 key[2] = { 1, 2 };
	struct mrpc_prio_rule rule;
	unsigned int i;

	mrpc_prio_rule_default(&rule);
	messages = calloc(nr_queues, sizeof(*messages));
	if (!messages || mrpc_prio_init(&prio, &rule, &prio_malloc_ops, NULL, prio_hash, PRIO_BUCKETS,
					key, 0))
		abort();
	for (i = 0; i < PRIO_PEERS; i++)
		mrpc_prio_welcome(&prio, &prio_peers[i], 1400, &welcome, 0);
	for (i = 0; i < active; i++)
		prio_offer(&messages[(u64)i * nr_queues / active]);
}

__attribute__((__noinline__)) void run_messages(unsigned int turns)
{
	while (turns--) {
		struct mrpc_prio_chunk chunk;
		struct mrpc_prio_tx *tx;

		if (!mrpc_prio_tx_next(&prio, 0, &chunk))
			abort();
		tx = chunk.tx;
		mrpc_prio_tx_sent(&prio, &chunk, chunk.len, true, 0);
		if (tx->granted < tx->total)
			prio_hear(&prio, tx, MRPC_PRIO_GRANT, 0);
		if (tx->sent < tx->total)
			continue;
		prio_hear(&prio, tx, MRPC_PRIO_ACK, 0);
		while ((tx = mrpc_prio_tx_ended(&prio)))
			prio_offer(tx);
	}
}

static const struct discipline {
	const char *name;
	void (*run)(unsigned int turns);
	u8 within;
	bool fair;
	unsigned int tenants;	/* U32_MAX: one for each queue */
} disciplines[] = {
	{ "fifo", run_turns, MRPC_ORDER_FIFO, false, 16 },
	{ "strict", run_turns, MRPC_ORDER_STRICT, false, 16 },
	{ "small", run_turns, MRPC_ORDER_SMALL, false, 16 },
	{ "deadline", run_turns, MRPC_ORDER_DEADLINE, false, 16 },
	{ "fair", run_turns, MRPC_ORDER_STRICT, true, 16 },
	{ "tenants", run_turns, MRPC_ORDER_STRICT, true, U32_MAX },
	{ "ranked", run_turns, MRPC_ORDER_RANKED, false, 16 },
	{ "scan", run_scans, MRPC_ORDER_STRICT, false, 16 },
	{ "walk", run_walks, MRPC_ORDER_STRICT, true, 16 },
	{ "set", run_sets, MRPC_ORDER_STRICT, true, 16 },
	{ "prio", run_messages, MRPC_ORDER_STRICT, false, 16 },
};

static void set_up(const struct discipline *c, unsigned int active)
{
	struct mrpc_egress_rule rule = {
		.within = c->within,
		.ranker = c->within == MRPC_ORDER_RANKED ? &ranker : NULL,
		.fair = c->fair,
		.chunk = MRPC_EGRESS_CHUNK,
		.limit = MRPC_EGRESS_LIMIT,
		.patience = 1000000,
	};
	unsigned int nr_tenants = min(c->tenants, nr_queues), i;

	queues = calloc(nr_queues, sizeof(*queues));
	tenants = calloc(nr_tenants, sizeof(*tenants));
	if (!queues || !tenants || mrpc_egress_init(&d, &rule))
		abort();
	for (i = 0; i < nr_tenants; i++)
		if (mrpc_order_tenant_init(&d.order, &tenants[i], 1 + rnd() % 100))
			abort();
	/* Those that are active lie far apart, as they would. */
	for (i = 0; i < nr_queues; i++)
		mrpc_egress_add(&d, &queues[i], &tenants[i % nr_tenants]);
	for (i = 0; i < active; i++) {
		struct mrpc_egress_queue *q = &queues[(u64)i * nr_queues / active];

		offer(q);
		mrpc_egress_credit(&d, q, U32_MAX);
	}
}

static double nanoseconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1e9 + ts.tv_nsec;
}

int main(int argc, char **argv)
{
	const struct discipline *c = NULL;
	unsigned int active, turns, i;
	double best = 1e18;

	if (argc != 5)
		usage();
	for (i = 0; i < ARRAY_SIZE(disciplines); i++)
		if (!strcmp(argv[1], disciplines[i].name))
			c = &disciplines[i];
	nr_queues = strtoul(argv[2], NULL, 10);
	active = strtoul(argv[3], NULL, 10);
	turns = strtoul(argv[4], NULL, 10);
	if (!c || !active || active > nr_queues || turns < nr_queues)
		usage();
	if (c->run == run_messages)
		set_up_prio(active);
	else
		set_up(c, active);
	for (i = 0; i < ROUNDS; i++) {
		double start = nanoseconds();

		c->run(turns);
		best = min(best, (nanoseconds() - start) / turns);
	}
	printf("%.1f\n", best);
	return 0;
}
