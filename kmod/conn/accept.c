// SPDX-License-Identifier: GPL-2.0
/*
 * Listeners: where a session accepts connections.
 *
 * Accepting happens in the application's context where one of its threads is
 * in enter, so that sockets are charged to it.
 */
#include <linux/delay.h>
#include <linux/slab.h>

#include "core/schema.h"
#include "core/conn.h"
#include "change/link_version.h"
#include "core/notify.h"
#include "core/refusal.h"
#include "core/session.h"

#define MRPC_LISTENER_TAG	1
#define MRPC_ACCEPT_BUDGET	64	/* links before others get a turn */

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

static void mrpc_listener_release(struct kref *ref)
{
	struct mrpc_listener *l = container_of(ref, struct mrpc_listener, ref);

	mrpc_transport_put(l->ops);
	mrpc_services_put(l->services, l->nr_services);
	mrpc_session_put(l->session);
	kfree_rcu(l, rcu);
}

/**
 * mrpc_listener_put() - drop a reference
 * @l: the listener
 *
 * Context: process.
 */
void mrpc_listener_put(struct mrpc_listener *l)
{
	kref_put(&l->ref, mrpc_listener_release);
}

static struct mrpc_listener *mrpc_listener_untag(void *entry)
{
	struct mrpc_listener *l = xa_untag_pointer(entry);

	if (xa_pointer_tag(entry) != MRPC_LISTENER_TAG || !kref_get_unless_zero(&l->ref))
		return NULL;
	return l;
}

/**
 * mrpc_listener_find() - look a listener up
 * @session: the session
 * @id: what the application says
 *
 * Return: the listener with a reference, or NULL.
 */
struct mrpc_listener *mrpc_listener_find(struct mrpc_session *session, u32 id)
{
	struct mrpc_listener *l = NULL;
	void *entry;

	rcu_read_lock();
	entry = xa_load(&session->conns, id);
	if (entry)
		l = mrpc_listener_untag(entry);
	rcu_read_unlock();
	return l;
}

/**
 * mrpc_listener_next() - iterate over a session's listeners
 * @session: the session
 * @id: start at this id; moved to the one found
 *
 * Return: the listener with a reference, or NULL at the end.
 */
struct mrpc_listener *mrpc_listener_next(struct mrpc_session *session, unsigned long *id)
{
	struct mrpc_listener *l = NULL;
	void *entry;

	rcu_read_lock();
	for (entry = xa_find(&session->conns, id, S32_MAX, XA_PRESENT); entry;
	     entry = xa_find_after(&session->conns, id, S32_MAX, XA_PRESENT)) {
		l = mrpc_listener_untag(entry);
		if (l)
			break;
	}
	rcu_read_unlock();
	return l;
}

static int mrpc_listener_publish(struct mrpc_listener *l)
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
 * mrpc_listener_settled() - a handshake has succeeded or failed
 * @conn: the accepted connection
 */
void mrpc_listener_settled(struct mrpc_conn *conn)
{
	struct mrpc_listener *l = mrpc_listener_find(conn->session, conn->listener_id);

	if (!l)
		return;
	/* At the limit we stopped accepting: nobody else would come back. */
	if (atomic_dec_return(&l->pending) == MRPC_LISTENER_PENDING - 1)
		mrpc_kick_listener(l);
	mrpc_listener_put(l);
}

/**
 * mrpc_listener_fold() - keep what an accepted connection has counted
 * @conn: the connection; it has ended, and is no longer in its session's table
 *
 * Context: process.
 */
void mrpc_listener_fold(struct mrpc_conn *conn)
{
	struct mrpc_listener *l = mrpc_listener_find(conn->session, conn->listener_id);
	u32 i;

	if (!l)
		return;
	xa_lock(&conn->session->conns);
	for (i = 0; i < l->nr_services; i++)
		l->services[i].calls += conn->services[i].calls;
	xa_unlock(&conn->session->conns);
	mrpc_listener_put(l);
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

static void mrpc_listener_retry(struct work_struct *work)
{
	struct mrpc_listener *l = container_of(to_delayed_work(work), struct mrpc_listener, retry);

	mrpc_kick_listener(l);
	mrpc_listener_put(l);
}

/**
 * mrpc_listener_patience() - how long a silent new connection may take
 * @conn: an accepted connection
 *
 * Less when many are silent, so that they do not keep others out.
 *
 * Return: nanoseconds.
 */
u64 mrpc_listener_patience(struct mrpc_conn *conn)
{
	struct mrpc_listener *l = mrpc_listener_find(conn->session, conn->listener_id);
	bool crowded = l && atomic_read(&l->pending) > MRPC_LISTENER_PENDING / 2;

	if (l)
		mrpc_listener_put(l);
	return (crowded ? 1 : 10) * NSEC_PER_SEC;
}

/* Take a listener off the ready list, for one that ends. */
static void mrpc_ready_remove_listener(struct mrpc_listener *l)
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

/**
 * mrpc_listener_serve() - MRPC_IOC_SERVE
 * @session: the session
 * @args: where and what; the id and the bound address are filled
 * @r: why not
 *
 * Context: process; may sleep.
 * Return: 0 or a negative errno.
 */
int mrpc_listener_serve(struct mrpc_session *session, struct mrpc_connect *args,
			struct mrpc_refusal *r)
{
	const struct mrpc_transport_ops *ops = mrpc_transport_get(args->transport);
	const char *why = NULL;
	struct mrpc_listener *l;
	int err;

	if (!ops) {
		mrpc_refuse(r, MRPC_INVALID_ARGUMENT, "there is no transport '%s'", args->transport);
		return -EPROTONOSUPPORT;
	}
	err = mrpc_session_here(session, r);
	if (err) {
		mrpc_transport_put(ops);
		return err;
	}
	l = kzalloc(sizeof(*l), GFP_KERNEL_ACCOUNT);
	if (!l) {
		mrpc_transport_put(ops);
		return -ENOMEM;
	}
	kref_init(&l->ref);
	mrpc_session_get(session);
	l->session = session;
	l->ops = ops;
	INIT_LIST_HEAD(&l->ready);
	INIT_DELAYED_WORK(&l->retry, mrpc_listener_retry);
	/* Nobody accepts before it can be found. */
	mrpc_claim_init(&l->claim);
	mrpc_claim_disable(&l->claim);
	l->max_message = min(args->max_message ?: 64U << 20, MRPC_MAX_MESSAGE);
	l->keepalive = mrpc_conn_keepalive_ns(args->keepalive_us);
	err = mrpc_services_get(session, args, &l->services, r);
	if (err)
		goto out;
	l->nr_services = args->nr_schemas;
	err = mrpc_session_reserve(session, &l->id);
	if (err)
		goto out;
	err = ops->listen(l, args->addr, args->addr_len, args->backlog ?: 128, &why);
	if (err) {
		mrpc_session_unreserve(session, l->id);
		mrpc_refuse_link(r, why, err);
		goto out;
	}
	err = mrpc_listener_publish(l);
	if (err) {
		ops->unlisten(l);
		mrpc_ready_remove_listener(l);
		goto out;
	}
	args->id = l->id;
	args->addr_len = l->addr_len;
	memcpy(args->addr, &l->addr, sizeof(args->addr));
	mrpc_notify_listener(l, MRPC_EVENT_LISTENER_OPEN);
out:
	mrpc_listener_put(l);
	return err;
}
