// SPDX-License-Identifier: GPL-2.0
/*
 * How connections end: all of them end here.
 */
#include <linux/delay.h>
#include <linux/hrtimer.h>
#include <linux/ktime.h>
#include <linux/list.h>

#include "call/carry.h"
#include "call/client.h"
#include "call/server.h"
#include "call/tx.h"
#include "change/change.h"
#include "conn/close.h"
#include "conn/run.h"
#include "core/call.h"
#include "core/calls.h"
#include "core/carrier.h"
#include "core/conn.h"
#include "core/globals.h"
#include "core/listener.h"
#include "core/notify.h"
#include "core/rpc.h"
#include "core/session.h"
#include "core/waiters.h"
#include "egress/domain.h"
#include "exec/control_frame.h"
#include "exec/kick.h"
#include "exec/stall.h"
#include "group/link.h"
#include "group/run.h"
#include "lib/ds/claim.h"
#include "lib/message/calltable.h"
#include "lib/message/wire.h"

/* Ends the calls of an accepted connection. @detail: NULL if the peer cannot be told any more. */
static void mrpc_conn_fail_served(struct mrpc_conn *conn, u16 status, const char *detail)
{
	struct mrpc_call *call;
	u32 pos = 0;
	u64 id;

	do {
		call = NULL;
		spin_lock(&conn->lock);
		id = mrpc_serve_next(&conn->calls.server, &pos);
		if (id) {
			call = mrpc_calls_answer(conn, id);
			conn->stats.failed++;
		}
		spin_unlock(&conn->lock);
		if (call)
			mrpc_serve_abort(call, status, detail);
	} while (id);
}

static void mrpc_conn_fail_calls(struct mrpc_conn *conn)
{
	struct mrpc_call *call;
	u32 pos = 0;
	u64 id;

	do {
		call = NULL;
		spin_lock(&conn->lock);
		id = mrpc_call_next(&conn->calls.client, &pos);
		if (id)
			call = mrpc_calls_abandon(conn, id);
		/* The claims of a link that carries it are not the caller's. */
		if (call && !call->via)
			call->unsent = !mrpc_rpc_sent(&call->rpc);
		spin_unlock(&conn->lock);
		if (call)
			mrpc_call_abort(call, conn->close_status, conn->why);
	} while (id);
}

static void mrpc_claim_quiesce(struct mrpc_claim *claim)
{
	if (mrpc_claim_disable(claim))
		return;
	/* The owner works within a budget, and the link has been shut down. */
	while (!mrpc_claim_idle(claim))
		usleep_range(20, 100);
}

/* Returns true if nothing is under way: then an orderly end takes no time and keeps no page. */
static bool mrpc_conn_idle(struct mrpc_conn *conn)
{
	if (conn->link.accepted && !test_bit(MRPC_CONN_SHOOK, &conn->flags))
		return false;
	return !mrpc_conn_active(conn) && !atomic_read(&conn->dp.tx_queued) &&
	       !atomic_read(&conn->link.kept) && !READ_ONCE(conn->receive.since) && !conn->link.ops->backlog(&conn->link);
}

/* If the peer did nothing wrong, a process exit need not look like a broken link to it. */
static bool mrpc_conn_aborts(struct mrpc_conn *conn)
{
	return test_bit(MRPC_CONN_ABORT, &conn->flags) &&
	       !(test_bit(MRPC_CONN_LEFT, &conn->flags) && mrpc_conn_idle(conn));
}

/* The closing thread waits 3 s for the end, so a link lingers for less. */
#define MRPC_CONN_LINGER	(800 * NSEC_PER_MSEC)
#define MRPC_CONN_LOOK_MIN	(50 * NSEC_PER_USEC)
#define MRPC_CONN_LOOK_MAX	(50 * NSEC_PER_MSEC)

static enum hrtimer_restart mrpc_conn_look_again(struct hrtimer *timer)
{
	struct mrpc_conn *conn = container_of(timer, struct mrpc_conn, exec.timer);

	queue_work(mrpc_end_wq, &conn->close_work);
	return HRTIMER_NORESTART;
}

/*
 * Checks if the link lingers, for an orderly end. What was sent, above all the last replies, still
 * arrives, but not at a slow peer. Thousands of connections may wait for such peers. So none of
 * them blocks a worker, and the work checks each less and less often.
 * Return: true: the close work runs again.
 */
static bool mrpc_conn_lingers(struct mrpc_conn *conn)
{
	u64 waited = ktime_get_ns() - conn->down_since, wait;

	if (!conn->link.ops->busy(&conn->link) || waited >= MRPC_CONN_LINGER)
		return false;
	wait = clamp_t(u64, waited, MRPC_CONN_LOOK_MIN, MRPC_CONN_LOOK_MAX);
	hrtimer_start(&conn->exec.timer, ns_to_ktime(wait), HRTIMER_MODE_REL_SOFT);
	return true;
}

static void mrpc_conn_unlink(struct mrpc_conn *conn)
{
	if (conn->link.priv)
		conn->link.ops->release(&conn->link);
	conn->link.priv = NULL;
	/* Callbacks may have been on their way. */
	hrtimer_cancel(&conn->exec.timer);
	mrpc_ready_remove(conn);
}

/*
 * Ends everything except a link that lingers. Calls do not wait for a lingering link. If the link
 * does not linger, calls complete after its end, and learn at once that their blocks are free.
 */
static void mrpc_conn_down(struct mrpc_conn *conn)
{
	bool abort = !conn->link.priv || mrpc_conn_aborts(conn);

	if (conn->link.priv)
		conn->link.ops->shutdown(&conn->link, abort);
	mrpc_claim_quiesce(&conn->exec.tx);
	mrpc_claim_quiesce(&conn->exec.rx);
	hrtimer_cancel(&conn->exec.timer);
	conn->exec.timer.function = mrpc_conn_look_again;	/* no other thread arms it any more */
	conn->down_since = ktime_get_ns();
	mrpc_ready_remove(conn);
	mrpc_stall_remove(conn);
	if (!conn->link.ops->sender || !conn->link.priv)
		mrpc_domain_leave(&conn->link);
	if (abort || !mrpc_conn_lingers(conn))
		mrpc_conn_unlink(conn);
	mrpc_datapath_purge(conn);
	if (conn->member)
		mrpc_member_unlink(conn);
	if (conn->replica)
		mrpc_carry_fail_all(conn);
	else if (conn->link.accepted)
		mrpc_conn_fail_served(conn, conn->close_status, NULL);
	else
		mrpc_conn_fail_calls(conn);
	mrpc_datapath_leave(conn);
	mrpc_carrier_ops->parent_closed(conn);
}

/* Reports the end of a connection, after the end of its link. */
static void mrpc_conn_ended(struct mrpc_conn *conn)
{
	/* Chunks that the link had are read no more, and the kick for that may be lost. */
	if (conn->member)
		mrpc_member_run(conn->member);
	set_bit(MRPC_CONN_DEAD, &conn->flags);
	smp_mb__after_atomic();	/* before the look at the waiters */
	mrpc_wake_all(&conn->wait);
	mrpc_notify_conn(conn, MRPC_EVENT_CONN_CLOSE);
	if (conn->link.accepted) {
		mrpc_conn_forget(conn);
		mrpc_listener_fold(conn);
	}
	if (conn->replica)
		mrpc_carrier_ops->down(conn);
	mrpc_call_free_spares(xchg(&conn->session->call_spares, NULL));
	mrpc_conn_put(conn);
}

/**
 * mrpc_conn_close_work() - end a connection, queued by mrpc_conn_close()
 * @work: the work of a connection; holds a reference
 *
 * Runs repeatedly while the link lingers.
 */
void mrpc_conn_close_work(struct work_struct *work)
{
	struct mrpc_conn *conn = container_of(work, struct mrpc_conn, close_work);
	bool first, lingers;

	if (conn->link.accepted)
		mrpc_listener_settled(conn);
	mutex_lock(&conn->dp.change_lock);
	first = !conn->down_since;
	if (first)
		mrpc_conn_down(conn);
	else if (!mrpc_conn_lingers(conn))
		mrpc_conn_unlink(conn);
	lingers = conn->link.priv;
	mutex_unlock(&conn->dp.change_lock);
	/* A thread that submits from now on finds CLOSED, and drops the rpc itself. A thread that
	 * did so a moment ago may have left the rpc to a runtime.
	 */
	if (first && (mrpc_claim_enable(&conn->exec.tx) || !llist_empty(&conn->dp.submitted)))
		mrpc_datapath_tx(conn);
	if (first)
		mrpc_carry_flush(conn);
	if (!lingers)
		mrpc_conn_ended(conn);
}

/**
 * mrpc_conn_bye() - allow no new calls from now on; those in flight finish
 * @conn: the connection
 *
 * Context: process; may sleep; no claim held.
 */
void mrpc_conn_bye(struct mrpc_conn *conn)
{
	spin_lock(&conn->lock);
	if (conn->state == MRPC_CONN_READY)
		WRITE_ONCE(conn->state, MRPC_CONN_DRAINING);
	spin_unlock(&conn->lock);
	/* The link of a replica ends with its last call. Engines may still hold calls that it was
	 * given: these must not follow a BYE.
	 */
	if (conn->replica)
		mrpc_conn_drained(conn);
	else if (!mrpc_conn_send_control(conn, MRPC_WIRE_BYE, 0))
		mrpc_datapath_tx(conn);
}

/**
 * mrpc_conn_deny_calls() - take no more calls over an accepted connection
 * @conn: the connection, of a group: it goes on with chunks
 *
 * Its listener has closed. Calls that it has, and later ones, end with UNAVAILABLE. So no server that the
 * session has afterwards gets one of them: their services may have other numbers there.
 *
 * Context: process; may sleep; no claim held.
 */
void mrpc_conn_deny_calls(struct mrpc_conn *conn)
{
	mutex_lock(&conn->dp.change_lock);	/* else another thread may enable the claim */
	if (!conn->down_since) {
		mrpc_claim_quiesce(&conn->exec.rx);
		set_bit(MRPC_CONN_NO_CALLS, &conn->flags);
		mrpc_claim_enable(&conn->exec.rx);
	}
	mutex_unlock(&conn->dp.change_lock);
	mrpc_conn_fail_served(conn, MRPC_UNAVAILABLE, "the server has shut down");
	mrpc_datapath_tx(conn);
	mrpc_kick_again(conn, MRPC_CONN_RX_READY);
}
