/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MRPC_CORE_WAITERS_H
#define MRPC_CORE_WAITERS_H

#include <linux/types.h>
#include <linux/wait.h>

struct task_struct;

/**
 * struct mrpc_waiters - the threads that wait for something
 *
 * Mostly there is only one, which needs neither lock nor list.
 *
 * @one: a thread, or NULL. The thread sets and clears it itself: a poller from mrpc_poll_begin()
 *	to mrpc_poll_end(), others around their sleep. The waker reads it under RCU, so the
 *	task still exists
 * @others: threads that found @one taken
 */
struct mrpc_waiters {
	struct task_struct *one;
	wait_queue_head_t others;
};

static inline void mrpc_waiters_init(struct mrpc_waiters *w)
{
	w->one = NULL;
	init_waitqueue_head(&w->others);
}

/**
 * mrpc_waiters_any() - return true if there is a waiter
 * @w: the waiters
 *
 * The caller has made the condition true, and has had a full barrier since, perhaps in an atomic
 * operation. It pairs with the barriers of a new waiter, cmpxchg() and set_current_state(). So
 * either the waiter sees the condition, or the caller sees the waiter.
 */
static inline bool mrpc_waiters_any(struct mrpc_waiters *w)
{
	/* After that barrier. */
	return READ_ONCE(w->one) || waitqueue_active(&w->others);
}

bool mrpc_wake_one(struct mrpc_waiters *w);
void mrpc_wake_all(struct mrpc_waiters *w);

/**
 * struct mrpc_poller - a thread among its session's pollers
 *
 * On the stack of the thread, from mrpc_poll_begin() to mrpc_poll_end(). Only the thread uses it,
 * except @entry, which is under the wait queue's lock.
 *
 * @entry: entry of mrpc_waiters.others
 * @one: the thread is mrpc_waiters.one, and @entry is not used
 */
struct mrpc_poller {
	struct wait_queue_entry entry;
	bool one;
};

#endif /* MRPC_CORE_WAITERS_H */
