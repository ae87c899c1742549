// SPDX-License-Identifier: GPL-2.0
/*
 * Readiness: telling the runner of a connection or listener that it has something to do.
 *
 * The runner is a waiting thread, a runtime or a work item. A kick only sets flags and wakes, so
 * links may kick in softirq.
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
 * mrpc_conn_arm() - make mrpc_conn_timeout() run at a given time, or earlier
 * @conn: the connection
 * @when: CLOCK_MONOTONIC time in ns
 *
 * Nearly always the timer is already set for an earlier time, and this does nothing.
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
 * mrpc_link_arm() - set the time of the next look at a link; an earlier one stays
 * @link: the link. One that is worn drains then; ops->recv is called of a transport that is
 *	MRPC_TRANSPORT_FOREIGN
 * @when: CLOCK_MONOTONIC time in ns
 *
 * Context: process.
 */
void mrpc_link_arm(struct mrpc_link *link, u64 when)
{
	mrpc_conn_arm(mrpc_link_conn(link), when);
}
EXPORT_SYMBOL_GPL(mrpc_link_arm);

/**
 * mrpc_conn_start() - start the keepalive and handshake limits of a new link
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
	/* The last poller may have left between our check and the entry. Pairs with the
	 * barrier in mrpc_ready_handoff(): one side sees the other.
	 */
	if (!mrpc_wake_one(&session->pollers))
		mrpc_ready_handoff(session);
}

/*
 * Makes a runner run the datapath. Any context but hard interrupt. The caller has set a flag, and
 * so has had a full barrier after the writes that the runner must see.
 */
static void mrpc_kick(struct mrpc_conn *conn)
{
	if (rcu_access_pointer(conn->exec.runtime) && mrpc_runtime_kick(conn))
		return;
	/* A poller that is awake looks again before it sleeps. */
	if (mrpc_waiters_any(&conn->session->pollers))
		mrpc_list_ready(conn);
	else
		mrpc_queue_work(conn);
}

/**
 * mrpc_kick_rx() - tell that the link has input
 * @conn: the connection
 *
 * Context: any but hard interrupt.
 */
void mrpc_kick_rx(struct mrpc_conn *conn)
{
	if (!test_and_set_bit(MRPC_CONN_RX_READY, &conn->flags))
		mrpc_kick(conn);
}

/**
 * mrpc_kick_tx() - tell that the link has room again
 * @conn: the connection
 *
 * Context: any but hard interrupt.
 */
void mrpc_kick_tx(struct mrpc_conn *conn)
{
	if (!test_and_set_bit(MRPC_CONN_TX_READY, &conn->flags))
		mrpc_kick(conn);
}

/**
 * mrpc_link_kick_rx() - mrpc_kick_rx() for transports
 * @link: the link, which has input
 *
 * Context: any but hard interrupt.
 */
void mrpc_link_kick_rx(struct mrpc_link *link)
{
	mrpc_kick_rx(mrpc_link_conn(link));
}
EXPORT_SYMBOL_GPL(mrpc_link_kick_rx);

/**
 * mrpc_link_kick_tx() - mrpc_kick_tx() for transports
 * @link: the link, which has room again
 *
 * Context: any but hard interrupt.
 */
void mrpc_link_kick_tx(struct mrpc_link *link)
{
	mrpc_kick_tx(mrpc_link_conn(link));
}
EXPORT_SYMBOL_GPL(mrpc_link_kick_tx);

/**
 * mrpc_kick_again() - kick after giving a claim back, as work may be left
 * @conn: the connection
 * @flag: MRPC_CONN_RX_READY or MRPC_CONN_TX_READY
 *
 * Kicks in any case. The flag may be set already: the runner that was kicked for it may have come,
 * found the claim taken and left.
 */
void mrpc_kick_again(struct mrpc_conn *conn, int flag)
{
	set_bit(flag, &conn->flags);
	smp_mb__after_atomic();	/* for mrpc_kick() */
	mrpc_kick(conn);
}

/**
 * mrpc_datapath_kick() - check what the link of a complete new connection has
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

/* Takes a connection that ends off the ready list. */
void mrpc_ready_remove(struct mrpc_conn *conn)
{
	struct mrpc_session *session = conn->session;
	u32 refs = 0;

	if (cmpxchg(&session->ready_first, conn, NULL) == conn) {
		clear_bit(MRPC_CONN_LISTED, &conn->flags);
		refs++;
	}
	spin_lock_bh(&session->ready_lock);
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
 * Takes the first ready connection, with its reference. A kick from now on lists it again. The
 * thread that runs it sees all that was done before earlier kicks. Return: NULL: none is ready.
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
		smp_mb__after_atomic();	/* pairs with the test_and_set_bit() of the listing */
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
 * mrpc_ready_handoff() - make another thread look, when a polling thread leaves
 * @session: the session
 *
 * Context: any but hard interrupt. Listeners stay on their list for the next thread that
 * enters: accepted sockets are charged to the application.
 */
void mrpc_ready_handoff(struct mrpc_session *session)
{
	struct mrpc_conn *conn;

	smp_mb();	/* pairs with the barrier after an entry in mrpc_list_ready() */
	if (!list_empty(&session->ready_listeners)) {
		smp_mb();	/* a poller that did not see this entry is seen here */
		if (!mrpc_wake_one(&session->pollers))
			mrpc_qp_set_pending(session);
	}
	while (mrpc_session_ready(session)) {
		smp_mb();	/* as above */
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
 * mrpc_kick_listener() - tell that a link waits to be accepted
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
	if (l->closed) {	/* no thread would take it off the list again */
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
 * mrpc_listener_settled() - note that a handshake has succeeded, or that its connection ends
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
	/* At the limit, accepting stops: no other event would start it again. */
	if (full)
		mrpc_kick_listener(l);
}

/* Takes a listener that ends off the ready list. */
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
