// SPDX-License-Identifier: GPL-2.0
/*
 * The client's side of a call: submission, its only completion, cancellation.
 */
#include <linux/list.h>
#include <linux/nospec.h>

#include "call/client.h"
#include "call/flow.h"
#include "call/tx.h"
#include "chain/chain.h"
#include "core/call.h"
#include "core/calls.h"
#include "core/conn.h"
#include "core/flow.h"
#include "core/heap.h"
#include "core/qp.h"
#include "core/refusal.h"
#include "core/rpc.h"
#include "core/schema.h"
#include "core/session.h"
#include "core/trace.h"
#include "exec/control_frame.h"
#include "exec/kick.h"
#include "exec/stall.h"
#include "exec/submit.h"
#include "lib/ds/deadline.h"
#include "lib/ds/ring.h"
#include "lib/message/calltable.h"
#include "lib/message/schema.h"
#include "lib/message/wire.h"

/**
 * mrpc_cqe_explain() - attach a sentence to a completion that this host makes
 * @session: the session with the receive heap to use
 * @cqe: a completion without a block
 * @detail: the sentence; left out if there is no room for it
 *
 * Context: process.
 */
void mrpc_cqe_explain(struct mrpc_session *session, struct mrpc_cqe *cqe, const char *detail)
{
	u32 len = min_t(size_t, strlen(detail), MRPC_MAX_DETAIL), off;
	bool never;
	u8 *addr;

	cqe->flags |= MRPC_CQE_LOCAL;
	if (!len)
		return;
	addr = mrpc_heap_alloc(&session->recv, ALIGN(len, 8), &off, &never);
	if (!addr) {
		cqe->flags |= MRPC_CQE_FULL;
		return;
	}
	memcpy(addr, detail, len);
	memset(addr + len, 0, ALIGN(len, 8) - len);
	mrpc_heap_deliver(&session->recv, off);
	cqe->block = off;
	cqe->detail_len = len;
	cqe->flags |= MRPC_CQE_BLOCK;
}

/**
 * mrpc_call_complete() - deliver a call's terminal completion
 * @call: the call. The caller has taken it out of the call table, so this happens once. The caller
 *	still has to put the table's reference
 * @cqe: all fields except user_data, type and MRPC_CQE_FREED
 *
 * Context: any but hard interrupt.
 */
void mrpc_call_complete(struct mrpc_call *call, struct mrpc_cqe *cqe)
{
	struct mrpc_qp *qp = call->qp;

	if (unlikely(call->flow))
		mrpc_flow_end(call);
	cqe->user_data = call->user_data;
	cqe->type = MRPC_CQE_REPLY;
	cqe->method = call->method;
	cqe->conn = call->conn->id;
	cqe->priority = call->priority;
	trace_mrpc_complete(call->conn, call, cqe->status);
	if (mrpc_chain_ends(&call->conn->dp))
		mrpc_chain_call_end(call, cqe->msg_len, cqe->status, cqe->flags & MRPC_CQE_LOCAL);
	if (!qp) {
		cqe->flags |= MRPC_CQE_FREED;
		call->cqe = *cqe;
		smp_mb__before_atomic();	/* pairs with the acquire in mrpc_sync_done() */
		mrpc_call_set(call, MRPC_CALL_DONE);
		return;
	}
	/* The queue pair's lock orders this with mrpc_call_sent_put(). */
	spin_lock_bh(&qp->lock);
	if (test_bit(MRPC_CALL_SENT, &call->flags)) {
		cqe->flags |= MRPC_CQE_FREED;
		if (!(call->sqe_flags & MRPC_SQE_COPY))
			mrpc_cq_unreserve(&qp->cq, 1);
	}
	__set_bit(MRPC_CALL_FINAL, &call->flags);
	mrpc_qp_post_locked(qp, cqe);
	spin_unlock_bh(&qp->lock);
	mrpc_qp_wake(qp);
}

/* Kicks a stalled link. It may wait for room for this reply, and those behind it may need none. */
static void mrpc_call_unblock(struct mrpc_call *call)
{
	struct mrpc_conn *link = READ_ONCE(call->via) ?: call->conn;

	if (mrpc_stalled(link))
		mrpc_kick_rx(link);
}

/**
 * mrpc_call_abort() - end a call without the peer: deadline, cancel, dead link
 * @call: a call that the caller has taken out of the table
 * @status: enum mrpc_status
 * @detail: a sentence
 *
 * Puts the table's reference.
 */
void mrpc_call_abort(struct mrpc_call *call, u16 status, const char *detail)
{
	struct mrpc_conn *conn = call->conn;
	struct mrpc_cqe cqe = { .status = status };

	mrpc_cqe_explain(call->session, &cqe, detail);
	if (call->unsent)
		cqe.flags |= MRPC_CQE_UNSENT;
	mrpc_call_complete(call, &cqe);
	mrpc_call_unblock(call);
	mrpc_conn_drained(conn);
	mrpc_call_put(call);
}

/**
 * mrpc_call_wanted() - return true if the application still waits for the reply
 * @call: a call of this side; the caller has a reference
 */
bool mrpc_call_wanted(struct mrpc_call *call)
{
	struct mrpc_conn *conn = call->conn;
	bool wanted;

	spin_lock(&conn->lock);
	wanted = mrpc_call_find(&conn->calls.client, call->id);
	spin_unlock(&conn->lock);
	return wanted;
}

/**
 * mrpc_call_give_up() - free the slot of a failed call that the peer will not answer
 * @call: the call, or its remaining entry, in the table of its connection
 *
 * Return: true: the application still waited for it: the caller must abort it.
 */
bool mrpc_call_give_up(struct mrpc_call *call)
{
	struct mrpc_conn *conn = call->conn;
	struct mrpc_call *mine;
	bool known;

	spin_lock(&conn->lock);
	mine = mrpc_calls_finish(conn, call->id, MRPC_UNAVAILABLE, &known);
	spin_unlock(&conn->lock);
	return mine;
}

/**
 * mrpc_call_cancel() - cancel a call for the application
 * @conn: its connection
 * @user_data: user data of the call
 * @qp: the queue pair it was submitted on, or NULL for a synchronous one
 *
 * Return: 0, or -ENOENT: it has completed, or there was no such call.
 */
int mrpc_call_cancel(struct mrpc_conn *conn, u64 user_data, struct mrpc_qp *qp)
{
	struct mrpc_call *call = NULL;
	u32 pos = 0;
	u64 id;

	spin_lock(&conn->lock);
	while ((id = mrpc_call_next(&conn->calls.client, &pos))) {
		call = mrpc_call_find(&conn->calls.client, id);
		if (call->user_data == user_data && call->qp == qp)
			break;
	}
	if (id)
		mrpc_calls_abandon(conn, id);
	spin_unlock(&conn->lock);
	if (!id)
		return -ENOENT;
	if (!mrpc_conn_send_cancel(conn, call))
		mrpc_datapath_tx(conn);
	mrpc_call_abort(call, MRPC_CANCELLED, "cancelled by the application");
	return 0;
}

/*
 * Do the entries that are reserved leave one for messages? The end of a stream waits for these.
 * @opens: one of the entries is for an OPEN, which comes at once.
 */
static bool mrpc_call_fits(struct mrpc_qp *qp, bool opens)
{
	u32 reserved;

	spin_lock_bh(&qp->lock);
	reserved = mrpc_cq_reserved(&qp->cq);
	spin_unlock_bh(&qp->lock);
	return reserved - opens <= qp->cq.mask;
}

/* Checks what concerns streams. @flags: MRPC_METHOD_*; @qp: NULL for a synchronous call. */
static int mrpc_call_check_stream(const struct mrpc_conn *conn, const struct mrpc_sqe *sqe,
				  u8 flags, struct mrpc_qp *qp, struct mrpc_refusal *r)
{
	bool client = flags & MRPC_METHOD_CLIENT_STREAM;

	if (!(sqe->flags & MRPC_SQE_STREAM) == client)
		return mrpc_refuse(r, MRPC_INVALID_ARGUMENT, client ?
				   "the client of this method streams: MRPC_SQE_STREAM is missing" :
				   "the client of this method does not stream: MRPC_SQE_STREAM is set");
	if (!flags)
		return 0;
	if (!qp)
		return mrpc_refuse(r, MRPC_INVALID_ARGUMENT,
				   "a method that streams needs a queue pair");
	if (client && (sqe->flags & MRPC_SQE_COPY || sqe->root))
		return mrpc_refuse(r, MRPC_INVALID_ARGUMENT,
				   "the CALL of a client that streams has no message");
	if (!mrpc_call_fits(qp, client))
		return mrpc_refuse(r, MRPC_RESOURCE_EXHAUSTED,
				   "the ends of other calls fill the completion queue of %u entries: no room for messages",
				   qp->cq.mask + 1);
	if (!(conn->link.features.may & MRPC_FEATURE_STREAM))
		return mrpc_refuse(r, MRPC_UNIMPLEMENTED,
				   "connection %u carries no streams: its transport or its peer does not",
				   conn->id);
	return 0;
}

static int mrpc_call_check(struct mrpc_conn *conn, const struct mrpc_sqe *sqe,
			   struct mrpc_qp *qp, struct mrpc_refusal *r)
{
	u32 svc = sqe->method >> 16, method = sqe->method & 0xffff;
	const struct mrpc_schema_plan *plan;

	if (sqe->flags & ~(MRPC_SQE_COPY | MRPC_SQE_TIMES | MRPC_SQE_STREAM |
			   MRPC_SQE_COMPRESS))
		return mrpc_refuse(r, MRPC_INVALID_ARGUMENT, "unknown flags 0x%x", sqe->flags);
	if (sqe->resv || sqe->call || sqe->status || sqe->detail || sqe->detail_len)
		return mrpc_refuse(r, MRPC_INVALID_ARGUMENT, "a reserved field is not zero");
	if (conn->link.accepted)
		return mrpc_refuse(r, MRPC_INVALID_ARGUMENT,
				   "connection %u was accepted: calls go the other way", conn->id);
	if (svc >= conn->services.nr)
		return mrpc_refuse(r, MRPC_UNIMPLEMENTED,
				   "connection %u has no service %u (it has %u)", conn->id, svc,
				   conn->services.nr);
	svc = array_index_nospec(svc, conn->services.nr);
	plan = conn->services.list[svc].schema->plan;
	if (method >= plan->nr_methods)
		return mrpc_refuse(r, MRPC_UNIMPLEMENTED, "service %.*s has no method %u (it has %u)",
				   MRPC_SCHEMA_SHOWN_NAME, mrpc_schema_service(plan), method,
				   plan->nr_methods);
	if (sqe->meta_len > MRPC_MAX_META)
		return mrpc_refuse(r, MRPC_INVALID_ARGUMENT, "%u bytes of metadata, at most %u",
				   sqe->meta_len, MRPC_MAX_META);
	method = array_index_nospec(method, plan->nr_methods);
	if (likely(!(plan->methods[method].flags | (sqe->flags & MRPC_SQE_STREAM))))
		return 0;
	return mrpc_call_check_stream(conn, sqe, plan->methods[method].flags, qp, r);
}

static int mrpc_call_build(struct mrpc_call *call, const struct mrpc_sqe *sqe,
			   struct mrpc_refusal *r)
{
	struct mrpc_conn *conn = call->conn;
	u32 svc = array_index_nospec(sqe->method >> 16, conn->services.nr);
	const struct mrpc_schema_plan *plan = conn->services.list[svc].schema->plan;
	const struct mrpc_method *method =
		&plan->methods[array_index_nospec(sqe->method & 0xffff, plan->nr_methods)];
	bool copy = sqe->flags & MRPC_SQE_COPY;
	struct mrpc_msg_error me __uninitialized;
	int err;

	err = mrpc_rpc_prefix(&call->rpc, sqe->meta_len, 0);
	if (err)
		return mrpc_refuse(r, MRPC_RESOURCE_EXHAUSTED, "no memory for metadata");
	if (sqe->meta_len) {
		err = mrpc_refuse_meta(call->session, &call->rpc, sqe->meta, sqe->meta_len, r);
		if (err)
			return err;
	}
	if (unlikely(method->flags)) {
		if (mrpc_flow_new(call, method->flags))
			return mrpc_refuse(r, MRPC_RESOURCE_EXHAUSTED, "no memory for the stream");
		call->flow->qp = call->qp;
		call->flow->rx_begun = true;
	}
	if (unlikely(sqe->flags & MRPC_SQE_STREAM)) {
		__set_bit(MRPC_CALL_SENT, &call->flags);
		return 0;
	}
	call->rpc.frame.flags = MRPC_WIRE_END;
	err = mrpc_rpc_snapshot(&call->rpc, &call->session->send, plan, method->request, sqe->root,
				conn->services.peer_max_message, copy, &me);
	if (err)
		return mrpc_refuse_message(err, plan, &me, conn->services.peer_max_message, copy,
					   r);
	if (call->rpc.heap)
		mrpc_call_by_ref(call);
	else
		__set_bit(MRPC_CALL_SENT, &call->flags);
	return 0;
}

/*
 * Tells the application the token of a client's stream, for which room is reserved. The connection's
 * lock is held: the call cannot complete before.
 */
static void mrpc_call_open(struct mrpc_call *call)
{
	const struct mrpc_cqe cqe = {
		.type = MRPC_CQE_OPEN,
		.user_data = call->user_data,
		.conn = call->conn->id,
		.call = call->id,
		.method = call->method,
		.priority = call->priority,
	};

	spin_lock_bh(&call->qp->lock);
	mrpc_qp_post_locked(call->qp, &cqe);
	spin_unlock_bh(&call->qp->lock);
	call->sqe_flags |= MRPC_SQE_COPY;	/* no entry is reserved for a SENT any more */
}

/*
 * Gives the call an id, enters it into the table and submits its request. The connection's lock
 * covers all three: a thread that ends the state READY under the lock submits its BYE behind all
 * requests. The caller owns the call no more afterwards.
 */
static int mrpc_call_enter(struct mrpc_call *call, u64 timeout_us, struct mrpc_refusal *r)
{
	struct mrpc_qp *opens = call->sqe_flags & MRPC_SQE_STREAM ? call->qp : NULL;
	struct mrpc_conn *conn = call->conn;
	const char *why = NULL;
	u64 id = 0, when;
	u32 more = 0;
	int err = 0;

	if (timeout_us) {
		u64 ns;

		if (check_mul_overflow(timeout_us, (u64)NSEC_PER_USEC, &ns) || ns > S64_MAX / 2)
			timeout_us = 0;
		else
			call->deadline.when = ktime_get_ns() + ns;
	}
	when = call->deadline.when;
	call->rpc.deadline = when;

again:
	spin_lock(&conn->lock);
	if (conn->state != MRPC_CONN_READY) {
		err = -ENOTCONN;
		why = conn->why;
	} else {
		id = mrpc_call_start(&conn->calls.client, call);
		if (id && timeout_us)	/* as much room as calls: never fails */
			mrpc_deadlines_add(&conn->calls.deadlines, &call->deadline);
		if (!id && conn->calls.client.nr < conn->calls.client.limit)
			more = conn->calls.client.nr + 1;
	}
	if (id) {
		call->id = id;
		call->rpc.frame.call_id = id;
		mrpc_call_get_new(call);	/* for the table; the lock hides the call */
		conn->stats.calls++;
		conn->services.list[call->method >> 16].calls++;
		if (unlikely(opens))
			mrpc_call_open(call);
		trace_mrpc_marshal(conn, call);
		mrpc_tx_submit(conn, &call->rpc);
	}
	spin_unlock(&conn->lock);

	if (err == -ENOTCONN)
		return mrpc_refuse(r, MRPC_UNAVAILABLE, "connection %u is closed: %s", conn->id,
				   why ?: "by this side");
	if (!id && more) {
		if (mrpc_calls_grow(conn, more))
			return mrpc_refuse(r, MRPC_RESOURCE_EXHAUSTED, "no memory for more calls");
		more = 0;
		goto again;
	}
	if (!id)
		return mrpc_refuse(r, MRPC_RESOURCE_EXHAUSTED,
				   "%u calls in flight on connection %u, the most it takes",
				   conn->calls.client.limit, conn->id);
	if (unlikely(opens))
		mrpc_qp_wake(opens);
	if (timeout_us)
		mrpc_conn_arm(conn, when);
	return 0;
}

/**
 * mrpc_call_submit() - start a call
 * @session: the session
 * @conn: the connection that @sqe->conn names, with the caller's reference; NULL if there is none
 * @sqe: private copy of the descriptor
 * @qp: queue pair of its completions, with 2 entries reserved (1 with
 *	MRPC_SQE_COPY); NULL for a synchronous call
 * @sync: out, for a synchronous call: the call, with a reference
 * @failed: out, on failure: the terminal completion. With @qp it is already
 *	posted, and the reservations are used up
 *
 * All entry points submit through this function.
 * Context: process; may sleep.
 * Return: 0: the caller runs the datapath next, mrpc_datapath_tx(); or a negative errno.
 */
int mrpc_call_submit(struct mrpc_session *session, struct mrpc_conn *conn,
		     const struct mrpc_sqe *sqe, struct mrpc_qp *qp, struct mrpc_call **sync,
		     struct mrpc_cqe *failed)
{
	struct mrpc_call *call = NULL;
	struct mrpc_refusal r __uninitialized;
	int err;

	if (!conn) {
		err = mrpc_refuse(&r, MRPC_INVALID_ARGUMENT, "there is no connection %u",
				  sqe->conn);
		goto fail;
	}
	err = mrpc_call_check(conn, sqe, qp, &r);
	if (err)
		goto fail;
	call = mrpc_call_new(conn, MRPC_ROLE_CLIENT, GFP_KERNEL);
	if (!call) {
		err = mrpc_refuse(&r, MRPC_RESOURCE_EXHAUSTED, "no memory for the call");
		goto fail;
	}
	call->qp = qp;
	call->waiter = qp ? NULL : current;
	call->user_data = sqe->user_data;
	call->method = sqe->method;
	call->sqe_flags = sqe->flags;
	call->priority = sqe->priority;
	call->max_reply = min(sqe->max_reply ?: U32_MAX, conn->link.max_message);
	call->stamped = sqe->flags & MRPC_SQE_TIMES || mrpc_chain_stamps(&conn->dp);
	if (call->stamped)
		call->times.submit = ktime_get_ns();
	trace_mrpc_submit(conn, call);
	call->rpc.frame.type = MRPC_WIRE_CALL;
	call->rpc.frame.method = sqe->method;
	call->rpc.frame.priority = sqe->priority;
	call->rpc.frame.max_reply = call->max_reply;
	err = mrpc_call_build(call, sqe, &r);
	if (err)
		goto fail;
	if (call->stamped)
		call->times.marshal = ktime_get_ns();
	if (!qp)
		mrpc_call_get_new(call);
	err = mrpc_call_enter(call, sqe->timeout_us, &r);
	if (err) {
		if (!qp)
			mrpc_call_put(call);
		if (call->by_ref)
			mrpc_call_put(call);
		goto fail;
	}
	if (!qp)
		*sync = call;
	return 0;

fail:
	memset(failed, 0, sizeof(*failed));
	failed->user_data = sqe->user_data;
	failed->type = MRPC_CQE_REPLY;
	failed->flags = MRPC_CQE_FREED | MRPC_CQE_UNSENT;
	failed->status = r.status;
	failed->conn = sqe->conn;
	failed->method = sqe->method;
	mrpc_cqe_explain(session, failed, r.detail);
	if (qp) {
		if (!(sqe->flags & MRPC_SQE_COPY))
			mrpc_qp_unreserve(qp, 1);
		mrpc_qp_post(qp, failed);
	}
	if (call)
		mrpc_call_put(call);
	return err;
}
