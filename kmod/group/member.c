// SPDX-License-Identifier: GPL-2.0
/* Ranks of groups, from their begin to their end. */
#include <linux/ktime.h>
#include <linux/list.h>
#include <linux/slab.h>
#include <linux/xarray.h>

#include "core/conn.h"
#include "core/globals.h"
#include "core/refusal.h"
#include "core/session.h"
#include "core/user.h"
#include "group/end.h"
#include "group/member.h"
#include "group/run.h"
#include "lib/group/change.h"
#include "lib/message/wire.h"

#define MRPC_GROUP_LIMIT	(600 * NSEC_PER_SEC)	/* that an operation may take, by default */

static u64 mrpc_member_bytes(u32 ranks)
{
	return struct_size_t(struct mrpc_member, links, ranks) + mrpc_change_bytes(ranks) +
	       MRPC_WIRE_CHUNK_BYTES;
}

static void mrpc_member_free_work(struct work_struct *work)
{
	struct mrpc_member *m = container_of(work, struct mrpc_member, free_work);
	struct mrpc_session *session = m->session;

	WARN_ON(!list_empty(&m->operations));
	mrpc_user_uncharge_memory(session->user, mrpc_member_bytes(m->ranks));
	kvfree(m->scratch);
	kvfree(m->change);
	kvfree_rcu(m, rcu);
	mrpc_session_put(session);
}

static void mrpc_member_release(struct kref *ref)
{
	struct mrpc_member *m = container_of(ref, struct mrpc_member, ref);

	queue_work(mrpc_end_wq, &m->free_work);
}

/**
 * mrpc_member_put() - drop a reference
 * @m: the rank
 *
 * Context: any but hard interrupt.
 */
void mrpc_member_put(struct mrpc_member *m)
{
	kref_put(&m->ref, mrpc_member_release);
}

/**
 * mrpc_member_find() - look a rank up
 * @session: the session
 * @id: the id that the application gave
 *
 * Return: the rank with a reference, or NULL.
 */
struct mrpc_member *mrpc_member_find(struct mrpc_session *session, u32 id)
{
	struct mrpc_member *m;

	rcu_read_lock();
	m = xa_load(&session->members, id);
	if (m && !kref_get_unless_zero(&m->ref))
		m = NULL;
	rcu_read_unlock();
	return m;
}

/* -- begin and end -------------------------------------------------------------------- */

static struct mrpc_member *mrpc_member_alloc(struct mrpc_session *session,
					     const struct mrpc_group_new *args)
{
	struct mrpc_member *m;

	if (mrpc_user_charge_memory(session, mrpc_member_bytes(args->ranks)))
		return ERR_PTR(-EDQUOT);
	m = kvzalloc(struct_size(m, links, args->ranks), GFP_KERNEL_ACCOUNT);
	if (!m)
		goto err;
	m->ranks = args->ranks;
	m->scratch = kvmalloc(MRPC_WIRE_CHUNK_BYTES, GFP_KERNEL_ACCOUNT);
	m->change = kvzalloc(mrpc_change_bytes(args->ranks), GFP_KERNEL_ACCOUNT);
	if (!m->scratch || !m->change)
		goto err;
	mrpc_change_init(m->change, args->ranks, args->rank);
	kref_init(&m->ref);
	mrpc_session_get(session);
	m->session = session;
	m->key = args->key;
	m->rank = args->rank;
	m->limit = mrpc_us_or(args->limit_us, MRPC_GROUP_LIMIT);
	m->joined = ktime_get_ns();
	mrpc_claim_init(&m->run);
	spin_lock_init(&m->lock);
	INIT_LIST_HEAD(&m->operations);
	INIT_WORK(&m->end_work, mrpc_member_end_work);
	INIT_DELAYED_WORK(&m->close_work, mrpc_member_close_work);
	INIT_DELAYED_WORK(&m->limit_work, mrpc_member_limit_work);
	INIT_WORK(&m->run_work, mrpc_member_run_work);
	INIT_WORK(&m->free_work, mrpc_member_free_work);
	return m;
err:
	if (m) {
		kvfree(m->scratch);
		kvfree(m->change);
	}
	kvfree(m);
	mrpc_user_uncharge_memory(session->user, mrpc_member_bytes(args->ranks));
	return ERR_PTR(-ENOMEM);
}

/**
 * mrpc_member_join() - MRPC_IOC_GROUP
 * @session: the session
 * @args: the group; @args->id is written
 * @r: out: the reason of a failure
 *
 * Context: process; may sleep.
 * Return: 0, -EINVAL, -EBUSY (too many groups), -EDQUOT, -ENOMEM.
 */
int mrpc_member_join(struct mrpc_session *session, struct mrpc_group_new *args,
		     struct mrpc_refusal *r)
{
	struct mrpc_member *m;
	int err;

	if (!args->ranks || args->ranks > MRPC_GROUP_RANKS || args->rank >= args->ranks) {
		mrpc_refuse(r, MRPC_INVALID_ARGUMENT,
			    "rank %u of %u: a group has 1 to %u ranks, from 0", args->rank,
			    args->ranks, MRPC_GROUP_RANKS);
		return -EINVAL;
	}
	m = mrpc_member_alloc(session, args);
	if (IS_ERR(m))
		return PTR_ERR(m);
	kref_get(&m->ref);	/* for the table, from which another thread may take it at once */
	err = xa_alloc(&session->members, &m->id, m, XA_LIMIT(1, MRPC_MAX_GROUPS),
		       GFP_KERNEL_ACCOUNT);
	args->id = m->id;
	if (err)
		mrpc_member_put(m);
	if (err == -EBUSY)
		mrpc_refuse(r, MRPC_RESOURCE_EXHAUSTED, "the session has %u groups, the most",
			    MRPC_MAX_GROUPS);
	mrpc_member_put(m);
	return err;
}

/* Ends the group of a rank that was taken out of the table. Drops the reference of the table. */
static void mrpc_member_end(struct mrpc_member *m)
{
	mrpc_member_quit(m);
	mrpc_member_put(m);
}

/**
 * mrpc_member_leave() - MRPC_IOC_GROUP_END
 * @session: the session
 * @id: the group
 *
 * Context: process; may sleep. Return: 0 or -ENOENT.
 */
int mrpc_member_leave(struct mrpc_session *session, u32 id)
{
	struct mrpc_member *m = xa_erase(&session->members, id);

	if (!m)
		return -ENOENT;
	mrpc_member_end(m);
	return 0;
}

/**
 * mrpc_members_end() - a session ends, and leaves its groups
 * @session: the session; no thread is in an ioctl, so no other one comes
 *
 * Context: process; may sleep.
 */
void mrpc_members_end(struct mrpc_session *session)
{
	struct mrpc_member *m;
	unsigned long id;

	xa_for_each(&session->members, id, m) {
		xa_erase(&session->members, id);
		mrpc_member_end(m);
	}
}
