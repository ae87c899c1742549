// SPDX-License-Identifier: GPL-2.0
/*
 * Lists by level (levels.h), or a heap, and a wheel of tenants. order.h has the contract.
 */
#include "lib/ds/order.h"

/* Virtual time is cost << SCALE / weight. */
#define SCALE		12
/* At weight 1, a turn of one quantum spans at most 1 << this slots, which is half the wheel. */
#define QUANTUM_SLOTS_SHIFT	7

static struct mrpc_order_entity *entity_of(struct mrpc_order_link *l)
{
	return container_of(l, struct mrpc_order_entity, link);
}

static struct mrpc_order_entity *entity_of_node(struct mrpc_lheap_node *n)
{
	return container_of(n, struct mrpc_order_entity, node);
}

static struct mrpc_order_tenant *tenant_of(struct mrpc_order_link *l)
{
	return container_of(l, struct mrpc_order_bin, link)->tenant;
}

/* The bin of @t that the present discipline orders. */
static struct mrpc_order_bin *bin_now(const struct mrpc_order *o, struct mrpc_order_tenant *t)
{
	return &t->bin[o->now_in];
}

/* -- the wheel of tenants ------------------------------------------------------ */

/* @a - @b, of two virtual times */
static s64 vtime_diff(u64 a, u64 b)
{
	return (s64)(a - b);
}

/*
 * A tenant has no credit for the past, and its debt is bounded. If a tenant was idle until the
 * times wrapped, it can appear to have debt. That debt is bounded, too.
 */
static void wheel_clamp(const struct mrpc_order *o, struct mrpc_order_tenant *t)
{
	u64 limit = o->now + ((u64)MRPC_ORDER_DEBT << (o->shift + QUANTUM_SLOTS_SHIFT));

	if (vtime_diff(t->vtime, o->now) < 0) {
		t->vtime = o->now;
		t->rem = 0;
	} else if (vtime_diff(t->vtime, limit) > 0) {
		t->vtime = limit;
		t->rem = 0;
	}
}

/*
 * A tenant with a time beyond the wheel's end stands in the last slot. wheel_first() moves it
 * on when the turn of that slot comes.
 */
static void wheel_add(struct mrpc_order *o, struct mrpc_order_tenant *t)
{
	struct mrpc_order_bin *b = bin_now(o, t);
	u64 ahead;

	wheel_clamp(o, t);
	ahead = (t->vtime - o->now) >> o->shift;
	b->slot = (o->now >> o->shift) + min_t(u64, ahead, MRPC_ORDER_LEVELS - 1);
	mrpc_levels_add(&o->wheel[o->now_in], &b->link, b->slot, false);
}

static void wheel_del(struct mrpc_order *o, struct mrpc_order_bin *b, u8 in)
{
	mrpc_levels_del(&o->wheel[in], &b->link, b->slot);
}

/*
 * Finds the tenant that has the next turn, or NULL. A tenant that the loop moves on was charged
 * at least half a wheel more than a turn of one quantum. So earlier turns pay for the loop, and
 * the limit of debt bounds it.
 */
static struct mrpc_order_tenant *wheel_first(struct mrpc_order *o)
{
	for (;;) {
		u8 base = o->now >> o->shift;
		int slot = mrpc_levels_find(&o->wheel[o->now_in], base);
		struct mrpc_order_tenant *t;
		u64 start;

		if (slot < 0)
			return NULL;
		t = tenant_of(o->wheel[o->now_in].first[slot]);
		start = o->now + ((u64)(u8)(slot - base) << o->shift);
		if (likely((t->vtime - start) >> o->shift == 0))
			return t;
		o->now = start;
		wheel_del(o, bin_now(o, t), o->now_in);
		wheel_add(o, t);
	}
}

/* The time of @t has changed: moves @t to its new place. */
static void wheel_move(struct mrpc_order *o, struct mrpc_order_tenant *t)
{
	if (bin_now(o, t)->listed) {
		wheel_del(o, bin_now(o, t), o->now_in);
		wheel_add(o, t);
	} else {
		wheel_clamp(o, t);
	}
}

/* -- tenants ------------------------------------------------------------------- */

static bool weight_ok(u32 weight)
{
	return weight >= 1 && weight <= MRPC_ORDER_MAX_WEIGHT;
}

int mrpc_order_tenant_init(struct mrpc_order *o, struct mrpc_order_tenant *t, u32 weight)
{
	if (!weight_ok(weight))
		return -EINVAL;
	memset(t, 0, sizeof(*t));
	t->weight = weight;
	t->vtime = o->now;
	t->bin[0].tenant = t;
	t->bin[1].tenant = t;
	return 0;
}

int mrpc_order_tenant_weight(struct mrpc_order *o, struct mrpc_order_tenant *t, u32 weight)
{
	s64 debt = vtime_diff(t->vtime, o->now);
	u32 rem;

	if (!weight_ok(weight))
		return -EINVAL;
	if (debt > 0)
		t->vtime = o->now + div_u64_rem((u64)debt * t->weight, weight, &rem);
	t->rem = 0;
	t->weight = weight;
	wheel_move(o, t);
	return 0;
}

int mrpc_order_tenant_fini(const struct mrpc_order_tenant *t)
{
	return t->members ? -EBUSY : 0;
}

static void tenant_charge(struct mrpc_order *o, struct mrpc_order_tenant *t, s64 cost)
{
	u64 amount = (u64)min_t(u64, cost < 0 ? -(u64)cost : (u64)cost, U32_MAX) << SCALE;
	u32 rem;

	if (cost >= 0) {
		t->vtime += div_u64_rem(amount + t->rem, t->weight, &rem);
		t->rem = rem;
	} else {
		t->vtime -= div_u64_rem(amount, t->weight, &rem);
		if (t->rem < rem) {
			t->vtime--;
			t->rem += t->weight;
		}
		t->rem -= rem;
	}
	wheel_move(o, t);
}

/* -- entities ------------------------------------------------------------------ */

static u8 entity_level(const struct mrpc_order *o, const struct mrpc_order_entity *e)
{
	switch (o->rule.within) {
	case MRPC_ORDER_STRICT:
		return MRPC_ORDER_LEVELS - 1 - e->priority;
	case MRPC_ORDER_SMALL:
		return mrpc_levels_size(e->left);
	default:
		return 0;
	}
}

/* Are entities in heaps, not in levels? */
static bool order_ranked(const struct mrpc_order *o)
{
	return o->rule.within >= MRPC_ORDER_DEADLINE;
}

/* Adds @e at its place in @e->on, in the bin of the present discipline. */
static void entity_add(struct mrpc_order *o, struct mrpc_order_entity *e, bool head)
{
	struct mrpc_order_bin *b = bin_now(o, e->on);

	if (order_ranked(o))
		mrpc_lheap_add(&b->ranked, &e->node, e->node.key, head ? --o->front : ++o->back);
	else
		mrpc_levels_add(&b->levels, &e->link, e->slot, head);
}

static bool entity_stale(const struct mrpc_order *o, const struct mrpc_order_entity *e)
{
	return e->in != o->now_in;
}

static void entity_del(struct mrpc_order *o, struct mrpc_order_entity *e)
{
	struct mrpc_order_bin *b = &e->on->bin[e->in];

	if (entity_stale(o, e) ? o->stale_ranked : order_ranked(o))
		mrpc_lheap_del(&b->ranked, &e->node);
	else
		mrpc_levels_del(&b->levels, &e->link, e->slot);
}

/* Computes what @e is ordered by now: a rank or a level. Return: it has changed. */
static bool entity_rank(const struct mrpc_order *o, struct mrpc_order_entity *e, u64 *rank)
{
	if (order_ranked(o)) {
		*rank = o->rule.ranker ? o->rule.ranker->rank(e) : e->deadline;
		return *rank != e->node.key;
	}
	*rank = entity_level(o, e);
	return *rank != e->slot;
}

static void entity_set_rank(const struct mrpc_order *o, struct mrpc_order_entity *e, u64 rank)
{
	if (order_ranked(o))
		e->node.key = rank;
	else
		e->slot = rank;
}

void mrpc_order_join(struct mrpc_order *o, struct mrpc_order_entity *e,
		     struct mrpc_order_tenant *t)
{
	memset(e, 0, sizeof(*e));
	e->deadline = U64_MAX;
	e->home = t ? t : &o->common;
	e->home->members++;
}

void mrpc_order_leave(struct mrpc_order *o, struct mrpc_order_entity *e)
{
	mrpc_order_del(o, e);
	e->home->members--;
	e->home = NULL;
}

void mrpc_order_put(struct mrpc_order *o, struct mrpc_order_entity *e, bool head)
{
	struct mrpc_order_tenant *t = o->rule.fair ? e->home : &o->common;
	u64 rank;

	if (e->listed)
		return;
	e->listed = true;
	e->on = t;
	e->in = o->now_in;
	entity_rank(o, e, &rank);
	entity_set_rank(o, e, rank);
	entity_add(o, e, head);
	o->listed++;
	if (!bin_now(o, t)->listed++)
		wheel_add(o, t);
}

void mrpc_order_del(struct mrpc_order *o, struct mrpc_order_entity *e)
{
	struct mrpc_order_bin *b;

	if (!e->listed)
		return;
	b = &e->on->bin[e->in];
	e->listed = false;
	entity_del(o, e);
	o->listed--;
	o->stale -= entity_stale(o, e);
	if (!--b->listed)
		wheel_del(o, b, e->in);
}

/* The rank of @e may have changed. Return: it has, and @e is now behind its new equals. */
static bool entity_move(struct mrpc_order *o, struct mrpc_order_entity *e)
{
	u64 rank;

	if (!entity_rank(o, e, &rank))
		return false;
	entity_del(o, e);
	entity_set_rank(o, e, rank);
	entity_add(o, e, false);
	return true;
}

void mrpc_order_rank(struct mrpc_order *o, struct mrpc_order_entity *e, u8 priority, u64 left)
{
	e->priority = priority;
	e->left = left;
	if (e->listed && !entity_stale(o, e))
		entity_move(o, e);
}

void mrpc_order_due(struct mrpc_order *o, struct mrpc_order_entity *e, u64 deadline)
{
	e->deadline = deadline;
	mrpc_order_rank(o, e, e->priority, e->left);
}

bool mrpc_order_again(struct mrpc_order *o, struct mrpc_order_entity *e)
{
	const struct mrpc_order_ranker *ranker = o->rule.ranker;

	return ranker && ranker->again && ranker->again(e) && entity_move(o, e);
}

static struct mrpc_order_entity *bin_first(const struct mrpc_order_bin *b, bool ranked)
{
	if (ranked)
		return entity_of_node(mrpc_lheap_first(&b->ranked));
	return entity_of(b->levels.first[mrpc_levels_find(&b->levels, 0)]);
}

/*
 * Moves one stale entity into the new order: the first one of the tenant that has the turn. If
 * the tenant has more, it moves on by one slot, behind the tenants of that slot. So the tenants
 * take turns. The distance between two tenants does not grow: it stays less than the wheel.
 */
static void stale_move(struct mrpc_order *o)
{
	struct mrpc_order_levels *wheel = &o->wheel[!o->now_in];
	int slot = mrpc_levels_find(wheel, o->stale_slot);
	struct mrpc_order_bin *b = container_of(wheel->first[slot], struct mrpc_order_bin, link);
	struct mrpc_order_entity *e = bin_first(b, o->stale_ranked);

	o->stale_slot = slot;
	mrpc_order_del(o, e);
	if (b->listed) {
		wheel_del(o, b, !o->now_in);
		b->slot = slot + 1;
		mrpc_levels_add(wheel, &b->link, b->slot, false);
	}
	mrpc_order_put(o, e, false);
}

bool mrpc_order_settle(struct mrpc_order *o)
{
	u32 i;

	for (i = 0; i < MRPC_ORDER_BATCH && o->stale; i++)
		stale_move(o);
	o->touched += i;
	return o->stale;
}

struct mrpc_order_entity *mrpc_order_first(struct mrpc_order *o)
{
	struct mrpc_order_tenant *t = wheel_first(o);

	return t ? bin_first(bin_now(o, t), order_ranked(o)) : NULL;
}

struct mrpc_order_entity *mrpc_order_peek(struct mrpc_order *o)
{
	if (unlikely(o->stale))
		mrpc_order_settle(o);
	return mrpc_order_first(o);
}

void mrpc_order_start(struct mrpc_order *o, struct mrpc_order_entity *e)
{
	o->now = e->on->vtime >> o->shift << o->shift;
	mrpc_order_del(o, e);
}

struct mrpc_order_entity *mrpc_order_take(struct mrpc_order *o)
{
	struct mrpc_order_entity *e = mrpc_order_peek(o);

	if (e)
		mrpc_order_start(o, e);
	return e;
}

/* Charges @cost without a call to the ranker. */
static void order_charge(struct mrpc_order *o, struct mrpc_order_entity *e, s64 cost)
{
	if (o->rule.fair)
		tenant_charge(o, e->home, cost);
}

void mrpc_order_charge(struct mrpc_order *o, struct mrpc_order_entity *e, s64 cost)
{
	order_charge(o, e, cost);
	if (o->rule.ranker && o->rule.ranker->charge)
		o->rule.ranker->charge(e, cost);
}

/* -- walks --------------------------------------------------------------------- */

/* Saves the tenants of the wheel, in its order. */
static void walk_save(struct mrpc_order *o)
{
	struct mrpc_order_tenant **next = &o->saved;
	u8 base = o->now >> o->shift;
	u32 i;

	o->saved_now = o->now;
	for (i = 0; i < MRPC_ORDER_LEVELS; i++) {
		struct mrpc_order_link *first = o->wheel[o->now_in].first[(u8)(base + i)];
		struct mrpc_order_link *l = first;

		if (!first)
			continue;
		do {
			struct mrpc_order_tenant *t = tenant_of(l);

			t->saved_vtime = t->vtime;
			t->saved_rem = t->rem;
			t->saved_slot = bin_now(o, t)->slot;
			*next = t;
			next = &t->saved_next;
			l = l->next;
		} while (l != first);
	}
	*next = NULL;
}

static void walk_restore_times(struct mrpc_order *o)
{
	struct mrpc_order_tenant *t;

	o->now = o->saved_now;
	for (t = o->saved; t; t = t->saved_next) {
		t->vtime = t->saved_vtime;
		t->rem = t->saved_rem;
	}
}

/*
 * Gives each entity its turn and chains the entities by their links. So the result is exactly
 * the order of real turns. The walk does not settle: that could add a tenant to the wheel which
 * is not among the saved ones.
 */
struct mrpc_order_entity *mrpc_order_walk_begin(struct mrpc_order *o, u32 most)
{
	struct mrpc_order_entity *e, *first = NULL;

	walk_save(o);
	o->walk_last = NULL;
	while (most-- && (e = mrpc_order_first(o))) {
		mrpc_order_start(o, e);
		order_charge(o, e, mrpc_order_turn(o, e));
		e->link.next = NULL;
		e->link.prev = NULL;
		if (o->walk_last) {
			e->link.prev = &o->walk_last->link;
			o->walk_last->link.next = &e->link;
		} else {
			first = e;
		}
		o->walk_last = e;
		o->touched++;
	}
	return first;
}

struct mrpc_order_entity *mrpc_order_walk_next(const struct mrpc_order_entity *e)
{
	return e->link.next ? entity_of(e->link.next) : NULL;
}

/* Puts back an entity that the walk has taken out. */
static void walk_put_back(struct mrpc_order *o, struct mrpc_order_entity *e)
{
	struct mrpc_order_bin *b = bin_now(o, e->on);

	if (order_ranked(o))
		mrpc_lheap_add(&b->ranked, &e->node, e->node.key, e->node.tie);
	else
		mrpc_levels_add(&b->levels, &e->link, e->slot, true);
	e->listed = true;
	b->listed++;
	o->listed++;
}

/*
 * Works backwards: each entity goes to the head of the list that the walk took it from.
 * In a heap, the key and tie of the entity are unchanged.
 */
void mrpc_order_walk_end(struct mrpc_order *o)
{
	struct mrpc_order_entity *e = o->walk_last;
	struct mrpc_order_tenant *t;

	for (t = o->saved; t; t = t->saved_next)
		if (bin_now(o, t)->listed)
			wheel_del(o, bin_now(o, t), o->now_in);
	while (e) {
		struct mrpc_order_link *prev = e->link.prev;

		walk_put_back(o, e);
		e = prev ? entity_of(prev) : NULL;
	}
	walk_restore_times(o);
	for (t = o->saved; t; t = t->saved_next) {
		bin_now(o, t)->slot = t->saved_slot;
		mrpc_levels_add(&o->wheel[o->now_in], &bin_now(o, t)->link, t->saved_slot, false);
	}
}

/* -- the whole ----------------------------------------------------------------- */

static bool rule_ok(const struct mrpc_order_rule *rule)
{
	return rule->within < MRPC_ORDER_NR_WITHIN && rule->quantum >= 1 &&
	       rule->quantum <= MRPC_ORDER_MAX_QUANTUM &&
	       (rule->within == MRPC_ORDER_RANKED) == !!rule->ranker;
}

static void order_apply(struct mrpc_order *o, const struct mrpc_order_rule *rule)
{
	o->rule = *rule;
	/* The quantum is more than 64 grains and at most 128. */
	o->shift = fls64(((u64)rule->quantum << SCALE) - 1) - QUANTUM_SLOTS_SHIFT;
	o->now = o->now >> o->shift << o->shift;
}

int mrpc_order_init(struct mrpc_order *o, const struct mrpc_order_rule *rule)
{
	if (!rule_ok(rule))
		return -EINVAL;
	memset(o, 0, sizeof(*o));
	order_apply(o, rule);
	return mrpc_order_tenant_init(o, &o->common, MRPC_ORDER_WEIGHT);
}

/* Are the two rules equal, and is nothing to be reordered? With a ranker it always is. */
static bool rule_same(const struct mrpc_order_rule *a, const struct mrpc_order_rule *b)
{
	return a->within == b->within && a->fair == b->fair && a->quantum == b->quantum &&
	       !a->ranker && !b->ranker;
}

int mrpc_order_set(struct mrpc_order *o, const struct mrpc_order_rule *rule)
{
	if (!rule_ok(rule))
		return -EINVAL;
	if (o->stale)
		return -EBUSY;
	if (rule_same(&o->rule, rule))
		return 0;
	o->stale = o->listed;
	o->stale_ranked = order_ranked(o);
	o->stale_slot = o->now >> o->shift;
	o->now_in = !o->now_in;
	order_apply(o, rule);
	return 0;
}
