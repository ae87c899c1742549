// SPDX-License-Identifier: GPL-2.0
/* Messages on their way out as gRPC has them: made, and sent in pieces. */
#include <linux/slab.h>
#include <linux/uio.h>

#include "core/heap.h"
#include "core/rpc.h"
#include "lib/grpc/prefix.h"
#include "lib/message/wire.h"
#include "transports/grpc/payload.h"

/* Where the byte section of a message is that was copied whole. */
static const u8 *grpc_rpc_bytes(const struct mrpc_rpc *rpc)
{
	return rpc->data + sizeof(struct mrpc_wire_hdr) + mrpc_frame_head(&rpc->frame);
}

/* Describes the message for the encoder, unless its blocks were copied. Return: 0 or -ENOMEM. */
static int grpc_encoder_segs(struct grpc_encoder *e)
{
	const struct mrpc_rpc *rpc = e->rpc;
	struct mrpc_seg_index *x = &e->index;

	e->src = (struct mrpc_msg_src){ .at = mrpc_heap_at, .ctx = rpc->heap };
	x->segs = rpc->buf.segs;
	x->nr_marks = mrpc_seg_marks(rpc->buf.nr_segs);
	if (x->nr_marks) {
		x->marks = kvmalloc_array(x->nr_marks, sizeof(*x->marks), GFP_KERNEL_ACCOUNT);
		if (!x->marks)
			return -ENOMEM;
		mrpc_seg_index(x);
	}
	e->in.bytes = NULL;
	e->in.segs = x;
	e->in.src = &e->src;
	return 0;
}

/* Describes the message for the encoder, as it is now. Return: 0 or -ENOMEM. */
static int grpc_encoder_describe(struct grpc_encoder *e)
{
	const struct mrpc_rpc *rpc = e->rpc;

	e->in.len = rpc->frame.msg;
	e->in.head = rpc->data + sizeof(struct mrpc_wire_hdr) + mrpc_frame_prefix(&rpc->frame);
	if (rpc->heap)
		return grpc_encoder_segs(e);
	e->in.bytes = grpc_rpc_bytes(rpc);
	return 0;
}

/**
 * grpc_encoder_begin() - begin to encode a message
 * @e: the encoder; for grpc_encoder_end() in any case
 * @rpc: the message
 * @plan: its schema
 * @type: index of its type
 *
 * Context: owner of the transmit claim; may sleep. Return: 0 or -ENOMEM.
 */
int grpc_encoder_begin(struct grpc_encoder *e, struct mrpc_rpc *rpc,
		       const struct mrpc_schema_plan *plan, u32 type)
{
	e->rpc = rpc;
	e->in.plan = plan;
	e->in.type = type;
	e->index.marks = NULL;
	return grpc_encoder_describe(e);
}

/**
 * grpc_encoder_measure() - measure the message
 * @e: a message
 *
 * Context: owner of the transmit claim; may sleep.
 * Return: 0; -ENOMEM; -EMSGSIZE: too large for protobuf, or to be copied; -EINVAL: its blocks have
 * changed.
 */
int grpc_encoder_measure(struct grpc_encoder *e)
{
	int err = mrpc_pb_size(&e->in, &e->levels, S32_MAX, &e->size);

	if (err != -ENODATA)
		return err;
	/* It has numbers of variable length in a heap. */
	grpc_encoder_end(e);
	return mrpc_rpc_own_bytes(e->rpc) ?: grpc_encoder_describe(e) ?:
	       mrpc_pb_size(&e->in, &e->levels, S32_MAX, &e->size);
}

/**
 * grpc_encoder_write() - write a small message, with its prefix
 * @e: a message
 * @to: where to
 * @room: bytes there
 *
 * Return: bytes; or a negative errno: it must be measured.
 */
int grpc_encoder_write(struct grpc_encoder *e, u8 *to, u32 room)
{
	int len = mrpc_pb_encode_small(&e->in, &e->levels, to + MRPC_GRPC_PREFIX,
				       room - MRPC_GRPC_PREFIX);

	if (len < 0)
		return len;
	mrpc_grpc_prefix_write(to, false, len);
	memmove(to + MRPC_GRPC_PREFIX, to + room - len, len);
	return MRPC_GRPC_PREFIX + len;
}

/** grpc_encoder_end() - free what the encoder has allocated */
void grpc_encoder_end(struct grpc_encoder *e)
{
	if (likely(!e->index.marks))
		return;
	kvfree(e->index.marks);
	e->index.marks = NULL;
}

/**
 * grpc_payload_make() - encode a message
 * @p: empty
 * @e: the message, which was measured. It and its blocks stay as long as @p
 *
 * Context: owner of the transmit claim; may sleep.
 * Return: 0; -ENOMEM; -EINVAL: its blocks have changed. After a failure @p must be freed.
 */
int grpc_payload_make(struct grpc_payload *p, struct grpc_encoder *e)
{
	p->rpc = e->rpc;
	p->buf_len = MRPC_GRPC_PREFIX + e->size.buf_len;
	p->total = MRPC_GRPC_PREFIX + e->size.total;
	p->nr_cuts = e->size.nr_cuts;
	p->buf = kvmalloc(p->buf_len, GFP_KERNEL_ACCOUNT);
	if (p->nr_cuts)
		p->cuts = kvmalloc_array(p->nr_cuts, sizeof(*p->cuts), GFP_KERNEL_ACCOUNT);
	if (!p->buf || (p->nr_cuts && !p->cuts))
		return -ENOMEM;
	mrpc_grpc_prefix_write(p->buf, false, e->size.total);
	return mrpc_pb_encode(&e->in, &e->levels, &e->size, p->buf + MRPC_GRPC_PREFIX, p->cuts);
}

/**
 * grpc_payload_free() - free what was encoded
 * @p: a payload, or zeroes; zeroes afterwards
 */
void grpc_payload_free(struct grpc_payload *p)
{
	if (!p->rpc)
		return;
	if (p->buf) {
		kvfree(p->buf);
		kvfree(p->cuts);
	}
	memset(p, 0, sizeof(*p));
}

/* Address of a block that is not in the buffer. */
static const void *grpc_cut_at(const struct grpc_payload *p, const struct mrpc_pb_cut *cut)
{
	const struct mrpc_rpc *rpc = p->rpc;

	if (!rpc->heap)
		return grpc_rpc_bytes(rpc) + cut->off - mrpc_msg_head_len(&rpc->frame.msg);
	return mrpc_heap_at(rpc->heap, rpc->buf.segs[cut->seg].src, cut->len);
}

/**
 * grpc_payload_vector() - describe the next bytes
 * @p: the payload
 * @most: how many at most
 * @kv: where to
 * @room: entries of @kv
 * @bytes: out: bytes that are described
 *
 * Return: entries.
 */
u32 grpc_payload_vector(const struct grpc_payload *p, u32 most, struct kvec *kv, u32 room,
			u32 *bytes)
{
	u32 at = p->at, cut = p->cut, cut_done = p->cut_done, nr = 0, n;

	*bytes = 0;
	while (nr < room && *bytes < most) {
		u32 next = cut < p->nr_cuts ? MRPC_GRPC_PREFIX + p->cuts[cut].at : p->buf_len;

		if (at < next) {
			n = min(next - at, most - *bytes);
			kv[nr].iov_base = p->buf + at;
			at += n;
		} else if (cut < p->nr_cuts) {
			n = min(p->cuts[cut].len - cut_done, most - *bytes);
			kv[nr].iov_base = (u8 *)grpc_cut_at(p, &p->cuts[cut]) + cut_done;
			cut_done += n;
			if (cut_done == p->cuts[cut].len) {
				cut++;
				cut_done = 0;
			}
		} else {
			break;
		}
		kv[nr++].iov_len = n;
		*bytes += n;
	}
	return nr;
}

/**
 * grpc_payload_advance() - the next bytes are sent
 * @p: the payload
 * @n: how many
 */
void grpc_payload_advance(struct grpc_payload *p, u32 n)
{
	p->done += n;
	while (n) {
		u32 next = p->cut < p->nr_cuts ? MRPC_GRPC_PREFIX + p->cuts[p->cut].at : p->buf_len;
		u32 k;

		if (p->at < next) {
			k = min(next - p->at, n);
			p->at += k;
		} else {
			k = min(p->cuts[p->cut].len - p->cut_done, n);
			p->cut_done += k;
			if (p->cut_done == p->cuts[p->cut].len) {
				p->cut++;
				p->cut_done = 0;
			}
		}
		n -= k;
	}
}
