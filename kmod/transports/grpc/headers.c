// SPDX-License-Identifier: GPL-2.0
/*
 * Header blocks that go out.
 *
 * A block changes HPACK's table as it is written, so it must be sent. So its room is known before.
 */
#include <linux/ktime.h>
#include <linux/slab.h>

#include "core/link.h"
#include "core/rpc.h"
#include "lib/grpc/encoding.h"
#include "lib/grpc/request.h"
#include "lib/grpc/response.h"
#include "lib/message/wire.h"
#include "transports/grpc/headers.h"
#include "transports/grpc/link.h"
#include "transports/grpc/out.h"
#include "transports/grpc/stream.h"

/* What all fields of a block take at most, without the path, metadata and a status's detail. */
#define GRPC_BLOCK_BASE	1400

/**
 * struct grpc_block - a header block that is made
 * @table: HPACK's table
 * @to: where the next field goes; NULL: fields are only counted
 * @room: bytes there
 * @bytes: bytes that were written, or are needed
 * @list: size of the list of fields, as MAX_HEADER_LIST_SIZE counts it
 */
struct grpc_block {
	struct mrpc_hpack_table *table;
	u8 *to;
	u32 room;
	u32 bytes;
	u32 list;
};

/* Puts the fields of one kind of block. */
typedef int (*grpc_fields)(struct mrpc_grpc_out *out, const void *what);

static int grpc_fields_request(struct mrpc_grpc_out *out, const void *what)
{
	return mrpc_grpc_put_request(out, what);
}

static int grpc_fields_target(struct mrpc_grpc_out *out, const void *what)
{
	return mrpc_grpc_put_target(out, what);
}

static int grpc_fields_call(struct mrpc_grpc_out *out, const void *what)
{
	return mrpc_grpc_put_call(out, what);
}

static int grpc_fields_response(struct mrpc_grpc_out *out, const void *what)
{
	return mrpc_grpc_put_headers(out, what);
}

static int grpc_fields_trailers(struct mrpc_grpc_out *out, const void *what)
{
	return mrpc_grpc_put_trailers(out, what);
}

static int grpc_fields_alone(struct mrpc_grpc_out *out, const void *what)
{
	return mrpc_grpc_put_trailers_only(out, what);
}

static int grpc_fields_http(struct mrpc_grpc_out *out, const void *what)
{
	return mrpc_grpc_put_http(out, *(const u16 *)what);
}

static int grpc_block_put(void *ctx, const u8 *name, u32 nlen, const u8 *value, u32 vlen,
			  enum mrpc_grpc_mode mode)
{
	const struct mrpc_hpack_field field = {
		.name = name, .nlen = nlen, .value = value, .vlen = vlen,
		.mode = mode == MRPC_GRPC_INDEX ? MRPC_HPACK_INDEX :
			mode == MRPC_GRPC_NEVER ? MRPC_HPACK_NEVER : MRPC_HPACK_PLAIN,
	};
	struct grpc_block *b = ctx;
	int n;

	b->list += nlen + vlen + MRPC_HPACK_OVERHEAD;
	if (!b->to) {
		b->bytes += nlen + vlen + MRPC_HPACK_FIELD_ROOM;
		return 0;
	}
	n = mrpc_hpack_encode(b->table, &field, 1, b->to + b->bytes, b->room - b->bytes);
	if (n < 0)
		return n;
	b->bytes += n;
	return 0;
}

/* Has @fields put to @b. Return: 0 or an error. */
static int grpc_block_make(struct grpc_link *gl, struct grpc_block *b, grpc_fields fields,
			   const void *what)
{
	struct mrpc_grpc_out out = {
		.put = grpc_block_put,
		.ctx = b,
		.scratch = gl->out.work->scratch,
		.room = MRPC_GRPC_SCRATCH,
	};

	return fields(&out, what);
}

/*
 * Tells if a block can be put now. Return: 0; -EAGAIN: when the stage is empty; -EMSGSIZE: it is
 * too large for the stage or the peer. @path_len: bytes of a request's path.
 */
static int grpc_block_fits(struct grpc_link *gl, grpc_fields fields, const void *what,
			   u32 path_len, u32 meta_len, u32 detail_len)
{
	u32 bound = GRPC_BLOCK_BASE + path_len + 4 * meta_len + MRPC_GRPC_PERCENT_LEN(detail_len);
	u32 most = GRPC_STAGE - MRPC_H2_FRAME_HEADER - MRPC_HPACK_UPDATE_ROOM;
	u32 list = READ_ONCE(gl->h2.peer.max_header_list);
	struct grpc_block b = {};
	int err;

	if (bound > most || 2 * bound > list) {
		err = grpc_block_make(gl, &b, fields, what);
		if (err)
			return -EMSGSIZE;
		if (b.bytes > most || b.list > list)
			return -EMSGSIZE;
		bound = max_t(u32, b.bytes, GRPC_TEMPLATE);	/* a template is copied whole */
	}
	return bound + MRPC_H2_FRAME_HEADER + MRPC_HPACK_UPDATE_ROOM <= GRPC_STAGE - gl->out.len ?
	       0 : -EAGAIN;
}

/*
 * Puts the beginning of a block, which depends on @key alone, or the copy of it at @t. Return: 0 or
 * an error.
 */
static int grpc_block_again(struct grpc_link *gl, struct grpc_block *b, struct grpc_template *t,
			    u32 key, grpc_fields fields, const void *what)
{
	u64 generation = b->table->generation;
	int err;

	if (t->len && t->key == key && t->generation == generation) {
		memcpy(b->to, t->bytes, GRPC_TEMPLATE);	/* see grpc_block_fits() */
		b->bytes = t->len;
		return 0;
	}
	err = grpc_block_make(gl, b, fields, what);
	t->len = 0;
	if (err || b->table->generation != generation || b->bytes > GRPC_TEMPLATE)
		return err;
	t->generation = generation;
	t->key = key;
	t->len = b->bytes;
	memcpy(t->bytes, b->to, b->bytes);
	return 0;
}

/* Begins a block in the stage, where it fits. */
static void grpc_block_begin(struct grpc_link *gl, struct grpc_block *b)
{
	struct grpc_out *out = &gl->out;

	grpc_table_prepare(&out->table);
	*b = (struct grpc_block){
		.table = &out->table,
		.to = out->work->stage + out->len + MRPC_H2_FRAME_HEADER,
		.room = GRPC_STAGE - out->len - MRPC_H2_FRAME_HEADER,
	};
}

/* Ends a block in the stage. @end: it ends its direction of the stream. */
static void grpc_block_end(struct grpc_link *gl, const struct grpc_block *b, u32 id, bool end)
{
	struct grpc_out *out = &gl->out;

	mrpc_h2_put_frame(out->work->stage + out->len, b->bytes, MRPC_H2_HEADERS,
			  MRPC_H2_FLAG_END_HEADERS | (end ? MRPC_H2_FLAG_END_STREAM : 0), id);
	out->len += MRPC_H2_FRAME_HEADER + b->bytes;
}

/**
 * grpc_table_prepare() - give a table of HPACK its memory, with the first header block
 * @t: the table
 *
 * Without memory an encoder adds nothing to its table. A decoder cannot go on.
 *
 * Context: process; may sleep. Return: 0 or -ENOMEM.
 */
int grpc_table_prepare(struct mrpc_hpack_table *t)
{
	u8 *ring;

	if (likely(t->ring))
		return 0;
	ring = kmalloc(MRPC_HPACK_TABLE_SIZE, GFP_KERNEL_ACCOUNT);
	if (!ring)
		return -ENOMEM;
	mrpc_hpack_table_give(t, ring);
	return 0;
}

static const u8 *grpc_rpc_meta(const struct mrpc_rpc *rpc)
{
	return rpc->data + sizeof(struct mrpc_wire_hdr);
}

/* Returns the time until the deadline, us; 0: there is none. */
static u64 grpc_rpc_remaining(const struct mrpc_rpc *rpc)
{
	u64 now;

	if (!rpc->deadline)
		return 0;
	now = ktime_get_ns();
	return now < rpc->deadline ? max_t(u64, (rpc->deadline - now) / NSEC_PER_USEC, 1) : 1;
}

/* What a call's header block says. */
static void grpc_describe_call(struct grpc_link *gl, const struct grpc_stream *s,
			       const struct mrpc_rpc *rpc, struct mrpc_grpc_call *call)
{
	const struct mrpc_schema_plan *plan = mrpc_link_service(gl->link, s->method >> 16);
	struct grpc_out_work *work = gl->out.work;

	if (unlikely(!work->authority_len))
		work->authority_len = scnprintf(work->authority, GRPC_AUTHORITY, "%pISpc",
						&gl->link->peer);
	*call = (struct mrpc_grpc_call){
		.https = gl->tls.link,
		.authority = work->authority,
		.authority_len = work->authority_len,
		.timeout_us = grpc_rpc_remaining(rpc),
		.encoding = s->gzip ? MRPC_GRPC_GZIP : MRPC_GRPC_IDENTITY,
		.accept = MRPC_GRPC_ACCEPT_ALL,
		.meta = grpc_rpc_meta(rpc),
		.meta_len = rpc->frame.meta_len,
	};
	call->path.service = mrpc_schema_service(plan);
	call->path.service_len = strlen(call->path.service);
	call->path.method = plan->names + plan->methods[s->method & 0xffff].name;
	call->path.method_len = strlen(call->path.method);
}

/* Puts the header block of a call to the stage, where it fits. As grpc_put_request(). */
static int grpc_stage_request(struct grpc_link *gl, const struct grpc_stream *s,
			      const struct mrpc_grpc_call *call)
{
	struct grpc_template *t = &gl->out.work->calls[s->method % GRPC_TEMPLATES];
	struct grpc_block b;

	grpc_block_begin(gl, &b);
	if (grpc_block_again(gl, &b, t, s->method, grpc_fields_target, call))
		return -EPROTO;
	if ((call->timeout_us || call->encoding || call->meta_len) &&
	    grpc_block_make(gl, &b, grpc_fields_call, call))
		return -EPROTO;
	grpc_block_end(gl, &b, s->h2.id, false);
	return 0;
}

/**
 * grpc_put_request() - open a client's stream, and put its header block
 * @gl: the link; the caller owns the transmit claim
 * @s: the stream
 * @rpc: its call
 *
 * Context: process; may sleep.
 * Return: 0; -EAGAIN: there is no room in the stage; -EBUSY: the peer allows no more streams now;
 * -ESHUTDOWN: it will not allow any; -EMSGSIZE: the metadata is too large; -EPROTO: the connection
 * must end.
 */
int grpc_put_request(struct grpc_link *gl, struct grpc_stream *s, const struct mrpc_rpc *rpc)
{
	struct mrpc_grpc_call call;
	int err;

	s->gzip = grpc_stream_out(s)->sqe_flags & MRPC_SQE_COMPRESS;
	grpc_describe_call(gl, s, rpc, &call);
	err = grpc_block_fits(gl, grpc_fields_request, &call,
			      2 + call.path.service_len + call.path.method_len, call.meta_len, 0);
	if (err)
		return err;
	spin_lock(&gl->lock);
	err = mrpc_h2_open(&gl->h2, &s->h2, false);
	if (!err)
		grpc_stream_get(s);
	else
		gl->blocked = true;
	spin_unlock(&gl->lock);
	if (err)
		return err == -EAGAIN ? -EBUSY : -ESHUTDOWN;
	return grpc_stage_request(gl, s, &call);
}

/**
 * grpc_put_response() - put the header block before a server's messages
 * @gl: the link; the caller owns the transmit claim
 * @s: the stream
 * @rpc: the first message, with the initial metadata; or the REPLY: its metadata are trailers
 *
 * Return: 0; -EAGAIN: there is no room in the stage; -EMSGSIZE: the metadata is too large; -EPROTO:
 * the connection must end.
 */
int grpc_put_response(struct grpc_link *gl, struct grpc_stream *s, const struct mrpc_rpc *rpc)
{
	struct mrpc_grpc_reply reply = {};
	struct grpc_block b;
	int err;

	/* A stream decides message by message, after these headers. */
	s->gzip = s->accept & MRPC_GRPC_ACCEPT_GZIP &&
		  (rpc->frame.type == MRPC_WIRE_MESSAGE ||
		   grpc_stream_out(s)->sqe_flags & MRPC_SQE_COMPRESS);
	if (s->gzip)
		reply.encoding = MRPC_GRPC_GZIP;
	if (rpc->frame.type == MRPC_WIRE_MESSAGE) {
		reply.meta = grpc_rpc_meta(rpc);
		reply.meta_len = s->no_meta ? 0 : rpc->frame.meta_len;
	}
	err = grpc_block_fits(gl, grpc_fields_response, &reply, 0, reply.meta_len, 0);
	if (err)
		return err;
	grpc_block_begin(gl, &b);
	if (reply.meta_len || reply.encoding)
		err = grpc_block_make(gl, &b, grpc_fields_response, &reply);
	else
		err = grpc_block_again(gl, &b, &gl->out.work->response, 0, grpc_fields_response,
				       &reply);
	if (err)
		return -EPROTO;
	grpc_block_end(gl, &b, s->h2.id, false);
	return 0;
}

/* What the last block of a stream says: the reply of the application, or our answer. */
static void grpc_describe_end(const struct grpc_stream *s, const struct mrpc_rpc *rpc,
			      struct mrpc_grpc_reply *reply)
{
	if (!rpc) {
		*reply = (struct mrpc_grpc_reply){
			.status = s->end.status,
			.detail = (const u8 *)s->end.text,
			.detail_len = s->end.text_len,
			.accept = s->encoding == MRPC_GRPC_ENCODING_UNKNOWN ?
				  MRPC_GRPC_ACCEPT_ALL : 0,
		};
		return;
	}
	*reply = (struct mrpc_grpc_reply){
		.status = rpc->frame.status,
		.meta = grpc_rpc_meta(rpc),
		.meta_len = rpc->frame.meta_len,
		.detail = grpc_rpc_meta(rpc) + ALIGN(rpc->frame.meta_len, 8),
		.detail_len = rpc->frame.detail_len,
	};
}

/**
 * grpc_put_end() - put the last header block of a server's stream
 * @gl: the link; the caller owns the transmit claim
 * @s: the stream
 * @rpc: the REPLY; NULL: the stream's own answer
 *
 * A block that is too large for the client is replaced by one that says so.
 *
 * Return: 0; -EAGAIN: there is no room in the stage; -EPROTO: the connection must end.
 */
int grpc_put_end(struct grpc_link *gl, struct grpc_stream *s, const struct mrpc_rpc *rpc)
{
	static const char large[] = "the metadata of the reply is larger than the client takes";
	grpc_fields fields = s->headed ? grpc_fields_trailers : grpc_fields_alone;
	struct mrpc_grpc_reply reply;
	const void *what = &reply;
	struct grpc_block b;
	int err;

	grpc_describe_end(s, rpc, &reply);
	if (!rpc && s->end.how == GRPC_END_HTTP) {
		fields = grpc_fields_http;
		what = &s->end.status;
	}
	err = grpc_block_fits(gl, fields, what, 0, reply.meta_len, reply.detail_len);
	if (err == -EMSGSIZE) {
		reply = (struct mrpc_grpc_reply){
			.status = MRPC_RESOURCE_EXHAUSTED,
			.detail = (const u8 *)large,
			.detail_len = sizeof(large) - 1,
		};
		err = grpc_block_fits(gl, fields, what, 0, 0, reply.detail_len);
	}
	if (err)
		return err == -EMSGSIZE ? -EPROTO : err;
	grpc_block_begin(gl, &b);
	if (fields != grpc_fields_trailers || reply.meta_len || reply.detail_len)
		err = grpc_block_make(gl, &b, fields, what);
	else
		err = grpc_block_again(gl, &b, &gl->out.work->trailers, reply.status, fields, what);
	if (err)
		return -EPROTO;
	grpc_block_end(gl, &b, s->h2.id, true);
	return 0;
}
