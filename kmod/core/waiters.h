/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MRPC_CORE_WAITERS_H
#define MRPC_CORE_WAITERS_H

#include <linux/types.h>
#include <linux/wait.h>

struct task_struct;

/**
 * struct mrpc_waiters - the threads that wait for something
 *
 * Mostly it is one, which needs neither lock nor list.
 *
 * @one: a thread, or NULL. It puts itself there and takes itself away, as a poller from
 *	mrpc_poll_begin() to mrpc_poll_end(), else around its sleep; who wakes it reads it
 *	under RCU, so its task is still there
 * @others: those that found @one taken
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
 * mrpc_waiters_any() - is anybody there?
 * @w: the waiters
 *
 * The caller has had a full barrier since he did what they wait for, be it in an atomic
 * operation. It pairs with the ones of who comes, cmpxchg() and set_current_state(): either
 * he sees what was done, or the caller sees him.
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
 * On its stack, and its own but for @entry, which is under the wait queue's lock; from
 * mrpc_poll_begin() to mrpc_poll_end().
 *
 * @entry: among mrpc_waiters.others
 * @one: it is mrpc_waiters.one, and @entry is not used
 */
struct mrpc_poller {
	struct wait_queue_entry entry;
	bool one;
};

#endif /* MRPC_CORE_WAITERS_H */
