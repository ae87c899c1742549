// SPDX-License-Identifier: GPL-2.0
/*
 * Min-heap of deadlines: see deadline.h for the contract.
 */
#include "lib/ds/deadline.h"

static void deadline_put(struct mrpc_deadlines *d, u32 i, struct mrpc_deadline *e)
{
	d->heap[i] = e;
	e->pos = i + 1;
}

/*
 * Places @e at or above the hole @i. Parents that are not later stay where
 * they are, so ascending deadlines cost one comparison.
 */
static void deadline_up(struct mrpc_deadlines *d, u32 i, struct mrpc_deadline *e)
{
	while (i) {
		u32 parent = (i - 1) / 2;

		if (d->heap[parent]->when <= e->when)
			break;
		deadline_put(d, i, d->heap[parent]);
		i = parent;
	}
	deadline_put(d, i, e);
}

/* Places @e at or below the hole @i. */
static void deadline_down(struct mrpc_deadlines *d, u32 i, struct mrpc_deadline *e)
{
	while (i < d->nr / 2) {
		u32 child = 2 * i + 1;

		if (child + 1 < d->nr && d->heap[child + 1]->when < d->heap[child]->when)
			child++;
		if (e->when <= d->heap[child]->when)
			break;
		deadline_put(d, i, d->heap[child]);
		i = child;
	}
	deadline_put(d, i, e);
}

int mrpc_deadlines_add(struct mrpc_deadlines *d, struct mrpc_deadline *e)
{
	if (d->nr == d->cap)
		return -ENOSPC;
	deadline_up(d, d->nr++, e);
	return 0;
}

struct mrpc_deadline **mrpc_deadlines_grow(struct mrpc_deadlines *d, struct mrpc_deadline **heap,
					   u32 cap)
{
	struct mrpc_deadline **old = d->heap;

	memcpy(heap, old, d->nr * sizeof(*heap));
	d->heap = heap;
	d->cap = cap;
	return old;
}

/* mrpc_deadlines_del() of one that is in the heap. */
void mrpc_deadlines_take(struct mrpc_deadlines *d, struct mrpc_deadline *e)
{
	struct mrpc_deadline *last = d->heap[--d->nr];
	u32 i = e->pos - 1;

	e->pos = 0;
	if (last == e)
		return;

	/* The last one may belong above the hole: it can come from another branch. */
	if (i && last->when < d->heap[(i - 1) / 2]->when)
		deadline_up(d, i, last);
	else
		deadline_down(d, i, last);
}

struct mrpc_deadline *mrpc_deadlines_first(const struct mrpc_deadlines *d)
{
	return d->nr ? d->heap[0] : NULL;
}
