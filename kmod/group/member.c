// SPDX-License-Identifier: GPL-2.0
/* Ranks of groups: their begin, their connections, and their end. */
#include <linux/list.h>
#include <linux/memcontrol.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/xarray.h>

#include "call/tx.h"
#include "core/call.h"
#include "core/conn.h"
#include "core/globals.h"
#include "core/refusal.h"
#include "core/session.h"
#include "core/user.h"
#include "exec/kick.h"
#include "exec/submit.h"
#include "group/member.h"
#include "group/run.h"
#include "group/submit.h"
#include "lib/group/operation.h"
#include "lib/message/feature.h"
#include "lib/message/wire.h"

#define MRPC_GROUP_GRACE	HZ	/* from the end of a group to that of its connections */
#define MRPC_GROUP_LIMIT	(600 * NSEC_PER_SEC)	/* that an operation may take, by default */

static u64 mrpc_member_bytes(u32 ranks)
{
	return struct_size_t(struct mrpc_member, links, ranks) + MRPC_GROUP_CHUNK;
}

static void mrpc_member_free_work(struct work_struct *work)
{
	struct mrpc_member *m = container_of(work, struct mrpc_member, free_work);
	struct mrpc_session *session = m->session;

	WARN_ON(!list_empty(&m->operations));
	mrpc_user_uncharge_memory(session->user, mrpc_member_bytes(m->ranks));
	kvfree(m->scratch);
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

/* -- the end of a group -------------------------------------------------------------- */

/* Tells another rank why the group has ended. Without memory the end of the connection tells it. */
static void mrpc_member_tell(struct mrpc_member *m, struct mrpc_conn *conn)
{
	struct mrpc_call *call = mrpc_call_new(conn, MRPC_ROLE_CHUNK, GFP_KERNEL);
	u32 len = strlen(m->detail);

	if (!call)
		return;
	call->priority = MRPC_RANK_CONTROL;
	call->rpc.frame.type = MRPC_WIRE_CHUNK;
	call->rpc.frame.status = m->status;
	if (mrpc_rpc_prefix(&call->rpc, 0, len)) {
		mrpc_call_put(call);
		return;
	}
	memcpy(call->rpc.data + sizeof(struct mrpc_wire_hdr), m->detail, len);
	mrpc_tx_submit(conn, &call->rpc);
	mrpc_datapath_tx(conn);
}

/* Returns the connection to @rank with a reference, or NULL. */
static struct mrpc_conn *mrpc_member_conn(struct mrpc_member *m, u32 rank)
{
	struct mrpc_conn *conn;

	spin_lock_bh(&m->lock);
	conn = m->links[rank].conn;
	if (conn)
		mrpc_conn_get(conn);
	spin_unlock_bh(&m->lock);
	return conn;
}

static void mrpc_member_close_work(struct work_struct *work)
{
	struct mrpc_member *m = container_of(work, struct mrpc_member, close_work.work);
	struct mrpc_conn *conn;
	u32 rank;

	for (rank = 0; rank < m->ranks; rank++) {
		conn = mrpc_member_conn(m, rank);
		if (!conn)
			continue;
		mrpc_conn_close(conn, MRPC_UNAVAILABLE, "its group has ended", false);
		mrpc_conn_put(conn);
	}
	mrpc_member_put(m);
}

/* Tells all ranks once that the group has ended, and why. */
static void mrpc_member_tell_all(struct mrpc_member *m)
{
	struct mrpc_conn *conn;
	bool told;
	u32 rank;

	spin_lock_bh(&m->lock);
	told = m->told;
	m->told = true;
	spin_unlock_bh(&m->lock);
	for (rank = 0; rank < m->ranks && !told; rank++) {
		conn = mrpc_member_conn(m, rank);
		if (!conn)
			continue;
		mrpc_member_tell(m, conn);
		mrpc_conn_put(conn);
	}
}

/*
 * The connections are closed later: a rank that waits for its turn does not read why the group has
 * ended, and would take the end of a connection for the reason.
 */
static void mrpc_member_end_work(struct work_struct *work)
{
	struct mrpc_member *m = container_of(work, struct mrpc_member, end_work);
	struct mem_cgroup *old = set_active_memcg(m->session->memcg);
	bool closing = READ_ONCE(m->session->closing);

	if (cancel_delayed_work(&m->limit_work))	/* no other one is queued any more */
		mrpc_member_put(m);
	mrpc_member_tell_all(m);
	mrpc_member_run(m);
	set_active_memcg(old);
	/* With the reference of this work. */
	queue_delayed_work(mrpc_end_wq, &m->close_work, closing ? 0 : MRPC_GROUP_GRACE);
}

/**
 * mrpc_member_fail() - end a group
 * @m: the rank
 * @status: enum mrpc_status of its operations, not OK
 * @fmt: a sentence that says why
 *
 * The first call decides. Operations complete when the connections read and write their buffers no
 * more. Context: process; no lock of @m held.
 */
void mrpc_member_fail(struct mrpc_member *m, u16 status, const char *fmt, ...)
{
	bool first;
	va_list args;

	spin_lock_bh(&m->lock);
	first = m->status == MRPC_OK;
	if (first) {
		va_start(args, fmt);
		vscnprintf(m->detail, sizeof(m->detail), fmt, args);
		va_end(args);
		WRITE_ONCE(m->status, status);
	}
	spin_unlock_bh(&m->lock);
	if (!first)
		return;
	kref_get(&m->ref);
	queue_work(mrpc_end_wq, &m->end_work);
}

/* -- time -------------------------------------------------------------------------- */

/* Says what the operation that runs waits for. Under the lock. */
static void mrpc_member_blame(struct mrpc_member *m, char *why, size_t size)
{
	struct mrpc_chunk chunk;

	if (mrpc_progress_recv(&m->progress, &chunk) == MRPC_NEXT_CHUNK &&
	    chunk.peer != MRPC_NO_RANK)
		scnprintf(why, size, "rank %u waits for rank %u, which has not sent its part",
			  m->rank, chunk.peer);
	else
		scnprintf(why, size, "rank %u waits until others take its part", m->rank);
}

/**
 * mrpc_member_expect() - look at the clock when the operation that runs has taken too long
 * @m: the rank; its group has not ended, and the caller has its lock
 */
void mrpc_member_expect(struct mrpc_member *m)
{
	u64 now = ktime_get_ns(), left = m->until > now ? m->until - now : 0;

	kref_get(&m->ref);
	if (mod_delayed_work(mrpc_end_wq, &m->limit_work, nsecs_to_jiffies(left) + 1))
		mrpc_member_put(m);	/* it was queued, with a reference */
}

static void mrpc_member_limit_work(struct work_struct *work)
{
	struct mrpc_member *m = container_of(work, struct mrpc_member, limit_work.work);
	bool late = false;
	char why[80];
	u64 seq;

	spin_lock_bh(&m->lock);
	seq = m->seq;
	if (m->status == MRPC_OK && m->running) {
		late = m->until <= ktime_get_ns();
		if (late)
			mrpc_member_blame(m, why, sizeof(why));
		else
			mrpc_member_expect(m);
	}
	spin_unlock_bh(&m->lock);
	if (late)
		mrpc_member_fail(m, MRPC_DEADLINE_EXCEEDED,
				 "operation %llu takes longer than it may: %s", seq, why);
	mrpc_member_put(m);
}


/* -- begin ------------------------------------------------------------------------- */

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
	m->scratch = kvmalloc(MRPC_GROUP_CHUNK, GFP_KERNEL_ACCOUNT);
	if (!m->scratch)
		goto err;
	kref_init(&m->ref);
	mrpc_session_get(session);
	m->session = session;
	m->key = args->key;
	m->rank = args->rank;
	m->limit = mrpc_us_or(args->limit_us, MRPC_GROUP_LIMIT);
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
	kvfree(m);
	mrpc_user_uncharge_memory(session->user, mrpc_member_bytes(args->ranks));
	return ERR_PTR(-ENOMEM);
}

/* Puts a rank into the table, which takes a reference. */
static int mrpc_member_publish(struct mrpc_session *session, struct mrpc_member *m)
{
	int err;

	kref_get(&m->ref);
	xa_lock(&session->members);
	err = -ESHUTDOWN;
	if (!READ_ONCE(session->closing))
		err = __xa_alloc(&session->members, &m->id, m, XA_LIMIT(1, MRPC_MAX_GROUPS),
				 GFP_KERNEL_ACCOUNT);
	xa_unlock(&session->members);
	if (err)
		mrpc_member_put(m);
	return err;
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
	err = mrpc_member_publish(session, m);
	if (err == -EBUSY)
		mrpc_refuse(r, MRPC_RESOURCE_EXHAUSTED, "the session has %u groups, the most",
			    MRPC_MAX_GROUPS);
	args->id = m->id;
	mrpc_member_put(m);
	return err;
}

/* -- connections ------------------------------------------------------------------- */

/* Why a connection cannot belong to a group, or NULL. */
static const char *mrpc_member_unfit(struct mrpc_conn *conn)
{
	if (!mrpc_features_accept(&conn->link.features, MRPC_FEATURE_GROUP))
		return "its transport, or the peer, carries no chunks of groups";
	if (min(conn->services.peer_max_message, conn->link.max_message) < MRPC_GROUP_CHUNK)
		return "it takes messages of less than a chunk of 64 KiB";
	return NULL;
}

/* Under both locks. */
static int mrpc_member_set_link(struct mrpc_member *m, u32 rank, struct mrpc_conn *conn)
{
	if (m->status != MRPC_OK)
		return -ESHUTDOWN;
	if (m->links[rank].conn)
		return -EEXIST;
	mrpc_conn_get(conn);
	conn->member_rank = rank;
	/* Pairs with the acquire in mrpc_member_head(). */
	smp_store_release(&conn->member, m);
	/* From here on chunks are sent over it, whose end asks for the member. */
	m->links[rank].conn = conn;
	return 0;
}

/* Makes a READY connection one of @m's. It takes over a reference of @m if this succeeds. */
static int mrpc_member_bind(struct mrpc_member *m, u32 rank, struct mrpc_conn *conn)
{
	int err = 0;

	spin_lock(&conn->lock);
	if (conn->state != MRPC_CONN_READY) {
		err = -ENOTCONN;
	} else if (conn->member) {
		err = -EBUSY;
	} else if (mrpc_member_unfit(conn)) {	/* known once it is READY */
		err = -EOPNOTSUPP;
	} else {
		spin_lock_bh(&m->lock);
		err = mrpc_member_set_link(m, rank, conn);
		spin_unlock_bh(&m->lock);
	}
	spin_unlock(&conn->lock);
	return err;
}

static void mrpc_refuse_bind(struct mrpc_refusal *r, const struct mrpc_group_link *args,
			     struct mrpc_conn *conn, int err)
{
	if (err == -ENOTCONN)
		mrpc_refuse(r, MRPC_FAILED_PRECONDITION, "connection %u is not ready", args->conn);
	else if (err == -EBUSY)
		mrpc_refuse(r, MRPC_FAILED_PRECONDITION, "connection %u belongs to a group",
			    args->conn);
	else if (err == -EEXIST)
		mrpc_refuse(r, MRPC_ALREADY_EXISTS, "rank %u has a connection", args->rank);
	else if (err == -EOPNOTSUPP)
		mrpc_refuse(r, MRPC_FAILED_PRECONDITION, "connection %u: %s", args->conn,
			    mrpc_member_unfit(conn));
	else
		mrpc_refuse(r, MRPC_FAILED_PRECONDITION, "the group has ended");
}

static int mrpc_member_link_conn(struct mrpc_member *m, const struct mrpc_group_link *args,
				 struct mrpc_conn *conn, struct mrpc_refusal *r)
{
	int err;

	if (args->rank >= m->ranks || args->rank == m->rank) {
		mrpc_refuse(r, MRPC_INVALID_ARGUMENT,
			    "rank %u: another rank than %u of the %u is meant", args->rank,
			    m->rank, m->ranks);
		return -EINVAL;
	}
	kref_get(&m->ref);
	err = mrpc_member_bind(m, args->rank, conn);
	if (err) {
		mrpc_member_put(m);
		mrpc_refuse_bind(r, args, conn, err);
		return err;
	}
	/* The peer may have sent a chunk before. */
	mrpc_kick_again(conn, MRPC_CONN_RX_READY);
	return 0;
}

/**
 * mrpc_member_link() - MRPC_IOC_GROUP_LINK
 * @session: the session
 * @args: rank and connection
 * @r: out: the reason of a failure
 *
 * Context: process; may sleep.
 * Return: 0; -ENOENT; -EINVAL; -EOPNOTSUPP; -ENOTCONN, -EBUSY, -EEXIST, -ESHUTDOWN.
 */
int mrpc_member_link(struct mrpc_session *session, const struct mrpc_group_link *args,
		     struct mrpc_refusal *r)
{
	struct mrpc_member *m = mrpc_member_find(session, args->group);
	struct mrpc_conn *conn;
	int err = -ENOENT;

	if (!m) {
		mrpc_refuse(r, MRPC_NOT_FOUND, "no group %u", args->group);
		return -ENOENT;
	}
	conn = mrpc_conn_find(session, args->conn);
	if (conn) {
		err = mrpc_member_link_conn(m, args, conn, r);
		mrpc_conn_put(conn);
	} else {
		mrpc_refuse(r, MRPC_NOT_FOUND, "no connection %u", args->conn);
	}
	mrpc_member_put(m);
	return err;
}

/**
 * mrpc_member_unlink() - the link of a connection has ended
 * @conn: the connection, which belongs to a group; no thread has its claims
 *
 * Context: process; may sleep.
 */
void mrpc_member_unlink(struct mrpc_conn *conn)
{
	struct mrpc_member *m = conn->member;
	struct mrpc_member_link *link = &m->links[conn->member_rank];

	spin_lock_bh(&m->lock);
	link->conn = NULL;
	if (m->receiving == conn)
		m->receiving = NULL;
	spin_unlock_bh(&m->lock);
	mrpc_member_fail(m, MRPC_UNAVAILABLE, "rank %u is lost: %s", conn->member_rank, conn->why);
	mrpc_member_run(m);
	mrpc_conn_put(conn);
}

/* -- leaving ------------------------------------------------------------------------- */

/* Ends the group of a rank that was taken out of the table, whose reference it drops. */
static void mrpc_member_end(struct mrpc_member *m)
{
	mrpc_member_fail(m, MRPC_CANCELLED, "rank %u has left the group", m->rank);
	mrpc_member_tell_all(m);	/* a session that ends closes the connections next */
	mrpc_member_run(m);
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
 * @session: the session; it is closing, so no other one comes
 *
 * Context: process; may sleep.
 */
void mrpc_members_end(struct mrpc_session *session)
{
	struct mrpc_member *m;
	unsigned long id;

	xa_lock(&session->members);	/* mrpc_member_publish() has seen it closing, or is over */
	xa_unlock(&session->members);
	xa_for_each(&session->members, id, m) {
		xa_erase(&session->members, id);
		mrpc_member_end(m);
	}
}
