// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/lib/ds/order kmod/lib/ds/lheap kmod/lib/ds/levels */
/*
 * The order against a model that searches all entities for each decision. For the bounds that
 * order.h states, see test_order_fair.c.
 */
#include "lib/ds/order.h"
#include "order_model.h"
#include "order_time.h"
#include "rnd.h"
#include "tap.h"

/* -- both ----------------------------------------------------------------------- */

struct pair {
	struct mrpc_order o;
	struct mrpc_order_tenant tenant[MODEL_TENANTS];	/* the first is not used */
	struct mrpc_order_entity entity[MODEL_ENTITIES];
	struct model m;
};

/* The ranker says what the model says; what it was charged is summed up. */
static struct pair *ranked;
static s64 ranked_charged;

static u64 ranker_rank(struct mrpc_order_entity *e)
{
	return ranked->m.entity[e - ranked->entity].rank;
}

static bool ranker_again(struct mrpc_order_entity *e)
{
	return ranked->m.entity[e - ranked->entity].rank & 1;
}

static void ranker_charge(struct mrpc_order_entity *e, s64 cost)
{
	(void)e;
	ranked_charged += cost;
}

static const struct mrpc_order_ranker ranker = {
	.rank	= ranker_rank,
	.again	= ranker_again,
	.charge	= ranker_charge,
};

static struct mrpc_order_tenant *tenant(struct pair *p, u32 t)
{
	return t ? &p->tenant[t] : &p->o.common;
}

static void pair_begin(struct pair *p, const struct mrpc_order_rule *rule, u64 *rnd)
{
	u32 i;

	memset(p, 0, sizeof(*p));
	ranked = p;
	CHECK_EQ(mrpc_order_init(&p->o, rule), 0);
	p->o.now = ORIGIN;
	p->o.common.vtime = ORIGIN;
	model_apply(&p->m, rule);
	for (i = 0; i < MODEL_TENANTS; i++) {
		u32 weight = i ? 1 + rnd_below(rnd, i % 2 ? 10 : 10000) : MRPC_ORDER_WEIGHT;

		if (i)
			CHECK_EQ(mrpc_order_tenant_init(&p->o, &p->tenant[i], weight), 0);
		p->m.tenant[i].weight = weight;
	}
	for (i = 0; i < MODEL_ENTITIES; i++) {
		model_join(&p->m, i, rnd_below(rnd, MODEL_TENANTS));
		mrpc_order_join(&p->o, &p->entity[i],
				p->m.entity[i].home ? tenant(p, p->m.entity[i].home) : NULL);
	}
}

static u32 number(const struct pair *p, const struct mrpc_order_entity *e)
{
	return e ? e - p->entity : MODEL_ENTITIES;
}

/* Every list, every bit, every count. */
static u32 check_levels(const struct mrpc_order_levels *ls)
{
	u32 count = 0;
	u32 i;

	for (i = 0; i < MRPC_ORDER_LEVELS; i++) {
		const struct mrpc_order_link *first = ls->first[i], *l = first;

		CHECK_EQ(ls->map[i / 64] >> i % 64 & 1, !!first);
		if (!first)
			continue;
		do {
			CHECK(l->next->prev == l);
			count++;
			l = l->next;
		} while (l != first);
	}
	return count;
}

/* Return: how many there are; no node is before its parent, and ways to the right are short. */
static u32 check_heap(const struct mrpc_lheap_node *n, const struct mrpc_lheap_node *up)
{
	u32 right;

	if (!n)
		return 0;
	CHECK(n->up == up);
	if (up)
		CHECK(up->key < n->key || (up->key == n->key && up->tie < n->tie));
	right = n->right ? n->right->dist : 0;
	CHECK_EQ(n->dist, right + 1);
	CHECK(n->left ? n->left->dist >= right : !right);
	return 1 + check_heap(n->left, n) + check_heap(n->right, n);
}

static bool in_heap(const struct mrpc_order_rule *rule)
{
	return rule->within == MRPC_ORDER_DEADLINE || rule->within == MRPC_ORDER_RANKED;
}

static void check_order(struct pair *p)
{
	u32 in_bin[MODEL_TENANTS][2] = { 0 }, listed = 0, tenants[2] = { 0 };
	u32 i, in;

	for (i = 0; i < MODEL_ENTITIES; i++) {
		const struct mrpc_order_entity *e = &p->entity[i];
		bool stale = p->m.entity[i].stale;

		CHECK_EQ(e->listed, p->m.entity[i].listed);
		if (!e->listed)
			continue;
		CHECK_EQ(e->in, stale ? !p->o.now_in : p->o.now_in);
		CHECK_EQ((stale ? p->o.stale_ranked : in_heap(&p->o.rule)) ? e->node.key : e->slot,
			 p->m.entity[i].level);
		CHECK(e->on == tenant(p, p->m.entity[i].on));
		in_bin[p->m.entity[i].on][e->in]++;
		listed++;
	}
	for (i = 0; i < MODEL_TENANTS; i++) {
		const struct mrpc_order_tenant *t = tenant(p, i);

		for (in = 0; in < 2; in++) {
			const struct mrpc_order_bin *b = &t->bin[in];

			CHECK_EQ(b->listed, in_bin[i][in]);
			CHECK_EQ(check_levels(&b->levels) + check_heap(mrpc_lheap_first(&b->ranked), NULL),
				 in_bin[i][in]);
			tenants[in] += !!in_bin[i][in];
		}
		if (p->o.rule.fair && in_bin[i][p->o.now_in]) {
			CHECK_EQ(t->vtime - ORIGIN, p->m.tenant[i].vtime);
			CHECK_EQ(t->rem, p->m.tenant[i].rem);
		}
	}
	CHECK_EQ(p->o.listed, listed);
	CHECK_EQ(p->o.stale, model_stale(&p->m));
	for (in = 0; in < 2; in++)
		CHECK_EQ(check_levels(&p->o.wheel[in]), tenants[in]);
}

static void check_same(const struct mrpc_order_entity *a, const struct mrpc_order_entity *b,
		       bool heap)
{
	struct mrpc_order_entity x = *a, y = *b;

	if (heap) {		/* which may have another shape */
		CHECK(x.node.key == y.node.key && x.node.tie == y.node.tie);
		memset(&x.node, 0, sizeof(x.node));
		memset(&y.node, 0, sizeof(y.node));
		memset(&x.link, 0, sizeof(x.link));
		memset(&y.link, 0, sizeof(y.link));
	}
	CHECK(!memcmp(&x, &y, sizeof(x)));
}

/* The walk's order is the model's, and afterwards nothing is different. */
static void check_walk(struct pair *p, u32 most)
{
	static struct pair before;
	u32 order[MODEL_ENTITIES], nr = min(most, model_walk(&p->m, order));
	struct mrpc_order_entity *e, *last = NULL;
	u32 i = 0;

	before = *p;
	for (e = mrpc_order_walk_begin(&p->o, most); e; e = mrpc_order_walk_next(e)) {
		CHECK(i < nr);
		CHECK_EQ(number(p, e), order[i]);
		if (last && last->on == e->on && !in_heap(&p->o.rule)) {
			CHECK(!mrpc_order_before(e, last));
			CHECK_EQ(mrpc_order_before(last, e),
				 p->m.entity[order[i - 1]].level < p->m.entity[order[i]].level);
		} else if (last && last->on != e->on) {
			CHECK(!mrpc_order_before(e, last) && !mrpc_order_before(last, e));
		}
		last = e;
		i++;
	}
	CHECK_EQ(i, nr);
	mrpc_order_walk_end(&p->o);

	CHECK_EQ(p->o.now, before.o.now);
	CHECK(!memcmp(&p->o.wheel, &before.o.wheel, sizeof(p->o.wheel)));
	for (i = 0; i < MODEL_ENTITIES; i++)
		if (p->entity[i].listed)
			check_same(&p->entity[i], &before.entity[i], in_heap(&p->o.rule));
	for (i = 0; i < MODEL_TENANTS; i++) {
		const struct mrpc_order_tenant *t = tenant(p, i), *old = tenant(&before, i);

		const struct mrpc_order_bin *b = &t->bin[p->o.now_in];
		const struct mrpc_order_bin *was = &old->bin[p->o.now_in];

		CHECK(t->vtime == old->vtime && t->rem == old->rem && b->listed == was->listed);
		CHECK(!memcmp(&b->levels, &was->levels, sizeof(b->levels)));
		if (b->listed)
			CHECK(!memcmp(&b->link, &was->link, sizeof(b->link)) &&
			      b->slot == was->slot);
	}
}

static struct mrpc_order_rule some_rule(u64 *rnd)
{
	static const u32 quanta[] = { 16384, 1, 1000, 4096, 100000, 3 };
	u8 within = rnd_below(rnd, MRPC_ORDER_NR_WITHIN);

	return (struct mrpc_order_rule){
		.within = within,
		.ranker = within == MRPC_ORDER_RANKED ? &ranker : NULL,
		.fair = rnd_below(rnd, 4),
		.quantum = quanta[rnd_below(rnd, ARRAY_SIZE(quanta))],
	};
}

static u64 some_left(u64 *rnd)
{
	switch (rnd_below(rnd, 6)) {
	case 0:
		return rnd_below(rnd, 20);
	case 1:
		return ~0ULL >> rnd_below(rnd, 64);
	case 2:
		return (1ULL << rnd_below(rnd, 64)) - rnd_below(rnd, 2);
	default:
		return rnd_below(rnd, 100000);
	}
}

/* Few, so that there are equals; none; or any. */
static u64 some_deadline(u64 *rnd)
{
	return rnd_below(rnd, 3) ? rnd_below(rnd, 8) : ~0ULL >> rnd_below(rnd, 64);
}

static void pair_due(struct pair *p, u32 e, u64 *rnd)
{
	u64 deadline = some_deadline(rnd);

	mrpc_order_due(&p->o, &p->entity[e], deadline);
	model_due(&p->m, e, deadline);
}

static void pair_put(struct pair *p, u32 e, u64 *rnd)
{
	bool head = !rnd_below(rnd, 3);

	if (!p->m.entity[e].listed)
		p->m.entity[e].rank = rnd_below(rnd, 3) ? rnd_below(rnd, 8) :
						~0ULL >> rnd_below(rnd, 64);
	if (rnd_below(rnd, 2)) {
		u8 priority = rnd_below(rnd, 2) ? 128 : rnd_below(rnd, 256);
		u64 left = some_left(rnd);

		mrpc_order_rank(&p->o, &p->entity[e], priority, left);
		model_rank(&p->m, e, priority, left);
	}
	if (rnd_below(rnd, 2))
		pair_due(p, e, rnd);
	mrpc_order_put(&p->o, &p->entity[e], head);
	model_put(&p->m, e, head);
}

static void pair_charge(struct pair *p, u32 e, s64 cost)
{
	s64 charged = ranked_charged;

	mrpc_order_charge(&p->o, &p->entity[e], cost);
	model_charge(&p->m, e, cost);
	CHECK_EQ(ranked_charged - charged, p->o.rule.ranker ? cost : 0);
}

/* Its ranker wants it ranked anew. Return: that has changed something. */
static bool model_again(struct model *m, u32 e)
{
	if (m->rule.within != MRPC_ORDER_RANKED || m->entity[e].level == m->entity[e].rank)
		return false;
	m->entity[e].level = m->entity[e].rank;
	m->entity[e].seq = ++m->seq;
	return true;
}

/* Odd ranks are asked for once more, when it would be their turn. */
static void pair_again(struct pair *p, u64 *rnd)
{
	u32 e = model_first(&p->m);
	struct mrpc_order_entity *first = mrpc_order_peek(&p->o);
	bool odd;

	CHECK_EQ(number(p, first), e);
	if (!first)
		return;
	p->m.entity[e].rank = rnd_below(rnd, 8);
	odd = p->m.entity[e].rank & 1;
	CHECK_EQ(mrpc_order_again(&p->o, first), odd && model_again(&p->m, e));
}

/* A turn, charged at its beginning, its end, both, or not at all. */
static void pair_turn(struct pair *p, u64 *rnd)
{
	u32 e = model_first(&p->m), turn;

	CHECK_EQ(number(p, mrpc_order_peek(&p->o)), e);
	e = model_take(&p->m);
	CHECK_EQ(number(p, mrpc_order_take(&p->o)), e);
	if (e == MODEL_ENTITIES)
		return;
	turn = mrpc_order_turn(&p->o, &p->entity[e]);
	CHECK_EQ(turn, model_turn(&p->m, e));
	switch (rnd_below(rnd, 4)) {
	case 0:
		pair_charge(p, e, turn);
		pair_charge(p, e, -(s64)rnd_below(rnd, turn + 1));
		break;
	case 1:
		pair_charge(p, e, rnd_below(rnd, turn + 1));
		break;
	default:
		pair_charge(p, e, turn);
	}
	if (rnd_below(rnd, 3))
		pair_put(p, e, rnd);
}

static void pair_event(struct pair *p, u64 *rnd)
{
	u32 e = rnd_below(rnd, MODEL_ENTITIES), t = rnd_below(rnd, MODEL_TENANTS);
	struct mrpc_order_rule rule;
	u32 weight;

	switch (rnd_below(rnd, 68)) {
	case 65 ... 67:
		pair_due(p, e, rnd);
		break;
	case 64:
		model_settle(&p->m);
		CHECK_EQ(mrpc_order_settle(&p->o), !!model_stale(&p->m));
		break;
	case 0:
		weight = 1 + rnd_below(rnd, rnd_below(rnd, 2) ? 10 : MRPC_ORDER_MAX_WEIGHT);
		CHECK_EQ(mrpc_order_tenant_weight(&p->o, tenant(p, t), weight), 0);
		model_weight(&p->m, t, weight);
		break;
	case 1:
		rule = some_rule(rnd);
		if (model_stale(&p->m)) {
			CHECK_EQ(mrpc_order_set(&p->o, &rule), -EBUSY);
			break;
		}
		CHECK_EQ(mrpc_order_set(&p->o, &rule), 0);
		model_set(&p->m, &rule);
		break;
	case 2:		/* moves to another tenant */
		mrpc_order_leave(&p->o, &p->entity[e]);
		mrpc_order_join(&p->o, &p->entity[e], t ? tenant(p, t) : NULL);
		model_join(&p->m, e, t);
		break;
	case 3 ... 8:
		mrpc_order_del(&p->o, &p->entity[e]);
		p->m.entity[e].listed = false;
		break;
	case 9 ... 11:
		pair_again(p, rnd);
		break;
	case 12 ... 16:
		if (rnd_below(rnd, 2))
			p->m.entity[e].rank = rnd_below(rnd, 8);
		mrpc_order_rank(&p->o, &p->entity[e], t, some_left(rnd));
		model_rank(&p->m, e, t, p->entity[e].left);
		break;
	case 17 ... 35:
		pair_put(p, e, rnd);
		break;
	default:
		pair_turn(p, rnd);
	}
}

/*
 * Every event in random order. What is charged on top of a quantum, or a smaller
 * quantum, can put a tenant beyond the wheel's end: such a round ends.
 */
TEST(order_random)
{
	static struct pair p;
	u64 rnd = 1;
	u32 round, i, events = 0, stale = 0;

	for (round = 0; round < 400; round++) {
		struct mrpc_order_rule rule = some_rule(&rnd);

		pair_begin(&p, &rule, &rnd);
		for (i = 0; i < 400; i++) {
			pair_event(&p, &rnd);
			events++;
			if (!model_is_exact(&p.m))
				break;
			check_order(&p);
			stale += !!p.o.stale;
			if (i % 7 == 0)
				check_walk(&p, rnd_below(&rnd, 2) ? U32_MAX : rnd_below(&rnd, 10));
		}
	}
	NOTE("%u events, after %u of them something is stale", events, stale);
	CHECK(events > 40000);
	CHECK(stale > 1000);
}

/* All turns, one after the other; what is stale has none. Return: how many. */
static u32 give_turns(struct pair *p, u32 *order)
{
	static struct pair before;
	struct mrpc_order_entity *e;
	u32 nr = 0;

	before = *p;
	while ((e = mrpc_order_first(&p->o))) {
		mrpc_order_start(&p->o, e);
		mrpc_order_charge(&p->o, e, mrpc_order_turn(&p->o, e));
		order[nr++] = number(p, e);
	}
	*p = before;
	return nr;
}

/* What a walk says comes about, with and without it. */
static void check_foretold(struct pair *p, u32 most)
{
	u32 given[MODEL_ENTITIES], again[MODEL_ENTITIES], nr = give_turns(p, given), i = 0;
	struct mrpc_order_entity *e;

	for (e = mrpc_order_walk_begin(&p->o, most); e; e = mrpc_order_walk_next(e), i++) {
		CHECK(i < nr);
		CHECK_EQ(number(p, e), given[i]);
	}
	mrpc_order_walk_end(&p->o);
	CHECK_EQ(i, min(most, nr));
	CHECK_EQ(give_turns(p, again), nr);
	CHECK(!memcmp(given, again, nr * sizeof(*given)));
}

/* Tenants owe what they like, so some are beyond the wheel's end, where the model ends. */
TEST(order_walk_foretells)
{
	static struct pair p;
	u64 rnd = 7;
	u32 round, i, stale = 0;

	for (round = 0; round < 200; round++) {
		struct mrpc_order_rule rule = some_rule(&rnd);

		pair_begin(&p, &rule, &rnd);
		for (i = 0; i < 200; i++) {
			struct mrpc_order_entity *e = &p.entity[rnd_below(&rnd, MODEL_ENTITIES)];

			p.m.entity[e - p.entity].rank = rnd_below(&rnd, 8);
			mrpc_order_rank(&p.o, e, rnd_below(&rnd, 256), some_left(&rnd));
			mrpc_order_due(&p.o, e, some_deadline(&rnd));
			mrpc_order_put(&p.o, e, rnd_below(&rnd, 2));
			if (!rnd_below(&rnd, 3))
				mrpc_order_charge(&p.o, e, 1ULL << rnd_below(&rnd, 40));
			if (!rnd_below(&rnd, 4))
				mrpc_order_take(&p.o);
			if (!rnd_below(&rnd, 20)) {
				rule = some_rule(&rnd);
				mrpc_order_set(&p.o, &rule);
			}
			stale += !!p.o.stale;
			check_foretold(&p, rnd_below(&rnd, 2) ? U32_MAX : rnd_below(&rnd, 10));
		}
	}
	CHECK(stale > 1000);
}

TEST(order_levels_of_size)
{
	static const struct { u64 left; u8 level; } known[] = {
		{ 0, 0 }, { 1, 1 }, { 7, 7 }, { 8, 8 }, { 15, 15 }, { 16, 16 }, { 17, 16 },
		{ 18, 17 }, { 64, 32 }, { 1ULL << 33, 248 }, { (15ULL << 30) - 1, 254 },
		{ 15ULL << 30, 255 }, { ~0ULL, 255 },
	};
	struct mrpc_order_rule rule = { .within = MRPC_ORDER_SMALL, .quantum = 1 };
	struct mrpc_order_entity e;
	struct mrpc_order o;
	u64 left;
	u8 last;
	u32 i;

	CHECK_EQ(mrpc_order_init(&o, &rule), 0);
	mrpc_order_join(&o, &e, NULL);
	mrpc_order_put(&o, &e, false);
	for (i = 0; i < ARRAY_SIZE(known); i++) {
		mrpc_order_rank(&o, &e, 0, known[i].left);
		CHECK_EQ(e.slot, known[i].level);
	}
	/* Never descends, and no level is wider than an eighth of what begins it. */
	for (left = 0, last = 0, i = 0; left < 1ULL << 33; i++) {
		mrpc_order_rank(&o, &e, 0, left);
		CHECK(e.slot == last || e.slot == last + 1);
		last = e.slot;
		left += left / 64 + 1;
	}
	for (left = 64; left < 1ULL << 33; left += left / 8) {
		u8 level;

		mrpc_order_rank(&o, &e, 0, left);
		level = e.slot;
		mrpc_order_rank(&o, &e, 0, left + left / 8 + 1);
		CHECK(e.slot > level);
	}
}

TEST(order_refuses)
{
	struct mrpc_order_rule rule = { .within = MRPC_ORDER_FIFO, .quantum = 100 };
	static const struct mrpc_order_rule bad[] = {
		{ .within = MRPC_ORDER_NR_WITHIN, .quantum = 100 },
		{ .within = MRPC_ORDER_RANKED, .quantum = 100 },
		{ .within = MRPC_ORDER_STRICT, .quantum = 100, .ranker = &ranker },
		{ .within = MRPC_ORDER_DEADLINE, .quantum = 100, .ranker = &ranker },
		{ .within = MRPC_ORDER_FIFO, .quantum = 0 },
		{ .within = MRPC_ORDER_FIFO, .quantum = MRPC_ORDER_MAX_QUANTUM + 1 },
	};
	struct mrpc_order_tenant t;
	struct mrpc_order_entity e;
	struct mrpc_order o;
	u32 i;

	CHECK_EQ(mrpc_order_init(&o, &rule), 0);
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		struct mrpc_order other;

		CHECK_EQ(mrpc_order_init(&other, &bad[i]), -EINVAL);
		CHECK_EQ(mrpc_order_set(&o, &bad[i]), -EINVAL);
		CHECK_EQ(o.rule.quantum, 100);
	}
	rule.quantum = MRPC_ORDER_MAX_QUANTUM;
	CHECK_EQ(mrpc_order_set(&o, &rule), 0);
	CHECK_EQ(mrpc_order_tenant_init(&o, &t, 0), -EINVAL);
	CHECK_EQ(mrpc_order_tenant_init(&o, &t, MRPC_ORDER_MAX_WEIGHT + 1), -EINVAL);
	CHECK_EQ(mrpc_order_tenant_init(&o, &t, MRPC_ORDER_MAX_WEIGHT), 0);
	CHECK_EQ(mrpc_order_tenant_weight(&o, &t, 0), -EINVAL);
	CHECK_EQ(mrpc_order_tenant_weight(&o, &t, MRPC_ORDER_MAX_WEIGHT + 1), -EINVAL);
	CHECK_EQ(t.weight, MRPC_ORDER_MAX_WEIGHT);
	mrpc_order_join(&o, &e, &t);
	CHECK_EQ(mrpc_order_tenant_fini(&t), -EBUSY);
	mrpc_order_put(&o, &e, false);
	mrpc_order_leave(&o, &e);
	CHECK_EQ(mrpc_order_tenant_fini(&t), 0);
	CHECK(!mrpc_order_peek(&o));
	CHECK(!mrpc_order_take(&o));
	CHECK(!mrpc_order_walk_begin(&o, U32_MAX));
	mrpc_order_walk_end(&o);
	CHECK_EQ(o.listed, 0);
}
