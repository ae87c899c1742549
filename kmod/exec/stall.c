// SPDX-License-Identifier: GPL-2.0
/*
 * The connections of a session that wait for room in its receive heap.
 *
 * The thread that frees a block kicks one connection: the oldest of those whose message the heap
 * has room for. The thread that has run this connection kicks the next one, whatever became of the
 * room. So the cost of a block does not depend on how many connections wait. No connection is
 * forgotten: the kicks go on until the heap has room for none of them.
 *
 * The runtime of a connection that was kicked may run others first, for long. Then the timers of
 * the connections that wait kick the next ones.
 */
#include <linux/list.h>

#include "core/conn.h"
#include "core/heap.h"
#include "core/session.h"
#include "exec/kick.h"
#include "exec/stall.h"
#include "lib/ds/buddy.h"

/* Takes a connection off its list. Under ready_lock. */
static void mrpc_stall_del(struct mrpc_conn *conn)
{
	list_del_init(&conn->exec.stalled);
	WRITE_ONCE(conn->session->nr_stalled, conn->session->nr_stalled - 1);
}

/**
 * mrpc_stall_begin() - let a connection wait for room
 * @conn: the connection; the caller owns its receive claim
 * @len: bytes of the block for its next message
 *
 * If it waits already, it keeps its place unless the block is of another order. After a full
 * barrier the caller must try again to allocate: a block may have come back meanwhile.
 */
void mrpc_stall_begin(struct mrpc_conn *conn, u32 len)
{
	struct mrpc_session *session = conn->session;
	u32 order = mrpc_buddy_order(len);
	struct list_head *at = &session->stalled[order];
	struct mrpc_exec *exec = &conn->exec, *other;

	spin_lock_bh(&session->ready_lock);
	if (!list_empty(&exec->stalled) && exec->stalled_order == order)
		goto out;
	if (!list_empty(&exec->stalled))
		mrpc_stall_del(conn);
	if (!exec->stalled_at || exec->stalled_order != order) {
		WRITE_ONCE(exec->stalled_at, ++session->stalls);
		exec->stalled_order = order;
		list_add_tail(&exec->stalled, at);
	} else {
		/* It was kicked as the first of this list, so few are before it. */
		list_for_each_entry(other, at, stalled)
			if (other->stalled_at > exec->stalled_at)
				break;
		list_add_tail(&exec->stalled, &other->stalled);
	}
	WRITE_ONCE(session->nr_stalled, session->nr_stalled + 1);
out:
	spin_unlock_bh(&session->ready_lock);
}

/**
 * mrpc_stall_end() - end a wait: the message has a block, or needs none any more
 * @conn: the connection; the caller owns its receive claim
 */
void mrpc_stall_end(struct mrpc_conn *conn)
{
	struct mrpc_session *session = conn->session;

	spin_lock_bh(&session->ready_lock);
	if (!list_empty(&conn->exec.stalled))
		mrpc_stall_del(conn);
	WRITE_ONCE(conn->exec.stalled_at, 0);
	spin_unlock_bh(&session->ready_lock);
}

/**
 * mrpc_stall_remove() - a connection ends: it waits no more, and another one gets its turn
 * @conn: the connection; no thread will own its receive claim any more
 */
void mrpc_stall_remove(struct mrpc_conn *conn)
{
	mrpc_stall_end(conn);
	mrpc_stall_ran(conn);
}

/**
 * mrpc_stall_pass() - kick the next connection after one that was kicked
 * @conn: the one that was kicked; it has run since, or it ends
 *
 * Context: process.
 */
void mrpc_stall_pass(struct mrpc_conn *conn)
{
	if (test_and_clear_bit(MRPC_CONN_ROOM, &conn->flags))
		mrpc_stall_kick(conn->session);
}

/* Finds the oldest of those that wait for a block of less than @orders. Under ready_lock. */
static struct mrpc_conn *mrpc_stall_oldest(struct mrpc_session *session, u32 orders)
{
	struct mrpc_conn *oldest = NULL, *conn;
	u32 i;

	for (i = 0; i < orders; i++) {
		conn = list_first_entry_or_null(&session->stalled[i], struct mrpc_conn,
						exec.stalled);
		if (conn && (!oldest || conn->exec.stalled_at < oldest->exec.stalled_at))
			oldest = conn;
	}
	return oldest;
}

/**
 * mrpc_stall_kick_oldest() - kick the connection that waits longest, of those that have room
 * @session: the session
 *
 * Context: process; not under ready_lock.
 */
void mrpc_stall_kick_oldest(struct mrpc_session *session)
{
	u32 orders = mrpc_heap_largest(&session->recv);
	struct mrpc_conn *conn;

	spin_lock_bh(&session->ready_lock);
	conn = mrpc_stall_oldest(session, orders);
	if (conn) {
		mrpc_stall_del(conn);
		/* Under the lock: mrpc_stall_remove() finds it in the list, or sees the flag. */
		set_bit(MRPC_CONN_ROOM, &conn->flags);
		mrpc_conn_get(conn);
	}
	spin_unlock_bh(&session->ready_lock);
	if (!conn)
		return;
	mrpc_kick_rx(conn);
	mrpc_conn_put(conn);
}
