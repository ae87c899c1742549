/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Deadlines of the calls of one connection: a binary min-heap with positions,
 * so that a call can leave early. Deadlines that come in ascending order, the
 * usual case, are inserted without a swap.
 *
 * Not locked: the call-table lock protects it.
 */
#ifndef MRPC_LIB_DS_DEADLINE_H
#define MRPC_LIB_DS_DEADLINE_H

#include "lib/ds/types.h"

struct mrpc_deadline {
	u64 when;	/* nanoseconds */
	u32 pos;	/* index + 1; 0: not in a heap */
};

struct mrpc_deadlines {
	struct mrpc_deadline **heap;
	u32 nr;
	u32 cap;
};

/** mrpc_deadlines_add() - Return: 0, or -ENOSPC when nr == cap (grow heap first) */
int mrpc_deadlines_add(struct mrpc_deadlines *d, struct mrpc_deadline *e);
/**
 * mrpc_deadlines_grow() - @heap: array of @cap, more than there is room for now
 * Return: the array that was used until now.
 */
struct mrpc_deadline **mrpc_deadlines_grow(struct mrpc_deadlines *d, struct mrpc_deadline **heap,
					   u32 cap);
void mrpc_deadlines_take(struct mrpc_deadlines *d, struct mrpc_deadline *e);
/** mrpc_deadlines_del() - harmless if @e is not in the heap: most calls have no deadline */
static inline void mrpc_deadlines_del(struct mrpc_deadlines *d, struct mrpc_deadline *e)
{
	if (e->pos)
		mrpc_deadlines_take(d, e);
}

/** mrpc_deadlines_first() - the earliest, or NULL */
struct mrpc_deadline *mrpc_deadlines_first(const struct mrpc_deadlines *d);

#endif /* MRPC_LIB_DS_DEADLINE_H */
