// SPDX-License-Identifier: LGPL-2.1-or-later
/* Messages from protobuf's text format. */
#include <math.h>
#include <stdlib.h>

#include "parse_any.h"
#include "text_lex.h"

static bool read_fields(struct parse *p, const struct mrpc_message_desc *desc, char *m,
			char close);

/* -- scalars ------------------------------------------------------------------ */

/* @buf as a whole number: decimal, octal with a 0 in front, or hexadecimal with 0x. */
static bool parse_whole(struct parse *p, struct whole *w)
{
	static const char digits[] = "0123456789abcdef";
	const char *s = p->buf.data, *at;
	int base = 10;

	*w = (struct whole){ .negative = *s == '-' };
	s += w->negative;
	if (*s == '0' && (s[1] == 'x' || s[1] == 'X')) {
		base = 16;
		s += 2;
	} else if (*s == '0' && s[1]) {
		base = 8;
		s++;
	}
	if (!*s)
		return false;
	for (; *s; s++) {
		at = strchr(digits, *s >= 'A' && *s <= 'F' ? *s - 'A' + 'a' : *s);
		if (!at || at - digits >= base)
			return false;
		if (__builtin_mul_overflow(w->magnitude, base, &w->magnitude) ||
		    __builtin_add_overflow(w->magnitude, at - digits, &w->magnitude))
			w->too_large = true;
	}
	w->negative &= w->magnitude || w->too_large;
	return true;
}

static bool read_integer(struct parse *p, const struct mrpc_field_desc *f, void *place)
{
	struct whole w;

	if (!text_number_token(p))
		return false;
	if (!parse_whole(p, &w))
		return parse_not(p, "a whole number");
	return put_integer(p, f, place, w);
}

/* Digits with a point and an exponent, or without them; an f at the end means nothing. */
static bool is_decimal(const char *s)
{
	static const char digits[] = "0123456789";
	size_t before = strspn(s, digits), after = 0;
	bool octal = *s == '0' && before > 1;

	s += before;
	if (*s == '.') {
		after = strspn(++s, digits);
		s += after;
		octal = false;
	}
	if (!before && !after)
		return false;
	if (*s == 'e' || *s == 'E') {
		s += s[1] == '-' || s[1] == '+' ? 2 : 1;
		if (!strspn(s, digits))
			return false;
		s += strspn(s, digits);
		octal = false;
	}
	s += *s == 'f' || *s == 'F';
	return !*s && !octal;
}

static bool read_real(struct parse *p, const struct mrpc_field_desc *f, void *place)
{
	const char *s;

	if (!text_number_token(p))
		return false;
	s = p->buf.data + (*p->buf.data == '-');
	if (is_decimal(s))
		return put_real(p, f, place, true);
	if (!strcasecmp(s, "nan"))
		put_double(f, place, (double)NAN);
	else if (!strcasecmp(s, "inf") || !strcasecmp(s, "infinity"))
		put_double(f, place, s == p->buf.data ? (double)INFINITY : (double)-INFINITY);
	else
		return parse_not(p, "a decimal number, inf or nan");
	return true;
}

static bool read_bool(struct parse *p, void *place)
{
	static const char *const words[] = { "false", "False", "f", "true", "True", "t" };
	struct whole w;
	unsigned int i;
	bool b;

	if (!text_number_token(p))
		return false;
	for (i = 0; i < 6 && strcmp(p->buf.data, words[i]); i++)
		;
	b = i >= 3;
	if (i == 6) {
		if (*p->buf.data == '-' || !parse_whole(p, &w) || w.too_large || w.magnitude > 1)
			return parse_not(p, "true or false, or 1 or 0");
		b = w.magnitude;
	}
	memcpy(place, &b, 1);
	return true;
}

static bool read_enum(struct parse *p, const struct mrpc_field_desc *f, void *place)
{
	char c = text_peek(p);
	__s32 number;

	if (c == '-' || (c >= '0' && c <= '9'))
		return read_integer(p, f, place);
	if (!text_word_token(p, "the name of a value"))
		return false;
	if (!find_enum(f->enumeration, &p->buf, &number))
		return parse_fail(p, "enum %s has no value '%s': it must be one of its names, or a number",
				  f->enumeration->name, parse_buf(p));
	memcpy(place, &number, sizeof(number));
	return true;
}

static bool read_scalar(struct parse *p, const struct mrpc_field_desc *f, void *place)
{
	switch (f->kind) {
	case MRPC_DESC_BOOL:
		return read_bool(p, place);
	case MRPC_DESC_ENUM:
		return read_enum(p, f, place);
	case MRPC_DESC_FLOAT:
	case MRPC_DESC_DOUBLE:
		return read_real(p, f, place);
	case MRPC_DESC_STRING:
		return text_string_token(p, "a string in quotes") && parse_utf8(p) &&
		       put_string(p, place);
	case MRPC_DESC_BYTES:
		return text_string_token(p, "bytes in quotes") && put_string(p, place);
	default:
		return read_integer(p, f, place);
	}
}

/* -- fields ------------------------------------------------------------------- */

static bool read_message(struct parse *p, const struct mrpc_message_desc *desc, char *m)
{
	if (text_skip(p, '{'))
		return read_fields(p, desc, m, '}');
	if (text_skip(p, '<'))
		return read_fields(p, desc, m, '>');
	return text_unexpected(p, "'{'");
}

static bool read_value(struct parse *p, struct block *b, const struct mrpc_field_desc *f)
{
	struct step step = { p->step, f, -1 };
	void *place = block_add(p, b, f);
	bool ok;

	if (!place)
		return false;
	if (f->flags & MRPC_DESC_REPEATED)
		step.index = (__s64)desc_ref(f, b->m).len - 1;
	p->step = &step;
	ok = f->kind == MRPC_DESC_MESSAGE ? read_message(p, f->message, place) : read_scalar(p, f, place);
	p->step = step.up;
	return ok;
}

/* Behind the '[' of an array. */
static bool read_list(struct parse *p, struct block *b, const struct mrpc_field_desc *f)
{
	if (text_skip(p, ']'))
		return true;
	do {
		if (!read_value(p, b, f))
			return false;
	} while (text_skip(p, ','));
	return text_skip(p, ']') || text_unexpected(p, "',' or ']'");
}

/* Behind the '[': a type URL, and the fields of the message of that type. */
static bool read_any(struct parse *p, struct block *b)
{
	struct parse_any a;
	const char *url;
	char *root;

	if (!text_url_token(p))
		return false;
	url = p->token;
	if (!text_skip(p, ']'))
		return text_unexpected(p, "']'");
	p->token = url;
	if (!block_claim(p, b, &b->desc->fields[0]) || !block_claim(p, b, &b->desc->fields[1]))
		return false;
	root = parse_any_begin(p, &a, b->m);
	if (root)
		text_skip(p, ':');
	return parse_any_end(p, &a, root && read_message(p, a.desc, root));
}

static bool read_field(struct parse *p, struct block *b)
{
	const struct mrpc_field_desc *f;

	if (text_peek(p) == '[' && desc_is_any(b->desc)) {
		p->pos++;
		return read_any(p, b);
	}
	if (text_peek(p) == '[')
		return parse_fail(p, "'%s' is an extension, which cannot be read: a field's name must "
				  "stand here", parse_seen(p));
	if (!text_word_token(p, "a field's name"))
		return false;
	f = find_field(b->desc, &p->buf, false);
	if (!f)
		return parse_fail(p, "message %s has no field '%s'", b->desc->name, parse_buf(p));
	if (!(f->flags & MRPC_DESC_REPEATED) && !block_claim(p, b, f))
		return false;
	if (!text_skip(p, ':') && f->kind != MRPC_DESC_MESSAGE)
		return text_unexpected(p, "':'");
	if (f->flags & MRPC_DESC_REPEATED && text_skip(p, '['))
		return read_list(p, b, f);
	return read_value(p, b, f);
}

/* Up to @close, or to the end of the text if that is 0. */
static bool read_fields(struct parse *p, const struct mrpc_message_desc *desc, char *m, char close)
{
	struct block b;
	__u32 i;

	if (!block_begin(p, &b, desc, m))
		return false;
	for (;;) {
		char c = text_peek(p);

		if (p->pos == p->end || (close && c == close))
			break;
		if (!read_field(p, &b))
			break;
		if (!text_skip(p, ','))
			text_skip(p, ';');
	}
	for (i = 0; i < desc->nr_fields && !p->err; i++)
		if (desc->fields[i].flags & MRPC_DESC_MAP)
			block_check_map(p, &b, &desc->fields[i]);
	block_end(p, &b);
	if (p->err || !close || text_skip(p, close))
		return !p->err;
	return text_unexpected(p, close == '}' ? "'}'" : "'>'");
}

static bool read_text(struct parse *p, const struct mrpc_message_desc *desc, char *m)
{
	return read_fields(p, desc, m, '\0');
}

int mrpc_from_text(struct mrpc_msg *msg, void *to, const struct mrpc_message_desc *desc,
		   const char *text, size_t len)
{
	struct parse p = { .msg = msg, .start = text, .pos = text, .end = text + len,
			   .token = text };

	return parse_all(&p, desc, to, read_text);
}
