// SPDX-License-Identifier: LGPL-2.1-or-later
/* The well-known types, from the forms that they have in JSON. */
#include "json_read.h"

/**
 * struct scan - a string that is being read
 * @s: the next byte; the string ends with a NUL
 * @ok: all was as it must be
 */
struct scan {
	const char *s;
	bool ok;
};

static void scan_char(struct scan *sc, char c)
{
	if (*sc->s == c)
		sc->s++;
	else
		sc->ok = false;
}

/* A number of @min to @max digits. */
static __s64 scan_number(struct scan *sc, unsigned int min, unsigned int max)
{
	unsigned int nr;
	__s64 n = 0;

	for (nr = 0; nr < max && *sc->s >= '0' && *sc->s <= '9'; nr++)
		n = 10 * n + (*sc->s++ - '0');
	if (nr < min)
		sc->ok = false;
	return n;
}

/* Nothing, or a point and 1 to 9 digits. */
static __s32 scan_fraction(struct scan *sc)
{
	const char *from = sc->s + 1;
	__s64 nanos;
	long nr;

	if (*sc->s != '.')
		return 0;
	sc->s++;
	nanos = scan_number(sc, 1, 9);
	for (nr = sc->s - from; nr < 9; nr++)
		nanos *= 10;
	return (__s32)nanos;
}

static bool scan_end(const struct scan *sc, const struct parse *p)
{
	return sc->ok && sc->s == p->buf.data + p->buf.len;
}

static void put_time(const struct mrpc_message_desc *desc, char *m, __s64 seconds, __s32 nanos)
{
	memcpy(m + desc->fields[0].offset, &seconds, sizeof(seconds));
	memcpy(m + desc->fields[1].offset, &nanos, sizeof(nanos));
}

/* -- Timestamp and Duration --------------------------------------------------- */

/* Days from 0001-01-01 to the first of the month. */
static __s64 days_before(unsigned int year, unsigned int month, unsigned int leap)
{
	static const unsigned short before[] = {
		0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334
	};
	__s64 y = year - 1;

	return 365 * y + y / 4 - y / 100 + y / 400 + before[month - 1] + (month > 2 ? leap : 0);
}

/* Seconds from 0001-01-01T00:00:00, in whatever zone. */
static __s64 scan_date_time(struct scan *sc)
{
	static const unsigned char lengths[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
	unsigned int year, month, day, hour, minute, second, leap;

	year = scan_number(sc, 4, 4);
	scan_char(sc, '-');
	month = scan_number(sc, 2, 2);
	scan_char(sc, '-');
	day = scan_number(sc, 2, 2);
	scan_char(sc, 'T');
	hour = scan_number(sc, 2, 2);
	scan_char(sc, ':');
	minute = scan_number(sc, 2, 2);
	scan_char(sc, ':');
	second = scan_number(sc, 2, 2);
	leap = !(year % 4) && (year % 100 || !(year % 400));
	if (!year || !month || month > 12 || !day ||
	    day > lengths[month - 1] + (month == 2 ? leap : 0) || hour > 23 || minute > 59 ||
	    second > 59) {
		sc->ok = false;
		return 0;
	}
	return (days_before(year, month, leap) + day - 1) * 86400 + hour * 3600 + minute * 60 +
	       second;
}

/* Seconds that the zone's clocks are ahead. */
static __s64 scan_zone(struct scan *sc)
{
	bool west = *sc->s == '-';
	__s64 hours, minutes;

	if (*sc->s == 'Z') {
		sc->s++;
		return 0;
	}
	if (*sc->s != '+' && !west)
		sc->ok = false;
	else
		sc->s++;
	hours = scan_number(sc, 2, 2);
	scan_char(sc, ':');
	minutes = scan_number(sc, 2, 2);
	if (hours > 23 || minutes > 59)
		sc->ok = false;
	return (west ? -60 : 60) * (60 * hours + minutes);
}

static bool read_timestamp(struct parse *p, const struct mrpc_message_desc *desc, char *m)
{
	struct scan sc = { .ok = true };
	__s64 seconds;
	__s32 nanos;

	if (!json_string_token(p, "a time, as in \"1970-01-01T00:00:00Z\",") || !block_has_level(p))
		return false;
	sc.s = p->buf.data;
	seconds = MIN_TIMESTAMP + scan_date_time(&sc);
	nanos = scan_fraction(&sc);
	seconds -= scan_zone(&sc);
	if (!scan_end(&sc, p))
		return parse_not(p, "a time, as in 1970-01-01T00:00:00Z, with up to 9 digits of a "
				 "second and 'Z' or a zone, as in +01:00");
	if (seconds < MIN_TIMESTAMP || seconds > MAX_TIMESTAMP)
		return parse_fail(p, "%s is out of range: in UTC a time must be from "
				  "0001-01-01T00:00:00Z to 9999-12-31T23:59:59.999999999Z",
				  parse_buf(p));
	put_time(desc, m, seconds, nanos);
	return true;
}

static bool read_duration(struct parse *p, const struct mrpc_message_desc *desc, char *m)
{
	struct scan sc = { .ok = true };
	bool negative;
	__s64 seconds;
	__s32 nanos;

	if (!json_string_token(p, "a time, as in \"1.5s\",") || !block_has_level(p))
		return false;
	sc.s = p->buf.data;
	negative = *sc.s == '-';
	sc.s += negative;
	seconds = scan_number(&sc, 1, 18);
	nanos = scan_fraction(&sc);
	scan_char(&sc, 's');
	if (!scan_end(&sc, p))
		return parse_not(p, "a number of seconds with up to 9 digits behind the point and an "
				 "'s', as in 1.5s");
	if (seconds > MAX_DURATION || (seconds == MAX_DURATION && nanos))
		return parse_fail(p, "%s is out of range: it must be from -315576000000s to "
				  "315576000000s", parse_buf(p));
	put_time(desc, m, negative ? -seconds : seconds, negative ? -nanos : nanos);
	return true;
}

/* -- FieldMask ---------------------------------------------------------------- */

/* "a.fooBar" is "a.foo_bar". */
static bool put_path(struct parse *p, const char *path, size_t len, struct mrpc_ref *ref)
{
	size_t i, capitals = 0;
	char *to;

	for (i = 0; i < len; i++) {
		capitals += path[i] >= 'A' && path[i] <= 'Z';
		if (path[i] == '_' || path[i] == '"' || path[i] == '\\' ||
		    (unsigned char)path[i] < ' ')
			return parse_fail(p, "path '%s' of a FieldMask has a '%c': it must be as in "
					  "a.fooBar", parse_excerpt(path, len).text,
					  path[i] < ' ' ? '?' : path[i]);
	}
	to = mrpc_msg_alloc_bytes(p->msg, ref, len + capitals);
	for (i = 0; to && i < len; i++) {
		if (path[i] >= 'A' && path[i] <= 'Z') {
			*to++ = '_';
			*to++ = (char)(path[i] - 'A' + 'a');
		} else {
			*to++ = path[i];
		}
	}
	return put_done(p);
}

static bool read_field_mask(struct parse *p, const struct mrpc_message_desc *desc, char *m)
{
	const struct mrpc_field_desc *paths = &desc->fields[0];
	const char *s, *end, *comma;
	struct mrpc_ref *place;
	struct block b;
	bool ok = true;

	if (!json_string_token(p, "paths, as in \"a.fooBar,b\",") || !block_begin(p, &b, desc, m))
		return false;
	s = p->buf.data;
	end = s + p->buf.len;
	while (ok && p->buf.len && s <= end) {
		comma = memchr(s, ',', end - s);
		comma = comma ? comma : end;
		place = block_add(p, &b, paths);
		ok = place && put_path(p, s, comma - s, place);
		s = comma + 1;
	}
	block_end(p, &b);
	return ok;
}

/* -- wrappers, Struct, ListValue, Value --------------------------------------- */

static bool read_only_field(struct parse *p, const struct mrpc_message_desc *desc, char *m,
			    const struct mrpc_field_desc *f)
{
	struct block b;
	bool ok;

	if (!block_begin(p, &b, desc, m))
		return false;
	ok = json_read_field(p, &b, f);
	block_end(p, &b);
	return ok;
}

static const struct mrpc_field_desc *kind_of(const struct mrpc_message_desc *desc, char first)
{
	static const char *const names[256] = {
		['n'] = "null_value", ['t'] = "bool_value", ['f'] = "bool_value",
		['"'] = "string_value", ['{'] = "struct_value", ['['] = "list_value",
	};
	const char *name = names[(unsigned char)first];
	const struct mrpc_field_desc *f = desc->fields;

	while (strcmp(f->name, name ? name : "number_value"))
		f++;
	return f;
}

bool json_read_known(struct parse *p, const struct mrpc_message_desc *desc, char *m,
		     enum json_form form)
{
	switch (form) {
	case JSON_DURATION:
		return read_duration(p, desc, m);
	case JSON_FIELD_MASK:
		return read_field_mask(p, desc, m);
	case JSON_ONLY_FIELD:
		return read_only_field(p, desc, m, &desc->fields[0]);
	case JSON_TIMESTAMP:
		return read_timestamp(p, desc, m);
	case JSON_VALUE:
		return read_only_field(p, desc, m, kind_of(desc, json_peek(p)));
	default:
		return json_read_any(p, m);
	}
}
