// SPDX-License-Identifier: GPL-2.0
/*
 * Wheels of timers: see wheel.h for the contract.
 *
 * A timer stands in the shortest wheel that reaches it. The present slot of the
 * shortest wheel holds what is due. A slot of a longer wheel is emptied into the
 * shorter ones at the moment that it begins, so what is found in a present one there
 * is due a whole turn later.
 */
#include "lib/ds/wheel.h"

#define SLOT_SHIFT(wheel)	(8 * (wheel))
#define REACH(wheel)		(1ULL << SLOT_SHIFT((wheel) + 1))

static struct mrpc_timer *timer_of(struct mrpc_order_link *l)
{
	return container_of(l, struct mrpc_timer, link);
}

static void wheel_place(struct mrpc_wheel *w, struct mrpc_timer *t)
{
	u64 ahead = t->when > w->now ? t->when - w->now : 0;
	u32 wheel = 0;

	while (wheel < MRPC_WHEEL_WHEELS - 1 && ahead >= REACH(wheel))
		wheel++;
	/* What is beyond all wheels is looked at again at the end of the longest. */
	ahead = min_t(u64, ahead, REACH(MRPC_WHEEL_WHEELS - 1) - 1);
	t->wheel = wheel;
	t->slot = (w->now + ahead) >> SLOT_SHIFT(wheel);
	mrpc_levels_add(&w->wheels[wheel], &t->link, t->slot, false);
}

static void wheel_remove(struct mrpc_wheel *w, struct mrpc_timer *t)
{
	mrpc_levels_del(&w->wheels[t->wheel], &t->link, t->slot);
}

void mrpc_wheel_init(struct mrpc_wheel *w, u64 now)
{
	memset(w, 0, sizeof(*w));
	w->now = now >> MRPC_WHEEL_TICK_SHIFT;
	w->first = U64_MAX;
}

void mrpc_wheel_arm(struct mrpc_wheel *w, struct mrpc_timer *t, u64 when)
{
	mrpc_wheel_stop(w, t);
	t->when = (when >> MRPC_WHEEL_TICK_SHIFT) +
		  !IS_ALIGNED(when, 1ULL << MRPC_WHEEL_TICK_SHIFT);
	t->armed = true;
	w->armed++;
	w->first = min(w->first, t->when);
	wheel_place(w, t);
}

void mrpc_wheel_stop(struct mrpc_wheel *w, struct mrpc_timer *t)
{
	if (!t->armed)
		return;
	t->armed = false;
	w->armed--;
	wheel_remove(w, t);
}

static struct mrpc_order_link *wheel_due(const struct mrpc_wheel *w)
{
	return w->wheels[0].first[(u8)w->now];
}

/*
 * The wheel whose next slot begins first, of several the longest: it is emptied into the
 * others. @start: when. Return: -1 if there is none.
 */
static int wheel_earliest(const struct mrpc_wheel *w, u64 *start)
{
	int best = -1, i;

	*start = U64_MAX;
	for (i = MRPC_WHEEL_WHEELS - 1; i >= 0; i--) {
		u64 base = w->now >> SLOT_SHIFT(i);
		int slot = mrpc_levels_find(&w->wheels[i], base + 1);
		u64 begins;

		if (slot < 0)
			continue;
		begins = (base + 1 + (u8)(slot - (u8)(base + 1))) << SLOT_SHIFT(i);
		if (begins < *start) {
			*start = begins;
			best = i;
		}
	}
	return best;
}

u64 mrpc_wheel_next(const struct mrpc_wheel *w)
{
	return w->armed ? w->first << MRPC_WHEEL_TICK_SHIFT : U64_MAX;
}

/* The slot that begins now, to the shorter wheels. */
static void wheel_cascade(struct mrpc_wheel *w, int wheel)
{
	u8 slot = w->now >> SLOT_SHIFT(wheel);
	struct mrpc_order_link *l;

	while ((l = w->wheels[wheel].first[slot])) {
		wheel_remove(w, timer_of(l));
		wheel_place(w, timer_of(l));
	}
}

struct mrpc_timer *mrpc_wheel_expire(struct mrpc_wheel *w, u64 now)
{
	u64 until = now >> MRPC_WHEEL_TICK_SHIFT, start;
	struct mrpc_timer *t;

	if (until < w->first)
		return NULL;
	while (!wheel_due(w)) {
		int wheel = wheel_earliest(w, &start);

		if (wheel < 0 || start > until) {
			w->now = max(w->now, until);
			w->first = start;
			return NULL;
		}
		w->now = start;
		/* Slots of the shorter ones begin at the same time. */
		for (; wheel; wheel--)
			wheel_cascade(w, wheel);
	}
	t = timer_of(wheel_due(w));
	mrpc_wheel_stop(w, t);
	return t;
}
