// SPDX-License-Identifier: GPL-2.0
/*
 * Streams, from the application to the link: messages wait for credit, pass the engines, and are
 * brought into order again before the queue of the link.
 */
#include <linux/list.h>

#include "call/client.h"
#include "call/flow.h"
#include "call/flow_rx.h"
#include "call/flow_tx.h"
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
#include "exec/kick.h"
#include "exec/submit.h"
#include "lib/message/feature.h"
#include "lib/message/schema.h"
#include "lib/message/wire.h"

/* Drops a message that will not be sent, or a REPLY. It has no place on the datapath. */
static void flow_drop(struct mrpc_rpc *rpc)
{
	struct mrpc_call *call = rpc->call;

	call->unsent = true;
	mrpc_call_sent_put(call);
	mrpc_call_put(call);
}

/**
 * mrpc_flow_cut() - send no more of a stream than what is on the queue of the link
 * @flow: the flow
 *
 * Context: process.
 */
void mrpc_flow_cut(struct mrpc_flow *flow)
{
	struct mrpc_conn *conn = flow->call->conn;
	struct mrpc_rpc *rpc, *next;
	LIST_HEAD(held);
	LIST_HEAD(out);

	spin_lock(&flow->lock);
	flow->tx_end = true;
	WRITE_ONCE(flow->tx_cut, true);
	list_splice_init(&flow->held, &held);
	list_splice_init(&flow->out, &out);
	spin_unlock(&flow->lock);
	list_for_each_entry_safe(rpc, next, &held, list)
		flow_drop(rpc);
	list_for_each_entry_safe(rpc, next, &out, list)
		mrpc_tx_done(conn, rpc);
}

/* -- from the application --------------------------------------------------- */

static bool flow_may_send(const struct mrpc_call *call)
{
	u8 kind = call->conn->link.accepted ? MRPC_METHOD_SERVER_STREAM : MRPC_METHOD_CLIENT_STREAM;

	return call->flow && call->flow->kinds & kind;
}

static int flow_send_check(const struct mrpc_call *call, const struct mrpc_sqe *sqe,
			   struct mrpc_refusal *r)
{
	bool server = call->conn->link.accepted;

	if (sqe->flags & ~(MRPC_SQE_COPY | MRPC_SQE_END | MRPC_SQE_EMPTY | MRPC_SQE_COMPRESS))
		return mrpc_refuse(r, MRPC_INVALID_ARGUMENT, "unknown flags 0x%x", sqe->flags);
	if (sqe->priority || sqe->resv || sqe->method || sqe->status || sqe->max_reply ||
	    sqe->timeout_us || sqe->detail || sqe->detail_len)
		return mrpc_refuse(r, MRPC_INVALID_ARGUMENT, "a reserved field is not zero");
	if (!flow_may_send(call))
		return mrpc_refuse(r, MRPC_INVALID_ARGUMENT, "the method has no messages from the %s",
				   server ? "server but its reply" : "client but its request");
	if (server && sqe->flags & MRPC_SQE_END)
		return mrpc_refuse(r, MRPC_INVALID_ARGUMENT, "a server's last message is its reply");
	if (sqe->meta_len > MRPC_MAX_META)
		return mrpc_refuse(r, MRPC_INVALID_ARGUMENT, "%u bytes of metadata, at most %u",
				   sqe->meta_len, MRPC_MAX_META);
	/* Only the thread that sends the first message can add metadata: see flow_submit(). */
	if (sqe->meta_len && !server)
		return mrpc_refuse(r, MRPC_INVALID_ARGUMENT,
				   "a client's metadata goes with its call");
	if (!(sqe->flags & MRPC_SQE_EMPTY))
		return 0;
	if (sqe->root || !(sqe->flags & MRPC_SQE_END || sqe->meta_len))
		return mrpc_refuse(r, MRPC_INVALID_ARGUMENT,
				   "an empty message has a root, or neither the end nor metadata");
	return 0;
}

static int flow_build(struct mrpc_call *msg, const struct mrpc_sqe *sqe, struct mrpc_refusal *r)
{
	const struct mrpc_call *call = msg->target;
	const struct mrpc_conn *conn = msg->conn;
	const struct mrpc_schema_plan *plan = conn->services.list[call->method >> 16].schema->plan;
	const struct mrpc_method *method = &plan->methods[call->method & 0xffff];
	u32 type = conn->link.accepted ? method->reply : method->request;
	u32 max = conn->services.peer_max_message;
	struct mrpc_msg_error me __uninitialized;
	int err;

	if (mrpc_rpc_prefix(&msg->rpc, sqe->meta_len, 0))
		return mrpc_refuse(r, MRPC_RESOURCE_EXHAUSTED, "no memory for metadata");
	if (sqe->meta_len) {
		err = mrpc_refuse_meta(msg->session, &msg->rpc, sqe->meta, sqe->meta_len, r);
		if (err)
			return err;
	}
	if (sqe->flags & MRPC_SQE_END)
		msg->rpc.frame.flags |= MRPC_WIRE_END;
	if (sqe->flags & MRPC_SQE_EMPTY)
		return 0;
	if (conn->link.accepted)
		max = min(max, call->max_reply);
	err = mrpc_rpc_snapshot(&msg->rpc, &msg->session->send, plan, type, sqe->root, max,
				sqe->flags & MRPC_SQE_COPY, &me);
	return err ? mrpc_refuse_message(err, plan, &me, max, sqe->flags & MRPC_SQE_COPY, r) : 0;
}

/* Makes a message of the stream of @call. Return: NULL: @r says why. */
static struct mrpc_call *flow_message_new(struct mrpc_call *call, const struct mrpc_sqe *sqe,
					  struct mrpc_qp *qp, struct mrpc_refusal *r)
{
	struct mrpc_call *msg;

	if (flow_send_check(call, sqe, r))
		return NULL;
	msg = mrpc_call_new(call->conn, MRPC_ROLE_MESSAGE, GFP_KERNEL);
	if (!msg) {
		mrpc_refuse(r, MRPC_RESOURCE_EXHAUSTED, "no memory for the message");
		return NULL;
	}
	mrpc_call_get(call);
	msg->target = call;
	msg->flow = call->flow;
	msg->qp = qp;
	msg->user_data = sqe->user_data;
	msg->sqe_flags = sqe->flags & MRPC_SQE_COMPRESS;
	msg->method = call->method;
	msg->priority = call->priority;
	msg->id = call->id;
	msg->deadline.when = READ_ONCE(call->deadline.when);
	msg->rpc.frame.type = MRPC_WIRE_MESSAGE;
	msg->rpc.frame.call_id = call->id;
	if (!flow_build(msg, sqe, r))
		return msg;
	mrpc_call_put(msg);
	return NULL;
}

/*
 * Gives a message its number, and submits it if there is credit. Return: 0; -ECANCELED: the stream
 * has ended; -EINVAL: metadata comes too late; -EDQUOT: too many messages are unsent.
 */
static int flow_submit(struct mrpc_flow *flow, struct mrpc_call *msg)
{
	struct mrpc_frame *f = &msg->rpc.frame;
	int err = 0;

	spin_lock(&flow->lock);
	if (flow->tx_end) {
		err = -ECANCELED;
	} else if (f->meta_len && flow->tx_no) {
		err = -EINVAL;
	} else if (atomic_read(&flow->unsent) >= MRPC_STREAM_UNSENT) {
		err = -EDQUOT;
	} else {
		atomic_inc(&flow->unsent);
		mrpc_call_by_ref(msg);	/* even without blocks: its SENT is what paces the sender */
		f->msg_no = flow->tx_no++;
		flow->tx_end = f->flags & MRPC_WIRE_END;
		if (list_empty(&flow->held) && mrpc_credit_take(&flow->tx, mrpc_credit_cost(f)))
			mrpc_tx_submit(msg->conn, &msg->rpc);
		else
			list_add_tail(&msg->rpc.list, &flow->held);
	}
	spin_unlock(&flow->lock);
	return err;
}

static int flow_refuse(int err, struct mrpc_refusal *r)
{
	if (err == -EINVAL)
		return mrpc_refuse(r, MRPC_INVALID_ARGUMENT,
				   "metadata goes with the first message only");
	return mrpc_refuse(r, MRPC_RESOURCE_EXHAUSTED,
			   "%u messages of the stream are not sent yet, the most there may be",
			   MRPC_STREAM_UNSENT);
}

/* Returns the call whose token is @id, with a reference, if the application may know it. */
static struct mrpc_call *flow_of_token(struct mrpc_conn *conn, u64 id)
{
	struct mrpc_call *call;
	bool known;

	call = conn ? mrpc_flow_find(conn, id, &known) : NULL;
	if (!call || !conn->link.accepted || test_bit_acquire(MRPC_CALL_FINAL, &call->flags))
		return call;
	mrpc_call_put(call);	/* a guessed token */
	return NULL;
}

static void flow_complete(struct mrpc_session *session, const struct mrpc_sqe *sqe,
			  struct mrpc_qp *qp, const struct mrpc_refusal *r)
{
	struct mrpc_cqe cqe = {
		.user_data = sqe->user_data,
		.type = r ? MRPC_CQE_ERROR : MRPC_CQE_SENT,
		.status = r ? r->status : MRPC_CANCELLED,
		.conn = sqe->conn,
	};

	if (r)
		mrpc_cqe_explain(session, &cqe, r->detail);
	mrpc_qp_post(qp, &cqe);
}

/**
 * mrpc_flow_send() - send a message of a stream: MRPC_OP_SEND
 * @session: the session
 * @conn: the connection that @sqe->conn names, with the caller's reference; NULL if there is none
 * @sqe: private copy of the descriptor
 * @qp: queue pair of its completion, with 1 entry reserved
 *
 * A message that comes too late completes as MRPC_CQE_SENT with MRPC_CANCELLED. One that is refused
 * completes as MRPC_CQE_ERROR, and the stream goes on. Any other completes as MRPC_CQE_SENT when
 * the link has taken it and its blocks are free.
 *
 * The caller runs the datapath next. Context: process; may sleep.
 */
void mrpc_flow_send(struct mrpc_session *session, struct mrpc_conn *conn,
		    const struct mrpc_sqe *sqe, struct mrpc_qp *qp)
{
	struct mrpc_call *call = flow_of_token(conn, sqe->call), *msg;
	struct mrpc_refusal r __uninitialized;
	int err;

	if (!call) {
		flow_complete(session, sqe, qp, NULL);
		return;
	}
	msg = flow_message_new(call, sqe, qp, &r);
	err = msg ? flow_submit(call->flow, msg) : -ENOENT;
	if (!err) {
		mrpc_qp_unreserve(qp, 1);	/* mrpc_qp_sent() finds room by itself */
	} else {
		if (msg)
			mrpc_call_put(msg);
		if (msg && err != -ECANCELED)
			flow_refuse(err, &r);
		flow_complete(session, sqe, qp, err == -ECANCELED ? NULL : &r);
	}
	mrpc_call_put(call);
}

/*
 * Sends the REPLY of a server's stream, all messages of which have been submitted. Consumes a
 * reference. The call was findable until now, for CREDIT.
 */
static void flow_reply_go(struct mrpc_call *call)
{
	struct mrpc_conn *conn = call->conn;
	bool ours;

	mrpc_tx_reserve(conn);
	spin_lock(&conn->lock);
	ours = mrpc_calls_answer(conn, call->id);
	if (ours)
		mrpc_conn_count(conn, call->rpc.frame.status);
	spin_unlock(&conn->lock);
	if (!ours) {	/* a deadline, a cancel or the end of the connection came first */
		mrpc_tx_unreserve(conn);
		flow_drop(&call->rpc);
		return;
	}
	if (mrpc_chain_ends(&conn->dp))
		mrpc_chain_call_end(call, call->cqe.msg_len, call->rpc.frame.status, false);
	mrpc_tx_submit_reserved(conn, &call->rpc);
	mrpc_conn_drained(conn);
	mrpc_call_put(call);	/* the table's */
}

/**
 * mrpc_flow_reply() - send the REPLY of a stream behind its messages
 * @conn: the connection
 * @call: a call that the caller answers, its REPLY built. It is still in the serve table. The
 *	caller's reference becomes the queue's
 *
 * Context: process; may sleep. The caller runs the datapath next.
 */
void mrpc_flow_reply(struct mrpc_conn *conn, struct mrpc_call *call)
{
	struct mrpc_flow *flow = call->flow;
	bool go = true;

	mrpc_flow_close(flow);
	spin_lock(&flow->lock);
	flow->tx_end = true;
	call->rpc.frame.msg_no = flow->tx_no;
	if (!flow->tx_cut && !list_empty(&flow->held)) {
		list_add_tail(&call->rpc.list, &flow->held);
		go = false;
	}
	spin_unlock(&flow->lock);
	if (go)
		flow_reply_go(call);
}

/* Submits what has credit now. Under the lock. Return: true: the REPLY is next. */
static bool flow_release(struct mrpc_flow *flow)
{
	struct mrpc_rpc *rpc;

	while ((rpc = list_first_entry_or_null(&flow->held, struct mrpc_rpc, list))) {
		if (rpc->call == flow->call) {
			list_del(&rpc->list);
			return true;
		}
		if (!mrpc_credit_take(&flow->tx, mrpc_credit_cost(&rpc->frame)))
			return false;
		list_del(&rpc->list);
		mrpc_tx_submit(rpc->call->conn, rpc);
	}
	return false;
}

/**
 * mrpc_flow_credit() - handle a CREDIT
 * @conn: the connection
 * @frame: the frame
 *
 * Context: owner of the receive claim; may sleep. The caller runs the datapath.
 * Return: 0 or -EPROTO.
 */
int mrpc_flow_credit(struct mrpc_conn *conn, const struct mrpc_frame *frame)
{
	struct mrpc_call *call;
	bool known, reply;

	call = mrpc_flow_find(conn, frame->call_id, &known);
	if (!call)
		return known || mrpc_features_accept(&conn->link.features, MRPC_FEATURE_ABORT) ?
		       0 : -EPROTO;
	if (!flow_may_send(call)) {
		mrpc_call_put(call);
		return -EPROTO;
	}
	spin_lock(&call->flow->lock);
	mrpc_credit_hear(&call->flow->tx, frame->remaining_us);
	reply = flow_release(call->flow);
	spin_unlock(&call->flow->lock);
	if (reply)
		flow_reply_go(call);
	if (call->conn == conn)
		set_bit(MRPC_CONN_TX_READY, &conn->flags);
	else
		mrpc_kick_again(call->conn, MRPC_CONN_TX_READY);
	mrpc_call_put(call);
	return 0;
}

/* -- to the link ------------------------------------------------------------ */

/**
 * mrpc_flow_done() - note that a message is sent, or will not be
 * @rpc: the message, on no queue
 *
 * Nothing that comes after a message which is missing can be sent.
 *
 * Context: process.
 */
void mrpc_flow_done(struct mrpc_rpc *rpc)
{
	struct mrpc_call *call = rpc->call;

	call->unsent = !mrpc_rpc_sent(rpc);
	if (!rpc->wired && !READ_ONCE(call->flow->tx_cut))
		mrpc_flow_cut(call->flow);
}

/* Puts a message, or the CALL or REPLY of its stream, on the queue of the link. */
static void flow_push(struct mrpc_conn *conn, struct mrpc_flow *flow, struct mrpc_rpc *rpc)
{
	struct mrpc_call *call = rpc->call;

	if (call->role == MRPC_ROLE_MESSAGE) {
		flow->out_no++;
		if (flow->call->via) {
			mrpc_conn_get(flow->call->via);
			call->via = flow->call->via;
			rpc->frame.call_id = flow->call->rpc.frame.call_id;
		}
	}
	mrpc_tx_push(conn, rpc);
}

/* Is it the turn of a message, or of the REPLY? A client's messages follow its CALL. */
static bool flow_in_turn(const struct mrpc_flow *flow, const struct mrpc_rpc *rpc)
{
	return rpc->frame.msg_no == flow->out_no &&
	       (flow->call->role == MRPC_ROLE_SERVER || flow->call->rpc.wired);
}

/* Keeps a message until its turn. Return: false: it will not be sent. */
static bool flow_keep(struct mrpc_flow *flow, struct mrpc_rpc *rpc)
{
	struct list_head *pos;
	bool keep;

	spin_lock(&flow->lock);
	keep = !flow->tx_cut;
	if (keep) {
		list_for_each_prev(pos, &flow->out)
			if (mrpc_flow_before(list_entry(pos, struct mrpc_rpc, list)->frame.msg_no,
					     rpc->frame.msg_no))
				break;
		list_add(&rpc->list, pos);
	}
	spin_unlock(&flow->lock);
	return keep;
}

/* Takes the next message whose turn has come off the list of those that are kept. */
static struct mrpc_rpc *flow_take_kept(struct mrpc_flow *flow)
{
	struct mrpc_rpc *rpc;

	if (list_empty(&flow->out))
		return NULL;
	spin_lock(&flow->lock);
	rpc = list_first_entry_or_null(&flow->out, struct mrpc_rpc, list);
	if (rpc && flow_in_turn(flow, rpc))
		list_del(&rpc->list);
	else
		rpc = NULL;
	spin_unlock(&flow->lock);
	return rpc;
}

/* Turns the REPLY of a stream, of which an engine has rejected a message, into a status. */
static void flow_push_status(struct mrpc_conn *conn, struct mrpc_flow *flow, struct mrpc_rpc *rpc)
{
	mrpc_rpc_to_status(rpc, flow->out_status, "a message of the reply was rejected");
	rpc->frame.msg_no = 0;	/* it waits for none */
	mrpc_tx_push(conn, rpc);
}

/**
 * mrpc_flow_out() - take a message of a stream, or its CALL or REPLY, that has passed the engines
 * @conn: the connection
 * @rpc: an rpc on no queue
 *
 * Context: owner of the transmit claim.
 */
void mrpc_flow_out(struct mrpc_conn *conn, struct mrpc_rpc *rpc)
{
	struct mrpc_flow *flow = rpc->call->flow;

	if (rpc->call->role == MRPC_ROLE_SERVER && flow->out_status) {
		flow_push_status(conn, flow, rpc);
		return;
	}
	if (rpc->call->role != MRPC_ROLE_CLIENT) {
		if (READ_ONCE(flow->tx_cut) || !flow_in_turn(flow, rpc)) {
			if (!flow_keep(flow, rpc))
				mrpc_tx_done(conn, rpc);
			return;
		}
	}
	/* A link that carries the call may send, and free, the message before this function ends. */
	mrpc_call_get(flow->call);
	flow_push(conn, flow, rpc);
	while ((rpc = flow_take_kept(flow)))
		flow_push(conn, flow, rpc);
	mrpc_call_put(flow->call);
}

/**
 * mrpc_flow_withdraw() - drop the messages of a call that is given up, and that wait for an engine
 * @conn: the connection
 * @call: a client's call that streams, of which a CANCEL goes out
 *
 * Its slot is free soon. Without this a queue that does not move would have the messages of any
 * number of calls. What an engine keeps elsewhere is dropped when it passes.
 *
 * Context: owner of the transmit claim.
 */
void mrpc_flow_withdraw(struct mrpc_conn *conn, const struct mrpc_call *call)
{
	struct mrpc_rpc *rpc, *next;

	list_for_each_entry_safe(rpc, next, &conn->dp.path[MRPC_TX].all, all)
		if (rpc->call->role == MRPC_ROLE_MESSAGE && rpc->call->target == call &&
		    mrpc_chain_withdraw(conn, rpc))
			mrpc_tx_done(conn, rpc);
}

/**
 * mrpc_flow_rejected() - handle a message of a stream that an engine has rejected on its way out
 * @conn: the connection
 * @rpc: an rpc on no queue
 *
 * The call ends with the engine's status at the client. A client's engine cancels it at the server.
 *
 * Context: owner of the transmit claim; may sleep.
 */
void mrpc_flow_rejected(struct mrpc_conn *conn, struct mrpc_rpc *rpc)
{
	struct mrpc_flow *flow = rpc->call->flow;
	struct mrpc_rpc *last, *reply = NULL;

	flow->out_status = rpc->status;
	mrpc_flow_fail(flow->call, rpc->status, rpc->detail);
	/* The REPLY may be kept, because this message was missing. It is the last. */
	spin_lock(&flow->lock);
	if (!list_empty(&flow->out)) {
		last = list_last_entry(&flow->out, struct mrpc_rpc, list);
		if (last->call == flow->call) {
			list_del(&last->list);
			reply = last;
		}
	}
	spin_unlock(&flow->lock);
	mrpc_flow_cut(flow);
	if (reply)
		flow_push_status(conn, flow, reply);
	mrpc_tx_done(conn, rpc);
}
