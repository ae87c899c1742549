// SPDX-License-Identifier: GPL-2.0
/* Parameters of engine types: from words to attributes, and back. */
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>
#include <linux/mrpc_netlink.h>

#include "cli/util.h"
#include "cli/words.h"
#include "engine/params.h"
#include "engine/scope.h"
#include "nl/body.h"
#include "nl/nl.h"
#include "nl/sets.h"
#include "rules/rules.h"
#include "show/json.h"
#include "show/values.h"

#define PIECE		32768	/* bytes of a rule set in one attribute */

/**
 * split_type() - split "TYPE" or "TYPE@VERSION"
 * @word: the word
 * @name: out, to be freed
 * @version: out; 0: the newest
 */
void split_type(const char *word, char **name, uint32_t *version)
{
	const char *at = strchr(word, '@');
	unsigned long value = 0;
	char *end;

	if (at) {
		value = strtoul(at + 1, &end, 10);
		if (at[1] < '0' || at[1] > '9' || *end || !value || value > UINT32_MAX)
			usage("'%s' is not a type: it must be TYPE or TYPE@VERSION", word);
	}
	if (at == word || !*word)
		usage("'%s' is not a type: it must be TYPE or TYPE@VERSION", word);
	*name = at ? text_printf("%.*s", (int)(at - word), word) : text_printf("%s", word);
	*version = value;
}

/* Gets the type; the kernel loads it if necessary. Does not return if there is none. */
struct json_object *type_get(const char *name, uint32_t version)
{
	struct json_object *array, *type;
	struct body body = { };

	body_text(&body, MRPC_A_ENGINE_TYPE_NAME, name);
	if (version)
		body_u32(&body, MRPC_A_ENGINE_TYPE_VERSION, version);
	array = ask_one(MRPC_CMD_ENGINE_TYPE_GET, &set_type, &body);
	body_free(&body);
	type = json_object_get(json_object_array_get_idx(array, 0));
	json_object_put(array);
	return type;
}

/* The parameter of a type, or NULL. */
struct json_object *find_param(struct json_object *type, const char *name)
{
	struct json_object *params = json_at(type, "params");
	size_t i;

	for (i = 0; params && i < json_object_array_length(params); i++) {
		struct json_object *param = json_object_array_get_idx(params, i);

		if (!strcmp(string_at(param, "name"), name))
			return param;
	}
	return NULL;
}

/* "a, b and c": the value of @key in each object, or the words themselves. */
static char *list_of(struct json_object *array, const char *key)
{
	size_t i, nr = array ? json_object_array_length(array) : 0, len = 0;
	char *text = NULL;
	FILE *out = open_text(&text, &len);

	for (i = 0; i < nr; i++) {
		struct json_object *o = json_object_array_get_idx(array, i);

		fprintf(out, "%s%s", !i ? "" : i == nr - 1 ? " and " : ", ",
			key ? string_at(o, key) : json_object_get_string(o));
	}
	fclose(out);
	return text;
}

static struct json_object *need_param(struct json_object *type, const char *name)
{
	struct json_object *param = find_param(type, name);
	struct json_object *params = json_at(type, "params");

	if (param)
		return param;
	if (is_scope_word(name))
		usage("'%s' is not a parameter of %s: write 'scope' before '%s'", name,
		      string_at(type, "name"), name);
	if (!params)
		usage("'%s' is not a parameter of %s, which has none", name,
		      string_at(type, "name"));
	usage("'%s' is not a parameter of %s, which has %s", name, string_at(type, "name"),
	      list_of(params, "name"));
}

static void put_num(struct body *b, const char *name, uint64_t num)
{
	size_t nest = body_nest(b, MRPC_A_ENGINE_VALUE);

	body_text(b, MRPC_A_VALUE_NAME, name);
	body_u64(b, MRPC_A_VALUE_NUM, num);
	body_end(b, nest);
}

static void put_text(struct body *b, const char *name, const char *text)
{
	size_t nest = body_nest(b, MRPC_A_ENGINE_VALUE);

	body_text(b, MRPC_A_VALUE_NAME, name);
	body_text(b, MRPC_A_VALUE_TEXT, text);
	body_end(b, nest);
}

static void put_data(struct body *b, const char *name, const uint8_t *data, size_t len)
{
	size_t at = 0, piece, nest;

	do {
		piece = len - at > PIECE ? PIECE : len - at;
		nest = body_nest(b, MRPC_A_ENGINE_VALUE);
		body_text(b, MRPC_A_VALUE_NAME, name);
		body_put(b, MRPC_A_VALUE_DATA, data + at, piece);
		body_end(b, nest);
		at += piece;
	} while (at < len);
}

static bool parse_bool(const char *name, const char *word)
{
	static const struct word words[] = {
		{ "on" }, { "off" }, { "yes" }, { "no" }, { "true" }, { "false" }, { "1" }, { "0" },
		{ }
	};
	const struct word *w;

	for (w = words; w->name; w++)
		if (!strcmp(w->name, word))
			return !((w - words) % 2);
	usage("%s: '%s' is neither on nor off", name, word);
}

static void put_number(struct body *b, struct json_object *param, const char *word)
{
	const char *unit = string_at(param, "unit"), *name = string_at(param, "name");
	uint64_t least = number_at(param, "least"), most = number_at(param, "most"), value;
	bool unlimited = strstr(string_at(param, "flags") ?: "", "unlimited");
	char *why;

	if (!parse_value(word, unit, &value, &why))
		usage("%s: %s", name, why);
	if (value == UINT64_MAX && !unlimited)
		usage("%s cannot be unlimited; allowed is %s to %s", name,
		      text_value(least, unit), text_value(most, unit));
	if (value != UINT64_MAX && (value < least || value > most))
		usage("%s: '%s' is out of range; allowed is %s to %s%s", name, word,
		      text_value(least, unit), text_value(most, unit),
		      unlimited ? ", or unlimited" : "");
	put_num(b, name, value);
}

static void put_choice(struct body *b, struct json_object *param, const char *word)
{
	struct json_object *choices = json_at(param, "choices");
	size_t i;

	for (i = 0; choices && i < json_object_array_length(choices); i++) {
		if (strcmp(json_object_get_string(json_object_array_get_idx(choices, i)), word))
			continue;
		put_text(b, string_at(param, "name"), word);
		return;
	}
	usage("%s cannot be '%s': the choices are %s", string_at(param, "name"), word,
	      list_of(choices, NULL));
}

/**
 * put_param() - add a parameter of the command line
 * @b: receives the value
 * @type: the engine's type
 * @name: the parameter
 * @word: the word after it
 *
 * Does not return if the type has no such parameter, or the value is not allowed.
 */
void put_param(struct body *b, struct json_object *type, const char *name, const char *word)
{
	struct json_object *param = need_param(type, name);
	const char *kind = string_at(param, "type");
	size_t len;
	void *data;

	if (!strcmp(kind, "number")) {
		put_number(b, param, word);
	} else if (!strcmp(kind, "bool")) {
		put_num(b, name, parse_bool(name, word));
	} else if (!strcmp(kind, "choice")) {
		put_choice(b, param, word);
	} else if (!strcmp(kind, "string")) {
		put_text(b, name, word);
	} else {
		data = rules_from_word(string_at(type, "name"), word, &len);
		put_data(b, name, data, len);
		free(data);
	}
}

static uint8_t hex_digit(char c)
{
	return c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10;
}

/* Return: memory to be freed, or NULL if it is not hexadecimal. */
static uint8_t *from_hex(const char *hex, size_t *len)
{
	uint8_t *data;
	size_t i;

	*len = strlen(hex) / 2;
	if (strlen(hex) % 2 || strspn(hex, "0123456789abcdefABCDEF") != strlen(hex))
		return NULL;
	data = malloc(*len + 1);
	if (!data)
		fail("out of memory");
	for (i = 0; i < *len; i++)
		data[i] = hex_digit(hex[2 * i]) << 4 | hex_digit(hex[2 * i + 1]);
	return data;
}

/* Adds rules given as text or, if the type is unknown here, in hexadecimal. */
static void put_rules(struct body *b, struct json_object *type, const char *name, const char *text)
{
	size_t len;
	void *data = from_hex(text, &len);

	if (!data || !len) {
		free(data);
		data = rules_from_text(string_at(type, "name"), text, &len);
	}
	put_data(b, name, data, len);
	free(data);
}

/**
 * add_rule_texts() - add the text of rules beside their binary form
 * @engine: the engine as the kernel returned it
 */
void add_rule_texts(struct json_object *engine)
{
	struct json_object *values = json_at(engine, "values"), *data;
	const char *type = string_at(engine, "type");
	uint8_t *binary;
	size_t len;
	char *text;

	if (!values || !type)
		return;
	json_object_object_foreach(values, name, value) {
		(void)name;
		data = json_at(value, "data");
		binary = data ? from_hex(json_object_get_string(data), &len) : NULL;
		text = binary ? rules_to_text(type, binary, len) : NULL;
		if (text)
			json_object_object_add(value, "text", json_object_new_string(text));
		free(binary);
		free(text);
	}
}

/**
 * put_param_json() - add a parameter as 'config save' wrote it
 * @b: receives the value
 * @type: the engine's type
 * @name: the parameter
 * @value: a number or text; NULL: the default
 */
void put_param_json(struct body *b, struct json_object *type, const char *name,
		    struct json_object *value)
{
	struct json_object *param = need_param(type, name);
	const char *kind = string_at(param, "type");

	if (!value)
		value = json_at(param, "default");
	if (!strcmp(kind, "rules"))
		put_rules(b, type, name, value ? json_object_get_string(value) : "");
	else if (!value || json_object_is_type(value, json_type_string))
		put_text(b, name, value ? json_object_get_string(value) : "");
	else
		put_num(b, name, json_object_get_uint64(value));
}

/**
 * text_params() - text of the values that the operator has given, "rate=10k,shared=on"
 * @values: as the kernel returned them
 * @type: for units; or NULL
 *
 * Return: text, to be freed; "-" if there are none.
 */
char *text_params(struct json_object *values, struct json_object *type)
{
	struct json_object *param;
	size_t len = 0, nr = 0;
	char *text = NULL, *part;
	FILE *out;

	if (!values)
		return text_printf("-");
	out = open_text(&text, &len);
	json_object_object_foreach(values, name, value) {
		if (!json_at(value, "given"))
			continue;
		param = type ? find_param(type, name) : NULL;
		if (json_at(value, "size"))
			part = text_printf("(%sB)", string_at(value, "size"));
		else if (json_at(value, "text"))
			part = text_printf("%s", string_at(value, "text"));
		else if (param && !strcmp(string_at(param, "type"), "bool"))
			part = text_printf(number_at(value, "num") ? "on" : "off");
		else
			part = text_value(number_at(value, "num"),
					  param ? string_at(param, "unit") : NULL);
		fprintf(out, "%s%s=%s", nr++ ? "," : "", name, part);
		free(part);
	}
	fclose(out);
	if (nr)
		return text;
	free(text);
	return text_printf("-");
}
