// SPDX-License-Identifier: GPL-2.0
/* Streams of the transport grpc: their objects, and the slots of their calls. */
#include <linux/bitmap.h>
#include <linux/slab.h>

#include "core/call.h"
#include "core/link.h"
#include "core/rpc.h"
#include "lib/message/calltable.h"
#include "transports/grpc/link.h"
#include "transports/grpc/stream.h"

/**
 * grpc_stream_new() - make a stream, with one reference
 * @gl: its link
 *
 * Context: process; may sleep. Return: the stream, or NULL.
 */
struct grpc_stream *grpc_stream_new(struct grpc_link *gl)
{
	struct grpc_stream *s = READ_ONCE(gl->spare) ? xchg(&gl->spare, NULL) : NULL;

	if (!s)
		s = kmalloc(sizeof(*s), GFP_KERNEL_ACCOUNT);
	if (!s)
		return NULL;
	memset(s, 0, offsetof(struct grpc_stream, meta_small));
	refcount_set(&s->ref, 1);
	s->gl = gl;
	INIT_LIST_HEAD(&s->assembly);
	INIT_LIST_HEAD(&s->send);
	INIT_LIST_HEAD(&s->queue);
	INIT_LIST_HEAD(&s->fresh);
	INIT_LIST_HEAD(&s->gone);
	INIT_LIST_HEAD(&s->resume);
	INIT_LIST_HEAD(&s->credit);
	s->rx_may = MRPC_STREAM_WINDOW;
	s->length = -1;
	return s;
}

/**
 * grpc_stream_put() - drop a reference
 * @s: the stream
 *
 * Context: process; may sleep, not under the link's lock.
 */
void grpc_stream_put(struct grpc_stream *s)
{
	struct grpc_link *gl = s->gl;

	if (!refcount_dec_and_test(&s->ref))
		return;
	grpc_stream_purge(s);
	if (s->msg && !s->msg_small)
		kvfree(s->msg);
	if (s->backlog.buf)
		kvfree(s->backlog.buf);
	if (s->meta && s->meta != s->meta_small)
		kfree(s->meta);
	if (unlikely(s->said.text || s->end.text)) {
		kfree(s->said.text);
		kfree(s->end.text);
	}
	if (READ_ONCE(gl->spare) || cmpxchg(&gl->spare, NULL, s))
		kfree(s);
}

/**
 * grpc_stream_push() - keep a call or message until it is sent
 * @s: the stream; the caller owns the transmit claim
 * @call: the call or message
 */
void grpc_stream_push(struct grpc_stream *s, struct mrpc_call *call)
{
	mrpc_call_get(call);
	mrpc_call_sent_get(call);
	mrpc_link_keep(s->gl->link);
	list_add_tail(&call->loop, &s->queue);
}

/**
 * grpc_stream_pop() - the first of the queue is sent, or will not be: its blocks are free
 * @s: the stream; the caller owns the transmit claim, or has the last reference
 *
 * Context: process; may sleep.
 */
void grpc_stream_pop(struct grpc_stream *s)
{
	struct mrpc_call *call = grpc_stream_out(s);

	grpc_payload_free(&s->payload);
	list_del(&call->loop);
	mrpc_call_sent_put(call);
	mrpc_call_put(call);
	mrpc_link_unkeep(s->gl->link);
}

/**
 * grpc_stream_purge() - send nothing more of a stream
 * @s: the stream; as grpc_stream_pop()
 */
void grpc_stream_purge(struct grpc_stream *s)
{
	while (grpc_stream_out(s))
		grpc_stream_pop(s);
}

/**
 * grpc_answer_say() - note how the call of a stream ends
 * @a: where to
 * @status: enum mrpc_status, or one of HTTP
 * @text: a sentence
 * @len: its bytes
 *
 * The sentence is left out if there is no memory for it. Context: process; may sleep.
 */
void grpc_answer_say(struct grpc_answer *a, u16 status, const char *text, u32 len)
{
	len = min_t(u32, len, MRPC_MAX_DETAIL);
	kfree(a->text);
	a->text = kmalloc(len + 1, GFP_KERNEL_ACCOUNT);
	a->text_len = a->text ? len : 0;
	a->status = status;
	if (!a->text)
		return;
	memcpy(a->text, text, len);
	a->text[len] = '\0';
}

/**
 * grpc_slot_find() - find the stream of a call
 * @gl: the link; the caller holds its lock
 * @id: id of the call
 *
 * Return: the stream, without a reference; or NULL.
 */
struct grpc_stream *grpc_slot_find(struct grpc_link *gl, u64 id)
{
	u32 slot = mrpc_call_slot(id);
	struct grpc_stream *s = slot < gl->nr_slots ? gl->slots[slot] : NULL;

	return s && s->call_id == id ? s : NULL;
}

/**
 * grpc_slot_take() - enter a stream by its call
 * @gl: the link; the caller holds its lock
 * @s: the stream. A client's has the id of its call; a server's gets one. The slot has a reference
 *
 * Return: false: there is no free slot.
 */
bool grpc_slot_take(struct grpc_link *gl, struct grpc_stream *s)
{
	u32 slot = mrpc_call_slot(s->call_id);

	if (gl->link->accepted) {
		slot = find_first_zero_bit(gl->used, gl->nr_slots);
		if (slot >= gl->nr_slots)
			return false;
		__set_bit(slot, gl->used);
		s->call_id = ++gl->seq << MRPC_CALL_SLOT_BITS | slot;
	}
	if (slot >= gl->nr_slots || WARN_ON_ONCE(gl->slots[slot]))
		return false;
	grpc_stream_get(s);
	gl->slots[slot] = s;
	return true;
}

/**
 * grpc_slot_leave() - take a stream out of its call's slot
 * @gl: the link; the caller holds its lock
 * @s: the stream
 *
 * Return: true: it was there, and the caller has the slot's reference now. So of all that end a
 * call one does it.
 */
bool grpc_slot_leave(struct grpc_link *gl, struct grpc_stream *s)
{
	u32 slot = mrpc_call_slot(s->call_id);

	if (!s->call_id || slot >= gl->nr_slots || gl->slots[slot] != s)
		return false;
	gl->slots[slot] = NULL;
	if (gl->link->accepted)
		__clear_bit(slot, gl->used);
	return true;
}
