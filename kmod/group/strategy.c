// SPDX-License-Identifier: GPL-2.0
/*
 * Changes of a group's strategy: an operator asks one rank, which tells the others. lib/group/change.h
 * has the protocol. The owner of the claim of the rank sends its report, and takes the new strategy
 * when no operation runs. (MCCS, section 4.2.3.)
 */
#include <linux/memcontrol.h>
#include <linux/sched/mm.h>

#include "core/call.h"
#include "core/conn.h"
#include "core/refusal.h"
#include "core/rpc.h"
#include "core/session.h"
#include "exec/kick.h"
#include "exec/submit.h"
#include "group/end.h"
#include "group/link.h"
#include "group/member.h"
#include "group/run.h"
#include "group/strategy.h"
#include "lib/group/change.h"

/* -- the operator --------------------------------------------------------------------- */

/* Fills in the strategy that the operator asks for. Under the lock. */
static void mrpc_strategy_build(struct mrpc_change *c, const struct mrpc_strategy_request *request)
{
	struct mrpc_strategy *s = c->spare;
	u32 i;

	memcpy(s, c->use, mrpc_strategy_bytes(c->ranks));
	if (request->order)
		memcpy(s->order, request->order, array_size(c->ranks, sizeof(*s->order)));
	for (i = 0; i < MRPC_NR_COLLECTIVES; i++)
		if (request->changes & BIT(i))
			s->algorithm[i] = request->algorithm[i];
}

/* The first rank that cannot be told, or MRPC_NO_RANK. Under the lock. */
static u32 mrpc_strategy_unreachable(const struct mrpc_member *m)
{
	u32 rank;

	for (rank = 0; rank < m->ranks; rank++)
		if (rank != m->rank && (!m->links[rank].conn || m->links[rank].left))
			return rank;
	return MRPC_NO_RANK;
}

static int mrpc_refuse_busy(const struct mrpc_change *c, struct mrpc_refusal *r)
{
	u32 rank = mrpc_change_awaits(c);

	if (rank == MRPC_NO_RANK)
		mrpc_refuse(r, MRPC_UNAVAILABLE,
			    "strategy %u is under way: it is used after operation %llu",
			    c->version + 1, c->last);
	else
		mrpc_refuse(r, MRPC_UNAVAILABLE,
			    "strategy %u is under way: rank %u has not reported", c->version + 1,
			    rank);
	return -EBUSY;
}

/* Under the lock. */
static int mrpc_strategy_propose(struct mrpc_member *m, const struct mrpc_strategy_request *request,
				 struct mrpc_refusal *r)
{
	u32 rank = mrpc_strategy_unreachable(m);
	struct mrpc_change *c = m->change;
	char why[96];
	int err;

	if (m->status != MRPC_OK) {
		mrpc_refuse(r, m->status, "the group has ended");
		return -ESHUTDOWN;
	}
	if (request->order && request->nr != m->ranks)
		return mrpc_refuse(r, MRPC_INVALID_ARGUMENT,
				   "the order has %u ranks, but the group has %u", request->nr,
				   m->ranks);
	if (rank != MRPC_NO_RANK) {
		mrpc_refuse(r, MRPC_FAILED_PRECONDITION, m->links[rank].left ?
			    "rank %u has left the group" :
			    "there is no connection to rank %u", rank);
		return -ENOTCONN;
	}
	mrpc_strategy_build(c, request);
	if (!mrpc_strategy_check(c->spare, m->ranks, why, sizeof(why)))
		return mrpc_refuse(r, MRPC_INVALID_ARGUMENT, "%s", why);
	err = mrpc_change_propose(c, m->seq);
	if (err == -EBUSY)
		return mrpc_refuse_busy(c, r);
	if (err)
		mrpc_refuse(r, MRPC_RESOURCE_EXHAUSTED, "strategy %u is the last there can be",
			    c->version);
	return err;
}

/**
 * mrpc_strategy_set() - begin a change of a group's strategy
 * @m: the rank that proposes it to the others
 * @request: what the operator wants
 * @version: out: of the strategy
 * @r: out: the reason of a failure
 *
 * All ranks use the strategy from the same operation on. If operators of several ranks ask at once,
 * that of the lowest rank is used. Context: process; may sleep.
 * Return: 0: the change is under way; -EINVAL; -EBUSY: another one is; -ENOTCONN; -ESHUTDOWN;
 * -EOVERFLOW.
 */
int mrpc_strategy_set(struct mrpc_member *m, const struct mrpc_strategy_request *request,
		      u32 *version, struct mrpc_refusal *r)
{
	struct mem_cgroup *old;
	int err;

	spin_lock_bh(&m->lock);
	err = mrpc_strategy_propose(m, request, r);
	*version = m->change->version + 1;
	spin_unlock_bh(&m->lock);
	if (err)
		return err;
	/* Not the operator's memory. */
	old = set_active_memcg(m->session->memcg);
	mrpc_member_run(m);
	set_active_memcg(old);
	return 0;
}

/**
 * mrpc_strategy_view() - look at the strategy of a rank
 * @m: the rank
 * @view: out
 * @order: out: the rank at each place, @m->ranks of them
 *
 * Context: process.
 */
void mrpc_strategy_view(struct mrpc_member *m, struct mrpc_strategy_view *view, u32 *order)
{
	const struct mrpc_change *c = m->change;

	spin_lock_bh(&m->lock);
	*view = (struct mrpc_strategy_view){
		.version = c->version,
		.proposer = c->proposer,
		.open = c->open,
		.awaits = mrpc_change_awaits(c),
		.last = c->last,
	};
	memcpy(view->algorithm, c->use->algorithm, sizeof(view->algorithm));
	memcpy(order, c->use->order, array_size(m->ranks, sizeof(*order)));
	spin_unlock_bh(&m->lock);
}

/* -- reports -------------------------------------------------------------------------- */

/* Sends the own report to one rank. Only the owner of the claim finishes a change. */
static int mrpc_report_send(struct mrpc_member *m, struct mrpc_conn *conn)
{
	struct mrpc_call *call = mrpc_member_frame(conn, MRPC_WIRE_STRATEGY,
						   mrpc_report_bytes(m->ranks), 0);
	struct mrpc_change *c = m->change;

	if (!call)
		return -ENOMEM;
	spin_lock_bh(&m->lock);
	mrpc_report_encode(&c->own, c->next, m->key, m->ranks, m->rank,
			   (void *)(call->rpc.data + sizeof(struct mrpc_wire_hdr)));
	spin_unlock_bh(&m->lock);
	mrpc_tx_submit(conn, &call->rpc);
	mrpc_kick_again(conn, MRPC_CONN_TX_READY);
	return 0;
}

/* Returns the connection over which @rank is to be told, with a reference, or NULL. */
static struct mrpc_conn *mrpc_report_due(struct mrpc_member *m, u32 rank)
{
	struct mrpc_member_link *link = &m->links[rank];
	struct mrpc_conn *conn = NULL;

	spin_lock_bh(&m->lock);
	if (m->status == MRPC_OK && !link->left && mrpc_change_owes(m->change, rank))
		conn = link->conn;
	if (conn) {
		mrpc_conn_get(conn);
		mrpc_change_tell(m->change, rank);
	}
	spin_unlock_bh(&m->lock);
	return conn;
}

/* Sends the own report to all ranks that have a connection, and have not got it. */
static int mrpc_report_send_all(struct mrpc_member *m)
{
	struct mrpc_conn *conn;
	int err = 0;
	u32 rank;

	for (rank = 0; rank < m->ranks && !err; rank++) {
		conn = mrpc_report_due(m, rank);
		if (!conn)
			continue;
		err = mrpc_report_send(m, conn);
		mrpc_conn_put(conn);
	}
	if (err)
		mrpc_member_fail(m, MRPC_RESOURCE_EXHAUSTED,
				 "strategy %u: rank %u has no memory for its report",
				 m->change->version + 1, m->rank);
	return err;
}

/**
 * mrpc_strategy_go_on() - report for a change that is under way, and use the new strategy if it may be
 * @m: the rank; the caller owns its claim
 *
 * Context: process; may sleep.
 */
void mrpc_strategy_go_on(struct mrpc_member *m)
{
	bool finished;

	do {
		if (mrpc_report_send_all(m))
			return;
		spin_lock_bh(&m->lock);
		finished = !m->running && m->status == MRPC_OK &&
			   mrpc_change_finish(m->change, m->seq);
		if (finished)
			m->held = false;
		spin_unlock_bh(&m->lock);
	} while (finished);	/* the next change may be under way */
}

/**
 * mrpc_strategy_lacks() - return the rank without which a change is never over, or MRPC_NO_RANK
 * @m: the rank; the caller has its lock
 *
 * A rank that has left reports no more. The reports of the others may still allow the operation that
 * is held.
 */
u32 mrpc_strategy_lacks(struct mrpc_member *m)
{
	u32 rank, lacks = MRPC_NO_RANK;

	for (rank = 0; rank < m->ranks; rank++) {
		if (rank == m->rank || m->change->peers[rank].reported)
			continue;
		if (!m->links[rank].left)
			return MRPC_NO_RANK;
		lacks = rank;
	}
	return lacks;
}

/* Takes a report. Under the lock. Return: false: @why says how it is wrong. */
static bool mrpc_report_take(struct mrpc_member *m, u32 rank, const struct mrpc_frame *f,
			    const u8 *body, char *why, size_t size)
{
	struct mrpc_change *c = m->change;
	struct mrpc_report report;

	/* The application of a rank can leave while that rank sends its report. */
	if (m->status != MRPC_OK || m->links[rank].left)
		return true;
	if (!mrpc_report_decode((const void *)body, f->meta_len, m->key, m->ranks, rank, &report,
				c->spare, why, size))
		return false;
	switch (mrpc_change_report(c, rank, &report, m->seq)) {
	case MRPC_CHANGE_TAKEN:
		return true;
	case MRPC_CHANGE_DIFFERS:
		scnprintf(why, size, "rank %u reports another strategy of rank %u than others", rank,
			  report.proposer);
		return false;
	default:
		scnprintf(why, size, "rank %u reports for strategy %u, this one uses %u", rank,
			  report.version, c->version);
		return false;
	}
}

/**
 * mrpc_strategy_head() - take a STRATEGY: another rank reports for a change
 * @conn: the connection; its sink has the frame
 * @body: of the frame
 *
 * Context: owner of the receive claim; may sleep.
 * Return: as mrpc_sink_head().
 */
int mrpc_strategy_head(struct mrpc_conn *conn, const u8 *body)
{
	struct mrpc_member *m = mrpc_conn_member(conn);
	char why[128];
	bool taken;

	if (!m)
		return -EAGAIN;
	clear_bit(MRPC_CONN_EARLY, &conn->flags);
	spin_lock_bh(&m->lock);
	taken = mrpc_report_take(m, conn->member_rank, &conn->receive.sink.a.frame, body, why,
				 sizeof(why));
	spin_unlock_bh(&m->lock);
	if (taken)
		mrpc_member_run(m);
	else
		mrpc_member_fail(m, MRPC_FAILED_PRECONDITION, "rank %u: %s", m->rank, why);
	return 0;
}
