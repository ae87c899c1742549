// SPDX-License-Identifier: GPL-2.0
/*
 * An order by priority and level: see lib/prio/rank.h for the contract.
 */
#include "lib/prio/rank.h"

static u8 rank_slot(u8 priority)
{
	return 255 - priority;
}

static struct mrpc_prio_ranked *ranked_of(struct mrpc_order_link *l)
{
	return container_of(l, struct mrpc_prio_ranked, link);
}

static bool levels_empty(const struct mrpc_order_levels *ls)
{
	return !(ls->map[0] | ls->map[1] | ls->map[2] | ls->map[3]);
}

void mrpc_prio_rank_give(struct mrpc_prio_rank *r, u8 priority, struct mrpc_order_levels *ls)
{
	memset(ls, 0, sizeof(*ls));
	r->of[rank_slot(priority)] = ls;
}

void mrpc_prio_rank_put(struct mrpc_prio_rank *r, struct mrpc_prio_ranked *e, u8 priority,
			u8 level, bool head)
{
	u8 slot = rank_slot(priority);

	if (e->listed && e->priority == priority && e->level == level)
		return;
	mrpc_prio_rank_del(r, e);
	e->priority = priority;
	e->level = level;
	e->listed = true;
	mrpc_levels_add(r->of[slot], &e->link, level, head);
	r->map[slot / 64] |= 1ULL << slot % 64;
}

void mrpc_prio_rank_del(struct mrpc_prio_rank *r, struct mrpc_prio_ranked *e)
{
	u8 slot = rank_slot(e->priority);

	if (!e->listed)
		return;
	e->listed = false;
	mrpc_levels_del(r->of[slot], &e->link, e->level);
	if (levels_empty(r->of[slot]))
		r->map[slot / 64] &= ~(1ULL << slot % 64);
}

struct mrpc_prio_ranked *mrpc_prio_rank_first(const struct mrpc_prio_rank *r)
{
	int slot;

	if (!(r->map[0] | r->map[1] | r->map[2] | r->map[3]))
		return NULL;
	slot = mrpc_levels_scan(r->map, 0);
	return ranked_of(r->of[slot]->first[mrpc_levels_find(r->of[slot], 0)]);
}

struct mrpc_prio_ranked *mrpc_prio_rank_next(const struct mrpc_prio_rank *r,
					     const struct mrpc_prio_ranked *e)
{
	u8 slot = rank_slot(e->priority);
	int next;

	if (e->link.next != r->of[slot]->first[e->level])
		return ranked_of(e->link.next);
	next = mrpc_levels_find(r->of[slot], e->level + 1);
	if (next > e->level)
		return ranked_of(r->of[slot]->first[next]);
	next = mrpc_levels_scan(r->map, slot + 1);
	if (next <= slot)
		return NULL;
	return ranked_of(r->of[next]->first[mrpc_levels_find(r->of[next], 0)]);
}
