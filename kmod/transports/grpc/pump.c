// SPDX-License-Identifier: GPL-2.0
/*
 * What goes out over a link of gRPC: frames, in turns of the streams.
 *
 * Control frames, header blocks and small messages are put together in the stage. The content of a
 * large DATA frame follows the stage straight from where it is. All of that goes to the socket
 * before anything else is put to the stage, so a frame that has begun is finished.
 */
#include <linux/ktime.h>
#include <linux/net.h>
#include <linux/slab.h>
#include <linux/uio.h>

#include "core/link.h"
#include "core/rpc.h"
#include "exec/kick.h"
#include "lib/grpc/out.h"
#include "lib/message/credit.h"
#include "lib/message/wire.h"
#include "transports/grpc/compress.h"
#include "transports/grpc/headers.h"
#include "transports/grpc/link.h"
#include "transports/grpc/pump.h"
#include "transports/grpc/stream.h"

#define GRPC_COPIED	1024	/* content of a DATA frame that is copied to the stage */
#define GRPC_KVECS	16
#define GRPC_TURN	(256 << 10)	/* bytes before others get a turn */

/* What became of a stream's turn. */
enum grpc_turn {
	GRPC_TURN_ON,		/* something was put; it is in the list for another turn, or done */
	GRPC_TURN_FULL,		/* the stage has no room */
	GRPC_TURN_DEAD,		/* the connection must end */
};

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
	gl->woken |= open && gl->blocked;
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
	bool closed, tell = false;

	spin_lock(&gl->lock);
	closed = (ended && mrpc_h2_end_local(&gl->h2, &s->h2)) ||
		 mrpc_h2_reset(&gl->h2, &s->h2, code);
	gl->woken |= closed && gl->blocked;
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

/* Encodes the message of the first of a queue. Return: 0 or why it could not be encoded. */
static int grpc_encode(struct grpc_link *gl, struct grpc_stream *s, struct mrpc_rpc *rpc)
{
	const struct mrpc_schema_plan *plan = mrpc_link_service(gl->link, s->method >> 16);
	const struct mrpc_method *method = &plan->methods[s->method & 0xffff];
	int err = grpc_payload_make(&s->payload, rpc, plan,
				    gl->link->accepted ? method->reply : method->request);

	if (!err && s->gzip && grpc_stream_out(s)->sqe_flags & MRPC_SQE_COMPRESS)
		grpc_deflate(&s->payload);
	return err;
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
	mrpc_h2_put_data_header(out->stage + out->len, s->h2.id, 0, true);
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

/* The content of a DATA frame is in the stage, or with the socket. */
static void grpc_data_done(struct grpc_link *gl, struct grpc_stream *s)
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
	struct kvec kv[GRPC_KVECS];
	u32 nr, i, bytes;

	while (len) {
		nr = grpc_payload_vector(&s->payload, len, kv, GRPC_KVECS, &bytes);
		for (i = 0; i < nr; i++) {
			memcpy(gl->out.stage + gl->out.len, kv[i].iov_base, kv[i].iov_len);
			gl->out.len += kv[i].iov_len;
		}
		grpc_payload_advance(&s->payload, bytes);
		len -= bytes;
	}
}

static enum grpc_turn grpc_turn_data(struct grpc_link *gl, struct grpc_stream *s,
				     const struct mrpc_rpc *rpc)
{
	u32 left = grpc_payload_left(&s->payload), room = GRPC_STAGE - gl->out.len, n;
	struct grpc_out *out = &gl->out;
	bool end, closed = false;

	if (room < MRPC_H2_FRAME_HEADER + GRPC_COPIED)
		return GRPC_TURN_FULL;
	spin_lock(&gl->lock);
	n = min_t(s64, mrpc_h2_may_send(&gl->h2, &s->h2), left);
	end = n == left && grpc_ends(gl, rpc);
	if (n) {
		mrpc_h2_sent(&gl->h2, &s->h2, n);
		closed = end && mrpc_h2_end_local(&gl->h2, &s->h2);
	} else {
		gl->blocked = true;
	}
	gl->woken |= closed && gl->blocked;
	spin_unlock(&gl->lock);
	if (!n) {
		list_move_tail(&s->send, &out->blocked);
		return GRPC_TURN_ON;
	}
	mrpc_h2_put_data_header(out->stage + out->len, s->h2.id, n, end);
	out->len += MRPC_H2_FRAME_HEADER;
	if (n <= GRPC_COPIED) {
		grpc_stage_content(gl, s, n);
		grpc_data_done(gl, s);
	} else {
		grpc_stream_get(s);
		out->cur = s;
		out->cur_left = n;
	}
	if (closed)
		grpc_stream_put(s);
	return GRPC_TURN_ON;
}

/* Sends on with the first of a stream's queue: header block, content, end. */
static enum grpc_turn grpc_turn_rpc(struct grpc_link *gl, struct grpc_stream *s,
				    struct mrpc_rpc *rpc)
{
	bool reply = rpc->frame.type == MRPC_WIRE_REPLY, message = rpc->frame.flags & MRPC_WIRE_MSG;
	int err;

	if (!gl->link->accepted && !s->h2.id)
		return grpc_turn_request(gl, s, rpc);
	if (gl->link->accepted && !s->headed && (message || !reply))
		return grpc_turn_response(gl, s, rpc);
	if (message && !s->payload.buf) {
		err = grpc_encode(gl, s, rpc);
		if (err) {
			grpc_unencoded(gl, s, rpc, err);
			return GRPC_TURN_ON;
		}
	}
	if (message && grpc_payload_left(&s->payload))
		return grpc_turn_data(gl, s, rpc);
	if (reply)
		return grpc_turn_end(gl, s, rpc);
	if (grpc_ends(gl, rpc))
		return grpc_turn_close(gl, s);
	grpc_next(gl, s);	/* a CALL before its messages, or metadata without a message */
	return GRPC_TURN_ON;
}

static enum grpc_turn grpc_turn(struct grpc_link *gl, struct grpc_stream *s)
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

/* -- the stage ------------------------------------------------------------------- */

/* Puts control frames that are due. Return: all of them are in the stage. */
static bool grpc_fill_control(struct grpc_link *gl)
{
	struct grpc_out *out = &gl->out;
	u32 before = out->len, n, least, last;
	bool changed = false, wake, owes;

	spin_lock(&gl->lock);
	do {
		n = mrpc_h2_owed(&gl->h2, out->stage + out->len, GRPC_STAGE - out->len);
		out->len += n;
	} while (n);
	/* A client may open a stream when RST_STREAM of another one is written. */
	gl->woken |= out->len > before && gl->blocked;
	wake = gl->congested && !mrpc_h2_congested(&gl->h2);
	if (wake)
		gl->congested = false;
	owes = mrpc_h2_owes(&gl->h2);
	if (!owes)
		changed = mrpc_h2_table_size(&gl->h2, &least, &last);
	spin_unlock(&gl->lock);
	if (wake)
		mrpc_link_kick_rx(gl->link);
	if (changed) {
		mrpc_hpack_encoder_limit(&out->table, least);
		mrpc_hpack_encoder_limit(&out->table, last);
	}
	return !owes;
}

/* Takes the streams that the receive side has given, and those that may go on. */
static void grpc_take_fresh(struct grpc_link *gl)
{
	struct grpc_stream *s, *next;
	LIST_HEAD(fresh);
	bool woken;

	spin_lock(&gl->lock);
	list_splice_init(&gl->fresh, &fresh);
	woken = gl->woken;
	gl->woken = false;
	gl->blocked &= !woken;
	spin_unlock(&gl->lock);
	list_for_each_entry_safe(s, next, &fresh, fresh) {
		list_del_init(&s->fresh);
		s->answers = true;
		if (list_empty(&s->send))
			list_add_tail(&s->send, &gl->out.sending);
		else
			grpc_stream_put(s);
	}
	if (woken)
		list_splice_tail_init(&gl->out.blocked, &gl->out.sending);
}

/* Fills the stage. Return: GRPC_TURN_ON: there is nothing more to put now. */
static enum grpc_turn grpc_fill(struct grpc_link *gl)
{
	struct grpc_out *out = &gl->out;
	enum grpc_turn turn = GRPC_TURN_ON;
	struct grpc_stream *s;

	if (!grpc_fill_control(gl))
		return GRPC_TURN_FULL;
	if (READ_ONCE(gl->h2.why))
		return GRPC_TURN_DEAD;
	grpc_take_fresh(gl);
	while (turn == GRPC_TURN_ON && !out->cur &&
	       (s = list_first_entry_or_null(&out->sending, struct grpc_stream, send)))
		turn = grpc_turn(gl, s);
	return out->cur ? GRPC_TURN_FULL : turn;
}

/* The socket has taken @n bytes. */
static void grpc_sent(struct grpc_link *gl, u32 n)
{
	struct grpc_out *out = &gl->out;
	u32 staged = min(n, out->len - out->at);
	struct grpc_stream *s = out->cur;

	out->at += staged;
	n -= staged;
	if (out->at == out->len) {
		out->at = 0;
		out->len = 0;
	}
	if (!n)
		return;
	grpc_payload_advance(&s->payload, n);
	out->cur_left -= n;
	if (out->cur_left)
		return;
	out->cur = NULL;
	grpc_data_done(gl, s);
	grpc_stream_put(s);
}

/*
 * Gives the socket what waits, @budget bytes or little more. Return: 0; -EAGAIN: it will kick;
 * -EBUSY: the budget is used up; else the link is dead.
 */
static int grpc_flush(struct grpc_link *gl, s64 *budget)
{
	struct grpc_out *out = &gl->out;

	while (out->at < out->len || out->cur) {
		struct msghdr msg = { .msg_flags = MSG_DONTWAIT | MSG_NOSIGNAL };
		struct kvec kv[GRPC_KVECS];
		u32 nr = 0, bytes = 0;
		int n;

		if (READ_ONCE(gl->down))
			return -EPIPE;
		if (*budget <= 0)
			return -EBUSY;
		if (out->at < out->len) {
			kv[0].iov_base = out->stage + out->at;
			kv[0].iov_len = out->len - out->at;
			nr = 1;
		}
		if (out->cur)
			nr += grpc_payload_vector(&out->cur->payload, out->cur_left, kv + nr,
						  GRPC_KVECS - nr, &bytes);
		iov_iter_kvec(&msg.msg_iter, ITER_SOURCE, kv, nr, out->len - out->at + bytes);
		n = mrpc_sock_send(gl->sock, &gl->tls, &msg);
		if (n < 0)
			return n;
		grpc_sent(gl, n);
		*budget -= n;
	}
	return 0;
}

/* Gives the memory of the stage back if nothing is under way. */
static void grpc_rest(struct grpc_link *gl)
{
	struct grpc_out *out = &gl->out;

	WRITE_ONCE(gl->rest, false);
	if (out->len || out->cur || !list_empty(&out->sending) || !list_empty(&out->blocked))
		return;
	kvfree(out->stage);
	out->stage = NULL;
}

static bool grpc_idle(struct grpc_link *gl)
{
	bool idle;

	spin_lock(&gl->lock);
	idle = !mrpc_h2_owes(&gl->h2) && list_empty(&gl->fresh) && !gl->woken && !gl->h2.why;
	spin_unlock(&gl->lock);
	return idle && list_empty(&gl->out.sending);
}

/*
 * The socket has not taken all. Return: what grpc_pump() returns. A peer that has closed its end
 * may have sent replies before: the receive side reads these, and ends the connection.
 */
static int grpc_unflushed(struct grpc_link *gl, int err)
{
	if (err == -EBUSY)
		return 1;
	if (READ_ONCE(gl->down))
		return -EPIPE;
	if (READ_ONCE(gl->h2.why))
		return -EPROTO;
	if (err == -EAGAIN)
		return 0;
	gl->out.broken = true;
	mrpc_link_kick_rx(gl->link);
	return 0;
}

/**
 * grpc_pump() - send what the link keeps
 * @link: the link
 *
 * See struct mrpc_transport_ops.
 */
int grpc_pump(struct mrpc_link *link)
{
	struct grpc_link *gl = link->priv;
	struct grpc_out *out = &gl->out;
	s64 budget = GRPC_TURN;
	enum grpc_turn turn;
	int err;

	if (READ_ONCE(gl->down))
		return -EPIPE;
	if (out->broken)
		return 0;
	if (READ_ONCE(gl->rest))
		grpc_rest(gl);
	if (!out->stage) {
		if (grpc_idle(gl))
			return 0;
		out->stage = kvmalloc(GRPC_STAGE + MRPC_GRPC_SCRATCH, GFP_KERNEL_ACCOUNT);
		if (!out->stage) {
			mrpc_link_arm(link, ktime_get_ns() + GRPC_RETRY);
			return 0;
		}
	}
	if (!out->kept)
		mrpc_link_keep(link);	/* for what leaves the queues, until the socket has it */
	out->kept = true;
	do {
		err = grpc_flush(gl, &budget);
		if (err)
			return grpc_unflushed(gl, err);
		turn = grpc_fill(gl);
	} while (out->len || out->cur || (turn == GRPC_TURN_ON && READ_ONCE(gl->woken)));
	out->kept = false;
	mrpc_link_unkeep(link);
	return turn == GRPC_TURN_DEAD ? -EPROTO : 0;
}
