// SPDX-License-Identifier: GPL-2.0
/* Rules: from text to the binary form. */
#include <arpa/inet.h>
#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "rule.h"
#include "rule_text.h"
#include "status.h"

struct bytes {
	uint8_t *p;
	size_t len;
};

struct parser {
	const char *text;
	const char *pos;
	const struct rule_verb *verbs;
	struct rule_text_error *err;
	struct bytes rules;
	struct bytes conds;		/* of the rule at hand */
	const char *sets[MRPC_RULES_MAX_SETS];	/* in the text; lengths: */
	uint32_t set_lens[MRPC_RULES_MAX_SETS];
	uint32_t nr_sets;
	uint32_t nr_rules;
	uint32_t nr_conds;
};

/* A number as written. */
struct number {
	bool is_double;
	bool negative;		/* @u is its two's complement */
	uint64_t u;
	double d;
};

struct token {
	const char *p;
	size_t len;
};

/* Always false, so that it can be returned. */
static bool __attribute__((format(printf, 3, 4)))
refuse(struct parser *p, const char *at, const char *fmt, ...)
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

/* Adds @len bytes and padding to a multiple of 8. */
static void put(struct bytes *b, const void *data, size_t len)
{
	size_t room = (len + 7) / 8 * 8;

	if (!room)
		return;
	b->p = realloc(b->p, b->len + room);
	if (!b->p)
		abort();
	memset(b->p + b->len, 0, room);
	memcpy(b->p + b->len, data, len);
	b->len += room;
}

/* -- tokens ----------------------------------------------------------------- */

static void skip_blanks(struct parser *p)
{
	while (*p->pos == ' ' || *p->pos == '\t' || *p->pos == '\r')
		p->pos++;
	if (*p->pos == '#')
		p->pos += strcspn(p->pos, "\n");
}

static bool at_end(struct parser *p)
{
	skip_blanks(p);
	return !*p->pos || *p->pos == '\n' || *p->pos == ';';
}

static bool is_word(char c)
{
	return c && !strchr(" \t\r\n;\"=<>", c);
}

/* The next word, which may be empty. */
static struct token peek_word(struct parser *p)
{
	struct token t;

	skip_blanks(p);
	t.p = p->pos;
	for (t.len = 0; is_word(t.p[t.len]); t.len++)
		;
	return t;
}

static bool is(struct token t, const char *word)
{
	return strlen(word) == t.len && !memcmp(t.p, word, t.len);
}

static bool eat(struct parser *p, const char *word)
{
	if (!is(peek_word(p), word))
		return false;
	p->pos += strlen(word);
	return true;
}

static bool expected(struct parser *p, const char *what)
{
	struct token t = peek_word(p);

	if (at_end(p))
		return refuse(p, p->pos, "the rule ends here; %s is expected", what);
	if (!t.len)
		return refuse(p, p->pos, "'%c': %s is expected", *p->pos, what);
	return refuse(p, t.p, "'%.*s': %s is expected", (int)t.len, t.p, what);
}

static int hex(char c)
{
	return isdigit((uint8_t)c) ? c - '0' : isxdigit((uint8_t)c) ? tolower(c) - 'a' + 10 : -1;
}

/* A text in quotes; to be freed. NULL: refused. */
static char *quoted(struct parser *p, size_t max, size_t *len)
{
	const char *start, *c;
	char *text;

	skip_blanks(p);
	start = c = p->pos;
	if (*c++ != '"') {
		expected(p, "a text in quotes");
		return NULL;
	}
	text = malloc(strlen(c) + 1);
	for (*len = 0; *c != '"'; c++) {
		char ch = *c;

		if (!ch || ch == '\n') {
			refuse(p, start, "the text that starts here has no closing quote");
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
				refuse(p, c - 1, "after a backslash, \\, \", n, t or xHH is expected");
				goto refused;
			}
		}
		text[(*len)++] = ch;
	}
	if (*len > max) {
		refuse(p, start, "the text has %zu bytes; at most %zu are allowed", *len, max);
		goto refused;
	}
	p->pos = c + 1;
	return text;
refused:
	free(text);
	return NULL;
}

/* -- numbers ---------------------------------------------------------------- */

static bool parse_double(struct parser *p, const char *start, struct number *n)
{
	char *end;

	n->is_double = true;
	n->d = strtod(start, &end);
	p->pos = end;
	return true;
}

/* Starts at @p->pos. Hexadecimal floats and NaN are no numbers here. */
static bool parse_number(struct parser *p, struct number *n)
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
			return refuse(p, start, "'%.*s' is larger than any number can be",
				      (int)(c - start), start);
		break;
	}
	if (c == digits)
		return expected(p, "a number");
	if (*c == '.' || (*c == 'e' && (isdigit((uint8_t)c[1]) ||
	    ((c[1] == '-' || c[1] == '+') && isdigit((uint8_t)c[2])))))
		return parse_double(p, start, n);
	n->negative = *start == '-' && n->u;
	if (n->negative && n->u > 1ULL << 63)
		return refuse(p, start, "'%.*s' is less than any number can be",
			      (int)(c - start), start);
	if (n->negative)
		n->u = -n->u;
	n->d = n->negative ? (double)(int64_t)n->u : (double)n->u;
	p->pos = c;
	return true;
}

/* K, M or G behind a number of bytes. */
static bool parse_unit(struct parser *p, const char *start, struct number *n)
{
	const char *unit = *p->pos ? strchr("KMG", *p->pos) : NULL;

	if (!unit || n->is_double)
		return true;
	p->pos++;
	if (__builtin_mul_overflow(n->u, 1ULL << (*unit == 'K' ? 10 : *unit == 'M' ? 20 : 30),
				   &n->u))
		return refuse(p, start, "the number of bytes that starts here is too large");
	return true;
}

enum { FOR_FIELD, FOR_COUNT, FOR_SIZE };

static bool parse_end(struct parser *p, int what, struct number *n)
{
	const char *start;

	skip_blanks(p);
	start = p->pos;
	if (!parse_number(p, n) || (what == FOR_SIZE && !parse_unit(p, start, n)))
		return false;
	if (what != FOR_FIELD && (n->negative || n->is_double))
		return refuse(p, start, "'%.*s' is not a whole number from 0",
			      (int)(p->pos - start), start);
	return true;
}

/* The number beside, for > and <: the ends of ranges belong to them. */
static bool step(struct parser *p, const char *at, struct number *n, int by, bool below_zero)
{
	if (n->is_double) {
		n->d = nextafter(n->d, by * INFINITY);
		return true;
	}
	if (by > 0 ? !n->negative && n->u == UINT64_MAX :
	    n->negative ? n->u == 1ULL << 63 : !n->u && !below_zero)
		return refuse(p, at, "no number can be %s than that", by > 0 ? "larger" : "less");
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

/* [=] N, N-M, >= N, <= N, > N or < N. */
static bool parse_range(struct parser *p, int what, struct mrpc_cond_range *range, uint8_t *op)
{
	struct number from, to;
	uint32_t flags = MRPC_RANGE_FROM | MRPC_RANGE_TO;
	const char *start;
	bool doubles;
	char sign = 0;

	skip_blanks(p);
	if (*p->pos && strchr("=<>", *p->pos))
		sign = *p->pos++;
	if ((sign == '<' || sign == '>') && *p->pos == '=')
		p->pos++;
	else if (sign == '<' || sign == '>')
		sign = sign == '<' ? 'b' : 'a';		/* below, above */
	skip_blanks(p);
	start = p->pos;
	if (!parse_end(p, what, &from))
		return false;
	to = from;
	if (!sign && *p->pos == '-') {
		p->pos++;
		if (!parse_end(p, what, &to))
			return false;
	}
	if (is_word(*p->pos))
		return expected(p, "a blank behind the number");
	doubles = from.is_double || to.is_double;
	if (above(&from, &to, doubles))
		return refuse(p, start, "the range '%.*s' starts behind its end",
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

/* -- conditions ------------------------------------------------------------- */

static bool put_cond(struct parser *p, uint8_t what, uint8_t op, struct token name,
		     const void *value, size_t len)
{
	struct mrpc_cond_rec rec = {
		.what = what, .op = op,
		.name_len = cpu_to_le16(name.len), .value_len = cpu_to_le16(len),
	};

	put(&p->conds, &rec, sizeof(rec));
	put(&p->conds, name.p, name.len);
	put(&p->conds, value, len);
	p->nr_conds++;
	return true;
}

static const struct token no_name;

static bool parse_number_cond(struct parser *p, uint8_t what, int form)
{
	struct mrpc_cond_range range;
	uint8_t op;

	if (!parse_range(p, form, &range, &op))
		return false;
	return put_cond(p, what, op, no_name, &range, sizeof(range));
}

static bool put_kind(struct parser *p, uint64_t kind)
{
	struct mrpc_cond_range range = {
		.from = cpu_to_le64(kind), .to = cpu_to_le64(kind),
		.flags = cpu_to_le32(MRPC_RANGE_FROM | MRPC_RANGE_TO),
	};

	return put_cond(p, MRPC_COND_KIND, MRPC_MATCH_RANGE, no_name, &range, sizeof(range));
}

static bool parse_name(struct parser *p, uint8_t what)
{
	struct token t = peek_word(p);
	uint8_t op = MRPC_MATCH_EQUAL;
	bool method = what == MRPC_COND_METHOD;
	struct token name = t;

	if (method && t.len && t.p[t.len - 1] == '*') {
		op = MRPC_MATCH_PREFIX;
		name.len--;
	}
	if (!(op == MRPC_MATCH_PREFIX && !name.len) && !mrpc_name_valid(name.p, name.len, !method))
		return expected(p, method ? "a method's name, or the start of one and *" :
				"a service's name with its package");
	p->pos += t.len;
	return put_cond(p, what, op, no_name, name.p, name.len);
}

static bool parse_peer(struct parser *p)
{
	struct token t = peek_word(p);
	struct mrpc_cond_net net __attribute__((aligned(8))) = { 0 };
	char text[64], *slash, *end;
	unsigned long prefix;
	uint32_t bit;

	if (!t.len || t.len >= sizeof(text))
		return expected(p, "an address, or an address/bits");
	memcpy(text, t.p, t.len);
	text[t.len] = 0;
	slash = strchr(text, '/');
	if (slash)
		*slash = 0;
	net.version = strchr(text, ':') ? 6 : 4;
	if (inet_pton(net.version == 6 ? AF_INET6 : AF_INET, text, net.addr) != 1)
		return expected(p, "an address, or an address/bits");
	prefix = net.version == 6 ? 128 : 32;
	if (slash) {
		unsigned long most = prefix;

		prefix = strtoul(slash + 1, &end, 10);
		if (!isdigit((uint8_t)slash[1]) || *end || prefix > most)
			return refuse(p, t.p + (slash - text) + 1,
				      "'%s': a number of bits up to %lu is expected", slash + 1, most);
	}
	net.prefix = prefix;
	for (bit = prefix; bit < 128; bit++) {
		uint8_t mask = 0x80 >> bit % 8;

		if (!(net.addr[bit / 8] & mask))
			continue;
		for (; bit < 128; bit++)
			net.addr[bit / 8] &= ~(0x80 >> bit % 8);
		inet_ntop(net.version == 6 ? AF_INET6 : AF_INET, net.addr, text, sizeof(text));
		return refuse(p, t.p, "'%.*s' has bits behind its first %lu; %s/%lu is meant?",
			      (int)t.len, t.p, prefix, text, prefix);
	}
	if (net.version == 6 && prefix >= 96 && IN6_IS_ADDR_V4MAPPED((struct in6_addr *)net.addr))
		return refuse(p, t.p, "'%.*s' has addresses of version 4: write them as those, such as 10.0.0.0/8",
			      (int)t.len, t.p);
	p->pos += t.len;
	return put_cond(p, MRPC_COND_PEER, MRPC_MATCH_NET, no_name, &net, sizeof(net));
}

static bool parse_text(struct parser *p, uint8_t what, uint8_t op, struct token name)
{
	size_t len;
	char *text = quoted(p, MRPC_RULE_MAX_VALUE, &len);
	bool ok = text && put_cond(p, what, op, name, text, len);

	free(text);
	return ok;
}

static bool parse_set(struct parser *p, uint8_t what, struct token name)
{
	struct token t = peek_word(p);
	__le32 index;
	uint32_t i;
	size_t k;

	if (t.len < 2 || *t.p != '@' || t.len - 1 > MRPC_SCHEMA_MAX_NAME)
		return expected(p, "the name of a set, with @ before it,");
	for (k = 1; k < t.len; k++)
		if (!isalnum((uint8_t)t.p[k]) && !strchr("_.-", t.p[k]))
			return refuse(p, t.p + k, "'%c' cannot be in a set's name: only letters, digits, _, . and - can",
				      t.p[k]);
	for (i = 0; i < p->nr_sets; i++)
		if (p->set_lens[i] == t.len - 1 && !memcmp(p->sets[i], t.p + 1, t.len - 1))
			break;
	if (i == MRPC_RULES_MAX_SETS)
		return refuse(p, t.p, "at most %u sets can be used", MRPC_RULES_MAX_SETS);
	if (i == p->nr_sets) {
		p->sets[i] = t.p + 1;
		p->set_lens[p->nr_sets++] = t.len - 1;
	}
	p->pos += t.len;
	index = cpu_to_le32(i);
	return put_cond(p, what, MRPC_MATCH_IN, name, &index, sizeof(index));
}

/* What can be said of a text, from a metadata key or a field; -1: none of these. */
static int parse_text_op(struct parser *p, uint8_t what, struct token name)
{
	const char *c;

	if (eat(p, "present"))
		return put_cond(p, what, MRPC_MATCH_PRESENT, name, NULL, 0);
	if (eat(p, "prefix"))
		return parse_text(p, what, MRPC_MATCH_PREFIX, name);
	if (eat(p, "in"))
		return parse_set(p, what, name);
	skip_blanks(p);
	for (c = p->pos + 1; *p->pos == '=' && (*c == ' ' || *c == '\t'); c++)
		;
	if (*p->pos != '=' || *c != '"')
		return -1;
	p->pos++;
	return parse_text(p, what, MRPC_MATCH_EQUAL, name);
}

static bool parse_meta(struct parser *p)
{
	struct token key = peek_word(p);
	size_t i;
	int ret;

	for (i = 0; i < key.len; i++)
		if (!islower((uint8_t)key.p[i]) && !isdigit((uint8_t)key.p[i]) &&
		    !strchr("._-", key.p[i]))
			break;
	if (!key.len || i < key.len || key.len > 255)
		return expected(p, "a metadata key, of a-z, 0-9, '.', '_' and '-',");
	p->pos += key.len;
	ret = parse_text_op(p, MRPC_COND_META, key);
	return ret < 0 ? expected(p, "present, = \"TEXT\", prefix \"TEXT\" or in @SET") : ret;
}

/* A path ends at a blank or an operator, but not within the quotes of a key. */
static bool parse_path(struct parser *p, struct token *path)
{
	const char *c, *quote = NULL;

	skip_blanks(p);
	c = p->pos;
	if (!isalpha((uint8_t)*c) && *c != '_')
		return expected(p, "the path to a field");
	for (; *c && *c != '\n' && (quote || *c == '"' || is_word(*c)); c++) {
		if (*c == '"')
			quote = quote ? NULL : c;
		else if (quote && *c == '\\' && c[1] && c[1] != '\n')
			c++;
	}
	if (quote)
		return refuse(p, quote, "the key that starts here has no closing quote");
	if (c - p->pos > MRPC_PATH_MAX_TEXT)
		return refuse(p, p->pos, "the path has %td bytes; at most %u are allowed",
			      c - p->pos, MRPC_PATH_MAX_TEXT);
	*path = (struct token){ p->pos, c - p->pos };
	p->pos = c;
	return true;
}

static bool parse_bool(struct parser *p, struct token path)
{
	struct mrpc_cond_range range = {
		.flags = cpu_to_le32(MRPC_RANGE_FROM | MRPC_RANGE_TO),
	};
	const char *start = p->pos;

	skip_blanks(p);
	if (*p->pos == '=')
		p->pos++;
	if (eat(p, "true"))
		range.from = range.to = cpu_to_le64(1);
	else if (!eat(p, "false")) {
		p->pos = start;
		return false;
	}
	return put_cond(p, MRPC_COND_FIELD, MRPC_MATCH_RANGE, path, &range, sizeof(range));
}

static bool parse_field(struct parser *p)
{
	struct mrpc_cond_range range;
	struct token path;
	uint8_t op;
	int ret;

	if (!parse_path(p, &path))
		return false;
	ret = parse_text_op(p, MRPC_COND_FIELD, path);
	if (ret >= 0)
		return ret;
	if (parse_bool(p, path))
		return true;
	if (at_end(p) || (!strchr("=<>-", *p->pos) && !isdigit((uint8_t)*p->pos) &&
			  strncmp(p->pos, "inf", 3)))
		return expected(p, "present, prefix, in, a number, a range or a comparison");
	if (!parse_range(p, FOR_FIELD, &range, &op))
		return false;
	return put_cond(p, MRPC_COND_FIELD, op, path, &range, sizeof(range));
}

static bool parse_cond(struct parser *p)
{
	struct token t = peek_word(p);

	if (p->nr_conds == MRPC_RULE_MAX_CONDS)
		return refuse(p, t.p, "a rule has at most %u conditions", MRPC_RULE_MAX_CONDS);
	if (eat(p, "service"))
		return parse_name(p, MRPC_COND_SERVICE);
	if (eat(p, "method"))
		return parse_name(p, MRPC_COND_METHOD);
	if (eat(p, "peer"))
		return parse_peer(p);
	if (eat(p, "port"))
		return parse_number_cond(p, MRPC_COND_PORT, FOR_COUNT);
	if (eat(p, "uid"))
		return parse_number_cond(p, MRPC_COND_UID, FOR_COUNT);
	if (eat(p, "cgroup"))
		return parse_number_cond(p, MRPC_COND_CGROUP, FOR_COUNT);
	if (eat(p, "request"))
		return put_kind(p, MRPC_RULE_REQUEST);
	if (eat(p, "reply"))
		return put_kind(p, MRPC_RULE_REPLY);
	if (eat(p, "size"))
		return parse_number_cond(p, MRPC_COND_SIZE, FOR_SIZE);
	if (eat(p, "meta"))
		return parse_meta(p);
	if (eat(p, "field"))
		return parse_field(p);
	return expected(p, "service, method, peer, port, uid, cgroup, request, reply, size, meta or field");
}

/* -- actions ---------------------------------------------------------------- */

static bool parse_status(struct parser *p, struct mrpc_rule_rec *rule)
{
	struct token t = peek_word(p);
	uint32_t i;

	for (i = 0; status_names[i]; i++)
		if (is(t, status_names[i]))
			break;
	if (!status_names[i])
		return expected(p, "a status, such as PERMISSION_DENIED,");
	p->pos += t.len;
	rule->status = cpu_to_le16(i);
	return true;
}

/* Up to four decimals: the kernel counts parts in a million. */
static bool parse_share(struct parser *p, struct mrpc_rule_rec *rule)
{
	struct token t = peek_word(p);
	uint32_t share = 0, digits = 0;
	bool point = false;
	size_t i;

	for (i = 0; i < t.len && digits < 4 && share < 1000000000; i++) {
		if (t.p[i] == '.' && i && !point) {
			point = true;
			continue;
		}
		if (!isdigit((uint8_t)t.p[i]))
			break;
		share = share * 10 + (t.p[i] - '0');
		digits += point;
	}
	for (; digits < 4 && share < 1000000000; digits++)
		share *= 10;
	if (!t.len || i < t.len || !share || share > MRPC_RULE_SHARE_ALL)
		return expected(p, "a number from 0.0001 to 100, with at most four decimals,");
	p->pos += t.len;
	rule->share = cpu_to_le32(share);
	return true;
}

static bool parse_arg(struct parser *p, const struct rule_verb *verb, struct mrpc_rule_rec *rule)
{
	static const struct { const char *name; uint64_t ns; } units[] = {
		{ "ns", 1 }, { "us", 1000 }, { "ms", 1000000 }, { "s", 1000000000 },
	};
	struct number n;
	struct token t;
	const char *start;
	uint32_t i;

	skip_blanks(p);
	start = p->pos;
	if (!parse_end(p, FOR_COUNT, &n))
		return false;
	t = (struct token){ p->pos, 0 };
	while (is_word(t.p[t.len]))
		t.len++;
	if (verb->takes & RULE_TAKES_TIME) {
		for (i = 0; i < ARRAY_SIZE(units); i++)
			if (is(t, units[i].name))
				break;
		if (i == ARRAY_SIZE(units))
			return refuse(p, start, "a time with its unit is expected: ns, us, ms or s");
		if (__builtin_mul_overflow(n.u, units[i].ns, &n.u))
			return refuse(p, start, "the time is too long");
		p->pos += t.len;
	} else if (t.len) {
		return expected(p, "a blank behind the number");
	}
	rule->arg = cpu_to_le64(n.u);
	return true;
}

static const struct rule_verb *parse_verb(struct parser *p)
{
	struct token t = peek_word(p);
	char known[200] = "";
	const struct rule_verb *v;

	for (v = p->verbs; v->name; v++) {
		if (is(t, v->name)) {
			p->pos += t.len;
			return v;
		}
		snprintf(known + strlen(known), sizeof(known) - strlen(known), "%s%s",
			 v == p->verbs ? "" : v[1].name ? ", " : " or ", v->name);
	}
	expected(p, known);
	return NULL;
}

/* What may follow: for the message of a mistake. */
static bool expected_option(struct parser *p, const struct rule_verb *verb)
{
	char what[100];

	snprintf(what, sizeof(what), "%s%s%sif or the rule's end",
		 verb->takes & RULE_TAKES_SHARE ? "percent, " : "",
		 verb->takes & RULE_TAKES_STATUS ? "status, " : "",
		 verb->takes & RULE_TAKES_DETAIL ? "detail, " : "");
	return expected(p, what);
}

static bool parse_options(struct parser *p, const struct rule_verb *verb,
			  struct mrpc_rule_rec *rule, char **detail)
{
	if (verb->takes & (RULE_TAKES_NUMBER | RULE_TAKES_TIME) && !parse_arg(p, verb, rule))
		return false;
	while (!at_end(p) && !is(peek_word(p), "if")) {
		size_t len;

		if (verb->takes & RULE_TAKES_SHARE && eat(p, "percent")) {
			if (!parse_share(p, rule))
				return false;
		} else if (verb->takes & RULE_TAKES_STATUS && eat(p, "status")) {
			if (!parse_status(p, rule))
				return false;
		} else if (verb->takes & RULE_TAKES_DETAIL && eat(p, "detail")) {
			free(*detail);
			skip_blanks(p);
			*detail = quoted(p, MRPC_MAX_DETAIL, &len);
			if (!*detail)
				return false;
			rule->detail_len = cpu_to_le16(len);
		} else {
			return expected_option(p, verb);
		}
	}
	return true;
}

static bool parse_conds(struct parser *p)
{
	if (!eat(p, "if"))
		return true;
	do {
		if (!parse_cond(p))
			return false;
	} while (eat(p, "and"));
	return at_end(p) || expected(p, "and, or the rule's end");
}

static bool parse_rule(struct parser *p)
{
	struct mrpc_rule_rec rule = { .share = cpu_to_le32(MRPC_RULE_SHARE_ALL) };
	const struct rule_verb *verb;
	char *detail = NULL;
	bool ok;

	if (p->nr_rules == MRPC_RULES_MAX)
		return refuse(p, p->pos, "there can be at most %u rules", MRPC_RULES_MAX);
	verb = parse_verb(p);
	if (!verb)
		return false;
	rule.action = cpu_to_le32(verb->action);
	rule.status = cpu_to_le16(verb->status);
	p->conds.len = 0;
	p->nr_conds = 0;
	ok = parse_options(p, verb, &rule, &detail) && parse_conds(p);
	if (ok) {
		rule.nr_conds = cpu_to_le16(p->nr_conds);
		put(&p->rules, &rule, sizeof(rule));
		put(&p->rules, detail, le16_to_cpu(rule.detail_len));
		put(&p->rules, p->conds.p, p->conds.len);
		p->nr_rules++;
	}
	free(detail);
	return ok;
}

static bool parse_rules(struct parser *p)
{
	for (;;) {
		while (at_end(p) && *p->pos)
			p->pos++;
		if (!*p->pos)
			return true;
		if (!parse_rule(p))
			return false;
	}
}

static void *assemble(struct parser *p, size_t *len)
{
	struct mrpc_rules_hdr hdr = {
		.magic = cpu_to_le32(MRPC_RULES_MAGIC),
		.version = cpu_to_le16(MRPC_RULES_VERSION),
		.nr_rules = cpu_to_le16(p->nr_rules),
		.nr_sets = cpu_to_le16(p->nr_sets),
	};
	struct bytes out = { 0 };
	uint32_t i;

	put(&out, &hdr, sizeof(hdr));
	for (i = 0; i < p->nr_sets; i++) {
		struct mrpc_rules_set set = { .name_len = cpu_to_le16(p->set_lens[i]) };

		put(&out, &set, sizeof(set));
		put(&out, p->sets[i], p->set_lens[i]);
	}
	put(&out, p->rules.p, p->rules.len);
	hdr.len = cpu_to_le32(out.len);
	memcpy(out.p, &hdr, sizeof(hdr));
	*len = out.len;
	return out.p;
}

void *rule_text_parse(const char *text, const struct rule_verb *verbs, size_t *len,
		      struct rule_text_error *err)
{
	struct parser p = { .text = text, .pos = text, .verbs = verbs, .err = err };
	struct mrpc_rules_error why;
	void *binary = NULL;

	if (parse_rules(&p))
		binary = assemble(&p, len);
	free(p.rules.p);
	free(p.conds.p);
	/* The kernel's own check, for what only it knows: UTF-8, and sizes. */
	if (binary && mrpc_rules_size(binary, *len, &why) < 0) {
		*err = (struct rule_text_error){ 0 };
		snprintf(err->what, sizeof(err->what), "rule %u %s (%llu)", why.rule + 1, why.what,
			 (unsigned long long)why.value);
		free(binary);
		binary = NULL;
	}
	return binary;
}
