// SPDX-License-Identifier: LGPL-2.1-or-later
/* Messages from JSON, by protobuf's "ProtoJSON" mapping. */
#include <math.h>

#include "json_read.h"

/* What became of a value: an enum's unknown name can be ignored, which leaves nothing behind. */
enum outcome {
	FAILED,
	IGNORED,
	DONE,
};

static enum outcome done(bool ok)
{
	return ok ? DONE : FAILED;
}

/* -- numbers ------------------------------------------------------------------ */

static __s64 exponent_of(const char *s)
{
	bool negative = *s == '-';
	__s64 e = 0;

	for (s += *s == '-' || *s == '+'; *s; s++)
		if (e < 1LL << 40)
			e = 10 * e + (*s - '0');
	return negative ? -e : e;
}

static void add_digit(struct whole *w, unsigned int digit)
{
	if (__builtin_mul_overflow(w->magnitude, 10, &w->magnitude) ||
	    __builtin_add_overflow(w->magnitude, digit, &w->magnitude))
		w->too_large = true;
}

/* Exact: a double has not all numbers of 64 bits. @s: a number of JSON. Return: is it whole? */
static bool read_whole(const char *s, struct whole *w)
{
	const char *digits = s + (*s == '-'), *e = strpbrk(digits, "eE"), *p;
	const char *end = e ? e : digits + strlen(digits);
	__s64 point = -1, last = 0, nr = 0;

	*w = (struct whole){ 0 };
	/* @point: digits in front of the point; @last: those up to the last that is not 0 */
	for (p = digits; p < end; p++) {
		if (*p == '.') {
			point = nr;
			continue;
		}
		nr++;
		if (*p != '0')
			last = nr;
	}
	if (!last)
		return true;
	point = (point < 0 ? nr : point) + (e ? exponent_of(e + 1) : 0);
	if (point < last)
		return false;
	for (p = digits, nr = 0; nr < last && !w->too_large; p++)
		if (*p != '.') {
			add_digit(w, *p - '0');
			nr++;
		}
	for (; nr < point && !w->too_large; nr++)
		add_digit(w, 0);
	w->negative = *s == '-';
	return true;
}

static bool put_decimal(struct parse *p, const struct mrpc_field_desc *f, void *place)
{
	struct whole w;

	if (!read_whole(p->buf.data, &w))
		return parse_not(p, "a whole number");
	return put_integer(p, f, place, w);
}

static bool read_integer(struct parse *p, const struct mrpc_field_desc *f, void *place)
{
	if (json_peek(p) != '"')
		return json_number_token(p) && put_decimal(p, f, place);
	if (!json_string_token(p, "a number"))
		return false;
	if (!json_is_number(p->buf.data, p->buf.len))
		return parse_not(p, "a number, as in 10 or \"10\"");
	return put_decimal(p, f, place);
}

static bool read_real(struct parse *p, const struct mrpc_field_desc *f, void *place)
{
	if (json_peek(p) != '"')
		return json_number_token(p) && put_real(p, f, place, false);
	if (!json_string_token(p, "a number"))
		return false;
	if (json_is_number(p->buf.data, p->buf.len))
		return put_real(p, f, place, false);
	/* With a NUL in it the string has another length. */
	if (p->buf.len == 3 && !strcmp(p->buf.data, "NaN"))
		put_double(f, place, (double)NAN);
	else if (p->buf.len == 8 && !strcmp(p->buf.data, "Infinity"))
		put_double(f, place, (double)INFINITY);
	else if (p->buf.len == 9 && !strcmp(p->buf.data, "-Infinity"))
		put_double(f, place, (double)-INFINITY);
	else
		return parse_not(p, "a number, \"NaN\", \"Infinity\" or \"-Infinity\"");
	return true;
}

/* -- scalars ------------------------------------------------------------------ */

static bool read_bool(struct parse *p, void *place)
{
	bool b = json_word(p, "true");

	if (!b && !json_word(p, "false"))
		return parse_fail(p, "'%s' stands where true or false must", parse_seen(p));
	memcpy(place, &b, 1);
	return true;
}

static int base64_digit(char c)
{
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 26;
	if (c >= '0' && c <= '9')
		return c - '0' + 52;
	return c == '+' || c == '-' ? 62 : c == '/' || c == '_' ? 63 : -1;
}

/* Both alphabets, with '=' at the end or without, in place: what it means is shorter. */
static bool decode_base64(struct parse *p)
{
	size_t len = p->buf.len, i, to = 0;
	char *s = p->buf.data;
	__u32 word = 0;
	int digit;

	if (len && !(len % 4) && s[len - 1] == '=')
		len -= s[len - 2] == '=' ? 2 : 1;
	for (i = 0; i < len; i++)
		if (base64_digit(s[i]) < 0)
			return parse_fail(p, "'%s' is in no alphabet of base64",
					  parse_excerpt(s + i, 1).text);
	if (len % 4 == 1)
		return parse_fail(p, "%zu digits are no base64: the last group must have 2 or more", len);
	for (i = 0; i < len; i++) {
		digit = base64_digit(s[i]);
		word = word << 6 | (__u32)digit;
		if (i % 4)
			s[to++] = (char)(word >> (6 - 2 * (i % 4)));
	}
	p->buf.len = to;
	return true;
}

/* The only value of an enum NullValue that JSON has a form for is null. */
static bool put_number(struct parse *p, const struct mrpc_field_desc *f, void *place)
{
	__s32 number;

	if (!put_decimal(p, f, place))
		return false;
	memcpy(&number, place, sizeof(number));
	return !number || !json_is_null_value(f->enumeration) || parse_not(p, "null");
}

static enum outcome read_enum(struct parse *p, const struct mrpc_field_desc *f, void *place)
{
	__s32 number = 0;

	if (json_is_null_value(f->enumeration) && json_word(p, "null"))
		return DONE;
	if (json_peek(p) != '"')
		return done(json_number_token(p) && put_number(p, f, place));
	if (!json_string_token(p, "the name of a value"))
		return FAILED;
	if (find_enum(f->enumeration, &p->buf, &number)) {
		memcpy(place, &number, sizeof(number));
		return DONE;
	}
	if (json_is_number(p->buf.data, p->buf.len))
		return done(put_number(p, f, place));
	if (p->flags & MRPC_PARSE_IGNORE_UNKNOWN)
		return IGNORED;
	return done(parse_fail(p, "enum %s has no value '%s': it must be one of its names, or a number",
			       f->enumeration->name, parse_buf(p)));
}

static enum outcome read_value(struct parse *p, const struct mrpc_field_desc *f, void *place)
{
	switch (f->kind) {
	case MRPC_DESC_MESSAGE:
		return done(json_read_block(p, f->message, place));
	case MRPC_DESC_BOOL:
		return done(read_bool(p, place));
	case MRPC_DESC_ENUM:
		return read_enum(p, f, place);
	case MRPC_DESC_FLOAT:
	case MRPC_DESC_DOUBLE:
		return done(read_real(p, f, place));
	case MRPC_DESC_STRING:
		return done(json_string_token(p, "a string in quotes") && put_string(p, place));
	case MRPC_DESC_BYTES:
		return done(json_string_token(p, "bytes in base64, in quotes") && decode_base64(p) &&
			    put_string(p, place));
	default:
		return done(read_integer(p, f, place));
	}
}

/* -- arrays and maps ---------------------------------------------------------- */

static bool read_array(struct parse *p, struct block *b, const struct mrpc_field_desc *f)
{
	struct step step = { p->step, f, 0 };
	bool more;

	if (!json_expect(p, '[', "'['"))
		return false;
	p->step = &step;
	for (more = !json_take(p, ']'); more; step.index++) {
		void *place = block_add(p, b, f);
		enum outcome outcome = place ? read_value(p, f, place) : FAILED;

		if (outcome == FAILED || !json_more(p, ']', &more))
			return false;
		if (outcome == IGNORED)
			block_drop(b, f);
	}
	p->step = step.up;
	return true;
}

static bool read_key(struct parse *p, const struct mrpc_field_desc *key, void *place)
{
	bool b;

	if (!json_string_token(p, "a key in quotes"))
		return false;
	if (key->kind == MRPC_DESC_STRING)
		return put_string(p, place);
	if (key->kind != MRPC_DESC_BOOL) {
		if (!json_is_number(p->buf.data, p->buf.len))
			return parse_not(p, "a number, as a key of this map must be");
		return put_decimal(p, key, place);
	}
	b = !strcmp(p->buf.data, "true");
	if (p->buf.len != (b ? 4 : 5) || (!b && strcmp(p->buf.data, "false")))
		return parse_not(p, "\"true\" or \"false\", as a key of this map must be");
	memcpy(place, &b, 1);
	return true;
}

static enum outcome read_entry(struct parse *p, const struct mrpc_message_desc *entry, char *e)
{
	const struct mrpc_field_desc *value = &entry->fields[1];
	struct block b = { .desc = entry, .m = e };
	void *place;

	if (!read_key(p, &entry->fields[0], e + entry->fields[0].offset) ||
	    !json_expect(p, ':', "':'"))
		return FAILED;
	place = block_add(p, &b, value);
	return place ? read_value(p, value, place) : FAILED;
}

static bool read_map(struct parse *p, struct block *b, const struct mrpc_field_desc *f)
{
	struct step step = { p->step, f, 0 };
	const char *begin;
	bool more;

	if (!json_expect(p, '{', "'{'"))
		return false;
	begin = p->token;
	p->step = &step;
	for (more = !json_take(p, '}'); more; step.index++) {
		char *e = block_add(p, b, f);
		enum outcome outcome = e ? read_entry(p, f->message, e) : FAILED;

		if (outcome == FAILED || !json_more(p, '}', &more))
			return false;
		if (outcome == IGNORED)
			block_drop(b, f);
	}
	p->step = step.up;
	p->token = begin;
	return block_check_map(p, b, f);
}

/* -- messages ----------------------------------------------------------------- */

bool json_read_field(struct parse *p, struct block *b, const struct mrpc_field_desc *f)
{
	struct step step = { p->step, f, -1 };
	enum outcome outcome;
	union value v = { .u64 = 0 };
	void *place = &v;

	if (f->flags & MRPC_DESC_MAP)
		return read_map(p, b, f);
	if (f->flags & MRPC_DESC_REPEATED)
		return read_array(p, b, f);
	p->step = &step;
	/* What can be ignored is set only if it is not. */
	if (f->kind != MRPC_DESC_ENUM)
		place = block_add(p, b, f);
	outcome = place ? read_value(p, f, place) : FAILED;
	if (f->kind == MRPC_DESC_ENUM && outcome == DONE) {
		place = block_add(p, b, f);
		if (!place)
			return false;
		memcpy(place, &v, sizeof(v.i32));
	}
	p->step = step.up;
	return outcome != FAILED;
}

/* null is a value of these; for all others it is as if the field was not there. */
static bool has_null(const struct mrpc_field_desc *f)
{
	if (f->flags & MRPC_DESC_REPEATED)
		return false;
	if (f->kind == MRPC_DESC_MESSAGE)
		return json_form_of(f->message) == JSON_VALUE;
	return f->kind == MRPC_DESC_ENUM && json_is_null_value(f->enumeration);
}

bool json_read_member(struct parse *p, struct block *b)
{
	const struct mrpc_field_desc *f;
	const char *name = p->token, *value;

	f = find_field(b->desc, &p->buf, true);
	if (!f)
		f = find_field(b->desc, &p->buf, false);
	if (!f && !(p->flags & MRPC_PARSE_IGNORE_UNKNOWN))
		return parse_fail(p, "message %s has no field '%s'", b->desc->name, parse_buf(p));
	if (!json_expect(p, ':', "':'"))
		return false;
	if (!f)
		return json_skip(p);
	json_peek(p);
	value = p->token;
	p->token = name;
	if (!block_claim(p, b, f))
		return false;
	p->token = value;
	return (!has_null(f) && json_word(p, "null")) || json_read_field(p, b, f);
}

static bool read_fields(struct parse *p, const struct mrpc_message_desc *desc, char *m)
{
	struct block b;
	bool more;

	if (!json_expect(p, '{', "'{'") || !block_begin(p, &b, desc, m))
		return false;
	for (more = !json_take(p, '}'); more;)
		if (!json_name_token(p) || !json_read_member(p, &b) || !json_more(p, '}', &more))
			break;
	block_end(p, &b);
	return !p->err;
}

bool json_read_block(struct parse *p, const struct mrpc_message_desc *desc, char *m)
{
	enum json_form form = json_form_of(desc);

	return form == JSON_FIELDS ? read_fields(p, desc, m) : json_read_known(p, desc, m, form);
}

static bool read_text(struct parse *p, const struct mrpc_message_desc *desc, char *m)
{
	if (!json_read_block(p, desc, m))
		return false;
	json_peek(p);
	return p->pos == p->end ||
	       parse_fail(p, "'%s' stands behind the value, where the text must end", parse_seen(p));
}

int mrpc_from_json(struct mrpc_msg *msg, void *to, const struct mrpc_message_desc *desc,
		   const char *text, size_t len, unsigned int flags)
{
	struct parse p = { .msg = msg, .start = text, .pos = text, .end = text + len,
			   .token = text, .flags = flags };

	return parse_all(&p, desc, to, read_text);
}
