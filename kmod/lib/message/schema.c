// SPDX-License-Identifier: GPL-2.0
/*
 * Schemas: verification and compilation; see schema.h for the contract.
 *
 * Every record is copied out of the binary form before use: that form has no
 * alignment. Counts are checked against the limits first, so that no later sum
 * can overflow.
 */
#include "lib/message/schema.h"

/* A header in host byte order. */
struct schema_dims {
	u32 nr_methods;
	u32 nr_types;
	u32 nr_fields;
	u32 names_len;
};

/* Bytes from the plan's start to each of its tables, and to the end. */
struct schema_places {
	u32 types;
	u32 fields;
	u32 methods;
	u32 dead;
	u32 active;
	u32 by_name;
	u32 names;
	u32 end;
};

struct schema_compiler {
	const u8 *in_methods;
	const u8 *in_types;
	const u8 *in_fields;
	const char *in_names;
	struct mrpc_schema_plan *plan;
	struct mrpc_method *methods;
	struct mrpc_type *types;
	struct mrpc_field *fields;
	struct mrpc_dead *dead;
	u16 *active;
	u16 *by_name;
	u32 nr_dead;
	u32 nr_active;
	u32 nr_visited;		/* types mentioned so far */
	struct mrpc_schema_error *err;
};

static int schema_refuse(struct mrpc_schema_error *err, const char *table, u32 index,
			 u64 value, const char *what)
{
	err->what = what;
	err->table = table;
	err->index = index;
	err->value = value;
	return -EINVAL;
}

static int schema_too_big(struct mrpc_schema_error *err, const char *table, u32 index,
			  u64 value, const char *what)
{
	schema_refuse(err, table, index, value, what);
	return -E2BIG;
}

static bool name_goes_on(char ch, bool start)
{
	return (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') || ch == '_' ||
	       (!start && ch >= '0' && ch <= '9');
}

bool mrpc_name_valid(const char *name, size_t len, bool dotted)
{
	bool start = true;
	size_t i;

	for (i = 0; i < len; i++) {
		if (name_goes_on(name[i], start))
			start = false;
		else if (dotted && !start && name[i] == '.')
			start = true;
		else
			return false;
	}
	return !start;
}

size_t mrpc_name_length(const char *text, size_t len)
{
	size_t i = 0;

	while (i < len && name_goes_on(text[i], !i))
		i++;
	return i;
}

int mrpc_schema_find_method(const struct mrpc_schema_plan *plan, const char *name, size_t len)
{
	u32 low = 0, high = plan->nr_methods;

	while (low < high) {
		u32 mid = (low + high) / 2;
		const char *other = plan->names + plan->methods[mid].name;
		size_t other_len = strlen(other);
		int order = memcmp(name, other, min(len, other_len));

		if (!order && len == other_len)
			return mid;
		if (order < 0 || (!order && len < other_len))
			high = mid;
		else
			low = mid + 1;
	}
	return -ENOENT;
}

static int schema_header(const void *buf, size_t len, struct schema_dims *dims,
			 struct mrpc_schema_error *err)
{
	struct mrpc_schema_hdr hdr;
	u64 sum;

	if (len > MRPC_SCHEMA_MAX_LEN)
		return schema_too_big(err, "header", 0, len, "schema is too long");
	if (len < sizeof(hdr))
		return schema_refuse(err, "header", 0, len, "schema is shorter than its header");
	memcpy(&hdr, buf, sizeof(hdr));
	dims->nr_methods = le16_to_cpu(hdr.nr_methods);
	dims->nr_types = le16_to_cpu(hdr.nr_types);
	dims->nr_fields = le32_to_cpu(hdr.nr_fields);
	dims->names_len = le32_to_cpu(hdr.names_len);

	if (le32_to_cpu(hdr.magic) != MRPC_SCHEMA_MAGIC)
		return schema_refuse(err, "header", 0, le32_to_cpu(hdr.magic),
				     "magic is not that of a schema");
	if (le16_to_cpu(hdr.version) != MRPC_SCHEMA_VERSION)
		return schema_refuse(err, "header", 0, le16_to_cpu(hdr.version),
				     "version is not supported");
	if (hdr.flags)
		return schema_refuse(err, "header", 0, le16_to_cpu(hdr.flags),
				     "flags are not zero");
	if (le32_to_cpu(hdr.len) != len)
		return schema_refuse(err, "header", 0, le32_to_cpu(hdr.len),
				     "length is not that of the schema");
	if (dims->nr_methods > MRPC_SCHEMA_MAX_METHODS)
		return schema_too_big(err, "header", 0, dims->nr_methods, "too many methods");
	if (dims->nr_types > MRPC_SCHEMA_MAX_TYPES)
		return schema_too_big(err, "header", 0, dims->nr_types, "too many types");
	if (dims->nr_fields > MRPC_SCHEMA_MAX_FIELDS)
		return schema_too_big(err, "header", 0, dims->nr_fields, "too many fields");
	sum = sizeof(hdr) + dims->nr_methods * sizeof(struct mrpc_schema_method) +
	      dims->nr_types * sizeof(struct mrpc_schema_type) +
	      dims->nr_fields * sizeof(struct mrpc_schema_field) + (u64)dims->names_len;
	if (sum != len)
		return schema_refuse(err, "header", 0, sum,
				     "counts do not add up to the schema's length");
	return 0;
}

static void schema_places(const struct schema_dims *dims, struct schema_places *at)
{
	u32 nr_active = max(dims->nr_fields, dims->nr_types);
	/* Padding before each field and at each type's end; and each field has
	 * a has bit, or begins a oneof, or neither.
	 */
	u32 nr_dead = 2 * dims->nr_fields + dims->nr_types;

	at->types = ALIGN(sizeof(struct mrpc_schema_plan), 8);
	at->fields = at->types + dims->nr_types * sizeof(struct mrpc_type);
	at->methods = at->fields + dims->nr_fields * sizeof(struct mrpc_field);
	at->dead = at->methods + dims->nr_methods * sizeof(struct mrpc_method);
	at->active = at->dead + nr_dead * sizeof(struct mrpc_dead);
	/* Also the compiler's scratch: one entry for each field or type. */
	at->by_name = at->active + nr_active * sizeof(u16);
	at->names = at->by_name + dims->nr_fields * sizeof(u16);
	at->end = ALIGN(at->names + dims->names_len, 8);
}

s64 mrpc_schema_size(const void *buf, size_t len, struct mrpc_schema_error *err)
{
	struct schema_places at;
	struct schema_dims dims;
	int ret = schema_header(buf, len, &dims, err);

	if (ret)
		return ret;
	schema_places(&dims, &at);
	return at.end;
}

/* -- names ----------------------------------------------------------------- */

static int schema_take_name(struct schema_compiler *c, u32 *pos, bool dotted, const char *table,
			    u32 index)
{
	const char *name = c->in_names + *pos;
	u32 room = c->plan->names_len - *pos;
	const char *end;

	if (!room)
		return schema_refuse(c->err, table, index, *pos, "name is missing");
	end = memchr(name, 0, room);
	if (!end)
		return schema_refuse(c->err, table, index, *pos, "name has no end");
	if (end - name > MRPC_SCHEMA_MAX_NAME)
		return schema_too_big(c->err, table, index, end - name,
				      "name has more than 1024 bytes");
	if (!mrpc_name_valid(name, end - name, dotted))
		return schema_refuse(c->err, table, index, *pos, "name is not an identifier");
	*pos += end - name + 1;
	return 0;
}

static int schema_names(struct schema_compiler *c, char *names)
{
	const struct mrpc_schema_plan *plan = c->plan;
	u32 pos = 0;
	int ret;
	u32 i;

	ret = schema_take_name(c, &pos, true, "header", 0);
	for (i = 0; !ret && i < plan->nr_methods; i++) {
		c->methods[i].name = pos;
		ret = schema_take_name(c, &pos, false, "method", i);
	}
	for (i = 0; !ret && i < plan->nr_types; i++) {
		c->types[i].name = pos;
		ret = schema_take_name(c, &pos, true, "type", i);
	}
	for (i = 0; !ret && i < plan->nr_fields; i++) {
		c->fields[i].name = pos;
		ret = schema_take_name(c, &pos, false, "field", i);
	}
	if (ret)
		return ret;
	if (pos != plan->names_len)
		return schema_refuse(c->err, "name", 0, plan->names_len - pos,
				     "bytes are left after the last name");
	memcpy(names, c->in_names, plan->names_len);
	return 0;
}

/* Entry @i of the types (@fields is NULL) or of @fields. */
static const char *schema_name(const struct schema_compiler *c,
			       const struct mrpc_field *fields, u32 i)
{
	return c->plan->names + (fields ? fields[i].name : c->types[i].name);
}

static void schema_sift(struct schema_compiler *c, const struct mrpc_field *fields,
			u32 root, u32 n)
{
	u16 *heap = c->active;
	u16 moved = heap[root];
	u32 child;

	while ((child = 2 * root + 1) < n) {
		if (child + 1 < n && strcmp(schema_name(c, fields, heap[child]),
					    schema_name(c, fields, heap[child + 1])) < 0)
			child++;
		if (strcmp(schema_name(c, fields, moved), schema_name(c, fields, heap[child])) >= 0)
			break;
		heap[root] = heap[child];
		root = child;
	}
	heap[root] = moved;
}

/*
 * Are the names of @n types (@fields is NULL) or @fields unique? Sorts their
 * indexes in the active list, which is not in use yet. Returns the index of an
 * entry whose name is taken, or @n.
 */
static u32 schema_same_name(struct schema_compiler *c, const struct mrpc_field *fields, u32 n)
{
	u16 *heap = c->active;
	u32 i;

	for (i = 0; i < n; i++)
		heap[i] = i;
	for (i = n / 2; i-- > 0;)
		schema_sift(c, fields, i, n);
	for (i = n; i-- > 1;) {
		u16 largest = heap[0];

		heap[0] = heap[i];
		heap[i] = largest;
		schema_sift(c, fields, 0, i);
	}
	for (i = 1; i < n; i++)
		if (!strcmp(schema_name(c, fields, heap[i - 1]), schema_name(c, fields, heap[i])))
			return max(heap[i - 1], heap[i]);
	return n;
}

/* -- tables ---------------------------------------------------------------- */

/* Types are numbered in the order in which they are first mentioned. */
static int schema_visit(struct schema_compiler *c, u32 type, const char *table, u32 index)
{
	if (type >= c->plan->nr_types)
		return schema_refuse(c->err, table, index, type, "type does not exist");
	if (type > c->nr_visited)
		return schema_refuse(c->err, table, index, type,
				     "type is not in the order of first visit");
	if (type == c->nr_visited)
		c->nr_visited++;
	return 0;
}

static int schema_methods(struct schema_compiler *c)
{
	int ret;
	u32 i;

	for (i = 0; i < c->plan->nr_methods; i++) {
		struct mrpc_method *out = &c->methods[i];
		struct mrpc_schema_method in;

		memcpy(&in, c->in_methods + i * sizeof(in), sizeof(in));
		out->request = le16_to_cpu(in.request);
		out->reply = le16_to_cpu(in.reply);
		out->flags = le16_to_cpu(in.flags) & MRPC_METHOD_FLAGS;
		if (out->flags != le16_to_cpu(in.flags))
			return schema_refuse(c->err, "method", i, le16_to_cpu(in.flags),
					     "flags are unknown");
		if (in.resv)
			return schema_refuse(c->err, "method", i, le16_to_cpu(in.resv),
					     "reserved bytes are not zero");
		if (i && strcmp(c->plan->names + out[-1].name, c->plan->names + out->name) >= 0)
			return schema_refuse(c->err, "method", i, out->name,
					     "name does not come after the one before it");
		ret = schema_visit(c, out->request, "method", i);
		if (!ret)
			ret = schema_visit(c, out->reply, "method", i);
		if (ret)
			return ret;
		if ((c->types[out->request].flags | c->types[out->reply].flags) &
		    MRPC_TYPE_MAP_ENTRY)
			return schema_refuse(c->err, "method", i, out->request,
					     "request or reply is a map entry");
	}
	return 0;
}

static int schema_types(struct schema_compiler *c)
{
	u32 nr_fields = 0;
	u32 i;

	for (i = 0; i < c->plan->nr_types; i++) {
		struct mrpc_type *out = &c->types[i];
		struct mrpc_schema_type in;

		memcpy(&in, c->in_types + i * sizeof(in), sizeof(in));
		out->first_field = nr_fields;
		out->nr_fields = le16_to_cpu(in.nr_fields);
		out->nr_oneofs = le16_to_cpu(in.nr_oneofs);
		out->flags = le16_to_cpu(in.flags) & MRPC_TYPE_MAP_ENTRY;
		nr_fields += out->nr_fields;
		if (nr_fields > c->plan->nr_fields)
			return schema_refuse(c->err, "type", i, nr_fields,
					     "fields are more than the schema has");
		if (out->flags != le16_to_cpu(in.flags))
			return schema_refuse(c->err, "type", i, le16_to_cpu(in.flags),
					     "flags are unknown");
		if (in.resv)
			return schema_refuse(c->err, "type", i, le16_to_cpu(in.resv),
					     "reserved bytes are not zero");
		if (out->flags & MRPC_TYPE_MAP_ENTRY && (out->nr_fields != 2 || out->nr_oneofs))
			return schema_refuse(c->err, "type", i, out->nr_fields,
					     "map entry has not exactly two fields");
	}
	if (nr_fields != c->plan->nr_fields)
		return schema_refuse(c->err, "header", 0, nr_fields,
				     "types have fewer fields than the schema");
	return 0;
}

static int schema_map_field(struct schema_compiler *c, const struct mrpc_field *f, u32 pos, u32 i)
{
	if (f->number != pos + 1)
		return schema_refuse(c->err, "field", i, f->number,
				     "number is not that of a map's key or value");
	if (f->flags || f->oneof != MRPC_SCHEMA_NO_ONEOF)
		return schema_refuse(c->err, "field", i, f->flags,
				     "flags or oneof are set in a map entry");
	if (!pos && (f->kind == MRPC_KIND_FLOAT || f->kind == MRPC_KIND_DOUBLE ||
		     f->kind == MRPC_KIND_ENUM || f->kind == MRPC_KIND_BYTES ||
		     f->kind == MRPC_KIND_MESSAGE))
		return schema_refuse(c->err, "field", i, f->kind, "kind cannot be a map's key");
	return 0;
}

static int schema_field_flags(struct schema_compiler *c, const struct mrpc_field *f, u32 i)
{
	bool in_oneof = f->oneof != MRPC_SCHEMA_NO_ONEOF;

	if (f->flags & ~MRPC_FIELD_FLAGS)
		return schema_refuse(c->err, "field", i, f->flags, "flags are unknown");
	if (f->flags & MRPC_FIELD_REPEATED && (in_oneof || f->flags & MRPC_FIELD_OPTIONAL))
		return schema_refuse(c->err, "field", i, f->flags,
				     "repeated field is optional or in a oneof");
	if (f->flags & MRPC_FIELD_OPTIONAL && (in_oneof || f->kind == MRPC_KIND_MESSAGE))
		return schema_refuse(c->err, "field", i, f->flags,
				     "optional field is a message or in a oneof");
	if (f->flags & MRPC_FIELD_PACKED &&
	    (!(f->flags & MRPC_FIELD_REPEATED) || f->kind >= MRPC_KIND_STRING))
		return schema_refuse(c->err, "field", i, f->flags,
				     "packed field is not a repeated scalar");
	return 0;
}

static int schema_field_type(struct schema_compiler *c, const struct mrpc_field *f, u32 i)
{
	int ret;

	if (f->kind != MRPC_KIND_MESSAGE) {
		if (f->type == MRPC_SCHEMA_NO_TYPE)
			return 0;
		return schema_refuse(c->err, "field", i, f->type,
				     "type is set, but it is not a message");
	}
	ret = schema_visit(c, f->type, "field", i);
	if (ret)
		return ret;
	if (c->types[f->type].flags & MRPC_TYPE_MAP_ENTRY && !(f->flags & MRPC_FIELD_REPEATED))
		return schema_refuse(c->err, "field", i, f->type,
				     "map entry is used without being repeated");
	return 0;
}

/* All fields of type @t, which is complete but for what depends on them. */
static int schema_fields(struct schema_compiler *c, u32 t)
{
	const struct mrpc_type *type = &c->types[t];
	u32 oneofs = 0;
	int ret;
	u32 i;

	for (i = type->first_field; i < type->first_field + type->nr_fields; i++) {
		struct mrpc_field *out = &c->fields[i];
		struct mrpc_schema_field in;

		memcpy(&in, c->in_fields + i * sizeof(in), sizeof(in));
		out->number = le32_to_cpu(in.number);
		out->kind = in.kind;
		out->flags = in.flags;
		out->type = le16_to_cpu(in.type);
		out->oneof = le16_to_cpu(in.oneof);
		if (in.resv)
			return schema_refuse(c->err, "field", i, le16_to_cpu(in.resv),
					     "reserved bytes are not zero");
		if (!out->number || out->number > MRPC_SCHEMA_MAX_NUMBER)
			return schema_refuse(c->err, "field", i, out->number,
					     "number is out of range");
		if (i > type->first_field && out->number <= out[-1].number)
			return schema_refuse(c->err, "field", i, out->number,
					     "number does not come after the one before it");
		if (!out->kind || out->kind > MRPC_KIND_MAX)
			return schema_refuse(c->err, "field", i, out->kind, "kind is unknown");
		if (out->oneof != MRPC_SCHEMA_NO_ONEOF) {
			if (out->oneof >= type->nr_oneofs)
				return schema_refuse(c->err, "field", i, out->oneof,
						     "oneof does not exist");
			if (out->oneof > oneofs)
				return schema_refuse(c->err, "field", i, out->oneof,
						     "oneof is not in the order of first field");
			if (out->oneof == oneofs)
				oneofs++;
		}
		ret = schema_field_flags(c, out, i);
		if (!ret && type->flags & MRPC_TYPE_MAP_ENTRY)
			ret = schema_map_field(c, out, i - type->first_field, i);
		if (!ret)
			ret = schema_field_type(c, out, i);
		if (ret)
			return ret;
	}
	if (oneofs != type->nr_oneofs)
		return schema_refuse(c->err, "type", t, type->nr_oneofs,
				     "oneofs are more than its fields name");
	i = schema_same_name(c, c->fields + type->first_field, type->nr_fields);
	if (i < type->nr_fields)
		return schema_refuse(c->err, "field", type->first_field + i, 0,
				     "name is taken by another field of the type");
	memcpy(c->by_name + type->first_field, c->active, type->nr_fields * sizeof(u16));
	return 0;
}

/* -- layout and plan ------------------------------------------------------- */

static u32 schema_scalar_size(u32 kind)
{
	if (kind == MRPC_KIND_BOOL)
		return 1;
	return kind <= MRPC_KIND_ENUM ? 4 : 8;
}

static bool schema_is_ref(const struct mrpc_field *f)
{
	return f->kind >= MRPC_KIND_STRING || f->flags & MRPC_FIELD_REPEATED;
}

static void schema_add_dead(struct schema_compiler *c, u32 when, u32 offset, u32 len, u32 arg)
{
	struct mrpc_dead *dead = &c->dead[c->nr_dead++];

	dead->when = when;
	dead->offset = offset;
	dead->len = len;
	dead->arg = arg;
}

/*
 * The active list is not in use yet: it holds, for each oneof of the type, first
 * size << 8 | alignment of its place, then, once it is placed, the offset.
 */
static int schema_layout(struct schema_compiler *c, u32 t)
{
	struct mrpc_type *type = &c->types[t];
	struct mrpc_field *fields = c->fields + type->first_field;
	u16 *oneofs = c->active;
	u32 placed = 0;
	u32 off, i;

	memset(oneofs, 0, type->nr_oneofs * sizeof(*oneofs));
	for (i = 0; i < type->nr_fields; i++) {
		struct mrpc_field *f = &fields[i];
		u16 size = schema_is_ref(f) ? sizeof(struct mrpc_ref) : schema_scalar_size(f->kind);
		u16 align = schema_is_ref(f) ? __alignof__(struct mrpc_ref) : size;

		f->has_bit = f->flags & MRPC_FIELD_OPTIONAL ? type->nr_has++ : U16_MAX;
		if (f->oneof != MRPC_SCHEMA_NO_ONEOF) {
			u16 *place = &oneofs[f->oneof];

			*place = max_t(u16, *place >> 8, size) << 8 |
				 max_t(u16, *place & 0xff, align);
		}
		/* Until the types' sizes are known, that of the place. */
		f->elem_size = size << 8 | align;
	}

	type->first_dead = c->nr_dead;
	type->oneof_offset = (type->nr_has + 31) / 32 * 4;
	off = type->oneof_offset + 4 * type->nr_oneofs;
	for (i = 0; i < type->nr_fields; i++) {
		struct mrpc_field *f = &fields[i];
		bool in_oneof = f->oneof != MRPC_SCHEMA_NO_ONEOF;
		u16 place = in_oneof ? oneofs[f->oneof] : f->elem_size;
		u32 start;

		if (in_oneof && f->oneof < placed) {
			f->offset = place;
			continue;
		}
		start = ALIGN(off, place & 0xff);
		if (start + (place >> 8) > MRPC_SCHEMA_MAX_STRUCT)
			return schema_too_big(c->err, "type", t, start + (place >> 8),
					      "struct block is too large");
		if (start > off)
			schema_add_dead(c, MRPC_DEAD_ALWAYS, off, start - off, 0);
		if (in_oneof) {
			oneofs[placed++] = start;
			schema_add_dead(c, MRPC_DEAD_ONEOF, start, place >> 8, f->oneof);
		} else if (f->flags & MRPC_FIELD_OPTIONAL) {
			schema_add_dead(c, MRPC_DEAD_UNSET, start, place >> 8, f->has_bit);
		}
		f->offset = start;
		off = start + (place >> 8);
	}
	type->size = max_t(u32, ALIGN(off, 8), 8);
	if (type->size > off)
		schema_add_dead(c, MRPC_DEAD_ALWAYS, off, type->size - off, 0);
	type->nr_dead = c->nr_dead - type->first_dead;
	return 0;
}

static u32 schema_shape(const struct mrpc_field *f)
{
	bool repeated = f->flags & MRPC_FIELD_REPEATED;

	switch (f->kind) {
	case MRPC_KIND_BOOL:
		return repeated ? MRPC_SHAPE_BOOLS : MRPC_SHAPE_BOOL;
	case MRPC_KIND_STRING:
		return repeated ? MRPC_SHAPE_TEXTS : MRPC_SHAPE_TEXT;
	case MRPC_KIND_BYTES:
		return repeated ? MRPC_SHAPE_BYTESS : MRPC_SHAPE_BYTES;
	case MRPC_KIND_MESSAGE:
		return repeated ? MRPC_SHAPE_MESSAGES : MRPC_SHAPE_MESSAGE;
	default:
		return repeated ? MRPC_SHAPE_ARRAY : MRPC_SHAPE_SCALAR;
	}
}

/* What the marshaller follows; needs the sizes of all types. */
static void schema_activate(struct schema_compiler *c, struct mrpc_type *type)
{
	struct mrpc_field *fields = c->fields + type->first_field;
	u32 oneofs = 0, members = 0;
	bool plain = true;
	u32 i;

	type->first_active = c->nr_active;
	for (i = 0; i < type->nr_fields; i++) {
		struct mrpc_field *f = &fields[i];

		f->shape = schema_shape(f);
		if (f->kind == MRPC_KIND_MESSAGE)
			f->elem_size = c->types[f->type].size;
		else
			f->elem_size = schema_scalar_size(f->kind);

		members = f->oneof == MRPC_SCHEMA_NO_ONEOF ? 0 : members + 1;
		f->members = members;
		if (!members) {
			if (f->shape == MRPC_SHAPE_SCALAR)
				continue;
		} else if (f->oneof == oneofs) {
			oneofs++;
		} else {
			continue;
		}
		c->active[c->nr_active++] = i;
		plain &= !members && f->kind != MRPC_KIND_MESSAGE;
	}
	type->nr_active = c->nr_active - type->first_active;
	type->plain = plain;
}

int mrpc_schema_compile(const void *buf, size_t len, void *mem, size_t mem_len,
			struct mrpc_schema_error *err)
{
	struct mrpc_schema_plan *plan = mem;
	struct schema_compiler c = { .plan = plan, .err = err };
	struct schema_places at;
	struct schema_dims dims;
	int ret;
	u32 i;

	ret = schema_header(buf, len, &dims, err);
	if (ret)
		return ret;
	schema_places(&dims, &at);
	if (mem_len < at.end)
		return schema_too_big(err, "header", 0, mem_len,
				      "memory for the plan is too small");
	memset(mem, 0, at.end);

	c.in_methods = (const u8 *)buf + sizeof(struct mrpc_schema_hdr);
	c.in_types = c.in_methods + dims.nr_methods * sizeof(struct mrpc_schema_method);
	c.in_fields = c.in_types + dims.nr_types * sizeof(struct mrpc_schema_type);
	c.in_names = (const char *)c.in_fields + dims.nr_fields * sizeof(struct mrpc_schema_field);
	c.types = mem + at.types;
	c.fields = mem + at.fields;
	c.methods = mem + at.methods;
	c.dead = mem + at.dead;
	c.active = mem + at.active;
	c.by_name = mem + at.by_name;
	plan->types = c.types;
	plan->fields = c.fields;
	plan->methods = c.methods;
	plan->dead = c.dead;
	plan->active = c.active;
	plan->by_name = c.by_name;
	plan->names = mem + at.names;
	plan->names_len = dims.names_len;
	plan->nr_fields = dims.nr_fields;
	plan->nr_methods = dims.nr_methods;
	plan->nr_types = dims.nr_types;

	ret = schema_names(&c, mem + at.names);
	if (!ret)
		ret = schema_types(&c);
	if (!ret)
		ret = schema_methods(&c);
	if (ret)
		return ret;
	i = schema_same_name(&c, NULL, plan->nr_types);
	if (i < plan->nr_types)
		return schema_refuse(err, "type", i, 0, "name is taken by another type");
	for (i = 0; i < plan->nr_types; i++) {
		/* What earlier types mention has been counted by now. */
		if (i >= c.nr_visited)
			return schema_refuse(err, "type", i, 0, "type is not reachable");
		ret = schema_fields(&c, i);
		if (ret)
			return ret;
	}
	/* Offsets first: the active list is scratch until all are known. */
	for (i = 0; i < plan->nr_types; i++) {
		ret = schema_layout(&c, i);
		if (ret)
			return ret;
	}
	for (i = 0; i < plan->nr_types; i++)
		schema_activate(&c, &c.types[i]);
	return 0;
}
