// SPDX-License-Identifier: GPL-2.0
/*
 * Readiness: a connection or listener has something to do, and its runner is told.
 *
 * The runner is a thread that waits, a runtime or a work item. A kick only sets flags
 * and wakes, so links may kick in softirq.
 */
#include <linux/hrtimer.h>
#include <linux/list.h>

#include "core/conn.h"
#include "core/globals.h"
#include "core/listener.h"
#include "core/qp.h"
#include "core/session.h"
#include "core/waiters.h"
#include "exec/kick.h"
#include "exec/runtime.h"

/**
 * mrpc_conn_arm() - have mrpc_conn_timeout() run at a time, or earlier
 * @conn: the connection
 * @when: CLOCK_MONOTONIC, ns
 *
 * Nearly always finds the timer set for an earlier time and does nothing.
 */
void mrpc_conn_arm(struct mrpc_conn *conn, u64 when)
{
	if (when >= READ_ONCE(conn->exec.timer_at))
		return;
	spin_lock(&conn->lock);
	if (when < conn->exec.timer_at && conn->state != MRPC_CONN_CLOSED) {
		WRITE_ONCE(conn->exec.timer_at, when);
		hrtimer_start(&conn->exec.timer, ns_to_ktime(when), HRTIMER_MODE_ABS_SOFT);
	}
	spin_unlock(&conn->lock);
}

/**
 * mrpc_conn_start() - a link exists: keepalive and handshake limits apply
 * @conn: the connection
 */
void mrpc_conn_start(struct mrpc_conn *conn)
{
	mrpc_conn_arm(conn, ktime_get_ns() + min_t(u64, conn->link.keepalive, NSEC_PER_SEC));
}

static void mrpc_queue_work(struct mrpc_conn *conn)
{
	mrpc_conn_get(conn);
	if (!queue_work(mrpc_wq, &conn->exec.work))
		mrpc_conn_put(conn);
}

static void mrpc_list_ready(struct mrpc_conn *conn)
{
	struct mrpc_session *session = conn->session;

	if (test_and_set_bit(MRPC_CONN_LISTED, &conn->flags))
		return;
	mrpc_conn_get(conn);
	if (!list_empty(&session->ready) || cmpxchg(&session->ready_first, NULL, conn)) {
		spin_lock_bh(&session->ready_lock);
		list_add_tail(&conn->exec.ready, &session->ready);
		spin_unlock_bh(&session->ready_lock);
		smp_mb();	/* as the cmpxchg() that succeeds */
	}
	/* The last poller may have left between our look and the entry. Pairs
	 * with the barrier in mrpc_ready_handoff(): one of us sees the other.
	 */
	if (!mrpc_wake_one(&session->pollers))
		mrpc_ready_handoff(session);
}

/*
 * Make somebody run the datapath. Any context but hard interrupt. The caller has had a full
 * barrier since he did what is to be seen: a flag was set.
 */
static void mrpc_kick(struct mrpc_conn *conn)
{
	if (rcu_access_pointer(conn->exec.runtime) && mrpc_runtime_kick(conn))
		return;
	/* A poller that does not sleep looks again before it does. */
	if (mrpc_waiters_any(&conn->session->pollers))
		mrpc_list_ready(conn);
	else
		mrpc_queue_work(conn);
}

/**
 * mrpc_kick_rx() - the link has input
 * @conn: the connection
 *
 * Context: any but hard interrupt.
 */
void mrpc_kick_rx(struct mrpc_conn *conn)
{
	if (!test_and_set_bit(MRPC_CONN_RX_READY, &conn->flags))
		mrpc_kick(conn);
}
EXPORT_SYMBOL_GPL(mrpc_kick_rx);

/**
 * mrpc_kick_tx() - the link has room again
 * @conn: the connection
 *
 * Context: any but hard interrupt.
 */
void mrpc_kick_tx(struct mrpc_conn *conn)
{
	if (!test_and_set_bit(MRPC_CONN_TX_READY, &conn->flags))
		mrpc_kick(conn);
}
EXPORT_SYMBOL_GPL(mrpc_kick_tx);

/**
 * mrpc_kick_again() - a claim was given back although work may be left
 * @conn: the connection
 * @flag: MRPC_CONN_RX_READY or MRPC_CONN_TX_READY
 *
 * The flag may be set already, and whoever was called for it may have come,
 * found the claim taken and left: so kick in any case.
 */
void mrpc_kick_again(struct mrpc_conn *conn, int flag)
{
	set_bit(flag, &conn->flags);
	smp_mb__after_atomic();	/* for mrpc_kick() */
	mrpc_kick(conn);
}

/**
 * mrpc_datapath_kick() - a connection is complete: look what its link has
 * @conn: the connection
 */
void mrpc_datapath_kick(struct mrpc_conn *conn)
{
	mrpc_kick_again(conn, MRPC_CONN_RX_READY);
}

enum hrtimer_restart mrpc_timer_fired(struct hrtimer *timer)
{
	struct mrpc_conn *conn = container_of(timer, struct mrpc_conn, exec.timer);

	if (!test_and_set_bit(MRPC_CONN_TIMER, &conn->flags))
		mrpc_kick(conn);
	return HRTIMER_NORESTART;
}

/* Take a connection off the ready list, for one that dies. */
void mrpc_ready_remove(struct mrpc_conn *conn)
{
	struct mrpc_session *session = conn->session;
	u32 refs = 0;

	if (cmpxchg(&session->ready_first, conn, NULL) == conn) {
		clear_bit(MRPC_CONN_LISTED, &conn->flags);
		refs++;
	}
	spin_lock_bh(&session->ready_lock);
	if (!list_empty(&conn->exec.stalled))
		list_del_init(&conn->exec.stalled);
	if (!list_empty(&conn->exec.ready)) {
		list_del_init(&conn->exec.ready);
		clear_bit(MRPC_CONN_LISTED, &conn->flags);
		refs++;
	}
	spin_unlock_bh(&session->ready_lock);
	while (refs--)		/* it may have been listed again in between */
		mrpc_conn_put(conn);
}

/*
 * Take the first of the ready connections, with its reference. Who kicks it from now on
 * lists it again; what he did before is seen by who runs it. Return: NULL: there is none.
 */
struct mrpc_conn *mrpc_ready_take(struct mrpc_session *session)
{
	struct mrpc_conn *conn = NULL;

	if (READ_ONCE(session->ready_first))
		conn = xchg(&session->ready_first, NULL);
	if (!conn && !list_empty(&session->ready)) {
		spin_lock_bh(&session->ready_lock);
		conn = list_first_entry_or_null(&session->ready, struct mrpc_conn, exec.ready);
		if (conn)
			list_del_init(&conn->exec.ready);
		spin_unlock_bh(&session->ready_lock);
	}
	if (conn) {
		clear_bit(MRPC_CONN_LISTED, &conn->flags);
		smp_mb__after_atomic();	/* pairs with the test_and_set_bit() of who lists it */
	}
	return conn;
}

struct mrpc_listener *mrpc_ready_take_listener(struct mrpc_session *session)
{
	struct mrpc_listener *l;

	spin_lock_bh(&session->ready_lock);
	l = list_first_entry_or_null(&session->ready_listeners, struct mrpc_listener, ready);
	if (l) {
		list_del_init(&l->ready);
		clear_bit(MRPC_LISTENER_LISTED, &l->flags);
	}
	spin_unlock_bh(&session->ready_lock);
	return l;
}

/**
 * mrpc_ready_handoff() - a polling thread leaves: somebody else must look
 * @session: the session
 *
 * Context: any but hard interrupt. Listeners stay on their list for the next thread that
 * enters: accepted sockets are charged to the application.
 */
void mrpc_ready_handoff(struct mrpc_session *session)
{
	struct mrpc_conn *conn;

	smp_mb();	/* pairs with the one after an entry in mrpc_list_ready() */
	if (!list_empty(&session->ready_listeners)) {
		smp_mb();	/* who did not see this entry is seen */
		if (!mrpc_wake_one(&session->pollers))
			mrpc_qp_set_pending(session);
	}
	while (mrpc_session_ready(session)) {
		smp_mb();	/* likewise */
		if (mrpc_wake_one(&session->pollers))
			return;
		conn = mrpc_ready_take(session);
		if (conn) {
			mrpc_queue_work(conn);
			mrpc_conn_put(conn);
		}
	}
}

/**
 * mrpc_datapath_unstall() - receive heap has become free
 * @session: the session
 */
void mrpc_datapath_unstall(struct mrpc_session *session)
{
	struct mrpc_conn *conn;
	LIST_HEAD(now);

	/* Those that stall again meanwhile wait for the next release. */
	spin_lock_bh(&session->ready_lock);
	list_splice_init(&session->stalled, &now);
	while (!list_empty(&now)) {
		conn = list_first_entry(&now, struct mrpc_conn, exec.stalled);
		list_del_init(&conn->exec.stalled);
		mrpc_conn_get(conn);
		spin_unlock_bh(&session->ready_lock);
		mrpc_kick_rx(conn);
		mrpc_conn_put(conn);
		spin_lock_bh(&session->ready_lock);
	}
	spin_unlock_bh(&session->ready_lock);
}

/**
 * mrpc_kick_listener() - a link waits to be accepted
 * @l: the listener
 *
 * Context: any but hard interrupt.
 */
void mrpc_kick_listener(struct mrpc_listener *l)
{
	struct mrpc_session *session = l->session;

	if (test_and_set_bit(MRPC_LISTENER_LISTED, &l->flags))
		return;
	spin_lock_bh(&session->ready_lock);
	if (l->closed) {	/* nobody would take it off the list again */
		spin_unlock_bh(&session->ready_lock);
		return;
	}
	kref_get(&l->ref);
	list_add_tail(&l->ready, &session->ready_listeners);
	spin_unlock_bh(&session->ready_lock);
	smp_mb();	/* as in mrpc_list_ready() */
	if (!mrpc_wake_one(&session->pollers))
		mrpc_qp_set_pending(session);
}
EXPORT_SYMBOL_GPL(mrpc_kick_listener);

/**
 * mrpc_listener_settled() - a handshake has succeeded, or its connection ends
 * @conn: the accepted connection; it may have settled before
 *
 * Context: process.
 */
void mrpc_listener_settled(struct mrpc_conn *conn)
{
	struct mrpc_listener *l = conn->listener;
	bool full = false;

	spin_lock(&l->lock);
	if (!list_empty(&conn->shaking)) {
		list_del_init(&conn->shaking);
		full = l->pending == MRPC_LISTENER_PENDING;
		WRITE_ONCE(l->pending, l->pending - 1);
		l->peers[conn->shaking_slot]--;
	}
	spin_unlock(&l->lock);
	/* At the limit accepting stops: no other event would start it again. */
	if (full)
		mrpc_kick_listener(l);
}

/* Take a listener off the ready list, for one that ends. */
void mrpc_ready_remove_listener(struct mrpc_listener *l)
{
	struct mrpc_session *session = l->session;
	bool listed = false;

	spin_lock_bh(&session->ready_lock);
	WRITE_ONCE(l->closed, true);
	if (!list_empty(&l->ready)) {
		list_del_init(&l->ready);
		listed = true;
	}
	spin_unlock_bh(&session->ready_lock);
	if (listed)
		mrpc_listener_put(l);
}
