// SPDX-License-Identifier: GPL-2.0
/*
 * rpcs: building one from an application's message, and its end.
 */
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/sched/task.h>
#include <linux/slab.h>

#include "core/memcopy.h"
#include "core/conn.h"
#include "core/rpc.h"
#include "core/session.h"

static struct kmem_cache *mrpc_call_cache;

#define MRPC_HDR_LEN	sizeof(struct mrpc_wire_hdr)
#define MRPC_CALL_SPARES	128	/* objects that a session keeps, of about 1 KiB */

static int mrpc_rpc_grow(struct mrpc_rpc *rpc, u64 need)
{
	u32 cap;
	u8 *data;

	if (need <= rpc->data_cap)
		return 0;
	if (need > MRPC_MAX_MESSAGE)
		return -EMSGSIZE;
	cap = max_t(u64, need, min_t(u64, 2ULL * rpc->data_cap, MRPC_MAX_MESSAGE));
	data = kvmalloc(cap, GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	if (!data)
		return -ENOMEM;
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

	segs = kvmalloc_array(cap, sizeof(*segs), GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	if (!segs)
		return -ENOMEM;
	memcpy(segs, buf->segs, buf->nr_segs * sizeof(*segs));
	if (buf->segs != rpc->segs)
		kvfree(buf->segs);
	buf->segs = segs;
	buf->segs_cap = cap;
	return 0;
}

static void mrpc_rpc_setup(struct mrpc_rpc *rpc)
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
 * mrpc_rpc_put_prefix() - mrpc_rpc_prefix() where there is one
 * @rpc: as there
 * @meta_len: as there
 * @detail_len: as there
 *
 * Return: as there.
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

/* Copy the byte blocks behind the head: afterwards nothing refers to the heap. */
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
 * mrpc_rpc_own_bytes() - have a message's byte section in kernel memory
 * @rpc: an rpc among the engines
 *
 * What is in the kernel is what will be sent, so an engine may judge it. A
 * message that is being received has its byte section from the start if its
 * engines ask for that (MRPC_ENGINE_RX_BYTES), else not at all.
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
 * mrpc_rpc_to_status() - make a reply that is on its way out a mere status
 * @rpc: a reply of which nothing has been sent
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
	/* Room was there for more, so this fails only without memory. */
	if (mrpc_rpc_prefix(rpc, 0, len))
		return;
	memcpy(rpc->data + MRPC_HDR_LEN, detail, len);
}

/**
 * mrpc_rpc_snapshot() - take the message out of the application's reach
 * @rpc: an rpc whose prefix is complete
 * @heap: the send heap
 * @plan: schema
 * @type: root type
 * @root: heap offset of the root
 * @max_total: largest message allowed
 * @copy: the application asked for a whole copy
 * @err: filled for -EINVAL and -EMSGSIZE
 *
 * Struct blocks and text are always copied; byte blocks are copied when the
 * message is small or @copy is set, else they stay by reference in rpc->heap.
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
	if (mrpc_msg_head_len(&rpc->buf.len) > MRPC_MAX_HEAD)
		return -EFBIG;
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
 * mrpc_rpc_free() - free what a message needed beyond its object
 * @rpc: the rpc
 */
void mrpc_rpc_free(struct mrpc_rpc *rpc)
{
	if (rpc->data != rpc->inl)
		kvfree(rpc->data);
	if (rpc->buf.segs != rpc->segs)
		kvfree(rpc->buf.segs);
}

/*
 * The network stack is done with one reference to the pages: at the ACK, or
 * when the socket dies. May be softirq; module text stays because the session,
 * which the call's connection holds, keeps the module.
 */
static void mrpc_ubuf_complete(struct sk_buff *skb, struct ubuf_info *ubuf, bool success)
{
	struct mrpc_call *call = container_of(ubuf, struct mrpc_call, ubuf);

	/* Where the stack copies, the receiver's clone says so and the original, when
	 * it is acknowledged, still says success: that is no proof of the contrary.
	 */
	if (!success)
		atomic_inc(&(call->via ?: call->conn)->copied);
	mrpc_call_sent_put(call);
}

static const struct ubuf_info_ops mrpc_ubuf_ops = {
	.complete = mrpc_ubuf_complete,
};

/**
 * mrpc_call_free_spares() - give objects that nobody uses back to the allocator
 * @spares: the first of them, by mrpc_call.spare, or NULL
 *
 * Context: any but hard interrupt.
 */
void mrpc_call_free_spares(struct mrpc_call *spares)
{
	struct mrpc_call *next;

	for (; spares; spares = next) {
		next = spares->spare;
		kmem_cache_free(mrpc_call_cache, spares);
	}
}

/*
 * Calls use the objects of those that have ended, without the allocator's work, of which
 * zeroing and accounting are most. Not where KASAN is to see a use after the end. Who takes
 * one or gives one takes them all for a moment, so that no lock is needed and none is seen
 * by two. The exchanges are full barriers: who takes a chain sees its links. Who gives his back
 * and finds another one has met somebody, whose chain is short as a rule: that goes to the allocator.
 */
static struct mrpc_call *mrpc_call_spares_take(struct mrpc_session *session)
{
	return READ_ONCE(session->call_spares) ? xchg(&session->call_spares, NULL) : NULL;
}

static void mrpc_call_spares_give(struct mrpc_session *session, struct mrpc_call *spares)
{
	mrpc_call_free_spares(xchg(&session->call_spares, spares));
}

static struct mrpc_call *mrpc_call_alloc(struct mrpc_session *session, gfp_t gfp)
{
	struct mrpc_call *call = mrpc_call_spares_take(session);

	if (!call)
		return kmem_cache_alloc(mrpc_call_cache, gfp | __GFP_ACCOUNT);
	if (call->spare)
		mrpc_call_spares_give(session, call->spare);
	return call;
}

static void mrpc_call_free(struct mrpc_call *call)
{
	struct mrpc_session *session = call->session;
	struct mrpc_call *spares = mrpc_call_spares_take(session);
	u32 nr = spares ? spares->spares : 0;

	if (IS_ENABLED(CONFIG_KASAN) || nr == MRPC_CALL_SPARES) {
		kmem_cache_free(mrpc_call_cache, call);
	} else {
		call->spare = spares;
		call->spares = nr + 1;
		spares = call;
	}
	if (spares)
		mrpc_call_spares_give(session, spares);
}

/**
 * mrpc_call_new() - a call object
 * @conn: its connection, of which it takes a reference
 * @role: enum mrpc_call_role
 * @gfp: allocation context
 *
 * Return: the call with one reference, which is the queue's when the call is
 * submitted; or NULL.
 */
struct mrpc_call *mrpc_call_new(struct mrpc_conn *conn, u8 role, gfp_t gfp)
{
	struct mrpc_call *call = mrpc_call_alloc(conn->session, gfp);

	if (!call)
		return NULL;
	/* What is before and behind is written before it is read. */
	memset((u8 *)call + offsetof(struct mrpc_call, flags), 0,
	       offsetof(struct mrpc_call, rpc.segs) - offsetof(struct mrpc_call, flags));
	refcount_set(&call->ref, 1);
	call->role = role;
	mrpc_conn_get(conn);
	call->conn = conn;
	call->session = conn->session;
	INIT_LIST_HEAD(&call->pending);
	refcount_set(&call->ubuf.refcnt, 1);
	call->ubuf.ops = &mrpc_ubuf_ops;
	call->ubuf.flags = SKBFL_ZEROCOPY_FRAG | SKBFL_DONT_ORPHAN;
	call->rpc.call = call;
	mrpc_rpc_setup(&call->rpc);
	return call;
}

static noinline void mrpc_call_end(struct mrpc_call *call)
{
	struct mrpc_conn *conn = call->conn;

	if (test_bit(MRPC_CALL_ORPHAN, &call->flags))
		put_task_struct(call->waiter);
	if (call->target)
		mrpc_call_put(call->target);
	if (call->via)
		mrpc_conn_put(call->via);
	mrpc_rpc_free(&call->rpc);
	mrpc_call_free(call);
	mrpc_conn_put(conn);
}

/**
 * mrpc_call_put() - drop a reference
 * @call: the call
 *
 * Context: any but hard interrupt.
 */
void mrpc_call_put(struct mrpc_call *call)
{
	mrpc_call_put_some(call, 1);
}
EXPORT_SYMBOL_GPL(mrpc_call_put);

/**
 * mrpc_call_put_some() - drop several references at once
 * @call: the call
 * @nr: how many
 *
 * Context: any but hard interrupt.
 */
void mrpc_call_put_some(struct mrpc_call *call, int nr)
{
	if (refcount_sub_and_test(nr, &call->ref))
		mrpc_call_end(call);
}

int __init mrpc_rpc_init(void)
{
	mrpc_call_cache = KMEM_CACHE(mrpc_call, SLAB_HWCACHE_ALIGN | SLAB_ACCOUNT);
	return mrpc_call_cache ? 0 : -ENOMEM;
}

void mrpc_rpc_exit(void)
{
	kmem_cache_destroy(mrpc_call_cache);
}
