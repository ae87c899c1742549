// SPDX-License-Identifier: GPL-2.0
/* Listeners: look-up, references, statistics. */
#include <linux/rcupdate.h>
#include <linux/slab.h>

#include "core/conn.h"
#include "core/listener.h"
#include "core/services.h"
#include "core/session.h"
#include "core/transport.h"

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

/**
 * mrpc_listener_fold() - keep what an accepted connection has counted
 * @conn: the connection; it has ended, and is no longer in its session's table
 *
 * Context: process.
 */
void mrpc_listener_fold(struct mrpc_conn *conn)
{
	struct mrpc_listener *l = conn->listener;
	u32 i;

	if (!l)
		return;
	xa_lock(&conn->session->conns);
	for (i = 0; i < l->nr_services; i++)
		l->services[i].calls += conn->services.list[i].calls;
	xa_unlock(&conn->session->conns);
}
