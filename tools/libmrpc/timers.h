/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Times in order: a pairing heap. It needs no memory of its own. Adding takes constant time, taking
 * out a time that grows with the logarithm of their number.
 */
#ifndef LIBMRPC_TIMERS_H
#define LIBMRPC_TIMERS_H

#include "internal.h"

/**
 * struct timer - a time that something waits for
 * @at: the time
 * @child: the first of the later ones below it
 * @next: the next one below the same
 * @prev: what points here; NULL: it is in no heap
 */
struct timer {
	u64 at;
	struct timer *child;
	struct timer *next;
	struct timer **prev;
};

/* @heap: the earliest one; NULL: none. The caller has set timer.at. */
void timers_add(struct timer **heap, struct timer *timer);
void timers_del(struct timer **heap, struct timer *timer);

#endif /* LIBMRPC_TIMERS_H */
