// SPDX-License-Identifier: LGPL-2.1-or-later
/* Texts that are read into messages: where the reader is, and what is wrong there. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "error.h"
#include "parse.h"

/* -- errors ------------------------------------------------------------------- */

struct excerpt parse_excerpt(const char *s, size_t len)
{
	struct excerpt e = { 0 };
	size_t i;

	for (i = 0; i < len && i < sizeof(e.text) - 4; i++)
		e.text[i] = s[i] < ' ' || s[i] > '~' ? '?' : s[i];
	if (i < len)
		memcpy(e.text + i, "...", 3);
	return e;
}

static void write_path(struct text *t, const struct step *step)
{
	if (!step)
		return;
	write_path(t, step->up);
	text_printf(t, "%s%s", t->len ? "." : "", step->field->name);
	if (step->index >= 0)
		text_printf(t, "[%lld]", (long long)step->index);
}

/* Columns are bytes, as compilers count them. */
static void write_place(const struct parse *p, char *to, size_t size)
{
	const char *line = p->start, *at;
	unsigned int nr = 1;

	if (p->is_binary) {
		snprintf(to, size, "byte %zu", (size_t)(p->token - p->start));
		return;
	}
	for (at = p->start; at < p->token; at++)
		if (*at == '\n') {
			line = at + 1;
			nr++;
		}
	snprintf(to, size, "line %u, column %zu", nr, (size_t)(p->token - line) + 1);
}

bool parse_fail(struct parse *p, const char *fmt, ...)
{
	struct text path = { 0 };
	char what[500], where[60];
	va_list ap;

	if (p->err)
		return false;
	p->err = -EINVAL;
	write_place(p, where, sizeof(where));
	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	write_path(&path, p->step);
	if (path.len > 200)	/* the end says more */
		memcpy(path.data + path.len - 200, "...", 3);
	set_error("%s%s%s: %s", where, path.len ? ", field " : "",
		  path.len > 200 ? path.data + path.len - 200 : path.data ? path.data : "", what);
	free(path.data);
	return false;
}

bool parse_no_memory(struct parse *p)
{
	if (!p->err) {
		p->err = -ENOMEM;
		set_error("there is no memory to read a message");
	}
	return false;
}

bool parse_not(struct parse *p, const char *want)
{
	return parse_fail(p, "'%s' is not %s", parse_buf(p), want);
}

int parse_all(struct parse *p, const struct mrpc_message_desc *desc, void *to,
	      bool (*read)(struct parse *p, const struct mrpc_message_desc *desc, char *m))
{
	if (!to)
		return p->msg->err ? p->msg->err : -ENOMEM;
	memset(to, 0, desc->size);
	if (!p->msg->err && !read(p, desc, to) && !p->msg->err)
		p->msg->err = p->err;
	free(p->buf.data);
	scratch_free(&p->scratch);
	return p->msg->err;
}

/* -- the buffer --------------------------------------------------------------- */

bool buf_add(struct parse *p, const char *s, size_t len)
{
	text_add(&p->buf, s, len);
	return !p->buf.err || parse_no_memory(p);
}

bool buf_reset(struct parse *p)
{
	p->buf.len = 0;
	return buf_add(p, "", 0);
}

bool buf_add_rune(struct parse *p, __u32 rune)
{
	char utf8[4];

	if (rune < 0x80) {
		utf8[0] = (char)rune;
		return buf_add(p, utf8, 1);
	}
	utf8[3] = (char)(0x80 | (rune & 0x3f));
	utf8[2] = (char)(0x80 | (rune >> 6 & 0x3f));
	utf8[1] = (char)(0x80 | (rune >> 12 & 0x3f));
	if (rune < 0x800) {
		utf8[2] = (char)(0xc0 | rune >> 6);
		return buf_add(p, utf8 + 2, 2);
	}
	if (rune < 0x10000) {
		utf8[1] = (char)(0xe0 | rune >> 12);
		return buf_add(p, utf8 + 1, 3);
	}
	utf8[0] = (char)(0xf0 | rune >> 18);
	return buf_add(p, utf8, 4);
}

bool parse_hex(struct parse *p, unsigned int nr, __u32 *value)
{
	static const char digits[] = "0123456789abcdef0123456789ABCDEF";
	const char *at;

	for (*value = 0; nr; nr--, p->pos++) {
		at = p->pos < p->end && *p->pos ? strchr(digits, *p->pos) : NULL;
		if (!at) {
			p->token = p->pos;
			return parse_fail(p, "'%s' stands where a hexadecimal digit must",
					  parse_seen(p));
		}
		*value = *value << 4 | ((at - digits) & 15);
	}
	return true;
}

bool parse_unicode(struct parse *p)
{
	const char *at = p->pos - 2;
	__u32 rune, low = 0;

	if (!parse_hex(p, 4, &rune))
		return false;
	if (rune >= 0xd800 && rune < 0xdc00 && p->end - p->pos >= 6 && p->pos[0] == '\\' &&
	    p->pos[1] == 'u') {
		p->pos += 2;
		if (!parse_hex(p, 4, &low))
			return false;
		if (low >= 0xdc00 && low < 0xe000)
			return buf_add_rune(p, 0x10000 + ((rune - 0xd800) << 10) + (low - 0xdc00));
	}
	if (rune < 0xd800 || rune >= 0xe000)
		return buf_add_rune(p, rune);
	p->token = at;
	return parse_fail(p, "'%s' is half of a pair of surrogates: '\\ud800' to '\\udbff' must stand "
			  "before '\\udc00' to '\\udfff'", parse_excerpt(at, 6).text);
}
