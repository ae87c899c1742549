// SPDX-License-Identifier: GPL-2.0
#include <assert.h>
#include <stdlib.h>

#include "model.h"

struct model_block {
	struct model_block *next;
	max_align_t mem[];
};

void *model_alloc(struct model_pool *pool, size_t size)
{
	struct model_block *b = calloc(1, sizeof(*b) + size);

	assert(b);
	b->next = pool->blocks;
	pool->blocks = b;
	return b->mem;
}

void model_free(struct model_pool *pool)
{
	while (pool->blocks) {
		struct model_block *b = pool->blocks;

		pool->blocks = b->next;
		free(b);
	}
}

static bool model_repeated(const struct mrpc_field *f)
{
	return f->flags & MRPC_FIELD_REPEATED;
}

static bool model_text(const struct mrpc_field *f)
{
	return f->kind == MRPC_KIND_STRING;
}

u32 model_elem_size(const struct mrpc_schema_plan *plan, const struct mrpc_field *f)
{
	switch (f->kind) {
	case MRPC_KIND_BOOL:
		return 1;
	case MRPC_KIND_INT32:
	case MRPC_KIND_SINT32:
	case MRPC_KIND_UINT32:
	case MRPC_KIND_FIXED32:
	case MRPC_KIND_SFIXED32:
	case MRPC_KIND_FLOAT:
	case MRPC_KIND_ENUM:
		return 4;
	case MRPC_KIND_MESSAGE:
		return plan->types[f->type].size;
	default:
		return 8;
	}
}

/* -- encode ---------------------------------------------------------------- */

struct model_bytes {
	u8 *p;
	size_t len;
	size_t cap;
};

/* A section under construction, and where references into it stand. */
struct model_out {
	const struct mrpc_schema_plan *plan;
	struct model_bytes structs;
	struct model_bytes text;
	struct model_bytes bytes;
	struct model_bytes text_refs;	/* u32 offsets in structs */
	struct model_bytes bytes_refs;
};

static size_t model_append(struct model_bytes *b, const void *p, size_t len, size_t pad)
{
	size_t at = b->len;
	size_t room = (len + pad - 1) / pad * pad;

	if (at + room > b->cap) {
		b->cap = 2 * (at + room);
		b->p = realloc(b->p, b->cap);
		assert(b->p);
	}
	memset(b->p + at, 0, room);
	if (len && p)
		memcpy(b->p + at, p, len);
	b->len += room;
	return at;
}

static void model_set_ref(struct model_out *out, size_t at, size_t off, u32 len)
{
	struct mrpc_ref ref = { .off = off, .len = len };

	memcpy(out->structs.p + at, &ref, sizeof(ref));
}

/* Text or bytes with a reference at @at. */
static void model_put_leaf(struct model_out *out, bool text, size_t at, const void *p, u32 n,
			   size_t len)
{
	u32 at32 = at;

	if (!n)
		return;
	if (text) {
		model_set_ref(out, at, model_append(&out->text, p, len, 1), n);
		model_append(&out->text, "", 1, 1);
		model_append(&out->text_refs, &at32, sizeof(at32), 1);
	} else {
		model_set_ref(out, at, model_append(&out->bytes, p, len, 8), n);
		model_append(&out->bytes_refs, &at32, sizeof(at32), 1);
	}
}

static void model_put_block(struct model_out *out, const struct model_msg *msg, size_t at);

static void model_put_repeated(struct model_out *out, const struct mrpc_field *f,
			       const struct model_field *v, size_t at)
{
	u32 size = model_elem_size(out->plan, f);
	size_t pos;
	u32 i;

	if (!v->n)
		return;
	switch (f->kind) {
	case MRPC_KIND_MESSAGE:
	case MRPC_KIND_STRING:
	case MRPC_KIND_BYTES:
		pos = model_append(&out->structs, NULL, (size_t)v->n * size, 8);
		model_set_ref(out, at, pos, v->n);
		for (i = 0; i < v->n; i++, pos += size) {
			if (f->kind == MRPC_KIND_MESSAGE)
				model_put_block(out, v->msgs[i], pos);
			else
				model_put_leaf(out, model_text(f), pos, v->items[i].data,
					       v->items[i].n, v->items[i].n);
		}
		break;
	case MRPC_KIND_BOOL:
		model_set_ref(out, at, model_append(&out->structs, v->data, v->n, 8), v->n);
		break;
	default:
		model_put_leaf(out, false, at, v->data, v->n, (size_t)v->n * size);
	}
}

static void model_put_field(struct model_out *out, const struct mrpc_type *t,
			    const struct mrpc_field *f, const struct model_field *v, size_t block)
{
	size_t at = block + f->offset;

	if (model_repeated(f)) {
		model_put_repeated(out, f, v, at);
		return;
	}
	if (!v->present)
		return;
	if (f->flags & MRPC_FIELD_OPTIONAL)
		out->structs.p[block + f->has_bit / 8] |= 1 << f->has_bit % 8;
	if (f->oneof != MRPC_SCHEMA_NO_ONEOF)
		memcpy(out->structs.p + block + t->oneof_offset + 4 * f->oneof, &f->number, 4);
	switch (f->kind) {
	case MRPC_KIND_MESSAGE: {
		size_t pos = model_append(&out->structs, NULL, out->plan->types[f->type].size, 8);

		model_set_ref(out, at, pos, 1);
		model_put_block(out, v->msgs[0], pos);
		break;
	}
	case MRPC_KIND_STRING:
	case MRPC_KIND_BYTES:
		model_put_leaf(out, model_text(f), at, v->data, v->n, v->n);
		break;
	default:
		memcpy(out->structs.p + at, v->data, model_elem_size(out->plan, f));
	}
}

/* Fills a zeroed block, and appends what it refers to. */
static void model_put_block(struct model_out *out, const struct model_msg *msg, size_t at)
{
	const struct mrpc_type *t = &out->plan->types[msg->type];
	const struct mrpc_field *fields = out->plan->fields + t->first_field;
	u32 i, j;

	for (i = 0; i < t->nr_fields; i++) {
		const struct mrpc_field *f = &fields[i];

		if (f->oneof == MRPC_SCHEMA_NO_ONEOF) {
			model_put_field(out, t, f, &msg->fields[i], at);
			continue;
		}
		/* Only at the lowest member, for all of them. */
		for (j = 0; j < i && fields[j].oneof != f->oneof; j++)
			;
		if (j < i)
			continue;
		for (; j < t->nr_fields; j++)
			if (fields[j].oneof == f->oneof)
				model_put_field(out, t, &fields[j], &msg->fields[j], at);
	}
}

/* Moves references by where their section starts. */
static void model_shift(struct model_out *out, const struct model_bytes *refs, u32 by)
{
	size_t i;

	for (i = 0; i < refs->len; i += 4) {
		struct mrpc_ref ref;
		u32 at;

		memcpy(&at, refs->p + i, 4);
		memcpy(&ref, out->structs.p + at, sizeof(ref));
		model_set_ref(out, at, ref.off + by, ref.len);
	}
}

u8 *model_encode(const struct mrpc_schema_plan *plan, const struct model_msg *msg,
		 struct mrpc_msg_len *len)
{
	struct model_out out = { .plan = plan };
	u8 *wire;

	model_append(&out.structs, NULL, plan->types[msg->type].size, 8);
	model_put_block(&out, msg, 0);
	len->structs = out.structs.len;
	len->text = out.text.len;
	len->bytes = out.bytes.len;
	model_shift(&out, &out.text_refs, len->structs);
	model_shift(&out, &out.bytes_refs, mrpc_msg_head_len(len));
	wire = calloc(1, mrpc_msg_total(len));
	assert(wire);
	memcpy(wire, out.structs.p, out.structs.len);
	if (out.text.len)
		memcpy(wire + len->structs, out.text.p, out.text.len);
	if (out.bytes.len)
		memcpy(wire + mrpc_msg_head_len(len), out.bytes.p, out.bytes.len);
	free(out.structs.p);
	free(out.text.p);
	free(out.bytes.p);
	free(out.text_refs.p);
	free(out.bytes_refs.p);
	return wire;
}

/* -- decode ---------------------------------------------------------------- */

struct model_in {
	struct model_pool *pool;
	const struct mrpc_schema_plan *plan;
	const u8 *wire;
	u64 total;
};

static struct mrpc_ref model_get_ref(const struct model_in *in, u64 at)
{
	struct mrpc_ref ref;

	assert(at + sizeof(ref) <= in->total);
	memcpy(&ref, in->wire + at, sizeof(ref));
	return ref;
}

static void model_get_data(const struct model_in *in, struct model_field *v, u64 at, u64 len)
{
	assert(at + len <= in->total);
	v->data = model_alloc(in->pool, len);
	memcpy(v->data, in->wire + at, len);
}

static struct model_msg *model_get_block(const struct model_in *in, u32 type, u64 at);

static void model_get_repeated(const struct model_in *in, const struct mrpc_field *f,
			       struct model_field *v, struct mrpc_ref ref)
{
	u32 size = model_elem_size(in->plan, f);
	u64 at = ref.off;
	u32 i;

	v->n = ref.len;
	v->present = v->n;
	if (!v->n)
		return;
	assert(ref.off > 0 && at + (u64)ref.len * size <= in->total);
	switch (f->kind) {
	case MRPC_KIND_MESSAGE:
		v->msgs = model_alloc(in->pool, ref.len * sizeof(*v->msgs));
		for (i = 0; i < ref.len; i++)
			v->msgs[i] = model_get_block(in, f->type, at + (u64)i * size);
		break;
	case MRPC_KIND_STRING:
	case MRPC_KIND_BYTES:
		v->items = model_alloc(in->pool, ref.len * sizeof(*v->items));
		for (i = 0; i < ref.len; i++) {
			struct mrpc_ref item = model_get_ref(in, at + (u64)i * size);

			v->items[i].n = item.len;
			if (item.len)
				model_get_data(in, &v->items[i], item.off, item.len);
		}
		break;
	default:
		model_get_data(in, v, at, (u64)ref.len * size);
	}
}

static bool model_is_set(const struct model_in *in, const struct mrpc_type *t,
			 const struct mrpc_field *f, u64 block)
{
	u32 number;

	if (f->flags & MRPC_FIELD_OPTIONAL)
		return in->wire[block + f->has_bit / 8] >> f->has_bit % 8 & 1;
	if (f->oneof != MRPC_SCHEMA_NO_ONEOF) {
		memcpy(&number, in->wire + block + t->oneof_offset + 4 * f->oneof, 4);
		return number == f->number;
	}
	if (f->kind >= MRPC_KIND_STRING)
		return model_get_ref(in, block + f->offset).len;
	return true;
}

static struct model_msg *model_get_block(const struct model_in *in, u32 type, u64 at)
{
	const struct mrpc_type *t = &in->plan->types[type];
	struct model_msg *msg = model_alloc(in->pool, sizeof(*msg));
	u32 i;

	assert(at + t->size <= in->total);
	msg->type = type;
	msg->fields = model_alloc(in->pool, t->nr_fields * sizeof(*msg->fields));
	for (i = 0; i < t->nr_fields; i++) {
		const struct mrpc_field *f = &in->plan->fields[t->first_field + i];
		struct model_field *v = &msg->fields[i];
		struct mrpc_ref ref;

		if (model_repeated(f)) {
			model_get_repeated(in, f, v, model_get_ref(in, at + f->offset));
			continue;
		}
		v->present = model_is_set(in, t, f, at);
		if (!v->present)
			continue;
		if (f->kind < MRPC_KIND_STRING) {
			model_get_data(in, v, at + f->offset, model_elem_size(in->plan, f));
			continue;
		}
		ref = model_get_ref(in, at + f->offset);
		assert(!ref.len || ref.off > 0);
		v->n = ref.len;
		if (f->kind == MRPC_KIND_MESSAGE) {
			v->msgs = model_alloc(in->pool, sizeof(*v->msgs));
			v->msgs[0] = model_get_block(in, f->type, ref.off);
		} else if (ref.len) {
			model_get_data(in, v, ref.off, ref.len);
		}
	}
	return msg;
}

struct model_msg *model_decode(struct model_pool *pool, const struct mrpc_schema_plan *plan,
			       u32 type, const u8 *wire, const struct mrpc_msg_len *len)
{
	struct model_in in = {
		.pool = pool, .plan = plan, .wire = wire, .total = mrpc_msg_total(len),
	};

	return model_get_block(&in, type, 0);
}

/* -- compare --------------------------------------------------------------- */

static bool model_same_data(const u8 *a, const u8 *b, size_t len)
{
	return !len || !memcmp(a, b, len);
}

static bool model_field_equal(const struct mrpc_schema_plan *plan, const struct mrpc_field *f,
			      const struct model_field *a, const struct model_field *b)
{
	u32 i;

	if (a->present != b->present)
		return false;
	if (!a->present)
		return true;
	if (!model_repeated(f) && f->kind < MRPC_KIND_STRING)
		return model_same_data(a->data, b->data, model_elem_size(plan, f));
	if (f->kind == MRPC_KIND_MESSAGE && !model_repeated(f))
		return model_equal(plan, a->msgs[0], b->msgs[0]);
	if (a->n != b->n)
		return false;
	if (!model_repeated(f))
		return model_same_data(a->data, b->data, a->n);
	if (f->kind < MRPC_KIND_STRING)
		return model_same_data(a->data, b->data, (size_t)a->n * model_elem_size(plan, f));
	for (i = 0; i < a->n; i++) {
		if (f->kind == MRPC_KIND_MESSAGE ?
		    !model_equal(plan, a->msgs[i], b->msgs[i]) :
		    a->items[i].n != b->items[i].n ||
		    !model_same_data(a->items[i].data, b->items[i].data, a->items[i].n))
			return false;
	}
	return true;
}

bool model_equal(const struct mrpc_schema_plan *plan, const struct model_msg *a,
		 const struct model_msg *b)
{
	const struct mrpc_type *t = &plan->types[a->type];
	u32 i;

	if (a->type != b->type)
		return false;
	for (i = 0; i < t->nr_fields; i++)
		if (!model_field_equal(plan, &plan->fields[t->first_field + i],
				       &a->fields[i], &b->fields[i]))
			return false;
	return true;
}
