// SPDX-License-Identifier: GPL-2.0
/*
 * The sink: makes requests and replies in the receive heap from the frames of a transport.
 *
 * The head of a frame is checked in kernel memory before a byte of it is placed. Only then the byte
 * section is read, straight to its place.
 */
#include <linux/list.h>
#include <linux/nospec.h>

#include "call/arrival.h"
#include "call/client.h"
#include "call/control.h"
#include "call/flow_rx.h"
#include "call/handshake.h"
#include "call/receive.h"
#include "call/receive_staged.h"
#include "chain/chain.h"
#include "core/call.h"
#include "core/conn.h"
#include "core/flow.h"
#include "core/heap.h"
#include "core/member.h"
#include "core/refusal.h"
#include "core/rpc.h"
#include "core/schema.h"
#include "core/session.h"
#include "core/trace.h"
#include "exec/kick.h"
#include "exec/runtime.h"
#include "exec/stall.h"
#include "lib/ds/deadline.h"
#include "lib/message/calltable.h"
#include "lib/message/feature.h"
#include "lib/message/message.h"
#include "lib/message/meta.h"
#include "lib/message/schema.h"
#include "lib/message/wire.h"

#define MRPC_TX_QUEUE_MAX	1024	/* answers that are queued before input stops */

/**
 * mrpc_sink_alloc() - allocate the block of the frame being received
 * @conn: the connection
 * @len: bytes of the block
 *
 * Context: owner of the receive claim. Return: 0; -EAGAIN: later, the connection is on the stalled
 * list; -ENOSPC: never, the receive heap is too small for it.
 */
int mrpc_sink_alloc(struct mrpc_conn *conn, u64 len)
{
	struct mrpc_session *session = conn->session;
	struct mrpc_sink *sink = &conn->receive.sink;
	bool never;

	if (len > MRPC_MAX_MESSAGE)
		return -ENOSPC;
	sink->a.base = mrpc_heap_alloc(&session->recv, len, &sink->a.block, &never);
	if (sink->a.base)
		goto out;
	if (never)
		return -ENOSPC;
	mrpc_stall_begin(conn, len);
	/* A block may have come back meanwhile, freed by a thread that saw no entry: check
	 * again. Pairs with the barrier in mrpc_recv_freed().
	 */
	smp_mb();
	sink->a.base = mrpc_heap_alloc(&session->recv, len, &sink->a.block, &never);
	if (!sink->a.base) {
		conn->stats.heap_stalls++;
		return -EAGAIN;
	}
out:
	sink->a.block_len = len;
	return 0;
}

/**
 * mrpc_sink_place() - place the head of an accepted message, and where the rest must go
 * @conn: the connection
 * @prefix: metadata, detail and head
 */
void mrpc_sink_place(struct mrpc_conn *conn, const u8 *prefix)
{
	struct mrpc_sink *sink = &conn->receive.sink;
	const struct mrpc_frame *f = &sink->a.frame;

	if (!sink->a.base)	/* a status without detail */
		return;
	mrpc_arrival_place(&sink->a, prefix);
	sink->addr = sink->a.base + f->head_len;
	sink->left = f->msg.bytes;
}

/**
 * mrpc_sink_skip() - refused: have the byte section thrown away
 * @in: what is received
 */
void mrpc_sink_skip(struct mrpc_receive *in)
{
	struct mrpc_sink *sink = &in->sink;

	sink->addr = NULL;
	sink->left = sink->a.frame.msg.bytes;
}

/* Stops input if answers pile up because the peer does not read them. */
static bool mrpc_sink_tx_full(struct mrpc_conn *conn)
{
	if (atomic_read(&conn->dp.tx_queued) < MRPC_TX_QUEUE_MAX)
		return false;
	set_bit(MRPC_CONN_TX_FULL, &conn->flags);
	smp_mb__after_atomic();		/* pairs with the atomics in mrpc_tx_unreserve() */
	if (atomic_read(&conn->dp.tx_queued) >= MRPC_TX_QUEUE_MAX)
		return true;
	clear_bit(MRPC_CONN_TX_FULL, &conn->flags);
	return false;
}

static int mrpc_sink_check_call(struct mrpc_conn *conn, const u8 *prefix, struct mrpc_refusal *r)
{
	const struct mrpc_frame *f = &conn->receive.sink.a.frame;
	u32 svc = f->method >> 16, method = f->method & 0xffff;
	const struct mrpc_schema_plan *plan;
	struct mrpc_msg_error me __uninitialized;
	bool stream;

	if (READ_ONCE(conn->state) == MRPC_CONN_DRAINING &&
	    test_bit(MRPC_CONN_BYE, &conn->flags))
		return mrpc_refuse(r, MRPC_UNAVAILABLE, "the server is shutting down");
	if (unlikely(test_bit(MRPC_CONN_NO_CALLS, &conn->flags)))
		return mrpc_refuse(r, MRPC_UNAVAILABLE, "the server has shut down");
	if (svc >= conn->services.nr_wire)
		return mrpc_refuse(r, MRPC_UNIMPLEMENTED, "no service %u on this connection", svc);
	svc = array_index_nospec(svc, MRPC_MAX_SERVICES);
	plan = conn->services.list[conn->services.map[svc]].schema->plan;
	if (method >= plan->nr_methods)
		return mrpc_refuse(r, MRPC_UNIMPLEMENTED, "service %.*s has no method %u",
				   MRPC_SCHEMA_SHOWN_NAME, mrpc_schema_service(plan), method);
	method = array_index_nospec(method, plan->nr_methods);
	if (f->meta_len && mrpc_meta_valid(prefix, f->meta_len) < 0)
		return mrpc_refuse(r, MRPC_INVALID_ARGUMENT, "malformed metadata");
	if (plan->methods[method].flags &&
	    !mrpc_features_accept(&conn->link.features, MRPC_FEATURE_STREAM))
		return mrpc_refuse(r, MRPC_UNIMPLEMENTED, "this connection carries no streams");
	stream = plan->methods[method].flags & MRPC_METHOD_CLIENT_STREAM;
	if (!(f->flags & MRPC_WIRE_MSG) != stream)
		return mrpc_refuse(r, MRPC_INVALID_ARGUMENT, stream ?
				   "a CALL with a message, though the client streams" :
				   "a CALL without a message");
	if (stream)
		return 0;
	if (mrpc_msg_verify(plan, plan->methods[method].request, prefix + f->prefix,
			    &f->msg, &me)) {
		r->status = MRPC_INVALID_ARGUMENT;
		mrpc_msg_explain(plan, &me, r->detail, sizeof(r->detail));
		return -EINVAL;
	}
	return 0;
}

/* Returns the method that a CALL names, or NULL. */
static const struct mrpc_method *mrpc_sink_method(const struct mrpc_conn_services *s,
						  const struct mrpc_frame *f)
{
	u32 svc = f->method >> 16, method = f->method & 0xffff;
	const struct mrpc_schema_plan *plan;

	if (svc >= s->nr_wire)
		return NULL;
	svc = array_index_nospec(svc, MRPC_MAX_SERVICES);
	plan = s->list[s->map[svc]].schema->plan;
	if (method >= plan->nr_methods)
		return NULL;
	return &plan->methods[array_index_nospec(method, plan->nr_methods)];
}

/* Enters a call into the serve table, which finds duplicates. */
static int mrpc_sink_start(struct mrpc_conn *conn, struct mrpc_call *call)
{
	const struct mrpc_frame *f = &conn->receive.sink.a.frame;
	const struct mrpc_method *method = mrpc_sink_method(&conn->services, f);
	u32 slot = mrpc_call_slot(f->call_id);
	int err;

	if (unlikely(method && method->flags) && mrpc_flow_new(call, method->flags))
		return -ENOMEM;
	/* Only the owner of the receive claim has the table grow. */
	if (unlikely(slot >= conn->calls.server.nr && slot < conn->calls.server.limit) &&
	    mrpc_calls_grow(conn, slot + 1))
		return -ENOMEM;
	call->id = f->call_id;
	call->method = conn->services.map[min_t(u32, f->method >> 16, MRPC_MAX_SERVICES - 1)] << 16 |
		       (f->method & 0xffff);
	call->stray = !method;
	call->priority = f->priority;
	call->max_reply = f->max_reply;
	call->cqe.msg_len = mrpc_frame_msg_known(f);
	if (f->remaining_us)
		call->deadline.when = ktime_get_ns() +
			min_t(u64, f->remaining_us, S64_MAX / 4 / NSEC_PER_USEC) * NSEC_PER_USEC;
	spin_lock(&conn->lock);
	err = mrpc_serve_start(&conn->calls.server, f->call_id, call);
	if (!err && f->remaining_us)	/* as much room as calls: never fails */
		mrpc_deadlines_add(&conn->calls.deadlines, &call->deadline);
	if (!err) {
		mrpc_call_get_new(call);	/* for the table; the lock hides the call */
		conn->stats.calls++;
	}
	spin_unlock(&conn->lock);
	if (!err && f->remaining_us)
		mrpc_conn_arm(conn, call->deadline.when);
	return err;
}

/*
 * Handles a CALL without memory, or a duplicate. A stream has no duplicates. But where a CANCEL may
 * replace its call, it may have come first. Then it was answered, and the CALL is skipped.
 */
static int mrpc_sink_unstarted(struct mrpc_conn *conn, int err)
{
	if (err != -EALREADY || !mrpc_features_accept(&conn->link.features, MRPC_FEATURE_ABORT))
		return err == -ENOMEM ? err : -EPROTO;
	mrpc_sink_skip(&conn->receive);
	return 0;
}

static int mrpc_sink_call(struct mrpc_conn *conn, const u8 *prefix)
{
	struct mrpc_sink *sink = &conn->receive.sink;
	u64 len = mrpc_block_len(&sink->a.frame, false);
	struct mrpc_refusal r __uninitialized;
	struct mrpc_call *call;
	int err, started;

	if (mrpc_sink_tx_full(conn) || mrpc_chain_full(conn))
		return -EAGAIN;
	err = likely(len) ? mrpc_sink_alloc(conn, len) : 0;	/* 0: a stream begins */
	if (err == -EAGAIN)
		return err;
	if (err)
		mrpc_refuse(&r, MRPC_RESOURCE_EXHAUSTED,
			    "the request is too large for the server's receive heap");
	else
		err = mrpc_sink_check_call(conn, prefix, &r);

	call = mrpc_call_new(conn, MRPC_ROLE_SERVER, GFP_KERNEL);
	started = call ? mrpc_sink_start(conn, call) : -ENOMEM;
	if (started) {
		mrpc_sink_unalloc(conn);
		if (call)
			mrpc_call_put(call);
		return mrpc_sink_unstarted(conn, started);
	}
	if (err) {
		mrpc_sink_unalloc(conn);
		err = mrpc_sink_refuse(conn, call, r.status, r.detail);
		mrpc_call_put(call);
		mrpc_sink_skip(&conn->receive);
		return err;
	}
	sink->a.call = call;
	if (mrpc_chain_stamps(&conn->dp)) {
		call->stamped = true;
		WRITE_ONCE(call->times.receive, ktime_get_ns());
	}
	if (mrpc_chain_wants(&conn->dp, MRPC_RX))
		return mrpc_rx_enter(conn, prefix);
	mrpc_sink_place(conn, prefix);
	return 0;
}

static int mrpc_sink_limit_reply(const struct mrpc_frame *f, const struct mrpc_call *call,
				 struct mrpc_refusal *r)
{
	if (!(f->flags & MRPC_WIRE_MSG) || mrpc_frame_msg_known(f) <= call->max_reply)
		return 0;
	return mrpc_refuse(r, MRPC_RESOURCE_EXHAUSTED,
			   "a reply of %u bytes, at most %u were wanted",
			   mrpc_frame_msg_known(f), call->max_reply);
}

static int mrpc_sink_check_reply(struct mrpc_conn *conn, struct mrpc_call *call, const u8 *prefix,
				 struct mrpc_refusal *r)
{
	const struct mrpc_frame *f = &conn->receive.sink.a.frame;
	const struct mrpc_schema_plan *plan = conn->services.list[call->method >> 16].schema->plan;
	const struct mrpc_method *method = &plan->methods[call->method & 0xffff];
	bool message = f->status == MRPC_OK && !(method->flags & MRPC_METHOD_SERVER_STREAM);
	struct mrpc_msg_error me __uninitialized;

	if (f->meta_len && mrpc_meta_valid(prefix, f->meta_len) < 0)
		return mrpc_refuse(r, MRPC_INTERNAL, "the reply's metadata is malformed");
	if (!(f->flags & MRPC_WIRE_MSG) == message)
		return mrpc_refuse(r, MRPC_INTERNAL, message ? "the reply has no message" :
				   "a reply with a message, though the server streams");
	if (!message)
		return 0;
	if (mrpc_msg_verify(plan, method->reply, prefix + f->prefix, &f->msg, &me)) {
		r->status = MRPC_INTERNAL;
		mrpc_msg_explain(plan, &me, r->detail, sizeof(r->detail));
		return -EINVAL;
	}
	return 0;
}

static int mrpc_sink_reply(struct mrpc_conn *conn, const u8 *prefix)
{
	struct mrpc_sink *sink = &conn->receive.sink;
	const struct mrpc_frame *f = &sink->a.frame;
	struct mrpc_call *call;
	struct mrpc_refusal r __uninitialized;
	bool known = true;
	u64 len;
	int err;

	if (mrpc_chain_full(conn))
		return -EAGAIN;
	spin_lock(&conn->lock);
	call = mrpc_call_find(&conn->calls.client, f->call_id);
	if (call)
		mrpc_call_get(call);
	else
		mrpc_call_finish(&conn->calls.client, f->call_id, &known);
	spin_unlock(&conn->lock);
	if (!known)
		return -EPROTO;
	mrpc_sink_skip(&conn->receive);
	if (!call) {	/* given up meanwhile; its slot is free now */
		mrpc_conn_drained(conn);
		return 0;
	}
	/* Only behind the messages of a server that streams. */
	if (unlikely(f->msg_no) &&
	    (!call->flow || !(call->flow->kinds & MRPC_METHOD_SERVER_STREAM) ||
	     READ_ONCE(call->flow->reply))) {
		mrpc_call_put(call);
		return -EPROTO;
	}
	err = mrpc_sink_limit_reply(f, call, &r);
	if (!err && conn->replica && !mrpc_call_wanted(call))
		err = mrpc_refuse(&r, f->status, "given up");
	if (err)
		goto fail;
	len = mrpc_block_len(f, call->sqe_flags & MRPC_SQE_TIMES);
	if (len) {
		err = mrpc_sink_alloc(conn, len);
		if (err == -EAGAIN) {
			/* A thread that gives it up from now on finds the link stalled. */
			if (!mrpc_call_wanted(call))
				mrpc_kick_rx(conn);
			mrpc_call_put(call);
			return err;
		}
		if (err) {
			mrpc_refuse(&r, MRPC_RESOURCE_EXHAUSTED,
				    "a reply of %llu bytes is too large for the receive heap", len);
			goto fail;
		}
	}
	/* Once there is room: a reply that waits for it is not verified at each try. */
	err = mrpc_sink_check_reply(conn, call, prefix, &r);
	if (err) {
		mrpc_sink_unalloc(conn);
		goto fail;
	}
	if (call->stamped)
		WRITE_ONCE(call->times.receive, ktime_get_ns());
	sink->a.call = call;
	if (mrpc_chain_wants(&conn->dp, MRPC_RX))
		return mrpc_rx_enter(conn, prefix);
	if (conn->replica && mrpc_chain_judges(&call->conn->dp))
		return mrpc_rx_carry(conn, prefix);
	mrpc_sink_place(conn, prefix);
	return 0;
fail:
	err = mrpc_sink_fail_reply(conn, f->call_id, r.status, r.detail);
	mrpc_call_put(call);
	return err;
}

/**
 * mrpc_recv_stops() - return true if ops->recv must return, between two messages
 * @link: the link
 * @budget: of the call of ops->recv
 * @frames: messages so far; out: what ops->recv returns then
 *
 * Context: owner of the receive claim. Return: true: another connection goes first, or another
 * thread changes this one.
 */
bool mrpc_recv_stops(struct mrpc_link *link, int budget, int *frames)
{
	struct mrpc_conn *conn = mrpc_link_conn(link);

	if (test_bit(MRPC_CONN_CHANGING, &conn->flags))
		return true;
	if (!mrpc_runtime_hurries(&conn->exec))
		return false;
	*frames = budget;
	return true;
}
EXPORT_SYMBOL_GPL(mrpc_recv_stops);

/**
 * mrpc_sink_early() - return true if a message has come before that of the handshake
 * @link: the link
 * @frame: its header
 *
 * A transport asks this if its messages have no order.
 */
bool mrpc_sink_early(struct mrpc_link *link, const struct mrpc_frame *frame)
{
	return READ_ONCE(mrpc_link_conn(link)->state) == MRPC_CONN_CONNECTING &&
	       frame->type > MRPC_WIRE_HELLO_ACK;
}
EXPORT_SYMBOL_GPL(mrpc_sink_early);

/**
 * mrpc_sink_expects() - return true if this frame may come now, on this side
 * @link: the link
 * @frame: its decoded header
 *
 * The transport checks this before it spends memory on the rest of the frame.
 */
bool mrpc_sink_expects(struct mrpc_link *link, const struct mrpc_frame *frame)
{
	struct mrpc_conn *conn = mrpc_link_conn(link);
	bool connecting = READ_ONCE(conn->state) == MRPC_CONN_CONNECTING;

	if (unlikely(frame->flags & MRPC_WIRE_CRC) &&
	    (connecting || !mrpc_features_accept(&conn->link.features, MRPC_FEATURE_CRC)))
		return false;
	switch (frame->type) {
	case MRPC_WIRE_HELLO:
		return connecting && conn->link.accepted;
	case MRPC_WIRE_HELLO_ACK:
		return connecting && !conn->link.accepted;
	case MRPC_WIRE_BYE:	/* a server may end before it has answered */
		return !connecting || !conn->link.accepted;
	case MRPC_WIRE_CALL:
	case MRPC_WIRE_CANCEL:
		return !connecting && conn->link.accepted;
	case MRPC_WIRE_REPLY:
		return !connecting && !conn->link.accepted;
	case MRPC_WIRE_MESSAGE:
	case MRPC_WIRE_CREDIT:
		return !connecting &&
		       mrpc_features_accept(&conn->link.features, MRPC_FEATURE_STREAM);
	case MRPC_WIRE_CHUNK:
	case MRPC_WIRE_STRATEGY:
		return !connecting &&
		       mrpc_features_accept(&conn->link.features, MRPC_FEATURE_GROUP);
	default:
		return !connecting;
	}
}
EXPORT_SYMBOL_GPL(mrpc_sink_expects);

/**
 * mrpc_sink_head() - take the head of a frame
 * @link: the link
 * @frame: its decoded header; may be that in conn->receive.sink
 * @prefix: metadata, detail, struct and text sections with padding
 *	(mrpc_frame_head() bytes), aligned to 8, in memory that no other thread writes
 *
 * Afterwards the transport copies conn->receive.sink.left bytes to conn->receive.sink.addr
 * (advancing both; throwing them away if it is NULL) and calls
 * mrpc_sink_done().
 *
 * Context: owner of the receive claim; may sleep.
 * Return: 0; -EAGAIN: call again with the same frame after the next kick;
 * another negative errno: the connection must end.
 */
int mrpc_sink_head(struct mrpc_link *link, const struct mrpc_frame *frame, const u8 *prefix)
{
	struct mrpc_conn *conn = mrpc_link_conn(link);
	struct mrpc_sink *sink = &conn->receive.sink;
	int err;

	if (!mrpc_sink_expects(link, frame))
		return -EPROTO;
	/* Leave @a.block and its length: they are valid only with @a.base. */
	sink->addr = NULL;
	sink->left = 0;
	sink->active = false;
	sink->rx = NULL;
	if (frame != &sink->a.frame)
		sink->a.frame = *frame;
	sink->a.call = NULL;
	sink->a.base = NULL;
	trace_mrpc_receive(conn, frame);
	switch (frame->type) {
	case MRPC_WIRE_CALL:
		err = mrpc_sink_call(conn, prefix);
		break;
	case MRPC_WIRE_REPLY:
		err = mrpc_sink_reply(conn, prefix);
		break;
	case MRPC_WIRE_MESSAGE:
		err = mrpc_flow_head(conn, prefix);
		break;
	case MRPC_WIRE_CHUNK:
		err = mrpc_member_ops->head(conn, prefix);
		break;
	case MRPC_WIRE_STRATEGY:	/* a report of this host answers it */
		if (mrpc_sink_tx_full(conn))
			return -EAGAIN;
		err = mrpc_member_ops->strategy(conn, prefix);
		break;
	case MRPC_WIRE_HELLO:
	case MRPC_WIRE_HELLO_ACK:
		err = mrpc_conn_hello(conn, frame, prefix);
		break;
	case MRPC_WIRE_CANCEL:
		if (mrpc_sink_tx_full(conn))
			return -EAGAIN;
		fallthrough;
	default:
		err = mrpc_conn_control(conn, frame);
	}
	/* A connection that was kicked for room, and waits for something else now, loses its age. */
	if (unlikely(mrpc_stalled(conn)) &&
	    (err != -EAGAIN || list_empty_careful(&conn->exec.stalled)))
		mrpc_stall_end(conn);
	if (err)
		return err;
	sink->active = true;
	conn->stats.rx_frames++;
	conn->stats.rx_bytes += sizeof(struct mrpc_wire_hdr) + mrpc_frame_head_known(frame) +
				frame->msg.bytes + mrpc_frame_trailer(frame);
	return 0;
}
EXPORT_SYMBOL_GPL(mrpc_sink_head);

/**
 * mrpc_sink_too_big() - answer a frame that exceeds the limit, unread
 * @link: the link
 * @frame: its header, from a failed mrpc_wire_decode()
 *
 * The transport discards the whole frame. Return: as mrpc_sink_head().
 */
int mrpc_sink_too_big(struct mrpc_link *link, const struct mrpc_frame *frame)
{
	struct mrpc_conn *conn = mrpc_link_conn(link);
	struct mrpc_refusal r __uninitialized;
	struct mrpc_call *call;
	int err;

	if (!mrpc_sink_expects(link, frame))
		return -EPROTO;
	if (mrpc_msg_head_len(&frame->msg) > MRPC_MAX_HEAD)
		mrpc_refuse(&r, MRPC_RESOURCE_EXHAUSTED,
			    "%llu bytes of structures and text, at most %u are accepted",
			    mrpc_msg_head_len(&frame->msg), MRPC_MAX_HEAD);
	else
		mrpc_refuse(&r, MRPC_RESOURCE_EXHAUSTED,
			    "a message of %llu bytes, at most %u are accepted",
			    mrpc_msg_total(&frame->msg), conn->link.max_message);
	if (frame->type == MRPC_WIRE_REPLY)
		return mrpc_sink_fail_reply(conn, frame->call_id, r.status, r.detail);
	if (frame->type == MRPC_WIRE_MESSAGE)
		return mrpc_flow_too_big(conn, frame, r.status, r.detail);
	if (frame->type != MRPC_WIRE_CALL)
		return -EPROTO;
	if (mrpc_sink_tx_full(conn))
		return -EAGAIN;
	call = mrpc_call_new(conn, MRPC_ROLE_SERVER, GFP_KERNEL);
	if (!call)
		return -ENOMEM;
	conn->receive.sink.a.frame = *frame;
	err = mrpc_sink_start(conn, call);
	if (!err)
		err = mrpc_sink_refuse(conn, call, r.status, r.detail);
	else
		err = mrpc_sink_unstarted(conn, err);
	mrpc_call_put(call);
	return err;
}
EXPORT_SYMBOL_GPL(mrpc_sink_too_big);

/**
 * mrpc_sink_done() - deliver a complete frame
 * @link: the link
 *
 * Context: owner of the receive claim; may sleep.
 */
void mrpc_sink_done(struct mrpc_link *link)
{
	struct mrpc_conn *conn = mrpc_link_conn(link);
	struct mrpc_sink *sink = &conn->receive.sink;

	sink->active = false;
	WRITE_ONCE(conn->receive.since, 0);
	if (sink->rx)
		mrpc_rx_arrived(conn);
	else if (sink->a.call)
		mrpc_arrival_done(conn, &sink->a);
	else if (sink->a.frame.type == MRPC_WIRE_CHUNK)
		mrpc_member_ops->done(conn);
	sink->a.call = NULL;
	sink->a.base = NULL;
}
EXPORT_SYMBOL_GPL(mrpc_sink_done);
