/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Timers: three wheels of 256 slots, each slot of one as long as the whole wheel
 * below it. Arming, stopping and finding the next time take constant time; nothing is
 * allocated. A tick is 1024 ns; a timer never fires early, and at most a tick late
 * if the owner comes when mrpc_wheel_next() said.
 *
 * Not locked: the owner's lock.
 */
#ifndef MRPC_LIB_DS_WHEEL_H
#define MRPC_LIB_DS_WHEEL_H

#include "lib/ds/order.h"

#define MRPC_WHEEL_TICK_SHIFT	10
#define MRPC_WHEEL_WHEELS	3

/**
 * struct mrpc_timer - embedded
 * @link: in a slot
 * @when: tick
 * @wheel: which one
 * @slot: of it
 * @armed: whether it is in a wheel
 * @kind: the owner's
 */
struct mrpc_timer {
	struct mrpc_order_link link;
	u64 when;
	u8 wheel;
	u8 slot;
	bool armed;
	u8 kind;
};

/**
 * struct mrpc_wheel - all timers of one owner
 * @now: tick until which it has been looked at
 * @first: no timer fires before this tick; not that one does: it may have been stopped
 * @armed: timers
 * @wheels: the shortest first
 */
struct mrpc_wheel {
	u64 now;
	u64 first;
	u64 armed;
	struct mrpc_order_levels wheels[MRPC_WHEEL_WHEELS];
};

void mrpc_wheel_init(struct mrpc_wheel *w, u64 now);

/** mrpc_wheel_arm() - have @t fire at @when (ns) or, if that is over, next; armed or not */
void mrpc_wheel_arm(struct mrpc_wheel *w, struct mrpc_timer *t, u64 when);

/** mrpc_wheel_stop() - harmless if it is not armed */
void mrpc_wheel_stop(struct mrpc_wheel *w, struct mrpc_timer *t);

/**
 * mrpc_wheel_next() - when to look again (ns), or U64_MAX: nothing is armed
 * It can be too early, where a timer was stopped since the last mrpc_wheel_expire() that
 * returned NULL.
 */
u64 mrpc_wheel_next(const struct mrpc_wheel *w);

/** mrpc_wheel_expire() - a timer that is due at @now, stopped; or NULL */
struct mrpc_timer *mrpc_wheel_expire(struct mrpc_wheel *w, u64 now);

#endif /* MRPC_LIB_DS_WHEEL_H */
