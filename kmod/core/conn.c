// SPDX-License-Identifier: GPL-2.0
/* Connections: references, look-up, state. */
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/xarray.h>

#include "core/carrier.h"
#include "core/conn.h"
#include "core/listener.h"
#include "core/member.h"
#include "core/globals.h"
#include "core/rx.h"
#include "core/services.h"
#include "core/session.h"
#include "core/transport.h"
#include "core/user.h"
#include "core/waiters.h"

/* Ids of datapaths, of all namespaces. The entries hold no pointers. */
static DEFINE_XARRAY_ALLOC1(mrpc_dp_ids);
static u32 mrpc_next_dp;	/* under the lock of mrpc_dp_ids */

/**
 * mrpc_conn_number() - give the datapath of a connection its id
 * @conn: the new connection; mrpc_conn_free_work() releases the id
 *
 * Context: process; may sleep. Return: 0 or -ENOMEM.
 */
int mrpc_conn_number(struct mrpc_conn *conn)
{
	int err = xa_alloc_cyclic(&mrpc_dp_ids, &conn->dp_id, NULL, xa_limit_32b, &mrpc_next_dp,
				  GFP_KERNEL_ACCOUNT);

	return err < 0 ? -ENOMEM : 0;
}

void mrpc_conn_free_work(struct work_struct *work)
{
	struct mrpc_conn *conn = container_of(work, struct mrpc_conn, free_work);
	struct mrpc_session *session = conn->session;

	if (rcu_access_pointer(session->recent) == conn)
		unrcu_pointer(cmpxchg(&session->recent, RCU_INITIALIZER(conn), NULL));
	/* A link that was never published; others end in the close work. */
	if (conn->link.priv)
		conn->link.ops->release(&conn->link);
	mrpc_transport_put(conn->link.ops);
	mrpc_transport_put(conn->link.home);
	mrpc_rx_put(conn->receive.spare);
	mrpc_services_put(conn->services.list, conn->services.nr);
	mrpc_calls_free(&conn->calls);
	xa_release(&mrpc_dp_ids, conn->dp_id);
	kfree(conn->refusal);
	kfree(conn->link.identity);
	kfree(conn->unmade);
	mrpc_user_uncharge_conn(session->user);
	if (conn->replica)
		mrpc_carrier_ops->free(conn);
	if (conn->member)
		mrpc_member_ops->put(conn->member);
	if (conn->listener)
		mrpc_listener_put(conn->listener);
	kfree_rcu(conn, rcu);
	mrpc_session_put(session);
}

static void mrpc_conn_release(struct kref *ref)
{
	struct mrpc_conn *conn = container_of(ref, struct mrpc_conn, ref);

	queue_work(mrpc_end_wq, &conn->free_work);
}

/**
 * mrpc_conn_put() - drop a reference
 * @conn: the connection
 *
 * Context: any but hard interrupt.
 */
void mrpc_conn_put(struct mrpc_conn *conn)
{
	kref_put(&conn->ref, mrpc_conn_release);
}

static struct mrpc_conn *mrpc_conn_load(struct mrpc_session *session, u32 id, bool links)
{
	struct mrpc_conn *conn;

	rcu_read_lock();
	conn = xa_load(&session->conns, id);
	if (conn && (xa_pointer_tag(conn) || (conn->replica && !links) ||
		     !kref_get_unless_zero(&conn->ref)))
		conn = NULL;
	rcu_read_unlock();
	return conn;
}

/* As mrpc_conn_load(), but fast for an application that uses one connection again and again. */
static struct mrpc_conn *mrpc_conn_recent(struct mrpc_session *session, u32 id)
{
	struct mrpc_conn *conn;

	rcu_read_lock();
	conn = rcu_dereference(session->recent);
	if (conn && (conn->id != id || test_bit(MRPC_CONN_FORGOTTEN, &conn->flags) ||
		     !kref_get_unless_zero(&conn->ref)))
		conn = NULL;
	rcu_read_unlock();
	return conn;
}

/**
 * mrpc_conn_find() - look a connection up
 * @session: the session
 * @id: the id that the application gave
 *
 * Does not find links of replicas: they do not belong to the application.
 *
 * Return: the connection with a reference, or NULL.
 */
struct mrpc_conn *mrpc_conn_find(struct mrpc_session *session, u32 id)
{
	struct mrpc_conn *conn = mrpc_conn_recent(session, id);

	if (likely(conn))
		return conn;
	conn = mrpc_conn_load(session, id, false);
	if (conn)
		rcu_assign_pointer(session->recent, conn);
	return conn;
}

/**
 * mrpc_conn_find_any() - look a connection up for the operator
 * @session: the session
 * @id: the id that the operator gave
 *
 * Return: the connection with a reference, or NULL.
 */
struct mrpc_conn *mrpc_conn_find_any(struct mrpc_session *session, u32 id)
{
	return mrpc_conn_load(session, id, true);
}

/**
 * mrpc_conn_next() - iterate over a session's connections
 * @session: the session
 * @id: start at this id; moved to the one found
 *
 * Return: the connection with a reference, or NULL at the end.
 */
struct mrpc_conn *mrpc_conn_next(struct mrpc_session *session, unsigned long *id)
{
	struct mrpc_conn *conn;

	rcu_read_lock();
	for (conn = xa_find(&session->conns, id, S32_MAX, XA_PRESENT); conn;
	     conn = xa_find_after(&session->conns, id, S32_MAX, XA_PRESENT)) {
		if (!xa_pointer_tag(conn) && kref_get_unless_zero(&conn->ref))
			break;
	}
	rcu_read_unlock();
	return conn;
}

/**
 * mrpc_conn_forget() - take a connection out of its session's table
 * @conn: the connection
 */
void mrpc_conn_forget(struct mrpc_conn *conn)
{
	if (xa_cmpxchg(&conn->session->conns, conn->id, conn, NULL, 0) != conn)
		return;
	set_bit(MRPC_CONN_FORGOTTEN, &conn->flags);
	mrpc_conn_put(conn);
}

/**
 * mrpc_conn_active() - calls in flight
 * @conn: the connection
 */
u32 mrpc_conn_active(struct mrpc_conn *conn)
{
	return conn->link.accepted ? READ_ONCE(conn->calls.server.active) :
				READ_ONCE(conn->calls.client.active);
}

bool mrpc_conn_is_drained(void *ctx)
{
	struct mrpc_conn *conn = ctx;

	if (READ_ONCE(conn->state) == MRPC_CONN_CLOSED)
		return true;
	/* A server is done only after the client's BYE: mrpc_hear_bye(). */
	if (conn->link.accepted && !test_bit(MRPC_CONN_BYE, &conn->flags))
		return false;
	return !mrpc_conn_active(conn) && !atomic_read(&conn->dp.tx_queued) &&
	       !atomic_read(&conn->link.kept);
}

/**
 * mrpc_conn_wake_drain() - mrpc_conn_drained() for a connection that is being drained
 * @conn: the connection
 */
void mrpc_conn_wake_drain(struct mrpc_conn *conn)
{
	mrpc_wake_all(&conn->wait);
	/* No thread waits for the link of a replica. The thread that ended its last call and the
	 * one that sent its last rpc both come here: one of them sees what the other did.
	 */
	smp_mb();
	if (conn->replica && mrpc_conn_is_drained(conn))
		mrpc_conn_close(conn, MRPC_UNAVAILABLE, "the replica was drained", false);
}

/**
 * mrpc_conn_close() - end a connection
 * @conn: the connection
 * @status: enum mrpc_status of its calls
 * @why: static text for its calls
 * @abort: drop what is queued
 *
 * The first call decides. The work is done later, in process context.
 * Context: process.
 */
void mrpc_conn_close(struct mrpc_conn *conn, u16 status, const char *why, bool abort)
{
	bool first;

	spin_lock(&conn->lock);
	first = conn->state != MRPC_CONN_CLOSED;
	if (first) {
		WRITE_ONCE(conn->state, MRPC_CONN_CLOSED);
		conn->close_status = status;
		conn->why = conn->unmade ?: why;
		if (abort)
			set_bit(MRPC_CONN_ABORT, &conn->flags);
	}
	spin_unlock(&conn->lock);
	if (!first)
		return;
	mrpc_conn_get(conn);
	queue_work(mrpc_end_wq, &conn->close_work);
}
