/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An order by priority (256, exactly) and then by a level (256): who is first is found
 * in constant time, whatever the number listed. Levels of a priority take 2 KiB; they
 * are got when the first entity of that priority is announced, where failing does no
 * harm, and stay until the end.
 *
 * Not locked: the owner's lock.
 */
#ifndef MRPC_LIB_PRIO_RANK_H
#define MRPC_LIB_PRIO_RANK_H

#include "lib/ds/order.h"

struct mrpc_prio_rank {
	u64 map[MRPC_ORDER_LEVELS / 64];
	struct mrpc_order_levels *of[256];	/* by 255 - priority */
};

/* Embedded in what is ranked. @listed: in the list of @priority and @level */
struct mrpc_prio_ranked {
	struct mrpc_order_link link;
	u8 priority;
	u8 level;
	bool listed;
};

/** mrpc_prio_rank_has() - whether @priority has levels */
static inline bool mrpc_prio_rank_has(const struct mrpc_prio_rank *r, u8 priority)
{
	return r->of[255 - priority];
}

/** mrpc_prio_rank_give() - levels for a priority that has none; the caller frees r->of[] */
void mrpc_prio_rank_give(struct mrpc_prio_rank *r, u8 priority, struct mrpc_order_levels *ls);

/**
 * mrpc_prio_rank_put() - lists @e, or moves it if it is listed elsewhere
 * @priority: has levels
 * @head: in front of its equals; not looked at if it is where it belongs
 */
void mrpc_prio_rank_put(struct mrpc_prio_rank *r, struct mrpc_prio_ranked *e, u8 priority,
			u8 level, bool head);

/** mrpc_prio_rank_del() - harmless if it is not listed */
void mrpc_prio_rank_del(struct mrpc_prio_rank *r, struct mrpc_prio_ranked *e);

/** mrpc_prio_rank_first() - or NULL */
struct mrpc_prio_ranked *mrpc_prio_rank_first(const struct mrpc_prio_rank *r);

/** mrpc_prio_rank_next() - who comes after @e, which is listed; or NULL */
struct mrpc_prio_ranked *mrpc_prio_rank_next(const struct mrpc_prio_rank *r,
					     const struct mrpc_prio_ranked *e);

#endif /* MRPC_LIB_PRIO_RANK_H */
