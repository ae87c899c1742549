// SPDX-License-Identifier: GPL-2.0
/*
 * The end of a group: each rank tells the others why, closes its connections, and completes its
 * operations. An operation that takes too long ends its group.
 */
#include <linux/jiffies.h>
#include <linux/memcontrol.h>
#include <linux/sched/mm.h>
#include <linux/string.h>

#include "call/tx.h"
#include "core/call.h"
#include "core/conn.h"
#include "core/globals.h"
#include "core/rpc.h"
#include "core/session.h"
#include "exec/submit.h"
#include "group/end.h"
#include "group/link.h"
#include "group/member.h"
#include "group/run.h"
#include "lib/group/change.h"
#include "lib/message/wire.h"

#define MRPC_GROUP_GRACE	HZ	/* from the end of a group to that of its connections */

/* Tells another rank why the group has ended. Without memory the end of the connection tells it. */
static void mrpc_member_tell(struct mrpc_member *m, struct mrpc_conn *conn)
{
	u32 len = strlen(m->detail);
	struct mrpc_call *call = mrpc_member_frame(conn, MRPC_WIRE_CHUNK, 0, len);

	if (!call)
		return;
	call->rpc.frame.status = m->status;
	call->rpc.frame.msg_no = m->in_order ? MRPC_WIRE_LEFT : 0;
	memcpy(call->rpc.data + sizeof(struct mrpc_wire_hdr), m->detail, len);
	mrpc_tx_submit(conn, &call->rpc);
	mrpc_datapath_tx(conn);
}

/**
 * mrpc_member_close_work() - close the connections of a group that has ended
 * @work: of a rank, with a reference
 */
void mrpc_member_close_work(struct work_struct *work)
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

/* Tells all ranks that the group has ended, and why. */
static void mrpc_member_tell_all(struct mrpc_member *m)
{
	struct mrpc_conn *conn;
	u32 rank;

	for (rank = 0; rank < m->ranks; rank++) {
		conn = mrpc_member_conn(m, rank);
		if (!conn)
			continue;
		mrpc_member_tell(m, conn);
		mrpc_conn_put(conn);
	}
}

/**
 * mrpc_member_end_work() - tell the other ranks that a group has ended
 * @work: of a rank, with a reference
 *
 * The connections are closed later: a rank that waits for its turn does not read why the group has
 * ended, and would take the end of a connection for the reason.
 */
void mrpc_member_end_work(struct work_struct *work)
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

static void mrpc_member_queue_end(struct mrpc_member *m)
{
	kref_get(&m->ref);
	queue_work(mrpc_end_wq, &m->end_work);
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
	if (first)
		mrpc_member_queue_end(m);
}

/**
 * mrpc_member_quit() - end a group that the application leaves
 * @m: the rank
 *
 * If all its operations are complete, the others fail only where they need it for a later one. When
 * this returns, they have been told: a session that ends closes the connections next.
 * Context: process; may sleep; no lock or claim held; not a work item of mrpc_end_wq.
 */
void mrpc_member_quit(struct mrpc_member *m)
{
	bool first;

	spin_lock_bh(&m->lock);
	first = m->status == MRPC_OK;
	if (first) {
		scnprintf(m->detail, sizeof(m->detail), "rank %u has left the group", m->rank);
		m->in_order = list_empty(&m->operations);
		WRITE_ONCE(m->status, MRPC_CANCELLED);
	}
	spin_unlock_bh(&m->lock);
	if (first)
		mrpc_member_queue_end(m);
	flush_work(&m->end_work);
}

/* -- time -------------------------------------------------------------------------- */

/* Says what the operation that runs, or is held, waits for. Under the lock. */
static void mrpc_member_blame(struct mrpc_member *m, char *why, size_t size)
{
	u32 late = mrpc_change_awaits(m->change);
	struct mrpc_chunk chunk;

	if (m->held && late == MRPC_NO_RANK)
		scnprintf(why, size, "rank %u waits for strategy %u", m->rank,
			  m->change->version + 1);
	else if (m->held)
		scnprintf(why, size, "rank %u waits for rank %u, which has not reported for strategy %u",
			  m->rank, late, m->change->version + 1);
	else if (mrpc_progress_recv(&m->progress, &chunk) == MRPC_NEXT_CHUNK &&
	    chunk.peer != MRPC_NO_RANK)
		scnprintf(why, size, "rank %u waits for rank %u, which has not sent its part",
			  m->rank, chunk.peer);
	else
		scnprintf(why, size, "rank %u waits until others take its part", m->rank);
}

/**
 * mrpc_member_expect() - look at the clock when the operation that runs, or is held, is late
 * @m: the rank; its group has not ended, and the caller has its lock
 */
void mrpc_member_expect(struct mrpc_member *m)
{
	u64 now = ktime_get_ns(), left = m->until > now ? m->until - now : 0;

	if (m->looks_at && m->looks_at <= m->until)
		return;		/* it looks earlier, and then again */
	m->looks_at = m->until;
	kref_get(&m->ref);
	if (mod_delayed_work(mrpc_end_wq, &m->limit_work, nsecs_to_jiffies(left) + 1))
		mrpc_member_put(m);	/* it was queued, with a reference */
}

/**
 * mrpc_member_limit_work() - look at the clock
 * @work: of a rank, with a reference
 */
void mrpc_member_limit_work(struct work_struct *work)
{
	struct mrpc_member *m = container_of(work, struct mrpc_member, limit_work.work);
	bool late = false;
	char why[96];
	u64 seq;

	spin_lock_bh(&m->lock);
	m->looks_at = 0;
	seq = m->seq + m->held;
	if (m->status == MRPC_OK && (m->running || m->held)) {
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
