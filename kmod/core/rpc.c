// SPDX-License-Identifier: GPL-2.0
/*
 * Rpcs: building one from an application's message, and freeing it.
 */
#include <linux/crc32c.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "core/globals.h"
#include "core/heap.h"
#include "core/large.h"
#include "core/memcopy.h"
#include "core/rpc.h"
#include "core/session.h"
#include "core/user.h"
#include "lib/message/message.h"
#include "lib/message/wire.h"

#define MRPC_HDR_LEN	sizeof(struct mrpc_wire_hdr)

static struct mrpc_user *mrpc_rpc_user(const struct mrpc_rpc *rpc)
{
	return rpc->call->session->user;
}

static u64 mrpc_rpc_data_charged(const struct mrpc_rpc *rpc)
{
	return rpc->data == rpc->inl ? 0 : rpc->data_cap;
}

static u64 mrpc_rpc_segs_charged(const struct mrpc_rpc *rpc)
{
	return rpc->buf.segs == rpc->segs ? 0 : (u64)rpc->buf.segs_cap * sizeof(rpc->segs[0]);
}

/* Allocates memory in place of @old bytes. Those in the object itself do not count as @old. */
static void *mrpc_rpc_alloc(const struct mrpc_rpc *rpc, u64 bytes, u64 old)
{
	void *mem;
	int err;

	err = mrpc_user_charge_memory(rpc->call->session, bytes);
	if (err)
		return ERR_PTR(err);
	mem = mrpc_large_alloc(bytes);
	mrpc_user_uncharge_memory(mrpc_rpc_user(rpc), mem ? old : bytes);
	return mem ?: ERR_PTR(-ENOMEM);
}

static int mrpc_rpc_grow(struct mrpc_rpc *rpc, u64 need)
{
	u32 cap;
	u8 *data;

	if (need <= rpc->data_cap)
		return 0;
	if (need > MRPC_MAX_MESSAGE)
		return -EMSGSIZE;
	cap = max_t(u64, need, min_t(u64, 2ULL * rpc->data_cap, MRPC_MAX_MESSAGE));
	data = mrpc_rpc_alloc(rpc, cap, mrpc_rpc_data_charged(rpc));
	if (IS_ERR(data))
		return PTR_ERR(data);
	memcpy(data, rpc->data, rpc->data_cap);
	if (rpc->data != rpc->inl)
		kvfree(rpc->data);
	if (rpc->buf.head)
		rpc->buf.head = data + (rpc->buf.head - rpc->data);
	rpc->data = data;
	rpc->data_cap = cap;
	return 0;
}

static int mrpc_grow_head(struct mrpc_msg_buf *buf, u32 need)
{
	struct mrpc_rpc *rpc = container_of(buf, struct mrpc_rpc, buf);
	u32 start = buf->head - rpc->data;
	int err = mrpc_rpc_grow(rpc, (u64)start + need);

	if (!err)
		buf->head_cap = rpc->data_cap - start;
	return err;
}

static int mrpc_grow_segs(struct mrpc_msg_buf *buf, u32 need)
{
	struct mrpc_rpc *rpc = container_of(buf, struct mrpc_rpc, buf);
	u32 cap = max(need, 2 * buf->segs_cap);
	struct mrpc_msg_seg *segs;

	segs = mrpc_rpc_alloc(rpc, (u64)cap * sizeof(*segs), mrpc_rpc_segs_charged(rpc));
	if (IS_ERR(segs))
		return PTR_ERR(segs);
	memcpy(segs, buf->segs, buf->nr_segs * sizeof(*segs));
	if (buf->segs != rpc->segs)
		kvfree(buf->segs);
	buf->segs = segs;
	buf->segs_cap = cap;
	return 0;
}

void mrpc_rpc_setup(struct mrpc_rpc *rpc)
{
	rpc->dir = MRPC_TX;
	rpc->have_bytes = true;
	rpc->data = rpc->inl;
	rpc->data_cap = sizeof(rpc->inl);
	rpc->data_len = MRPC_HDR_LEN;
	rpc->buf.segs = rpc->segs;
	rpc->buf.segs_cap = MRPC_RPC_SEGS;
	rpc->buf.grow_head = mrpc_grow_head;
	rpc->buf.grow_segs = mrpc_grow_segs;
}

/**
 * mrpc_rpc_put_prefix() - mrpc_rpc_prefix() for a prefix that is not empty
 * @rpc: see mrpc_rpc_prefix()
 * @meta_len: see mrpc_rpc_prefix()
 * @detail_len: see mrpc_rpc_prefix()
 *
 * Return: see mrpc_rpc_prefix().
 */
int mrpc_rpc_put_prefix(struct mrpc_rpc *rpc, u32 meta_len, u32 detail_len)
{
	u32 meta_end = MRPC_HDR_LEN + ALIGN(meta_len, 8);
	u32 end = meta_end + ALIGN(detail_len, 8);
	int err = mrpc_rpc_grow(rpc, end);

	if (err)
		return err;
	rpc->frame.meta_len = meta_len;
	rpc->frame.detail_len = detail_len;
	if (meta_len)
		memset(rpc->data + meta_end - 8, 0, 8);
	if (detail_len)
		memset(rpc->data + end - 8, 0, 8);
	rpc->data_len = end;
	return 0;
}

/* Copies the byte blocks behind the head: afterwards nothing refers to the heap. */
static int mrpc_rpc_copy_bytes(struct mrpc_rpc *rpc, struct mrpc_heap *heap)
{
	u32 bytes = rpc->buf.len.bytes;
	int err = mrpc_rpc_grow(rpc, (u64)rpc->data_len + bytes);
	u8 *to;
	u32 i;

	if (err)
		return err;
	to = rpc->data + rpc->data_len;
	for (i = 0; i < rpc->buf.nr_segs; i++) {
		const struct mrpc_msg_seg *seg = &rpc->buf.segs[i];
		u32 padded = ALIGN(seg->len, 8);

		mrpc_block_copy(to, mrpc_heap_at(heap, seg->src, seg->len), seg->len);
		if (padded > seg->len)
			memset(to + seg->len, 0, padded - seg->len);
		to += padded;
	}
	rpc->data_len += bytes;
	rpc->buf.nr_segs = 0;
	rpc->have_bytes = true;
	return 0;
}

/**
 * mrpc_rpc_own_bytes() - make sure that a message's byte section is in kernel memory
 * @rpc: an rpc among the engines
 *
 * Kernel memory is what will be sent, so an engine may judge it. A message that is being received
 * has its byte section from the start if its engines ask for it (MRPC_ENGINE_RX_BYTES). Otherwise
 * it never has it.
 *
 * Context: owner of the transmit claim; may sleep.
 * Return: 0; -ENOMEM; -EMSGSIZE (more than is copied); -ENODATA (receive).
 */
int mrpc_rpc_own_bytes(struct mrpc_rpc *rpc)
{
	int err;

	if (rpc->have_bytes)
		return 0;
	if (rpc->dir == MRPC_RX)
		return -ENODATA;
	if (rpc->buf.len.bytes > MRPC_MAX_HEAD)
		return -EMSGSIZE;
	err = mrpc_rpc_copy_bytes(rpc, rpc->heap);
	if (!err)
		rpc->heap = NULL;
	return err;
}
EXPORT_SYMBOL_GPL(mrpc_rpc_own_bytes);

/**
 * mrpc_rpc_to_status() - turn a reply on its way out into a mere status
 * @rpc: a reply; no part of it has been sent
 * @status: enum mrpc_status, not OK
 * @detail: a sentence; left out if there is no memory for it
 */
void mrpc_rpc_to_status(struct mrpc_rpc *rpc, u16 status, const char *detail)
{
	u32 len = min_t(size_t, strlen(detail), MRPC_MAX_DETAIL);

	rpc->frame.flags &= ~MRPC_WIRE_MSG;
	rpc->frame.msg = (struct mrpc_msg_len){};
	rpc->frame.status = status;
	rpc->frame.meta_len = 0;
	rpc->frame.detail_len = 0;
	rpc->data_len = MRPC_HDR_LEN;
	rpc->heap = NULL;
	rpc->buf.nr_segs = 0;
	/* There was room for more, so this fails only without memory. */
	if (mrpc_rpc_prefix(rpc, 0, len))
		return;
	memcpy(rpc->data + MRPC_HDR_LEN, detail, len);
}
EXPORT_SYMBOL_GPL(mrpc_rpc_to_status);

/**
 * mrpc_rpc_snapshot() - copy the message out of the application's reach
 * @rpc: an rpc with a complete prefix
 * @heap: the send heap
 * @plan: schema
 * @type: root type
 * @root: heap offset of the root
 * @max_total: largest message allowed
 * @copy: the application asked for a whole copy
 * @err: filled for -EINVAL and -EMSGSIZE
 *
 * Struct blocks and text are always copied. Byte blocks are copied if the message is small or @copy
 * is set; else they stay by reference in rpc->heap.
 *
 * Context: process; may sleep.
 * Return: 0, -EINVAL, -EMSGSIZE, -EFBIG (more than MRPC_MAX_HEAD), -ENOMEM.
 */
int mrpc_rpc_snapshot(struct mrpc_rpc *rpc, struct mrpc_heap *heap,
		      const struct mrpc_schema_plan *plan, u32 type, u64 root,
		      u32 max_total, bool copy, struct mrpc_msg_error *err)
{
	struct mrpc_msg_src src = { .at = mrpc_heap_at, .ctx = heap };
	struct mrpc_region *near = mrpc_heap_find(heap, root);
	int ret;

	if (near) {
		src.near = near->addr;
		src.near_off = near->base;
		src.near_len = near->len;
	}
	rpc->buf.head = rpc->data + rpc->data_len;
	rpc->buf.head_cap = rpc->data_cap - rpc->data_len;
	rpc->buf.max_total = copy ? min_t(u32, max_total, MRPC_MAX_COPY) : max_total;
	rpc->buf.max_whole = copy ? MRPC_MAX_COPY : READ_ONCE(mrpc_knobs.copy_threshold);
	ret = mrpc_msg_snapshot(plan, type, &src, root, &rpc->buf, err);
	if (ret)
		return ret;
	rpc->frame.msg = rpc->buf.len;
	rpc->frame.flags |= MRPC_WIRE_MSG;
	rpc->data_len += mrpc_msg_head_len(&rpc->buf.len);
	if (rpc->buf.nr_segs) {
		rpc->heap = heap;
		rpc->have_bytes = false;
	} else {
		rpc->data_len += rpc->buf.len.bytes;
	}
	return 0;
}

/**
 * mrpc_rpc_marshal() - write the header, as late as possible
 * @rpc: an rpc about to be given to the transport
 */
void mrpc_rpc_marshal(struct mrpc_rpc *rpc)
{
	if (rpc->deadline) {
		u64 now = ktime_get_ns();

		rpc->frame.remaining_us = now < rpc->deadline ?
			max_t(u64, (rpc->deadline - now) / NSEC_PER_USEC, 1) : 1;
	}
	mrpc_wire_encode(&rpc->frame, (struct mrpc_wire_hdr *)rpc->data);
}
EXPORT_SYMBOL_GPL(mrpc_rpc_marshal);

/**
 * mrpc_rpc_free() - free the memory of a message beyond its object
 * @rpc: the rpc
 */
void mrpc_rpc_free(struct mrpc_rpc *rpc)
{
	u64 charged = mrpc_rpc_data_charged(rpc) + mrpc_rpc_segs_charged(rpc);

	if (!charged)
		return;
	mrpc_user_uncharge_memory(mrpc_rpc_user(rpc), charged);
	if (rpc->data != rpc->inl)
		kvfree(rpc->data);
	if (rpc->buf.segs != rpc->segs)
		kvfree(rpc->buf.segs);
}

/**
 * mrpc_checksum() - compute a CRC-32C
 * @sum: MRPC_CHECKSUM_INIT, or the result for the bytes before @data
 * @data: kernel memory that no thread writes
 * @len: bytes of it
 *
 * Context: any.
 */
u32 mrpc_checksum(u32 sum, const void *data, size_t len)
{
	return crc32c(sum, data, len);
}
EXPORT_SYMBOL_GPL(mrpc_checksum);
