// SPDX-License-Identifier: GPL-2.0
/* Wake-ups of the threads that wait for one thing. */
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/stat.h>
#include <linux/wait.h>

#include "core/waiters.h"

/* Wakes @w->one if it sleeps. Return: true: it slept and has been woken. */
static bool mrpc_wake_first(struct mrpc_waiters *w)
{
	struct task_struct *one;
	bool woken = false;

	rcu_read_lock();
	one = READ_ONCE(w->one);
	/* Not if it runs, or sleeps elsewhere while it works for its session. */
	if (one && READ_ONCE(one->__state) & TASK_INTERRUPTIBLE)
		woken = wake_up_process(one);
	rcu_read_unlock();
	return woken;
}

/**
 * mrpc_wake_one() - wake a thread that sleeps, if any does
 * @w: the waiters
 *
 * A thread that is awake looks again before it sleeps. The caller has had the full barrier of
 * mrpc_waiters_any(). Context: any but hard interrupt.
 * Return: false: there is no waiter, asleep or not.
 */
bool mrpc_wake_one(struct mrpc_waiters *w)
{
	if (!mrpc_waiters_any(w))
		return false;
	/* After the caller's barrier. */
	if (!mrpc_wake_first(w) && waitqueue_active(&w->others))
		wake_up_interruptible(&w->others);
	return true;
}

/**
 * mrpc_wake_all() - wake all threads that sleep
 * @w: the waiters
 *
 * Context: any but hard interrupt.
 */
void mrpc_wake_all(struct mrpc_waiters *w)
{
	smp_mb();	/* see mrpc_waiters_any() */
	if (!mrpc_waiters_any(w))
		return;
	mrpc_wake_first(w);
	/* After the barrier. */
	if (waitqueue_active(&w->others))
		wake_up_all(&w->others);
}
