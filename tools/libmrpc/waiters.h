/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBMRPC_WAITERS_H
#define LIBMRPC_WAITERS_H

#include <pthread.h>

#include "clock.h"

/**
 * struct channel_waiter - a call that waits until its channel changes, or for a time
 * @next: in the list
 * @prev: what points here; NULL: it is not in the list
 * @eventfd: what a change makes readable, and the time; -1: nothing
 * @until: that time; FOR_EVER once it has passed. Written under the channel's lock
 */
struct channel_waiter {
	struct channel_waiter *next;
	struct channel_waiter **prev;
	int eventfd;
	u64 until;
};

/* The time of a waiter, read without the lock. It may become FOR_EVER at any moment. */
static inline u64 waiter_until(const struct channel_waiter *waiter)
{
	return __atomic_load_n(&waiter->until, __ATOMIC_RELAXED);
}

/**
 * struct waiters - what waits for a change of a channel
 * @lock: that of the channel; protects what follows
 * @changes: counts changes; a futex that threads sleep on
 * @first: calls that wait without sleeping in the channel
 * @next: no later than the least time of theirs that has an eventfd
 */
struct waiters {
	pthread_mutex_t lock;
	u32 changes;
	struct channel_waiter *first;
	u64 next;
};

void waiters_init(struct waiters *w);

/* All of these under the lock. */

/* Wakes the threads that sleep in waiters_sleep(). */
void waiters_wake(struct waiters *w);
/* The same, and makes all eventfds readable. */
void waiters_tell(struct waiters *w);

/* Makes the eventfds readable whose time has come. Return: the least time that has not. */
u64 waiters_expire(struct waiters *w, u64 now);

/* Sleeps until the next change, or a time, without the lock. 0, perhaps without any; -errno. */
int waiters_sleep(struct waiters *w, u64 until);

void waiters_add(struct waiters *w, struct channel_waiter *waiter);
/* Sets the time of one that is in the list. */
void waiters_set(struct waiters *w, struct channel_waiter *waiter, u64 until);
void waiters_del(struct channel_waiter *waiter);

#endif /* LIBMRPC_WAITERS_H */
