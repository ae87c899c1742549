// SPDX-License-Identifier: GPL-2.0
/* Messages that have arrived whole: placing them in the heap, and their completions. */
#include <linux/list.h>
#include <linux/nospec.h>

#include "call/arrival.h"
#include "call/carry.h"
#include "call/client.h"
#include "call/flow.h"
#include "call/flow_rx.h"
#include "call/flow_tx.h"
#include "call/server.h"
#include "chain/chain.h"
#include "core/call.h"
#include "core/calls.h"
#include "core/conn.h"
#include "core/flow.h"
#include "core/heap.h"
#include "core/rpc.h"
#include "core/session.h"
#include "core/trace.h"
#include "exec/recv_free.h"
#include "lib/message/wire.h"

/* A block has the message (perhaps none), metadata and detail, and the times added here. */
u64 mrpc_block_len(const struct mrpc_frame *f, bool times)
{
	return (u64)mrpc_frame_msg_known(f) + f->prefix + (times ? sizeof(struct mrpc_times) : 0);
}

/**
 * mrpc_sink_unalloc() - give back the block of the frame being received, unwritten
 * @conn: the connection
 */
void mrpc_sink_unalloc(struct mrpc_conn *conn)
{
	struct mrpc_sink *sink = &conn->receive.sink;

	if (sink->a.base)
		mrpc_recv_cancel(conn->session, sink->a.block, 0);
	sink->a.base = NULL;
}

/**
 * mrpc_arrival_place() - write a judged message into its block, except the byte section
 * @a: the message, which has a block
 * @prefix: its metadata, detail and head
 */
void mrpc_arrival_place(struct mrpc_arrival *a, const u8 *prefix)
{
	const struct mrpc_frame *f = &a->frame;

	memcpy(a->base, prefix + f->prefix, f->head_len);
	if (f->prefix)
		memcpy(a->base + mrpc_frame_msg_known(f), prefix, f->prefix);
}

/**
 * mrpc_sink_refuse() - answer a call that will not be delivered
 * @conn: the connection
 * @call: the call; the caller keeps its own reference
 * @status: enum mrpc_status
 * @detail: a sentence for the peer
 *
 * Context: owner of the receive claim; may sleep.
 * Return: 0 or -ENOMEM, after which the connection must end.
 */
int mrpc_sink_refuse(struct mrpc_conn *conn, struct mrpc_call *call, u16 status,
		     const char *detail)
{
	bool ours;

	conn->stats.rx_refused++;
	spin_lock(&conn->lock);
	ours = mrpc_calls_answer(conn, call->id);
	spin_unlock(&conn->lock);
	if (!ours)	/* the deadline came first: it has answered */
		return 0;
	if (unlikely(call->flow))
		mrpc_flow_end(call);
	if (mrpc_chain_ends(&conn->dp))
		mrpc_chain_call_end(call, call->cqe.msg_len, status, true);
	mrpc_call_put(call);
	if (mrpc_serve_status(conn, call->id, status, detail))
		return -ENOMEM;
	set_bit(MRPC_CONN_TX_READY, &conn->flags);
	return 0;
}

/* Ends a client's call. Return: 0, or -EPROTO if there was no such call. */
static int sink_end_call(struct mrpc_conn *conn, u64 id, u16 status, const char *detail, bool unsent)
{
	struct mrpc_call *call;
	bool known;

	conn->stats.rx_refused++;
	spin_lock(&conn->lock);
	call = mrpc_calls_finish(conn, id, status, &known);
	if (call)
		call->unsent |= unsent;
	spin_unlock(&conn->lock);
	if (call && conn->replica)
		mrpc_carry_fail(conn, call, status, detail, unsent);
	else if (call)
		mrpc_call_abort(call, status, detail);
	mrpc_conn_drained(conn);
	return known ? 0 : -EPROTO;
}

/**
 * mrpc_sink_fail_reply() - end a call without a block, because its reply is faulty
 * @conn: the connection
 * @id: id of the call
 * @status: enum mrpc_status
 * @detail: a sentence
 *
 * Return: 0, or -EPROTO if there was no such call.
 */
int mrpc_sink_fail_reply(struct mrpc_conn *conn, u64 id, u16 status, const char *detail)
{
	return sink_end_call(conn, id, status, detail, false);
}

/**
 * mrpc_sink_end_call() - end a client's call of which no REPLY comes
 * @link: the link; its transport is MRPC_TRANSPORT_FOREIGN
 * @id: id of the call
 * @status: enum mrpc_status
 * @detail: a sentence
 * @unsent: the server has not executed it, and will not
 *
 * Context: owner of the receive claim; may sleep.
 * Return: 0, or -EPROTO if there was no such call.
 */
int mrpc_sink_end_call(struct mrpc_link *link, u64 id, u16 status, const char *detail, bool unsent)
{
	return sink_end_call(mrpc_link_conn(link), id, status, detail, unsent);
}
EXPORT_SYMBOL_GPL(mrpc_sink_end_call);

static void mrpc_arrival_request(struct mrpc_conn *conn, struct mrpc_arrival *a)
{
	struct mrpc_call *call = a->call;
	u64 *calls = &conn->services.list[call->method >> 16].calls;

	call->cqe = (struct mrpc_cqe) {
		.type = MRPC_CQE_REQUEST,
		.flags = (a->base ? MRPC_CQE_BLOCK : 0) |
			 (a->frame.flags & MRPC_WIRE_END ? 0 : MRPC_CQE_MORE) |
			 (a->frame.flags & MRPC_FRAME_COMPRESSED),
		.conn = conn->id,
		.call = call->id,
		.method = call->method,
		.block = a->base ? a->block : 0,
		.msg_len = mrpc_frame_msg_known(&a->frame),
		.meta_len = a->frame.meta_len,
		.priority = call->priority,
		.deadline_ns = call->deadline.when,
	};
	/* Checks for a deadline or cancel while the rest arrived. A later one, or one that
	 * comes right now, finds a request that has been delivered.
	 */
	if (test_bit(MRPC_CALL_ABORTED, &call->flags)) {
		if (a->base)
			mrpc_recv_cancel(conn->session, a->block, a->block_len);
		mrpc_call_put(call);
		return;
	}
	WRITE_ONCE(*calls, *calls + 1);
	if (unlikely(call->flow))
		mrpc_flow_begin(call);
	mrpc_serve_deliver(call, conn->receive.qp);
}

/* Always inline: 100 instructions of each call. mrpc_arrival_reply() is for streams. */
static __always_inline void arrival_reply(struct mrpc_conn *conn, struct mrpc_arrival *a)
{
	const struct mrpc_frame *f = &a->frame;
	struct mrpc_call *mine;
	struct mrpc_cqe cqe = {
		.flags = f->flags & MRPC_FRAME_COMPRESSED,
		.status = f->status,
		.msg_len = mrpc_frame_msg_known(f),
		.meta_len = f->meta_len,
		.detail_len = f->detail_len,
	};
	bool known, follows = false;
	u64 id = f->call_id;

	if (conn->replica) {	/* the call ends on the connection that made it */
		mrpc_carry_done(conn, a->call, f->status);
		conn = a->call->conn;
		id = a->call->id;
	}
	spin_lock(&conn->lock);
	mine = mrpc_calls_finish(conn, id, f->status, &known);
	spin_unlock(&conn->lock);
	if (mine && mine->stamped)
		WRITE_ONCE(mine->times.deliver, ktime_get_ns());
	if (mine && a->base) {
		if (mine->sqe_flags & MRPC_SQE_TIMES) {
			/* The sender of the call may stamp it at this moment. */
			struct mrpc_times times = {
				.submit = mine->times.submit,
				.marshal = mine->times.marshal,
				.transmit = READ_ONCE(mine->times.transmit),
				.receive = mine->times.receive,
				.deliver = mine->times.deliver,
			};

			memcpy(a->base + a->block_len - sizeof(times), &times, sizeof(times));
			cqe.flags |= MRPC_CQE_TIMES;
		}
		cqe.flags |= MRPC_CQE_BLOCK;
		cqe.block = a->block;
		mrpc_heap_deliver(&conn->session->recv, a->block);
		trace_mrpc_deliver(conn, mine);
	} else if (a->base) {
		mrpc_recv_cancel(conn->session, a->block, a->block_len);
	}
	if (mine && unlikely(mine->flow)) {
		mrpc_flow_cut(mine->flow);
		follows = mrpc_flow_finishes(mine, &cqe);
	}
	if (mine && !follows)
		mrpc_call_complete(mine, &cqe);
	mrpc_conn_drained(conn);
	/* @mine was the table's reference. */
	mrpc_call_put_some(a->call, mine && !follows ? 2 : 1);
}

/**
 * mrpc_arrival_reply() - complete a call with its REPLY, which is complete in its block
 * @conn: the connection whose link has received it
 * @a: the REPLY; its reference to the call is consumed
 *
 * Context: owner of a receive claim; may sleep.
 */
noinline void mrpc_arrival_reply(struct mrpc_conn *conn, struct mrpc_arrival *a)
{
	arrival_reply(conn, a);
}

/**
 * mrpc_arrival_done() - deliver a message that is complete in its block
 * @conn: the connection
 * @a: the message; its reference to the call is consumed
 *
 * Context: owner of the receive claim; may sleep.
 */
void mrpc_arrival_done(struct mrpc_conn *conn, struct mrpc_arrival *a)
{
	if (unlikely(a->frame.type == MRPC_WIRE_MESSAGE))
		mrpc_flow_arrived(conn, a);
	else if (a->call->role == MRPC_ROLE_SERVER)
		mrpc_arrival_request(conn, a);
	else if (likely(!a->call->flow) || !mrpc_flow_defers(conn, a))
		arrival_reply(conn, a);
}
