// SPDX-License-Identifier: GPL-2.0
/* Protobuf in tests: see proto.h; proto_vary.c has other encodings of a message. */
#include <assert.h>
#include <stdlib.h>

#include "proto.h"

/* A power of two, so that it follows from the length how much there is. */
static size_t proto_room(size_t len)
{
	return len <= 64 ? 64 : 1ULL << fls64(len - 1);
}

void proto_append(struct proto_bytes *b, const void *p, size_t len)
{
	if (!b->p || proto_room(b->len + len) > proto_room(b->len))
		b->p = realloc(b->p, proto_room(b->len + len));
	assert(b->p);
	if (len)
		memcpy(b->p + b->len, p, len);
	b->len += len;
}

void proto_append_varint(struct proto_bytes *b, u64 v)
{
	u8 bytes[MRPC_PB_MAX_VARINT];

	mrpc_pb_varint_put(bytes, v);
	proto_append(b, bytes, mrpc_pb_varint_size(v));
}

/* -- decode ---------------------------------------------------------------- */

/* To the byte while it is small: that finds most mistakes; then for speed. */
static int proto_grow(struct mrpc_pb_message *m, u32 need)
{
	u32 cap = need <= 4096 ? need : min(need + need / 2, max(m->arena_max, need));
	u8 *arena = malloc(cap);

	assert(arena && need <= m->arena_max && need > m->arena_cap);
	memset(arena, 0xa5, cap);
	if (m->arena_len)
		memcpy(arena, m->arena, m->arena_len);
	free(m->arena);
	m->arena = arena;
	m->arena_cap = cap;
	return 0;
}

/* Head and byte blocks, put together. */
static u8 *proto_assemble(struct mrpc_pb_message *m, const struct mrpc_msg_buf *buf)
{
	u64 at = mrpc_msg_head_len(&buf->len);
	u8 *wire = calloc(1, mrpc_msg_total(&buf->len));
	u32 i;

	assert(wire);
	memcpy(wire, buf->head, at);
	for (i = 0; i < buf->nr_segs; i++) {
		const struct mrpc_msg_seg *seg = &buf->segs[i];
		const void *p = mrpc_pb_at(m, seg->src, seg->len);

		assert(p && at + seg->len <= mrpc_msg_total(&buf->len));
		memcpy(wire + at, p, seg->len);
		at += ALIGN(seg->len, 8);
	}
	assert(at == mrpc_msg_total(&buf->len));
	return wire;
}

static void proto_snapshot(struct mrpc_pb_message *m, const struct mrpc_schema_plan *plan,
			   u32 type, struct proto_decoded *d)
{
	struct mrpc_msg_src src;
	struct gen_buf b;

	mrpc_pb_source(m, &src);
	gen_buf_init(&b, 1U << 30);
	d->ret = mrpc_msg_snapshot(plan, type, &src, 0, &b.buf, &d->err);
	d->by_snapshot = d->ret;
	if (!d->ret) {
		d->wire = proto_assemble(m, &b.buf);
		d->len = b.buf.len;
		d->ret = mrpc_msg_verify(plan, type, d->wire, &d->len, &d->err);
		assert(!d->ret);
	}
	gen_buf_free(&b);
}

struct proto_decoded proto_decode(const struct mrpc_schema_plan *plan, u32 type, const u8 *in,
				  size_t len, u32 arena_max)
{
	static struct mrpc_pb_scratch scratch;
	struct mrpc_pb_message m = { .in_len = len, .arena_max = arena_max, .grow = proto_grow };
	struct proto_decoded d = { 0 };
	u8 *copy = malloc(len + !len);

	assert(copy);
	if (len)
		memcpy(copy, in, len);
	m.in = copy;
	memset(&scratch, 0xa5, sizeof(scratch));
	d.ret = mrpc_pb_decode(&m, &scratch, plan, type, &d.err);
	d.arena = m.arena_len;
	d.unknown = m.unknown;
	assert(m.arena_len <= min_t(u32, arena_max, MRPC_MAX_HEAD));
	if (!d.ret)
		proto_snapshot(&m, plan, type, &d);
	assert(!d.ret == !!d.wire && !d.ret == !d.err.what);
	free(m.arena);
	free(copy);
	return d;
}

/* -- encode ---------------------------------------------------------------- */

static const u8 *proto_block(const struct mrpc_pb_input *in, const struct mrpc_pb_cut *cut)
{
	u32 at = cut->off - mrpc_msg_head_len(&in->len);
	const struct mrpc_msg_seg *seg;

	if (in->bytes) {
		assert(cut->seg == U32_MAX && at + cut->len <= in->len.bytes);
		return in->bytes + at;
	}
	seg = &in->segs->segs[cut->seg];
	assert(seg->len == cut->len);
	return in->src->at(in->src->ctx, seg->src, seg->len);
}

/* The buffer with the cuts' blocks in their places. */
static struct proto_bytes proto_join(const struct mrpc_pb_input *in,
				     const struct mrpc_pb_size *size, const u8 *buf,
				     const struct mrpc_pb_cut *cuts)
{
	struct proto_bytes out = { 0 };
	u32 at = 0, i;

	proto_append(&out, NULL, 0);
	for (i = 0; i < size->nr_cuts; i++) {
		assert(cuts[i].at >= at && cuts[i].len >= MRPC_PB_CUT);
		proto_append(&out, buf + at, cuts[i].at - at);
		at = cuts[i].at;
		proto_append(&out, proto_block(in, &cuts[i]), cuts[i].len);
	}
	proto_append(&out, buf + at, size->buf_len - at);
	assert(out.len == size->total);
	return out;
}

/* Encodes without measuring: the result is the same, or does not fit. */
static void proto_encode_small(const struct mrpc_pb_input *in, const struct mrpc_pb_size *size,
			       const struct proto_bytes *out)
{
	static struct mrpc_pb_levels levels;
	u32 more;

	memset(&levels, 0x5a, sizeof(levels));
	for (more = 0; more < 3; more++) {
		u32 room = size->total + more - 1;
		u8 *buf;
		int ret;

		if (!size->total && !more)
			continue;
		buf = malloc(room + 1);
		assert(buf);
		ret = mrpc_pb_encode_small(in, &levels, buf, room);
		if (size->nr_cuts || !more) {
			assert(ret == -EMSGSIZE);
		} else {
			assert(ret == (int)size->total);
			assert(!ret || !memcmp(buf + room - ret, out->p, ret));
		}
		free(buf);
	}
}

struct proto_bytes proto_encode(const struct mrpc_pb_input *in)
{
	static struct mrpc_pb_levels levels;
	struct proto_bytes out;
	struct mrpc_pb_size size, same;
	struct mrpc_pb_cut *cuts;
	u8 *buf;
	int ret;

	memset(&levels, 0xa5, sizeof(levels));
	ret = mrpc_pb_size(in, &levels, U32_MAX, &size);
	if (ret == -ENODATA)
		return (struct proto_bytes){ 0 };
	assert(!ret);
	assert(!mrpc_pb_size(in, &levels, size.total, &same) && !memcmp(&size, &same, sizeof(same)));
	assert(!size.total || mrpc_pb_size(in, &levels, size.total - 1, &same) == -EMSGSIZE);
	buf = malloc(size.buf_len + !size.buf_len);
	cuts = malloc(size.nr_cuts * sizeof(*cuts) + !size.nr_cuts);
	assert(buf && cuts);
	ret = mrpc_pb_encode(in, &levels, &size, buf, cuts);
	assert(!ret);
	out = proto_join(in, &size, buf, cuts);
	free(buf);
	free(cuts);
	proto_encode_small(in, &size, &out);
	return out;
}

struct proto_bytes proto_encode_wire(const struct mrpc_schema_plan *plan, u32 type, const u8 *wire,
				     const struct mrpc_msg_len *len)
{
	const struct mrpc_pb_input in = {
		.plan = plan, .type = type, .len = *len, .head = wire,
		.bytes = wire + mrpc_msg_head_len(len),
	};

	return proto_encode(&in);
}

/* -- random messages ------------------------------------------------------- */

struct proto_cook {
	struct gen *g;
	struct model_pool *pool;
	const struct mrpc_schema_plan *plan;
};

static u64 proto_number(struct gen *g)
{
	static const u64 some[] = {
		0, 1, 127, 128, 16383, 16384, 1ULL << 31, (1ULL << 31) - 1, ~0ULL, 1ULL << 63,
		(1ULL << 63) - 1, 0xffffffff, 0x7ff0000000000001, 0x7fc00001, 0x80000000,
	};

	return some[gen_below(g, ARRAY_SIZE(some))];
}

static void proto_numbers(struct proto_cook *c, const struct mrpc_field *f, struct model_field *v)
{
	u32 n = f->flags & MRPC_FIELD_REPEATED ? v->n : v->present, i;

	if (f->kind == MRPC_KIND_BOOL)
		return;
	for (i = 0; i < n; i++) {
		u64 value = proto_number(c->g);

		if (gen_chance(c->g, 50))
			memcpy(v->data + (size_t)i * f->elem_size, &value, f->elem_size);
	}
}

/* A message that has nothing. */
static struct model_msg *proto_empty(struct proto_cook *c, u32 type)
{
	const struct mrpc_type *t = &c->plan->types[type];
	struct model_msg *msg = model_alloc(c->pool, sizeof(*msg));
	u32 i;

	msg->type = type;
	msg->fields = model_alloc(c->pool, t->nr_fields * sizeof(*msg->fields));
	for (i = 0; i < t->nr_fields; i++) {
		const struct mrpc_field *f = &c->plan->fields[t->first_field + i];

		if (f->kind >= MRPC_KIND_STRING || f->flags || f->members)
			continue;
		msg->fields[i].present = true;
		msg->fields[i].data = model_alloc(c->pool, f->elem_size);
	}
	return msg;
}

static bool proto_cook(struct proto_cook *c, struct model_msg *msg, u32 depth)
{
	const struct mrpc_type *t = &c->plan->types[msg->type];
	bool fits = depth <= MRPC_MAX_DEPTH;
	u32 i, j;

	for (i = 0; i < t->nr_fields && fits; i++) {
		const struct mrpc_field *f = &c->plan->fields[t->first_field + i];
		struct model_field *v = &msg->fields[i];

		if (f->kind < MRPC_KIND_STRING) {
			proto_numbers(c, f, v);
			continue;
		}
		if (f->kind != MRPC_KIND_MESSAGE)
			continue;
		if (t->flags & MRPC_TYPE_MAP_ENTRY && !v->present) {
			v->msgs = model_alloc(c->pool, sizeof(*v->msgs));
			v->msgs[0] = proto_empty(c, f->type);
			v->n = 1;
			v->present = true;
		}
		for (j = 0; j < v->n && fits; j++)
			fits = proto_cook(c, v->msgs[j], depth + 1);
	}
	return fits;
}

bool proto_season(struct gen *g, struct model_pool *pool, const struct mrpc_schema_plan *plan,
		  struct model_msg *msg)
{
	struct proto_cook c = { .g = g, .pool = pool, .plan = plan };

	return proto_cook(&c, msg, 1);
}
