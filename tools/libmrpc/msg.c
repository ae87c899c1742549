// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Messages under construction: arenas of blocks in the send heap.
 *
 * The first block holds the root, so that most messages are one block. When
 * the heap is full the rest is built in ordinary memory: the builder's pointers
 * stay good, and the error is reported once, when the message is to be sent.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "msg.h"
#include "roots.h"
#include "scratch.h"

#define CHUNK_MIN	256	/* first block, if nothing else is known */
#define CHUNK_NEXT	1024	/* second block; each further one is doubled */
#define CHUNK_MAX	65536
#define BLOCK_HDR	ALIGN_UP(sizeof(struct msg_block), 16)

/* From here on a piece gets a block of its own, which starts at a page. */
#define OWN_BLOCK	4096

/* Rounding and the NUL that the wire may add to a piece. */
#define WIRE_EXTRA	8

/* In mrpc_msg.total: more than all that can be added to it. */
#define TOTAL_UNKNOWN	(1ull << 62)

/* mrpc_msg.flags: all in ordinary memory, because the session cannot be used. */
#define MSG_PRIVATE	1

enum block_kind {
	BLOCK_CHUNK,		/* this struct is at the start of the block itself */
	BLOCK_OTHER,		/* @mem is the block; this struct is in a chunk */
	BLOCK_MALLOC,		/* like BLOCK_CHUNK, but not in the heap */
};

/**
 * struct msg_block - one block of a message
 * @next: older block. A BLOCK_OTHER is newer than the chunk that it is in
 * @mem: the block, for BLOCK_OTHER
 * @kind: enum block_kind
 * @size: bytes of a chunk
 */
struct msg_block {
	struct msg_block *next;
	void *mem;
	u32 kind;
	u32 size;
};

void blocks_free(struct mrpc_session *session, void *blocks)
{
	struct msg_block *b = blocks, *next;
	struct heap_cache *cache;
	struct tctx *t;

	if (!b)
		return;
	t = session ? tctx_get(session) : NULL;
	cache = t ? &t->cache : NULL;
	for (; b; b = next) {
		next = b->next;
		if (b->kind == BLOCK_CHUNK)
			heap_free(&session->send, cache, b);
		else if (b->kind == BLOCK_OTHER)
			heap_free(&session->send, cache, b->mem);
		else
			free(b);
	}
}

void *msg_spend(struct mrpc_msg *msg)
{
	void *blocks = msg->blocks;

	if (unlikely(roots_watched))
		roots_remove(msg->root);
	msg->root = NULL;
	msg->cur = NULL;
	msg->end = NULL;
	msg->blocks = NULL;
	return blocks;
}

static void msg_fail(struct mrpc_msg *msg, int err)
{
	if (!msg->err)
		msg->err = err;
}

static void add_chunk(struct mrpc_msg *msg, struct msg_block *b, u32 kind, size_t size)
{
	b->next = (struct msg_block *)msg->blocks;
	b->mem = NULL;
	b->kind = kind;
	b->size = size < UINT32_MAX ? size : UINT32_MAX;
	msg->blocks = b;
	msg->cur = (u8 *)b + BLOCK_HDR;
	msg->end = (u8 *)b + size;
	/* The first one comes before the root. */
	if (unlikely(roots_watched) && msg->root)
		roots_add(msg->root, b, size);
}

/* A chunk with room for @need bytes at any alignment up to 16. */
static bool new_chunk(struct mrpc_msg *msg, size_t need, size_t wish)
{
	size_t size = BLOCK_HDR + (need > wish ? need : wish);
	struct msg_block *b;

	if (!msg->err) {
		size = heap_good_size(size);
		b = mrpc_alloc(msg->session, size);
		if (likely(b)) {
			add_chunk(msg, b, BLOCK_CHUNK, size);
			return true;
		}
		msg_fail(msg, -errno);
	}
	b = malloc(size);
	if (!b)
		return false;
	add_chunk(msg, b, BLOCK_MALLOC, size);
	return true;
}

static void *take(struct mrpc_msg *msg, size_t len, size_t align)
{
	u8 *p = (u8 *)ALIGN_UP((uintptr_t)msg->cur, align);

	if (unlikely(!msg->cur || p > msg->end || len > (size_t)(msg->end - p)))
		return NULL;
	msg->cur = p + len;
	return p;
}

static void *take_or_grow(struct mrpc_msg *msg, size_t len, size_t align)
{
	struct msg_block *b;
	void *p = take(msg, len, align);
	size_t wish = CHUNK_NEXT;

	if (likely(p))
		return p;
	/* Chunks may be preceded by blocks of their own: only a hint. */
	b = msg->blocks;
	if (b && b->kind != BLOCK_OTHER && b->size >= wish)
		wish = b->size < CHUNK_MAX / 2 ? 2 * b->size : CHUNK_MAX;
	if (!new_chunk(msg, len, wish - BLOCK_HDR))
		return NULL;
	return take(msg, len, align);
}

/* Makes @mem, a block of the heap with @len bytes in use, go with the message. */
static bool own(struct mrpc_msg *msg, void *mem, size_t len)
{
	struct msg_block *b;

	b = take_or_grow(msg, sizeof(*b), _Alignof(struct msg_block));
	if (!b || msg->err) {
		mrpc_free(msg->session, mem);
		return false;
	}
	b->next = msg->blocks;
	b->mem = mem;
	b->kind = BLOCK_OTHER;
	b->size = 0;
	msg->blocks = b;
	if (unlikely(roots_watched))
		roots_add(msg->root, mem, len);
	return true;
}

void *mrpc_msg_new(struct mrpc_msg *msg, struct mrpc_session *session, size_t root_size,
		   size_t hint)
{
	memset(msg, 0, sizeof(*msg));
	msg->session = session;
	msg->err = session_check(session);
	if (msg->err)
		msg->flags = MSG_PRIVATE;
	if (hint > CHUNK_MAX)
		hint = CHUNK_MAX;
	if (!new_chunk(msg, root_size + hint, CHUNK_MIN - BLOCK_HDR))
		return NULL;
	msg->root = mrpc_msg_zalloc(msg, root_size, 8);
	if (unlikely(roots_watched))
		roots_begin(session, msg->root, msg->blocks, msg->end - (u8 *)msg->blocks);
	return msg->root;
}

void mrpc_msg_free(struct mrpc_msg *msg)
{
	void *blocks = msg_spend(msg);

	/* The parent's blocks are not the child's to free. */
	if ((msg->flags & MSG_PRIVATE) || (msg->session && !session_is_foreign(msg->session)))
		blocks_free(msg->session, blocks);
}

static void *scratch_take(struct mrpc_msg *msg, size_t len, size_t align)
{
	void *p = take(msg, len, align);

	if (!p && !msg->err)
		msg->err = -fail(EMSGSIZE, "what a google.protobuf.Any holds takes more than the %u MiB "
				 "that it may", SCRATCH_MAX >> 20);
	return p;
}

/* What does not fit into the newest chunk, or is to have a block of its own. */
static __attribute__((noinline)) void *alloc_more(struct mrpc_msg *msg, size_t len, size_t align)
{
	void *p;

	if (len > MRPC_MAX_MESSAGE) {
		msg_fail(msg, -EMSGSIZE);
		return NULL;
	}
	if (msg->flags & MSG_SCRATCH)
		return scratch_take(msg, len, align);
	msg->total += len + WIRE_EXTRA;
	if (len >= OWN_BLOCK && !msg->err) {
		p = mrpc_alloc(msg->session, len);
		if (likely(p) && own(msg, p, len))
			return p;
		msg_fail(msg, -ENOMEM);
	}
	return take_or_grow(msg, len, align);
}

void *mrpc_msg_alloc(struct mrpc_msg *msg, size_t len, size_t align)
{
	void *p = len < OWN_BLOCK ? take(msg, len, align) : NULL;

	if (unlikely(!p))
		return alloc_more(msg, len, align);
	msg->total += len + WIRE_EXTRA;
	return p;
}

void *mrpc_msg_zalloc(struct mrpc_msg *msg, size_t len, size_t align)
{
	void *p = mrpc_msg_alloc(msg, len, align);

	if (likely(p))
		memset(p, 0, len);
	return p;
}

static void set_ref(struct mrpc_msg *msg, struct mrpc_ref *ref, const void *p, __u32 len)
{
	if (unlikely(!ref))
		return;
	/* What is not in the heap can be out of a reference's reach. */
	if (unlikely(!len || !p || msg->err)) {
		s64 off = (s64)((intptr_t)p - (intptr_t)msg->root);

		ref->off = p && len && off == (s32)off ? (s32)off : 0;
		ref->len = ref->off ? len : 0;
		return;
	}
	ref->off = (s32)((const u8 *)p - (const u8 *)msg->root);
	ref->len = len;
}

/*
 * On the wire each reference has content of its own. How much that is, with all that it
 * will refer to, is known only at the end, and not here.
 */
void mrpc_msg_set_ref(struct mrpc_msg *msg, struct mrpc_ref *ref, const void *p, __u32 len)
{
	if (p && len)
		msg->total |= TOTAL_UNKNOWN;
	set_ref(msg, ref, p, len);
}

void *mrpc_msg_alloc_bytes(struct mrpc_msg *msg, struct mrpc_ref *ref, size_t len)
{
	void *p = NULL;

	if (len)
		p = mrpc_msg_alloc(msg, len, 1);
	set_ref(msg, ref, p, (u32)len);
	return p;
}

void mrpc_msg_set_bytes(struct mrpc_msg *msg, struct mrpc_ref *ref, const void *data, size_t len)
{
	void *p = mrpc_msg_alloc_bytes(msg, ref, data ? len : 0);

	if (p)
		memcpy(p, data, len);
}

void mrpc_msg_set_strn(struct mrpc_msg *msg, struct mrpc_ref *ref, const char *str, size_t len)
{
	mrpc_msg_set_bytes(msg, ref, str, len);
}

void mrpc_msg_set_str(struct mrpc_msg *msg, struct mrpc_ref *ref, const char *str)
{
	mrpc_msg_set_bytes(msg, ref, str, str ? strlen(str) : 0);
}

void *mrpc_msg_alloc_struct(struct mrpc_msg *msg, struct mrpc_ref *ref, size_t size)
{
	void *p = mrpc_msg_zalloc(msg, size, 8);

	set_ref(msg, ref, p, 1);
	return p;
}

void *mrpc_msg_alloc_array(struct mrpc_msg *msg, struct mrpc_ref *ref, size_t nr,
			   size_t elem_size, size_t align)
{
	void *p = NULL;

	if (elem_size && nr > MRPC_MAX_MESSAGE / elem_size) {
		msg_fail(msg, -EMSGSIZE);
		nr = 0;
	}
	if (nr)
		p = mrpc_msg_zalloc(msg, nr * elem_size, align < 8 ? 8 : align);
	set_ref(msg, ref, p, (u32)nr);
	return p;
}

void mrpc_msg_set_array(struct mrpc_msg *msg, struct mrpc_ref *ref, const void *data, size_t nr,
			size_t elem_size)
{
	void *p = NULL;

	if (elem_size && nr > MRPC_MAX_MESSAGE / elem_size) {
		msg_fail(msg, -EMSGSIZE);
		nr = 0;
	}
	if (nr && data) {
		p = mrpc_msg_alloc(msg, nr * elem_size, 8);
		if (p)
			memcpy(p, data, nr * elem_size);
	}
	set_ref(msg, ref, p, (u32)nr);
}

void mrpc_msg_attach(struct mrpc_msg *msg, struct mrpc_ref *ref, void *block, size_t off,
		     __u32 len, size_t bytes)
{
	if (bytes > MRPC_MAX_MESSAGE)
		msg_fail(msg, -EMSGSIZE);
	if (!own(msg, block, off + bytes)) {
		msg_fail(msg, -ENOMEM);
		block = NULL;
	}
	msg->total += bytes + WIRE_EXTRA;
	set_ref(msg, ref, block ? (u8 *)block + off : NULL, len);
}
