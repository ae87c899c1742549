// SPDX-License-Identifier: GPL-2.0
/* Printing: JSON, tables, blocks, and units for people. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "cli/options.h"
#include "cli/util.h"
#include "nl/sets.h"
#include "show/json.h"
#include "show/print.h"
#include "show/values.h"

#define MAX_COLUMNS	24
#define MAX_WIDTH	80	/* of a table's cell that has others behind it */

/* Powers of 1024, three digits. */
char *text_bytes(uint64_t bytes)
{
	static const char units[] = "BKMGTPE";
	double value = bytes;
	int unit = 0;

	if (bytes < 1024)
		return text_printf("%u", (unsigned int)bytes);
	while (value >= 1023.5 && units[unit + 1]) {
		value /= 1024;
		unit++;
	}
	return text_printf("%.*f%c", value < 9.95 ? 1 : 0, value, units[unit]);
}

char *text_time(uint64_t ns)
{
	uint64_t s = ns / 1000000000;

	if (ns < 1000)
		return text_printf("%uns", (unsigned int)ns);
	if (ns < 1000000)
		return text_printf("%.*fus", ns < 9950 ? 1 : 0, ns / 1e3);
	if (s < 1)
		return text_printf("%.*fms", ns < 9950000 ? 1 : 0, ns / 1e6);
	if (s < 60)
		return text_printf("%.1fs", ns / 1e9);
	if (s < 3600)
		return text_printf("%um%02us", (unsigned int)(s / 60), (unsigned int)(s % 60));
	if (s < 86400)
		return text_printf("%uh%02um", (unsigned int)(s / 3600),
				   (unsigned int)(s / 60 % 60));
	return text_printf("%ud%02uh", (unsigned int)(s / 86400), (unsigned int)(s / 3600 % 24));
}

/* -- looking into objects --------------------------------------------------- */

static const struct attr *attr_at(const struct set *set, const char *path)
{
	const struct attr *attr = NULL;

	while (set && *path) {
		size_t len = strcspn(path, ".");

		attr = set_find(set, path, len);
		if (!attr)
			return NULL;
		set = attr->set;
		path += len + (path[len] == '.');
	}
	return attr;
}

static char *text_address(struct json_object *address)
{
	const char *ip = string_at(address, "ip");

	if (!ip)
		return text_printf("%s", string_at(address, "name") ?: "-");
	return text_printf(strchr(ip, ':') ? "[%s]:%u" : "%s:%u", ip,
			   (unsigned int)number_at(address, "port"));
}

static char *text_flags(struct json_object *array)
{
	return json_object_array_length(array) ? text_joined(array, ",") : text_printf("-");
}

/* A value for people; the caller frees it. */
char *text_of(const struct attr *attr, struct json_object *value)
{
	if (!value)
		return text_printf("-");
	switch (attr->kind) {
	case ATTR_BYTES:
		return text_bytes(json_object_get_uint64(value));
	case ATTR_TIME:
		return text_time(json_object_get_uint64(value));
	case ATTR_ADDR:
		return text_address(value);
	case ATTR_FLAGS:
	case ATTR_WORDS:
	case ATTR_NUMBERS:
		return text_flags(value);
	case ATTR_FLAG:
	case ATTR_BOOL:
		return text_printf(json_object_get_boolean(value) ? "yes" : "no");
	default:
		return text_printf("%s", json_object_get_string(value));
	}
}

/* -- JSON ------------------------------------------------------------------- */

void print_json(struct json_object *object)
{
	int flags = JSON_C_TO_STRING_NOSLASHESCAPE |
		    (options.pretty ? JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED :
				      JSON_C_TO_STRING_PLAIN);

	puts(json_object_to_json_string_ext(object, flags));
}

/* -- tables ----------------------------------------------------------------- */

/* Columns of a terminal that UTF-8 text takes, near enough. */
static int width_of(const char *text)
{
	int width = 0;

	for (; *text; text++)
		width += ((unsigned char)*text & 0xc0) != 0x80;
	return width;
}

static bool is_right(const struct set *set, const struct column *column)
{
	const struct attr *attr = column->path ? attr_at(set, column->path) : NULL;

	if (column->text)
		return column->right;
	return attr && (attr->kind == ATTR_NUMBER || attr->kind == ATTR_BYTES ||
			attr->kind == ATTR_TIME);
}

/* Cuts a text, such as a very long name, that would push all behind it off the screen. */
static void cut(char *text)
{
	int width = 0;

	if (width_of(text) <= MAX_WIDTH)
		return;
	for (;; text++) {
		if (((unsigned char)*text & 0xc0) == 0x80)
			continue;
		if (width++ == MAX_WIDTH - 3)
			break;
	}
	strcpy(text, "...");
}

static char *cell(const struct set *set, const struct column *column,
		  struct json_object *object)
{
	const struct attr *attr;

	if (column->text)
		return column->text(object);
	attr = attr_at(set, column->path);
	return attr ? text_of(attr, json_at(object, column->path)) : text_printf("?");
}

static void print_cell(const char *text, int width, bool right, bool last)
{
	int pad = width - width_of(text);

	if (right)
		printf("%*s%s", pad, "", text);
	else
		printf("%s%*s", text, last ? 0 : pad, "");
	fputs(last ? "\n" : "  ", stdout);
}

/**
 * print_table() - objects as lines, under a header
 * @set: what they are
 * @columns: what to show of them; ends with a NULL head
 * @array: the objects
 */
void print_table(const struct set *set, const struct column *columns,
		 struct json_object *array)
{
	size_t rows = json_object_array_length(array), row;
	const struct column *shown[MAX_COLUMNS];
	int width[MAX_COLUMNS], nr = 0, i;
	char **cells;

	for (; columns->head; columns++)
		if ((!columns->stats || options.stats) && nr < MAX_COLUMNS)
			shown[nr++] = columns;
	cells = calloc(rows * nr + 1, sizeof(*cells));
	if (!cells)
		fail("out of memory");
	for (i = 0; i < nr; i++) {
		width[i] = width_of(shown[i]->head);
		for (row = 0; row < rows; row++) {
			char *text = cell(set, shown[i], json_object_array_get_idx(array, row));

			if (i < nr - 1)
				cut(text);
			cells[row * nr + i] = text;
			if (width_of(text) > width[i])
				width[i] = width_of(text);
		}
	}
	for (i = 0; i < nr; i++)
		print_cell(shown[i]->head, width[i], is_right(set, shown[i]), i == nr - 1);
	for (row = 0; row < rows; row++) {
		for (i = 0; i < nr; i++) {
			print_cell(cells[row * nr + i], width[i], is_right(set, shown[i]),
				   i == nr - 1);
			free(cells[row * nr + i]);
		}
	}
	free(cells);
}

/* -- blocks ----------------------------------------------------------------- */

static void print_list(const struct set *set, struct json_object *array, int indent)
{
	size_t i;

	for (i = 0; i < json_object_array_length(array); i++) {
		printf("%*s-\n", indent, "");
		print_block(set, json_object_array_get_idx(array, i), indent + 4);
	}
}

static bool is_nest(const struct attr *attr)
{
	return attr->kind == ATTR_NEST || attr->kind == ATTR_LIST || attr->kind == ATTR_MAP;
}

/* The value of a parameter, and whether the operator gave it. */
static void print_value(struct json_object *value)
{
	struct json_object *size = json_at(value, "size"), *text = json_at(value, "text");
	char *num = text_value(number_at(value, "num"), string_at(value, "unit"));

	if (size && text)
		printf("%s bytes\n%s", json_object_get_string(size), json_object_get_string(text));
	else if (size)
		printf("%s bytes", json_object_get_string(size));
	else
		fputs(text ? json_object_get_string(text) : num, stdout);
	puts(json_at(value, "given") ? "" : " (default)");
	free(num);
}

/* How long a key is without the unit of times, which it has in JSON. */
static int time_key(const char *key)
{
	int len = strlen(key);

	return len > 3 && !strcmp(key + len - 3, "_ns") ? len - 3 : 0;
}

/* A line for each name. */
static void print_map(struct json_object *map, int indent)
{
	char *time;
	int len;

	json_object_object_foreach(map, name, value) {
		len = time_key(name);
		printf("%*s%-*.*s ", indent, "", 24 - indent, len ?: (int)strlen(name), name);
		if (json_object_is_type(value, json_type_object)) {
			print_value(value);
			continue;
		}
		time = len ? text_time(json_object_get_uint64(value)) : NULL;
		puts(time ?: json_object_get_string(value));
		free(time);
	}
}

/* The key, without the unit that it has in JSON; a nest's has no value beside it. */
static void print_key(const struct attr *attr, int indent)
{
	int len = strlen(attr->key), width = 24 - indent;

	if (attr->kind == ATTR_TIME)
		len = time_key(attr->key) ?: len;
	if (is_nest(attr))
		width = 0;
	printf("%*s%-*.*s", indent, "", width, len, attr->key);
}

/* Everything that is known of an object, a line for each value. */
void print_block(const struct set *set, struct json_object *object, int indent)
{
	int i;

	for (i = 1; i <= set->max; i++) {
		const struct attr *attr = &set->attrs[i];
		struct json_object *value;
		char *text;

		if (!attr->key || !json_object_object_get_ex(object, attr->key, &value))
			continue;
		print_key(attr, indent);
		if (is_nest(attr)) {
			putchar('\n');
			if (attr->kind == ATTR_NEST)
				print_block(attr->set, value, indent + 4);
			else if (attr->kind == ATTR_LIST)
				print_list(attr->set, value, indent + 4);
			else
				print_map(value, indent + 4);
			continue;
		}
		text = text_of(attr, value);
		if (attr->kind == ATTR_BYTES && json_object_get_uint64(value) >= 1024)
			printf(" %s (%s)\n", json_object_get_string(value), text);
		else
			printf(" %s\n", text);
		free(text);
	}
}
