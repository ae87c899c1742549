// SPDX-License-Identifier: GPL-2.0
/*
 * Turns of the streams of a link of gRPC: what a stream puts to the stage when it is the first.
 *
 * All of it is for the owner of the transmit claim.
 */
#include <linux/uio.h>

#include "core/link.h"
#include "core/rpc.h"
#include "exec/kick.h"
#include "lib/message/credit.h"
#include "lib/message/wire.h"
#include "transports/grpc/compress.h"
#include "transports/grpc/headers.h"
#include "transports/grpc/link.h"
#include "transports/grpc/out.h"
#include "transports/grpc/pump.h"
#include "transports/grpc/stream.h"
#include "transports/grpc/turn.h"

#define GRPC_COPIED	1024	/* content of a DATA frame that is copied to the stage */

/* -- streams that leave the lists ------------------------------------------------ */

/**
 * grpc_unsend() - a stream has nothing more to send
 * @gl: the link; the caller owns the transmit claim
 * @s: the stream, in no list or in one of grpc_out; not grpc_out.cur
 *
 * Context: process; may sleep.
 */
void grpc_unsend(struct grpc_link *gl, struct grpc_stream *s)
{
	grpc_stream_purge(s);
	if (list_empty(&s->send))
		return;
	list_del_init(&s->send);
	grpc_stream_put(s);
}

/* A client's call ends here: it has not been opened, or its message cannot be encoded. */
static void grpc_give_up(struct grpc_link *gl, struct grpc_stream *s, u16 status,
			 const char *text)
{
	bool mine, open;

	spin_lock(&gl->lock);
	mine = grpc_slot_leave(gl, s);
	open = s->h2.id && mrpc_h2_reset(&gl->h2, &s->h2, MRPC_H2_CANCEL);
	gl->woken |= open;
	spin_unlock(&gl->lock);
	if (mine) {
		grpc_answer_say(&s->end, status, text, strlen(text));
		s->end.unsent = !s->h2.id;
		grpc_give_gone(gl, s);
	}
	if (open)
		grpc_stream_put(s);
	grpc_unsend(gl, s);
}

/* Tells the core, by the receive side, that the socket has taken a message of a stream. */
static void grpc_note_written(struct grpc_link *gl, struct grpc_stream *s,
			      const struct mrpc_frame *f)
{
	bool tell = false;

	spin_lock(&gl->lock);
	s->written += mrpc_credit_cost(f);
	if (s->written - s->told >= MRPC_STREAM_WINDOW / 4 && list_empty(&s->credit)) {
		grpc_stream_get(s);
		list_add_tail(&s->credit, &gl->credits);
		tell = true;
	}
	spin_unlock(&gl->lock);
	if (tell)
		mrpc_link_kick_rx(gl->link);
}

/* The first of a stream's queue is sent. The next one waits for its turn. */
static void grpc_next(struct grpc_link *gl, struct grpc_stream *s)
{
	const struct mrpc_frame *f = &grpc_stream_out(s)->rpc.frame;

	if (f->type == MRPC_WIRE_MESSAGE)
		grpc_note_written(gl, s, f);
	grpc_stream_pop(s);
	list_move_tail(&s->send, &gl->out.sending);
}

/* -- turns ----------------------------------------------------------------------- */

static enum grpc_turn grpc_turn_request(struct grpc_link *gl, struct grpc_stream *s,
					const struct mrpc_rpc *rpc)
{
	switch (grpc_put_request(gl, s, rpc)) {
	case 0:
		break;
	case -EAGAIN:
		return GRPC_TURN_FULL;
	case -EBUSY:	/* until another stream ends, or the peer allows more */
		list_move_tail(&s->send, &gl->out.blocked);
		break;
	case -ESHUTDOWN:
		grpc_give_up(gl, s, MRPC_UNAVAILABLE, "the server is shutting down");
		break;
	case -EMSGSIZE:
		grpc_give_up(gl, s, MRPC_RESOURCE_EXHAUSTED,
			     "the metadata is larger than the server takes");
		break;
	default:
		return GRPC_TURN_DEAD;
	}
	return GRPC_TURN_ON;
}

/*
 * Closes a server's stream: it has ended in this direction, or is reset with @code. The receive
 * side drops what has come of it and was not delivered.
 */
static void grpc_close(struct grpc_link *gl, struct grpc_stream *s, bool ended, u32 code)
{
	bool closed, reset, tell = false;

	spin_lock(&gl->lock);
	closed = ended && mrpc_h2_end_local(&gl->h2, &s->h2);
	reset = !closed && mrpc_h2_reset(&gl->h2, &s->h2, code);
	closed |= reset;
	gl->woken |= reset || (closed && gl->blocked);
	if (closed && (!s->h2.remote_end || grpc_stream_hears(s, true)) && list_empty(&s->resume)) {
		grpc_stream_get(s);
		list_add_tail(&s->resume, &gl->resumed);
		tell = true;
	}
	spin_unlock(&gl->lock);
	if (tell)
		mrpc_link_kick_rx(gl->link);
	grpc_stream_get(s);
	grpc_unsend(gl, s);
	if (closed)
		grpc_stream_put(s);
	grpc_stream_put(s);
}

/* A server's stream cannot go on as the application wants. */
static void grpc_break(struct grpc_link *gl, struct grpc_stream *s)
{
	grpc_close(gl, s, false, MRPC_H2_INTERNAL_ERROR);
}

static enum grpc_turn grpc_turn_response(struct grpc_link *gl, struct grpc_stream *s,
					 const struct mrpc_rpc *rpc)
{
	switch (grpc_put_response(gl, s, rpc)) {
	case 0:
		s->headed = true;
		return GRPC_TURN_ON;
	case -EAGAIN:
		return GRPC_TURN_FULL;
	case -EMSGSIZE:
		grpc_break(gl, s);
		return GRPC_TURN_ON;
	default:
		return GRPC_TURN_DEAD;
	}
}

/* Why a message could not be encoded. */
static const char *grpc_encode_why(int err)
{
	switch (err) {
	case -EMSGSIZE:
		return "the message is too large for protobuf";
	case -EINVAL:
		return "a block of the message has changed while it was sent";
	default:
		return "no memory to encode the message";
	}
}

/* A message cannot be encoded: its call ends. The REPLY of a server says why. */
static void grpc_unencoded(struct grpc_link *gl, struct grpc_stream *s, struct mrpc_rpc *rpc,
			   int err)
{
	u16 status = err == -EINVAL ? MRPC_INVALID_ARGUMENT : MRPC_RESOURCE_EXHAUSTED;

	grpc_payload_free(&s->payload);
	if (!gl->link->accepted)
		grpc_give_up(gl, s, status, grpc_encode_why(err));
	else if (rpc->frame.type == MRPC_WIRE_REPLY)
		mrpc_rpc_to_status(rpc, status, grpc_encode_why(err));
	else
		grpc_break(gl, s);
}

/* Does the client's direction end with this one? */
static bool grpc_ends(const struct grpc_link *gl, const struct mrpc_rpc *rpc)
{
	return !gl->link->accepted && rpc->frame.flags & MRPC_WIRE_END;
}

/* Puts an empty DATA frame that ends a client's direction. */
static enum grpc_turn grpc_turn_close(struct grpc_link *gl, struct grpc_stream *s)
{
	struct grpc_out *out = &gl->out;
	bool closed;

	if (GRPC_STAGE - out->len < MRPC_H2_FRAME_HEADER)
		return GRPC_TURN_FULL;
	spin_lock(&gl->lock);
	closed = mrpc_h2_end_local(&gl->h2, &s->h2);
	gl->woken |= closed && gl->blocked;
	spin_unlock(&gl->lock);
	mrpc_h2_put_data_header(out->work->stage + out->len, s->h2.id, 0, true);
	out->len += MRPC_H2_FRAME_HEADER;
	grpc_next(gl, s);
	if (closed)
		grpc_stream_put(s);
	return GRPC_TURN_ON;
}

/* Ends a server's stream. A client that has not ended its half is told that it need not. */
static enum grpc_turn grpc_turn_end(struct grpc_link *gl, struct grpc_stream *s,
				    const struct mrpc_rpc *rpc)
{
	int err = grpc_put_end(gl, s, rpc);

	if (err)
		return err == -EAGAIN ? GRPC_TURN_FULL : GRPC_TURN_DEAD;
	grpc_close(gl, s, true, MRPC_H2_NO_ERROR);
	return GRPC_TURN_ON;
}

/**
 * grpc_data_done() - the content of a DATA frame is in the stage, or with the socket
 * @gl: the link; the caller owns the transmit claim
 * @s: the stream, the first of grpc_out.sending
 */
void grpc_data_done(struct grpc_link *gl, struct grpc_stream *s)
{
	const struct mrpc_call *call = grpc_stream_out(s);

	/* A server's REPLY still has its trailers. */
	if (grpc_payload_left(&s->payload) || call->rpc.frame.type == MRPC_WIRE_REPLY)
		list_move_tail(&s->send, &gl->out.sending);
	else
		grpc_next(gl, s);
}

/* Copies the content of a small DATA frame to the stage, which has room. */
static void grpc_stage_content(struct grpc_link *gl, struct grpc_stream *s, u32 len)
{
	struct kvec kv[GRPC_KVECS] __uninitialized;
	u32 nr, i, bytes;

	while (len) {
		nr = grpc_payload_vector(&s->payload, len, kv, GRPC_KVECS, &bytes);
		for (i = 0; i < nr; i++) {
			memcpy(gl->out.work->stage + gl->out.len, kv[i].iov_base, kv[i].iov_len);
			gl->out.len += kv[i].iov_len;
		}
		grpc_payload_advance(&s->payload, bytes);
		len -= bytes;
	}
}

/**
 * struct grpc_share - content of a stream that goes out now, as one frame
 * @len: bytes; 0: the windows allow none
 * @end: it ends a client's direction
 * @closed: and that closes the stream: the caller has its reference now
 */
struct grpc_share {
	u32 len;
	bool end;
	bool closed;
};

/* Takes the share of the @left bytes of a message that the windows allow. @whole: all, or none. */
static struct grpc_share grpc_take_share(struct grpc_link *gl, struct grpc_stream *s,
					 const struct mrpc_rpc *rpc, u32 left, bool whole)
{
	struct grpc_share share = {};
	s64 may;

	spin_lock(&gl->lock);
	may = mrpc_h2_may_send(&gl->h2, &s->h2);
	if (may >= (whole ? left : 1)) {
		share.len = min_t(s64, may, left);
		share.end = share.len == left && grpc_ends(gl, rpc);
		mrpc_h2_sent(&gl->h2, &s->h2, share.len);
		share.closed = share.end && mrpc_h2_end_local(&gl->h2, &s->h2);
		gl->woken |= share.closed && gl->blocked;
	} else if (!whole) {
		gl->blocked = true;
	}
	spin_unlock(&gl->lock);
	return share;
}

static void grpc_put_data_header(struct grpc_out *out, struct grpc_stream *s,
				 const struct grpc_share *share)
{
	mrpc_h2_put_data_header(out->work->stage + out->len, s->h2.id, share->len, share->end);
	out->len += MRPC_H2_FRAME_HEADER;
}

static enum grpc_turn grpc_turn_data(struct grpc_link *gl, struct grpc_stream *s,
				     const struct mrpc_rpc *rpc)
{
	struct grpc_out *out = &gl->out;
	struct grpc_share share;

	if (GRPC_STAGE - out->len < MRPC_H2_FRAME_HEADER + GRPC_COPIED)
		return GRPC_TURN_FULL;
	share = grpc_take_share(gl, s, rpc, grpc_payload_left(&s->payload), false);
	if (!share.len) {
		list_move_tail(&s->send, &out->blocked);
		return GRPC_TURN_ON;
	}
	grpc_put_data_header(out, s, &share);
	if (share.len <= GRPC_COPIED) {
		grpc_stage_content(gl, s, share.len);
		grpc_data_done(gl, s);
	} else {
		grpc_stream_get(s);
		out->cur = s;
		out->cur_left = share.len;
	}
	if (share.closed)
		grpc_stream_put(s);
	return GRPC_TURN_ON;
}

/* May the message that goes out now be compressed? */
static bool grpc_compresses(struct grpc_stream *s)
{
	return s->gzip && grpc_stream_out(s)->sqe_flags & MRPC_SQE_COMPRESS;
}

/*
 * Encodes a message to the stage, which has room, behind the header of its frame. Return: false: it
 * is not small, or the windows do not allow all of it.
 */
static bool grpc_stage_message(struct grpc_link *gl, struct grpc_stream *s, struct mrpc_rpc *rpc)
{
	struct grpc_out *out = &gl->out;
	struct grpc_share share;
	int len;

	if (mrpc_msg_total(&rpc->frame.msg) > GRPC_COPIED || grpc_compresses(s))
		return false;
	len = grpc_encoder_write(&out->work->encoder,
				 out->work->stage + out->len + MRPC_H2_FRAME_HEADER, GRPC_COPIED);
	if (len < 0)
		return false;
	share = grpc_take_share(gl, s, rpc, len, true);
	if (!share.len)
		return false;
	grpc_put_data_header(out, s, &share);
	out->len += len;
	s->payload.rpc = rpc;
	grpc_data_done(gl, s);
	if (share.closed)
		grpc_stream_put(s);
	return true;
}

/* Begins the message of the first of a queue: encodes it, or sends it at once. */
static enum grpc_turn grpc_turn_message(struct grpc_link *gl, struct grpc_stream *s,
					struct mrpc_rpc *rpc)
{
	const struct mrpc_schema_plan *plan = mrpc_link_service(gl->link, s->method >> 16);
	const struct mrpc_method *method = &plan->methods[s->method & 0xffff];
	struct grpc_encoder *e = &gl->out.work->encoder;
	int err;

	if (GRPC_STAGE - gl->out.len < MRPC_H2_FRAME_HEADER + GRPC_COPIED)
		return GRPC_TURN_FULL;
	err = grpc_encoder_begin(e, rpc, plan, gl->link->accepted ? method->reply :
				 method->request);
	if (!err && !grpc_stage_message(gl, s, rpc)) {
		err = grpc_encoder_measure(e) ?: grpc_payload_make(&s->payload, e);
		if (!err && grpc_compresses(s))
			grpc_deflate(&s->payload);
	}
	grpc_encoder_end(e);
	if (err)
		grpc_unencoded(gl, s, rpc, err);
	return GRPC_TURN_ON;
}

/* Sends on with the first of a stream's queue: header block, content, end. */
static enum grpc_turn grpc_turn_rpc(struct grpc_link *gl, struct grpc_stream *s,
				    struct mrpc_rpc *rpc)
{
	bool reply = rpc->frame.type == MRPC_WIRE_REPLY, message = rpc->frame.flags & MRPC_WIRE_MSG;

	if (!gl->link->accepted && !s->h2.id)
		return grpc_turn_request(gl, s, rpc);
	if (gl->link->accepted && !s->headed && (message || !reply))
		return grpc_turn_response(gl, s, rpc);
	if (message && !s->payload.rpc)
		return grpc_turn_message(gl, s, rpc);
	if (message && grpc_payload_left(&s->payload))
		return grpc_turn_data(gl, s, rpc);
	if (reply)
		return grpc_turn_end(gl, s, rpc);
	if (grpc_ends(gl, rpc))
		return grpc_turn_close(gl, s);
	grpc_next(gl, s);	/* a CALL before its messages, or metadata without a message */
	return GRPC_TURN_ON;
}

/**
 * grpc_turn() - send on with the first stream
 * @gl: the link, whose stage begins or ends with whole frames; the caller owns the transmit claim
 * @s: the first of grpc_out.sending
 *
 * Context: process; may sleep. Return: enum grpc_turn.
 */
enum grpc_turn grpc_turn(struct grpc_link *gl, struct grpc_stream *s)
{
	struct mrpc_call *call = grpc_stream_out(s);

	if (s->h2.id && READ_ONCE(s->h2.closed)) {
		grpc_unsend(gl, s);
		return GRPC_TURN_ON;
	}
	if (s->answers)
		return grpc_turn_end(gl, s, NULL);
	if (call)
		return grpc_turn_rpc(gl, s, &call->rpc);
	grpc_unsend(gl, s);
	return GRPC_TURN_ON;
}
