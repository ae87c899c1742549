// SPDX-License-Identifier: LGPL-2.1-or-later
/* The tokens of protobuf's text format. */
#include "text_lex.h"

char text_peek(struct parse *p)
{
	while (p->pos < p->end) {
		if (*p->pos == '#')
			while (p->pos < p->end && *p->pos != '\n')
				p->pos++;
		else if (*p->pos == ' ' || (*p->pos >= '\t' && *p->pos <= '\r'))
			p->pos++;
		else
			break;
	}
	p->token = p->pos;
	return p->pos < p->end ? *p->pos : '\0';
}

bool text_skip(struct parse *p, char c)
{
	if (text_peek(p) != c || p->pos == p->end)
		return false;
	p->pos++;
	return true;
}

bool text_unexpected(struct parse *p, const char *want)
{
	if (p->token == p->end)
		return parse_fail(p, "the text ends where %s must stand", want);
	return parse_fail(p, "'%s' stands where %s must", parse_seen(p), want);
}

bool text_word_token(struct parse *p, const char *want)
{
	if (!text_is_letter(text_peek(p)))
		return text_unexpected(p, want);
	while (p->pos < p->end && (text_is_letter(*p->pos) || text_is_digit(*p->pos)))
		p->pos++;
	return buf_reset(p) && buf_add(p, p->token, p->pos - p->token);
}

bool text_url_token(struct parse *p)
{
	text_peek(p);
	while (p->pos < p->end && (text_is_letter(*p->pos) || text_is_digit(*p->pos) ||
				   *p->pos == '.' || *p->pos == '/' || *p->pos == '-'))
		p->pos++;
	if (p->pos == p->token)
		return text_unexpected(p, "a type URL");
	return buf_reset(p) && buf_add(p, p->token, p->pos - p->token);
}

bool text_number_token(struct parse *p)
{
	bool negative = text_skip(p, '-');
	const char *begin = p->token, *from;

	text_peek(p);
	for (from = p->pos; p->pos < p->end; p->pos++)
		if (!text_is_letter(*p->pos) && !text_is_digit(*p->pos) && *p->pos != '.' &&
		    /* the sign of an exponent */
		    !((*p->pos == '-' || *p->pos == '+') && p->pos > from &&
		      (p->pos[-1] == 'e' || p->pos[-1] == 'E')))
			break;
	if (p->pos == from)
		return text_unexpected(p, "a number");
	p->token = negative ? begin : from;
	return buf_reset(p) && buf_add(p, "-", negative) && buf_add(p, from, p->pos - from);
}

/* -- strings ------------------------------------------------------------------ */

/* One to three digits; the first is there. */
static bool read_octal(struct parse *p)
{
	const char *from = p->pos;
	unsigned int value = 0;
	char byte;

	while (p->pos < p->end && p->pos - from < 3 && *p->pos >= '0' && *p->pos <= '7')
		value = 8 * value + (*p->pos++ - '0');
	byte = (char)value;
	if (value < 256)
		return buf_add(p, &byte, 1);
	p->token = from - 1;
	return parse_fail(p, "'%s' is no byte: it must be from '\\000' to '\\377'",
			  parse_excerpt(p->token, 4).text);
}

static bool is_hex(const struct parse *p)
{
	char c = p->pos < p->end ? *p->pos : '\0';

	return text_is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/* One or two digits. */
static bool read_hex(struct parse *p)
{
	__u32 high = 0, low = 0;
	char byte;

	if (!parse_hex(p, 1, &low))
		return false;
	if (is_hex(p)) {
		high = low;
		if (!parse_hex(p, 1, &low))
			return false;
	}
	byte = (char)(high << 4 | low);
	return buf_add(p, &byte, 1);
}

static bool read_rune(struct parse *p)
{
	const char *at = p->pos - 2;
	__u32 rune;

	if (!parse_hex(p, 8, &rune))
		return false;
	if (rune <= 0x10ffff && (rune < 0xd800 || rune > 0xdfff))
		return buf_add_rune(p, rune);
	p->token = at;
	return parse_fail(p, "'%s' is no character: it must be less than '\\U00110000' and no surrogate",
			  parse_excerpt(at, 10).text);
}

static bool read_escape(struct parse *p)
{
	static const char escapes[] = "abfnrtv\\'\"?", values[] = "\a\b\f\n\r\t\v\\'\"?";
	const char *at;
	char c;

	p->pos++;
	c = p->pos < p->end ? *p->pos : '\0';
	if (c >= '0' && c <= '7')
		return read_octal(p);
	p->pos += p->pos < p->end;
	if (c == 'x' || c == 'X')
		return read_hex(p);
	if (c == 'u')
		return parse_unicode(p);
	if (c == 'U')
		return read_rune(p);
	at = c ? strchr(escapes, c) : NULL;
	if (at)
		return buf_add(p, &values[at - escapes], 1);
	p->token = p->pos - 1;
	return parse_fail(p, "'\\' stands before '%s': it must be before one of abfnrtvxuU\\'\"? or a "
			  "digit from 0 to 7", parse_excerpt(&c, 1).text);
}

static bool read_string(struct parse *p)
{
	const char *begin = p->pos, *from;
	char quote = *p->pos++;

	for (;;) {
		for (from = p->pos; p->pos < p->end; p->pos++)
			if (*p->pos == quote || *p->pos == '\\' || *p->pos == '\n')
				break;
		if (!buf_add(p, from, p->pos - from))
			return false;
		if (p->pos == p->end || *p->pos == '\n') {
			p->token = begin;
			return parse_fail(p, "the string that begins here has no %c at its end", quote);
		}
		if (*p->pos == quote)
			break;
		if (!read_escape(p))
			return false;
	}
	p->pos++;
	return true;
}

bool text_string_token(struct parse *p, const char *want)
{
	char c = text_peek(p);
	const char *begin = p->pos;

	if (c != '"' && c != '\'')
		return text_unexpected(p, want);
	if (!buf_reset(p))
		return false;
	for (; c == '"' || c == '\''; c = text_peek(p))
		if (!read_string(p))
			return false;
	p->token = begin;
	return true;
}
