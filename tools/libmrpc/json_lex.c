// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The tokens of JSON. No packaged library does what messages need: jansson has no numbers from
 * 2^63 to 2^64 - 1, json-c keeps the last of two equal keys, and in neither do values know where
 * they stand.
 */
#include "json_lex.h"

char json_peek(struct parse *p)
{
	while (p->pos < p->end &&
	       (*p->pos == ' ' || *p->pos == '\n' || *p->pos == '\t' || *p->pos == '\r'))
		p->pos++;
	p->token = p->pos;
	return p->pos < p->end ? *p->pos : '\0';
}

bool json_take(struct parse *p, char c)
{
	if (json_peek(p) != c || p->pos == p->end)
		return false;
	p->pos++;
	return true;
}

static bool unexpected(struct parse *p, const char *want)
{
	if (p->token == p->end)
		return parse_fail(p, "the text ends where %s must stand", want);
	return parse_fail(p, "'%s' stands where %s must", parse_seen(p), want);
}

bool json_expect(struct parse *p, char c, const char *want)
{
	return json_take(p, c) || unexpected(p, want);
}

bool json_more(struct parse *p, char close, bool *more)
{
	*more = json_take(p, ',');
	if (*more || json_take(p, close))
		return true;
	return unexpected(p, close == ']' ? "',' or ']'" : "',' or '}'");
}

bool json_word(struct parse *p, const char *word)
{
	size_t len = strlen(word);

	json_peek(p);
	if ((size_t)(p->end - p->pos) < len || memcmp(p->pos, word, len))
		return false;
	p->pos += len;
	return true;
}

/* -- strings ------------------------------------------------------------------ */

static bool read_escape(struct parse *p)
{
	static const char escapes[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
	const char *at;
	char c;

	p->pos++;
	c = p->pos < p->end ? *p->pos++ : '\0';
	if (c == 'u')
		return parse_unicode(p);
	at = c ? strchr(escapes, c) : NULL;
	if (at)
		return buf_add(p, &values[at - escapes], 1);
	p->token = p->pos - 2 + (c == '\0' && p->pos == p->end);
	return parse_fail(p, "'%s' is no escape: behind '\\' there must be one of \"\\/bfnrtu",
			  parse_excerpt(p->token, c ? 2 : 1).text);
}

bool json_string_token(struct parse *p, const char *want)
{
	const char *from, *begin;

	if (json_peek(p) != '"')
		return unexpected(p, want);
	begin = p->pos++;
	if (!buf_reset(p))
		return false;
	for (;;) {
		for (from = p->pos; p->pos < p->end; p->pos++)
			if ((unsigned char)*p->pos < ' ' || *p->pos == '"' || *p->pos == '\\')
				break;
		if (!buf_add(p, from, p->pos - from))
			return false;
		if (p->pos == p->end)
			return parse_fail(p, "the string that begins here has no '\"' at its end");
		if (*p->pos == '"')
			break;
		if (*p->pos != '\\') {
			p->token = p->pos;
			return parse_fail(p, "byte 0x%02x is in a string: '\\u%04x' must be written for it",
					  (unsigned char)*p->pos, (unsigned char)*p->pos);
		}
		if (!read_escape(p))
			return false;
	}
	p->pos++;
	p->token = begin;
	return parse_utf8(p);
}

/* -- numbers ------------------------------------------------------------------ */

static const char *skip_digits(const char *s, const char *end)
{
	while (s < end && *s >= '0' && *s <= '9')
		s++;
	return s;
}

/* The end of the number at @s, or NULL. */
static const char *number_end(const char *s, const char *end)
{
	const char *from;

	s += s < end && *s == '-';
	from = s;
	s = skip_digits(s, end);
	if (s == from || (*from == '0' && s - from > 1))
		return NULL;
	if (s < end && *s == '.') {
		from = ++s;
		s = skip_digits(s, end);
		if (s == from)
			return NULL;
	}
	if (s < end && (*s == 'e' || *s == 'E')) {
		s++;
		s += s < end && (*s == '+' || *s == '-');
		from = s;
		s = skip_digits(s, end);
		if (s == from)
			return NULL;
	}
	return s;
}

bool json_is_number(const char *s, size_t len)
{
	return number_end(s, s + len) == s + len;
}

bool json_number_token(struct parse *p)
{
	char c = json_peek(p);
	const char *end;

	if (c != '-' && (c < '0' || c > '9'))
		return unexpected(p, "a number");
	end = number_end(p->pos, p->end);
	if (!end)
		return parse_fail(p, "'%s' is no number of JSON: digits without a '0' in front must "
				  "stand there, as in -10, 0.5 or 1e9", parse_seen(p));
	if (!buf_reset(p) || !buf_add(p, p->pos, end - p->pos))
		return false;
	p->pos = end;
	return true;
}

/* -- values that are not wanted ----------------------------------------------- */

static bool skip_nested(struct parse *p, unsigned int depth);

static bool skip_elements(struct parse *p, char close, unsigned int depth)
{
	bool more = !json_take(p, close);

	while (more) {
		if (close == '}' && !(json_string_token(p, "a name in quotes") &&
				      json_expect(p, ':', "':'")))
			return false;
		if (!skip_nested(p, depth) || !json_more(p, close, &more))
			return false;
	}
	return true;
}

static bool skip_nested(struct parse *p, unsigned int depth)
{
	char c = json_peek(p);

	if (depth >= MRPC_MAX_DEPTH)
		return parse_fail(p, "values are nested deeper than %u levels", MRPC_MAX_DEPTH);
	if (c == '{' || c == '[') {
		p->pos++;
		return skip_elements(p, c == '{' ? '}' : ']', depth + 1);
	}
	if (c == '"')
		return json_string_token(p, "a string");
	if (json_word(p, "null") || json_word(p, "true") || json_word(p, "false"))
		return true;
	if (c == '-' || (c >= '0' && c <= '9'))
		return json_number_token(p);
	return unexpected(p, "a value");
}

bool json_skip(struct parse *p)
{
	return skip_nested(p, 0);
}
