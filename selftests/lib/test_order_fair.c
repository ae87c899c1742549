// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/lib/ds/order kmod/lib/ds/levels */
/*
 * Tenants share turns by their weights: the bounds that order.h states.
 */
#include "lib/ds/order.h"
#include "order_time.h"
#include "rnd.h"
#include "tap.h"

#define MAX_SHARES	8

/* Tenants that always have one entity listed, or several. */
struct shares {
	struct mrpc_order o;
	u32 nr;
	u32 weight[MAX_SHARES];
	double served[MAX_SHARES];
	double most_cost[MAX_SHARES];
	struct mrpc_order_tenant tenant[MAX_SHARES];
	struct mrpc_order_entity entity[MAX_SHARES][2];
	double low[MAX_SHARES][MAX_SHARES];	/* of the differences of normal service */
	double high[MAX_SHARES][MAX_SHARES];
};

static void shares_begin(struct shares *s, u32 quantum, const u32 *weight, u32 nr)
{
	struct mrpc_order_rule rule = { .fair = true, .quantum = quantum };
	u32 i, k;

	memset(s, 0, sizeof(*s));
	s->nr = nr;
	CHECK_EQ(mrpc_order_init(&s->o, &rule), 0);
	s->o.now = ORIGIN;
	for (i = 0; i < nr; i++) {
		s->weight[i] = weight[i];
		CHECK_EQ(mrpc_order_tenant_init(&s->o, &s->tenant[i], weight[i]), 0);
		for (k = 0; k < 2; k++) {
			mrpc_order_join(&s->o, &s->entity[i][k], &s->tenant[i]);
			mrpc_order_put(&s->o, &s->entity[i][k], false);
		}
	}
}

static double shares_grain(const struct shares *s)
{
	return (double)(1ULL << s->o.shift) / (1 << MODEL_SCALE);
}

/* Return: whose turn it was. */
static u32 shares_turn(struct shares *s, u32 cost)
{
	struct mrpc_order_entity *e = mrpc_order_take(&s->o);
	u32 i = e->home - s->tenant;

	mrpc_order_charge(&s->o, e, cost);
	mrpc_order_put(&s->o, e, false);
	s->served[i] += cost;
	s->most_cost[i] = max(s->most_cost[i], (double)cost);
	return i;
}

/* The bounds of order.h, for the interval since the beginning and for any within. */
static void check_shares(struct shares *s)
{
	double g = shares_grain(s);
	u32 i, j;

	CHECK(g * 64 < s->o.rule.quantum || s->o.rule.quantum < 64);
	for (i = 0; i < s->nr; i++) {
		for (j = 0; j < i; j++) {
			double a = s->most_cost[i] / s->weight[i];
			double b = s->most_cost[j] / s->weight[j];
			double d = s->served[i] / s->weight[i] - s->served[j] / s->weight[j];

			s->low[i][j] = min(s->low[i][j], d);
			s->high[i][j] = max(s->high[i][j], d);
			CHECK_MSG(d < g + max(a, b) && -d < g + max(a, b),
				  "weights %u and %u: %f apart, grain %f, turns %f and %f",
				  s->weight[i], s->weight[j], d, g, a, b);
			CHECK(s->high[i][j] - s->low[i][j] < 2 * g + a + b);
		}
	}
}

TEST(order_fair_bound)
{
	static const u32 sets[][MAX_SHARES] = {
		{ 1, 2, 10 }, { 1, 10000 }, { 10000, 9999, 1, 1 }, { 100, 100, 100 },
		{ 1, 1, 1, 1, 1, 1, 1, 1 }, { 1, 3, 64, 65, 1000, 4999, 10000, 10000 }, { 7 },
	};
	static const u32 quanta[] = { 16384, 16385, 1, 1000000, MRPC_ORDER_MAX_QUANTUM };
	static struct shares s;
	u64 rnd = 3;
	u32 set, q, i, nr;

	for (set = 0; set < ARRAY_SIZE(sets); set++) {
		for (q = 0; q < ARRAY_SIZE(quanta); q++) {
			for (nr = 0; nr < MAX_SHARES && sets[set][nr]; nr++)
				;
			shares_begin(&s, quanta[q], sets[set], nr);
			/* Those with one entity are not listed during their turns. */
			for (i = 0; i < nr; i++)
				if (rnd_below(&rnd, 2))
					mrpc_order_del(&s.o, &s.entity[i][1]);
			for (i = 0; i < 40000; i++) {
				u32 cost = i < 20000 ? quanta[q] : 1 + rnd_below(&rnd, quanta[q]);

				shares_turn(&s, cost);
				check_shares(&s);
			}
		}
	}
}

/*
 * 1:2:10 in turns of one quantum: after each round of 13, exactly that; at any
 * moment, no one has had a quantum more than its share.
 */
TEST(order_fair_1_2_10)
{
	static const u32 weight[] = { 1, 2, 10 };
	static struct shares s;
	u32 turns[3] = { 0 };
	u32 n, i;

	shares_begin(&s, 16384, weight, 3);
	for (n = 1; n <= 13 * 100000; n++) {
		turns[shares_turn(&s, 16384)]++;
		for (i = 0; i < 3; i++) {
			CHECK(turns[i] * 13 < n * weight[i] + 13);
			if (n % 13 == 0)
				CHECK_EQ(turns[i], n / 13 * weight[i]);
		}
	}
}

/* A weight of 10000 beside 1 does not get its turns in one piece of 10000 before all else. */
TEST(order_fair_is_smooth)
{
	static const u32 weight[] = { 10000, 5000, 2500, 1 };
	static struct shares s;
	u32 since[4] = { 0 };
	u32 n, i;

	shares_begin(&s, 16384, weight, 4);
	for (n = 0; n < 200000; n++) {
		u32 who = shares_turn(&s, 16384);

		for (i = 0; i < 4; i++)
			since[i] = i == who ? 0 : since[i] + 1;
		/* A slot holds 79 turns of 10000, and what of the others fits in it. */
		CHECK(since[0] < 80);
		CHECK(since[1] < 2 * 80);
		CHECK(since[2] < 4 * 80);
		CHECK(since[3] < 17501 + 4 * 80);
	}
}

/* Turns that cost up to 60 quanta: beyond the wheel, and still within the bound. */
TEST(order_fair_overrun)
{
	static const u32 weight[] = { 1, 2, 3, 10, 1000 };
	static struct shares s;
	u64 rnd = 4;
	u32 i;

	shares_begin(&s, 1000, weight, 5);
	for (i = 0; i < 300000; i++) {
		shares_turn(&s, rnd_below(&rnd, 3) ? 1000 : rnd_below(&rnd, 60 * 1000));
		check_shares(&s);
	}
}

/* Costs without bound: no one starves, nothing loops, debt is forgotten beyond its limit. */
TEST(order_fair_huge)
{
	static const u32 weight[] = { 1, 10000, 1 };
	static struct shares s;
	u64 rnd = 5;
	u32 i, turns[3] = { 0 };

	shares_begin(&s, 1, weight, 3);
	for (i = 0; i < 100000; i++)
		turns[shares_turn(&s, rnd_next(&rnd))]++;
	for (i = 0; i < 3; i++)
		CHECK(turns[i] > 1000);

	shares_begin(&s, 1, weight, 3);
	mrpc_order_charge(&s.o, &s.entity[0][0], 1LL << 62);
	CHECK_EQ(s.tenant[0].vtime - s.o.now, (u64)MRPC_ORDER_DEBT << (s.o.shift + 7));
	mrpc_order_charge(&s.o, &s.entity[0][0], -(1LL << 62));
	mrpc_order_charge(&s.o, &s.entity[0][0], (s64)(1ULL << 63));
	CHECK(mrpc_order_peek(&s.o));
}

/* A tenant that was idle gets its share from now on, and nothing for then. */
TEST(order_fair_idle_earns_nothing)
{
	static const u32 weight[] = { 1, 1, 1 };
	static struct shares s;
	u32 i, k, turns[3] = { 0 };

	shares_begin(&s, 16384, weight, 3);
	for (k = 0; k < 2; k++)
		mrpc_order_del(&s.o, &s.entity[2][k]);
	for (i = 0; i < 10000; i++)
		CHECK(shares_turn(&s, 16384) != 2);
	for (k = 0; k < 2; k++)
		mrpc_order_put(&s.o, &s.entity[2][k], false);
	for (i = 1; i <= 3000; i++) {
		turns[shares_turn(&s, 16384)]++;
		CHECK(turns[2] * 3 <= i + 3 && turns[2] * 3 + 3 >= i);
	}
}

/* So long idle that its old time, half the circle back, seems to lie ahead. */
TEST(order_fair_idle_for_ages)
{
	static const u32 weight[] = { 1, 1 };
	static struct shares s;
	u32 i, k, turns[2] = { 0 };

	shares_begin(&s, 16384, weight, 2);
	for (k = 0; k < 2; k++)
		mrpc_order_del(&s.o, &s.entity[1][k]);
	for (i = 0; i < 10; i++)
		shares_turn(&s, 16384);
	s.tenant[1].vtime = s.o.now + (1ULL << 62);
	for (k = 0; k < 2; k++)
		mrpc_order_put(&s.o, &s.entity[1][k], false);
	for (i = 0; i < 1000; i++)
		turns[shares_turn(&s, 16384)]++;
	CHECK(turns[1] >= 500 - MRPC_ORDER_DEBT / 2 && turns[1] <= 500);
}

/*
 * Leaving after each turn, or giving back, does not pay: the second tenant has
 * one entity, which is not listed during its turn and comes back at once.
 */
TEST(order_fair_no_escape)
{
	static const u32 weight[] = { 1, 1 };
	static struct shares s;
	u32 turns[2] = { 0 };
	u32 i;

	shares_begin(&s, 16384, weight, 2);
	mrpc_order_del(&s.o, &s.entity[1][1]);
	for (i = 1; i <= 10000; i++) {
		struct mrpc_order_entity *e = mrpc_order_take(&s.o);

		mrpc_order_charge(&s.o, e, 16384);
		mrpc_order_charge(&s.o, e, -10000);
		mrpc_order_charge(&s.o, e, 10000);
		mrpc_order_put(&s.o, e, i % 2);
		turns[e->home - s.tenant]++;
		CHECK(turns[0] <= turns[1] + 1 && turns[1] <= turns[0] + 1);
	}
}

/* What is given back in full leaves no trace, whatever the remainders. */
TEST(order_fair_give_back)
{
	static const u32 weight[] = { 7, 9973 };
	static struct shares s;
	u64 rnd = 6;
	u32 i;

	shares_begin(&s, 16384, weight, 2);
	for (i = 0; i < 20000; i++) {
		struct mrpc_order_tenant *t = &s.tenant[i % 2];
		u32 cost = rnd_below(&rnd, 16384);
		u64 vtime = t->vtime, rem = t->rem;

		mrpc_order_charge(&s.o, &s.entity[i % 2][0], cost);
		mrpc_order_charge(&s.o, &s.entity[i % 2][0], -(s64)cost);
		CHECK(t->vtime == vtime && t->rem == rem);
		shares_turn(&s, cost);
	}
}

/* A new weight counts at once, also for the debt: none waits for its old pace. */
TEST(order_fair_weight_changes)
{
	static const u32 weight[] = { 1, 10000 };
	static struct shares s;
	u32 turns[2] = { 0 };
	u32 i;

	shares_begin(&s, 16384, weight, 2);
	for (i = 0; i < 5000; i++)
		shares_turn(&s, 16384);
	CHECK_EQ(mrpc_order_tenant_weight(&s.o, &s.tenant[0], 10000), 0);
	for (i = 1; i <= 2000; i++) {
		turns[shares_turn(&s, 16384)]++;
		/* The grain is 78 turns of weight 10000. */
		CHECK(turns[0] + 80 > turns[1] && turns[1] + 80 > turns[0]);
	}
	CHECK_EQ(mrpc_order_tenant_weight(&s.o, &s.tenant[0], 5000), 0);
	turns[0] = 0;
	turns[1] = 0;
	for (i = 1; i <= 30000; i++)
		turns[shares_turn(&s, 16384)]++;
	CHECK(turns[1] > 20000 - 160 && turns[1] < 20000 + 160);
}

/* A tenant that comes without debt waits for at most one turn of each other. */
TEST(order_fair_newcomer)
{
	static const u32 weight[] = { 10000, 10000, 10000, 1, 1, 50, 200, 3 };
	static struct shares s;
	u64 rnd = 7;
	u32 round, i, k;

	for (round = 0; round < 3000; round++) {
		shares_begin(&s, 16384, weight, 8);
		for (k = 0; k < 2; k++)
			mrpc_order_del(&s.o, &s.entity[7][k]);
		for (i = rnd_below(&rnd, 400); i; i--)
			shares_turn(&s, 1 + rnd_below(&rnd, 16384));
		for (k = 0; k < 2; k++)
			mrpc_order_put(&s.o, &s.entity[7][k], false);
		for (i = 0; shares_turn(&s, 16384) != 7; i++)
			CHECK(i < 7);
	}
}
