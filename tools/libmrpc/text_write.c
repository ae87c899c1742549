// SPDX-License-Identifier: LGPL-2.1-or-later
/* Messages in protobuf's text format. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "any.h"
#include "text.h"

/**
 * struct writer - a message being written
 * @t: so far
 * @scratch: memory for what a google.protobuf.Any holds
 */
struct writer {
	struct text t;
	struct scratch scratch;
};

static void write_block(struct writer *w, const struct mrpc_message_desc *desc, const void *root,
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

static void write_one(struct writer *w, const struct mrpc_field_desc *f, const void *root,
		      const char *p, unsigned int depth)
{
	struct text *t = &w->t;

	text_printf(t, "%*s%s", 2 * (int)(depth - 1), "", f->name);
	if (f->kind == MRPC_DESC_MESSAGE) {
		text_add(t, " {\n", 3);
		write_block(w, f->message, root, p, depth + 1);
		text_printf(t, "%*s}\n", 2 * (int)(depth - 1), "");
	} else {
		text_add(t, ": ", 2);
		write_simple(t, f, root, p);
		text_add(t, "\n", 1);
	}
}

/* One that is being built can be in itself: the depth is bounded. */
static void write_fields(struct writer *w, const struct mrpc_message_desc *desc, const void *root,
			 const char *m, unsigned int depth)
{
	__u32 i, e;

	if (depth > MRPC_MAX_DEPTH)
		w->t.err = w->t.err ? w->t.err : EINVAL;
	for (i = 0; i < desc->nr_fields && !w->t.err; i++) {
		const struct mrpc_field_desc *f = &desc->fields[i];
		const char *p = m + f->offset;
		__u32 nr = 1;

		if (!desc_is_set(f, m))
			continue;
		if (f->flags & MRPC_DESC_REPEATED)
			nr = desc_ref(f, m).len;
		if (f->flags & MRPC_DESC_REPEATED || f->kind == MRPC_DESC_MESSAGE)
			p = mrpc_ref_ptr(root, desc_ref(f, m));
		for (e = 0; p && e < nr && !w->t.err; e++)
			write_one(w, f, root, p + e * desc_elem_size(f), depth);
	}
}

/* -- google.protobuf.Any ------------------------------------------------------ */

/* Can a type URL stand in brackets? Such are names with '.' between, and one '/'. */
static bool is_plain(const char *url, size_t len)
{
	unsigned int slashes = 0;
	bool begins = true;
	size_t i;

	for (i = 0; i < len; i++) {
		if (url[i] == '.' || url[i] == '/') {
			if (begins)
				return false;
			begins = true;
			slashes += url[i] == '/';
		} else if (text_is_letter(url[i]) || (text_is_digit(url[i]) && !begins)) {
			begins = false;
		} else {
			return false;
		}
	}
	return !begins && slashes == 1;
}

/* Has the decoded message all that is in @any? */
static bool is_whole(const struct mrpc_message_desc *desc, const void *m, const void *root,
		     const struct any *any)
{
	size_t len;
	void *data = mrpc_to_protobuf(desc, m, m, &len);
	bool same = data && len == any->value.len &&
		    (!len || !memcmp(data, mrpc_ref_ptr(root, any->value), len));

	free(data);
	return same;
}

/* What is nested too deeply in it is no reason to have no text. Return: false, it cannot be. */
static bool write_content(struct writer *w, const struct mrpc_message_desc *desc, const void *m,
			  const char *url, size_t url_len, unsigned int depth)
{
	struct text *t = &w->t;
	size_t begin = t->len;

	text_printf(t, "%*s[", 2 * (int)(depth - 1), "");
	text_add(t, url, url_len);
	text_add(t, "] {\n", 4);
	write_block(w, desc, m, m, depth + 1);
	text_printf(t, "%*s}\n", 2 * (int)(depth - 1), "");
	if (t->err != EINVAL)
		return true;
	t->err = 0;
	t->len = begin;
	return false;
}

/* Return: false, its own fields must be written. */
static bool write_any(struct writer *w, const void *root, const struct any *any, unsigned int depth)
{
	const char *url = mrpc_ref_str(root, any->type_url);
	const struct mrpc_message_desc *desc;
	struct scratch_mark mark;
	struct any_why why;
	bool done = false;
	const void *m;

	desc = is_plain(url, any->type_url.len) ? any_find(url, any->type_url.len, &why) : NULL;
	if (!desc)
		return false;
	m = any_open(&w->scratch, &mark, desc, root, any);
	if (m && is_whole(desc, m, root, any))
		done = write_content(w, desc, m, url, any->type_url.len, depth);
	scratch_leave(&w->scratch, &mark);
	return done;
}

static void write_block(struct writer *w, const struct mrpc_message_desc *desc, const void *root,
			const char *m, unsigned int depth)
{
	if (!desc_is_any(desc) || depth > MRPC_MAX_DEPTH ||
	    !write_any(w, root, (const struct any *)m, depth))
		write_fields(w, desc, root, m, depth);
}

char *mrpc_to_text(const struct mrpc_message_desc *desc, const void *root, const void *m)
{
	struct writer w = { 0 };

	write_block(&w, desc, root, m, 1);
	scratch_free(&w.scratch);
	return text_take(&w.t);
}
