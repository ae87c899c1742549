// SPDX-License-Identifier: GPL-2.0
#include <assert.h>
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "paths.h"

/* -- following -------------------------------------------------------------- */

struct walk {
	const struct mrpc_schema_plan *plan;
	const char *p;
	const char *end;
	struct path_found *found;
};

static const struct mrpc_field *field_at(const struct mrpc_schema_plan *plan, u32 type, u32 i)
{
	return &plan->fields[plan->types[type].first_field + i];
}

static bool is_map(const struct mrpc_schema_plan *plan, const struct mrpc_field *f)
{
	return f->kind == MRPC_KIND_MESSAGE && f->flags & MRPC_FIELD_REPEATED &&
	       plan->types[f->type].flags & MRPC_TYPE_MAP_ENTRY;
}

static bool is_signed(u32 kind)
{
	return kind == MRPC_KIND_INT32 || kind == MRPC_KIND_SINT32 ||
	       kind == MRPC_KIND_SFIXED32 || kind == MRPC_KIND_ENUM ||
	       kind == MRPC_KIND_INT64 || kind == MRPC_KIND_SINT64 || kind == MRPC_KIND_SFIXED64;
}

static bool is_wide(u32 kind)
{
	return kind >= MRPC_KIND_INT64;
}

static u64 number_of(u32 kind, const u8 *data)
{
	float f;
	double d;
	u64 u = 0;
	s32 s;

	switch (kind) {
	case MRPC_KIND_BOOL:
		return *data;
	case MRPC_KIND_FLOAT:
		memcpy(&f, data, 4);
		d = f;
		memcpy(&u, &d, 8);
		return u;
	default:
		memcpy(&u, data, is_wide(kind) ? 8 : 4);
		if (is_wide(kind) || !is_signed(kind))
			return u;
		memcpy(&s, data, 4);
		return (s64)s;
	}
}

static u8 value_kind(u32 kind)
{
	if (kind == MRPC_KIND_BOOL)
		return MRPC_VALUE_BOOL;
	if (kind == MRPC_KIND_FLOAT || kind == MRPC_KIND_DOUBLE)
		return MRPC_VALUE_DOUBLE;
	if (kind >= MRPC_KIND_STRING)
		return MRPC_VALUE_TEXT + kind - MRPC_KIND_STRING;
	return is_signed(kind) ? MRPC_VALUE_INT : MRPC_VALUE_UINT;
}

/* Digits to the closing bracket, as a number from @low to @high. */
static bool number_key(struct walk *w, __int128 low, __int128 high, u64 *key)
{
	__int128 n = 0;
	bool negative = false;
	u32 digits = 0;

	if (low < 0 && w->p < w->end && *w->p == '-') {
		negative = true;
		w->p++;
	}
	for (; w->p < w->end && isdigit((u8)*w->p); w->p++, digits++)
		if (n < (__int128)1 << 70)
			n = n * 10 + (*w->p - '0');
	if (negative)
		n = -n;
	*key = n;
	return digits && n >= low && n <= high;
}

static bool text_key(struct walk *w, u8 *key, u32 *len)
{
	for (*len = 0; w->p < w->end && *w->p != '"'; w->p++) {
		u8 ch = *w->p;

		if (ch == '\\') {
			if (++w->p == w->end)
				return false;
			ch = *w->p;
			if (ch == 'x') {
				char hex[3] = { 0 };

				if (w->end - w->p < 3 || !isxdigit((u8)w->p[1]) ||
				    !isxdigit((u8)w->p[2]))
					return false;
				memcpy(hex, w->p + 1, 2);
				ch = strtoul(hex, NULL, 16);
				w->p += 2;
			} else if (ch != '\\' && ch != '"') {
				return false;
			}
		}
		key[(*len)++] = ch;
	}
	return w->p++ < w->end;
}

static bool bool_key(struct walk *w, u64 *key)
{
	for (*key = 0; *key < 2; ++*key) {
		const char *word = *key ? "true" : "false";
		size_t n = strlen(word);

		if ((size_t)(w->end - w->p) >= n && !memcmp(w->p, word, n)) {
			w->p += n;
			return true;
		}
	}
	return false;
}

static const struct model_msg *entry_of(struct walk *w, const struct mrpc_field *f,
					const struct model_field *v, bool *valid)
{
	const struct mrpc_field *kf = field_at(w->plan, f->type, 0);
	const struct model_msg *entry = NULL;
	__int128 one = 1;
	u8 text[MRPC_PATH_MAX_TEXT];
	u32 len = 0, i;
	u64 key = 0;

	if (kf->kind == MRPC_KIND_STRING) {
		*valid = w->p < w->end && *w->p++ == '"' && text_key(w, text, &len);
	} else if (kf->kind == MRPC_KIND_BOOL) {
		*valid = bool_key(w, &key);
	} else {
		u32 bits = is_wide(kf->kind) ? 64 : 32;

		if (is_signed(kf->kind))
			*valid = number_key(w, -(one << (bits - 1)), (one << (bits - 1)) - 1, &key);
		else
			*valid = number_key(w, 0, (one << bits) - 1, &key);
	}
	for (i = 0; *valid && v && i < v->n; i++) {
		const struct model_field *k = &v->msgs[i]->fields[0];

		if (kf->kind == MRPC_KIND_STRING ?
		    k->n == len && !(len && memcmp(k->data, text, len)) :
		    number_of(kf->kind, k->data) == key)
			entry = v->msgs[i];
	}
	return entry;
}

/* A value, which is there if @v is: not a whole list. */
static int find_value(struct walk *w, const struct mrpc_field *f, const struct model_field *v,
		      const u8 *scalar)
{
	struct path_found *found = w->found;

	found->kind = value_kind(f->kind);
	found->content |= f->kind == MRPC_KIND_BYTES;
	if (!v && !scalar)
		return -ENOENT;
	if (f->kind < MRPC_KIND_STRING) {
		found->u = number_of(f->kind, scalar ? scalar : v->data);
	} else if (f->kind != MRPC_KIND_MESSAGE) {
		found->data = v->data;
		found->n = v->n;
		if (f->kind == MRPC_KIND_BYTES)
			found->stored = v->n;
	}
	return 0;
}

static int follow(struct walk *w, u32 type, const struct model_msg *msg)
{
	const struct mrpc_type *t = &w->plan->types[type];
	const struct mrpc_field *f = NULL;
	const struct model_field *v = NULL;
	const struct model_msg *in = NULL;
	struct model_field one = { 0 };
	const u8 *scalar = NULL;
	const char *name = w->p;
	bool valid = true, open = false;
	u32 i;

	while (w->p < w->end && (isalnum((u8)*w->p) || *w->p == '_'))
		w->p++;
	for (i = 0; i < t->nr_fields; i++) {
		const struct mrpc_field *have = field_at(w->plan, type, i);
		const char *text = w->plan->names + have->name;

		if (strlen(text) == (size_t)(w->p - name) && !memcmp(text, name, strlen(text))) {
			f = have;
			if (msg)
				v = &msg->fields[i];
		}
	}
	if (!f || isdigit((u8)*name))
		return -EINVAL;

	if (!(f->flags & MRPC_FIELD_REPEATED)) {
		bool explicit = f->flags & MRPC_FIELD_OPTIONAL ||
				f->oneof != MRPC_SCHEMA_NO_ONEOF || f->kind == MRPC_KIND_MESSAGE;

		if (v && explicit && !v->present)
			v = NULL;
		if (v && f->kind == MRPC_KIND_MESSAGE)
			in = v->msgs[0];
	} else if (w->p == w->end) {
		w->found->kind = MRPC_VALUE_LIST;
		w->found->u = v ? v->n : 0;
		return v && v->n ? 0 : -ENOENT;
	} else if (w->end - w->p == 1 && *w->p == '#') {
		w->found->kind = MRPC_VALUE_UINT;
		w->found->u = v ? v->n : 0;
		return v ? 0 : -ENOENT;
	} else if (*w->p++ != '[') {
		return -EINVAL;
	} else if (is_map(w->plan, f)) {
		const struct model_msg *entry = entry_of(w, f, v, &valid);

		open = true;
		f = field_at(w->plan, f->type, 1);
		v = entry ? &entry->fields[1] : NULL;
		if (v && f->kind == MRPC_KIND_MESSAGE) {
			in = v->present ? v->msgs[0] : NULL;
			v = v->present ? v : NULL;
		}
	} else {
		u64 index;
		bool there;

		open = true;
		valid = number_key(w, 0, U32_MAX, &index);
		there = valid && v && index < v->n;
		if (f->kind == MRPC_KIND_MESSAGE) {
			in = there ? v->msgs[index] : NULL;
			v = there ? &one : NULL;
		} else if (f->kind >= MRPC_KIND_STRING) {
			v = there ? &v->items[index] : NULL;
		} else {
			u32 size = model_elem_size(w->plan, f);

			w->found->content = f->kind != MRPC_KIND_BOOL;
			w->found->stored = w->found->content ? size : 0;
			scalar = there ? v->data + index * size : NULL;
			v = NULL;
		}
	}
	if (open && (!valid || w->p == w->end || *w->p++ != ']'))
		return -EINVAL;
	if (w->p == w->end)
		return find_value(w, f, v, scalar);
	if (w->end - w->p == 1 && *w->p == '#') {
		if (f->kind != MRPC_KIND_STRING && f->kind != MRPC_KIND_BYTES)
			return -EINVAL;
		w->found->kind = MRPC_VALUE_UINT;
		w->found->u = v ? v->n : 0;
		return v ? 0 : -ENOENT;
	}
	if (*w->p++ != '.' || f->kind != MRPC_KIND_MESSAGE)
		return -EINVAL;
	return follow(w, f->type, in);
}

int path_follow(const struct mrpc_schema_plan *plan, u32 type, const struct model_msg *msg,
		const char *text, u32 len, struct path_found *found)
{
	struct walk w = { .plan = plan, .p = text, .end = text + len, .found = found };

	*found = (struct path_found){ 0 };
	return len > MRPC_PATH_MAX_TEXT ? -EINVAL : follow(&w, type, msg);
}

/* -- random paths ----------------------------------------------------------- */

#define ROOM	256	/* of a random path, which stays far below MRPC_PATH_MAX_TEXT */

struct text {
	char *to;
	u32 len;
};

static u32 left(const struct text *t)
{
	return ROOM - 1 - t->len;
}

static __attribute__((__format__(__printf__, 2, 3)))
void put(struct text *t, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	t->len += vsnprintf(t->to + t->len, ROOM - t->len, fmt, ap);
	va_end(ap);
	assert(t->len < ROOM);
}

static void put_text_key(struct text *t, struct gen *g, const u8 *key, u32 len)
{
	u32 i;

	put(t, "[\"");
	for (i = 0; i < len && left(t) > 10; i++) {
		if (key[i] == '"' || key[i] == '\\')
			put(t, "\\%c", key[i]);
		else if (key[i] < ' ' || gen_chance(g, 10))
			put(t, "\\x%02x", key[i]);
		else
			put(t, "%c", key[i]);
	}
	put(t, "\"]");
}

static void put_key(struct text *t, struct gen *g, const struct mrpc_field *kf,
		    const struct model_msg *entry)
{
	static const u64 odd[] = { 0, 1, -1ULL, 1ULL << 31, -1ULL << 31, 1ULL << 63, U32_MAX };
	u64 n = odd[gen_below(g, ARRAY_SIZE(odd))];

	if (kf->kind == MRPC_KIND_STRING) {
		if (entry)
			put_text_key(t, g, entry->fields[0].data, entry->fields[0].n);
		else
			put_text_key(t, g, (const u8 *)"ab", gen_below(g, 3));
		return;
	}
	if (entry)
		n = number_of(kf->kind, entry->fields[0].data);
	if (kf->kind == MRPC_KIND_BOOL)
		put(t, "[%s]", n & 1 ? "true" : "false");
	else if (is_signed(kf->kind))
		put(t, "[%lld]", is_wide(kf->kind) ? (long long)n : (s32)n);
	else
		put(t, "[%llu]", is_wide(kf->kind) ? (unsigned long long)n : (u32)n);
}

static const struct model_msg *put_chosen(struct text *t, struct gen *g,
					  const struct mrpc_schema_plan *plan,
					  const struct mrpc_field **f, const struct model_field *v)
{
	u32 n = v ? v->n : 0;
	u32 at = n && gen_chance(g, 85) ? gen_below(g, n) : n + gen_below(g, 3);
	const struct model_msg *msg = NULL;

	if (is_map(plan, *f)) {
		const struct mrpc_field *kf = field_at(plan, (*f)->type, 0);

		msg = at < n ? v->msgs[at] : NULL;
		put_key(t, g, kf, msg);
		*f = kf + 1;
		if ((*f)->kind == MRPC_KIND_MESSAGE)
			msg = msg && msg->fields[1].present ? msg->fields[1].msgs[0] : NULL;
		return msg;
	}
	put(t, "[%u]", at);
	if ((*f)->kind == MRPC_KIND_MESSAGE && at < n)
		msg = v->msgs[at];
	return msg;
}

u32 path_random(struct gen *g, const struct mrpc_schema_plan *plan, u32 type,
		const struct model_msg *msg, char *text)
{
	struct text t = { .to = text };

	while (plan->types[type].nr_fields) {
		u32 i = gen_below(g, plan->types[type].nr_fields);
		const struct mrpc_field *f = field_at(plan, type, i);
		const struct model_field *v = msg ? &msg->fields[i] : NULL;
		bool element = false;

		put(&t, "%s%s", t.len ? "." : "", plan->names + f->name);
		msg = NULL;
		if (f->flags & MRPC_FIELD_REPEATED && left(&t) > 60 && gen_chance(g, 80)) {
			msg = put_chosen(&t, g, plan, &f, v);
			element = true;
		} else if (v && v->present && f->kind == MRPC_KIND_MESSAGE) {
			msg = v->msgs[0];
		}
		if (f->flags & MRPC_FIELD_REPEATED && !element) {
			put(&t, "%s", gen_chance(g, 50) ? "#" : "");
			break;
		}
		if (f->kind != MRPC_KIND_MESSAGE) {
			if (f->kind >= MRPC_KIND_STRING && gen_chance(g, 20))
				put(&t, "#");
			break;
		}
		if (left(&t) < 100 || gen_chance(g, 10))
			break;
		type = f->type;
	}
	return t.len;
}
