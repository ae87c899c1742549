// SPDX-License-Identifier: GPL-2.0
/*
 * Streams, from the link to the application: messages are brought into order, and wait for room in
 * the completion queue.
 */
#include <linux/list.h>
#include <linux/slab.h>

#include "call/arrival.h"
#include "call/client.h"
#include "call/flow.h"
#include "call/flow_rx.h"
#include "call/receive.h"
#include "call/receive_staged.h"
#include "chain/chain.h"
#include "core/call.h"
#include "core/conn.h"
#include "core/flow.h"
#include "core/heap.h"
#include "core/qp.h"
#include "core/refusal.h"
#include "core/rpc.h"
#include "core/schema.h"
#include "core/session.h"
#include "exec/kick.h"
#include "exec/recv_free.h"
#include "exec/stall.h"
#include "lib/ds/ring.h"
#include "lib/message/feature.h"
#include "lib/message/meta.h"
#include "lib/message/schema.h"
#include "lib/message/wire.h"

/* What is left to do after the flow's lock has been released. */
#define FLOW_WAKE	BIT(0)	/* completions were posted */
#define FLOW_CALL_IN	BIT(1)	/* completions wait for room */
#define FLOW_FINISH	BIT(2)	/* the terminal completion is due */

#define FLOW_GFP	(GFP_NOWAIT | __GFP_NOWARN | __GFP_ACCOUNT)

/* -- to the application ------------------------------------------------------ */

/* Frees the block of a completion that will not be posted. */
static void flow_cancel(struct mrpc_flow *flow, const struct mrpc_cqe *cqe)
{
	if (cqe->flags & MRPC_CQE_BLOCK)
		mrpc_recv_cancel(flow->call->session, cqe->block,
				 cqe->msg_len + ALIGN(cqe->meta_len, 8));
}

static void flow_item_free(struct mrpc_flow *flow, struct mrpc_flow_item *item)
{
	if (item != &flow->end)
		kfree(item);
}

/*
 * Unlike requests, messages leave no room for what the application submits: they end when credit
 * does, and then its entries find room.
 */
static bool flow_room(struct mrpc_qp *qp)
{
	return mrpc_cq_reserve(&qp->cq, 1, 0);
}

static void flow_post_one(struct mrpc_flow *flow, const struct mrpc_cqe *cqe)
{
	struct mrpc_qp *qp = flow->qp;

	if (cqe->flags & MRPC_CQE_BLOCK)
		mrpc_heap_deliver(&flow->call->session->recv, cqe->block);
	spin_lock_bh(&qp->lock);
	mrpc_qp_post_locked(qp, cqe);
	spin_unlock_bh(&qp->lock);
}

/* Lists a flow whose completions wait for room. Under its lock. Return: what is left to do. */
static u32 flow_wait(struct mrpc_flow *flow)
{
	struct mrpc_qp *qp = flow->qp;

	spin_lock_bh(&qp->lock);
	if (list_empty(&flow->waiting) && !READ_ONCE(qp->session->closing)) {
		mrpc_call_get(flow->call);	/* for the list */
		list_add_tail(&flow->waiting, &qp->flows);
	}
	spin_unlock_bh(&qp->lock);
	return FLOW_CALL_IN;
}

/* Posts what is ready, as far as there is room. Under the lock. Return: what is left to do. */
static u32 flow_post(struct mrpc_flow *flow)
{
	struct mrpc_flow_item *item;
	u32 todo = 0;

	while ((item = list_first_entry_or_null(&flow->ready, struct mrpc_flow_item, list))) {
		if (!flow_room(flow->qp))
			return todo | flow_wait(flow);
		list_del(&item->list);
		flow_post_one(flow, &item->cqe);
		flow_item_free(flow, item);
		todo |= FLOW_WAKE;
	}
	if (flow->finish)
		todo |= FLOW_FINISH;
	flow->finish = false;
	return todo;
}

/* Does what the holder of the flow's lock has left. */
static void flow_tell(struct mrpc_flow *flow, u32 todo)
{
	struct mrpc_call *call = flow->call;

	if (todo & FLOW_CALL_IN)
		mrpc_qp_call_in(flow->qp);
	else if (todo & FLOW_WAKE)
		mrpc_qp_wake(flow->qp);
	if (!(todo & FLOW_FINISH))
		return;
	mrpc_call_complete(call, &call->cqe);
	mrpc_call_put(call);	/* the table's reference */
}

/* Posts a completion, or lets it wait. Under the lock. Return: 0 or -ENOMEM. */
static int flow_deliver(struct mrpc_flow *flow, const struct mrpc_cqe *cqe, u32 *todo)
{
	struct mrpc_flow_item *item;

	if (flow->qp && list_empty(&flow->ready) && flow_room(flow->qp)) {
		flow_post_one(flow, cqe);
		*todo |= FLOW_WAKE;
		return 0;
	}
	item = kmalloc(sizeof(*item), FLOW_GFP);
	if (!item)
		return -ENOMEM;
	item->cqe = *cqe;
	list_add_tail(&item->list, &flow->ready);
	if (flow->qp)
		*todo |= flow_wait(flow);
	return 0;
}

/**
 * mrpc_flow_open() - deliver messages: the REQUEST of their call has been posted
 * @call: a call that streams
 * @qp: the queue pair that has it
 *
 * Context: process; no lock held.
 */
void mrpc_flow_open(struct mrpc_call *call, struct mrpc_qp *qp)
{
	struct mrpc_flow *flow = call->flow;
	u32 todo;

	spin_lock(&flow->lock);
	flow->qp = qp;
	if (flow->end.cqe.type)	/* it has ended meanwhile */
		list_add_tail(&flow->end.list, &flow->ready);
	todo = flow_post(flow);
	spin_unlock(&flow->lock);
	flow_tell(flow, todo);
}

/**
 * mrpc_flow_aborted() - tell a server's application that a call has ended without its reply
 * @call: a call that streams, taken out of the serve table
 * @status: enum mrpc_status
 *
 * Context: process; no lock held.
 */
void mrpc_flow_aborted(struct mrpc_call *call, u16 status)
{
	struct mrpc_flow *flow = call->flow;
	u32 todo = 0;

	mrpc_flow_end(call);
	if (flow->answered)
		return;
	spin_lock(&flow->lock);
	flow->end.cqe = (struct mrpc_cqe) {
		.type = MRPC_CQE_MESSAGE,
		.flags = MRPC_CQE_LOCAL,
		.status = status,
		.conn = call->conn->id,
		.call = call->id,
		.method = call->method,
		.priority = call->priority,
	};
	if (flow->qp) {	/* else mrpc_flow_open() does this, if the request is delivered at all */
		list_add_tail(&flow->end.list, &flow->ready);
		todo = flow_post(flow);
	}
	spin_unlock(&flow->lock);
	flow_tell(flow, todo);
}

/**
 * mrpc_flow_pulls() - return true if mrpc_flow_pull() could post a completion now
 * @qp: the queue pair
 */
bool mrpc_flow_pulls(struct mrpc_qp *qp)
{
	return !list_empty(&qp->flows) && mrpc_cq_room(&qp->cq, 1, 0);
}

/**
 * mrpc_flow_pull() - post the completions of flows that waited for room
 * @qp: a queue pair of the calling thread
 *
 * Context: process; may sleep.
 */
void mrpc_flow_pull(struct mrpc_qp *qp)
{
	struct mrpc_flow *flow;
	u32 todo;

	while (mrpc_flow_pulls(qp)) {
		spin_lock_bh(&qp->lock);
		flow = list_first_entry_or_null(&qp->flows, struct mrpc_flow, waiting);
		if (flow)
			list_del_init(&flow->waiting);
		spin_unlock_bh(&qp->lock);
		if (!flow)
			return;
		spin_lock(&flow->lock);
		todo = flow_post(flow);
		spin_unlock(&flow->lock);
		flow_tell(flow, todo);
		mrpc_call_put(flow->call);	/* the list's reference */
		cond_resched();
	}
}

/* -- order --------------------------------------------------------------------- */

/* Drops a REPLY that has come early. Its call has left its table, but the slot waits for it. */
static void flow_reply_free(struct mrpc_flow_early *e)
{
	if (!e)
		return;
	mrpc_arrival_reply(e->conn, &e->a);
	kfree(e);
}

/* A link may wait for room for a message that is not wanted any more. */
static void flow_unstall(const struct mrpc_call *call)
{
	struct mrpc_conn *link = READ_ONCE(call->via) ?: call->conn;

	smp_mb();	/* rx_end before the look; pairs with the barrier in mrpc_sink_alloc() */
	if (mrpc_stalled(link))
		mrpc_kick_rx(link);
}

static void flow_early_free(struct mrpc_flow_early *e)
{
	if (e->a.base)
		mrpc_recv_cancel(e->a.call->session, e->a.block, e->a.block_len);
	mrpc_call_put(e->a.call);
	kfree(e);
}

/**
 * mrpc_flow_close() - deliver no more of what has come
 * @flow: the flow
 *
 * Context: process; no lock held.
 */
void mrpc_flow_close(struct mrpc_flow *flow)
{
	struct mrpc_flow_early *e, *next, *reply;
	struct mrpc_flow_item *item, *next_item;
	LIST_HEAD(early);
	LIST_HEAD(ready);

	spin_lock(&flow->lock);
	flow->rx_end = true;
	list_splice_init(&flow->early, &early);
	list_splice_init(&flow->ready, &ready);
	reply = flow->reply;
	flow->reply = NULL;
	spin_unlock(&flow->lock);
	flow_unstall(flow->call);
	flow_reply_free(reply);
	list_for_each_entry_safe(e, next, &early, list)
		flow_early_free(e);
	list_for_each_entry_safe(item, next_item, &ready, list) {
		flow_cancel(flow, &item->cqe);
		flow_item_free(flow, item);
	}
}

/* Delivers a message whose turn it is. Under the lock. Return: 0 or -ENOMEM. */
static int flow_deliver_message(struct mrpc_flow *flow, const struct mrpc_arrival *a, u32 *todo)
{
	const struct mrpc_call *call = flow->call;
	bool last = a->frame.flags & MRPC_WIRE_END;
	struct mrpc_cqe cqe = {
		.type = MRPC_CQE_MESSAGE,
		.flags = (last ? 0 : MRPC_CQE_MORE) | (a->base ? MRPC_CQE_BLOCK : 0) |
			 (a->frame.flags & MRPC_FRAME_COMPRESSED),
		.user_data = call->role == MRPC_ROLE_CLIENT ? call->user_data : 0,
		.conn = call->conn->id,
		.call = call->id,
		.method = call->method,
		.block = a->base ? a->block : 0,
		.msg_len = mrpc_frame_msg_known(&a->frame),
		.meta_len = a->frame.meta_len,
		.priority = call->priority,
	};

	flow->rx_no++;
	flow->rx_end |= last;
	return flow_deliver(flow, &cqe, todo);
}

/*
 * Keeps what has come before its turn. Under the lock. Return: 0; -EEXIST: another one with its
 * number has come; -ENOMEM.
 */
static int flow_keep_early(struct mrpc_flow *flow, struct mrpc_conn *conn,
			   const struct mrpc_arrival *a)
{
	bool reply = a->frame.type == MRPC_WIRE_REPLY;
	struct mrpc_flow_early *e;
	struct list_head *pos;
	u32 no;

	list_for_each_prev(pos, &flow->early) {
		no = list_entry(pos, struct mrpc_flow_early, list)->a.frame.msg_no;
		if (no == a->frame.msg_no && !reply)
			return -EEXIST;
		if (mrpc_flow_before(no, a->frame.msg_no))
			break;
	}
	if (reply && flow->reply)
		return -EEXIST;
	e = kmalloc(sizeof(*e), FLOW_GFP);
	if (!e)
		return -ENOMEM;
	e->conn = conn;
	e->a = *a;
	if (reply)
		flow->reply = e;
	else
		list_add(&e->list, pos);
	return 0;
}

/* Is it the turn of @a, or past? Under the lock. */
static bool flow_is_due(const struct mrpc_flow *flow, const struct mrpc_arrival *a)
{
	return flow->rx_begun && !mrpc_flow_before(flow->rx_no, a->frame.msg_no);
}

/* Takes what is due of what has come early. Under the lock. */
static struct mrpc_flow_early *flow_take_early(struct mrpc_flow *flow)
{
	struct mrpc_flow_early *e;

	e = list_first_entry_or_null(&flow->early, struct mrpc_flow_early, list);
	if (e && flow_is_due(flow, &e->a)) {
		list_del(&e->list);
		return e;
	}
	e = flow->reply;
	if (!e || !flow_is_due(flow, &e->a))
		return NULL;
	flow->reply = NULL;
	return e;
}

/* Delivers a message that is due, or drops it. Its reference to the call is consumed. */
static void flow_take(struct mrpc_flow *flow, struct mrpc_arrival *a)
{
	struct mrpc_call *call = a->call;
	bool drop = false;
	u32 todo = 0;
	int err = 0;

	spin_lock(&flow->lock);
	if (flow->rx_end || a->frame.msg_no != flow->rx_no)	/* it came twice, or too late */
		drop = true;
	else
		err = flow_deliver_message(flow, a, &todo);
	spin_unlock(&flow->lock);
	flow_tell(flow, todo);
	if ((drop || err) && a->base)
		mrpc_recv_cancel(call->session, a->block, a->block_len);
	if (err)
		mrpc_flow_fail(call, MRPC_RESOURCE_EXHAUSTED, "no memory for a stream's message");
	mrpc_call_put(call);
}

/* Goes on with what has come before its turn, as far as its turn has come. */
static void flow_go_on(struct mrpc_flow *flow)
{
	struct mrpc_flow_early *e;

	for (;;) {
		spin_lock(&flow->lock);
		e = flow_take_early(flow);
		spin_unlock(&flow->lock);
		if (!e)
			return;
		if (e->a.frame.type == MRPC_WIRE_REPLY)
			mrpc_arrival_reply(e->conn, &e->a);
		else
			flow_take(flow, &e->a);
		kfree(e);
	}
}

/*
 * Keeps a message or REPLY that has come before its turn. Return: 1: it is kept; 0: it is due, or
 * nothing is delivered any more; -EEXIST: it has come before; -ENOMEM: its call has ended.
 */
static int flow_keeps(struct mrpc_conn *conn, struct mrpc_arrival *a)
{
	struct mrpc_flow *flow = a->call->flow;
	int ret = 0;

	spin_lock(&flow->lock);
	if (!flow->rx_end && !flow_is_due(flow, a))
		ret = flow_keep_early(flow, conn, a) ?: 1;
	spin_unlock(&flow->lock);
	if (ret == -ENOMEM)
		mrpc_flow_fail(a->call, MRPC_RESOURCE_EXHAUSTED,
			       "no memory for a stream's message");
	return ret;
}

/**
 * mrpc_flow_arrived() - take a message of a stream that is complete in its block
 * @conn: the connection whose link has received it
 * @a: the message; its reference to the call is consumed
 *
 * Context: owner of a receive claim; may sleep.
 */
void mrpc_flow_arrived(struct mrpc_conn *conn, struct mrpc_arrival *a)
{
	struct mrpc_flow *flow = a->call->flow;
	struct mrpc_call *call = a->call;
	int kept = flow_keeps(conn, a);

	if (kept > 0)
		return;
	mrpc_call_get(call);
	if (kept) {
		if (a->base)
			mrpc_recv_cancel(call->session, a->block, a->block_len);
		mrpc_call_put(call);
	} else {
		flow_take(flow, a);
		if (!list_empty(&flow->early) || READ_ONCE(flow->reply))
			flow_go_on(flow);
	}
	mrpc_call_put(call);
}

/**
 * mrpc_flow_defers() - keep a REPLY that has come before the last message of its stream
 * @conn: the connection whose link has received it
 * @a: the REPLY of a call that streams
 *
 * A status that a kernel gives has no number, and waits for no message.
 *
 * Context: owner of a receive claim; may sleep. Return: true: it waits, and its reference to the
 * call is consumed.
 */
bool mrpc_flow_defers(struct mrpc_conn *conn, struct mrpc_arrival *a)
{
	bool numbered = a->frame.msg_no || a->frame.status == MRPC_OK;

	return numbered && flow_keeps(conn, a) > 0;
}

/**
 * mrpc_flow_finishes() - let a terminal completion follow the messages that wait for room
 * @call: a client's call that streams, taken out of its table
 * @cqe: the completion
 *
 * Context: process. Return: true: it follows, and the table's reference is consumed; false: the
 * caller completes the call now.
 */
bool mrpc_flow_finishes(struct mrpc_call *call, const struct mrpc_cqe *cqe)
{
	struct mrpc_flow *flow = call->flow;
	bool follows;

	spin_lock(&flow->lock);
	flow->rx_end = true;
	follows = !list_empty(&flow->ready) && !READ_ONCE(call->session->closing);
	if (follows) {
		call->cqe = *cqe;
		flow->finish = true;
	}
	spin_unlock(&flow->lock);
	return follows;
}

/**
 * mrpc_flow_begin() - let messages follow their request, which is about to be delivered
 * @call: a server's call that streams
 *
 * Context: owner of a receive claim; may sleep.
 */
void mrpc_flow_begin(struct mrpc_call *call)
{
	spin_lock(&call->flow->lock);
	call->flow->rx_begun = true;
	spin_unlock(&call->flow->lock);
	flow_go_on(call->flow);
}

/* -- from the link ------------------------------------------------------------- */

/* Checks if a MESSAGE may come. Return: 0 or -EPROTO. */
static int flow_check(const struct mrpc_conn *conn, const struct mrpc_call *call,
		      const struct mrpc_frame *f)
{
	u8 kind = conn->link.accepted ? MRPC_METHOD_CLIENT_STREAM : MRPC_METHOD_SERVER_STREAM;
	struct mrpc_flow *flow = call->flow;
	bool covers;

	if (!flow || !(flow->kinds & kind))
		return -EPROTO;
	if (conn->link.accepted ? f->meta_len : f->flags & MRPC_WIRE_END || (f->meta_len && f->msg_no))
		return -EPROTO;
	spin_lock(&flow->lock);
	covers = mrpc_credit_covers(&flow->rx);
	spin_unlock(&flow->lock);
	return covers ? 0 : -EPROTO;
}

static int flow_verify(const struct mrpc_conn *conn, const struct mrpc_call *call,
		       const u8 *prefix, struct mrpc_refusal *r)
{
	const struct mrpc_frame *f = &conn->receive.sink.a.frame;
	const struct mrpc_schema_plan *plan =
		call->conn->services.list[call->method >> 16].schema->plan;
	const struct mrpc_method *method = &plan->methods[call->method & 0xffff];
	u32 type = conn->link.accepted ? method->request : method->reply;
	u16 status = conn->link.accepted ? MRPC_INVALID_ARGUMENT : MRPC_INTERNAL;
	struct mrpc_msg_error me __uninitialized;

	if (f->meta_len && mrpc_meta_valid(prefix, f->meta_len) < 0)
		return mrpc_refuse(r, status, "a message's metadata is malformed");
	if (!(f->flags & MRPC_WIRE_MSG))
		return 0;
	if (!conn->link.accepted && mrpc_frame_msg_known(f) > call->max_reply)
		return mrpc_refuse(r, MRPC_RESOURCE_EXHAUSTED,
				   "a message of %u bytes, at most %u were wanted",
				   mrpc_frame_msg_known(f), call->max_reply);
	if (!mrpc_msg_verify(plan, type, prefix + f->prefix, &f->msg, &me))
		return 0;
	r->status = status;
	mrpc_msg_explain(plan, &me, r->detail, sizeof(r->detail));
	return -EINVAL;
}

/*
 * Judges a MESSAGE for which there is no call. Where a CANCEL may replace a call, its messages may
 * come without it. Return: 0: it is skipped; -EPROTO.
 */
static int flow_stray(const struct mrpc_conn *conn, bool known)
{
	return known || mrpc_features_accept(&conn->link.features, MRPC_FEATURE_ABORT) ? 0 : -EPROTO;
}

/* Ends the call of a message that cannot be accepted. Consumes the reference. */
static int flow_head_fail(struct mrpc_conn *conn, struct mrpc_call *call,
			  const struct mrpc_refusal *r)
{
	mrpc_sink_skip(&conn->receive);
	conn->stats.rx_refused++;
	mrpc_flow_fail(call, r->status, r->detail);
	mrpc_call_put(call);
	return 0;
}

static void flow_count(struct mrpc_flow *flow, const struct mrpc_frame *f)
{
	spin_lock(&flow->lock);
	mrpc_credit_arrived(&flow->rx, mrpc_credit_cost(f));
	spin_unlock(&flow->lock);
}

/**
 * mrpc_flow_head() - take the head of a MESSAGE
 * @conn: the connection; its sink has the frame
 * @prefix: metadata and head, in the transport's memory
 *
 * Context: owner of the receive claim; may sleep.
 * Return: 0; -EAGAIN: again with the same frame after the next kick; -EPROTO or -ENOMEM: the
 * connection must end.
 */
int mrpc_flow_head(struct mrpc_conn *conn, const u8 *prefix)
{
	struct mrpc_sink *sink = &conn->receive.sink;
	const struct mrpc_frame *f = &sink->a.frame;
	struct mrpc_refusal r __uninitialized;
	struct mrpc_call *call;
	bool known;
	u64 len;
	int err;

	if (mrpc_chain_full(conn))
		return -EAGAIN;
	call = mrpc_flow_find(conn, f->call_id, &known);
	if (!call) {
		mrpc_sink_skip(&conn->receive);
		return flow_stray(conn, known);
	}
	err = flow_check(conn, call, f);
	if (err)
		goto out;
	if (READ_ONCE(call->flow->rx_end)) {	/* it is not wanted any more */
		flow_count(call->flow, f);
		mrpc_sink_skip(&conn->receive);
		goto out;
	}
	len = mrpc_block_len(f, false);
	err = len ? mrpc_sink_alloc(conn, len) : 0;
	if (err == -EAGAIN) {
		/* A thread that ends the call from now on finds the link stalled. */
		if (READ_ONCE(call->flow->rx_end))
			mrpc_kick_rx(conn);
		goto out;
	}
	if (err) {
		mrpc_refuse(&r, MRPC_RESOURCE_EXHAUSTED,
			    "a message of %llu bytes is too large for the receive heap", len);
		return flow_head_fail(conn, call, &r);
	}
	if (flow_verify(conn, call, prefix, &r)) {
		mrpc_sink_unalloc(conn);
		return flow_head_fail(conn, call, &r);
	}
	flow_count(call->flow, f);
	sink->a.call = call;
	if (mrpc_chain_wants(&conn->dp, MRPC_RX))
		return mrpc_rx_enter(conn, prefix);
	if (conn->replica && mrpc_chain_judges(&call->conn->dp))
		return mrpc_rx_carry(conn, prefix);
	mrpc_sink_place(conn, prefix);
	return 0;
out:
	mrpc_call_put(call);
	return err;
}

/**
 * mrpc_flow_too_big() - end the call of a MESSAGE that exceeds the limit, unread
 * @conn: the connection
 * @frame: its header
 * @status: enum mrpc_status
 * @detail: a sentence
 *
 * Context: owner of the receive claim; may sleep. Return: 0 or -EPROTO.
 */
int mrpc_flow_too_big(struct mrpc_conn *conn, const struct mrpc_frame *frame, u16 status,
		      const char *detail)
{
	struct mrpc_call *call;
	bool known;
	int err;

	call = mrpc_flow_find(conn, frame->call_id, &known);
	if (!call)
		return flow_stray(conn, known);
	err = flow_check(conn, call, frame);
	if (!err && READ_ONCE(call->flow->rx_end)) {	/* it is not wanted any more */
		flow_count(call->flow, frame);
	} else if (!err) {
		conn->stats.rx_refused++;
		mrpc_flow_fail(call, status, detail);
	}
	mrpc_call_put(call);
	return err;
}
