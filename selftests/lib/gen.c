// SPDX-License-Identifier: GPL-2.0
/*
 * What is random: choices, schemas, trees of messages; and what a plan must be. See
 * gen.h; gen_heap.c is the memory that messages are in.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "gen.h"

/* -- choices --------------------------------------------------------------- */

static u64 gen_next(struct gen *g)
{
	u64 z;

	if (!g->state)
		return 0;
	/* splitmix64 */
	g->state += 0x9e3779b97f4a7c15;
	z = g->state;
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

void gen_bytes(struct gen *g, void *p, size_t n)
{
	u8 *to = p;

	for (; n && g->left; n--, g->left--)
		*to++ = *g->data++;
	while (n) {
		u64 v = gen_next(g);
		size_t part = min(n, sizeof(v));

		memcpy(to, &v, part);
		to += part;
		n -= part;
	}
}

u64 gen_u64(struct gen *g)
{
	u64 v = 0;

	gen_bytes(g, &v, sizeof(v));
	return v;
}

u32 gen_below(struct gen *g, u32 n)
{
	u32 v = 0;

	/* As few of a fuzzer's bytes as will do. */
	gen_bytes(g, &v, n <= 1 << 8 ? 1 : n <= 1 << 16 ? 2 : 4);
	return n ? v % n : 0;
}

bool gen_chance(struct gen *g, u32 percent)
{
	return gen_below(g, 100) < percent;
}

/* -- schemas --------------------------------------------------------------- */

u32 gen_add_method(struct gen_schema *s, u16 request, u16 reply)
{
	assert(s->nr_methods < ARRAY_SIZE(s->methods));
	s->methods[s->nr_methods] = (struct mrpc_schema_method){
		.request = cpu_to_le16(request), .reply = cpu_to_le16(reply),
	};
	return s->nr_methods++;
}

u32 gen_add_type(struct gen_schema *s)
{
	assert(s->nr_types < ARRAY_SIZE(s->types));
	memset(&s->types[s->nr_types], 0, sizeof(s->types[0]));
	return s->nr_types++;
}

u32 gen_add_field(struct gen_schema *s, u32 number, u8 kind, u8 flags, u16 type, u16 oneof)
{
	struct mrpc_schema_type *t = &s->types[s->nr_types - 1];

	assert(s->nr_types && s->nr_fields < ARRAY_SIZE(s->fields));
	s->fields[s->nr_fields] = (struct mrpc_schema_field){
		.number = cpu_to_le32(number), .kind = kind, .flags = flags,
		.type = cpu_to_le16(type), .oneof = cpu_to_le16(oneof),
	};
	t->nr_fields++;
	if (oneof != MRPC_SCHEMA_NO_ONEOF && oneof >= t->nr_oneofs)
		t->nr_oneofs = oneof + 1;
	return s->nr_fields++;
}

struct gen_text {
	char *p;
	size_t len;
};

static void gen_put_name(struct gen_text *names, const char *name)
{
	size_t n = strlen(name) + 1;

	names->p = realloc(names->p, names->len + n);
	assert(names->p);
	memcpy(names->p + names->len, name, n);
	names->len += n;
}

static void gen_put_names(struct gen_text *names, const char *format, u32 n, const char *last)
{
	char name[32];
	u32 i;

	for (i = 0; i < n; i++) {
		snprintf(name, sizeof(name), format, i);
		gen_put_name(names, last && i == n - 1 ? last : name);
	}
}

u8 *gen_schema_binary(const struct gen_schema *s, size_t *len)
{
	struct mrpc_schema_hdr hdr = {
		.magic = cpu_to_le32(MRPC_SCHEMA_MAGIC),
		.version = cpu_to_le16(MRPC_SCHEMA_VERSION),
		.nr_methods = cpu_to_le16(s->nr_methods),
		.nr_types = cpu_to_le16(s->nr_types),
		.nr_fields = cpu_to_le32(s->nr_fields),
	};
	size_t methods = s->nr_methods * sizeof(s->methods[0]);
	size_t types = s->nr_types * sizeof(s->types[0]);
	size_t fields = s->nr_fields * sizeof(s->fields[0]);
	struct gen_text names = { 0 };
	u8 *buf, *p;

	gen_put_name(&names, s->service ? s->service : "t.S");
	gen_put_names(&names, "M%04u", s->nr_methods, s->method_name);
	gen_put_names(&names, "t.T%u", s->nr_types, s->type_name);
	gen_put_names(&names, "f%u", s->nr_fields, s->field_name);
	hdr.names_len = cpu_to_le32(names.len);
	*len = sizeof(hdr) + methods + types + fields + names.len;
	hdr.len = cpu_to_le32(*len);

	p = buf = malloc(*len);
	assert(buf);
	memcpy(p, &hdr, sizeof(hdr));
	p += sizeof(hdr);
	memcpy(p, s->methods, methods);
	p += methods;
	memcpy(p, s->types, types);
	p += types;
	memcpy(p, s->fields, fields);
	p += fields;
	memcpy(p, names.p, names.len);
	free(names.p);
	return buf;
}

/* A new type or one that is there already, without map entries. */
static u32 gen_pick_type(struct gen *g, u32 *nr_mentioned, const u8 *maps)
{
	u32 type = gen_below(g, *nr_mentioned + 1);

	while (type < *nr_mentioned && maps[type])
		type++;
	if (type == *nr_mentioned && *nr_mentioned < 12)
		return (*nr_mentioned)++;
	while (type == *nr_mentioned || maps[type])
		type--;		/* type 0 is a method's */
	return type;
}

static u8 gen_kind(struct gen *g)
{
	if (gen_chance(g, 20))
		return MRPC_KIND_MESSAGE;
	if (gen_chance(g, 30))
		return gen_chance(g, 50) ? MRPC_KIND_STRING : MRPC_KIND_BYTES;
	return 1 + gen_below(g, MRPC_KIND_MAX);
}

static void gen_map_entry(struct gen *g, struct gen_schema *s, u32 *nr_mentioned, const u8 *maps)
{
	static const u8 keys[] = {
		MRPC_KIND_BOOL, MRPC_KIND_INT32, MRPC_KIND_UINT64, MRPC_KIND_STRING,
	};
	u8 value = gen_kind(g);
	u16 type = MRPC_SCHEMA_NO_TYPE;

	s->types[s->nr_types - 1].flags = cpu_to_le16(MRPC_TYPE_MAP_ENTRY);
	gen_add_field(s, 1, keys[gen_below(g, ARRAY_SIZE(keys))], 0, MRPC_SCHEMA_NO_TYPE,
		      MRPC_SCHEMA_NO_ONEOF);
	if (value == MRPC_KIND_MESSAGE)
		type = gen_pick_type(g, nr_mentioned, maps);
	gen_add_field(s, 2, value, 0, type, MRPC_SCHEMA_NO_ONEOF);
}

static void gen_fields(struct gen *g, struct gen_schema *s, u32 *nr_mentioned, u8 *maps)
{
	u32 n = gen_below(g, gen_chance(g, 10) ? 80 : 9);
	u32 oneofs = 0, number = 0;

	while (n--) {
		u16 type = MRPC_SCHEMA_NO_TYPE, oneof = MRPC_SCHEMA_NO_ONEOF;
		u8 kind = gen_kind(g), flags = 0;

		number += 1 + (gen_chance(g, 20) ? gen_below(g, 100000) : 0);
		switch (gen_below(g, 4)) {
		case 0:
			flags = MRPC_FIELD_REPEATED;
			if (kind < MRPC_KIND_STRING && gen_chance(g, 70))
				flags |= MRPC_FIELD_PACKED;
			break;
		case 1:
			if (kind != MRPC_KIND_MESSAGE)
				flags = MRPC_FIELD_OPTIONAL;
			break;
		case 2:
			oneof = gen_below(g, oneofs + 1);
			oneofs += oneof == oneofs;
			break;
		}
		if (kind == MRPC_KIND_MESSAGE && flags & MRPC_FIELD_REPEATED && gen_chance(g, 30) &&
		    *nr_mentioned < 12) {
			type = (*nr_mentioned)++;
			maps[type] = 1;
		} else if (kind == MRPC_KIND_MESSAGE) {
			type = gen_pick_type(g, nr_mentioned, maps);
		}
		gen_add_field(s, number, kind, flags, type, oneof);
	}
}

u8 *gen_schema(struct gen *g, size_t *len)
{
	struct gen_schema *s = calloc(1, sizeof(*s));
	u32 nr_mentioned = 0, n;
	u8 maps[16] = { 0 };
	u8 *buf;

	assert(s);
	for (n = 1 + gen_below(g, 3); n; n--) {
		u16 request = gen_pick_type(g, &nr_mentioned, maps);

		gen_add_method(s, request, gen_pick_type(g, &nr_mentioned, maps));
	}
	while (s->nr_types < nr_mentioned) {
		u32 type = gen_add_type(s);

		if (maps[type])
			gen_map_entry(g, s, &nr_mentioned, maps);
		else
			gen_fields(g, s, &nr_mentioned, maps);
	}
	buf = gen_schema_binary(s, len);
	free(s);
	return buf;
}

struct mrpc_schema_plan *gen_compile(const void *buf, size_t len, struct mrpc_schema_error *err)
{
	s64 size = mrpc_schema_size(buf, len, err);
	void *mem;

	if (size < 0)
		return NULL;
	mem = malloc(size);
	assert(mem);
	if (mrpc_schema_compile(buf, len, mem, size, err)) {
		free(mem);
		return NULL;
	}
	return mem;
}

struct mrpc_schema_plan *gen_compile_exact(const void *buf, size_t len,
					   struct mrpc_schema_error *err)
{
	struct mrpc_schema_plan *plan;
	u8 *copy = malloc(len ? len : 1);

	assert(copy);
	memcpy(copy, buf, len);
	plan = gen_compile(copy, len, err);
	free(copy);
	return plan;
}

struct mrpc_schema_plan *gen_plan(struct gen *g)
{
	struct mrpc_schema_plan *plan;
	struct mrpc_schema_error err;
	size_t len;
	u8 *buf = gen_schema(g, &len);

	plan = gen_compile(buf, len, &err);
	assert(plan);
	free(buf);
	return plan;
}

/* -- a plan, computed another way ------------------------------------------ */

#define EXPECT(cond)	do { if (!(cond)) return #cond; } while (0)

static bool gen_is_ref(const struct mrpc_schema_field *f)
{
	return f->flags & MRPC_FIELD_REPEATED || f->kind >= MRPC_KIND_STRING;
}

static u32 gen_place_size(const struct mrpc_schema_field *f)
{
	if (gen_is_ref(f) || f->kind >= MRPC_KIND_INT64)
		return 8;
	return f->kind == MRPC_KIND_BOOL ? 1 : 4;
}

static u32 gen_place_align(const struct mrpc_schema_field *f)
{
	return gen_is_ref(f) ? 4 : gen_place_size(f);
}

enum { LIVE = 1, UNSET, ONEOF, GAP };

static const char *gen_check_fields(const struct mrpc_schema_plan *plan, const struct mrpc_type *t,
				    const struct mrpc_schema_field *in, u8 *map, u32 *size)
{
	u32 nr_has = 0, has_bit = 0, off, i, j;

	for (i = 0; i < t->nr_fields; i++)
		nr_has += !!(in[i].flags & MRPC_FIELD_OPTIONAL);
	EXPECT(t->nr_has == nr_has);
	off = nr_has ? ((nr_has - 1) / 32 + 1) * 4 : 0;
	EXPECT(t->oneof_offset == off);
	off += 4 * t->nr_oneofs;
	memset(map, LIVE, off);

	for (i = 0; i < t->nr_fields; i++) {
		const struct mrpc_field *f = &plan->fields[t->first_field + i];
		bool in_oneof = in[i].oneof != MRPC_SCHEMA_NO_ONEOF;
		u32 place = 0, align = 0, first = i;

		EXPECT(f->number == in[i].number);
		EXPECT(f->kind == in[i].kind && f->flags == in[i].flags);
		EXPECT(f->type == in[i].type && f->oneof == in[i].oneof);
		EXPECT(f->members == (in_oneof ? 1 + (i ? f[-1].members : 0) : 0));
		if (f->flags & MRPC_FIELD_OPTIONAL)
			EXPECT(f->has_bit == has_bit++);
		else
			EXPECT(f->has_bit == U16_MAX);
		for (j = 0; j < t->nr_fields; j++) {
			if (j != i && (!in_oneof || in[j].oneof != in[i].oneof))
				continue;
			first = min(first, j);
			place = max(place, gen_place_size(&in[j]));
			align = max(align, gen_place_align(&in[j]));
		}
		if (first < i) {
			EXPECT(f->offset == f[(int)first - (int)i].offset);
			continue;
		}
		while (off % align)
			map[off++] = GAP;
		EXPECT(f->offset == off);
		memset(map + off, in_oneof ? ONEOF : f->flags & MRPC_FIELD_OPTIONAL ? UNSET : LIVE,
		       place);
		off += place;
	}
	while (off % 8 || !off)
		map[off++] = GAP;
	*size = off;
	return NULL;
}

/* The dead list must say of each byte what the map says. */
static const char *gen_check_dead(const struct mrpc_schema_plan *plan, const struct mrpc_type *t,
				  const u8 *map, u32 size)
{
	static u8 seen[MRPC_SCHEMA_MAX_STRUCT];
	u32 i, j;

	memset(seen, LIVE, size);
	for (i = 0; i < t->nr_dead; i++) {
		const struct mrpc_dead *d = &plan->dead[t->first_dead + i];

		EXPECT(d->len && d->offset + d->len <= size);
		EXPECT(!i || d[-1].offset + d[-1].len <= d->offset);
		for (j = d->offset; j < (u32)d->offset + d->len; j++)
			seen[j] = d->when == MRPC_DEAD_UNSET ? UNSET :
				  d->when == MRPC_DEAD_ONEOF ? ONEOF : GAP;
		for (j = 0; j < t->nr_fields && d->when != MRPC_DEAD_ALWAYS; j++) {
			const struct mrpc_field *f = &plan->fields[t->first_field + j];

			if (d->when == MRPC_DEAD_UNSET && f->has_bit == d->arg)
				EXPECT(f->offset == d->offset);
			if (d->when == MRPC_DEAD_ONEOF && f->oneof == d->arg)
				EXPECT(f->offset == d->offset);
		}
	}
	EXPECT(!memcmp(seen, map, size));
	return NULL;
}

static const char *gen_check_active(const struct mrpc_schema_plan *plan, const struct mrpc_type *t)
{
	bool plain = true;
	u32 i, j, n = 0;

	for (i = 0; i < t->nr_fields; i++) {
		const struct mrpc_field *f = &plan->fields[t->first_field + i];

		if (f->oneof != MRPC_SCHEMA_NO_ONEOF || f->kind == MRPC_KIND_MESSAGE)
			plain = false;
		if (f->oneof == MRPC_SCHEMA_NO_ONEOF && f->shape == MRPC_SHAPE_SCALAR)
			continue;
		for (j = 0; j < i && f->oneof != MRPC_SCHEMA_NO_ONEOF; j++)
			if (plan->fields[t->first_field + j].oneof == f->oneof)
				break;
		if (f->oneof != MRPC_SCHEMA_NO_ONEOF && j < i)
			continue;
		EXPECT(n < t->nr_active);
		EXPECT(plan->active[t->first_active + n++] == i);
	}
	EXPECT(n == t->nr_active);
	EXPECT(t->plain == plain);
	return NULL;
}

static const char *gen_check_shape(const struct mrpc_schema_plan *plan, const struct mrpc_field *f)
{
	static const u8 shapes[][2] = {
		[MRPC_KIND_BOOL] = { MRPC_SHAPE_BOOL, MRPC_SHAPE_BOOLS },
		[MRPC_KIND_STRING] = { MRPC_SHAPE_TEXT, MRPC_SHAPE_TEXTS },
		[MRPC_KIND_BYTES] = { MRPC_SHAPE_BYTES, MRPC_SHAPE_BYTESS },
		[MRPC_KIND_MESSAGE] = { MRPC_SHAPE_MESSAGE, MRPC_SHAPE_MESSAGES },
	};
	bool repeated = f->flags & MRPC_FIELD_REPEATED;

	EXPECT(f->elem_size == model_elem_size(plan, f));
	if (shapes[f->kind][1])
		EXPECT(f->shape == shapes[f->kind][repeated]);
	else
		EXPECT(f->shape == (repeated ? MRPC_SHAPE_ARRAY : MRPC_SHAPE_SCALAR));
	return NULL;
}

const char *gen_check_plan(const void *buf, size_t len, const struct mrpc_schema_plan *plan)
{
	static u8 map[MRPC_SCHEMA_MAX_STRUCT + 8];
	const struct mrpc_schema_method *methods;
	const struct mrpc_schema_type *types;
	const struct mrpc_schema_field *fields;
	const struct mrpc_schema_hdr *hdr;
	u32 first_field = 0, i;
	const char *name, *why = NULL;
	u8 *copy = malloc(len);	/* aligned */

	assert(copy);
	memcpy(copy, buf, len);
	hdr = (void *)copy;
	methods = (void *)(hdr + 1);
	types = (void *)(methods + hdr->nr_methods);
	fields = (void *)(types + hdr->nr_types);
	name = (void *)(fields + hdr->nr_fields);

#define NEXT_NAME(of) do { \
		if (!why && strcmp(name, plan->names + (of))) \
			why = "a name is another"; \
		name += strlen(name) + 1; \
	} while (0)

	if (plan->nr_methods != hdr->nr_methods || plan->nr_types != hdr->nr_types ||
	    plan->nr_fields != hdr->nr_fields || plan->names_len != hdr->names_len)
		why = "counts differ";
	NEXT_NAME(0);
	for (i = 0; i < hdr->nr_methods; i++) {
		NEXT_NAME(plan->methods[i].name);
		if (plan->methods[i].request != methods[i].request ||
		    plan->methods[i].reply != methods[i].reply)
			why = "a method's types differ";
	}
	for (i = 0; i < hdr->nr_types && !why; i++) {
		const struct mrpc_type *t = &plan->types[i];
		u32 size = 0;

		NEXT_NAME(t->name);
		if (t->first_field != first_field || t->nr_fields != types[i].nr_fields ||
		    t->nr_oneofs != types[i].nr_oneofs || t->flags != types[i].flags)
			why = "a type differs";
		if (!why)
			why = gen_check_fields(plan, t, fields + first_field, map, &size);
		if (!why && t->size != size)
			why = "a type's size differs";
		if (!why)
			why = gen_check_dead(plan, t, map, size);
		if (!why)
			why = gen_check_active(plan, t);
		first_field += types[i].nr_fields;
	}
	for (i = 0; i < hdr->nr_fields && !why; i++) {
		NEXT_NAME(plan->fields[i].name);
		if (!why)
			why = gen_check_shape(plan, &plan->fields[i]);
	}
	if (!why && name != (char *)copy + len)
		why = "names are not all";
	free(copy);
	return why;
}

/* -- messages -------------------------------------------------------------- */

struct gen_tree {
	struct gen *g;
	struct model_pool *pool;
	const struct mrpc_schema_plan *plan;
	u32 budget;
	struct model_msg *done[8];	/* to be shared */
	u32 nr_done;
};

static void gen_text(struct gen *g, struct model_field *v, struct model_pool *pool)
{
	static const char *const chars[] = {
		"a", "Z", " ", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x90\x9f", "\xf4\x8f\xbf\xbf",
		"\xed\x9f\xbf", "\xee\x80\x80", "0123456789",
	};
	u32 n = gen_below(g, gen_chance(g, 10) ? 400 : 12);
	u8 *to;

	to = v->data = model_alloc(pool, n * 10 + 1);
	while (n--) {
		const char *c = chars[gen_below(g, ARRAY_SIZE(chars))];

		/* A NUL is a character like any other. */
		if (gen_chance(g, 5)) {
			*to++ = 0;
			continue;
		}
		memcpy(to, c, strlen(c));
		to += strlen(c);
	}
	v->n = to - v->data;
}

static void gen_data(struct gen *g, struct model_field *v, struct model_pool *pool)
{
	v->n = gen_below(g, gen_chance(g, 10) ? 3000 : 20);
	v->data = model_alloc(pool, v->n);
	gen_bytes(g, v->data, v->n);
}

static void gen_scalars(struct gen_tree *tree, const struct mrpc_field *f,
			struct model_field *v, u32 n)
{
	size_t len = (size_t)n * model_elem_size(tree->plan, f);
	size_t i;

	v->data = model_alloc(tree->pool, len);
	gen_bytes(tree->g, v->data, len);
	if (f->kind == MRPC_KIND_BOOL)
		for (i = 0; i < len; i++)
			v->data[i] &= 1;
}

static struct model_msg *gen_node(struct gen_tree *tree, u32 type, u32 depth);

static struct model_msg *gen_child(struct gen_tree *tree, u32 type, u32 depth)
{
	u32 i;

	/* What is kept is a leaf, or refers only to such: at most 8 deep. */
	for (i = 0; i < tree->nr_done && depth < MRPC_MAX_DEPTH - 8; i++)
		if (tree->done[i]->type == type && gen_chance(tree->g, 50))
			return tree->done[i];
	return gen_node(tree, type, depth);
}

/* Is there room for a child? */
static bool gen_may_nest(struct gen_tree *tree, u32 depth)
{
	return tree->budget && depth < MRPC_MAX_DEPTH;
}

static void gen_value(struct gen_tree *tree, const struct mrpc_field *f, struct model_field *v,
		      u32 depth)
{
	struct gen *g = tree->g;
	u32 n, i;

	if (!(f->flags & MRPC_FIELD_REPEATED)) {
		v->present = true;
		if (f->kind == MRPC_KIND_STRING) {
			gen_text(g, v, tree->pool);
		} else if (f->kind == MRPC_KIND_BYTES) {
			gen_data(g, v, tree->pool);
		} else if (f->kind == MRPC_KIND_MESSAGE) {
			v->msgs = model_alloc(tree->pool, sizeof(*v->msgs));
			v->msgs[0] = gen_child(tree, f->type, depth + 1);
			v->n = 1;
		} else {
			gen_scalars(tree, f, v, 1);
		}
		/* Nothing in the encoding tells an empty one from an absent one. */
		if (f->kind >= MRPC_KIND_STRING && !v->n && !(f->flags & MRPC_FIELD_OPTIONAL) &&
		    f->oneof == MRPC_SCHEMA_NO_ONEOF)
			v->present = false;
		return;
	}
	n = gen_below(g, gen_chance(g, 10) ? 70 : 5);
	if (f->kind == MRPC_KIND_MESSAGE)
		n = gen_may_nest(tree, depth) ? min(n, tree->budget) : 0;
	v->n = n;
	v->present = n;
	if (f->kind < MRPC_KIND_STRING) {
		gen_scalars(tree, f, v, n);
		return;
	}
	v->items = model_alloc(tree->pool, n * sizeof(*v->items));
	v->msgs = model_alloc(tree->pool, n * sizeof(*v->msgs));
	for (i = 0; i < n; i++) {
		if (f->kind == MRPC_KIND_MESSAGE)
			v->msgs[i] = gen_node(tree, f->type, depth + 1);
		else if (f->kind == MRPC_KIND_STRING)
			gen_text(g, &v->items[i], tree->pool);
		else
			gen_data(g, &v->items[i], tree->pool);
	}
}

static struct model_msg *gen_node(struct gen_tree *tree, u32 type, u32 depth)
{
	const struct mrpc_type *t = &tree->plan->types[type];
	const struct mrpc_field *fields = tree->plan->fields + t->first_field;
	struct model_msg *msg = model_alloc(tree->pool, sizeof(*msg));
	u32 before = tree->budget;
	u32 i, j, members;

	msg->type = type;
	msg->fields = model_alloc(tree->pool, t->nr_fields * sizeof(*msg->fields));
	if (tree->budget)
		tree->budget--;
	for (i = 0; i < t->nr_fields; i++) {
		const struct mrpc_field *f = &fields[i];
		bool message = f->kind == MRPC_KIND_MESSAGE;
		u32 percent = 100;

		if (f->oneof != MRPC_SCHEMA_NO_ONEOF) {
			for (members = j = 0; j < t->nr_fields; j++) {
				if (fields[j].oneof != f->oneof)
					continue;
				members++;
				if (msg->fields[j].present)
					members = 1000;
			}
			percent = 150 / members;
		} else if (message || f->flags & MRPC_FIELD_OPTIONAL) {
			percent = 60;
		}
		if (message && !gen_may_nest(tree, depth))
			percent = 0;
		if (gen_chance(tree->g, percent))
			gen_value(tree, f, &msg->fields[i], depth);
		else if (percent == 100 && !message)
			gen_value(tree, f, &msg->fields[i], depth);
	}
	if (before - tree->budget <= 1 && tree->nr_done < ARRAY_SIZE(tree->done))
		tree->done[tree->nr_done++] = msg;
	return msg;
}

struct model_msg *gen_message(struct gen *g, struct model_pool *pool,
			      const struct mrpc_schema_plan *plan, u32 type, u32 budget)
{
	struct gen_tree tree = { .g = g, .pool = pool, .plan = plan, .budget = budget };

	return gen_node(&tree, type, 1);
}
