// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/lib/egress.c */
/*
 * The core of the egress scheduler: what it is for, one scenario each. Against a model:
 * test_egress_model.c.
 */
#include "tap.h"
#include "egress_domain.h"
#include "rnd.h"

/* -- what it is for ------------------------------------------------------------- */

#define MANY	1000

static struct mrpc_egress d;
static struct mrpc_egress_queue queues[MANY + 1];

static void begin(u8 within, bool fair, u32 nr)
{
	struct mrpc_egress_rule rule = plain_rule(within, fair);
	u32 i;

	CHECK_EQ(mrpc_egress_init(&d, &rule), 0);
	for (i = 0; i < nr; i++)
		mrpc_egress_add(&d, &queues[i], NULL);
}

static void offer_until(struct mrpc_egress_queue *q, u8 priority, u64 deadline, u64 left)
{
	mrpc_egress_work(&d, q, priority, deadline, left);
	mrpc_egress_credit(&d, q, U32_MAX);
}

static void offer(struct mrpc_egress_queue *q, u8 priority, u64 left)
{
	offer_until(q, priority, U64_MAX, left);
}

/* The owner comes, sends all that it may, and it stays below. Return: bytes. */
static u32 send(struct mrpc_egress_queue *q)
{
	u32 turn = mrpc_egress_take(&d, q);

	CHECK(turn);
	mrpc_egress_dequeued(&d, q, turn, U32_MAX);
	return turn;
}

/* Whose chunk is next, sent and gone; NULL: none */
static struct mrpc_egress_queue *turn(void)
{
	struct mrpc_egress_queue *q = mrpc_egress_next(&d, 0);

	if (q)
		mrpc_egress_gone(&d, q, send(q));
	return q;
}

TEST(egress_without_credit_no_turn)
{
	u32 i;

	begin(MRPC_ORDER_STRICT, false, MANY + 1);
	for (i = 0; i < MANY; i++)
		mrpc_egress_work(&d, &queues[i], 255, U64_MAX, CHUNK);
	offer(&queues[MANY], 0, 10000ULL * CHUNK);
	for (i = 0; i < 10000; i++)
		CHECK(turn() == &queues[MANY]);
	CHECK(!turn());
	CHECK_EQ(d.nr_grants, 10000);
	CHECK_EQ(d.nr_wasted, 0);
}

/* While bytes are below, no more than the limit, of all queues together. */
TEST(egress_limit)
{
	struct mrpc_egress_queue *q;
	u32 i;

	begin(MRPC_ORDER_FIFO, false, 4);
	for (i = 0; i < 3; i++)
		offer(&queues[i], 0, 10 * CHUNK);
	q = mrpc_egress_next(&d, 0);
	CHECK(q == &queues[0]);
	CHECK(mrpc_egress_next(&d, 0) == &queues[1]);
	CHECK(!mrpc_egress_next(&d, 0));
	CHECK_EQ(send(q), CHUNK);
	CHECK(!mrpc_egress_next(&d, 0));
	mrpc_egress_gone(&d, q, CHUNK - CHUNK / 4 - 1);
	CHECK(!mrpc_egress_next(&d, 0));
	offer(&queues[3], 0, 1);	/* would fit, but it is not its turn */
	CHECK(!mrpc_egress_next(&d, 0));
	mrpc_egress_gone(&d, q, 1);
	CHECK(mrpc_egress_next(&d, 0) == &queues[0]);
	CHECK_EQ(queues[0].turn, CHUNK - CHUNK / 4);
	CHECK_EQ(d.out, 2 * CHUNK);
}

/* A message does not end with a chunk of a few bytes: the last eight are equally long. */
TEST(egress_even_end)
{
	static const u32 few[] = { CHUNK + 1, 2 * CHUNK + 80, 8 * CHUNK - 7 };
	u32 i, nr, sent;

	for (i = 0; i < ARRAY_SIZE(few); i++) {
		begin(MRPC_ORDER_FIFO, false, 1);
		offer(&queues[0], 0, few[i]);
		for (nr = sent = 0; queues[0].order.left; nr++) {
			CHECK(mrpc_egress_next(&d, 0));
			CHECK(queues[0].turn <= CHUNK);
			CHECK(queues[0].turn >= few[i] / (few[i] / CHUNK + 1));
			sent += send(&queues[0]);
			mrpc_egress_gone(&d, &queues[0], CHUNK);
		}
		CHECK_EQ(nr, few[i] / CHUNK + 1);
		CHECK_EQ(sent, few[i]);
	}
	offer(&queues[0], 0, U64_MAX);
	CHECK(turn());
	CHECK_EQ(queues[0].order.left, U64_MAX - CHUNK);
}

/* What little is below beside a chunk does not keep another one waiting, and little is not left. */
TEST(egress_beside_a_little)
{
	begin(MRPC_ORDER_FIFO, false, 3);
	offer(&queues[0], 0, 100);
	offer(&queues[1], 0, CHUNK);
	offer(&queues[2], 0, CHUNK);
	CHECK(mrpc_egress_next(&d, 0) == &queues[0]);
	CHECK_EQ(send(&queues[0]), 100);
	CHECK(mrpc_egress_next(&d, 0) == &queues[1]);
	CHECK_EQ(send(&queues[1]), CHUNK);
	CHECK(mrpc_egress_next(&d, 0) == &queues[2]);
	CHECK_EQ(send(&queues[2]), CHUNK - CHUNK / 4);
	CHECK_EQ(queues[2].order.left, CHUNK / 4);
	CHECK(!mrpc_egress_next(&d, 0));
}

/* An urgent message goes before the next chunk of the one under way, which resumes first. */
TEST(egress_preempts_between_chunks)
{
	begin(MRPC_ORDER_STRICT, false, 4);
	offer(&queues[0], 10, 4 * CHUNK);
	offer(&queues[1], 10, 2 * CHUNK);
	CHECK(turn() == &queues[0]);
	offer(&queues[2], 200, CHUNK + 1);
	offer(&queues[3], 10, 1);
	CHECK(turn() == &queues[2]);
	CHECK(turn() == &queues[2]);
	CHECK(turn() == &queues[0]);
	mrpc_egress_rank(&d, &queues[0], 9);
	CHECK(turn() == &queues[1]);
	CHECK(turn() == &queues[1]);
	CHECK(turn() == &queues[3]);
	CHECK(turn() == &queues[0]);
	CHECK(turn() == &queues[0]);
	CHECK(!turn());
}

/* A begun message that waited for credit goes before those that came meanwhile. */
TEST(egress_resumes_after_credit)
{
	begin(MRPC_ORDER_FIFO, false, 2);
	offer(&queues[0], 0, 3 * CHUNK);
	CHECK(turn() == &queues[0]);
	mrpc_egress_credit(&d, &queues[0], 0);
	offer(&queues[1], 0, 3 * CHUNK);
	CHECK(turn() == &queues[1]);
	mrpc_egress_credit(&d, &queues[0], 100);
	CHECK_EQ(mrpc_egress_next(&d, 0) - queues, 0);
	CHECK_EQ(queues[0].turn, 100);
}

/* The least left first, also of those under way. */
TEST(egress_small_first)
{
	begin(MRPC_ORDER_SMALL, false, 3);
	offer(&queues[0], 0, 3 * CHUNK);
	offer(&queues[1], 0, 4 * CHUNK);
	CHECK(turn() == &queues[0]);
	offer(&queues[2], 0, 2 * CHUNK + CHUNK / 2);
	CHECK(turn() == &queues[0]);
	CHECK(turn() == &queues[0]);
	CHECK(turn() == &queues[2]);
	offer(&queues[0], 0, 64);
	CHECK(turn() == &queues[0]);
	CHECK(turn() == &queues[2]);
	CHECK(turn() == &queues[2]);
	CHECK(turn() == &queues[1]);
}

/* The earliest deadline first, whatever the priority; it is not passed by what came before it. */
TEST(egress_deadline)
{
	begin(MRPC_ORDER_DEADLINE, false, 7);
	offer(&queues[0], 255, 2 * CHUNK);
	CHECK(turn() == &queues[0]);
	offer(&queues[1], 255, CHUNK);
	offer_until(&queues[2], 100, 70, 3 * CHUNK);
	CHECK(turn() == &queues[2]);
	offer_until(&queues[3], 100, 70, CHUNK);
	offer_until(&queues[4], 0, 69, CHUNK);
	offer_until(&queues[5], 255, 71, CHUNK);
	offer_until(&queues[6], 0, U64_MAX - 1, CHUNK);
	CHECK(turn() == &queues[4]);
	CHECK(turn() == &queues[2]);
	CHECK(turn() == &queues[2]);
	CHECK(turn() == &queues[3]);
	CHECK(turn() == &queues[5]);
	CHECK(turn() == &queues[6]);
	/* Without one, as they came: the first has begun. */
	CHECK(turn() == &queues[0]);
	CHECK(turn() == &queues[1]);
	/* The next message of a queue need not have one. */
	offer_until(&queues[0], 0, 5, CHUNK);
	offer(&queues[2], 255, CHUNK);
	CHECK(turn() == &queues[0]);
	offer(&queues[0], 255, CHUNK);
	CHECK(turn() == &queues[2]);
	CHECK(turn() == &queues[0]);
}

/* Tenants have their shares; a deadline is worth something inside one only. */
TEST(egress_deadline_fair)
{
	struct mrpc_egress_rule rule = plain_rule(MRPC_ORDER_DEADLINE, true);
	static struct mrpc_order_tenant tenants[2];
	u32 i, turns[4] = { 0 };

	CHECK_EQ(mrpc_egress_init(&d, &rule), 0);
	for (i = 0; i < 2; i++)
		CHECK_EQ(mrpc_order_tenant_init(&d.order, &tenants[i], i ? 300 : 100), 0);
	for (i = 0; i < 4; i++) {
		mrpc_egress_add(&d, &queues[i], &tenants[i / 2]);
		offer_until(&queues[i], 0, i / 2 ? U64_MAX : 9 - i, 1000 * CHUNK);
	}
	for (i = 0; i < 400; i++)
		turns[turn() - queues]++;
	CHECK_EQ(turns[0], 0);
	CHECK_EQ(turns[3], 0);
	CHECK(turns[1] >= 99 && turns[1] <= 101);
	/* The same discipline with another limit: nothing is ordered anew. */
	rule.limit *= 2;
	CHECK_EQ(mrpc_egress_set(&d, &rule), 0);
	CHECK_EQ(d.order.stale, 0);
}

/* Owners that never come hold their shares for the patience, and once. */
TEST(egress_void_grant)
{
	begin(MRPC_ORDER_STRICT, false, 3);
	offer(&queues[0], 200, 2 * CHUNK);
	offer(&queues[1], 200, 2 * CHUNK);
	offer(&queues[2], 1, 3 * CHUNK);
	CHECK(mrpc_egress_next(&d, 5) == &queues[0]);
	CHECK(mrpc_egress_next(&d, 7) == &queues[1]);
	CHECK(!mrpc_egress_next(&d, 8));
	CHECK_EQ(mrpc_egress_expire(&d, 5 + PATIENCE - 1), 5 + PATIENCE);
	CHECK(!mrpc_egress_next(&d, 5 + PATIENCE - 1));
	CHECK_EQ(mrpc_egress_expire(&d, 5 + PATIENCE), 7 + PATIENCE);
	CHECK(mrpc_egress_next(&d, 5 + PATIENCE) == &queues[2]);
	CHECK_EQ(mrpc_egress_expire(&d, 7 + PATIENCE), 5 + 2 * PATIENCE);
	mrpc_egress_gone(&d, &queues[2], send(&queues[2]));
	CHECK(turn() == &queues[2]);
	/* Credit does not bring them back, their owners do: in front. */
	mrpc_egress_credit(&d, &queues[0], CHUNK);
	CHECK(turn() == &queues[2]);
	CHECK_EQ(mrpc_egress_take(&d, &queues[0]), 0);
	CHECK_EQ(mrpc_egress_take(&d, &queues[1]), 0);
	CHECK(turn() == &queues[1]);
	CHECK_EQ(d.nr_expired, 2);
	CHECK(mrpc_egress_expire(&d, 100 * PATIENCE) == U64_MAX);
}

/* One that took its grant and sends too late: one chunk above the limit, then none. */
TEST(egress_late_sender)
{
	begin(MRPC_ORDER_FIFO, false, 2);
	offer(&queues[0], 0, CHUNK);
	offer(&queues[1], 0, 10 * CHUNK);
	CHECK(mrpc_egress_next(&d, 0) == &queues[0]);
	CHECK_EQ(mrpc_egress_take(&d, &queues[0]), CHUNK);
	CHECK_EQ(mrpc_egress_expire(&d, PATIENCE), U64_MAX);
	CHECK(mrpc_egress_next(&d, PATIENCE) == &queues[1]);
	send(&queues[1]);
	CHECK(mrpc_egress_next(&d, PATIENCE) == &queues[1]);
	send(&queues[1]);
	mrpc_egress_dequeued(&d, &queues[0], CHUNK, CHUNK);
	CHECK_EQ(d.out, 3 * CHUNK);
	mrpc_egress_gone(&d, &queues[1], CHUNK);
	CHECK(!mrpc_egress_next(&d, PATIENCE));
	mrpc_egress_gone(&d, &queues[0], CHUNK);
	CHECK(mrpc_egress_next(&d, PATIENCE) == &queues[1]);
}

/* Credit that comes while the owner sends is not lost by what the owner saw before. */
TEST(egress_credit_during_turn)
{
	begin(MRPC_ORDER_FIFO, false, 1);
	offer(&queues[0], 0, 2 * CHUNK);
	CHECK(mrpc_egress_next(&d, 0) == &queues[0]);
	CHECK_EQ(mrpc_egress_take(&d, &queues[0]), CHUNK);
	mrpc_egress_credit(&d, &queues[0], CHUNK);
	mrpc_egress_dequeued(&d, &queues[0], CHUNK, 0);
	mrpc_egress_gone(&d, &queues[0], CHUNK);
	CHECK(mrpc_egress_next(&d, 0) == &queues[0]);
	CHECK_EQ(mrpc_egress_take(&d, &queues[0]), CHUNK);
	mrpc_egress_dequeued(&d, &queues[0], 0, CHUNK);
	CHECK_EQ(d.nr_wasted, 1);
	CHECK(!mrpc_egress_next(&d, 0));
	mrpc_egress_credit(&d, &queues[0], CHUNK);
	CHECK(turn() == &queues[0]);
}

TEST(egress_refuses)
{
	struct mrpc_egress_rule rule = plain_rule(MRPC_ORDER_FIFO, false);
	u32 i;

	begin(MRPC_ORDER_FIFO, false, 1);
	for (i = 0; i < 4; i++) {
		struct mrpc_egress other;
		struct mrpc_egress_rule bad = rule;

		if (i == 0)
			bad.limit = bad.chunk - 1;
		else if (i == 1)
			bad.chunk = 0;
		else if (i == 2)
			bad.chunk = bad.limit = MRPC_ORDER_MAX_QUANTUM + 1;
		else
			bad.within = MRPC_ORDER_NR_WITHIN;
		CHECK_EQ(mrpc_egress_init(&other, &bad), -EINVAL);
		CHECK_EQ(mrpc_egress_set(&d, &bad), -EINVAL);
		CHECK_EQ(d.rule.within, rule.within);
		CHECK_EQ(d.rule.chunk, rule.chunk);
		CHECK_EQ(d.rule.limit, rule.limit);
		CHECK_EQ(d.order.rule.quantum, rule.chunk);
	}
}

/* -- pause, dump, resume -------------------------------------------------------- */

#define SCRIPT	60

static const struct { u8 within; bool fair; } disciplines[] = {
	{ MRPC_ORDER_FIFO, false }, { MRPC_ORDER_STRICT, false }, { MRPC_ORDER_SMALL, false },
	{ MRPC_ORDER_DEADLINE, false }, { MRPC_ORDER_DEADLINE, true },
	{ MRPC_ORDER_RANKED, false }, { MRPC_ORDER_RANKED, true },
	{ MRPC_ORDER_FIFO, true }, { MRPC_ORDER_STRICT, true }, { MRPC_ORDER_SMALL, true },
};

/* @most: of the length of a message. The queues are of three tenants, 1:2:10. */
static void script(u32 k, u32 most, struct mrpc_order_tenant *tenants, u64 *rnd)
{
	struct mrpc_egress_rule rule = plain_rule(disciplines[k].within, disciplines[k].fair);
	static const u32 weight[] = { 1, 2, 10 };
	u32 i;

	CHECK_EQ(mrpc_egress_init(&d, &rule), 0);
	for (i = 0; i < 3; i++)
		CHECK_EQ(mrpc_order_tenant_init(&d.order, &tenants[i], weight[i]), 0);
	mrpc_egress_pause(&d, true);
	for (i = 0; i < SCRIPT; i++) {
		mrpc_egress_add(&d, &queues[i], &tenants[rnd_below(rnd, 3)]);
		offer_until(&queues[i], rnd_below(rnd, 4),
			    rnd_below(rnd, 3) ? rnd_below(rnd, 20) : U64_MAX,
			    1 + rnd_below(rnd, most));
	}
	CHECK(!mrpc_egress_next(&d, 0));
}

static void dump(struct mrpc_egress_queue **list)
{
	struct mrpc_order_entity *e;
	u32 i = 0;

	for (e = mrpc_order_walk_begin(&d.order, U32_MAX); e; e = mrpc_order_walk_next(e))
		list[i++] = mrpc_egress_of(e);
	mrpc_order_walk_end(&d.order);
	CHECK_EQ(i, SCRIPT);
}

/* Messages of one chunk leave exactly as the dump says, in every discipline. */
TEST(egress_pause_dump_resume)
{
	static struct mrpc_order_tenant tenants[3];
	struct mrpc_egress_queue *list[SCRIPT];
	u64 rnd = 9;
	u32 k, i, round;

	for (round = 0; round < 50; round++) {
		for (k = 0; k < ARRAY_SIZE(disciplines); k++) {
			script(k, CHUNK, tenants, &rnd);
			dump(list);
			mrpc_egress_pause(&d, false);
			for (i = 0; i < SCRIPT; i++)
				CHECK(turn() == list[i]);
			CHECK(!turn());
		}
	}
}

/* The dumps themselves against what a person would say. */
TEST(egress_dump_is_right)
{
	static struct mrpc_order_tenant tenants[3];
	struct mrpc_egress_queue *list[SCRIPT];
	u64 rnd = 10;
	u32 k, i;

	for (k = 0; k < 4; k++) {
		script(k, 1000, tenants, &rnd);
		dump(list);
		for (i = 1; i < SCRIPT; i++) {
			const struct mrpc_egress_queue *a = list[i - 1], *b = list[i];

			if (k == 0)
				CHECK(a < b);
			else if (k == 1)
				CHECK(a->order.priority > b->order.priority ||
				      (a->order.priority == b->order.priority && a < b));
			else if (k == 2)
				CHECK(a->order.left < b->order.left + b->order.left / 8 + 1);
			else
				CHECK(a->order.deadline < b->order.deadline ||
				      (a->order.deadline == b->order.deadline && a < b));
		}
	}
}

/* Messages of many chunks end as the dump says, where tenants are one. */
TEST(egress_pause_dump_resume_long)
{
	static struct mrpc_order_tenant tenants[3];
	struct mrpc_egress_queue *list[SCRIPT];
	u64 rnd = 11;
	u32 k, i;

	for (k = 0; k < 4; k++) {
		script(k, 20 * CHUNK, tenants, &rnd);
		dump(list);
		mrpc_egress_pause(&d, false);
		for (i = 0; i < SCRIPT; i++) {
			do
				CHECK(turn() == list[i]);
			while (list[i]->order.left);
		}
	}
}

/* From any discipline to any other, and what is sent first is what the new one says. */
TEST(egress_set_while_paused)
{
	static struct mrpc_order_tenant tenants[3];
	struct mrpc_egress_queue *list[SCRIPT];
	u64 rnd = 12;
	u32 from, to, i;

	for (from = 0; from < ARRAY_SIZE(disciplines); from++) {
		for (to = 0; to < ARRAY_SIZE(disciplines); to++) {
			struct mrpc_egress_rule rule = plain_rule(disciplines[to].within,
								  disciplines[to].fair);

			script(from, CHUNK, tenants, &rnd);
			CHECK_EQ(mrpc_egress_set(&d, &rule), 0);
			check_domain(&d, queues, SCRIPT);
			while (mrpc_order_settle(&d.order))
				check_domain(&d, queues, SCRIPT);
			dump(list);
			for (i = 1; i < SCRIPT && to == 1; i++)
				CHECK(list[i - 1]->order.priority >= list[i]->order.priority);
			mrpc_egress_pause(&d, false);
			for (i = 0; i < SCRIPT; i++)
				CHECK(turn() == list[i]);
		}
	}
}

/* -- a rate --------------------------------------------------------------------- */

/* Half of the grants are void or used in part; in the end there is not a byte more or less. */
TEST(egress_rate)
{
	static const u64 rates[] = { 1000, 2000000, 12500000, 12500000000 };
	struct mrpc_egress_rule rule = plain_rule(MRPC_ORDER_FIFO, false);
	u64 rnd = 21;
	u32 i, k;

	for (k = 0; k < ARRAY_SIZE(rates); k++) {
		u64 now = 1000000000, start = now, sent = 0, burst;

		rule.rate = rates[k];
		rule.limit = 1U << 30;
		burst = max_t(u64, rule.chunk, rule.rate / 1000);
		CHECK_EQ(mrpc_egress_init(&d, &rule), 0);
		for (i = 0; i < 3; i++) {
			mrpc_egress_add(&d, &queues[i], NULL);
			offer(&queues[i], 0, U64_MAX / 2);
		}
		for (i = 0; i < 20000; i++) {
			struct mrpc_egress_queue *q = mrpc_egress_next(&d, now);
			u32 use;

			if (!q) {
				CHECK(d.paced > now);
				now = d.paced + rnd_below(&rnd, 3) * 1000;
				continue;
			}
			CHECK_EQ(mrpc_egress_take(&d, q), q->turn);
			use = rnd_below(&rnd, 2) ? q->turn : 1 + rnd_below(&rnd, q->turn);
			mrpc_egress_dequeued(&d, q, use, CHUNK);
			mrpc_egress_gone(&d, q, U64_MAX);
			sent += use;
			/* It may be ahead by the burst, and behind by what it could not make up for. */
			CHECK(sent <= burst + (double)rule.rate * (now - start) / 1e9 + 1);
		}
		NOTE("%.3f of the rate", sent / ((double)rule.rate * (now - start) / 1e9 + burst));
		CHECK(sent >= 0.99 * rule.rate * (now - start) / 1e9);
	}
	/* Another rate at once, and none. */
	mrpc_egress_credit(&d, &queues[0], CHUNK);
	rule.rate = 1000;
	CHECK_EQ(mrpc_egress_set(&d, &rule), 0);
	while (mrpc_egress_next(&d, 1ULL << 40))
		;
	CHECK(d.paced > 1ULL << 40);
	rule.rate = MRPC_BUCKET_MAX_RATE + 1;
	CHECK_EQ(mrpc_egress_set(&d, &rule), -EINVAL);
	rule.rate = 0;
	CHECK_EQ(mrpc_egress_set(&d, &rule), 0);
	for (i = 0; i < 1000; i++) {
		struct mrpc_egress_queue *q = &queues[i % 3];

		mrpc_egress_take(&d, q);
		mrpc_egress_dequeued(&d, q, q->turn, CHUNK);
		CHECK(mrpc_egress_next(&d, 1ULL << 40) || i < 3);
	}
}

/* -- a ranker ------------------------------------------------------------------- */

/* Puts off the first one, for ever. */
static u64 nags, nagged;

static u64 nag_rank(struct mrpc_order_entity *e)
{
	(void)e;
	return ++nags;
}

static bool nag_again(struct mrpc_order_entity *e)
{
	(void)e;
	nagged++;
	return true;
}

static s64 nag_charged;

static void nag_charge(struct mrpc_order_entity *e, s64 cost)
{
	(void)e;
	nag_charged += cost;
}

static const struct mrpc_order_ranker nag = {
	.rank	= nag_rank,
	.again	= nag_again,
	.charge	= nag_charge,
};

/* Whatever a ranker returns, a queue has the grant; and what it is told adds up. */
TEST(egress_ranker_that_never_agrees)
{
	struct mrpc_egress_rule rule = plain_rule(MRPC_ORDER_RANKED, false);
	struct mrpc_egress_queue *q;
	u64 sent = 0;
	u32 i;

	rule.ranker = &nag;
	CHECK_EQ(mrpc_egress_init(&d, &rule), 0);
	for (i = 0; i < 3; i++) {
		mrpc_egress_add(&d, &queues[i], NULL);
		offer(&queues[i], 0, 3 * CHUNK - i);
	}
	for (i = 0; i < 9; i++) {
		nagged = 0;
		q = mrpc_egress_next(&d, 0);
		CHECK(q);
		CHECK_EQ(nagged, MRPC_EGRESS_AGAIN);
		CHECK_EQ(mrpc_egress_take(&d, q), q->turn);
		sent += q->turn / 2;
		mrpc_egress_dequeued(&d, q, q->turn / 2, CHUNK);
		mrpc_egress_gone(&d, q, U64_MAX);
		CHECK_EQ(nag_charged, sent);
	}
	/* A grant that is not used costs nothing. */
	q = mrpc_egress_next(&d, 0);
	CHECK(q);
	mrpc_egress_expire(&d, PATIENCE);
	CHECK_EQ(nag_charged, sent);
}

/* -- shares --------------------------------------------------------------------- */

/*
 * Three tenants, 1:2:10, with messages of quite different lengths, strict inside:
 * their bytes are within a chunk of their shares at any moment, as order.h states.
 */
TEST(egress_fair_bytes)
{
	static const u32 weight[] = { 1, 2, 10 };
	static const u32 most[] = { 100, 10 * CHUNK, 3000 };
	struct mrpc_egress_rule rule = plain_rule(MRPC_ORDER_STRICT, true);
	static struct mrpc_order_tenant tenants[3];
	double sent[3] = { 0 };
	u64 rnd = 13;
	u32 i, a, b;

	CHECK_EQ(mrpc_egress_init(&d, &rule), 0);
	for (i = 0; i < 3; i++)
		CHECK_EQ(mrpc_order_tenant_init(&d.order, &tenants[i], weight[i]), 0);
	for (i = 0; i < 30; i++) {
		mrpc_egress_add(&d, &queues[i], &tenants[i % 3]);
		offer(&queues[i], rnd_next(&rnd), 1 + rnd_below(&rnd, most[i % 3]));
	}
	for (i = 0; i < 200000; i++) {
		struct mrpc_egress_queue *q = mrpc_egress_next(&d, 0);
		u32 bytes, k;

		CHECK(q);
		k = q->order.home - tenants;
		bytes = send(q);
		mrpc_egress_gone(&d, q, bytes);
		sent[k] += bytes;
		if (!q->order.left)
			offer(q, rnd_next(&rnd), 1 + rnd_below(&rnd, most[k]));
		for (a = 0; a < 3; a++)
			for (b = 0; b < a; b++) {
				double apart = sent[a] / weight[a] - sent[b] / weight[b];

				CHECK(apart < CHUNK + CHUNK / 64.0);
				CHECK(-apart < CHUNK + CHUNK / 64.0);
			}
	}
}
