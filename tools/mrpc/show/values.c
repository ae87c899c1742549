// SPDX-License-Identifier: GPL-2.0
/* Numbers with units, as people write them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/util.h"
#include "cli/words.h"
#include "show/values.h"

struct suffix {
	const char *name;
	uint64_t factor;
};

/* From large to small, as they are looked for when a value is shown. */
static const struct suffix times[] = {
	{ "h", 3600000000000 }, { "m", 60000000000 }, { "s", 1000000000 }, { "ms", 1000000 },
	{ "us", 1000 }, { "ns", 1 }, { }
};
static const struct suffix thousands[] = {
	{ "T", 1000000000000 }, { "G", 1000000000 }, { "M", 1000000 }, { "k", 1000 },
	{ "K", 1000 }, { "", 1 }, { }
};
static const struct suffix powers[] = {
	{ "Ti", 1ULL << 40 }, { "Gi", 1 << 30 }, { "Mi", 1 << 20 }, { "Ki", 1 << 10 }, { }
};

static const struct suffix *find_suffix(const struct suffix *s, const char *text, size_t len)
{
	for (; s->name; s++)
		if (strlen(s->name) == len && !memcmp(s->name, text, len))
			return s;
	return NULL;
}

static bool ends_with(const char *text, size_t len, const char *end)
{
	return len >= strlen(end) && !memcmp(text + len - strlen(end), end, strlen(end));
}

/* What 1 of @unit is, in the unit's smallest: ns for times, parts for percentages. */
static const struct suffix *time_unit(const char *unit)
{
	return unit ? find_suffix(times, unit, strlen(unit)) : NULL;
}

/* "0.01%": the numbers are hundredths of a percent. Return: 100; 1 for "%"; 0: another unit. */
static uint64_t percent_parts(const char *unit)
{
	double part;
	char *end;

	if (!unit || !ends_with(unit, strlen(unit), "%"))
		return 0;
	part = strtod(unit, &end);
	return end == unit || part <= 0 ? 1 : (uint64_t)(1 / part + 0.5);
}

/* The factor of what stands behind the digits; 0: it is no such thing. */
static uint64_t suffix_factor(const char *text, const char *unit)
{
	const struct suffix *s;
	size_t len = strlen(text);

	if (time_unit(unit)) {
		s = len ? find_suffix(times, text, len) : time_unit(unit);
		return s ? s->factor : 0;
	}
	if (percent_parts(unit))
		return !len || !strcmp(text, "%") ? percent_parts(unit) : 0;
	if (unit && ends_with(unit, strlen(unit), "/s") && ends_with(text, len, "/s"))
		len -= 2;
	if (unit && !strncmp(unit, "bytes", 5) && ends_with(text, len, "B"))
		len--;
	s = find_suffix(thousands, text, len) ?: find_suffix(powers, text, len);
	return s ? s->factor : 0;
}

static const char *unit_help(const char *unit)
{
	if (time_unit(unit))
		return "a time, as 200ms";
	if (percent_parts(unit))
		return "a percentage, as 10%";
	if (unit && !strncmp(unit, "bytes", 5))
		return "a number of bytes, as 64k or 16MiB";
	return "a number, as 500 or 10k";
}

/* @digits, of which @point (if any) are before a point, times @factor. */
static bool scale(const char *digits, size_t len, uint64_t factor, unsigned __int128 *value)
{
	unsigned __int128 v = 0, fraction = 1;
	bool behind = false;
	size_t i;

	for (i = 0; i < len; i++) {
		if (digits[i] == '.') {
			behind = true;
			continue;
		}
		v = v * 10 + (digits[i] - '0');
		if (behind)
			fraction *= 10;
	}
	v *= factor;
	*value = v / fraction;
	return !(v % fraction);
}

/**
 * parse_value() - a number as people write it
 * @word: "500", "1.5k", "16MiB", "200ms", "10%", "unlimited"
 * @unit: what the number counts, or NULL
 * @value: out; all ones for "unlimited"
 * @why: out, on failure: what would be right
 */
bool parse_value(const char *word, const char *unit, uint64_t *value, char **why)
{
	size_t len = strspn(word, "0123456789.");
	uint64_t factor = suffix_factor(word + len, unit);
	const struct suffix *time = time_unit(unit);
	unsigned __int128 v;

	if (!strcmp(word, "unlimited")) {
		*value = UINT64_MAX;
		return true;
	}
	/* 20 digits are more than any number has, and times a factor no overflow. */
	if (!len || *word == '.' || len > 20 || memchr(word, '.', len) != memrchr(word, '.', len) ||
	    word[len - 1] == '.' || !factor) {
		*why = text_printf("'%s' is not %s", word, unit_help(unit));
		return false;
	}
	if (!scale(word, len, factor, &v) || (time && v % time->factor)) {
		*why = text_printf("'%s' is not a whole number of %s", word,
				   unit && *unit != '/' ? unit : "these");
		return false;
	}
	if (time)
		v /= time->factor;
	if (v >= UINT64_MAX) {
		*why = text_printf("'%s' is too large; the word for no limit is 'unlimited'", word);
		return false;
	}
	*value = v;
	return true;
}

static char *text_suffix(uint64_t value, const struct suffix *s, const char *more)
{
	while (s->factor > 1 && value % s->factor)
		s++;
	return s->name ? text_printf("%llu%s%s", (unsigned long long)(value / s->factor), s->name,
				     more) : NULL;
}

/* A number so that parse_value() gives it again; the caller frees it. */
char *text_value(uint64_t value, const char *unit)
{
	const struct suffix *time = time_unit(unit);
	uint64_t parts = percent_parts(unit);
	char *text = NULL;

	if (value == UINT64_MAX)
		return text_printf("unlimited");
	if (!value)
		return text_printf("0");
	if (time && value <= UINT64_MAX / time->factor)
		return text_suffix(value * time->factor, times, "");
	if (parts > 1)
		return text_printf("%g%%", (double)value / parts);
	if (parts)
		return text_printf("%llu%%", (unsigned long long)value);
	if (unit && !strncmp(unit, "bytes", 5) && !(value & 1023))
		text = text_suffix(value, powers, "B");
	return text ?: text_suffix(value, thousands, "");
}

/* A time with its unit, in ns. */
uint64_t need_time(struct args *args, const char *what)
{
	const char *word = need_word(args, what);
	uint64_t value;
	char *why;

	if (!parse_value(word, "ns", &value, &why) || value == UINT64_MAX ||
	    strspn(word, "0123456789.") == strlen(word))
		usage("'%s' is not %s: it must be a time with its unit, as 200ms", word, what);
	return value;
}
