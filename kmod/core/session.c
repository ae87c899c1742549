// SPDX-License-Identifier: GPL-2.0
/* Sessions: their list, references, ids of connections. */
#include <linux/cred.h>
#include <linux/fs.h>
#include <linux/list.h>
#include <linux/memcontrol.h>
#include <linux/mm.h>
#include <linux/nsproxy.h>
#include <linux/poll.h>
#include <linux/rcupdate.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include <linux/xarray.h>

#include "core/call.h"
#include "core/globals.h"
#include "core/heap.h"
#include "core/qp.h"
#include "core/refusal.h"
#include "core/schema.h"
#include "core/session.h"
#include "core/user.h"
#include "core/waiters.h"

/* By id. Entries are freed by RCU. */
static DEFINE_XARRAY_ALLOC1(mrpc_sessions);
static u32 mrpc_next_session;	/* under the lock of mrpc_sessions */
static atomic_t mrpc_nr_sessions = ATOMIC_INIT(0);

static void mrpc_session_free_work(struct work_struct *work);

u32 mrpc_session_count(void)
{
	return atomic_read(&mrpc_nr_sessions);
}

/**
 * mrpc_session_next() - iterate over a namespace's sessions, for dumps
 * @net: the namespace
 * @after: id of the last one, 0 for the first
 *
 * Return: the session with a reference, or NULL.
 */
struct mrpc_session *mrpc_session_next(struct net *net, u32 after)
{
	struct mrpc_session *session;
	unsigned long id = after;

	rcu_read_lock();
	xa_for_each_start(&mrpc_sessions, id, session, id + 1)
		if (net_eq(session->net, net) && kref_get_unless_zero(&session->ref))
			break;
	rcu_read_unlock();
	return session;
}

/**
 * mrpc_session_find() - look a session up
 * @net: the namespace that it must belong to
 * @id: its id
 *
 * Return: the session with a reference, or NULL.
 */
struct mrpc_session *mrpc_session_find(struct net *net, u32 id)
{
	struct mrpc_session *session;

	rcu_read_lock();
	session = xa_load(&mrpc_sessions, id);
	if (session && !(net_eq(session->net, net) && kref_get_unless_zero(&session->ref)))
		session = NULL;
	rcu_read_unlock();
	return session;
}

#ifdef CONFIG_CGROUPS

static void mrpc_session_cgroups(struct mrpc_session *session)
{
	struct cgroup *cgrp;
	u32 i;

	rcu_read_lock();
	cgrp = task_dfl_cgroup(current);
	session->nr_cgroups = min_t(u32, cgrp->level + 1, MRPC_SESSION_CGROUPS);
	for (i = 0; i < session->nr_cgroups; i++)
		session->cgroups[i] = cgroup_id(cgrp->ancestors[i]);
	rcu_read_unlock();
}

#else

static void mrpc_session_cgroups(struct mrpc_session *session)
{
}

#endif

/**
 * mrpc_session_in_cgroup() - return true if a session was opened in this cgroup, or below it
 * @session: the session
 * @id: id of a cgroup of the unified hierarchy
 */
bool mrpc_session_in_cgroup(const struct mrpc_session *session, u64 id)
{
	u32 i;

	for (i = 0; i < session->nr_cgroups; i++)
		if (session->cgroups[i] == id)
			return true;
	return false;
}

static void mrpc_session_init(struct mrpc_session *session)
{
	u32 i;

	kref_init(&session->ref);
	mutex_init(&session->making);
	mutex_init(&session->lock);
	spin_lock_init(&session->ready_lock);
	INIT_LIST_HEAD(&session->ready);
	INIT_LIST_HEAD(&session->ready_listeners);
	INIT_LIST_HEAD(&session->pending);
	for (i = 0; i < MRPC_BUDDY_ORDERS; i++)
		INIT_LIST_HEAD(&session->stalled[i]);
	INIT_WORK(&session->free_work, mrpc_session_free_work);
	mrpc_waiters_init(&session->pollers);
	init_waitqueue_head(&session->poll_wait);
	init_waitqueue_head(&session->accept_wait);
	xa_init_flags(&session->conns, XA_FLAGS_ALLOC1);
	xa_init_flags(&session->parked, XA_FLAGS_ALLOC1);
	xa_init_flags(&session->members, XA_FLAGS_ALLOC1);
	session->net = get_net(current->nsproxy->net_ns);
	session->memcg = get_mem_cgroup_from_mm(current->mm);
	session->uid = current_uid();
	session->cred = get_current_cred();
	session->pid = task_tgid_nr(current);
	session->opened = ktime_get_ns();
	get_task_comm(session->name, current);
	mrpc_session_cgroups(session);
}

/**
 * mrpc_session_new() - make a session of the current task
 *
 * Context: process; may sleep.
 *
 * Return: the session with a reference for the caller, or an ERR_PTR.
 */
struct mrpc_session *mrpc_session_new(void)
{
	struct mrpc_session *session = kzalloc(sizeof(*session), GFP_KERNEL_ACCOUNT);
	struct mrpc_user *user;
	int err;

	if (!session)
		return ERR_PTR(-ENOMEM);
	user = mrpc_user_get(current_uid());
	session->user = user;
	err = user ? mrpc_user_charge_session(session) : -ENOMEM;
	if (err) {
		if (user)
			mrpc_user_put(user);
		kfree(session);
		return ERR_PTR(err);
	}
	mrpc_session_init(session);
	/* Pages under way can outlive the file, and call back into the module. */
	__module_get(THIS_MODULE);
	atomic_inc(&mrpc_nr_sessions);
	err = xa_alloc_cyclic(&mrpc_sessions, &session->id, session, xa_limit_32b,
			      &mrpc_next_session, GFP_KERNEL_ACCOUNT);
	if (err >= 0)
		return session;
	mrpc_user_uncharge_session(user);
	mrpc_session_put(session);
	return ERR_PTR(err);
}

/**
 * mrpc_session_leave() - take a session off the list: it is not found any more
 * @session: the session; its file is gone
 */
void mrpc_session_leave(struct mrpc_session *session)
{
	xa_erase(&mrpc_sessions, session->id);
}

static void mrpc_session_free_work(struct work_struct *work)
{
	struct mrpc_session *session = container_of(work, struct mrpc_session, free_work);
	u32 i;

	for (i = 0; i < session->nr_qps; i++)
		mrpc_qp_destroy(session->qps[i]);
	for (i = 0; i < session->nr_schemas; i++) {
		mrpc_user_uncharge_memory(session->user, session->schemas[i]->size);
		mrpc_schema_put(session->schemas[i]);
	}
	mrpc_user_uncharge_memory(session->user, session->send.len + session->recv.len);
	mrpc_heap_destroy(&session->send);
	mrpc_heap_destroy(&session->recv);
	kvfree(session->rx_spare);
	mrpc_call_free_spares(session->call_spares);
	xa_destroy(&session->conns);
	xa_destroy(&session->parked);
	xa_destroy(&session->members);
	mrpc_user_put(session->user);
	mem_cgroup_put(session->memcg);
	put_cred(session->cred);
	put_net(session->net);
	atomic_dec(&mrpc_nr_sessions);
	kfree_rcu(session, rcu);
	/* Module removal waits for this work to return. */
	module_put(THIS_MODULE);
}

static void mrpc_session_release(struct kref *ref)
{
	struct mrpc_session *session = container_of(ref, struct mrpc_session, ref);

	queue_work(mrpc_end_wq, &session->free_work);
}

/**
 * mrpc_session_put() - drop a reference
 * @session: the session
 *
 * Context: any but hard interrupt.
 */
void mrpc_session_put(struct mrpc_session *session)
{
	kref_put(&session->ref, mrpc_session_release);
}

/**
 * mrpc_session_reserve() - reserve an id for a new connection or listener
 * @session: the session
 * @id: out
 *
 * A lookup of the id finds nothing before mrpc_session_publish().
 *
 * Return: 0, -ENOMEM or -EBUSY.
 */
int mrpc_session_reserve(struct mrpc_session *session, u32 *id)
{
	int err = xa_alloc_cyclic(&session->conns, id, NULL, XA_LIMIT(1, S32_MAX),
				  &session->next_conn, GFP_KERNEL_ACCOUNT);

	return err < 0 ? err : 0;
}

void mrpc_session_unreserve(struct mrpc_session *session, u32 id)
{
	xa_release(&session->conns, id);
}

/**
 * mrpc_session_publish() - put an object under its reserved id
 * @session: the session
 * @id: the id; given back on failure
 * @entry: the object, with a reference for the table
 *
 * Return: 0, or -ESHUTDOWN when the session is closing.
 */
int mrpc_session_publish(struct mrpc_session *session, u32 id, void *entry)
{
	int err = -ESHUTDOWN;

	xa_lock(&session->conns);
	if (!session->closing)	/* the reservation holds the place: no allocation */
		err = xa_err(__xa_store(&session->conns, id, entry, GFP_ATOMIC));
	xa_unlock(&session->conns);
	if (err)
		mrpc_session_unreserve(session, id);
	return err;
}

/**
 * mrpc_session_here() - check that the caller may make links in this session
 * @session: the session
 * @r: out: the reason of a failure
 *
 * Links are made in the caller's network namespace and shown in the session's: these must be the
 * same.
 *
 * Return: 0 or -EXDEV.
 */
int mrpc_session_here(struct mrpc_session *session, struct mrpc_refusal *r)
{
	if (net_eq(session->net, current->nsproxy->net_ns))
		return 0;
	mrpc_refuse(r, MRPC_FAILED_PRECONDITION,
		    "the session was opened in another network namespace");
	return -EXDEV;
}
