// SPDX-License-Identifier: GPL-2.0
/* Messages on their way out as gRPC has them: made, and sent in pieces. */
#include <linux/slab.h>
#include <linux/uio.h>

#include "core/heap.h"
#include "core/rpc.h"
#include "lib/grpc/prefix.h"
#include "lib/message/segs.h"
#include "lib/message/wire.h"
#include "transports/grpc/payload.h"

/* Where the byte section of a message is that was copied whole. */
static const u8 *grpc_rpc_bytes(const struct mrpc_rpc *rpc)
{
	return rpc->data + sizeof(struct mrpc_wire_hdr) + mrpc_frame_head(&rpc->frame);
}

/* Describes a message for the encoder. @x and @src: memory for it, if its blocks are in a heap. */
static int grpc_rpc_input(const struct mrpc_rpc *rpc, struct mrpc_pb_input *in,
			  struct mrpc_seg_index *x, struct mrpc_msg_src *src)
{
	in->len = rpc->frame.msg;
	in->head = rpc->data + sizeof(struct mrpc_wire_hdr) + mrpc_frame_prefix(&rpc->frame);
	if (!rpc->heap) {
		in->bytes = grpc_rpc_bytes(rpc);
		return 0;
	}
	in->bytes = NULL;
	*src = (struct mrpc_msg_src){ .at = mrpc_heap_at, .ctx = rpc->heap };
	x->segs = rpc->buf.segs;
	x->nr_marks = mrpc_seg_marks(rpc->buf.nr_segs);
	x->marks = NULL;
	if (x->nr_marks) {
		x->marks = kvmalloc_array(x->nr_marks, sizeof(*x->marks), GFP_KERNEL_ACCOUNT);
		if (!x->marks)
			return -ENOMEM;
		mrpc_seg_index(x);
	}
	in->segs = x;
	in->src = src;
	return 0;
}

/* Allocates what @size says, and writes the message there. */
static int grpc_payload_encode(struct grpc_payload *p, const struct mrpc_pb_input *in,
			       struct mrpc_pb_levels *levels, const struct mrpc_pb_size *size)
{
	p->buf_len = MRPC_GRPC_PREFIX + size->buf_len;
	p->total = MRPC_GRPC_PREFIX + size->total;
	p->nr_cuts = size->nr_cuts;
	p->buf = kvmalloc(p->buf_len, GFP_KERNEL_ACCOUNT);
	if (p->nr_cuts)
		p->cuts = kvmalloc_array(p->nr_cuts, sizeof(*p->cuts), GFP_KERNEL_ACCOUNT);
	if (!p->buf || (p->nr_cuts && !p->cuts))
		return -ENOMEM;
	mrpc_grpc_prefix_write(p->buf, false, size->total);
	return mrpc_pb_encode(in, levels, size, p->buf + MRPC_GRPC_PREFIX, p->cuts);
}

static int grpc_payload_try(struct grpc_payload *p, struct mrpc_rpc *rpc,
			    struct mrpc_pb_input *in, struct mrpc_pb_levels *levels)
{
	struct mrpc_seg_index x = {};
	struct mrpc_pb_size size;
	struct mrpc_msg_src src;
	int err;

	err = grpc_rpc_input(rpc, in, &x, &src) ?: mrpc_pb_size(in, levels, S32_MAX, &size) ?:
	      grpc_payload_encode(p, in, levels, &size);
	kvfree(x.marks);
	return err;
}

/**
 * grpc_payload_make() - encode a message
 * @p: empty
 * @rpc: the message. It and its blocks stay as long as @p
 * @plan: its schema
 * @type: index of its type
 *
 * Context: owner of the transmit claim; may sleep.
 * Return: 0; -ENOMEM; -EMSGSIZE: too large for protobuf, or to be copied; -EINVAL: its blocks have
 * changed. After a failure @p must be freed.
 */
int grpc_payload_make(struct grpc_payload *p, struct mrpc_rpc *rpc,
		      const struct mrpc_schema_plan *plan, u32 type)
{
	struct mrpc_pb_levels *levels = kmalloc(sizeof(*levels), GFP_KERNEL);
	struct mrpc_pb_input in = { .plan = plan, .type = type };
	int err;

	if (!levels)
		return -ENOMEM;
	p->rpc = rpc;
	err = grpc_payload_try(p, rpc, &in, levels);
	if (err == -ENODATA)	/* it has numbers of variable length in a heap */
		err = mrpc_rpc_own_bytes(rpc) ?: grpc_payload_try(p, rpc, &in, levels);
	kfree(levels);
	return err;
}

/**
 * grpc_payload_free() - free what was encoded
 * @p: a payload, or zeroes; zeroes afterwards
 */
void grpc_payload_free(struct grpc_payload *p)
{
	kvfree(p->buf);
	kvfree(p->cuts);
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
