// SPDX-License-Identifier: GPL-2.0
/*
 * Waiting: a thread that waits runs its session's ready datapaths itself, so
 * that what it waits for needs no second wake-up.
 */
#include <linux/hrtimer.h>
#include <linux/ktime.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/wait.h>

#include "conn.h"
#include "session.h"
#include "wait.h"

static bool mrpc_wait_ready(const struct mrpc_session *session)
{
	return !list_empty_careful(&session->ready) ||
	       !list_empty_careful(&session->ready_listeners);
}

/* Return: false: it is @until. */
static bool mrpc_wait_schedule(u64 until)
{
	ktime_t expires;

	if (until == U64_MAX) {
		schedule();
		return true;
	}
	expires = ns_to_ktime(min_t(u64, until, KTIME_MAX));
	return schedule_hrtimeout_range(&expires, current->timer_slack_ns, HRTIMER_MODE_ABS);
}

/*
 * Sleep, unless there is something to do. It is on @wq only meanwhile: a thread
 * that makes the condition true itself, by running a datapath, has nobody to
 * wake. Return: false: it is @until.
 */
static bool mrpc_wait_sleep(struct mrpc_session *session, wait_queue_head_t *wq,
			    bool (*done)(void *ctx), void *ctx, u64 until)
{
	struct wait_queue_entry mine;
	bool woken = true;

	/* The barrier inside pairs with the one of wq_has_sleeper() in mrpc_list_ready()
	 * and mrpc_qp_wake(): either they see the sleeper, or it sees what they did.
	 */
	if (wq) {
		init_wait_entry(&mine, 0);
		prepare_to_wait(wq, &mine, TASK_INTERRUPTIBLE);
	} else {
		set_current_state(TASK_INTERRUPTIBLE);
	}
	if (!done(ctx) && !mrpc_wait_ready(session))
		woken = mrpc_wait_schedule(until);
	if (wq)
		finish_wait(wq, &mine);
	else
		__set_current_state(TASK_RUNNING);
	return woken;
}

/**
 * mrpc_wait() - wait for a condition, running ready datapaths meanwhile
 * @session: the session
 * @qp: queue pair of this thread, or NULL
 * @wq: woken when the condition may have become true, besides the task itself;
 *	or NULL
 * @done: the condition
 * @ctx: for @done
 * @until: CLOCK_MONOTONIC ns, U64_MAX for ever
 *
 * Context: process, no lock and no claim held.
 * Return: 0, -ETIME or -EINTR.
 */
int mrpc_wait(struct mrpc_session *session, struct mrpc_qp *qp, wait_queue_head_t *wq,
	      bool (*done)(void *ctx), void *ctx, u64 until)
{
	DECLARE_WAITQUEUE(poller, current);
	bool polled = false;
	int ret;

	/* A poller also while it runs a datapath: it looks again before it sleeps. */
	add_wait_queue_exclusive(&session->pollers, &poller);
	for (;;) {
		ret = 0;
		if (done(ctx))
			break;
		ret = -EINTR;
		if (signal_pending(current))
			break;
		/* The clock is read only when it may matter: after a poll. */
		ret = -ETIME;
		if (polled && until != U64_MAX && ktime_get_ns() >= until)
			break;
		polled = mrpc_datapath_poll(session, qp);
		if (polled)
			cond_resched();
		else if (!mrpc_wait_sleep(session, wq, done, ctx, until) && !done(ctx))
			break;
	}
	remove_wait_queue(&session->pollers, &poller);
	mrpc_ready_handoff(session);
	return ret == -ETIME && done(ctx) ? 0 : ret;
}
