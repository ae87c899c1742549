// SPDX-License-Identifier: GPL-2.0
/*
 * What a call does with the structures of kmod/lib, for a profiler that counts: each case is set
 * up with ENTRIES entries, run once to warm up, and then once more in run_measured(). Prints a line
 * for each case, in the order in which they are run. tools/bench/scale makes the table.
 */
#include <stdio.h>
#include <stdlib.h>

#include "lib/balance.h"
#include "lib/ds/bucket.h"
#include "lib/ds/buddy.h"
#include "lib/message/calltable.h"
#include "lib/ds/claim.h"
#include "lib/ds/deadline.h"
#include "lib/message/feature.h"
#include "lib/ds/hist.h"
#include "lib/ds/lheap.h"
#include "lib/ds/order.h"
#include "lib/prio/rank.h"
#include "lib/ds/ring.h"
#include "scale.h"
#include "lib/ds/set.h"
#include "lib/ds/wheel.h"
#include "../../selftests/lib/rnd.h"

#define NR_CALLS	4	/* of a connection */
#define NR_SQES		8	/* of a ring */
#define NR_REPLICAS	3
#define TURN_NS		10000

static uint64_t seed;
static u32 nr;
static u64 now;

void *scale_alloc(size_t n, size_t size)
{
	void *p = calloc(n, size);

	if (!p)
		abort();
	return p;
}

/* -- what every case costs, and is taken off; and what must not be found flat ---- */

static void nothing_set_up(u32 n)
{
	(void)n;
}

static void nothing_turn(u32 i, u32 r)
{
	(void)i;
	(void)r;
}

static u32 *scanned;

static void scan_set_up(u32 n)
{
	u32 i;

	scanned = scale_alloc(n, sizeof(*scanned));
	for (i = 0; i < n; i++)
		scanned[i] = i;
}

static void scan_turn(u32 i, u32 r)
{
	u32 at = 0;

	(void)r;
	while (READ_ONCE(scanned[at]) != i)
		at++;
}

/* -- calls of one connection ----------------------------------------------------- */

static struct mrpc_call_table calls;

static void calls_set_up(u32 n)
{
	u32 i;

	mrpc_call_init(&calls, scale_alloc(n, sizeof(*calls.slots)), n);
	for (i = 0; i < n; i++)
		expect(mrpc_call_start(&calls, &calls));
}

static void calls_turn(u32 i, u32 r)
{
	u64 id = calls.slots[i].id;
	bool known;

	/* One of four has its deadline before its reply. */
	expect(mrpc_call_find(&calls, id));
	if (!(r & 3))
		expect(mrpc_call_abandon(&calls, id));
	mrpc_call_finish(&calls, id, &known);
	expect(known && mrpc_call_start(&calls, &calls));
}

static struct mrpc_serve_table serves;

static void serves_set_up(u32 n)
{
	u32 i;

	mrpc_serve_init(&serves, scale_alloc(n, sizeof(*serves.slots)), n);
	for (i = 0; i < n; i++)
		expect(!mrpc_serve_start(&serves, MRPC_CALL_MAX_SLOTS | i, &serves));
}

static void serves_turn(u32 i, u32 r)
{
	u64 id = serves.slots[i].id;

	(void)r;
	expect(mrpc_serve_find(&serves, id) && mrpc_serve_end(&serves, id));
	expect(!mrpc_serve_start(&serves, id + MRPC_CALL_MAX_SLOTS, &serves));
}

static struct mrpc_deadlines deadlines;
static struct mrpc_deadline *deadline_of;

static void deadlines_set_up(u32 n)
{
	u32 i;

	deadlines = (struct mrpc_deadlines){
		.heap = scale_alloc(n, sizeof(*deadlines.heap)), .cap = n,
	};
	deadline_of = scale_alloc(n, sizeof(*deadline_of));
	for (i = 0; i < n; i++) {
		deadline_of[i].when = NSEC_PER_SEC + (u64)i * TURN_NS;
		expect(!mrpc_deadlines_add(&deadlines, &deadline_of[i]));
	}
}

static void deadline_again(struct mrpc_deadline *d, u64 in)
{
	mrpc_deadlines_del(&deadlines, d);
	d->when = now + in;
	expect(!mrpc_deadlines_add(&deadlines, d));
}

/* A call ends before its deadline, and another one begins that has as much time. */
static void deadlines_turn(u32 i, u32 r)
{
	(void)r;
	deadline_again(&deadline_of[i], NSEC_PER_SEC);
}

/* The first one is over, and one begins that has any time. */
static void deadlines_due_turn(u32 i, u32 r)
{
	(void)i;
	deadline_again(mrpc_deadlines_first(&deadlines), r);
}

/* -- connections ----------------------------------------------------------------- */

/* What a connection has of kmod/lib for calls over tcp. */
static struct scale_conn {
	struct mrpc_claim tx;
	struct mrpc_claim rx;
	struct mrpc_features features;
	struct mrpc_bucket bucket;
	struct mrpc_call_table calls;
	struct mrpc_deadlines deadlines;
	struct mrpc_call_slot slots[NR_CALLS];
	struct mrpc_deadline *heap[NR_CALLS];
	struct mrpc_deadline deadline;
} *conns;

static void conns_set_up(u32 n)
{
	struct scale_conn *c;

	conns = scale_alloc(n, sizeof(*conns));
	for (c = conns; c < conns + n; c++) {
		mrpc_claim_init(&c->tx);
		mrpc_claim_init(&c->rx);
		mrpc_features_choose(&c->features, 0);
		expect(!mrpc_bucket_init(&c->bucket, now, 1000000, 1000));
		mrpc_call_init(&c->calls, c->slots, NR_CALLS);
		c->deadlines.heap = c->heap;
		c->deadlines.cap = NR_CALLS;
	}
}

static void conns_turn(u32 i, u32 r)
{
	struct scale_conn *c = &conns[i];
	bool known;
	u64 id;

	(void)r;
	id = mrpc_call_start(&c->calls, c);
	c->deadline.when = now + NSEC_PER_SEC;
	expect(!mrpc_deadlines_add(&c->deadlines, &c->deadline));
	expect(mrpc_claim_begin(&c->tx) && !mrpc_bucket_take(&c->bucket, now, 1));
	expect(!mrpc_features_due(&c->features) && !mrpc_claim_end(&c->tx));

	expect(mrpc_claim_begin(&c->rx) && !mrpc_features_accept(&c->features, MRPC_FEATURE_CRC));
	mrpc_deadlines_del(&c->deadlines, &c->deadline);
	expect(mrpc_call_finish(&c->calls, id, &known) && !mrpc_claim_end(&c->rx));
}

static struct scale_rings {
	struct mrpc_sq sq;
	struct mrpc_cq cq;
	struct mrpc_ring sq_ring;
	struct mrpc_ring cq_ring;
	struct mrpc_sqe sqes[NR_SQES];
	struct mrpc_cqe cqes[NR_SQES];
} *rings;

static void rings_set_up(u32 n)
{
	struct scale_rings *q;

	rings = scale_alloc(n, sizeof(*rings));
	for (q = rings; q < rings + n; q++) {
		mrpc_sq_init(&q->sq, &q->sq_ring, q->sqes, NR_SQES);
		mrpc_cq_init(&q->cq, &q->cq_ring, q->cqes, NR_SQES);
	}
}

static void rings_turn(u32 i, u32 r)
{
	struct scale_rings *q = &rings[i];
	struct mrpc_sqe sqe;
	struct mrpc_cqe cqe = { .user_data = r };

	WRITE_ONCE(q->sq_ring.tail, q->sq_ring.tail + 1);
	expect(mrpc_sq_peek(&q->sq, &sqe) == 1 && mrpc_cq_reserve(&q->cq, 1, 0));
	mrpc_sq_consume(&q->sq);
	mrpc_cq_post(&q->cq, &cqe);
	expect(mrpc_cq_was_empty(&q->cq));
	WRITE_ONCE(q->cq_ring.head, q->cq_ring.tail);
}

static struct mrpc_hist *hists;

static void hists_set_up(u32 n)
{
	hists = scale_alloc(n, sizeof(*hists));
}

static void hists_turn(u32 i, u32 r)
{
	mrpc_hist_record(&hists[i], r);
}

/* -- what connections share -------------------------------------------------------- */

static struct mrpc_lheap heap;
static struct mrpc_lheap_node *nodes;

static void heap_set_up(u32 n)
{
	u32 i;

	heap.first = NULL;
	nodes = scale_alloc(n, sizeof(*nodes));
	for (i = 0; i < n; i++)
		mrpc_lheap_add(&heap, &nodes[i], rnd_next(&seed), 0);
}

static void heap_turn(u32 i, u32 r)
{
	mrpc_lheap_move(&heap, &nodes[i], r);
}

static struct mrpc_order order;
static struct mrpc_order_entity *entities;

static void order_set_up(u32 n, u8 within, bool fair)
{
	struct mrpc_order_rule rule = { .within = within, .fair = fair, .quantum = 100000 };
	struct mrpc_order_tenant *tenants = scale_alloc(n, sizeof(*tenants));
	u32 i;

	expect(!mrpc_order_init(&order, &rule));
	entities = scale_alloc(n, sizeof(*entities));
	for (i = 0; i < n; i++) {
		expect(!mrpc_order_tenant_init(&order, &tenants[i], 1 + rnd_below(&seed, 100)));
		mrpc_order_join(&order, &entities[i], &tenants[i]);
		mrpc_order_due(&order, &entities[i], now + rnd_next(&seed));
		mrpc_order_put(&order, &entities[i], false);
	}
}

static void order_fair_set_up(u32 n)
{
	order_set_up(n, MRPC_ORDER_STRICT, true);
}

static void order_deadline_set_up(u32 n)
{
	order_set_up(n, MRPC_ORDER_DEADLINE, false);
}

static void order_turn(u32 i, u32 r)
{
	struct mrpc_order_entity *e = mrpc_order_take(&order);

	(void)i;
	mrpc_order_charge(&order, e, r % 100000);
	mrpc_order_rank(&order, e, r >> 24, r);
	mrpc_order_due(&order, e, now + r);
	mrpc_order_put(&order, e, false);
}

static struct mrpc_prio_rank ranks;
static struct mrpc_prio_ranked *ranked;

static void rank_put(u32 i, u32 r)
{
	mrpc_prio_rank_put(&ranks, &ranked[i], r % 8 * 32, r >> 24, false);
}

static void ranks_set_up(u32 n)
{
	u32 i;

	memset(&ranks, 0, sizeof(ranks));
	for (i = 0; i < 8; i++)
		mrpc_prio_rank_give(&ranks, i * 32,
				    scale_alloc(1, sizeof(struct mrpc_order_levels)));
	ranked = scale_alloc(n, sizeof(*ranked));
	for (i = 0; i < n; i++)
		rank_put(i, rnd_next(&seed));
}

static void ranks_turn(u32 i, u32 r)
{
	expect(mrpc_prio_rank_first(&ranks));
	rank_put(i, r);
}

static struct mrpc_wheel wheel;
static struct mrpc_timer *timers;

static void wheel_set_up(u32 n)
{
	u32 i;

	mrpc_wheel_init(&wheel, now);
	timers = scale_alloc(n, sizeof(*timers));
	for (i = 0; i < n; i++)
		mrpc_wheel_arm(&wheel, &timers[i], now + NSEC_PER_SEC);
}

/* Nearly all are stopped before they fire. */
static void wheel_turn(u32 i, u32 r)
{
	while (mrpc_wheel_expire(&wheel, now))
		;
	mrpc_wheel_stop(&wheel, &timers[i]);
	mrpc_wheel_arm(&wheel, &timers[i], now + NSEC_PER_SEC + r % NSEC_PER_SEC);
}

/* -- memory, engines --------------------------------------------------------------- */

#define BLOCK	1024	/* bytes at most */

static struct mrpc_buddy buddy;
static s64 *blocks;	/* -1: none */

static void block_new(u32 i, u32 r)
{
	u32 taken;

	blocks[i] = mrpc_buddy_alloc(&buddy, 1 + r % BLOCK, &taken);
	expect(blocks[i] >= 0);
}

static void buddy_set_up(u32 n)
{
	u32 bytes = max(1U << 20, 2 * n * BLOCK), i;

	mrpc_buddy_init(&buddy, scale_alloc(bytes / MRPC_BUDDY_UNIT, sizeof(*buddy.units)), bytes);
	blocks = scale_alloc(n, sizeof(*blocks));
	for (i = 0; i < n; i++)
		block_new(i, rnd_next(&seed));
}

/* A message is released, the next one comes. */
static void buddy_turn(u32 i, u32 r)
{
	expect(mrpc_buddy_free(&buddy, blocks[i]) > 0);
	block_new(i, r);
}

/* One comes or is released: how many are there is a random walk, and what rests is not enough. */
static void buddy_walk_turn(u32 i, u32 r)
{
	if (blocks[i] < 0) {
		block_new(i, r);
		return;
	}
	expect(mrpc_buddy_free(&buddy, blocks[i]) > 0);
	blocks[i] = -1;
}

static struct mrpc_set *set;

struct key {
	u64 part[2];
};

static struct key key_of(u32 i)
{
	u64 a = (i + 1) * 0x9e3779b97f4a7c15ULL;

	return (struct key){ { a, a ^ a >> 29 } };
}

static void set_set_up(u32 n)
{
	static const u64 hash_key[2] = { 1, 2 };
	struct key key;
	u32 i;

	set = mrpc_set_init(scale_alloc(mrpc_set_size(n, (u64)n * sizeof(key)), 1), MRPC_SET_TEXT, n,
			    (u64)n * sizeof(key), hash_key);
	for (i = 0; i < n; i++) {
		key = key_of(i);
		expect(!mrpc_set_add(set, &key, sizeof(key)));
	}
}

static void set_has_turn(u32 i, u32 r)
{
	struct key key = key_of(i);

	(void)r;
	expect(mrpc_set_has(set, &key, sizeof(key)));
}

static void set_has_not_turn(u32 i, u32 r)
{
	struct key key = key_of(nr + i + r % 1024 * nr);

	expect(!mrpc_set_has(set, &key, sizeof(key)));
}

/* The replicas of one client's connection. */
static struct scale_replicas {
	struct mrpc_balance b;
	struct mrpc_member members[NR_REPLICAS];
} *replicas;

static void balance_set_up(u32 n)
{
	struct scale_replicas *of;
	u32 i;

	replicas = scale_alloc(n, sizeof(*replicas));
	for (of = replicas; of < replicas + n; of++) {
		of->b = (struct mrpc_balance){
			.policy = MRPC_BALANCE_LEAST, .max_bad = 3, .backoff = NSEC_PER_SEC,
			.nr = NR_REPLICAS,
		};
		for (i = 0; i < NR_REPLICAS; i++) {
			of->b.members[i] = &of->members[i];
			of->members[i].weight = 1 + i;
			mrpc_member_up(&of->members[i]);
		}
	}
}

static void balance_turn(u32 i, u32 r)
{
	struct scale_replicas *of = &replicas[i];
	int m = mrpc_balance_pick(&of->b, now, 0, false, 0);

	expect(m >= 0);
	mrpc_member_give(&of->members[m]);
	mrpc_member_took(&of->members[m], r);
	mrpc_member_good(&of->members[m]);
}

/* -- all of them ------------------------------------------------------------------- */

static const struct scale_case nothing = {
	"nothing", nothing_set_up, nothing_turn, SCALE_FLAT, 0
};
static const struct scale_case scan = { "scan", scan_set_up, scan_turn, SCALE_LINEAR, 255 };
static const struct scale_case cases[] = {
	{ "calls", calls_set_up, calls_turn, SCALE_FLAT, 2 },
	{ "serves", serves_set_up, serves_turn, SCALE_FLAT, 2 },
	{ "deadlines", deadlines_set_up, deadlines_turn, SCALE_FLAT, 8 },
	{ "deadlines-due", deadlines_set_up, deadlines_due_turn, SCALE_LOG, 14 },
	{ "connections", conns_set_up, conns_turn, SCALE_FLAT, 7 },
	{ "rings", rings_set_up, rings_turn, SCALE_FLAT, 11 },
	{ "hists", hists_set_up, hists_turn, SCALE_FLAT, 3 },
	{ "lheap", heap_set_up, heap_turn, SCALE_LOG, 14 },
	{ "order-fair", order_fair_set_up, order_turn, SCALE_FLAT, 9 },
	{ "order-deadline", order_deadline_set_up, order_turn, SCALE_LOG, 14 },
	{ "ranks", ranks_set_up, ranks_turn, SCALE_FLAT, 8 },
	{ "wheel", wheel_set_up, wheel_turn, SCALE_FLAT, 5 },
	{ "buddy", buddy_set_up, buddy_turn, SCALE_FLAT, 3 },
	{ "buddy-walk", buddy_set_up, buddy_walk_turn, SCALE_FLAT, 3 },
	{ "set-has", set_set_up, set_has_turn, SCALE_FLAT, 4 },
	{ "set-has-not", set_set_up, set_has_not_turn, SCALE_FLAT, 2 },
	{ "balance", balance_set_up, balance_turn, SCALE_FLAT, 8 },
};

static void run(const struct scale_case *c, u32 turns)
{
	while (turns--) {
		u32 r = rnd_next(&seed);

		now += TURN_NS;
		c->turn(rnd_below(&seed, nr), r);
	}
}

/* Its name tells a profiler what to count. */
__attribute__((__noinline__, __noclone__))
void run_measured(const struct scale_case *c, u32 turns)
{
	run(c, turns);
}

static void measure(const struct scale_case *c, u32 turns)
{
	static const char *const growths[] = {
		[SCALE_FLAT] = "flat", [SCALE_LOG] = "log", [SCALE_LINEAR] = "linear",
	};

	seed = 1;
	c->set_up(nr);
	run(c, turns);
	run_measured(c, turns);
	printf("%s %u %u %s %u\n", c->name, nr, turns, growths[c->growth], c->lines);
}

int main(int argc, char **argv)
{
	u32 turns = 20000, i;

	nr = argc == 2 ? strtoul(argv[1], NULL, 10) : 0;
	if (!nr || nr > MRPC_CALL_MAX_SLOTS) {
		fputs("usage: scale_bench ENTRIES\n\n"
		      "For a profiler that counts: see tools/bench/scale.\n", stderr);
		return 2;
	}
	measure(&nothing, turns);
	measure(&scan, 500);
	for (i = 0; i < ARRAY_SIZE(cases); i++)
		measure(&cases[i], turns);
	measure(&scale_prio_calls, turns);
	measure(&scale_prio_receive, turns);
	measure(&scale_prio_send, turns);
	return 0;
}
