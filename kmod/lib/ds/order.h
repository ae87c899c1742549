/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Who is next: the ordering structure of the egress scheduler (entities are
 * transmit queues, cost is bytes) and of the shared runtime's run queue
 * (entities are directions of datapaths, cost is nanoseconds).
 *
 * An entity is listed if and only if its owner put it here, which the owner
 * does when the entity has work and may do it: nothing is ever chosen and then
 * found unable. Choosing costs the same whatever the number of entities and of
 * tenants, while the discipline changes as well.
 *
 * Inside a tenant there are 256 levels, the lowest first, each a list: a bitmap
 * says which are not empty. A discipline that tells more than 256 levels apart (deadlines, and
 * what a struct mrpc_order_ranker says) has a heap there instead, where a choice costs as
 * the logarithm of what is listed in the tenant. Between tenants the same structure is a wheel of
 * virtual time. A tenant's virtual time is what it was charged, divided by its
 * weight; its slot in the wheel is that time in units of the wheel's grain, and
 * the earliest slot is served first (start-time fair queueing, with times as
 * coarse as the grain). The present is the slot of the latest turn. A tenant
 * that comes back from idleness with an earlier time takes up the present:
 * idleness earns nothing. What it was charged in advance of the present stays
 * charged: leaving escapes nothing.
 *
 * Disciplines are settings of that (struct mrpc_order_rule): how the level
 * follows from priority and size, and whether tenants are told apart. If not,
 * all entities are listed in one tenant, @common.
 *
 * Fairness. Let G be the grain in units of cost per weight, less than
 * quantum / 64; c(i) the greatest cost of a turn of tenant i, w(i) its weight,
 * S(i) what it was charged. Between two decisions, for tenants i and j that are
 * both listed at all decisions in between but those during their own turns,
 *
 *	| S(i)/w(i) - S(j)/w(j) | < 2 G + c(i)/w(i) + c(j)/w(j)
 *
 * and if both begin at the present, half of that: G + max(c(i)/w(i), c(j)/w(j)).
 * It does not grow with time: the division keeps its remainder. A tenant that is
 * charged only after m turns that run at once counts as having turns of m c(i).
 * Weights above 64 pay for the grain with w / 64 quanta of jitter. Debt is
 * remembered up to MRPC_ORDER_DEBT quanta times the weight; the bound holds for
 * turns that cost less.
 *
 * Another discipline, at any time, whatever is listed. What is listed then is stale: it stays in
 * the order that it had and is put into the new one by and by, no more than MRPC_ORDER_BATCH
 * entities in any one call: before each choice, and by who calls mrpc_order_settle(), giving up
 * his lock between two calls. Meanwhile what comes is ordered by the new discipline at once; a
 * choice is made by that one, among what it has; and what is stale comes as it stood with its
 * tenant, tenants in turn, and goes behind its new equals. So what the new discipline
 * would have first, and the old one late, waits for at most stale / MRPC_ORDER_BATCH choices, and
 * what comes meanwhile may overtake those that it equals. So each call is O(MRPC_ORDER_BATCH)
 * entities, but walks, whose caller says how many.
 *
 * Starvation. A listed tenant is never starved: one that comes without debt
 * waits for at most one turn of each other tenant. Inside a tenant STRICT
 * starves lower priorities, SMALL larger messages and DEADLINE those without a deadline,
 * because that is what they are asked for; FIFO starves nobody. Caps on priorities are the
 * caller's. What has a deadline waits under DEADLINE for those only that are earlier.
 *
 * Everything is embedded: nothing is allocated, nothing fails for lack of
 * memory. Not locked: the owner holds a lock, for the order and everything
 * attached to it.
 */
#ifndef MRPC_LIB_DS_ORDER_H
#define MRPC_LIB_DS_ORDER_H

#include "lib/ds/levels.h"
#include "lib/ds/lheap.h"

#define MRPC_ORDER_MAX_WEIGHT	10000
#define MRPC_ORDER_WEIGHT	100		/* of @common */
#define MRPC_ORDER_MAX_QUANTUM	(1U << 30)
#define MRPC_ORDER_DEBT		64		/* quanta, times the weight */
#define MRPC_ORDER_BATCH	32		/* entities that are ordered anew at once */

/**
 * enum mrpc_order_within - the order inside a tenant
 * @MRPC_ORDER_FIFO: as they came
 * @MRPC_ORDER_STRICT: the highest priority first
 * @MRPC_ORDER_SMALL: the least left first; amounts that differ by less than an
 *	eighth may count as equal
 * @MRPC_ORDER_DEADLINE: the earliest deadline first; then those without one, as they came
 * @MRPC_ORDER_RANKED: the lowest rank first, which the rule's ranker gives
 *
 * From @MRPC_ORDER_DEADLINE on what is listed is in heaps.
 */
enum mrpc_order_within {
	MRPC_ORDER_FIFO,
	MRPC_ORDER_STRICT,
	MRPC_ORDER_SMALL,
	MRPC_ORDER_DEADLINE,
	MRPC_ORDER_RANKED,
	MRPC_ORDER_NR_WITHIN,
};

struct mrpc_order_entity;

/**
 * struct mrpc_order_ranker - a discipline of somebody else's
 * @rank: what an entity is ordered by, the lowest first; of equals, who came first.
 *	Asked when it is listed, and when what it is ordered by has changed
 * @again: an entity would have its turn now: true, if it is to be ranked anew first; or
 *	NULL
 * @charge: a turn of an entity costs so much, as of mrpc_order_charge(); or NULL
 *
 * They do not call back into the order. Walks ask nobody.
 */
struct mrpc_order_ranker {
	u64 (*rank)(struct mrpc_order_entity *e);
	bool (*again)(struct mrpc_order_entity *e);
	void (*charge)(struct mrpc_order_entity *e, s64 cost);
};

/**
 * struct mrpc_order_rule - a discipline
 * @within: enum mrpc_order_within
 * @fair: tenants share by weight; else all are one
 * @quantum: what a turn usually costs at most, 1 to MRPC_ORDER_MAX_QUANTUM. Turns
 *	may cost more; the fairness is as fine as this
 * @ranker: of MRPC_ORDER_RANKED, else NULL
 */
struct mrpc_order_rule {
	u8 within;
	bool fair;
	u32 quantum;
	const struct mrpc_order_ranker *ranker;
};

/**
 * struct mrpc_order_bin - what is listed of one tenant, by one discipline
 * @link: in the wheel, if @listed is not 0
 * @tenant: whose
 * @listed: entities
 * @slot: in the wheel
 * @ranked: those of MRPC_ORDER_DEADLINE and MRPC_ORDER_RANKED: a heap
 * @levels: those of the others
 */
struct mrpc_order_bin {
	struct mrpc_order_link link;
	struct mrpc_order_tenant *tenant;
	u32 listed;
	u8 slot;
	struct mrpc_lheap ranked;
	struct mrpc_order_levels levels;
};

/**
 * struct mrpc_order_tenant - a party to which cost is charged
 * @vtime: virtual time, wraps
 * @rem: remainder of the last division by @weight
 * @weight: 1 to MRPC_ORDER_MAX_WEIGHT
 * @members: entities that joined
 * @saved_slot: during a walk, as are the other @saved
 * @saved_rem: @rem
 * @saved_vtime: @vtime
 * @saved_next: tenants in the order of the wheel
 * @bin: by mrpc_order.now_in: what is in order; the other: what is stale
 */
struct mrpc_order_tenant {
	u64 vtime;
	u32 rem;
	u32 weight;
	u32 members;
	u8 saved_slot;
	u32 saved_rem;
	u64 saved_vtime;
	struct mrpc_order_tenant *saved_next;
	struct mrpc_order_bin bin[2];
};

/**
 * struct mrpc_order_entity - what is ordered; embedded in the owner's object
 * @link: in a level of @on; or in a walk
 * @node: in @on's heap; its key is the rank
 * @home: the tenant it joined
 * @on: the tenant whose bin lists it: @home, or @common if tenants are one
 * @left: what its present piece of work still costs; U64_MAX: not known
 * @deadline: until when that is to be done; U64_MAX: it has none
 * @priority: 0 (least) to 255
 * @slot: its level in @on
 * @in: which bin of @on lists it
 * @listed: whether it is listed
 */
struct mrpc_order_entity {
	struct mrpc_order_link link;
	struct mrpc_lheap_node node;
	struct mrpc_order_tenant *home;
	struct mrpc_order_tenant *on;
	u64 left;
	u64 deadline;
	u8 priority;
	u8 slot;
	u8 in;
	bool listed;
};

/**
 * struct mrpc_order - an order
 * @now: the present: beginning of the slot of the latest turn, wraps
 * @shift: the wheel's grain is 1 << @shift
 * @rule: the present discipline
 * @listed: entities listed
 * @stale: those of them that the present discipline has not ordered yet
 * @touched: entities ordered anew, or walked over, all in all
 * @now_in: the bin, 0 or 1, of what is in order
 * @stale_slot: of the tenant whose turn it is to have one ordered anew
 * @stale_ranked: what is stale is in heaps
 * @front: tie in the heap of the latest that was listed in front of its equals
 * @back: likewise behind them
 * @saved_now: during a walk: @now
 * @saved: during a walk: the tenants that were in the wheel
 * @walk_last: during a walk: the last entity
 * @wheel: the tenants with listed entities, by bin; that of the stale ones is only gone around
 * @common: for entities without a tenant of their own, and for all if not @rule.fair
 */
struct mrpc_order {
	u64 now;
	u32 shift;
	struct mrpc_order_rule rule;
	u32 listed;
	u32 stale;
	u64 touched;
	u8 now_in;
	u8 stale_slot;
	bool stale_ranked;
	s64 front;
	s64 back;
	u64 saved_now;
	struct mrpc_order_tenant *saved;
	struct mrpc_order_entity *walk_last;
	struct mrpc_order_levels wheel[2];
	struct mrpc_order_tenant common;
};

/** mrpc_order_init() - Return: 0, or -EINVAL if the rule is out of range */
int mrpc_order_init(struct mrpc_order *o, const struct mrpc_order_rule *rule);

/**
 * mrpc_order_set() - another discipline
 * What is listed is stale, unless the rule is the same and has no ranker: then nothing changes.
 * Of the stale of one tenant those that the new discipline takes for equals keep the order they
 * had.
 * Return: 0; -EINVAL if the rule is out of range, or -EBUSY if something is stale still:
 * mrpc_order_settle() comes first. Then nothing has changed.
 */
int mrpc_order_set(struct mrpc_order *o, const struct mrpc_order_rule *rule);

/**
 * mrpc_order_settle() - orders some of what is stale by the present discipline
 * Return: something is stale still.
 */
bool mrpc_order_settle(struct mrpc_order *o);

/** mrpc_order_tenant_init() - Return: 0, or -EINVAL if the weight is out of range */
int mrpc_order_tenant_init(struct mrpc_order *o, struct mrpc_order_tenant *t, u32 weight);

/**
 * mrpc_order_tenant_weight() - another weight, at any time
 * A debt remains what it is in units of cost.
 * Return: 0, or -EINVAL if the weight is out of range.
 */
int mrpc_order_tenant_weight(struct mrpc_order *o, struct mrpc_order_tenant *t, u32 weight);

/**
 * mrpc_order_tenant_fini() - may @t's memory go?
 * Return: 0, or -EBUSY while entities have joined it.
 */
int mrpc_order_tenant_fini(const struct mrpc_order_tenant *t);

/**
 * mrpc_order_join() - a new entity, not listed, with priority 0, nothing left and no deadline
 * @t: its tenant, which outlives it; NULL: @o's common one
 */
void mrpc_order_join(struct mrpc_order *o, struct mrpc_order_entity *e,
		     struct mrpc_order_tenant *t);

/** mrpc_order_leave() - @e is gone, from its list as well */
void mrpc_order_leave(struct mrpc_order *o, struct mrpc_order_entity *e);

/**
 * mrpc_order_put() - lists @e, which has work and may do it
 * @head: in front of its equals (it resumes), else behind them
 *
 * Harmless if it is listed.
 */
void mrpc_order_put(struct mrpc_order *o, struct mrpc_order_entity *e, bool head);

/** mrpc_order_del() - @e cannot have a turn now; harmless if it is not listed */
void mrpc_order_del(struct mrpc_order *o, struct mrpc_order_entity *e);

/**
 * mrpc_order_rank() - sets what @e is ordered by
 * If it is listed and its level changes, it goes behind its new equals; while it is stale it
 * keeps its place.
 */
void mrpc_order_rank(struct mrpc_order *o, struct mrpc_order_entity *e, u8 priority, u64 left);

/** mrpc_order_due() - likewise: another deadline; U64_MAX: none */
void mrpc_order_due(struct mrpc_order *o, struct mrpc_order_entity *e, u64 deadline);

/**
 * mrpc_order_before() - would @a, which is listed, have its turn before @b?
 * @b: as it was when it was listed last; it need not be now
 *
 * Not where they are in heaps. Only inside a tenant is one before the other whatever the present.
 */
static inline bool mrpc_order_before(const struct mrpc_order_entity *a,
				     const struct mrpc_order_entity *b)
{
	return a->on == b->on && a->in == b->in && a->slot < b->slot;
}

/**
 * mrpc_order_peek() - who is next, or NULL; a change of the order may change it
 * Settles before it looks.
 */
struct mrpc_order_entity *mrpc_order_peek(struct mrpc_order *o);

/** mrpc_order_first() - mrpc_order_peek() for who has just settled: of what is in order */
struct mrpc_order_entity *mrpc_order_first(struct mrpc_order *o);

/**
 * mrpc_order_again() - is @e, which mrpc_order_peek() has just returned, to be ranked anew?
 * Return: it was; another may be next. A ranker may say so for ever: the caller counts.
 */
bool mrpc_order_again(struct mrpc_order *o, struct mrpc_order_entity *e);

/** mrpc_order_start() - @e, which mrpc_order_peek() has just returned, has its turn: delists it */
void mrpc_order_start(struct mrpc_order *o, struct mrpc_order_entity *e);

/** mrpc_order_take() - mrpc_order_peek() and mrpc_order_start(); NULL: nobody is listed */
struct mrpc_order_entity *mrpc_order_take(struct mrpc_order *o);

/**
 * mrpc_order_charge() - a turn of @e costs so much
 * @cost: at most U32_MAX counts; negative to give back what was charged
 *
 * Before, during or after the turn, listed or not, and in as many parts as one
 * likes. Who can have several turns at once charges what they will cost at the
 * beginning and settles the difference at the end. What is given back never
 * takes a tenant before the present.
 */
void mrpc_order_charge(struct mrpc_order *o, struct mrpc_order_entity *e, s64 cost);

/** mrpc_order_turn() - what @e's next turn is expected to cost */
static inline u32 mrpc_order_turn(const struct mrpc_order *o, const struct mrpc_order_entity *e)
{
	return min_t(u64, e->left, o->rule.quantum);
}

/**
 * mrpc_order_walk_begin() - the first @most that are in order, in the order of their next turns
 * Exactly the order in which mrpc_order_take() would return them if each were
 * then charged mrpc_order_turn() and not put back, and what is stale remained so: that is not
 * walked over. Who wants all settles before.
 *
 * Nothing else may be done with @o before mrpc_order_walk_end(), which must
 * follow and leaves @o exactly as it was.
 *
 * Return: the first, or NULL.
 */
struct mrpc_order_entity *mrpc_order_walk_begin(struct mrpc_order *o, u32 most);
struct mrpc_order_entity *mrpc_order_walk_next(const struct mrpc_order_entity *e);
void mrpc_order_walk_end(struct mrpc_order *o);

#endif /* MRPC_LIB_DS_ORDER_H */
