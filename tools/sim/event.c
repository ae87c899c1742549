// SPDX-License-Identifier: GPL-2.0
/* The clock: slots for what is soon, a 4-ary heap for the rest. */
#include <stdlib.h>

#include "event.h"
#include "memory.h"

#define CHILDREN 4

/* One number to compare. */
static inline unsigned __int128 key(const struct sim_event *e)
{
	return (unsigned __int128)e->at << 64 | e->number;
}

static inline bool before(const struct sim_event *a, const struct sim_event *b)
{
	return key(a) < key(b);
}

/* ---- slots ------------------------------------------------------------------ */

static void put_soon(struct sim_clock *c, const struct sim_event *e)
{
	u32 slot = (e->at >> SIM_SLOT_SHIFT) % SIM_SLOTS, i = c->free, old = c->soon_room;

	if (!i) {
		c->soon_room = old ? 2 * old : 1024;
		c->soon = sim_realloc(c->soon, c->soon_room * sizeof(*c->soon));
		for (i = c->soon_room - 1; i > old; i--)
			c->soon[i].next = i + 1 < c->soon_room ? i + 1 : 0;
		i = old + !old;
		c->soon[i].next = i + 1;
	}
	c->free = c->soon[i].next;
	c->soon[i].event = *e;
	c->soon[i].next = c->slots[slot];
	c->slots[slot] = i;
	c->used[slot / 64] |= 1ULL << slot % 64;
	c->nr_soon++;
}

/* The slot of the present comes first; those before it are of times after the others. */
static u32 first_slot(const struct sim_clock *c)
{
	u32 start = (c->now >> SIM_SLOT_SHIFT) % SIM_SLOTS, word = start / 64;
	u64 bits = c->used[word] & ~0ULL << start % 64;

	while (!bits) {
		word = (word + 1) % (SIM_SLOTS / 64);
		bits = c->used[word];
		if (word == start / 64)
			bits &= ~(~0ULL << start % 64);
	}
	return 64 * word + __ffs64(bits);
}

/* Return: where the index of the first event is */
static u32 *first_soon(struct sim_clock *c, u32 slot)
{
	u32 *at = &c->slots[slot], *best = at;

	for (at = &c->soon[*at].next; *at; at = &c->soon[*at].next)
		if (before(&c->soon[*at].event, &c->soon[*best].event))
			best = at;
	return best;
}

static void take_soon(struct sim_clock *c, u32 slot, u32 *at, struct sim_event *e)
{
	u32 i = *at;

	*e = c->soon[i].event;
	*at = c->soon[i].next;
	c->soon[i].next = c->free;
	c->free = i;
	c->nr_soon--;
	if (!c->slots[slot])
		c->used[slot / 64] &= ~(1ULL << slot % 64);
}

/* ---- the heap --------------------------------------------------------------- */

static void put_heap(struct sim_clock *c, const struct sim_event *e)
{
	u32 i = c->nr, up;

	if (c->nr == c->room) {
		c->room = c->room ? 2 * c->room : 1024;
		c->heap = sim_realloc(c->heap, c->room * sizeof(*c->heap));
	}
	c->nr++;
	for (; i; i = up) {
		up = (i - 1) / CHILDREN;
		if (!before(e, &c->heap[up]))
			break;
		c->heap[i] = c->heap[up];
	}
	c->heap[i] = *e;
}

/* The last event fills the place of the first. */
static void take_heap(struct sim_clock *c, struct sim_event *first)
{
	struct sim_event e = c->heap[--c->nr];
	u32 i = 0, child, best, end;

	*first = c->heap[0];
	while ((child = CHILDREN * i + 1) < c->nr) {
		end = min(child + CHILDREN, c->nr);
		for (best = child++; child < end; child++)
			if (before(&c->heap[child], &c->heap[best]))
				best = child;
		if (!before(&c->heap[best], &e))
			break;
		c->heap[i] = c->heap[best];
		i = best;
	}
	c->heap[i] = e;
}

/* ---- both ------------------------------------------------------------------- */

void sim_at(struct sim_clock *c, u64 at, void (*run)(void *who, void *what), void *who, void *what)
{
	struct sim_event e = { max(at, c->now), c->count++, run, who, what };

	if ((e.at >> SIM_SLOT_SHIFT) - (c->now >> SIM_SLOT_SHIFT) < SIM_SLOTS)
		put_soon(c, &e);
	else
		put_heap(c, &e);
}

bool sim_step(struct sim_clock *c)
{
	struct sim_event e;
	u32 slot, *at;

	if (!c->nr_soon && !c->nr)
		return false;
	if (c->nr_soon) {
		slot = first_slot(c);
		at = first_soon(c, slot);
		if (c->nr && before(&c->heap[0], &c->soon[*at].event))
			take_heap(c, &e);
		else
			take_soon(c, slot, at, &e);
	} else {
		take_heap(c, &e);
	}
	c->now = e.at;
	e.run(e.who, e.what);
	return true;
}

void sim_each(struct sim_clock *c, void (*run)(void *who, void *what),
	      void (*visit)(void *context, void *who, void *what), void *context)
{
	u32 i, k;

	for (i = 0; i < c->nr; i++)
		if (c->heap[i].run == run)
			visit(context, c->heap[i].who, c->heap[i].what);
	for (i = 0; i < SIM_SLOTS; i++)
		for (k = c->slots[i]; k; k = c->soon[k].next)
			if (c->soon[k].event.run == run)
				visit(context, c->soon[k].event.who, c->soon[k].event.what);
}

void sim_clock_fini(struct sim_clock *c)
{
	free(c->heap);
	free(c->soon);
	*c = (struct sim_clock){};
}
