// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/lib/ds/order */
/*
 * Another discipline while very many are listed: no call touches more than its share, and what
 * is urgent by the new discipline does not wait for those that it has not ordered yet.
 */
#include "lib/ds/order.h"
#include "rnd.h"
#include "tap.h"

#define MANY		20000
#define TENANTS		50
#define URGENT		255

static struct {
	struct mrpc_order o;
	struct mrpc_order_tenant tenant[TENANTS];
	struct mrpc_order_entity entity[MANY + 1];
	u64 touched;
	u64 asked;
} all;

/* As STRICT, by a ranker. */
static u64 rank(struct mrpc_order_entity *e)
{
	all.asked++;
	return URGENT - e->priority;
}

static const struct mrpc_order_ranker ranker = { .rank = rank };

static struct mrpc_order_rule rule_of(u8 within, bool fair)
{
	return (struct mrpc_order_rule){
		.within = within,
		.ranker = within == MRPC_ORDER_RANKED ? &ranker : NULL,
		.fair = fair,
		.quantum = 16384,
	};
}

/* All but the last are listed. */
static void begin(u8 within, bool fair)
{
	struct mrpc_order_rule rule = rule_of(within, fair);
	u64 rnd = 1;
	u32 i;

	memset(&all, 0, sizeof(all));
	CHECK_EQ(mrpc_order_init(&all.o, &rule), 0);
	for (i = 0; i < TENANTS; i++)
		CHECK_EQ(mrpc_order_tenant_init(&all.o, &all.tenant[i], 1 + i), 0);
	for (i = 0; i <= MANY; i++) {
		mrpc_order_join(&all.o, &all.entity[i], &all.tenant[rnd_below(&rnd, TENANTS)]);
		mrpc_order_rank(&all.o, &all.entity[i], rnd_below(&rnd, URGENT),
				1 + rnd_below(&rnd, 100000));
		mrpc_order_due(&all.o, &all.entity[i],
			       rnd_below(&rnd, 4) ? 1 + rnd_below(&rnd, 1000) : U64_MAX);
		if (i < MANY)
			mrpc_order_put(&all.o, &all.entity[i], false);
	}
	CHECK_EQ(all.o.touched, 0);
	all.asked = 0;
}

/* What the last call has touched. */
static u64 touched(void)
{
	u64 nr = all.o.touched - all.touched;

	all.touched = all.o.touched;
	return nr;
}

/* A call that needs a share at most, whatever is listed. */
#define SHARE(call)							\
	do {								\
		u64 asked = all.asked;					\
									\
		call;							\
		CHECK(touched() <= MRPC_ORDER_BATCH);			\
		CHECK(all.asked - asked <= MRPC_ORDER_BATCH + 1);	\
	} while (0)

static void some_turns(u32 turns)
{
	struct mrpc_order_entity *e;

	while (turns--) {
		SHARE(e = mrpc_order_take(&all.o));
		CHECK(e);
		SHARE(mrpc_order_charge(&all.o, e, 100));
		SHARE(mrpc_order_put(&all.o, e, true));
	}
}

/* From each discipline to each, with all else that can happen in between. */
TEST(change_share)
{
	u32 from, to, i;

	for (from = 0; from < 2 * MRPC_ORDER_NR_WITHIN; from++) {
		for (to = 0; to < 2 * MRPC_ORDER_NR_WITHIN; to++) {
			struct mrpc_order_rule rule = rule_of(to / 2, to % 2);
			bool more = true;

			begin(from / 2, from % 2);
			SHARE(CHECK_EQ(mrpc_order_set(&all.o, &rule), 0));
			CHECK_EQ(all.o.stale, from == to && !rule.ranker ? 0 : MANY);
			if (!all.o.stale)
				continue;
			CHECK_EQ(mrpc_order_set(&all.o, &rule), -EBUSY);
			some_turns(20);
			for (i = 0; i < MANY / 2; i += 7) {
				SHARE(mrpc_order_rank(&all.o, &all.entity[i], i, i + 1));
				SHARE(mrpc_order_due(&all.o, &all.entity[i], i));
				SHARE(mrpc_order_del(&all.o, &all.entity[i]));
			}
			SHARE(mrpc_order_tenant_weight(&all.o, &all.tenant[to], 1000));
			for (i = 0; more; i++)
				SHARE(more = mrpc_order_settle(&all.o));
			CHECK(i <= MANY / MRPC_ORDER_BATCH + 1);
			CHECK(i > MANY / MRPC_ORDER_BATCH / 2);
			CHECK_EQ(mrpc_order_set(&all.o, &rule), 0);
		}
	}
}

/* As many as are asked for, and none of them has moved. */
TEST(walk_share)
{
	struct mrpc_order_entity *e;
	u32 fair, nr;

	for (fair = 0; fair < 2; fair++) {
		begin(MRPC_ORDER_STRICT, fair);
		nr = 0;
		for (e = mrpc_order_walk_begin(&all.o, 100); e; e = mrpc_order_walk_next(e))
			nr++;
		mrpc_order_walk_end(&all.o);
		CHECK_EQ(nr, 100);
		CHECK_EQ(touched(), 100);
		CHECK_EQ(all.o.listed, MANY);
	}
}

/* The last, which is the first in each discipline but the order of arrival. */
static void make_urgent(void)
{
	mrpc_order_rank(&all.o, &all.entity[MANY], URGENT, 1);
	mrpc_order_due(&all.o, &all.entity[MANY], 0);
}

/* What comes while the discipline changes is ordered by the new one, at once. */
TEST(urgent_newcomer)
{
	u8 within;

	for (within = MRPC_ORDER_STRICT; within <= MRPC_ORDER_RANKED; within++) {
		struct mrpc_order_rule rule = rule_of(within, false);

		begin(MRPC_ORDER_FIFO, false);
		make_urgent();
		CHECK_EQ(mrpc_order_set(&all.o, &rule), 0);
		some_turns(2);
		mrpc_order_put(&all.o, &all.entity[MANY], false);
		CHECK(all.o.stale);
		CHECK(mrpc_order_take(&all.o) == &all.entity[MANY]);
	}
}

/* The last in the old order, and the first in the new one, waits for its share of choices. */
TEST(urgent_stale)
{
	u32 choices;
	u8 within;

	for (within = MRPC_ORDER_STRICT; within <= MRPC_ORDER_RANKED; within++) {
		struct mrpc_order_rule rule = rule_of(within, false);

		begin(MRPC_ORDER_FIFO, false);
		make_urgent();
		mrpc_order_put(&all.o, &all.entity[MANY], false);
		CHECK_EQ(mrpc_order_set(&all.o, &rule), 0);
		for (choices = 1; mrpc_order_take(&all.o) != &all.entity[MANY]; choices++)
			CHECK(choices <= MANY / MRPC_ORDER_BATCH);
		CHECK(choices > MANY / MRPC_ORDER_BATCH / 2);
	}
}

/* Tenants have their turns to be ordered anew, and in each the first are first. */
TEST(stale_in_turn)
{
	struct mrpc_order_rule rule = rule_of(MRPC_ORDER_FIFO, false);
	u32 last[TENANTS] = { 0 }, i, turns[TENANTS] = { 0 };

	begin(MRPC_ORDER_FIFO, true);
	CHECK_EQ(mrpc_order_set(&all.o, &rule), 0);
	for (i = 0; i < 100 * TENANTS; i++) {
		struct mrpc_order_entity *e = mrpc_order_take(&all.o);
		u32 nr = e - all.entity, t = e->home - all.tenant;

		CHECK(nr >= last[t]);
		last[t] = nr;
		turns[t]++;
		CHECK(turns[t] <= i / TENANTS + 1);
	}
}
