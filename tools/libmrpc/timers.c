// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Times in order.
 */
#include "timers.h"

/* Puts the later of two heaps below the other one. Either may be NULL. */
static struct timer *join(struct timer *a, struct timer *b)
{
	struct timer *top = a, *low = b;

	if (!a || !b)
		return a ? a : b;
	if (b->at < a->at) {
		top = b;
		low = a;
	}
	low->next = top->child;
	low->prev = &top->child;
	if (low->next)
		low->next->prev = &low->next;
	top->child = low;
	return top;
}

/* Makes one heap of a list: in pairs first, which keeps heaps flat. */
static struct timer *join_all(struct timer *list)
{
	struct timer *pairs = NULL, *all = NULL, *a, *b;

	while ((a = list)) {
		b = a->next;
		list = b ? b->next : NULL;
		a = join(a, b);
		a->next = pairs;
		pairs = a;
	}
	while ((a = pairs)) {
		pairs = a->next;
		all = join(all, a);
	}
	return all;
}

static void set_top(struct timer **heap, struct timer *timer)
{
	*heap = timer;
	if (!timer)
		return;
	timer->next = NULL;
	timer->prev = heap;
}

void timers_add(struct timer **heap, struct timer *timer)
{
	timer->child = NULL;
	set_top(heap, join(*heap, timer));
}

void timers_del(struct timer **heap, struct timer *timer)
{
	struct timer *below = join_all(timer->child);

	if (*heap == timer) {
		set_top(heap, below);
	} else {
		*timer->prev = timer->next;
		if (timer->next)
			timer->next->prev = timer->prev;
		set_top(heap, join(*heap, below));
	}
	timer->child = NULL;
	timer->prev = NULL;
}
