// SPDX-License-Identifier: GPL-2.0
/* Frames of mrpc that the core gives to a link of gRPC: they become streams and messages. */
#include <linux/ktime.h>

#include "core/call.h"
#include "core/link.h"
#include "core/rpc.h"
#include "exec/kick.h"
#include "lib/grpc/metadata.h"
#include "lib/message/schema.h"
#include "lib/message/wire.h"
#include "transports/grpc/link.h"
#include "transports/grpc/pump.h"
#include "transports/grpc/stream.h"
#include "transports/grpc/turn.h"

/**
 * grpc_give_gone() - have the receive side end the call of a client's stream
 * @gl: the link; the caller does not hold its lock
 * @s: the stream. No other end of its call is possible: it has left its slot, or has not had one
 *
 * Uses up a reference of the caller.
 */
void grpc_give_gone(struct grpc_link *gl, struct grpc_stream *s)
{
	spin_lock(&gl->lock);
	list_add_tail(&s->gone, &gl->gone);
	spin_unlock(&gl->lock);
	mrpc_link_kick_rx(gl->link);
}

static const struct mrpc_method *grpc_method(struct grpc_link *gl, u32 method,
					     const struct mrpc_schema_plan **plan)
{
	*plan = mrpc_link_service(gl->link, method >> 16);
	return &(*plan)->methods[method & 0xffff];
}

/* Checks the metadata of what goes out. Return: enum mrpc_status; @why: a sentence. */
static u16 grpc_admit(const struct mrpc_rpc *rpc, bool reply, char why[MRPC_GRPC_ADMIT_TEXT])
{
	const u8 *meta = rpc->data + sizeof(struct mrpc_wire_hdr);

	if (!rpc->frame.meta_len ||
	    !mrpc_grpc_admit(meta, rpc->frame.meta_len, reply, why, MRPC_GRPC_ADMIT_TEXT))
		return MRPC_OK;
	return reply ? MRPC_INTERNAL : MRPC_INVALID_ARGUMENT;
}

/* Puts what goes out behind what its stream has. */
static void grpc_queue(struct grpc_link *gl, struct grpc_stream *s, struct mrpc_rpc *rpc)
{
	grpc_stream_push(s, mrpc_rpc_call(rpc));
	if (!list_empty(&s->send))
		return;
	grpc_stream_get(s);
	list_add_tail(&s->send, &gl->out.sending);
}

static int grpc_send_call(struct grpc_link *gl, struct mrpc_rpc *rpc)
{
	const struct mrpc_schema_plan *plan;
	struct grpc_stream *s = grpc_stream_new(gl);
	char why[MRPC_GRPC_ADMIT_TEXT] __uninitialized;
	bool taken;
	u16 status;

	if (!s) {
		mrpc_link_arm(gl->link, ktime_get_ns() + GRPC_RETRY);
		return -EAGAIN;
	}
	s->call_id = rpc->frame.call_id;
	s->method = rpc->frame.method;
	s->kinds = grpc_method(gl, s->method, &plan)->flags;
	status = grpc_admit(rpc, false, why);
	if (status) {
		grpc_answer_say(&s->end, status, why, strlen(why));
		s->end.unsent = true;
		grpc_give_gone(gl, s);
		return 0;
	}
	spin_lock(&gl->lock);
	taken = grpc_slot_take(gl, s);
	spin_unlock(&gl->lock);
	if (taken)
		grpc_queue(gl, s, rpc);
	grpc_stream_put(s);
	return taken ? 0 : -EPROTO;
}

/* Takes a message of a stream, unless its call has ended. */
static void grpc_send_message(struct grpc_link *gl, struct mrpc_rpc *rpc)
{
	char why[MRPC_GRPC_ADMIT_TEXT] __uninitialized;
	struct grpc_stream *s;

	spin_lock(&gl->lock);
	s = grpc_slot_find(gl, rpc->frame.call_id);
	if (s && s->h2.id && s->h2.closed)
		s = NULL;
	if (s)
		grpc_stream_get(s);
	spin_unlock(&gl->lock);
	if (!s)
		return;
	/* The core lets only a server's first message have metadata. */
	if (grpc_admit(rpc, true, why))
		s->no_meta = true;
	grpc_queue(gl, s, rpc);
	grpc_stream_put(s);
}

/* The core allows the peer to send more in a stream. */
static void grpc_send_credit(struct grpc_link *gl, const struct mrpc_rpc *rpc)
{
	struct grpc_stream *s;

	spin_lock(&gl->lock);
	s = grpc_slot_find(gl, rpc->frame.call_id);
	if (s) {
		s->rx_may = max(s->rx_may, rpc->frame.remaining_us);
		if (list_empty(&s->resume)) {
			grpc_stream_get(s);
			list_add_tail(&s->resume, &gl->resumed);
		}
	}
	spin_unlock(&gl->lock);
	if (s)
		mrpc_link_kick_rx(gl->link);
}

/* Puts the end of a client's stream to the list of the receive side, unless that was first. */
static void grpc_send_cancel(struct grpc_link *gl, const struct mrpc_rpc *rpc)
{
	struct grpc_stream *s;
	bool open = false;

	spin_lock(&gl->lock);
	s = grpc_slot_find(gl, rpc->frame.call_id);
	if (s) {
		grpc_slot_leave(gl, s);
		open = s->h2.id && mrpc_h2_reset(&gl->h2, &s->h2, MRPC_H2_CANCEL);
		gl->woken |= open && gl->blocked;
	}
	spin_unlock(&gl->lock);
	if (!s)
		return;
	if (s != gl->out.cur)	/* a frame that has begun is finished */
		grpc_unsend(gl, s);
	if (open)
		grpc_stream_put(s);
	s->end.status = MRPC_CANCELLED;
	grpc_give_gone(gl, s);
}

/* A status of the kernel does not wait for messages that wait for the client. */
static void grpc_hurry(struct grpc_link *gl, struct grpc_stream *s)
{
	struct mrpc_call *first = s == gl->out.cur ? grpc_stream_out(s) : NULL;
	struct grpc_payload payload = s->payload;

	if (first) {	/* its frame has begun, and is finished */
		list_del(&first->loop);
		memset(&s->payload, 0, sizeof(s->payload));
	}
	grpc_stream_purge(s);
	if (first) {
		list_add(&first->loop, &s->queue);
		s->payload = payload;
	}
	if (!list_empty(&s->send))
		list_move_tail(&s->send, &gl->out.sending);
}

/* Takes a server's reply. Its stream is closed if the client has reset it. */
static void grpc_send_reply(struct grpc_link *gl, struct mrpc_rpc *rpc)
{
	char why[MRPC_GRPC_ADMIT_TEXT] __uninitialized;
	struct grpc_stream *s;
	bool closed = true;
	u16 status;

	spin_lock(&gl->lock);
	s = grpc_slot_find(gl, rpc->frame.call_id);
	if (s) {
		grpc_slot_leave(gl, s);
		closed = s->h2.closed;
	}
	spin_unlock(&gl->lock);
	if (!s)
		return;
	if (!closed) {
		if (mrpc_rpc_call(rpc)->role == MRPC_ROLE_CONTROL)
			grpc_hurry(gl, s);
		status = grpc_admit(rpc, true, why);
		if (status)
			mrpc_rpc_to_status(rpc, status, why);
		grpc_queue(gl, s, rpc);
	}
	grpc_stream_put(s);
}

/* A server that drains says so. A client's BYE is not needed: its streams are what they are. */
static void grpc_send_bye(struct grpc_link *gl)
{
	u64 now = ktime_get_ns();

	if (!gl->link->accepted)
		return;
	spin_lock(&gl->lock);
	mrpc_h2_goaway(&gl->h2, now);
	spin_unlock(&gl->lock);
	mrpc_link_arm(gl->link, now + MRPC_H2_DRAIN_TIMEOUT_NS);
}

/**
 * grpc_send() - take a frame of the core
 * @link: the link
 * @q: its first is the frame
 * @limit: always U64_MAX: links of gRPC are in no egress domain
 *
 * See struct mrpc_transport_ops.
 */
int grpc_send(struct mrpc_link *link, struct mrpc_queue *q, u64 limit)
{
	struct mrpc_rpc *rpc = mrpc_queue_peek(q);
	struct grpc_link *gl = link->priv;
	int err = 0;

	if (READ_ONCE(gl->down))
		return -EPIPE;
	switch (rpc->frame.type) {
	case MRPC_WIRE_CALL:
		err = grpc_send_call(gl, rpc);
		break;
	case MRPC_WIRE_REPLY:
		grpc_send_reply(gl, rpc);
		break;
	case MRPC_WIRE_MESSAGE:
		grpc_send_message(gl, rpc);
		break;
	case MRPC_WIRE_CREDIT:
		grpc_send_credit(gl, rpc);
		break;
	case MRPC_WIRE_CANCEL:
		grpc_send_cancel(gl, rpc);
		break;
	case MRPC_WIRE_BYE:
		grpc_send_bye(gl);
		break;
	}
	if (!err)
		rpc->done = mrpc_rpc_total(rpc);
	return err;
}
