// SPDX-License-Identifier: LGPL-2.1-or-later
/* Messages in JSON, by protobuf's "ProtoJSON" mapping. */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "error.h"
#include "json.h"
#include "json_form.h"

void json_refuse(struct json *j, const char *fmt, ...)
{
	char what[500];
	va_list ap;

	if (j->t.err)
		return;
	j->t.err = EINVAL;
	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	set_error("%s", what);
}

void json_string(struct json *j, const char *s, __u32 len)
{
	__u32 i, from = 0;

	text_add(&j->t, "\"", 1);
	for (i = 0; i < len; i++) {
		unsigned char c = s[i];

		if (c >= ' ' && c != '"' && c != '\\')
			continue;
		text_add(&j->t, s + from, i - from);
		from = i + 1;
		if (c == '"' || c == '\\')
			text_printf(&j->t, "\\%c", c);
		else if (c == '\n')
			text_add(&j->t, "\\n", 2);
		else
			text_printf(&j->t, "\\u%04x", c);
	}
	if (len > from)
		text_add(&j->t, s + from, len - from);
	text_add(&j->t, "\"", 1);
}

static void write_base64(struct json *j, const unsigned char *p, __u32 len)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	__u32 i;

	text_add(&j->t, "\"", 1);
	for (i = 0; i < len && !j->t.err; i += 3) {
		__u32 left = len - i;
		__u32 word = (__u32)p[i] << 16 | (left > 1 ? (__u32)p[i + 1] << 8 : 0) |
			     (left > 2 ? p[i + 2] : 0);
		char four[4] = {
			digits[word >> 18], digits[word >> 12 & 63],
			left > 1 ? digits[word >> 6 & 63] : '=', left > 2 ? digits[word & 63] : '=',
		};

		text_add(&j->t, four, 4);
	}
	text_add(&j->t, "\"", 1);
}

static void write_enum(struct json *j, const struct mrpc_field_desc *f, union value v)
{
	const char *name = text_enum(f->enumeration, v.i32);

	if (json_is_null_value(f->enumeration))
		text_add(&j->t, "null", 4);
	else if (name)
		json_string(j, name, strlen(name));
	else
		text_printf(&j->t, "%d", v.i32);
}

/* Numbers that a double cannot hold are strings, and so are those that are none. */
static void write_scalar(struct json *j, const struct mrpc_field_desc *f, union value v,
			 bool quoted)
{
	double d = 0;

	if (f->kind == MRPC_DESC_FLOAT || f->kind == MRPC_DESC_DOUBLE)
		d = f->kind == MRPC_DESC_FLOAT ? (double)v.f : v.d;
	else if (f->kind >= MRPC_DESC_INT64)
		quoted = true;
	if (!isfinite(d)) {
		text_printf(&j->t, "\"%s\"", isnan(d) ? "NaN" : d < 0 ? "-Infinity" : "Infinity");
		return;
	}
	text_add(&j->t, "\"", quoted);
	text_scalar(&j->t, f, v);
	if (d == 0 && signbit(d))	/* Python takes -0 for a whole number, which has no sign */
		text_add(&j->t, ".0", 2);
	text_add(&j->t, "\"", quoted);
}

static void write_value(struct json *j, const struct mrpc_field_desc *f, const char *p,
			bool is_key)
{
	union value v;

	if (f->kind == MRPC_DESC_MESSAGE) {
		json_block(j, f->message, p);
		return;
	}
	v = desc_value(f, p);
	if (f->kind == MRPC_DESC_STRING)
		json_string(j, mrpc_ref_str(j->root, v.ref), v.ref.len);
	else if (f->kind == MRPC_DESC_BYTES)
		write_base64(j, mrpc_ref_ptr(j->root, v.ref), v.ref.len);
	else if (f->kind == MRPC_DESC_ENUM)
		write_enum(j, f, v);
	else
		write_scalar(j, f, v, is_key);
}

static void write_entry(struct json *j, const struct mrpc_message_desc *entry, const char *p)
{
	const struct mrpc_field_desc *value = &entry->fields[1];
	const char *at = p + value->offset;
	char *empty = NULL;

	write_value(j, &entry->fields[0], p + entry->fields[0].offset, true);
	text_add(&j->t, ":", 1);
	if (value->kind == MRPC_DESC_MESSAGE)
		at = mrpc_ref_ptr(j->root, desc_ref(value, p));
	if (!at)	/* an entry without a value has an empty one */
		at = empty = calloc(1, value->message->size + 1);
	if (at)
		write_value(j, value, at, false);
	else if (!j->t.err)
		j->t.err = ENOMEM;
	free(empty);
}

static void write_array(struct json *j, const struct mrpc_field_desc *f, struct mrpc_ref ref)
{
	const char *p = mrpc_ref_ptr(j->root, ref);
	bool map = f->flags & MRPC_DESC_MAP;
	__u32 i;

	text_add(&j->t, map ? "{" : "[", 1);
	for (i = 0; i < ref.len && !j->t.err; i++, p += desc_elem_size(f)) {
		text_add(&j->t, ",", i > 0);
		if (map)
			write_entry(j, f->message, p);
		else
			write_value(j, f, p, false);
	}
	text_add(&j->t, map ? "}" : "]", 1);
}

void json_field(struct json *j, const struct mrpc_field_desc *f, const char *m)
{
	const char *p = m + f->offset;

	if (f->flags & MRPC_DESC_REPEATED) {
		write_array(j, f, desc_ref(f, m));
		return;
	}
	if (f->kind == MRPC_DESC_MESSAGE)
		p = mrpc_ref_ptr(j->root, desc_ref(f, m));
	if (p)
		write_value(j, f, p, false);
	else
		json_refuse(j, "field %s is set and refers to nothing: it must refer to a %s", f->name,
			    f->message->name);
}

void json_fields(struct json *j, const struct mrpc_message_desc *desc, const char *m, bool first)
{
	__u32 i;

	for (i = 0; i < desc->nr_fields && !j->t.err; i++) {
		const struct mrpc_field_desc *f = &desc->fields[i];

		if (!desc_is_set(f, m))
			continue;
		text_add(&j->t, ",", !first);
		first = false;
		json_string(j, f->json_name, strlen(f->json_name));
		text_add(&j->t, ":", 1);
		json_field(j, f, m);
	}
}

/* One that is being built can be in itself: the depth is bounded. */
void json_block(struct json *j, const struct mrpc_message_desc *desc, const char *m)
{
	if (j->depth++ >= MRPC_MAX_DEPTH) {
		json_refuse(j, "messages are nested deeper than %u levels", MRPC_MAX_DEPTH);
	} else if (!json_known(j, desc, m)) {
		text_add(&j->t, "{", 1);
		json_fields(j, desc, m, true);
		text_add(&j->t, "}", 1);
	}
	j->depth--;
}

char *mrpc_to_json(const struct mrpc_message_desc *desc, const void *root, const void *m)
{
	struct json j = { .root = root };

	json_block(&j, desc, m);
	scratch_free(&j.scratch);
	return text_take(&j.t);
}
