// SPDX-License-Identifier: LGPL-2.1-or-later
/* Texts that grow, and how values are written in them. */
#include <errno.h>
#include <inttypes.h>
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
