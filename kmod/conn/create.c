// SPDX-License-Identifier: GPL-2.0
/* Connections: how they are made and become known. */
#include <linux/list.h>
#include <linux/slab.h>

#include "change/change.h"
#include "conn/close.h"
#include "conn/create.h"
#include "conn/run.h"
#include "core/conn.h"
#include "core/listener.h"
#include "core/session.h"
#include "core/user.h"
#include "core/waiters.h"
#include "exec/kick.h"
#include "lib/ds/claim.h"

#define MRPC_DEFAULT_KEEPALIVE	(10 * NSEC_PER_SEC)
#define MRPC_KEEPALIVE_MIN	(100 * NSEC_PER_MSEC)

/**
 * mrpc_conn_keepalive_ns() - the keepalive interval of an ioctl's argument
 * @us: microseconds, 0 for the default
 *
 * Not so short that the clock's ticks look like silence.
 */
u64 mrpc_conn_keepalive_ns(u64 us)
{
	return max_t(u64, mrpc_us_or(us, MRPC_DEFAULT_KEEPALIVE), MRPC_KEEPALIVE_MIN);
}

/**
 * mrpc_conn_new() - a connection without link
 * @session: owner
 * @ops: transport, whose module reference the connection takes over on success
 * @l: the listener that accepts it, or NULL
 *
 * Context: process; may sleep.
 * Return: the connection with one reference, or an ERR_PTR.
 */
struct mrpc_conn *mrpc_conn_new(struct mrpc_session *session,
				const struct mrpc_transport_ops *ops, struct mrpc_listener *l)
{
	struct mrpc_conn *conn;
	int err;

	err = mrpc_user_charge_conn(session);
	if (err)
		return ERR_PTR(err);
	conn = kzalloc(sizeof(*conn), GFP_KERNEL_ACCOUNT);
	if (!conn)
		goto err_charge;
	kref_init(&conn->ref);
	spin_lock_init(&conn->lock);
	mrpc_waiters_init(&conn->wait);
	INIT_WORK(&conn->close_work, mrpc_conn_close_work);
	INIT_WORK(&conn->dp.change_work, mrpc_datapath_change_work);
	INIT_WORK(&conn->free_work, mrpc_conn_free_work);
	INIT_LIST_HEAD(&conn->replicas);
	mrpc_datapath_init(conn);
	INIT_LIST_HEAD(&conn->shaking);
	conn->state = MRPC_CONN_CONNECTING;
	conn->exec.timer_at = U64_MAX;
	conn->opened = ktime_get_ns();
	conn->link.last_rx = get_jiffies_64();
	if (mrpc_calls_init(&conn->calls, l))
		goto err_free;
	if (mrpc_conn_number(conn))
		goto err_tables;
	mrpc_session_get(session);
	conn->session = session;
	if (l)
		mrpc_listener_get(l);
	conn->listener = l;
	conn->link.accepted = l;
	conn->link.net = session->net;
	conn->link.receive = &conn->receive;
	conn->link.home = ops;
	conn->link.ops = ops;
	conn->link.features.want = ops->features;
	__module_get(ops->owner);
	return conn;

err_tables:
	mrpc_calls_free(&conn->calls);
err_free:
	kfree(conn);
err_charge:
	mrpc_user_uncharge_conn(session->user);
	return ERR_PTR(-ENOMEM);
}

/**
 * mrpc_conn_publish() - a connection has its link: let it be found, and run
 * @conn: the connection, its id reserved; the table takes a reference
 *
 * Return: 0, or -ESHUTDOWN when the session is closing.
 */
int mrpc_conn_publish(struct mrpc_conn *conn)
{
	int err;

	mrpc_conn_get(conn);
	err = mrpc_session_publish(conn->session, conn->id, conn);
	if (err) {
		mrpc_conn_put(conn);
		return err;
	}
	mrpc_claim_enable(&conn->exec.rx);
	mrpc_conn_start(conn);
	mrpc_datapath_kick(conn);
	return 0;
}
