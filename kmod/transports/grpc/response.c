// SPDX-License-Identifier: GPL-2.0
/* A client's streams: responses, and how calls end. */

#include "call/arrival.h"
#include "core/link.h"
#include "exec/kick.h"
#include "lib/message/schema.h"
#include "lib/message/wire.h"
#include "transports/grpc/deliver.h"
#include "transports/grpc/link.h"
#include "transports/grpc/receive.h"
#include "transports/grpc/stream.h"

/* Closes a stream, and takes it from its call. Return: its call is the caller's to end. */
static bool grpc_finish(struct grpc_link *gl, struct grpc_stream *s, u32 code)
{
	bool closed, mine;

	spin_lock(&gl->lock);
	mine = grpc_slot_leave(gl, s);
	closed = mrpc_h2_reset(&gl->h2, &s->h2, code);
	mrpc_h2_reward(&gl->h2);
	spin_unlock(&gl->lock);
	if (closed) {
		grpc_wake(gl);	/* it may have something to send */
		grpc_stream_put(s);
	}
	if (mine)
		grpc_stream_put(s);
	return mine;
}

/**
 * grpc_end_call() - end the call of a client's stream, of which no reply comes
 * @gl: the link; the caller owns the receive claim, and has a reference to @s
 * @s: the stream
 * @status: enum mrpc_status
 * @text: a sentence
 * @unsent: the server has not run it
 *
 * Does nothing if its call has ended. Context: process; may sleep.
 */
void grpc_end_call(struct grpc_link *gl, struct grpc_stream *s, u16 status, const char *text,
		   bool unsent)
{
	grpc_drop(gl, s);
	if (grpc_finish(gl, s, MRPC_H2_CANCEL))
		mrpc_sink_end_call(gl->link, s->call_id, status, text, unsent);
}

/**
 * struct grpc_said - what the last header block of a response says
 * @code: enum mrpc_h2_error, for a stream that our side has not ended
 * @status: enum mrpc_status
 * @detail_len: bytes of @detail
 * @detail: a sentence
 */
struct grpc_said {
	u32 code;
	u16 status;
	u16 detail_len;
	const u8 *detail;
};

/* Gives the sink the reply. Return: 0, or the connection must end. */
static int grpc_reply(struct grpc_link *gl, struct grpc_stream *s, const struct grpc_said *said)
{
	const struct mrpc_schema_plan *plan = mrpc_link_service(gl->link, s->method >> 16);
	bool streams = grpc_stream_hears(s, false);
	struct grpc_work *work = gl->in.work;
	struct mrpc_frame frame = {
		.type = MRPC_WIRE_REPLY,
		.flags = MRPC_WIRE_END,
		.call_id = s->call_id,
		.msg_no = s->rx_no,
		.status = said->status,
		.meta_len = s->meta_len - s->meta_told,
		.detail_len = said->detail_len,
	};
	bool cut = s->begins || s->prefix.have;
	int err;

	s->drop = true;
	if (!grpc_finish(gl, s, said->code)) {
		grpc_drop(gl, s);
		return 0;
	}
	if (said->status == MRPC_OK && cut) {
		grpc_drop(gl, s);
		return mrpc_sink_end_call(gl->link, s->call_id, MRPC_INTERNAL,
					  "the response ends inside a message", false);
	}
	err = grpc_delivery_begin(gl, &frame, s, s->meta ? s->meta + s->meta_told : NULL,
				  said->detail);
	if (err)
		strscpy(work->why, "no memory for the reply", sizeof(work->why));
	else if (said->status == MRPC_OK && s->whole && !streams)
		err = grpc_delivery_decode(gl, plan, plan->methods[s->method & 0xffff].reply,
					   work->why, sizeof(work->why));
	if (!err)
		return 0;
	grpc_delivery_end(&gl->in.delivery);
	grpc_drop(gl, s);
	return mrpc_sink_end_call(gl->link, s->call_id, err == -EINVAL ? MRPC_INTERNAL :
				  MRPC_RESOURCE_EXHAUSTED, work->why, false);
}

/* The last header block has come. Messages that wait go first. As grpc_reply(). */
static int grpc_answered(struct grpc_link *gl, struct grpc_stream *s, u32 code)
{
	const struct mrpc_grpc_answer_block *b = &gl->in.work->answer;
	const struct grpc_said said = {
		.code = code,
		.status = b->status,
		.detail = b->detail,
		.detail_len = b->detail_len,
	};

	if (!grpc_stream_waits(s))
		return grpc_reply(gl, s, &said);
	grpc_answer_say(&s->said, b->status, (const char *)b->detail, b->detail_len);
	s->replies = true;
	return 0;
}

/**
 * grpc_hear_response_end() - all messages of a response have been taken
 * @gl: the link; the caller owns the receive claim
 * @s: the stream, which has its status, or the server has sent none
 *
 * Return: 0, or the connection must end.
 */
int grpc_hear_response_end(struct grpc_link *gl, struct grpc_stream *s)
{
	const struct grpc_said said = {
		.code = MRPC_H2_CANCEL,
		.status = s->said.status,
		.detail = (const u8 *)s->said.text,
		.detail_len = s->said.text_len,
	};

	if (s->replies)
		return grpc_reply(gl, s, &said);
	grpc_end_call(gl, s, MRPC_INTERNAL, "the server sent no status", false);
	return 0;
}

/*
 * Reads a header block of a response to the link's work and its stream. Return: enum
 * mrpc_grpc_answer, or as grpc_decode_block().
 */
static int grpc_read_answer(struct grpc_link *gl, struct grpc_stream *s,
			    const struct mrpc_h2_frame *f, bool end)
{
	struct grpc_work *work = gl->in.work;
	struct grpc_known_answer *k = &work->known_answers[s->answer.http != 0];
	bool trailers = s->answer.http;
	int err;

	if (!s->meta_len && grpc_block_known(gl, &k->block, f) && k->end == end) {
		if (!trailers)
			s->answer = k->response;
		work->answer.status = k->status;
		work->answer.detail_len = 0;
		return k->what;
	}
	work->meta = (struct mrpc_grpc_meta){
		.buf = work->meta_buf, .room = MRPC_MAX_META, .len = s->meta_len,
	};
	if (s->meta)
		memcpy(work->meta_buf, s->meta, s->meta_len);
	mrpc_grpc_answer_begin(&work->answer, &s->answer, &work->meta);
	err = grpc_decode_block(gl, f, &k->block);
	if (err && err != -E2BIG)
		return err;
	k->end = end;
	k->what = mrpc_grpc_answer_end(&work->answer, end, err);
	k->status = work->answer.status;
	k->response = s->answer;
	if (work->meta.len || work->answer.detail_len)
		k->block.len = 0;
	grpc_keep_meta(gl, s);
	return k->what;
}

/**
 * grpc_hear_response() - a header block has come on a client's stream
 * @gl: the link; the caller owns the receive claim
 * @s: the stream
 * @f: the header block
 * @end: nothing follows
 *
 * Return: 0, or the connection must end.
 */
int grpc_hear_response(struct grpc_link *gl, struct grpc_stream *s, const struct mrpc_h2_frame *f,
		       bool end)
{
	int err, what = grpc_read_answer(gl, s, f, end);

	switch (what) {
	case MRPC_GRPC_SKIP:
		spin_lock(&gl->lock);
		err = mrpc_h2_informational(&gl->h2, &s->h2, gl->in.now);
		spin_unlock(&gl->lock);
		if (err)
			grpc_failed(gl);
		return 0;
	case MRPC_GRPC_HEADERS:
		s->encoding = s->answer.encoding;
		return 0;
	case MRPC_GRPC_END:
	case MRPC_GRPC_REFUSED:
		return grpc_answered(gl, s, MRPC_H2_CANCEL);
	case MRPC_GRPC_BROKEN:
		return grpc_answered(gl, s, MRPC_H2_PROTOCOL_ERROR);
	default:
		return what == -EPROTO ? 0 : what;
	}
}
