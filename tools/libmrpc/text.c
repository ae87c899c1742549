// SPDX-License-Identifier: LGPL-2.1-or-later
/* Messages in protobuf's text format. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "text.h"

/* -- texts that grow ---------------------------------------------------------- */

static bool reserve(struct text *t, size_t len)
{
	size_t cap = t->len + len + 1;
	char *data;

	if (t->err)
		return false;
	if (cap <= t->cap)
		return true;
	data = realloc(t->data, 2 * cap);
	if (!data) {
		t->err = ENOMEM;
		return false;
	}
	t->data = data;
	t->cap = 2 * cap;
	return true;
}

void text_add(struct text *t, const char *data, size_t len)
{
	if (!reserve(t, len))
		return;
	memcpy(t->data + t->len, data, len);
	t->len += len;
	t->data[t->len] = '\0';
}

void text_printf(struct text *t, const char *fmt, ...)
{
	char buf[128];
	va_list ap;
	int len;

	va_start(ap, fmt);
	len = vsnprintf(buf, sizeof(buf), fmt, ap);
	va_end(ap);
	if (len >= 0 && (size_t)len < sizeof(buf)) {
		text_add(t, buf, len);
		return;
	}
	if (len < 0 || !reserve(t, len))
		return;
	va_start(ap, fmt);
	vsnprintf(t->data + t->len, len + 1, fmt, ap);
	va_end(ap);
	t->len += len;
}

char *text_take(struct text *t)
{
	text_add(t, "", 0);
	if (!t->err)
		return t->data;
	free(t->data);
	errno = t->err;
	return NULL;
}

/* -- values ------------------------------------------------------------------- */

void text_number(struct text *t, double d, bool is_float)
{
	int digits = is_float ? 6 : 15;
	char buf[40], *p;

	do
		snprintf(buf, sizeof(buf), "%.*g", digits, d);
	while (digits++ < (is_float ? 9 : 17) &&
	       (is_float ? strtof(buf, NULL) != (float)d : strtod(buf, NULL) != d));
	/* The program's locale may have another point. */
	for (p = buf; *p; p++)
		if (!strchr("0123456789+-e", *p))
			*p = '.';
	text_add(t, buf, strlen(buf));
}

void text_scalar(struct text *t, const struct mrpc_field_desc *f, union value v)
{
	switch (f->kind) {
	case MRPC_DESC_BOOL:
		text_printf(t, "%s", v.b ? "true" : "false");
		break;
	case MRPC_DESC_UINT32:
	case MRPC_DESC_FIXED32:
		text_printf(t, "%" PRIu32, v.u32);
		break;
	case MRPC_DESC_UINT64:
	case MRPC_DESC_FIXED64:
		text_printf(t, "%" PRIu64, (uint64_t)v.u64);
		break;
	case MRPC_DESC_INT64:
	case MRPC_DESC_SINT64:
	case MRPC_DESC_SFIXED64:
		text_printf(t, "%" PRId64, (int64_t)v.i64);
		break;
	case MRPC_DESC_FLOAT:
		text_number(t, v.f, true);
		break;
	case MRPC_DESC_DOUBLE:
		text_number(t, v.d, false);
		break;
	default:
		text_printf(t, "%" PRId32, v.i32);
	}
}

const char *text_enum(const struct mrpc_enum_desc *e, __s32 number)
{
	__u32 i;

	for (i = 0; e && i < e->nr_values; i++)
		if (e->values[i].number == number)
			return e->values[i].name;
	return NULL;
}

/* -- the text format ---------------------------------------------------------- */

static void write_block(struct text *t, const struct mrpc_message_desc *desc, const void *root,
			const char *m, unsigned int depth);

static void write_quoted(struct text *t, const char *s, __u32 len)
{
	__u32 i;

	text_add(t, "\"", 1);
	for (i = 0; i < len; i++) {
		unsigned char c = s[i];

		if (c == '\n')
			text_add(t, "\\n", 2);
		else if (c == '"' || c == '\\')
			text_printf(t, "\\%c", c);
		else if (c < ' ' || c >= 0x7f)
			text_printf(t, "\\%03o", c);
		else
			text_add(t, s + i, 1);
	}
	text_add(t, "\"", 1);
}

static void write_simple(struct text *t, const struct mrpc_field_desc *f, const void *root,
			 const char *p)
{
	union value v = desc_value(f, p);
	const char *name = NULL;

	if (f->kind >= MRPC_DESC_STRING) {
		write_quoted(t, mrpc_ref_ptr(root, v.ref), v.ref.len);
		return;
	}
	if (f->kind == MRPC_DESC_ENUM)
		name = text_enum(f->enumeration, v.i32);
	if (name)
		text_add(t, name, strlen(name));
	else if (f->kind == MRPC_DESC_FLOAT || f->kind == MRPC_DESC_DOUBLE) {
		double d = f->kind == MRPC_DESC_FLOAT ? (double)v.f : v.d;

		if (isfinite(d))
			text_scalar(t, f, v);
		else
			text_printf(t, "%s", isnan(d) ? "nan" : d < 0 ? "-inf" : "inf");
	} else {
		text_scalar(t, f, v);
	}
}

static void write_one(struct text *t, const struct mrpc_field_desc *f, const void *root,
		      const char *p, unsigned int depth)
{
	text_printf(t, "%*s%s", 2 * (int)(depth - 1), "", f->name);
	if (f->kind == MRPC_DESC_MESSAGE) {
		text_add(t, " {\n", 3);
		write_block(t, f->message, root, p, depth + 1);
		text_printf(t, "%*s}\n", 2 * (int)(depth - 1), "");
	} else {
		text_add(t, ": ", 2);
		write_simple(t, f, root, p);
		text_add(t, "\n", 1);
	}
}

/* One that is being built can be in itself: the depth is bounded. */
static void write_block(struct text *t, const struct mrpc_message_desc *desc, const void *root,
			const char *m, unsigned int depth)
{
	__u32 i, e;

	if (depth > MRPC_MAX_DEPTH)
		t->err = t->err ? t->err : EINVAL;
	for (i = 0; i < desc->nr_fields && !t->err; i++) {
		const struct mrpc_field_desc *f = &desc->fields[i];
		const char *p = m + f->offset;
		__u32 nr = 1;

		if (!desc_is_set(f, m))
			continue;
		if (f->flags & MRPC_DESC_REPEATED)
			nr = desc_ref(f, m).len;
		if (f->flags & MRPC_DESC_REPEATED || f->kind == MRPC_DESC_MESSAGE)
			p = mrpc_ref_ptr(root, desc_ref(f, m));
		for (e = 0; p && e < nr && !t->err; e++)
			write_one(t, f, root, p + e * desc_elem_size(f), depth);
	}
}

char *mrpc_to_text(const struct mrpc_message_desc *desc, const void *root, const void *m)
{
	struct text t = { 0 };

	write_block(&t, desc, root, m, 1);
	return text_take(&t);
}
