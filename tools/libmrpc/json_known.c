// SPDX-License-Identifier: LGPL-2.1-or-later
/* JSON of the well-known types, which have forms of their own. */
#include <math.h>
#include <stdlib.h>

#include "json.h"
#include "json_form.h"

static __s64 number_at(const struct mrpc_field_desc *f, const char *m)
{
	union value v = desc_value(f, m + f->offset);

	return f->kind == MRPC_DESC_INT64 ? v.i64 : v.i32;
}

/* 0, 3, 6 or 9 digits, as many as are needed. */
static void write_fraction(struct json *j, long nanos)
{
	if (!nanos)
		return;
	if (nanos % 1000)
		text_printf(&j->t, ".%09ld", nanos);
	else if (nanos % 1000000)
		text_printf(&j->t, ".%06ld", nanos / 1000);
	else
		text_printf(&j->t, ".%03ld", nanos / 1000000);
}

/* Not gmtime_r(): a time_t of 32 bits ends in 2038. @day: since 0001-01-01 */
static void write_date(struct json *j, unsigned int day)
{
	static const unsigned char lengths[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
	unsigned int year = 1 + day / 146097 * 400, month = 0, part, leap;

	day %= 146097;
	part = day / 36524 < 3 ? day / 36524 : 3;	/* the last century has a day more */
	year += 100 * part;
	day -= 36524 * part;
	year += day / 1461 * 4;
	day %= 1461;
	part = day / 365 < 3 ? day / 365 : 3;		/* and so has the last of four years */
	year += part;
	day -= 365 * part;
	leap = !(year % 4) && (year % 100 || !(year % 400));
	while (day >= lengths[month] + (month == 1 ? leap : 0)) {
		day -= lengths[month] + (month == 1 ? leap : 0);
		month++;
	}
	text_printf(&j->t, "%04u-%02u-%02u", year, month + 1, day + 1);
}

static void write_timestamp(struct json *j, const struct mrpc_message_desc *desc, const char *m)
{
	__s64 seconds = number_at(&desc->fields[0], m), nanos = number_at(&desc->fields[1], m);
	unsigned int second;

	if (seconds < MIN_TIMESTAMP || seconds > MAX_TIMESTAMP || nanos < 0 || nanos >= NANOS) {
		json_refuse(j, "a Timestamp of %lld s and %lld ns has no form in JSON: it must be from "
			    "0001-01-01T00:00:00Z to 9999-12-31T23:59:59.999999999Z",
			    (long long)seconds, (long long)nanos);
		return;
	}
	seconds -= MIN_TIMESTAMP;
	second = seconds % 86400;
	text_add(&j->t, "\"", 1);
	write_date(j, seconds / 86400);
	text_printf(&j->t, "T%02u:%02u:%02u", second / 3600, second / 60 % 60, second % 60);
	write_fraction(j, (long)nanos);
	text_add(&j->t, "Z\"", 2);
}

static void write_duration(struct json *j, const struct mrpc_message_desc *desc, const char *m)
{
	__s64 seconds = number_at(&desc->fields[0], m), nanos = number_at(&desc->fields[1], m);

	if (seconds < -MAX_DURATION || seconds > MAX_DURATION || nanos <= -NANOS ||
	    nanos >= NANOS || (seconds < 0 && nanos > 0) || (seconds > 0 && nanos < 0)) {
		json_refuse(j, "a Duration of %lld s and %lld ns has no form in JSON: both must have one "
			    "sign, and be within 315576000000 s and 999999999 ns", (long long)seconds,
			    (long long)nanos);
		return;
	}
	text_printf(&j->t, "\"%s%lld", seconds < 0 || nanos < 0 ? "-" : "",
		    llabs((long long)seconds));
	write_fraction(j, labs((long)nanos));
	text_add(&j->t, "s\"", 2);
}

/* "a.foo_bar" is "a.fooBar". What has capitals would not come back as it was. */
static void write_path(struct json *j, const char *path, __u32 len)
{
	__u32 i;

	for (i = 0; i < len; i++) {
		char c = path[i];

		if (c == '_' && i + 1 < len && path[i + 1] >= 'a' && path[i + 1] <= 'z')
			c = path[++i] - 'a' + 'A';
		else if (c == '_' || c == '"' || c == '\\' || (unsigned char)c < ' ' ||
			 (c >= 'A' && c <= 'Z'))
			json_refuse(j, "a path of a FieldMask has a '%c' that JSON has no form for: it must "
				    "be as in a.foo_bar", (unsigned char)c < ' ' ? '?' : c);
		text_add(&j->t, &c, 1);
	}
}

static void write_field_mask(struct json *j, const struct mrpc_message_desc *desc, const char *m)
{
	struct mrpc_ref ref = desc_ref(&desc->fields[0], m);
	const struct mrpc_ref *paths = mrpc_ref_ptr(j->root, ref);
	__u32 i;

	text_add(&j->t, "\"", 1);
	for (i = 0; i < ref.len; i++) {
		text_add(&j->t, ",", i > 0);
		write_path(j, mrpc_ref_str(j->root, paths[i]), paths[i].len);
	}
	text_add(&j->t, "\"", 1);
}

static void write_value(struct json *j, const struct mrpc_message_desc *desc, const char *m)
{
	__u32 i;

	for (i = 0; i < desc->nr_fields; i++) {
		const struct mrpc_field_desc *f = &desc->fields[i];

		if (!desc_is_set(f, m))
			continue;
		if (f->kind == MRPC_DESC_DOUBLE && !isfinite(desc_value(f, m + f->offset).d))
			break;
		json_field(j, f, m);
		return;
	}
	json_refuse(j, "a Value has no form in JSON: its kind must be set, and its number be finite");
}

bool json_known(struct json *j, const struct mrpc_message_desc *desc, const char *m)
{
	switch (json_form_of(desc)) {
	case JSON_FIELDS:
		return false;
	case JSON_ANY:
		json_any(j, m);
		break;
	case JSON_DURATION:
		write_duration(j, desc, m);
		break;
	case JSON_FIELD_MASK:
		write_field_mask(j, desc, m);
		break;
	case JSON_ONLY_FIELD:
		json_field(j, &desc->fields[0], m);
		break;
	case JSON_TIMESTAMP:
		write_timestamp(j, desc, m);
		break;
	case JSON_VALUE:
		write_value(j, desc, m);
	}
	return true;
}
