/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An order by priority (256 exact values) and then by a level (256). The first entity is found in
 * constant time, whatever the number listed. The levels of one priority take 2 KiB. They are
 * allocated when the first entity of that priority is announced, where a failure does no harm.
 * They stay until the end.
 *
 * Not locked: the owner's lock protects it.
 */
#ifndef MRPC_LIB_PRIO_RANK_H
#define MRPC_LIB_PRIO_RANK_H

#include "lib/ds/order.h"

struct mrpc_prio_rank {
	u64 map[MRPC_ORDER_LEVELS / 64];
	struct mrpc_order_levels *of[256];	/* by 255 - priority */
};

/* Embedded in the ranked object. @listed: in the list of @priority and @level */
struct mrpc_prio_ranked {
	struct mrpc_order_link link;
	u8 priority;
	u8 level;
	bool listed;
};

/** mrpc_prio_rank_has() - does @priority have levels? */
static inline bool mrpc_prio_rank_has(const struct mrpc_prio_rank *r, u8 priority)
{
	return r->of[255 - priority];
}

/** mrpc_prio_rank_give() - add levels for a priority that has none; the caller frees r->of[] */
void mrpc_prio_rank_give(struct mrpc_prio_rank *r, u8 priority, struct mrpc_order_levels *ls);

/**
 * mrpc_prio_rank_put() - list @e, or move it if it is listed elsewhere
 * @priority: must have levels
 * @head: put it in front of its equals; ignored if @e is already at this priority and level
 */
void mrpc_prio_rank_put(struct mrpc_prio_rank *r, struct mrpc_prio_ranked *e, u8 priority,
			u8 level, bool head);

/** mrpc_prio_rank_del() - unlist @e; does nothing if it is not listed */
void mrpc_prio_rank_del(struct mrpc_prio_rank *r, struct mrpc_prio_ranked *e);

/** mrpc_prio_rank_first() - the first entity, or NULL */
struct mrpc_prio_ranked *mrpc_prio_rank_first(const struct mrpc_prio_rank *r);

/** mrpc_prio_rank_next() - the entity after @e, which is listed; or NULL */
struct mrpc_prio_ranked *mrpc_prio_rank_next(const struct mrpc_prio_rank *r,
					     const struct mrpc_prio_ranked *e);

#endif /* MRPC_LIB_PRIO_RANK_H */
