// SPDX-License-Identifier: GPL-2.0
/* Other encodings of a protobuf message: see proto.h. */
#include <assert.h>
#include <stdlib.h>

#include "lib/protobuf/number.h"
#include "lib/protobuf/scan.h"
#include "proto.h"

/*
 * A piece of a message. Pieces with the same @order keep their order, as those of a field or of a
 * oneof must.
 */
struct piece {
	struct proto_bytes bytes;
	u64 order;
};

struct pieces {
	struct piece *p;
	u32 n;
};

static struct proto_bytes *add_piece(struct pieces *all, u64 order)
{
	all->p = realloc(all->p, (all->n + 1) * sizeof(*all->p));
	assert(all->p);
	all->p[all->n] = (struct piece){ .order = order };
	proto_append(&all->p[all->n].bytes, NULL, 0);
	return &all->p[all->n++].bytes;
}

static const struct mrpc_field *find(const struct mrpc_schema_plan *plan, u32 type, u32 number)
{
	const struct mrpc_type *t = &plan->types[type];
	u32 i;

	for (i = 0; i < t->nr_fields; i++)
		if (plan->fields[t->first_field + i].number == number)
			return &plan->fields[t->first_field + i];
	return NULL;
}

/* A tag or a length, sometimes in more bytes than needed. */
static void append_u32(struct proto_vary *v, struct proto_bytes *b, u32 value)
{
	u32 len = mrpc_pb_varint_size(value);
	u8 bytes[MRPC_PB_MAX_VARINT] = { 0 };

	mrpc_pb_varint_put(bytes, value);
	if (len < MRPC_PB_MAX_VARINT32 && gen_chance(v->g, 5)) {
		bytes[len - 1] |= 0x80;
		while (++len < MRPC_PB_MAX_VARINT32 && gen_chance(v->g, 50))
			bytes[len - 1] |= 0x80;
	}
	proto_append(b, bytes, len);
}

static void append_tag(struct proto_vary *v, struct proto_bytes *b, u32 number, u32 wire)
{
	append_u32(v, b, number << 3 | wire);
}

static void append_content(struct proto_vary *v, struct proto_bytes *b, u32 number,
			   const struct proto_bytes *content)
{
	append_tag(v, b, number, MRPC_PB_LEN);
	append_u32(v, b, content->len);
	proto_append(b, content->p, content->len);
}

/* -- unknown fields -------------------------------------------------------- */

static void append_unknown(struct proto_vary *v, struct proto_bytes *b, u32 number, u32 wire,
			   u32 depth)
{
	static const u8 junk[24] = { 0xff, 0x80, 1 };
	u32 n;

	append_tag(v, b, number, wire);
	switch (wire) {
	case MRPC_PB_VARINT:
		proto_append_varint(b, gen_u64(v->g) >> gen_below(v->g, 64));
		break;
	case MRPC_PB_FIXED64:
		proto_append(b, junk, 8);
		break;
	case MRPC_PB_FIXED32:
		proto_append(b, junk, 4);
		break;
	case MRPC_PB_LEN:
		n = gen_below(v->g, sizeof(junk));
		append_u32(v, b, n);
		proto_append(b, junk, n);
		break;
	default:
		for (n = gen_below(v->g, 3); n && depth < 5; n--) {
			static const u8 wires[] = {
				MRPC_PB_VARINT, MRPC_PB_FIXED64, MRPC_PB_LEN, MRPC_PB_GROUP,
				MRPC_PB_FIXED32,
			};

			append_unknown(v, b, 1 + gen_below(v->g, 100), wires[gen_below(v->g, 5)],
				       depth + 1);
		}
		append_tag(v, b, number, MRPC_PB_GROUP_END);
	}
}

/* A number that the type does not have, or a wire type that its field has not. */
static void add_unknown(struct proto_vary *v, struct pieces *all, u32 type)
{
	static const u8 wires[] = {
		MRPC_PB_VARINT, MRPC_PB_FIXED64, MRPC_PB_LEN, MRPC_PB_GROUP, MRPC_PB_FIXED32,
	};
	u32 number = 1 + gen_below(v->g, gen_chance(v->g, 50) ? 20 : MRPC_SCHEMA_MAX_NUMBER);
	u32 wire = wires[gen_below(v->g, ARRAY_SIZE(wires))];
	const struct mrpc_field *f = find(v->plan, type, number);

	if (f && (wire == mrpc_pb_wire_of(f->kind) ||
		  (wire == MRPC_PB_LEN && f->flags & MRPC_FIELD_REPEATED)))
		return;
	append_unknown(v, add_piece(all, (u64)2 << 32 | all->n), number, wire, 0);
	v->unknown++;
}

/* -- known fields ---------------------------------------------------------- */

static u64 order_of(const struct mrpc_field *f)
{
	return f->members ? (u64)1 << 32 | f->oneof : f->number;
}

/* A value of a singular field, or of another member of its oneof, that does not count. */
static void add_before(struct proto_vary *v, struct pieces *all, u32 type,
		       const struct mrpc_field *f)
{
	const struct mrpc_type *t = &v->plan->types[type];
	const struct mrpc_field *other = f;
	struct proto_bytes *b;

	if (f->members) {
		other = &v->plan->fields[t->first_field + gen_below(v->g, t->nr_fields)];
		if (other->oneof != f->oneof)
			other = f;
	}
	if (other->kind == MRPC_KIND_MESSAGE && other == f)
		return;
	b = add_piece(all, order_of(f));
	switch (mrpc_pb_wire_of(other->kind)) {
	case MRPC_PB_LEN:
		append_content(v, b, other->number, &(struct proto_bytes){ (u8 *)"", 0 });
		break;
	case MRPC_PB_VARINT:
		append_tag(v, b, other->number, MRPC_PB_VARINT);
		proto_append_varint(b, gen_u64(v->g));
		break;
	default:
		append_tag(v, b, other->number, mrpc_pb_wire_of(other->kind));
		proto_append(b, "\1\2\3\4\5\6\7\10",
			     mrpc_pb_wire_of(other->kind) == MRPC_PB_FIXED32 ? 4 : 8);
	}
}

static void add_message(struct proto_vary *v, struct pieces *all, const struct mrpc_field *f,
			const u8 *in, u32 len)
{
	bool repeated = f->flags & MRPC_FIELD_REPEATED;
	struct proto_bytes part = { 0 };
	u32 pos = 0, cut = 0;

	/* In two parts, between two of its fields. */
	if (!repeated && v->merges && len && gen_chance(v->g, 30)) {
		u32 want = gen_below(v->g, len), groups[MRPC_PB_MAX_GROUPS];
		struct mrpc_pb_token t;

		while (pos < want)
			assert(!mrpc_pb_scan(in, &pos, len, groups, &t));
		cut = pos;
		v->merges--;
		part = proto_vary(v, f->type, in, cut);
		append_content(v, add_piece(all, order_of(f)), f->number, &part);
		free(part.p);
	}
	part = proto_vary(v, f->type, in + cut, len - cut);
	append_content(v, add_piece(all, order_of(f)), f->number, &part);
	free(part.p);
}

/* Bytes of the element at @p. */
static u32 element_len(const struct mrpc_field *f, const u8 *p)
{
	u32 n = 1;

	if (mrpc_pb_wire_of(f->kind) != MRPC_PB_VARINT)
		return f->elem_size;
	while (p[n - 1] & 0x80)
		n++;
	return n;
}

/* The elements at @in as arrays and single ones. */
static void add_elements(struct proto_vary *v, struct pieces *all, const struct mrpc_field *f,
			 const u8 *in, u32 len)
{
	while (len) {
		u32 chunk = 0, n = 1 + gen_below(v->g, 8);
		bool packed = gen_chance(v->g, 50);
		struct proto_bytes *b = add_piece(all, order_of(f));

		if (!packed)
			n = 1;
		else if (gen_chance(v->g, 10))
			n = 0;
		while (n-- && chunk < len)
			chunk += element_len(f, in + chunk);
		if (packed) {
			append_content(v, b, f->number, &(struct proto_bytes){ (u8 *)in, chunk });
		} else {
			append_tag(v, b, f->number, mrpc_pb_wire_of(f->kind));
			proto_append(b, in, chunk);
		}
		in += chunk;
		len -= chunk;
	}
}

static void add_field(struct proto_vary *v, struct pieces *all, u32 type, const u8 *in, u32 start,
		      u32 end, const struct mrpc_pb_token *t)
{
	const struct mrpc_field *f = find(v->plan, type, t->number);

	assert(f);
	if (!(f->flags & MRPC_FIELD_REPEATED) && gen_chance(v->g, 10))
		add_before(v, all, type, f);
	if (f->kind == MRPC_KIND_MESSAGE)
		add_message(v, all, f, in + t->at, t->value);
	else if (f->kind < MRPC_KIND_STRING && t->wire == MRPC_PB_LEN)
		add_elements(v, all, f, in + t->at, t->value);
	else if (f->flags & MRPC_FIELD_REPEATED && f->kind < MRPC_KIND_STRING)
		add_elements(v, all, f, in + start + mrpc_pb_varint_size(f->number << 3),
			     end - start - mrpc_pb_varint_size(f->number << 3));
	else
		proto_append(add_piece(all, order_of(f)), in + start, end - start);
}

static void shuffle(struct proto_vary *v, struct pieces *all)
{
	u32 i, n = gen_chance(v->g, 30) ? 0 : 3 * all->n;

	while (n--) {
		i = gen_below(v->g, all->n - 1);
		if (all->n > 1 && all->p[i].order != all->p[i + 1].order)
			swap(all->p[i], all->p[i + 1]);
	}
}

struct proto_bytes proto_vary(struct proto_vary *v, u32 type, const u8 *in, size_t len)
{
	u32 groups[MRPC_PB_MAX_GROUPS], pos = 0, i;
	struct proto_bytes out = { 0 };
	struct pieces all = { 0 };

	while (pos < len) {
		u32 start = pos;
		struct mrpc_pb_token t;

		assert(!mrpc_pb_scan(in, &pos, len, groups, &t));
		add_field(v, &all, type, in, start, pos, &t);
	}
	while (gen_chance(v->g, 20))
		add_unknown(v, &all, type);
	if (all.n)
		shuffle(v, &all);
	proto_append(&out, NULL, 0);
	for (i = 0; i < all.n; i++) {
		proto_append(&out, all.p[i].bytes.p, all.p[i].bytes.len);
		free(all.p[i].bytes.p);
	}
	free(all.p);
	return out;
}
