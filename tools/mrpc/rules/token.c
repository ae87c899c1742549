// SPDX-License-Identifier: GPL-2.0
/* The text of rules: its words, quoted texts and numbers. */
#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "rules/token.h"

/* A number as written. */
struct number {
	bool is_double;
	bool negative;		/* @u is its two's complement */
	uint64_t u;
	double d;
};

bool __attribute__((format(printf, 3, 4)))
rule_refuse(struct rule_reader *p, const char *at, const char *fmt, ...)
{
	const char *c;
	va_list ap;

	p->err->line = 1;
	p->err->column = 1;
	for (c = p->text; c < at; c++) {
		p->err->column++;
		if (*c == '\n') {
			p->err->line++;
			p->err->column = 1;
		}
	}
	va_start(ap, fmt);
	vsnprintf(p->err->what, sizeof(p->err->what), fmt, ap);
	va_end(ap);
	return false;
}

/* -- tokens ----------------------------------------------------------------- */

void rule_skip_blanks(struct rule_reader *p)
{
	while (*p->pos == ' ' || *p->pos == '\t' || *p->pos == '\r')
		p->pos++;
	if (*p->pos == '#')
		p->pos += strcspn(p->pos, "\n");
}

bool rule_at_end(struct rule_reader *p)
{
	rule_skip_blanks(p);
	return !*p->pos || *p->pos == '\n' || *p->pos == ';';
}

bool rule_is_word(char c)
{
	return c && !strchr(" \t\r\n;\"=<>", c);
}

struct rule_token rule_peek(struct rule_reader *p)
{
	struct rule_token t;

	rule_skip_blanks(p);
	t.p = p->pos;
	for (t.len = 0; rule_is_word(t.p[t.len]); t.len++)
		;
	return t;
}

bool rule_is(struct rule_token t, const char *word)
{
	return strlen(word) == t.len && !memcmp(t.p, word, t.len);
}

bool rule_eat(struct rule_reader *p, const char *word)
{
	if (!rule_is(rule_peek(p), word))
		return false;
	p->pos += strlen(word);
	return true;
}

bool rule_expected(struct rule_reader *p, const char *what)
{
	struct rule_token t = rule_peek(p);
	/* A very long word, such as a name, leaves room for the reason. */
	int shown = t.len > 64 ? 61 : (int)t.len;

	if (rule_at_end(p))
		return rule_refuse(p, p->pos, "the rule ends here; %s is expected", what);
	if (!t.len)
		return rule_refuse(p, p->pos, "'%c': %s is expected", *p->pos, what);
	return rule_refuse(p, t.p, "'%.*s%s': %s is expected", shown, t.p,
			   shown < (int)t.len ? "..." : "", what);
}

static int hex(char c)
{
	return isdigit((uint8_t)c) ? c - '0' : isxdigit((uint8_t)c) ? tolower(c) - 'a' + 10 : -1;
}

char *rule_quoted(struct rule_reader *p, size_t max, size_t *len)
{
	const char *start, *c;
	char *text;

	rule_skip_blanks(p);
	start = c = p->pos;
	if (*c++ != '"') {
		rule_expected(p, "a text in quotes");
		return NULL;
	}
	text = malloc(strlen(c) + 1);
	for (*len = 0; *c != '"'; c++) {
		char ch = *c;

		if (!ch || ch == '\n') {
			rule_refuse(p, start, "the text that starts here has no closing quote");
			goto refused;
		}
		if (ch == '\\') {
			ch = *++c;
			if (ch == 'n') {
				ch = '\n';
			} else if (ch == 't') {
				ch = '\t';
			} else if (ch == 'x' && hex(c[1]) >= 0 && hex(c[2]) >= 0) {
				ch = hex(c[1]) << 4 | hex(c[2]);
				c += 2;
			} else if (ch != '"' && ch != '\\') {
				rule_refuse(p, c - 1, "after a backslash, \\, \", n, t or xHH is expected");
				goto refused;
			}
		}
		text[(*len)++] = ch;
	}
	if (*len > max) {
		rule_refuse(p, start, "the text has %zu bytes; at most %zu are allowed", *len, max);
		goto refused;
	}
	p->pos = c + 1;
	return text;
refused:
	free(text);
	return NULL;
}

/* -- numbers ---------------------------------------------------------------- */

static bool parse_double(struct rule_reader *p, const char *start, struct number *n)
{
	char *end;

	n->is_double = true;
	n->d = strtod(start, &end);
	p->pos = end;
	return true;
}

/* Starts at @p->pos. Hexadecimal floats and NaN are no numbers here. */
static bool parse_number(struct rule_reader *p, struct number *n)
{
	const char *start = p->pos, *c = start + (*start == '-'), *digits = c;

	*n = (struct number){ 0 };
	if (!strncmp(c, "inf", 3) && !isalpha((uint8_t)c[3]))
		return parse_double(p, start, n);
	for (; isdigit((uint8_t)*c); c++) {
		if (!__builtin_mul_overflow(n->u, 10, &n->u) &&
		    !__builtin_add_overflow(n->u, *c - '0', &n->u))
			continue;
		while (isdigit((uint8_t)*c))
			c++;
		if (*c != '.' && *c != 'e')
			return rule_refuse(p, start, "'%.*s' is larger than any number can be",
					   (int)(c - start), start);
		break;
	}
	if (c == digits)
		return rule_expected(p, "a number");
	if (*c == '.' || (*c == 'e' && (isdigit((uint8_t)c[1]) ||
	    ((c[1] == '-' || c[1] == '+') && isdigit((uint8_t)c[2])))))
		return parse_double(p, start, n);
	n->negative = *start == '-' && n->u;
	if (n->negative && n->u > 1ULL << 63)
		return rule_refuse(p, start, "'%.*s' is less than any number can be",
				   (int)(c - start), start);
	if (n->negative)
		n->u = -n->u;
	n->d = n->negative ? (double)(int64_t)n->u : (double)n->u;
	p->pos = c;
	return true;
}

/* K, M or G behind a number of bytes. */
static bool parse_unit(struct rule_reader *p, const char *start, struct number *n)
{
	const char *unit = *p->pos ? strchr("KMG", *p->pos) : NULL;

	if (!unit || n->is_double)
		return true;
	p->pos++;
	if (__builtin_mul_overflow(n->u, 1ULL << (*unit == 'K' ? 10 : *unit == 'M' ? 20 : 30),
				   &n->u))
		return rule_refuse(p, start, "the number of bytes that starts here is too large");
	return true;
}

static bool parse_end(struct rule_reader *p, int what, struct number *n)
{
	const char *start;

	rule_skip_blanks(p);
	start = p->pos;
	if (!parse_number(p, n) || (what == FOR_SIZE && !parse_unit(p, start, n)))
		return false;
	if (what != FOR_FIELD && (n->negative || n->is_double))
		return rule_refuse(p, start, "'%.*s' is not a whole number from 0",
				   (int)(p->pos - start), start);
	return true;
}

bool rule_count(struct rule_reader *p, uint64_t *count)
{
	struct number n;

	if (!parse_end(p, FOR_COUNT, &n))
		return false;
	*count = n.u;
	return true;
}

/* The number beside, for > and <: the ends of ranges belong to them. */
static bool step(struct rule_reader *p, const char *at, struct number *n, int by, bool below_zero)
{
	if (n->is_double) {
		n->d = nextafter(n->d, by * INFINITY);
		return true;
	}
	if (by > 0 ? !n->negative && n->u == UINT64_MAX :
	    n->negative ? n->u == 1ULL << 63 : !n->u && !below_zero)
		return rule_refuse(p, at, "no number can be %s than that", by > 0 ? "larger" : "less");
	n->u += by;
	n->negative = by > 0 ? n->negative && n->u : n->negative || n->u == UINT64_MAX;
	return true;
}

static uint64_t bits_of(double d)
{
	uint64_t bits;

	memcpy(&bits, &d, sizeof(bits));
	return bits;
}

static bool above(const struct number *a, const struct number *b, bool doubles)
{
	if (doubles)
		return a->d > b->d;
	return a->negative == b->negative ? a->u > b->u : b->negative;
}

bool rule_range(struct rule_reader *p, int what, struct mrpc_cond_range *range, uint8_t *op)
{
	struct number from, to;
	uint32_t flags = MRPC_RANGE_FROM | MRPC_RANGE_TO;
	const char *start;
	bool doubles;
	char sign = 0;

	rule_skip_blanks(p);
	if (*p->pos && strchr("=<>", *p->pos))
		sign = *p->pos++;
	if (sign && *p->pos == '=')	/* also "==" */
		p->pos++;
	else if (sign == '<' || sign == '>')
		sign = sign == '<' ? 'b' : 'a';		/* below, above */
	rule_skip_blanks(p);
	start = p->pos;
	if (what == FOR_FIELD && sign == '=' && !(*start && strchr("-0123456789i", *start)))
		return rule_expected(p, "a number, true, false or a text in quotes");
	if (!parse_end(p, what, &from))
		return false;
	to = from;
	if (!sign && *p->pos == '-') {
		p->pos++;
		if (!parse_end(p, what, &to))
			return false;
	}
	if (rule_is_word(*p->pos))
		return rule_expected(p, "a blank behind the number");
	doubles = from.is_double || to.is_double;
	if (above(&from, &to, doubles))
		return rule_refuse(p, start, "the range '%.*s' starts behind its end",
				   (int)(p->pos - start), start);
	if (sign == 'a' && !step(p, start, &from, 1, true))
		return false;
	if (sign == 'b' && !step(p, start, &to, -1, what == FOR_FIELD))
		return false;
	if (sign == '>' || sign == 'a')
		flags = MRPC_RANGE_FROM;
	else if (sign == '<' || sign == 'b')
		flags = MRPC_RANGE_TO;

	*op = doubles ? MRPC_MATCH_DOUBLES : MRPC_MATCH_RANGE;
	*range = (struct mrpc_cond_range){ 0 };
	if (flags & MRPC_RANGE_FROM) {
		range->from = cpu_to_le64(doubles ? bits_of(from.d) : from.u);
		flags |= !doubles && from.negative ? MRPC_RANGE_FROM_NEG : 0;
	}
	if (flags & MRPC_RANGE_TO) {
		range->to = cpu_to_le64(doubles ? bits_of(to.d) : to.u);
		flags |= !doubles && to.negative ? MRPC_RANGE_TO_NEG : 0;
	}
	range->flags = cpu_to_le32(flags);
	return true;
}
