// SPDX-License-Identifier: GPL-2.0
/* Accepting: a listener turns waiting links into connections. */
#include <linux/delay.h>
#include <linux/slab.h>

#include "change/link_version.h"
#include "conn/accept.h"
#include "conn/create.h"
#include "core/conn.h"
#include "core/globals.h"
#include "core/listener.h"
#include "core/notify.h"
#include "core/schema.h"
#include "core/session.h"
#include "exec/kick.h"
#include "lib/ds/claim.h"

#define MRPC_ACCEPT_BUDGET	64	/* links before others get a turn */

int mrpc_listener_publish(struct mrpc_listener *l)
{
	int err;

	kref_get(&l->ref);
	err = mrpc_session_publish(l->session, l->id, xa_tag_pointer(l, MRPC_LISTENER_TAG));
	if (err) {
		mrpc_listener_put(l);
		return err;
	}
	mrpc_claim_enable(&l->claim);
	mrpc_kick_listener(l);
	return 0;
}

/* Accept one link. Return: 0; -EAGAIN: none waits; else it was dropped. */
static int mrpc_listener_accept(struct mrpc_listener *l)
{
	struct mrpc_conn *conn;
	u32 i;
	int err;

	if (!l->ops->waiting(l))
		return -EAGAIN;
	__module_get(l->ops->owner);
	conn = mrpc_conn_new(l->session, l->ops, l);
	if (IS_ERR(conn)) {	/* no memory, or the user has too many */
		module_put(l->ops->owner);
		return l->ops->accept(l, NULL);
	}
	conn->max_message = l->max_message;
	conn->keepalive = l->keepalive;
	conn->services = kcalloc(l->nr_services, sizeof(*conn->services), GFP_KERNEL_ACCOUNT);
	err = -ENOMEM;
	if (!conn->services)
		goto out;
	for (i = 0; i < l->nr_services; i++) {
		conn->services[i].schema = l->services[i].schema;
		mrpc_schema_get(conn->services[i].schema);
	}
	conn->nr_services = l->nr_services;
	err = mrpc_session_reserve(l->session, &conn->id);
	if (err)
		goto out;
	err = l->ops->accept(l, conn);
	if (err) {
		mrpc_session_unreserve(l->session, conn->id);
		goto out;
	}
	mrpc_link_begin(conn);
	atomic_inc(&l->pending);
	WRITE_ONCE(l->accepted, l->accepted + 1);
	err = mrpc_conn_publish(conn);
	if (err)
		atomic_dec(&l->pending);
out:
	mrpc_conn_put(conn);
	return err;
}

/**
 * mrpc_listener_run() - accept what waits
 * @l: the listener
 *
 * Context: process; may sleep.
 */
void mrpc_listener_run(struct mrpc_listener *l)
{
	int budget = MRPC_ACCEPT_BUDGET, err;

	if (!mrpc_claim_begin(&l->claim))
		return;
	do {
		err = 0;
		while (!err && !READ_ONCE(l->closed) && budget > 0 &&
		       atomic_read(&l->pending) < MRPC_LISTENER_PENDING) {
			budget--;
			err = mrpc_listener_accept(l);
		}
	} while (mrpc_claim_end(&l->claim));
	if (err == -EAGAIN || READ_ONCE(l->closed))
		return;
	if (!err && budget)	/* too many handshakes: the next to settle kicks */
		return;
	if (!err) {
		mrpc_kick_listener(l);
		return;
	}
	/* No memory or the like: not at once again. */
	kref_get(&l->ref);
	if (!queue_delayed_work(mrpc_end_wq, &l->retry, HZ / 10))
		mrpc_listener_put(l);
}

void mrpc_listener_retry(struct work_struct *work)
{
	struct mrpc_listener *l = container_of(to_delayed_work(work), struct mrpc_listener, retry);

	mrpc_kick_listener(l);
	mrpc_listener_put(l);
}

/**
 * mrpc_listener_close() - stop accepting; accepted connections stay
 * @l: the listener
 *
 * Context: process; may sleep.
 */
void mrpc_listener_close(struct mrpc_listener *l)
{
	struct mrpc_session *session = l->session;
	void *entry = xa_tag_pointer(l, MRPC_LISTENER_TAG);

	if (xa_cmpxchg(&session->conns, l->id, entry, NULL, 0) != entry)
		return;
	spin_lock_bh(&session->ready_lock);
	WRITE_ONCE(l->closed, true);
	spin_unlock_bh(&session->ready_lock);
	if (cancel_delayed_work_sync(&l->retry))
		mrpc_listener_put(l);
	if (!mrpc_claim_disable(&l->claim))
		while (!mrpc_claim_idle(&l->claim))
			usleep_range(20, 100);
	l->ops->unlisten(l);
	mrpc_ready_remove_listener(l);
	mrpc_notify_listener(l, MRPC_EVENT_LISTENER_CLOSE);
	mrpc_listener_put(l);
}
