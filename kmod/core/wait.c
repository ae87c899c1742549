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

/* True if there was something to run, which then was run. */
static bool mrpc_wait_poll(struct mrpc_session *session, struct mrpc_qp *qp)
{
	if (list_empty_careful(&session->ready) &&
	    list_empty_careful(&session->ready_listeners))
		return false;
	__set_current_state(TASK_RUNNING);
	return mrpc_datapath_poll(session, qp);
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
	ktime_t expires = ns_to_ktime(min_t(u64, until, KTIME_MAX));
	struct wait_queue_entry poller, mine;
	bool polled = false;
	int ret;

	init_wait_entry(&poller, WQ_FLAG_EXCLUSIVE);
	init_wait_entry(&mine, 0);
	for (;;) {
		prepare_to_wait_exclusive(&session->pollers, &poller, TASK_INTERRUPTIBLE);
		if (wq)
			prepare_to_wait(wq, &mine, TASK_INTERRUPTIBLE);
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
		polled = mrpc_wait_poll(session, qp);
		if (polled) {
			cond_resched();
			continue;
		}
		if (!schedule_hrtimeout_range(until == U64_MAX ? NULL : &expires,
					      current->timer_slack_ns, HRTIMER_MODE_ABS) &&
		    !done(ctx))
			break;
	}
	if (wq)
		finish_wait(wq, &mine);
	finish_wait(&session->pollers, &poller);
	mrpc_ready_handoff(session);
	return ret == -ETIME && done(ctx) ? 0 : ret;
}
