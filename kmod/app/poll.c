// SPDX-License-Identifier: GPL-2.0
/*
 * Waiting. A thread that waits runs the ready datapaths of its session itself, so the event that it
 * waits for needs no second wake-up.
 */
#include <linux/ktime.h>
#include <linux/list.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/sched/stat.h>
#include <linux/wait.h>

#include "app/poll.h"
#include "conn/accept.h"
#include "conn/run.h"
#include "core/conn.h"
#include "core/globals.h"
#include "core/listener.h"
#include "core/qp.h"
#include "core/session.h"
#include "exec/kick.h"

/**
 * mrpc_datapath_poll() - run one ready connection or listener of a session
 * @session: the session
 * @qp: queue pair of the calling thread, or NULL
 *
 * Context: process; may sleep; in a thread of the session's application.
 * Return: false if none was ready.
 */
bool mrpc_datapath_poll(struct mrpc_session *session, struct mrpc_qp *qp)
{
	struct mrpc_listener *l = NULL;
	struct mrpc_conn *conn;

	/* Listeners first: busy connections must not keep new ones out. */
	if (unlikely(!list_empty(&session->ready_listeners)))
		l = mrpc_ready_take_listener(session);
	if (unlikely(l)) {
		mrpc_listener_run(l);
		mrpc_listener_put(l);
		return true;
	}
	conn = mrpc_ready_take(session);
	if (!conn)
		return false;
	mrpc_datapath_run(conn, qp);
	mrpc_conn_put(conn);
	return true;
}

/* Return: false: @entry is needed, because w->one is in use. Full barrier. */
static bool mrpc_waiters_join(struct mrpc_waiters *w, struct wait_queue_entry *entry)
{
	if (!READ_ONCE(w->one) && !cmpxchg(&w->one, NULL, current))
		return true;
	init_waitqueue_entry(entry, current);
	return false;
}

static void mrpc_waiters_leave(struct mrpc_waiters *w, struct wait_queue_entry *entry, bool one)
{
	if (one)
		smp_store_release(&w->one, NULL);	/* the next waiter sees our writes */
	else
		remove_wait_queue(&w->others, entry);
}

static bool mrpc_wait_ready(const struct mrpc_session *session)
{
	return mrpc_session_ready(session) || !list_empty_careful(&session->ready_listeners);
}

/* Sleeps. Return: false: the time @until has come. */
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
 * Sleeps, unless there is something to do. The thread is among @waiters only while it sleeps. So if
 * it makes the condition true itself, by running a datapath, it need not wake itself.
 * Return: false: the time @until has come.
 */
static bool mrpc_wait_sleep(struct mrpc_session *session, struct mrpc_waiters *waiters,
			    bool (*done)(void *ctx), void *ctx, u64 until)
{
	struct wait_queue_entry entry __uninitialized;
	bool woken = true, one = false;

	if (waiters) {
		one = mrpc_waiters_join(waiters, &entry);
		if (!one)
			add_wait_queue(&waiters->others, &entry);
	}
	/* The barrier pairs with the one of mrpc_waiters_any(): either the waker sees the
	 * sleeper, or the sleeper sees the waker's writes.
	 */
	set_current_state(TASK_INTERRUPTIBLE);
	if (!done(ctx) && !mrpc_wait_ready(session))
		woken = mrpc_wait_schedule(until);
	__set_current_state(TASK_RUNNING);
	if (waiters)
		mrpc_waiters_leave(waiters, &entry, one);
	return woken;
}

#define MRPC_BUSY_MAX	(10 * USEC_PER_MSEC)

/*
 * Polls for a while instead of sleeping (busy_poll): a thread that does not sleep needs no wake-up.
 * It is a poller, so others leave what becomes ready to it; it sees all else by itself. It stops if
 * another task wants the processor, perhaps the task that it waits for. @end: end of polling, 0 on
 * the first call. It stays the same over several calls, as others may take what this thread sees.
 * Return: true: there is something to do.
 */
static noinline bool mrpc_wait_busy(struct mrpc_session *session, bool (*done)(void *ctx),
				    void *ctx, u32 us, u64 until, u64 *end)
{
	u64 now = ktime_get_ns();

	if (!*end)
		*end = min(until, now + min_t(u64, us, MRPC_BUSY_MAX) * NSEC_PER_USEC);
	for (; now < *end; now = ktime_get_ns()) {
		if (!single_task_running() || need_resched() || signal_pending(current))
			break;
		if (mrpc_wait_ready(session) || done(ctx))
			return true;
		cpu_relax();
	}
	return false;
}

/**
 * mrpc_poll_begin() - make this thread a poller: it will look for ready datapaths
 * @session: the session
 * @p: on the stack, until mrpc_poll_end()
 *
 * From now on other threads leave what becomes ready to it, unless another poller sleeps. A poller
 * looks again before it sleeps or ends. Context: process.
 */
void mrpc_poll_begin(struct mrpc_session *session, struct mrpc_poller *p)
{
	p->one = mrpc_waiters_join(&session->pollers, &p->entry);
	if (!p->one)
		add_wait_queue_exclusive(&session->pollers.others, &p->entry);
}

/**
 * mrpc_poll_end() - end being a poller; others run what is still ready
 * @session: the session
 * @p: from mrpc_poll_begin()
 */
void mrpc_poll_end(struct mrpc_session *session, struct mrpc_poller *p)
{
	mrpc_waiters_leave(&session->pollers, &p->entry, p->one);
	mrpc_ready_handoff(session);
}

/**
 * mrpc_poll_wait() - wait for a condition, running ready datapaths meanwhile
 * @session: the session, between mrpc_poll_begin() and mrpc_poll_end()
 * @qp: queue pair of this thread, or NULL
 * @waiters: list that is woken when the condition may have become true, besides the task itself;
 *	or NULL
 * @done: the condition
 * @ctx: for @done
 * @until: CLOCK_MONOTONIC time in ns, U64_MAX for ever
 *
 * Context: process, no lock and no claim held.
 * Return: 0, -ETIME or -EINTR.
 */
int mrpc_poll_wait(struct mrpc_session *session, struct mrpc_qp *qp, struct mrpc_waiters *waiters,
		   bool (*done)(void *ctx), void *ctx, u64 until)
{
	u32 busy = READ_ONCE(mrpc_knobs.busy_poll);
	u64 busy_end = 0;
	bool polled = false;
	int ret;

	for (;;) {
		ret = 0;
		if (done(ctx))
			break;
		ret = -EINTR;
		if (signal_pending(current))
			break;
		/* Read the clock only if it may matter: after a poll. */
		ret = -ETIME;
		if (polled && until != U64_MAX && ktime_get_ns() >= until)
			break;
		polled = mrpc_datapath_poll(session, qp);
		if (polled) {
			busy_end = 0;
			cond_resched();
			continue;
		}
		if (unlikely(busy) && mrpc_wait_busy(session, done, ctx, busy, until, &busy_end))
			continue;
		if (!mrpc_wait_sleep(session, waiters, done, ctx, until) && !done(ctx))
			break;
	}
	return ret == -ETIME && done(ctx) ? 0 : ret;
}

/**
 * mrpc_wait() - mrpc_poll_wait() for a thread that does nothing else
 * @session: the session
 * @waiters: see mrpc_poll_wait()
 * @done: see mrpc_poll_wait()
 * @ctx: see mrpc_poll_wait()
 * @until: see mrpc_poll_wait()
 *
 * Context and return: see mrpc_poll_wait().
 */
int mrpc_wait(struct mrpc_session *session, struct mrpc_waiters *waiters,
	      bool (*done)(void *ctx), void *ctx, u64 until)
{
	struct mrpc_poller poller __uninitialized;
	int ret;

	mrpc_poll_begin(session, &poller);
	ret = mrpc_poll_wait(session, NULL, waiters, done, ctx, until);
	mrpc_poll_end(session, &poller);
	return ret;
}
