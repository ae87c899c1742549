/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The ordering structure: it decides which entity is next. The egress scheduler uses it (the
 * entities are transmit queues, cost is bytes). The run queue of the shared runtime uses it, too
 * (the entities are directions of datapaths, cost is nanoseconds).
 *
 * Invariant: an entity is listed if and only if its owner has listed it. The owner does so when
 * the entity has work and may do it. So a chosen entity can always run. The cost of a choice
 * does not depend on the number of entities and tenants, not even while the discipline changes.
 *
 * Inside a tenant there are 256 levels, the lowest first. Each level is a list, and a bitmap
 * says which lists are not empty. Some disciplines distinguish more than 256 levels: deadlines,
 * and ranks from a struct mrpc_order_ranker. These use a heap instead, where a choice costs the
 * logarithm of the number of entities that the tenant has listed.
 *
 * Between tenants the same structure is a wheel of virtual time. The virtual time of a tenant is
 * the sum of its charges, divided by its weight. Its slot in the wheel is that time in units of
 * the wheel's grain. The earliest slot is served first (start-time fair queueing, with times as
 * coarse as the grain). The present is the slot of the latest turn. If a tenant comes back from
 * idleness with an earlier time, its time becomes the present: idleness earns nothing. Charges
 * beyond the present stay: a tenant cannot escape them by leaving.
 *
 * A discipline is a setting (struct mrpc_order_rule). It says how the level follows from
 * priority and size, and whether tenants are distinguished. If they are not, all entities are
 * listed in one tenant, @common.
 *
 * Fairness. Let G be the grain in units of cost per weight, less than quantum / 64. Let c(i) be
 * the greatest cost of a turn of tenant i, w(i) its weight, S(i) the sum of its charges. Take
 * two decisions and two tenants i and j. Both are listed at all decisions in between, except
 * during their own turns. Then between the two decisions
 *
 *	| S(i)/w(i) - S(j)/w(j) | < 2 G + c(i)/w(i) + c(j)/w(j)
 *
 * If both begin at the present, it is half of that: G + max(c(i)/w(i), c(j)/w(j)). The bound does
 * not grow with time, because the division keeps its remainder. A tenant that is charged only
 * after m turns that run at once counts as having turns of m c(i). Weights above 64 pay for the
 * grain with w / 64 quanta of jitter. Debt is remembered up to MRPC_ORDER_DEBT quanta times the
 * weight. The bound holds for turns that cost less.
 *
 * The discipline may change at any time. The entities that are listed then become stale. They
 * keep their old order and move to the new one step by step, at most MRPC_ORDER_BATCH entities
 * in any one call. They move before each choice, and in mrpc_order_settle(). The caller of
 * mrpc_order_settle() can release its lock between two calls. Meanwhile:
 *
 *  - a new entity is ordered by the new discipline at once;
 *  - a choice considers only entities that the new discipline has ordered;
 *  - stale entities move in their old order, with tenants taking turns, each behind its new
 *    equals.
 *
 * So an entity that is first in the new order, but late in the old one, waits for at most
 * stale / MRPC_ORDER_BATCH choices. Entities that are listed meanwhile may overtake their
 * equals. Each call is O(MRPC_ORDER_BATCH) entities, except walks: their caller gives the limit.
 *
 * Starvation. A listed tenant never starves: without debt, it waits for at most one turn of each
 * other tenant. Inside a tenant, STRICT starves lower priorities, SMALL larger messages, and
 * DEADLINE entities without a deadline: these disciplines are meant to do so. FIFO starves no
 * entity. The caller is responsible for caps on priorities. Under DEADLINE, an entity with a
 * deadline waits only for earlier deadlines.
 *
 * All state is embedded. Nothing is allocated, so nothing fails for lack of memory. Not locked:
 * a lock of the owner protects the order and everything attached to it.
 */
#ifndef MRPC_LIB_DS_ORDER_H
#define MRPC_LIB_DS_ORDER_H

#include "lib/ds/levels.h"
#include "lib/ds/lheap.h"

#define MRPC_ORDER_MAX_WEIGHT	10000
#define MRPC_ORDER_WEIGHT	100		/* of @common */
#define MRPC_ORDER_MAX_QUANTUM	(1U << 30)
#define MRPC_ORDER_DEBT		64		/* quanta, times the weight */
#define MRPC_ORDER_BATCH	32		/* entities that one call reorders at most */

/**
 * enum mrpc_order_within - the order inside a tenant
 * @MRPC_ORDER_FIFO: in the order of arrival
 * @MRPC_ORDER_STRICT: the highest priority first
 * @MRPC_ORDER_SMALL: the least left first; amounts that differ by less than an eighth may
 *	count as equal
 * @MRPC_ORDER_DEADLINE: the earliest deadline first; then entities without one, in the order of
 *	arrival
 * @MRPC_ORDER_RANKED: the lowest rank first; the rule's ranker gives the ranks
 *
 * @MRPC_ORDER_DEADLINE and later disciplines keep entities in heaps.
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
 * struct mrpc_order_ranker - a discipline that the caller supplies
 * @rank: returns the rank of an entity. The lowest rank is first; equals keep the order of
 *	arrival. Called when the entity is listed, and when what it is ordered by has changed
 * @again: an entity is about to have its turn. Returns true if it must be ranked again first;
 *	may be NULL
 * @charge: a turn of an entity costs so much, see mrpc_order_charge(); may be NULL
 *
 * These functions do not call back into the order. Walks do not call them.
 */
struct mrpc_order_ranker {
	u64 (*rank)(struct mrpc_order_entity *e);
	bool (*again)(struct mrpc_order_entity *e);
	void (*charge)(struct mrpc_order_entity *e, s64 cost);
};

/**
 * struct mrpc_order_rule - a discipline
 * @within: enum mrpc_order_within
 * @fair: tenants share by weight; otherwise all entities are in one tenant
 * @quantum: usual cost of a turn at most, 1 to MRPC_ORDER_MAX_QUANTUM. A turn may cost more.
 *	Fairness is as fine as this
 * @ranker: of MRPC_ORDER_RANKED, else NULL
 */
struct mrpc_order_rule {
	u8 within;
	bool fair;
	u32 quantum;
	const struct mrpc_order_ranker *ranker;
};

/**
 * struct mrpc_order_bin - the listed entities of one tenant, by one discipline
 * @link: in the wheel, if @listed is not 0
 * @tenant: the tenant that the bin belongs to
 * @listed: number of entities
 * @slot: in the wheel
 * @ranked: heap for MRPC_ORDER_DEADLINE and MRPC_ORDER_RANKED
 * @levels: lists for the other disciplines
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
 * @members: number of entities that joined
 * @saved_slot: valid during a walk, as are the other @saved fields
 * @saved_rem: @rem
 * @saved_vtime: @vtime
 * @saved_next: next tenant in the order of the wheel
 * @bin: index mrpc_order.now_in: entities in the present order; the other index: stale ones
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
 * struct mrpc_order_entity - an entity of the order; embedded in the owner's object
 * @link: in a level of @on; or in a walk
 * @node: in @on's heap; its key is the rank
 * @home: the tenant it joined
 * @on: the tenant whose bin lists it: @home, or @common if tenants are not distinguished
 * @left: remaining cost of its present piece of work; U64_MAX: not known
 * @deadline: time until which that work is to be done; U64_MAX: no deadline
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
 * @now: the present: start of the slot of the latest turn; wraps
 * @shift: the wheel's grain is 1 << @shift
 * @rule: the present discipline
 * @listed: entities listed
 * @stale: listed entities that the present discipline has not ordered yet
 * @touched: total number of entities that were reordered or walked over
 * @now_in: index (0 or 1) of the bin that the present discipline orders
 * @stale_slot: slot of the tenant that moves its next stale entity
 * @stale_ranked: stale entities are in heaps
 * @front: tie in the heap of the latest entity that was listed in front of its equals
 * @back: tie in the heap of the latest entity that was listed behind its equals
 * @saved_now: during a walk: @now
 * @saved: during a walk: the tenants that were in the wheel
 * @walk_last: during a walk: the last entity
 * @wheel: tenants with listed entities, by bin index; tenants of the stale one take plain turns
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
 * mrpc_order_set() - change the discipline
 *
 * The listed entities become stale. If the rule is the same and has no ranker, nothing changes.
 * Stale entities of one tenant keep their order if the new discipline treats them as equal.
 *
 * Return: 0; -EINVAL if the rule is out of range; -EBUSY if there are still stale entities. The
 * caller then calls mrpc_order_settle() first. On failure nothing has changed.
 */
int mrpc_order_set(struct mrpc_order *o, const struct mrpc_order_rule *rule);

/**
 * mrpc_order_settle() - move some stale entities into the present order
 * Return: true if there are still stale entities.
 */
bool mrpc_order_settle(struct mrpc_order *o);

/** mrpc_order_tenant_init() - Return: 0, or -EINVAL if the weight is out of range */
int mrpc_order_tenant_init(struct mrpc_order *o, struct mrpc_order_tenant *t, u32 weight);

/**
 * mrpc_order_tenant_weight() - change the weight, at any time
 * The debt stays the same in units of cost.
 * Return: 0, or -EINVAL if the weight is out of range.
 */
int mrpc_order_tenant_weight(struct mrpc_order *o, struct mrpc_order_tenant *t, u32 weight);

/**
 * mrpc_order_tenant_fini() - may the memory of @t be freed?
 * Return: 0, or -EBUSY while @t has members.
 */
int mrpc_order_tenant_fini(const struct mrpc_order_tenant *t);

/**
 * mrpc_order_join() - initialise an entity: not listed, priority 0, nothing left, no deadline
 * @t: its tenant, which must outlive it; NULL: @o's common one
 */
void mrpc_order_join(struct mrpc_order *o, struct mrpc_order_entity *e,
		     struct mrpc_order_tenant *t);

/** mrpc_order_leave() - remove @e from its list and its tenant */
void mrpc_order_leave(struct mrpc_order *o, struct mrpc_order_entity *e);

/**
 * mrpc_order_put() - list @e, which has work and may do it
 * @head: put it in front of its equals (it resumes); otherwise behind them
 *
 * Does nothing if @e is listed.
 */
void mrpc_order_put(struct mrpc_order *o, struct mrpc_order_entity *e, bool head);

/** mrpc_order_del() - unlist @e, which cannot have a turn now; does nothing if not listed */
void mrpc_order_del(struct mrpc_order *o, struct mrpc_order_entity *e);

/**
 * mrpc_order_rank() - set what @e is ordered by
 * If @e is listed and its level changes, it goes behind its new equals. A stale entity keeps its
 * place.
 */
void mrpc_order_rank(struct mrpc_order *o, struct mrpc_order_entity *e, u8 priority, u64 left);

/** mrpc_order_due() - set another deadline, as mrpc_order_rank(); U64_MAX: none */
void mrpc_order_due(struct mrpc_order *o, struct mrpc_order_entity *e, u64 deadline);

/**
 * mrpc_order_before() - does @a, which is listed, have its turn before @b?
 * @b: as it was when it was last listed; it need not be listed now
 *
 * Not for disciplines with heaps. Only entities of one tenant can be compared, because the order
 * of tenants depends on the present.
 */
static inline bool mrpc_order_before(const struct mrpc_order_entity *a,
				     const struct mrpc_order_entity *b)
{
	return a->on == b->on && a->in == b->in && a->slot < b->slot;
}

/**
 * mrpc_order_peek() - settle, then find the next entity
 * Return: the entity, or NULL. A change of the order may change the answer.
 */
struct mrpc_order_entity *mrpc_order_peek(struct mrpc_order *o);

/** mrpc_order_first() - as mrpc_order_peek(), without settling: the caller has just settled */
struct mrpc_order_entity *mrpc_order_first(struct mrpc_order *o);

/**
 * mrpc_order_again() - rank @e again if its ranker asks for it; mrpc_order_peek() returned @e
 * Return: true if @e has moved: another entity may be next. A ranker may ask without end, so
 * the caller must count.
 */
bool mrpc_order_again(struct mrpc_order *o, struct mrpc_order_entity *e);

/** mrpc_order_start() - unlist @e for its turn; mrpc_order_peek() has just returned it */
void mrpc_order_start(struct mrpc_order *o, struct mrpc_order_entity *e);

/** mrpc_order_take() - mrpc_order_peek() and mrpc_order_start(); NULL: no entity is listed */
struct mrpc_order_entity *mrpc_order_take(struct mrpc_order *o);

/**
 * mrpc_order_charge() - charge the cost of a turn of @e
 * @cost: at most U32_MAX counts; negative to give back an earlier charge
 *
 * The caller may charge before, during or after the turn, listed or not, in any number of
 * parts. If an entity can have several turns at once, the caller charges the expected cost at
 * the beginning and settles the difference at the end. Giving back never moves a tenant before
 * the present.
 */
void mrpc_order_charge(struct mrpc_order *o, struct mrpc_order_entity *e, s64 cost);

/** mrpc_order_turn() - expected cost of @e's next turn */
static inline u32 mrpc_order_turn(const struct mrpc_order *o, const struct mrpc_order_entity *e)
{
	return min_t(u64, e->left, o->rule.quantum);
}

/**
 * mrpc_order_walk_begin() - walk over the first @most entities, in the order of their next turns
 *
 * The order is exactly that of repeated mrpc_order_take(), if each entity is then charged
 * mrpc_order_turn() and not put back, and stale entities stay stale. The walk skips stale
 * entities. A caller that wants all entities settles before.
 *
 * mrpc_order_walk_end() must follow, and leaves @o exactly as it was. Between the two calls,
 * nothing else may use @o.
 *
 * Return: the first entity, or NULL.
 */
struct mrpc_order_entity *mrpc_order_walk_begin(struct mrpc_order *o, u32 most);
struct mrpc_order_entity *mrpc_order_walk_next(const struct mrpc_order_entity *e);
void mrpc_order_walk_end(struct mrpc_order *o);

#endif /* MRPC_LIB_DS_ORDER_H */
