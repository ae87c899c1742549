// SPDX-License-Identifier: GPL-2.0
/*
 * The server's side of a call: delivery of requests, replies, and statuses that the kernel gives
 * itself.
 */
#include <linux/list.h>

#include "call/client.h"
#include "call/flow_rx.h"
#include "call/flow_tx.h"
#include "call/server.h"
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
#include "exec/recv_free.h"
#include "exec/submit.h"
#include "lib/ds/ring.h"
#include "lib/message/calltable.h"
#include "lib/message/wire.h"

/* Requests that weigh as much as a stream: it may keep the thread of its handler for long. */
#define MRPC_STREAM_LOAD	64

/*
 * Returns the serving queue pair with the fewest unanswered requests. If several have as few, the
 * one that runs this datapath wins: it needs no wake-up.
 */
static struct mrpc_qp *mrpc_serve_choose(struct mrpc_session *session, struct mrpc_qp *mine)
{
	u32 nr = mrpc_qp_count(session), best_load = U32_MAX, i;
	struct mrpc_qp *best = NULL;

	for (i = 0; i < nr; i++) {
		struct mrpc_qp *qp = session->qps[i];
		u32 load;

		if (!(qp->flags & MRPC_QP_SERVE))
			continue;
		load = 2 * (atomic_read(&qp->served) + MRPC_STREAM_LOAD * atomic_read(&qp->streaming)) +
		       (qp != mine);
		if (load < best_load) {
			best = qp;
			best_load = load;
		}
	}
	return best;
}

/* Counts a request as answered for its queue pair. Only the first caller has an effect. */
static void mrpc_serve_uncount(struct mrpc_call *call, struct mrpc_qp *qp)
{
	if (!test_and_clear_bit(MRPC_CALL_COUNTED, &call->flags))
		return;
	atomic_dec(&qp->served);
	if (unlikely(call->flow))
		atomic_dec(&qp->streaming);
}

/*
 * Reserves an entry for a request. Requests leave room in the completion queue for as many entries
 * as can be submitted: otherwise new requests could keep the application from answering.
 */
static bool mrpc_serve_reserve(struct mrpc_qp *qp)
{
	return mrpc_cq_reserve(&qp->cq, 1, qp->sq.mask + 1);
}

/*
 * Posts a request. There is room, and @call is in no list. Once FINAL is set, only the thread that
 * answers the call puts it into a list. The caller calls mrpc_qp_wake() next.
 */
static void mrpc_serve_post(struct mrpc_qp *qp, struct mrpc_call *call)
{
	spin_lock_bh(&qp->lock);
	atomic_inc(&qp->served);
	if (unlikely(call->flow))
		atomic_inc(&qp->streaming);
	call->qp = qp;
	if (likely(call->cqe.flags & MRPC_CQE_BLOCK))
		mrpc_heap_deliver(&call->session->recv, call->cqe.block);
	if (call->stamped)
		WRITE_ONCE(call->times.deliver, ktime_get_ns());
	trace_mrpc_deliver(call->conn, call);
	/* A full barrier. It pairs with the acquire in mrpc_serve_take(), which then sees the
	 * call's qp; and with the barrier in mrpc_serve_abort().
	 */
	set_mask_bits(&call->flags, 0, BIT(MRPC_CALL_COUNTED) | BIT(MRPC_CALL_FINAL));
	if (test_bit(MRPC_CALL_ABORTED, &call->flags))
		mrpc_serve_uncount(call, qp);
	mrpc_qp_post_locked(qp, &call->cqe);
	spin_unlock_bh(&qp->lock);
}

/**
 * mrpc_serve_room() - return true if mrpc_serve_pull() could give a queue pair a request now
 * @qp: the queue pair
 */
bool mrpc_serve_room(struct mrpc_qp *qp)
{
	return qp->flags & MRPC_QP_SERVE && mrpc_cq_room(&qp->cq, 1, qp->sq.mask + 1);
}

static bool mrpc_serve_alive(struct mrpc_call *call)
{
	struct mrpc_conn *conn = call->conn;
	bool alive;

	spin_lock(&conn->lock);
	alive = mrpc_serve_find(&conn->calls.server, call->id) == call;
	spin_unlock(&conn->lock);
	return alive;
}

/*
 * Takes a request that waits off its list: it will not be delivered. Return: false: it did not
 * wait. A request that was delivered meanwhile (FINAL) may be in another list now: see
 * mrpc_qp.late.
 */
static bool mrpc_serve_unlist(struct mrpc_call *call)
{
	struct mrpc_session *session = call->session;
	bool waited = false;

	spin_lock_bh(&session->ready_lock);
	if (!test_bit(MRPC_CALL_FINAL, &call->flags) && !list_empty(&call->pending)) {
		list_del_init(&call->pending);
		session->nr_pending--;
		waited = true;
	}
	spin_unlock_bh(&session->ready_lock);
	if (waited) {
		if (call->cqe.flags & MRPC_CQE_BLOCK)
			mrpc_recv_cancel(session, call->cqe.block,
					 call->cqe.msg_len + ALIGN(call->cqe.meta_len, 8));
		mrpc_call_put(call);
	}
	return waited;
}

/* Lets a request wait, as no queue pair has room for it. Consumes a reference. */
static noinline void mrpc_serve_wait(struct mrpc_call *call)
{
	struct mrpc_session *session = call->session;

	mrpc_call_get(call);	/* for the list */
	spin_lock_bh(&session->ready_lock);
	list_add_tail(&call->pending, &session->pending);
	session->nr_pending++;
	spin_unlock_bh(&session->ready_lock);
	/* The call may have ended meanwhile, before it was in the list. */
	if (mrpc_serve_alive(call))
		mrpc_qp_set_pending(session);
	else
		mrpc_serve_unlist(call);
	mrpc_call_put(call);
}

/**
 * mrpc_serve_deliver() - give a request to the application
 * @call: a call in the serve table, its request placed; @call->cqe describes it
 * @mine: the queue pair of the calling thread, or NULL
 *
 * Context: process. The caller holds a reference to @call, which is consumed.
 */
void mrpc_serve_deliver(struct mrpc_call *call, struct mrpc_qp *mine)
{
	struct mrpc_session *session = call->session;
	struct mrpc_qp *qp = NULL;

	if (list_empty(&session->pending))
		qp = mrpc_serve_choose(session, mine);
	if (qp && mrpc_serve_reserve(qp)) {
		mrpc_serve_post(qp, call);
		mrpc_qp_wake(qp);
		if (unlikely(call->flow))
			mrpc_flow_open(call, qp);
		mrpc_call_put(call);
	} else {
		mrpc_serve_wait(call);
	}
}

/**
 * mrpc_serve_pull() - fill a completion queue with requests that waited
 * @session: the session
 * @qp: a queue pair of the calling thread
 *
 * Context: process.
 */
void mrpc_serve_pull(struct mrpc_session *session, struct mrpc_qp *qp)
{
	struct mrpc_call *call;

	if (!(qp->flags & MRPC_QP_SERVE))
		return;
	while (!list_empty(&session->pending)) {
		spin_lock_bh(&session->ready_lock);
		call = list_first_entry_or_null(&session->pending, struct mrpc_call, pending);
		if (call && mrpc_serve_reserve(qp)) {
			list_del_init(&call->pending);
			session->nr_pending--;
			mrpc_serve_post(qp, call);
		} else {
			call = NULL;
		}
		spin_unlock_bh(&session->ready_lock);
		if (!call)
			return;
		mrpc_qp_wake(qp);
		if (unlikely(call->flow))
			mrpc_flow_open(call, qp);
		mrpc_call_put(call);
		cond_resched();
	}
}

/* Finds a call that the application has and may answer, or NULL. Under the connection's lock. */
static struct mrpc_call *mrpc_serve_find_open(struct mrpc_conn *conn, u64 id)
{
	struct mrpc_call *call = mrpc_serve_find(&conn->calls.server, id);

	if (!call || !test_bit_acquire(MRPC_CALL_FINAL, &call->flags))
		return NULL;	/* it has ended, or the token is guessed */
	return call->flow && call->flow->answered ? NULL : call;
}

/**
 * mrpc_serve_is_open() - whether the client of a request waits for its reply
 * @conn: the connection of the request
 * @id: call id
 *
 * Context: any but hard interrupts; takes the connection's lock.
 * Return: false: it was answered, or the call has ended: cancelled, deadline, end of @conn.
 */
bool mrpc_serve_is_open(struct mrpc_conn *conn, u64 id)
{
	bool open;

	spin_lock(&conn->lock);
	open = mrpc_serve_find_open(conn, id);
	spin_unlock(&conn->lock);
	return open;
}

/*
 * Takes a delivered call out of the serve table. Only the taker may answer it, so the application
 * or the kernel answers once. The statistics count the status that the application gives. A call
 * that streams stays in the table until its REPLY goes: see mrpc_flow_reply().
 */
static struct mrpc_call *mrpc_serve_take(struct mrpc_conn *conn, u64 id, u16 status)
{
	struct mrpc_call *call;

	spin_lock(&conn->lock);
	call = mrpc_serve_find_open(conn, id);
	if (call && unlikely(call->flow)) {
		call->flow->answered = true;
		mrpc_call_get(call);
	} else if (call) {
		mrpc_calls_answer(conn, id);
		mrpc_conn_count(conn, status);
	}
	spin_unlock(&conn->lock);
	return call;
}

static void mrpc_serve_failed(struct mrpc_conn *conn, bool was_done)
{
	spin_lock(&conn->lock);
	conn->stats.done -= was_done;
	conn->stats.failed++;
	spin_unlock(&conn->lock);
}

/**
 * mrpc_serve_status() - send a status that the kernel gives
 * @conn: the connection
 * @id: call id
 * @status: enum mrpc_status, not OK
 * @detail: a sentence
 *
 * The caller has taken the call out of the serve table and runs the datapath
 * afterwards. Context: process; may sleep.
 * Return: 0 or -ENOMEM, after which the connection must end.
 */
int mrpc_serve_status(struct mrpc_conn *conn, u64 id, u16 status, const char *detail)
{
	u32 len = min_t(size_t, strlen(detail), MRPC_MAX_DETAIL);
	struct mrpc_call *call = mrpc_call_new(conn, MRPC_ROLE_CONTROL, GFP_KERNEL);

	if (!call)
		return -ENOMEM;
	if (mrpc_rpc_prefix(&call->rpc, 0, len)) {
		mrpc_call_put(call);
		return -ENOMEM;
	}
	memcpy(call->rpc.data + sizeof(struct mrpc_wire_hdr), detail, len);
	call->id = id;
	call->rpc.frame.type = MRPC_WIRE_REPLY;
	call->rpc.frame.flags = MRPC_WIRE_END;
	call->rpc.frame.call_id = id;
	call->rpc.frame.status = status;
	mrpc_tx_submit(conn, &call->rpc);
	mrpc_serve_failed(conn, false);
	mrpc_conn_drained(conn);
	return 0;
}

/**
 * mrpc_serve_abort() - end a request without the application's reply
 * @call: a call that the caller has taken out of the serve table
 * @status: enum mrpc_status
 * @detail: a sentence; NULL if the peer cannot be told any more
 *
 * A request that was not delivered disappears. If it was delivered, the application's reply finds
 * no call. Puts the table's reference. Context: process.
 */
void mrpc_serve_abort(struct mrpc_call *call, u16 status, const char *detail)
{
	set_bit(MRPC_CALL_ABORTED, &call->flags);
	smp_mb__after_atomic();		/* pairs with the one in mrpc_serve_post() */
	if (!mrpc_serve_unlist(call) && test_bit_acquire(MRPC_CALL_FINAL, &call->flags))
		mrpc_serve_uncount(call, call->qp);
	if (unlikely(call->flow))
		mrpc_flow_aborted(call, status);
	if (mrpc_chain_ends(&call->conn->dp))
		mrpc_chain_call_end(call, call->cqe.msg_len, status, true);
	if (detail && mrpc_serve_status(call->conn, call->id, status, detail))
		mrpc_conn_close(call->conn, MRPC_UNAVAILABLE, "no memory for a status", true);
	mrpc_call_put(call);
}

static int mrpc_reply_check(const struct mrpc_sqe *sqe, struct mrpc_refusal *r)
{
	if (sqe->flags & ~(MRPC_SQE_COPY | MRPC_SQE_COMPRESS))
		return mrpc_refuse(r, MRPC_INVALID_ARGUMENT, "unknown flags 0x%x", sqe->flags);
	if (sqe->resv || sqe->method || sqe->max_reply || sqe->timeout_us ||
	    (sqe->status != MRPC_OK && sqe->root))
		return mrpc_refuse(r, MRPC_INVALID_ARGUMENT, "a reserved field is not zero");
	if (sqe->status > MRPC_STATUS_MAX)
		return mrpc_refuse(r, MRPC_INVALID_ARGUMENT, "%u is not a status", sqe->status);
	if (sqe->meta_len > MRPC_MAX_META)
		return mrpc_refuse(r, MRPC_INVALID_ARGUMENT, "%u bytes of metadata, at most %u",
				   sqe->meta_len, MRPC_MAX_META);
	if (sqe->detail_len > MRPC_MAX_DETAIL)
		return mrpc_refuse(r, MRPC_INVALID_ARGUMENT, "a detail of %u bytes, at most %u",
				   sqe->detail_len, MRPC_MAX_DETAIL);
	return 0;
}

static int mrpc_reply_build(struct mrpc_call *call, const struct mrpc_sqe *sqe,
			    struct mrpc_refusal *r)
{
	struct mrpc_session *session = call->session;
	struct mrpc_rpc *rpc = &call->rpc;
	const struct mrpc_schema_plan *plan;
	struct mrpc_msg_error me __uninitialized;
	const void *detail;
	u32 type, max;
	int err;

	err = mrpc_reply_check(sqe, r);
	if (err)
		return err;
	err = mrpc_rpc_prefix(rpc, sqe->meta_len, sqe->detail_len);
	if (err)
		return mrpc_refuse(r, MRPC_RESOURCE_EXHAUSTED, "no memory for metadata");
	if (sqe->meta_len) {
		err = mrpc_refuse_meta(session, rpc, sqe->meta, sqe->meta_len, r);
		if (err)
			return err;
	}
	if (sqe->detail_len) {
		detail = mrpc_heap_at(&session->send, sqe->detail, sqe->detail_len);
		if (!detail)
			return mrpc_refuse(r, MRPC_INVALID_ARGUMENT,
					   "detail {off %u, len %u} is outside the send heap",
					   sqe->detail, sqe->detail_len);
		memcpy(rpc->data + sizeof(struct mrpc_wire_hdr) + ALIGN(sqe->meta_len, 8),
		       detail, sqe->detail_len);
	}
	rpc->frame.status = sqe->status;
	if (sqe->status != MRPC_OK)
		return 0;
	plan = call->conn->services.list[call->method >> 16].schema->plan;
	if (unlikely(plan->methods[call->method & 0xffff].flags & MRPC_METHOD_SERVER_STREAM))
		return sqe->root ? mrpc_refuse(r, MRPC_INVALID_ARGUMENT,
					       "the reply of a server that streams has no message") : 0;
	type = plan->methods[call->method & 0xffff].reply;
	max = min(call->max_reply, call->conn->services.peer_max_message);
	err = mrpc_rpc_snapshot(rpc, &session->send, plan, type, sqe->root, max,
				sqe->flags & MRPC_SQE_COPY, &me);
	if (err)
		return mrpc_refuse_message(err, plan, &me, max, sqe->flags & MRPC_SQE_COPY, r);
	if (rpc->heap)
		mrpc_call_by_ref(call);
	return 0;
}

/*
 * Turns a refused reply of the application into a status: the caller gets one all the same. It
 * learns the reason only if that concerns the caller: a size.
 */
static void mrpc_reply_reset(struct mrpc_call *call, const struct mrpc_refusal *r)
{
	bool size = r->status == MRPC_RESOURCE_EXHAUSTED;

	mrpc_rpc_to_status(&call->rpc, size ? r->status : MRPC_INTERNAL,
			   size ? r->detail : "the server's reply was malformed");
}

static void mrpc_reply_complete(struct mrpc_session *session, const struct mrpc_sqe *sqe,
				struct mrpc_qp *qp, u8 type, u16 status, const char *detail)
{
	struct mrpc_cqe cqe = {
		.user_data = sqe->user_data,
		.type = type,
		.status = status,
		.conn = sqe->conn,
	};

	if (detail)
		mrpc_cqe_explain(session, &cqe, detail);
	mrpc_qp_post(qp, &cqe);
}

/**
 * mrpc_serve_reply() - answer a request
 * @session: the session
 * @conn: the connection that @sqe->conn names, with the caller's reference; NULL if there is none
 * @sqe: private copy of the descriptor
 * @qp: queue pair of its completion, with 1 entry reserved
 *
 * A reply that comes too late (deadline, cancel, dead connection) completes as
 * MRPC_CQE_SENT with MRPC_CANCELLED. A reply that is malformed completes as
 * MRPC_CQE_ERROR, and the caller gets MRPC_INTERNAL.
 *
 * The caller runs the datapath next. Context: process; may sleep.
 */
void mrpc_serve_reply(struct mrpc_session *session, struct mrpc_conn *conn,
		      const struct mrpc_sqe *sqe, struct mrpc_qp *qp)
{
	struct mrpc_call *call = NULL;
	struct mrpc_refusal r __uninitialized;
	u16 status;

	if (conn && conn->link.accepted) {
		mrpc_tx_reserve(conn);
		call = mrpc_serve_take(conn, sqe->call, sqe->status);
		if (!call)
			mrpc_tx_unreserve(conn);
	}
	if (!call) {
		mrpc_reply_complete(session, sqe, qp, MRPC_CQE_SENT, MRPC_CANCELLED, NULL);
		return;
	}
	mrpc_serve_uncount(call, call->qp);
	call->qp = qp;
	call->user_data = sqe->user_data;
	call->sqe_flags = sqe->flags & (MRPC_SQE_COPY | MRPC_SQE_COMPRESS);
	call->rpc.frame.type = MRPC_WIRE_REPLY;
	call->rpc.frame.flags = MRPC_WIRE_END;
	call->rpc.frame.call_id = call->id;
	trace_mrpc_submit(conn, call);
	if (mrpc_reply_build(call, sqe, &r)) {
		mrpc_reply_reset(call, &r);
		mrpc_reply_complete(session, sqe, qp, MRPC_CQE_ERROR, r.status, r.detail);
	} else if (call->by_ref || sqe->flags & MRPC_SQE_COPY) {
		/* mrpc_qp_sent() posts it; with a copy there is no completion. */
		mrpc_qp_unreserve(qp, 1);
	} else {
		mrpc_reply_complete(session, sqe, qp, MRPC_CQE_SENT, MRPC_OK, NULL);
	}
	trace_mrpc_marshal(conn, call);
	if (unlikely(call->flow)) {
		mrpc_tx_unreserve(conn);
		mrpc_flow_reply(conn, call);
		return;
	}
	status = call->rpc.frame.status;
	if (mrpc_chain_ends(&conn->dp))
		mrpc_chain_call_end(call, call->cqe.msg_len, status, false);
	if (status != MRPC_OK && sqe->status == MRPC_OK)	/* it was malformed */
		mrpc_serve_failed(conn, true);
	mrpc_tx_submit_reserved(conn, &call->rpc);
	mrpc_conn_drained(conn);
}
