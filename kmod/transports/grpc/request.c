// SPDX-License-Identifier: GPL-2.0
/* A server's streams: requests, from their header block to the call that the sink gets. */

#include "core/link.h"
#include "exec/kick.h"
#include "lib/grpc/path.h"
#include "lib/message/credit.h"
#include "lib/message/schema.h"
#include "lib/message/wire.h"
#include "transports/grpc/deliver.h"
#include "transports/grpc/link.h"
#include "transports/grpc/receive.h"
#include "transports/grpc/stream.h"

#define GRPC_PRIORITY	128	/* of calls: gRPC's wire has none */

/**
 * grpc_answer() - answer a request that the core does not get
 * @gl: the link; the caller owns the receive claim
 * @s: the stream
 * @how: enum grpc_end
 * @status: enum mrpc_status, or one of HTTP
 * @text: a sentence
 *
 * Context: process; may sleep.
 */
void grpc_answer(struct grpc_link *gl, struct grpc_stream *s, u8 how, u16 status, const char *text)
{
	grpc_drop(gl, s);
	grpc_answer_say(&s->end, status, text, strlen(text));
	s->end.how = how;
	grpc_stream_get(s);
	spin_lock(&gl->lock);
	list_add_tail(&s->fresh, &gl->fresh);
	spin_unlock(&gl->lock);
	mrpc_link_kick_tx(gl->link);
}

/* Finds the service of a request. Return: its index, or -ENOENT. */
static int grpc_find_service(struct grpc_link *gl, const struct mrpc_grpc_path *path,
			     const struct mrpc_schema_plan **plan)
{
	const char *name;
	u32 i;

	for (i = 0; (*plan = mrpc_link_service(gl->link, i)); i++) {
		name = mrpc_schema_service(*plan);
		if (strlen(name) == path->service_len &&
		    !memcmp(name, path->service, path->service_len))
			return i;
	}
	return -ENOENT;
}

/* Finds the method of a request, or answers that there is none. Return: false: it was answered. */
static bool grpc_find_method(struct grpc_link *gl, struct grpc_stream *s)
{
	struct grpc_work *work = gl->in.work;
	const struct mrpc_grpc_path *path = &work->request.path;
	const struct mrpc_schema_plan *plan;
	int service, method = -ENOENT;

	if (work->known_method != U32_MAX) {
		s->method = work->known_method;
		s->kinds = work->known_kinds;
		return true;
	}
	service = grpc_find_service(gl, path, &plan);
	if (service >= 0)
		method = mrpc_schema_find_method(plan, path->method, path->method_len);
	if (method < 0) {
		mrpc_grpc_path_unknown(path, service >= 0, work->why, sizeof(work->why));
		grpc_answer(gl, s, GRPC_END_STATUS, MRPC_UNIMPLEMENTED, work->why);
		return false;
	}
	s->method = service << 16 | method;
	s->kinds = plan->methods[method].flags;
	work->known_method = s->method;
	work->known_kinds = s->kinds;
	return true;
}

/* Does what the verdict on a header block says. Return: the request may go on. */
static bool grpc_request_fine(struct grpc_link *gl, struct grpc_stream *s,
			      const struct mrpc_grpc_verdict *v)
{
	if (v->kind == MRPC_GRPC_FINE)
		return grpc_find_method(gl, s);
	grpc_answer(gl, s, v->kind == MRPC_GRPC_HTTP ? GRPC_END_HTTP : GRPC_END_STATUS, v->code,
		    v->why);
	return false;
}

/* Refuses a stream with a code of HTTP/2. Return: 0, or the connection ends. */
static int grpc_refuse_stream(struct grpc_link *gl, u32 id, u32 code)
{
	int err;

	spin_lock(&gl->lock);
	mrpc_h2_refuse(&gl->h2, id, code);
	err = mrpc_h2_charge(&gl->h2, MRPC_H2_COST_RESET, gl->in.now);
	spin_unlock(&gl->lock);
	if (err)
		grpc_failed(gl);
	return 0;
}

/* Gives the call of a stream an id, and its frame. Return: 0; -EBUSY: there are too many. */
static int grpc_number_call(struct grpc_link *gl, struct grpc_stream *s)
{
	bool taken;

	spin_lock(&gl->lock);
	taken = !s->h2.closed && grpc_slot_take(gl, s);
	spin_unlock(&gl->lock);
	gl->in.delivery.frame.call_id = s->call_id;
	return taken ? 0 : -EBUSY;
}

/* What a call's end says that the core does not get. */
static void grpc_refuse_call(struct grpc_link *gl, struct grpc_stream *s, int err)
{
	struct grpc_work *work = gl->in.work;

	grpc_delivery_end(&gl->in.delivery);
	if (err == -EBUSY)
		strscpy(work->why, "the server has too many calls", sizeof(work->why));
	else if (err == -ENOMEM)
		strscpy(work->why, "no memory for the request", sizeof(work->why));
	grpc_answer(gl, s, GRPC_END_STATUS, err == -EINVAL ? MRPC_INTERNAL :
		    MRPC_RESOURCE_EXHAUSTED, work->why);
}

/* Makes the call of a request: with its message, unless the client streams. */
static int grpc_make_call(struct grpc_link *gl, struct grpc_stream *s)
{
	const struct mrpc_schema_plan *plan = mrpc_link_service(gl->link, s->method >> 16);
	struct grpc_work *work = gl->in.work;
	bool streams = grpc_stream_hears(s, true);
	struct mrpc_frame frame = {
		.type = MRPC_WIRE_CALL,
		.flags = streams ? 0 : MRPC_WIRE_END,
		.method = s->method,
		.priority = GRPC_PRIORITY,
		.meta_len = s->meta_len,
		.max_reply = U32_MAX,
	};
	int err;

	if (s->deadline)
		frame.remaining_us = gl->in.now < s->deadline ?
			max_t(u64, (s->deadline - gl->in.now) / NSEC_PER_USEC, 1) : 1;
	err = grpc_delivery_begin(gl, &frame, s, s->meta, NULL);
	if (!err && !streams)
		err = grpc_delivery_decode(gl, plan, plan->methods[s->method & 0xffff].request,
					   work->why, sizeof(work->why));
	err = err ?: grpc_number_call(gl, s);
	if (err)
		grpc_refuse_call(gl, s, err);
	grpc_made(gl, s);
	s->ended = false;
	return 0;
}

/* Reads a request's header block to the link's work. Return: as grpc_decode_block(). */
static int grpc_read_request(struct grpc_link *gl, const struct mrpc_h2_frame *f)
{
	struct grpc_work *work = gl->in.work;
	int err;

	if (grpc_block_known(gl, &work->known, f))
		return 0;
	work->known_method = U32_MAX;
	work->meta = (struct mrpc_grpc_meta){ .buf = work->meta_buf, .room = MRPC_MAX_META };
	mrpc_grpc_request_begin(&work->request, &work->meta);
	err = grpc_decode_block(gl, f, &work->known);
	if (err && err != -E2BIG)
		return err;
	mrpc_grpc_request_end(&work->request, err == -E2BIG);
	return 0;
}

/**
 * grpc_hear_request() - a client opens a stream
 * @gl: the link; the caller owns the receive claim
 * @f: its header block
 * @id: of the stream
 * @end: nothing follows
 *
 * Return: 0, or the connection must end.
 */
int grpc_hear_request(struct grpc_link *gl, const struct mrpc_h2_frame *f, u32 id, bool end)
{
	struct grpc_work *work = gl->in.work;
	const struct mrpc_grpc_verdict *v;
	struct grpc_stream *s;
	int err;

	err = grpc_read_request(gl, f);
	if (err)
		return err == -EPROTO ? 0 : err;
	v = &work->request.verdict;
	if (v->kind == MRPC_GRPC_MALFORMED)
		return grpc_refuse_stream(gl, id, MRPC_H2_PROTOCOL_ERROR);
	s = grpc_stream_new(gl);
	if (!s)
		return grpc_refuse_stream(gl, id, MRPC_H2_REFUSED_STREAM);
	spin_lock(&gl->lock);
	mrpc_h2_accept(&gl->h2, &s->h2, id, end);
	spin_unlock(&gl->lock);
	grpc_stream_get(s);	/* as long as it is open */
	s->encoding = work->request.encoding;
	s->accept = work->request.accept;
	s->length = work->request.content_length;
	if (work->request.timeout_us)
		s->deadline = gl->in.now + work->request.timeout_us * NSEC_PER_USEC;
	grpc_keep_meta(gl, s);
	if (grpc_request_fine(gl, s, v)) {
		s->unmade = true;
		gl->in.unmade++;
		if (grpc_stream_hears(s, true))
			err = grpc_make_call(gl, s);
		if (!err && end)
			err = grpc_hear_end(gl, s);
	}
	grpc_stream_put(s);
	return err;
}

/**
 * grpc_cancel_call() - end the call of a server's stream in the core
 * @gl: the link; the caller owns the receive claim
 * @s: the stream
 *
 * Return: 0, or the connection must end.
 */
int grpc_cancel_call(struct grpc_link *gl, struct grpc_stream *s)
{
	const struct mrpc_frame cancel = { .type = MRPC_WIRE_CANCEL, .call_id = s->call_id };
	bool served;

	spin_lock(&gl->lock);
	served = s->call_id && grpc_slot_find(gl, s->call_id) == s;
	spin_unlock(&gl->lock);
	return served ? grpc_delivery_begin(gl, &cancel, NULL, NULL, NULL) : 0;
}

/* Tells the core that the client sends no more. Return: 0, or the connection must end. */
static int grpc_deliver_end(struct grpc_link *gl, struct grpc_stream *s)
{
	struct mrpc_frame end = {
		.type = MRPC_WIRE_MESSAGE,
		.flags = MRPC_WIRE_END,
		.call_id = s->call_id,
		.msg_no = s->rx_no,
	};

	if (grpc_stream_stuck(gl, s))
		return 0;
	s->ended = false;
	s->rx_no++;
	s->rx_sum += mrpc_credit_cost(&end);
	return grpc_delivery_begin(gl, &end, NULL, NULL, NULL);
}

/* The client has announced another number of bytes than came. */
static int grpc_wrong_length(struct grpc_link *gl, struct grpc_stream *s)
{
	bool closed;
	int err;

	spin_lock(&gl->lock);
	closed = mrpc_h2_reset(&gl->h2, &s->h2, MRPC_H2_PROTOCOL_ERROR);
	err = mrpc_h2_charge(&gl->h2, MRPC_H2_COST_RESET, gl->in.now);
	spin_unlock(&gl->lock);
	if (err)
		grpc_failed(gl);
	grpc_wake(gl);	/* it may have something to send */
	grpc_drop(gl, s);
	if (closed)
		grpc_stream_put(s);
	return grpc_cancel_call(gl, s);
}

/**
 * grpc_hear_request_end() - all that a client sends in a stream has been taken
 * @gl: the link; the caller owns the receive claim
 * @s: the stream
 *
 * Return: 0, or the connection must end.
 */
int grpc_hear_request_end(struct grpc_link *gl, struct grpc_stream *s)
{
	if (s->length >= 0 && s->came != s->length)
		return grpc_wrong_length(gl, s);
	if (s->prefix.have || s->begins) {
		grpc_answer(gl, s, GRPC_END_STATUS, MRPC_INTERNAL,
			    "the request ends inside a message");
		return grpc_cancel_call(gl, s);
	}
	spin_lock(&gl->lock);
	mrpc_h2_reward(&gl->h2);
	spin_unlock(&gl->lock);
	if (grpc_stream_hears(s, true))
		return grpc_deliver_end(gl, s);
	if (s->whole)
		return grpc_make_call(gl, s);
	grpc_answer(gl, s, GRPC_END_STATUS, MRPC_UNIMPLEMENTED, "the request has no message");
	return 0;
}
