// SPDX-License-Identifier: GPL-2.0
/*
 * Messages in memory: a fake send heap, snapshots of it, and what must hold of a
 * message that was accepted. See gen.h.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "gen.h"

/* -- the fake heap --------------------------------------------------------- */

struct gen_writer {
	struct gen *g;
	struct gen_heap *heap;
	const struct mrpc_schema_plan *plan;
	u32 *refs;	/* where references stand, still absolute */
	u32 nr_refs;
	u32 refs_cap;
};

static u32 gen_heap_alloc(struct gen_writer *w, u64 len, u32 align)
{
	struct gen_heap *heap = w->heap;
	u32 gap = gen_chance(w->g, 50) ? gen_below(w->g, 40) : 0;
	u32 off = (heap->used + gap + align - 1) / align * align;
	u64 end = off + len;

	if (end > heap->size) {
		u32 size = 2 * end;

		heap->mem = realloc(heap->mem, size);
		assert(heap->mem);
		gen_bytes(w->g, heap->mem + heap->size, size - heap->size);
		heap->size = size;
	}
	heap->used = end;
	return off;
}

static void gen_heap_ref(struct gen_writer *w, u32 at, u32 off, u32 len)
{
	struct mrpc_ref ref = { .off = off, .len = len };

	memcpy(w->heap->mem + at, &ref, sizeof(ref));
	if (w->nr_refs == w->refs_cap) {
		w->refs_cap = 2 * w->refs_cap + 16;
		w->refs = realloc(w->refs, w->refs_cap * sizeof(*w->refs));
		assert(w->refs);
	}
	w->refs[w->nr_refs++] = at;
}

static void gen_heap_data(struct gen_writer *w, u32 at, const void *p, u64 len, u32 n, u32 align)
{
	u32 off;

	if (!n) {
		/* An absent field's offset is not looked at. */
		memset(w->heap->mem + at + 4, 0, 4);
		return;
	}
	off = gen_heap_alloc(w, len, align);
	memcpy(w->heap->mem + off, p, len);
	gen_heap_ref(w, at, off, n);
}

/* True is anything but 0. */
static void gen_heap_bools(struct gen_writer *w, u32 off, u32 n)
{
	for (; n; n--, off++)
		if (w->heap->mem[off])
			w->heap->mem[off] = 1 + gen_below(w->g, 255);
}

static void gen_heap_block(struct gen_writer *w, const struct model_msg *msg, u32 at);

static u32 gen_heap_child(struct gen_writer *w, struct model_msg *msg)
{
	if (!msg->placed) {
		u32 off = gen_heap_alloc(w, w->plan->types[msg->type].size, 8);

		gen_heap_block(w, msg, off);
		msg->placed = off + 1;
	}
	return msg->placed - 1;
}

static void gen_heap_repeated(struct gen_writer *w, const struct mrpc_field *f,
			      const struct model_field *v, u32 at)
{
	u32 size = model_elem_size(w->plan, f);
	u32 off, i;

	if (!v->n || f->kind < MRPC_KIND_STRING) {
		gen_heap_data(w, at, v->data, (u64)v->n * size, v->n, size);
		if (v->n && f->kind == MRPC_KIND_BOOL)
			gen_heap_bools(w, w->heap->used - v->n, v->n);
		return;
	}
	off = gen_heap_alloc(w, (u64)v->n * size, 8);
	gen_heap_ref(w, at, off, v->n);
	for (i = 0; i < v->n; i++, off += size) {
		if (f->kind == MRPC_KIND_MESSAGE)
			gen_heap_block(w, v->msgs[i], off);
		else
			gen_heap_data(w, off, v->items[i].data, v->items[i].n, v->items[i].n, 1);
	}
}

/* Writes into a block of junk only what an application must write. */
static void gen_heap_block(struct gen_writer *w, const struct model_msg *msg, u32 block)
{
	const struct mrpc_type *t = &w->plan->types[msg->type];
	u32 i;

	memset(w->heap->mem + block + t->oneof_offset, 0, 4 * t->nr_oneofs);
	for (i = 0; i < t->nr_fields; i++) {
		const struct mrpc_field *f = &w->plan->fields[t->first_field + i];
		const struct model_field *v = &msg->fields[i];
		u32 at = block + f->offset;

		if (f->flags & MRPC_FIELD_OPTIONAL) {
			w->heap->mem[block + f->has_bit / 8] &= ~(1 << f->has_bit % 8);
			w->heap->mem[block + f->has_bit / 8] |= v->present << f->has_bit % 8;
			if (!v->present)
				continue;
		}
		if (f->oneof != MRPC_SCHEMA_NO_ONEOF) {
			if (!v->present)
				continue;
			memcpy(w->heap->mem + block + t->oneof_offset + 4 * f->oneof,
			       &f->number, 4);
		}
		if (f->flags & MRPC_FIELD_REPEATED) {
			gen_heap_repeated(w, f, v, at);
		} else if (f->kind == MRPC_KIND_MESSAGE) {
			if (v->present)
				gen_heap_ref(w, at, gen_heap_child(w, v->msgs[0]), 1);
			else
				gen_heap_data(w, at, NULL, 0, 0, 1);
		} else if (f->kind >= MRPC_KIND_STRING) {
			gen_heap_data(w, at, v->data, v->n, v->n, 1);
		} else {
			memcpy(w->heap->mem + at, v->data, model_elem_size(w->plan, f));
			if (f->kind == MRPC_KIND_BOOL)
				gen_heap_bools(w, at, 1);
		}
	}
}

u32 gen_heap_write(struct gen *g, struct gen_heap *heap, const struct mrpc_schema_plan *plan,
		   const struct model_msg *msg)
{
	struct gen_writer w = { .g = g, .heap = heap, .plan = plan };
	u32 size = plan->types[msg->type].size;
	/* The root stands before what it refers to, or behind. */
	u32 root = gen_heap_alloc(&w, size, 8);
	u32 i;

	gen_heap_block(&w, msg, root);
	if (gen_chance(g, 50)) {
		u32 moved = gen_heap_alloc(&w, size, 8);

		memcpy(heap->mem + moved, heap->mem + root, size);
		for (i = 0; i < w.nr_refs; i++)
			if (w.refs[i] >= root && w.refs[i] < root + size)
				w.refs[i] += moved - root;
		gen_bytes(g, heap->mem + root, size);
		root = moved;
	}
	for (i = 0; i < w.nr_refs; i++) {
		s32 off;

		memcpy(&off, heap->mem + w.refs[i], 4);
		off -= root;
		memcpy(heap->mem + w.refs[i], &off, 4);
	}
	free(w.refs);
	/* The last block ends where the heap does. */
	heap->size = heap->used;
	return root;
}

void gen_heap_free(struct gen_heap *heap)
{
	free(heap->mem);
	free(heap->last);
	memset(heap, 0, sizeof(*heap));
}

const void *gen_heap_at(void *ctx, u64 off, u64 len)
{
	struct gen_heap *heap = ctx;

	/* What is promised to the owner of a heap. */
	assert(off <= MRPC_MAX_HEAP && len <= MRPC_MAX_HEAP - off);
	free(heap->last);
	heap->last = NULL;
	if (++heap->accesses == heap->fail_at)
		return NULL;
	if (off > heap->size || len > heap->size - off)
		return NULL;
	if (heap->flip && heap->size) {
		u32 n = gen_below(heap->flip, 4);

		while (n--)
			gen_bytes(heap->flip, heap->mem + gen_below(heap->flip, heap->size), 1);
	}
	heap->last = malloc(len);
	assert(heap->last);
	memcpy(heap->last, heap->mem + off, len);
	return heap->last;
}

/* -- snapshots ------------------------------------------------------------- */

/* Moves the memory at each call. */
static int gen_grow(struct gen_buf *b, void **mem, size_t old, size_t need)
{
	void *p;

	if (++b->grown == b->fail_at)
		return -ENOMEM;
	p = malloc(need);
	assert(p);
	memset(p, 0xa5, need);
	if (old)
		memcpy(p, *mem, old);
	free(*mem);
	*mem = p;
	return 0;
}

/* To the byte while it is small: that finds most mistakes; then for speed. */
static u32 gen_grow_to(u32 need, u32 small)
{
	return need <= small ? need : need + need / 2;
}

static int gen_grow_head(struct mrpc_msg_buf *buf, u32 need)
{
	struct gen_buf *b = (void *)((char *)buf - offsetof(struct gen_buf, buf));
	void *mem = buf->head;
	int ret;

	need = gen_grow_to(need, 4096);
	ret = gen_grow(b, &mem, buf->head_cap, need);

	if (!ret) {
		buf->head = mem;
		buf->head_cap = need;
	}
	return ret;
}

static int gen_grow_segs(struct mrpc_msg_buf *buf, u32 need)
{
	struct gen_buf *b = (void *)((char *)buf - offsetof(struct gen_buf, buf));
	void *mem = buf->segs;
	int ret;

	need = gen_grow_to(need, 64);
	ret = gen_grow(b, &mem, buf->segs_cap * sizeof(*buf->segs), need * sizeof(*buf->segs));

	if (!ret) {
		buf->segs = mem;
		buf->segs_cap = need;
	}
	return ret;
}

void gen_buf_init(struct gen_buf *b, u32 max_total)
{
	memset(b, 0, sizeof(*b));
	b->buf.max_total = max_total;
	b->buf.grow_head = gen_grow_head;
	b->buf.grow_segs = gen_grow_segs;
}

void gen_buf_free(struct gen_buf *b)
{
	free(b->buf.head);
	free(b->buf.segs);
	memset(b, 0, sizeof(*b));
}

u8 *gen_assemble(const struct gen_buf *b, const struct gen_heap *heap)
{
	u64 head_len = mrpc_msg_head_len(&b->buf.len);
	u8 *wire = calloc(1, mrpc_msg_total(&b->buf.len));
	u64 at = head_len;
	u32 i;

	assert(wire);
	memcpy(wire, b->buf.head, head_len);
	if (!b->buf.nr_segs) {	/* the byte section follows, or there is none */
		memcpy(wire + head_len, b->buf.head + head_len, b->buf.len.bytes);
		at += b->buf.len.bytes;
	}
	for (i = 0; i < b->buf.nr_segs; i++) {
		const struct mrpc_msg_seg *seg = &b->buf.segs[i];

		assert((u64)seg->src + seg->len <= heap->size);
		assert(at + seg->len <= mrpc_msg_total(&b->buf.len));
		memcpy(wire + at, heap->mem + seg->src, seg->len);
		at += ALIGN(seg->len, 8);
	}
	assert(at == mrpc_msg_total(&b->buf.len));
	return wire;
}

u8 *gen_head_copy(const u8 *wire, const struct mrpc_msg_len *len)
{
	u8 *head = malloc(mrpc_msg_head_len(len));

	assert(head);
	memcpy(head, wire, mrpc_msg_head_len(len));
	return head;
}

const char *gen_check_canonical(const struct mrpc_schema_plan *plan, u32 type, const u8 *head,
				const struct mrpc_msg_len *len)
{
	u64 head_len = mrpc_msg_head_len(len), total = mrpc_msg_total(len);
	struct gen_heap heap = { .size = total, .mem = malloc(total) };
	const struct mrpc_msg_src src = { .at = gen_heap_at, .ctx = &heap };
	struct model_pool pool = { 0 };
	struct mrpc_msg_len model_len;
	struct mrpc_msg_error err;
	const char *why = NULL;
	struct model_msg *msg;
	struct gen_buf b;
	u8 *model, *wire;

	assert(heap.mem);
	memcpy(heap.mem, head, head_len);
	/* What the head does not hold: any byte blocks will do. */
	memset(heap.mem + head_len, 1, len->bytes);
	gen_buf_init(&b, total);
	if (mrpc_msg_snapshot(plan, type, &src, 0, &b.buf, &err)) {
		gen_heap_free(&heap);
		gen_buf_free(&b);
		return err.what;
	}
	if (memcmp(&b.buf.len, len, sizeof(*len)))
		why = "a snapshot of it has other lengths";
	else if (memcmp(b.buf.head, head, head_len))
		why = "a snapshot of it is different";
	if (!why) {
		wire = gen_assemble(&b, &heap);
		msg = model_decode(&pool, plan, type, wire, len);
		model = model_encode(plan, msg, &model_len);
		if (memcmp(&model_len, len, sizeof(*len)))
			why = "the model's encoding has other lengths";
		else if (memcmp(model, wire, total))
			why = "the model's encoding is different";
		free(model);
		free(wire);
		model_free(&pool);
	}
	gen_heap_free(&heap);
	gen_buf_free(&b);
	return why;
}
