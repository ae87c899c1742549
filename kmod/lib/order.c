// SPDX-License-Identifier: GPL-2.0
/*
 * Lists by level, and a wheel of tenants: see order.h for the contract.
 */
#include "order.h"

/* Virtual time is cost << SCALE / weight. */
#define SCALE		12
/* At weight 1 a turn of one quantum spans at most 1 << this slots, half the wheel. */
#define QUANTUM_SLOTS_SHIFT	7

static struct mrpc_order_entity *entity_of(struct mrpc_order_link *l)
{
	return container_of(l, struct mrpc_order_entity, link);
}

static struct mrpc_order_tenant *tenant_of(struct mrpc_order_link *l)
{
	return container_of(l, struct mrpc_order_tenant, link);
}

/* -- lists by level ------------------------------------------------------------ */

static void levels_add(struct mrpc_order_levels *ls, struct mrpc_order_link *l, u8 slot,
		       bool head)
{
	struct mrpc_order_link *first = ls->first[slot];

	if (!first) {
		l->next = l;
		l->prev = l;
		ls->first[slot] = l;
		ls->map[slot / 64] |= 1ULL << slot % 64;
		return;
	}
	l->next = first;
	l->prev = first->prev;
	first->prev->next = l;
	first->prev = l;
	if (head)
		ls->first[slot] = l;
}

static void levels_del(struct mrpc_order_levels *ls, struct mrpc_order_link *l, u8 slot)
{
	if (l->next == l) {
		ls->first[slot] = NULL;
		ls->map[slot / 64] &= ~(1ULL << slot % 64);
		return;
	}
	l->next->prev = l->prev;
	l->prev->next = l->next;
	if (ls->first[slot] == l)
		ls->first[slot] = l->next;
}

/* Return: the first slot at or after @from, around the end, with members; -1: none */
static int levels_find(const struct mrpc_order_levels *ls, u8 from)
{
	u64 bits = ls->map[from / 64] & ~0ULL << from % 64;
	u32 word = from / 64;
	u32 i;

	for (i = 0; i <= ARRAY_SIZE(ls->map); i++) {
		if (bits)
			return word * 64 + __ffs64(bits);
		word = (word + 1) % ARRAY_SIZE(ls->map);
		bits = ls->map[word];
	}
	return -1;
}

/* -- the wheel of tenants ------------------------------------------------------ */

/* @a - @b, of two virtual times */
static s64 vtime_diff(u64 a, u64 b)
{
	return (s64)(a - b);
}

/*
 * Neither credit for the past nor boundless debt. A tenant that was idle until
 * times have wrapped may seem to have debt: that is bounded, too.
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
 * A time beyond the wheel's end stands in its last slot, and moves on when that
 * slot's turn comes.
 */
static void wheel_add(struct mrpc_order *o, struct mrpc_order_tenant *t)
{
	u64 ahead;

	wheel_clamp(o, t);
	ahead = (t->vtime - o->now) >> o->shift;
	t->slot = (o->now >> o->shift) + min_t(u64, ahead, MRPC_ORDER_LEVELS - 1);
	levels_add(&o->wheel, &t->link, t->slot, false);
}

static void wheel_del(struct mrpc_order *o, struct mrpc_order_tenant *t)
{
	levels_del(&o->wheel, &t->link, t->slot);
}

/*
 * The tenant whose turn it is, or NULL. A tenant that is moved on here was
 * charged half a wheel and more beyond a turn of one quantum: the loop is paid
 * for by what turns cost, and the limit of debt bounds it.
 */
static struct mrpc_order_tenant *wheel_first(struct mrpc_order *o)
{
	for (;;) {
		u8 base = o->now >> o->shift;
		int slot = levels_find(&o->wheel, base);
		struct mrpc_order_tenant *t;
		u64 start;

		if (slot < 0)
			return NULL;
		t = tenant_of(o->wheel.first[slot]);
		start = o->now + ((u64)(u8)(slot - base) << o->shift);
		if (likely((t->vtime - start) >> o->shift == 0))
			return t;
		o->now = start;
		wheel_del(o, t);
		wheel_add(o, t);
	}
}

/* @t's time has changed: finds its place anew. */
static void wheel_move(struct mrpc_order *o, struct mrpc_order_tenant *t)
{
	if (t->listed) {
		wheel_del(o, t);
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

/*
 * Eight levels for each power of two, exact below 16. The last is for 15 << 30
 * and more.
 */
static u8 level_of_size(u64 left)
{
	int exponent = fls64(left) - 1;

	if (left < 8)
		return left;
	if (exponent > 33)
		return MRPC_ORDER_LEVELS - 1;
	return (exponent - 2) * 8 + (left >> (exponent - 3)) % 8;
}

static u8 entity_level(const struct mrpc_order *o, const struct mrpc_order_entity *e)
{
	switch (o->rule.within) {
	case MRPC_ORDER_STRICT:
		return MRPC_ORDER_LEVELS - 1 - e->priority;
	case MRPC_ORDER_SMALL:
		return level_of_size(e->left);
	default:
		return 0;
	}
}

void mrpc_order_join(struct mrpc_order *o, struct mrpc_order_entity *e,
		     struct mrpc_order_tenant *t)
{
	memset(e, 0, sizeof(*e));
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

	if (e->listed)
		return;
	e->listed = true;
	e->on = t;
	e->slot = entity_level(o, e);
	levels_add(&t->levels, &e->link, e->slot, head);
	o->listed++;
	if (!t->listed++)
		wheel_add(o, t);
}

void mrpc_order_del(struct mrpc_order *o, struct mrpc_order_entity *e)
{
	struct mrpc_order_tenant *t = e->on;

	if (!e->listed)
		return;
	e->listed = false;
	levels_del(&t->levels, &e->link, e->slot);
	o->listed--;
	if (!--t->listed)
		wheel_del(o, t);
}

void mrpc_order_rank(struct mrpc_order *o, struct mrpc_order_entity *e, u8 priority, u64 left)
{
	u8 level;

	e->priority = priority;
	e->left = left;
	level = entity_level(o, e);
	if (!e->listed || level == e->slot)
		return;
	levels_del(&e->on->levels, &e->link, e->slot);
	e->slot = level;
	levels_add(&e->on->levels, &e->link, level, false);
}

static struct mrpc_order_entity *tenant_first(const struct mrpc_order_tenant *t)
{
	return entity_of(t->levels.first[levels_find(&t->levels, 0)]);
}

struct mrpc_order_entity *mrpc_order_peek(struct mrpc_order *o)
{
	struct mrpc_order_tenant *t = wheel_first(o);

	return t ? tenant_first(t) : NULL;
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

void mrpc_order_charge(struct mrpc_order *o, const struct mrpc_order_entity *e, s64 cost)
{
	if (o->rule.fair)
		tenant_charge(o, e->home, cost);
}

/* -- walks --------------------------------------------------------------------- */

/* Notes the tenants in the wheel, in its order. */
static void walk_save(struct mrpc_order *o)
{
	struct mrpc_order_tenant **next = &o->saved;
	u8 base = o->now >> o->shift;
	u32 i;

	o->saved_now = o->now;
	for (i = 0; i < MRPC_ORDER_LEVELS; i++) {
		struct mrpc_order_link *first = o->wheel.first[(u8)(base + i)];
		struct mrpc_order_link *l = first;

		if (!first)
			continue;
		do {
			struct mrpc_order_tenant *t = tenant_of(l);

			t->saved_vtime = t->vtime;
			t->saved_rem = t->rem;
			t->saved_slot = t->slot;
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
 * Gives each its turn and chains them by their links: what comes of it is by
 * construction what would happen.
 */
struct mrpc_order_entity *mrpc_order_walk_begin(struct mrpc_order *o)
{
	struct mrpc_order_entity *e, *first = NULL;

	walk_save(o);
	o->walk_last = NULL;
	while ((e = mrpc_order_take(o))) {
		mrpc_order_charge(o, e, mrpc_order_turn(o, e));
		e->link.next = NULL;
		e->link.prev = NULL;
		if (o->walk_last) {
			e->link.prev = &o->walk_last->link;
			o->walk_last->link.next = &e->link;
		} else {
			first = e;
		}
		o->walk_last = e;
	}
	return first;
}

struct mrpc_order_entity *mrpc_order_walk_next(const struct mrpc_order_entity *e)
{
	return e->link.next ? entity_of(e->link.next) : NULL;
}

/* Backwards, each goes to the head of the list from whose head it was taken. */
void mrpc_order_walk_end(struct mrpc_order *o)
{
	struct mrpc_order_entity *e = o->walk_last;
	struct mrpc_order_tenant *t;

	while (e) {
		struct mrpc_order_link *prev = e->link.prev;

		levels_add(&e->on->levels, &e->link, e->slot, true);
		e->listed = true;
		e->on->listed++;
		o->listed++;
		e = prev ? entity_of(prev) : NULL;
	}
	walk_restore_times(o);
	for (t = o->saved; t; t = t->saved_next) {
		t->slot = t->saved_slot;
		levels_add(&o->wheel, &t->link, t->slot, false);
	}
}

/* -- the whole ----------------------------------------------------------------- */

static bool rule_ok(const struct mrpc_order_rule *rule)
{
	return rule->within < MRPC_ORDER_NR_WITHIN && rule->quantum >= 1 &&
	       rule->quantum <= MRPC_ORDER_MAX_QUANTUM;
}

static void order_apply(struct mrpc_order *o, const struct mrpc_order_rule *rule)
{
	o->rule = *rule;
	/* The quantum is not more than 128 grains and more than 64. */
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

int mrpc_order_set(struct mrpc_order *o, const struct mrpc_order_rule *rule)
{
	struct mrpc_order_entity *e, *next;

	if (!rule_ok(rule))
		return -EINVAL;
	e = mrpc_order_walk_begin(o);
	walk_restore_times(o);
	order_apply(o, rule);
	for (; e; e = next) {
		next = mrpc_order_walk_next(e);
		mrpc_order_put(o, e, false);
	}
	return 0;
}
