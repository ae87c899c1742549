// SPDX-License-Identifier: GPL-2.0
/*
 * Compiling the path to a field; see field.h for the grammar, field.c for what
 * is done with the result.
 */
#include "lib/message/field_step.h"

#ifdef __KERNEL__
#include <linux/sprintf.h>
#else
#include <stdio.h>
#endif

/*
 * @type is where the next name is looked up. After a name: @f is the field,
 * @offset where it is in the block or element that the steps lead to, and @whole
 * says that it is repeated and no element has been chosen.
 */
struct path_compiler {
	const struct mrpc_schema_plan *plan;
	struct mrpc_path_error *err;
	struct mrpc_field_path *path;
	size_t room;
	const char *text;
	u32 len;
	u32 pos;
	u32 name_pos;
	u32 name_len;
	u32 type;
	const struct mrpc_field *f;
	u32 offset;
	bool whole;
	bool element;
};

static int path_refuse(struct path_compiler *c, u32 pos, u32 len, u32 type, const char *what)
{
	c->err->what = what;
	c->err->pos = pos;
	c->err->len = len;
	c->err->type = type;
	return -EINVAL;
}

/* About the character at @pos, or the end. */
static int path_expected(struct path_compiler *c, const char *what)
{
	return path_refuse(c, c->pos, c->pos < c->len, U32_MAX, what);
}

/* About the name before @pos. */
static int path_refuse_name(struct path_compiler *c, const char *what)
{
	return path_refuse(c, c->name_pos, c->name_len, U32_MAX, what);
}

static int path_peek(const struct path_compiler *c)
{
	return c->pos < c->len ? (u8)c->text[c->pos] : -1;
}

static bool path_eat(struct path_compiler *c, char ch)
{
	if (path_peek(c) != ch)
		return false;
	c->pos++;
	return true;
}

/* -- steps ------------------------------------------------------------------ */

static struct mrpc_step *path_add(struct path_compiler *c, u32 op)
{
	const struct mrpc_type *t = &c->plan->types[c->type];
	struct mrpc_field_path *path = c->path;
	const struct mrpc_field *f = c->f;
	struct mrpc_step *s;

	if (sizeof(*path) + (path->nr_steps + 1) * sizeof(*s) > c->room)
		return NULL;
	s = &path->steps[path->nr_steps++];
	*s = (struct mrpc_step){ .op = op, .kind = f->kind, .offset = c->offset };
	if (c->element)
		return s;
	if (f->flags & MRPC_FIELD_OPTIONAL) {
		s->guard = GUARD_HAS;
		s->guard_off = f->has_bit / 32 * 4;
		s->guard_val = 1U << f->has_bit % 32;
	} else if (f->oneof != MRPC_SCHEMA_NO_ONEOF) {
		s->guard = GUARD_CASE;
		s->guard_off = t->oneof_offset + 4 * f->oneof;
		s->guard_val = f->number;
	}
	return s;
}

/* The field of a type with the name of @len bytes at @name, or NULL. */
static const struct mrpc_field *path_find(const struct mrpc_schema_plan *plan,
					  const struct mrpc_type *t, const char *name, u32 len)
{
	u32 from = t->first_field, to = from + t->nr_fields;

	while (from < to) {
		u32 at = from + (to - from) / 2;
		const struct mrpc_field *f = &plan->fields[t->first_field + plan->by_name[at]];
		const char *have = plan->names + f->name;
		int order = strncmp(name, have, len);

		if (!order && !have[len])
			return f;
		/* One that begins with the name comes behind it. */
		if (order > 0)
			from = at + 1;
		else
			to = at;
	}
	return NULL;
}

static int path_name(struct path_compiler *c)
{
	const struct mrpc_type *t = &c->plan->types[c->type];
	const char *name = c->text + c->pos;
	const struct mrpc_field *f;
	u32 len = mrpc_name_length(name, c->len - c->pos);

	if (!len)
		return path_expected(c, "should be a field's name");
	c->name_pos = c->pos;
	c->name_len = len;
	c->pos += len;
	f = path_find(c->plan, t, name, len);
	if (!f)
		return path_refuse(c, c->name_pos, len, c->type, "is not a field of");
	c->f = f;
	c->offset = f->offset;
	c->whole = f->flags & MRPC_FIELD_REPEATED;
	c->element = false;
	return 0;
}

static bool path_is_map(const struct path_compiler *c)
{
	return c->whole && c->f->kind == MRPC_KIND_MESSAGE &&
	       c->plan->types[c->f->type].flags & MRPC_TYPE_MAP_ENTRY;
}

/* After a dot: into the message. */
static int path_enter(struct path_compiler *c)
{
	if (path_is_map(c))
		return path_refuse_name(c, "is a map: one key in [] should follow");
	if (c->whole)
		return path_refuse_name(c, "is repeated: the number of an element in [] should follow");
	if (c->f->kind != MRPC_KIND_MESSAGE)
		return path_refuse_name(c, "is not a message: it has no fields");
	/* The step to an element of a list of messages has led there already. */
	if (!c->element && !path_add(c, STEP_MESSAGE))
		return -ENOSPC;
	c->type = c->f->type;
	return path_name(c);
}

/* -- keys ------------------------------------------------------------------- */

/* Digits, after a minus or not; @limit is the largest. */
static int path_number(struct path_compiler *c, u64 limit, u64 *number, const char *what)
{
	u32 start = c->pos;
	u64 n = 0;
	int ch;

	while ((ch = path_peek(c)) >= '0' && ch <= '9') {
		u32 digit = ch - '0';

		if (check_mul_overflow(n, 10ULL, &n) || check_add_overflow(n, (u64)digit, &n) ||
		    n > limit)
			return path_refuse(c, start, c->pos + 1 - start, U32_MAX, what);
		c->pos++;
	}
	if (c->pos == start)
		return path_expected(c, what);
	*number = n;
	return 0;
}

static int path_signed_key(struct path_compiler *c, u64 limit, u64 *key)
{
	static const char *const what = "should be a number that the map's keys can be";
	bool negative = path_eat(c, '-');
	int ret;

	ret = path_number(c, limit + negative, key, what);
	if (!ret && negative)
		*key = -*key;
	return ret;
}

static int path_bool_key(struct path_compiler *c, u64 *key)
{
	static const char *const words[] = { "false", "true" };

	for (*key = 0; *key < 2; ++*key) {
		u32 len = strlen(words[*key]);

		if (len > c->len - c->pos || memcmp(c->text + c->pos, words[*key], len))
			continue;
		c->pos += len;
		return 0;
	}
	return path_expected(c, "should be true or false");
}

static int path_hex(int ch)
{
	if (ch >= '0' && ch <= '9')
		return ch - '0';
	if (ch >= 'a' && ch <= 'f')
		return ch - 'a' + 10;
	if (ch >= 'A' && ch <= 'F')
		return ch - 'A' + 10;
	return -1;
}

/*
 * One character of a quoted text: its value, or -1 if it cannot be one. In the
 * text itself a quote ends it, so here that comes only after a backslash.
 */
static int path_char(struct path_compiler *c)
{
	int ch = path_peek(c), high, low;

	if (ch < 0)
		return -1;
	c->pos++;
	if (ch != '\\')
		return ch;
	ch = path_peek(c);
	c->pos++;
	if (ch == '\\' || ch == '"')
		return ch;
	if (ch != 'x')
		return -1;
	high = path_hex(path_peek(c));
	c->pos++;
	low = path_hex(path_peek(c));
	c->pos++;
	return high < 0 || low < 0 ? -1 : high << 4 | low;
}

/* For now the step says where in the path's text the key is; see path_keys(). */
static int path_text_key(struct path_compiler *c, struct mrpc_step *s)
{
	if (!path_eat(c, '"'))
		return path_expected(c, "should be a key in quotes");
	s->key_off = c->pos;
	while (!path_eat(c, '"')) {
		u32 start = c->pos;

		if (path_char(c) < 0)
			return path_refuse(c, start, min(c->pos, c->len) - start, U32_MAX,
					   "should be a character, \\\\, \\\", \\xHH, or the closing quote");
		s->arg++;
	}
	return 0;
}

/* Puts the texts of keys behind the steps. */
static int path_keys(struct path_compiler *c)
{
	struct mrpc_field_path *path = c->path;
	u32 end = sizeof(*path) + path->nr_steps * sizeof(path->steps[0]);
	u32 i, k;

	for (i = 0; i < path->nr_steps; i++) {
		struct mrpc_step *s = &path->steps[i];

		if (s->op != STEP_ENTRY || s->kind != MRPC_KIND_STRING)
			continue;
		if (s->arg > c->room - end)
			return -ENOSPC;
		c->pos = s->key_off;
		s->key_off = end;
		for (k = 0; k < s->arg; k++)
			((u8 *)path)[end++] = path_char(c);
	}
	if (ALIGN(end, 8) > c->room)
		return -ENOSPC;
	memset((u8 *)path + end, 0, ALIGN(end, 8) - end);
	path->size = ALIGN(end, 8);
	return 0;
}

static int path_key(struct path_compiler *c, struct mrpc_step *s)
{
	switch (s->kind) {
	case MRPC_KIND_STRING:
		return path_text_key(c, s);
	case MRPC_KIND_BOOL:
		return path_bool_key(c, &s->arg);
	case MRPC_KIND_UINT32:
	case MRPC_KIND_FIXED32:
		return path_number(c, U32_MAX, &s->arg,
				   "should be a number that the map's keys can be");
	case MRPC_KIND_UINT64:
	case MRPC_KIND_FIXED64:
		return path_number(c, ~0ULL, &s->arg,
				   "should be a number that the map's keys can be");
	case MRPC_KIND_INT32:
	case MRPC_KIND_SINT32:
	case MRPC_KIND_SFIXED32:
		return path_signed_key(c, S32_MAX, &s->arg);
	default:
		return path_signed_key(c, S64_MAX, &s->arg);
	}
}

/* After a bracket: to the value with a key. */
static int path_entry(struct path_compiler *c)
{
	const struct mrpc_type *entry = &c->plan->types[c->f->type];
	const struct mrpc_field *key = &c->plan->fields[entry->first_field];
	struct mrpc_step *s = path_add(c, STEP_ENTRY);
	int ret;

	if (!s)
		return -ENOSPC;
	s->kind = key->kind;
	s->stride = entry->size;
	ret = path_key(c, s);
	c->type = c->f->type;
	c->f = key + 1;
	c->offset = c->f->offset;
	c->whole = false;
	return ret;
}

/* After a bracket: to an element. */
static int path_element(struct path_compiler *c)
{
	bool in_bytes = c->f->shape == MRPC_SHAPE_ARRAY;
	struct mrpc_step *s;
	u64 index;
	int ret;

	if (path_is_map(c))
		return path_entry(c);
	if (!c->whole)
		return path_refuse_name(c, "is not repeated: it has no elements");
	ret = path_number(c, U32_MAX, &index, "should be the number of an element");
	if (ret)
		return ret;
	s = path_add(c, in_bytes ? LEAF_ITEM : STEP_ELEMENT);
	if (!s)
		return -ENOSPC;
	s->arg = index;
	s->stride = c->f->elem_size;
	if (c->f->kind == MRPC_KIND_STRING || c->f->kind == MRPC_KIND_BYTES)
		s->stride = sizeof(struct mrpc_ref);
	c->offset = 0;
	c->whole = false;
	c->element = true;
	return 0;
}

/* -- the path --------------------------------------------------------------- */

static u32 path_value_kind(u32 kind)
{
	switch (kind) {
	case MRPC_KIND_BOOL:
		return MRPC_VALUE_BOOL;
	case MRPC_KIND_UINT32:
	case MRPC_KIND_FIXED32:
	case MRPC_KIND_UINT64:
	case MRPC_KIND_FIXED64:
		return MRPC_VALUE_UINT;
	case MRPC_KIND_FLOAT:
	case MRPC_KIND_DOUBLE:
		return MRPC_VALUE_DOUBLE;
	case MRPC_KIND_STRING:
		return MRPC_VALUE_TEXT;
	case MRPC_KIND_BYTES:
		return MRPC_VALUE_BYTES;
	case MRPC_KIND_MESSAGE:
		return MRPC_VALUE_MESSAGE;
	default:
		return MRPC_VALUE_INT;
	}
}

static int path_length(struct path_compiler *c)
{
	c->pos++;
	if (c->pos < c->len)
		return path_expected(c, "should be the end");
	if (!c->whole && c->f->kind != MRPC_KIND_STRING && c->f->kind != MRPC_KIND_BYTES)
		return path_refuse_name(c, "is neither repeated nor a text nor bytes: it has no length");
	c->path->kind = MRPC_VALUE_UINT;
	return path_add(c, LEAF_LENGTH) ? 0 : -ENOSPC;
}

static int path_leaf(struct path_compiler *c)
{
	struct mrpc_field_path *path = c->path;
	u32 op = LEAF_SCALAR;

	path->kind = path_value_kind(c->f->kind);
	if (c->whole) {
		path->kind = MRPC_VALUE_LIST;
		op = LEAF_LIST;
	} else if (c->element && c->f->shape == MRPC_SHAPE_ARRAY) {
		/* It is the leaf already. */
		path->content = true;
		return 0;
	} else if (c->f->kind == MRPC_KIND_STRING) {
		op = LEAF_TEXT;
	} else if (c->f->kind == MRPC_KIND_BYTES) {
		path->content = true;
		op = LEAF_BYTES;
	} else if (c->f->kind == MRPC_KIND_MESSAGE) {
		op = c->element ? LEAF_HERE : LEAF_MESSAGE;
	}
	return path_add(c, op) ? 0 : -ENOSPC;
}

static int path_parse(struct path_compiler *c)
{
	int ret = path_name(c);

	while (!ret) {
		switch (path_peek(c)) {
		case -1:
			return path_leaf(c);
		case '#':
			return path_length(c);
		case '.':
			c->pos++;
			ret = path_enter(c);
			break;
		case '[':
			c->pos++;
			ret = path_element(c);
			if (!ret && !path_eat(c, ']'))
				ret = path_expected(c, "should be ]");
			break;
		default:
			ret = path_expected(c, "should be ., [, # or the end");
		}
	}
	return ret;
}

int mrpc_field_compile(const struct mrpc_schema_plan *plan, u32 type, const char *text,
		       u32 len, struct mrpc_field_path *path, size_t room,
		       struct mrpc_path_error *err)
{
	struct path_compiler c = {
		.plan = plan, .err = err, .path = path, .room = room,
		.text = text, .len = len, .type = type,
	};
	int ret;

	if (len > MRPC_PATH_MAX_TEXT)
		return path_refuse(&c, 0, len, U32_MAX, "is longer than a path may be");
	if (type >= plan->nr_types)
		return path_refuse(&c, 0, len, U32_MAX, "is for a type that the schema does not have");
	if (room < sizeof(*path))
		return -ENOSPC;
	*path = (struct mrpc_field_path){ .type = type };
	ret = path_parse(&c);
	if (ret)
		return ret;
	path->field = c.f - plan->fields;
	return path_keys(&c);
}

int mrpc_path_explain(const struct mrpc_schema_plan *plan, const char *text, u32 len,
		      const struct mrpc_path_error *err, char *buf, size_t size)
{
	bool named = plan && err->type < plan->nr_types;
	int ret;

	if (!size)
		return 0;
	if (err->len)
		ret = snprintf(buf, size, "path '%.*s': '%.*s' %s%s%s", (int)len, text,
			       (int)err->len, text + err->pos, err->what, named ? " " : "",
			       named ? plan->names + plan->types[err->type].name : "");
	else
		ret = snprintf(buf, size, "path '%.*s': its end %s", (int)len, text, err->what);
	return min_t(int, ret, size - 1);
}
