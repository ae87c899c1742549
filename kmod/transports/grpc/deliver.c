// SPDX-License-Identifier: GPL-2.0
/*
 * Messages that have come over a link of gRPC, on their way to the sink.
 *
 * The decoder makes a scattered message. The snapshot makes its canonical form, as it does for a
 * message of an application, and the sink verifies that as it does for a message from a wire. So a
 * fault of the decoder cannot put a wrong reference into a receive heap.
 */
#include <linux/slab.h>

#include "call/pour.h"
#include "call/receive.h"
#include "core/link.h"
#include "core/receive.h"
#include "transports/grpc/compress.h"
#include "transports/grpc/deliver.h"
#include "transports/grpc/link.h"
#include "transports/grpc/receive.h"
#include "transports/grpc/stream.h"

#define GRPC_WHOLE	4096	/* a message up to so many bytes is copied with its blocks */
#define GRPC_INFLATED_PER_COST	65536	/* inflated bytes that are for nothing and cost 1 */

/* Frees memory of a delivery that is not the link's. */
static void grpc_delivery_free(const struct grpc_work *work, void *mem)
{
	if (work && (mem == work->arena || mem == work->head))
		return;
	kvfree(mem);
}

static struct grpc_work *grpc_delivery_work(struct grpc_delivery *d)
{
	return container_of(d, struct grpc_link, in.delivery)->in.work;
}

/* Return: memory of at least @need bytes with the @have bytes at @old, which is freed; or NULL. */
static void *grpc_grow(struct grpc_delivery *d, void *old, u32 have, u32 need, u32 *cap)
{
	u32 size = max_t(u32, roundup_pow_of_two(need), 512);
	void *mem = kvmalloc(size, GFP_KERNEL_ACCOUNT);

	if (!mem)
		return NULL;
	if (have)
		memcpy(mem, old, have);
	grpc_delivery_free(grpc_delivery_work(d), old);
	*cap = size;
	return mem;
}

static int grpc_grow_arena(struct mrpc_pb_message *pb, u32 need)
{
	struct grpc_delivery *d = container_of(pb, struct grpc_delivery, pb);
	u8 *arena = grpc_grow(d, pb->arena, pb->arena_len, need, &pb->arena_cap);

	if (!arena)
		return -ENOMEM;
	pb->arena = arena;
	return 0;
}

static int grpc_grow_head(struct mrpc_msg_buf *buf, u32 need)
{
	struct grpc_delivery *d = container_of(buf, struct grpc_delivery, buf);
	u8 *base = grpc_grow(d, d->base, d->head + buf->head_cap, d->head + need, &d->cap);

	if (!base)
		return -ENOMEM;
	d->base = base;
	buf->head = base + d->head;
	buf->head_cap = d->cap - d->head;
	return 0;
}

static int grpc_grow_segs(struct mrpc_msg_buf *buf, u32 need)
{
	u32 bytes, old = buf->segs_cap * sizeof(*buf->segs);
	struct grpc_delivery *d = container_of(buf, struct grpc_delivery, buf);
	struct mrpc_msg_seg *segs;

	if (need > U32_MAX / 2 / sizeof(*segs))
		return -ENOMEM;
	segs = grpc_grow(d, buf->segs, old, need * sizeof(*segs), &bytes);
	if (!segs)
		return -ENOMEM;
	buf->segs = segs;
	buf->segs_cap = bytes / sizeof(*segs);
	return 0;
}

/**
 * grpc_delivery_end() - the sink has it, or will not get it
 * @d: the delivery; empty afterwards
 *
 * Context: process; may sleep.
 */
void grpc_delivery_end(struct grpc_delivery *d)
{
	struct grpc_work *work = grpc_delivery_work(d);

	grpc_delivery_free(work, d->base);
	grpc_delivery_free(work, d->pb.arena);
	if (d->buf.segs)
		kvfree(d->buf.segs);
	if (d->stream)
		grpc_stream_put(d->stream);
	memset(d, 0, sizeof(*d));
}

/**
 * grpc_delivery_begin() - make a frame for the sink, without its message
 * @gl: the link, which has none; the caller owns the receive claim
 * @frame: the frame
 * @s: the stream of its message, or NULL
 * @meta: the frame's metadata
 * @detail: its detail
 *
 * Return: 0 or -ENOMEM.
 */
int grpc_delivery_begin(struct grpc_link *gl, const struct mrpc_frame *frame,
			struct grpc_stream *s, const u8 *meta, const u8 *detail)
{
	struct grpc_delivery *d = &gl->in.delivery;

	d->frame = *frame;
	d->head = sizeof(struct mrpc_wire_hdr) + mrpc_frame_prefix(frame);
	d->cap = d->head + (s ? min_t(u32, 2 * s->want + 192, GRPC_WHOLE) : 0);
	if (d->cap <= GRPC_HEAD) {
		d->cap = GRPC_HEAD;
		d->base = gl->in.work->head;
	} else {
		d->base = kvmalloc(d->cap, GFP_KERNEL_ACCOUNT);
		if (!d->base)
			return -ENOMEM;
	}
	memset(d->base, 0, d->head);
	if (frame->meta_len)
		memcpy(d->base + sizeof(struct mrpc_wire_hdr), meta, frame->meta_len);
	if (frame->detail_len)
		memcpy(d->base + sizeof(struct mrpc_wire_hdr) + ALIGN(frame->meta_len, 8), detail,
		       frame->detail_len);
	mrpc_frame_seal(&d->frame);
	if (s)
		grpc_stream_get(s);
	d->stream = s;
	d->active = true;
	return 0;
}

static int grpc_decode(struct grpc_delivery *d, struct mrpc_pb_scratch *scratch,
		       const struct mrpc_schema_plan *plan, u32 type, struct mrpc_msg_error *me)
{
	struct mrpc_msg_src src;
	int err;

	err = mrpc_pb_decode(&d->pb, scratch, plan, type, me);
	if (err)
		return err;
	mrpc_pb_source(&d->pb, &src);
	return mrpc_msg_snapshot(plan, type, &src, 0, &d->buf, me);
}

/*
 * Inflates the message of a stream, if it is compressed. @made: out: the bytes that it has become,
 * 0 if it is not. Return: as grpc_delivery_decode().
 */
static int grpc_delivery_inflate(struct grpc_link *gl, struct grpc_stream *s, u32 *made, char *why,
				 size_t size)
{
	u32 max = gl->link->max_message;
	int err;

	*made = 0;
	if (!s->compressed)
		return 0;
	err = grpc_inflate(gl, s, made);
	if (err == -EBADMSG)
		snprintf(why, size, "the message is not %s, as grpc-encoding says",
			 s->encoding == MRPC_GRPC_GZIP ? "gzip" : "deflate");
	else if (err == -EMSGSIZE)
		snprintf(why, size, "the message inflates to more than %u bytes", max);
	else if (err)
		strscpy(why, "no memory to inflate the message", size);
	return err == -EBADMSG ? -EINVAL : err;
}

/*
 * Makes the peer pay for a compressed message that was inflated to @made bytes: for those that do not
 * get to the application. All are lost if it is refused, but not for want of memory.
 */
static void grpc_charge_inflated(struct grpc_link *gl, u32 made, int refused)
{
	const struct mrpc_frame *f = &gl->in.delivery.frame;
	u32 useful = refused ? 0 : min_t(u64, mrpc_msg_total(&f->msg), made), cost;
	int err;

	if (refused == -ENOMEM)
		return;
	cost = (made - useful) / GRPC_INFLATED_PER_COST + (refused ? MRPC_H2_COST_RESET : 0);
	if (!cost)
		return;
	spin_lock(&gl->lock);
	err = mrpc_h2_charge(&gl->h2, cost, gl->in.now);
	spin_unlock(&gl->lock);
	if (err)
		grpc_failed(gl);
}

/**
 * grpc_delivery_decode() - add the message of its stream to a frame
 * @gl: the link; the caller owns the receive claim
 * @plan: the schema
 * @type: index of the message's type
 * @why: out: a sentence, if the message cannot be accepted
 * @size: bytes at @why
 *
 * Context: process; may sleep.
 * Return: 0; -EINVAL: it is malformed; -EMSGSIZE: it is too large; -ENOMEM.
 */
int grpc_delivery_decode(struct grpc_link *gl, const struct mrpc_schema_plan *plan, u32 type,
			 char *why, size_t size)
{
	struct grpc_delivery *d = &gl->in.delivery;
	struct grpc_stream *s = d->stream;
	u32 max = gl->link->max_message;
	struct mrpc_msg_error me = {};
	u32 made;
	int err;

	err = grpc_delivery_inflate(gl, s, &made, why, size);
	if (err) {
		grpc_charge_inflated(gl, made, err);
		return err;
	}
	d->pb.in = s->msg;
	d->pb.in_len = s->want;
	d->pb.arena = gl->in.work->arena;
	d->pb.arena_cap = GRPC_ARENA;
	d->pb.arena_max = min_t(u32, max, MRPC_MAX_HEAD);
	d->pb.grow = grpc_grow_arena;
	d->buf.head = d->base + d->head;
	d->buf.head_cap = d->cap - d->head;
	d->buf.max_total = max;
	d->buf.max_whole = GRPC_WHOLE;
	d->buf.grow_head = grpc_grow_head;
	d->buf.grow_segs = grpc_grow_segs;
	err = grpc_decode(d, &gl->in.work->scratch, plan, type, &me);
	if (!err)
		d->frame.msg = d->buf.len;
	if (s->compressed)
		grpc_charge_inflated(gl, made, err);
	if (!err) {
		d->frame.flags |= MRPC_WIRE_MSG | (s->compressed ? MRPC_FRAME_COMPRESSED : 0);
		mrpc_frame_seal(&d->frame);
		return 0;
	}
	if (err == -EINVAL)
		mrpc_msg_explain(plan, &me, why, size);
	else if (err == -ENOMEM)
		strscpy(why, "no memory for the message", size);
	else
		snprintf(why, size, "the message is larger than %u bytes in mrpc's form", max);
	return err == -EFBIG ? -EMSGSIZE : err;
}

/* Copies the byte section to the sink's place. */
static void grpc_pour(struct grpc_link *gl)
{
	struct mrpc_sink *sink = &gl->link->receive->sink;
	struct grpc_delivery *d = &gl->in.delivery;

	if (d->buf.nr_segs)
		mrpc_sink_pour_segs(sink, d->buf.segs, d->buf.nr_segs, mrpc_pb_at, &d->pb);
	else
		mrpc_sink_pour(sink, d->base + d->head + d->frame.head_len);
}

/**
 * grpc_deliver() - give the sink what waits for it, and end that
 * @gl: the link, which has a delivery; the caller owns the receive claim
 *
 * Context: process; may sleep.
 * Return: 0; -EAGAIN: after the next kick; else the connection must end.
 */
int grpc_deliver(struct grpc_link *gl)
{
	struct grpc_delivery *d = &gl->in.delivery;
	struct grpc_stream *s;
	int err;

	err = mrpc_sink_head(gl->link, &d->frame, d->base + sizeof(struct mrpc_wire_hdr));
	if (err == -EAGAIN)
		return err;
	if (!err) {
		grpc_pour(gl);
		mrpc_sink_done(gl->link);
	}
	s = d->stream;
	d->stream = NULL;
	grpc_delivery_end(d);
	if (s) {
		grpc_assembly_end(gl, s);
		grpc_stream_put(s);
	}
	return err;
}
