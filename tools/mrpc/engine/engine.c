// SPDX-License-Identifier: GPL-2.0
/* Engines and their types. */
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>
#include <linux/mrpc_netlink.h>

#include "cli/help.h"
#include "cli/options.h"
#include "cli/util.h"
#include "cli/words.h"
#include "engine/change.h"
#include "engine/engine.h"
#include "engine/find.h"
#include "engine/params.h"
#include "engine/scope.h"
#include "nl/body.h"
#include "nl/decode.h"
#include "nl/nl.h"
#include "nl/sets.h"
#include "show/json.h"
#include "show/print.h"
#include "show/values.h"

/* -- types ----------------------------------------------------------------------- */

static const struct column type_columns[] = {
	{ "TYPE", "name" },
	{ "VERSION", "version" },
	{ "MODULE", "module" },
	{ "DIRS", "dirs" },
	{ "FLAGS", "flags" },
	{ "USERS", "users" },
	{ "DOES", "doc" },
	{ }
};

static char *param_default(struct json_object *param)
{
	struct json_object *value = json_at(param, "default"), *choices = json_at(param, "choices");
	const char *kind = string_at(param, "type") ?: "";

	if (!value)
		return text_printf(strstr(string_at(param, "flags") ?: "", "required") ?
				   "(required)" : "-");
	if (!strcmp(kind, "bool"))
		return text_printf(json_object_get_uint64(value) ? "on" : "off");
	if (choices)
		return text_printf("%s", json_object_get_string(json_object_array_get_idx(choices,
				   json_object_get_uint64(value))));
	return text_value(json_object_get_uint64(value), string_at(param, "unit"));
}

static char *param_allowed(struct json_object *param)
{
	const char *kind = string_at(param, "type") ?: "", *unit = string_at(param, "unit");
	bool unlimited = strstr(string_at(param, "flags") ?: "", "unlimited");
	char *least, *most, *text;

	if (!strcmp(kind, "bool"))
		return text_printf("on|off");
	if (json_at(param, "choices"))
		return text_joined(json_at(param, "choices"), "|");
	if (strcmp(kind, "number"))
		return text_printf("%s", kind);
	least = text_value(number_at(param, "least"), unit);
	most = text_value(number_at(param, "most"), unit);
	text = text_printf("%s..%s%s", least, most, unlimited ? "|unlimited" : "");
	free(least);
	free(most);
	return text;
}

static const struct column param_columns[] = {
	{ "PARAMETER", "name" },
	{ "ALLOWED", .text = param_allowed },
	{ "UNIT", "unit" },
	{ "DEFAULT", .text = param_default },
	{ "MEANING", "doc" },
	{ }
};

static void print_type(struct json_object *type)
{
	struct json_object *params = json_at(type, "params");

	json_object_get(params);
	json_object_object_del(type, "params");
	puts("type:");
	print_block(&set_type, type, 4);
	if (params) {
		putchar('\n');
		print_table(&set_param, param_columns, params);
	}
	json_object_put(params);
}

static int type_show(struct args *args)
{
	const char *word = next_word(args);
	struct json_object *array, *type = NULL;
	uint32_t version;
	char *name;

	no_more_words(args);
	if (word) {
		split_type(word, &name, &version);
		type = type_get(name, version);
		array = json_object_new_array();
		json_object_array_add(array, type);
	} else {
		array = ask_all(MRPC_CMD_ENGINE_TYPE_GET, &set_type, NULL);
	}
	if (options.json)
		print_json(array);
	else if (type)
		print_type(type);
	else
		print_table(&set_type, type_columns, array);
	json_object_put(array);
	return 0;
}

static int run_type(struct args *args)
{
	static const struct word commands[] = {
		{ "show", type_show, "list" }, { "help" }, { }
	};

	return run_command(args, "engine", commands, "show");
}

/* -- show ------------------------------------------------------------------------- */

static struct json_object *types;	/* those that are loaded */

static struct json_object *type_of(struct json_object *engine)
{
	size_t i;

	if (!types)
		types = ask_all(MRPC_CMD_ENGINE_TYPE_GET, &set_type, NULL);
	for (i = 0; i < json_object_array_length(types); i++) {
		struct json_object *type = json_object_array_get_idx(types, i);

		if (!strcmp(string_at(type, "name"), string_at(engine, "type") ?: "") &&
		    number_at(type, "version") == number_at(engine, "version"))
			return type;
	}
	return NULL;
}

static char *engine_type(struct json_object *engine)
{
	return text_printf("%s@%s", string_at(engine, "type") ?: "?",
			   string_at(engine, "version") ?: "?");
}

static char *engine_scope(struct json_object *engine)
{
	return text_scope(json_at(engine, "scope"));
}

static char *engine_values(struct json_object *engine)
{
	return text_params(json_at(engine, "values"), type_of(engine));
}

/* What a change in progress does, and how far it has come. */
static char *engine_change(struct json_object *engine)
{
	unsigned int percent = number_at(engine, "percent");

	if (json_at(engine, "adding"))
		return text_printf("adding:%u%%", percent);
	if (json_at(engine, "removing"))
		return text_printf("removing:%u%%", percent);
	if (json_at(engine, "next_type"))
		return text_printf("%s@%s:%u%%", string_at(engine, "next_type"),
				   string_at(engine, "next_version"), percent);
	return text_printf("-");
}

static char *text_sum(struct json_object *engine, const char *key)
{
	char *tx = text_printf("tx.%s", key), *rx = text_printf("rx.%s", key), *text;

	text = text_printf("%llu", (unsigned long long)(number_at(engine, tx) +
							 number_at(engine, rx)));
	free(tx);
	free(rx);
	return text;
}

static char *engine_queued(struct json_object *engine)
{
	return text_printf("%llu", (unsigned long long)
			   (number_at(engine, "tx.queued") + number_at(engine, "tx.kept") +
			    number_at(engine, "rx.queued") + number_at(engine, "rx.kept")));
}

static char *engine_rpcs(struct json_object *engine)
{
	return text_sum(engine, "rpcs");
}

static char *engine_rejected(struct json_object *engine)
{
	return text_sum(engine, "rejected");
}

static char *engine_turns(struct json_object *engine)
{
	return text_sum(engine, "turns");
}

static char *engine_slow(struct json_object *engine)
{
	return text_sum(engine, "slow");
}

static const struct column columns[] = {
	{ "ENGINE", "name" },
	{ "TYPE", .text = engine_type },
	{ "SCOPE", .text = engine_scope },
	{ "DATAPATHS", "datapaths" },
	{ "QUEUED", .text = engine_queued, .right = true },
	{ "RPCS", .text = engine_rpcs, .right = true },
	{ "REJECTED", .text = engine_rejected, .right = true },
	{ "TX-BYTES", "tx.bytes", .stats = true },
	{ "RX-BYTES", "rx.bytes", .stats = true },
	{ "TURNS", .text = engine_turns, .stats = true, .right = true },
	{ "SLOW", .text = engine_slow, .stats = true, .right = true },
	{ "BYPASSED", "bypassed", .stats = true },
	{ "CHANGE", .text = engine_change },
	{ "VALUES", .text = engine_values },
	{ }
};

/* Beside its values their units, for print_block(). */
static void add_units(struct json_object *engine)
{
	struct json_object *type = type_of(engine), *values = json_at(engine, "values"), *param;

	if (!values || !type)
		return;
	json_object_object_foreach(values, name, value) {
		param = find_param(type, name);
		if (json_at(param, "unit"))
			json_object_object_add(value, "unit", json_object_get(json_at(param, "unit")));
	}
}

void engine_blocks(struct json_object *array)
{
	struct json_object *engine;
	size_t i;

	for (i = 0; i < json_object_array_length(array); i++) {
		engine = json_object_array_get_idx(array, i);
		add_units(engine);
		printf("%sengine:\n", i ? "\n" : "");
		print_block(&set_engine, engine, 4);
	}
	if (i)
		putchar('\n');
}

static int show(struct args *args, bool dump)
{
	const char *name = next_word(args);
	struct json_object *array;

	no_more_words(args);
	if (name) {
		array = json_object_new_array();
		json_object_array_add(array, engine_get(name));
	} else {
		array = engine_array();
	}
	if (options.json)
		print_json(array);
	else if (dump || name)
		engine_blocks(array);
	else
		print_table(&set_engine, columns, array);
	json_object_put(array);
	return 0;
}

static int run_show(struct args *args)
{
	return show(args, false);
}

static int run_dump(struct args *args)
{
	return show(args, true);
}

/* -- changes ------------------------------------------------------------------------ */

/* Names and values of parameters, and options, up to the end of the words. */
static void parse_params(struct change *c, struct args *args, struct json_object *type)
{
	const char *word;

	while (peek_word(args)) {
		if (change_option(c, args))
			continue;
		word = next_word(args);
		put_param(&c->body, type, word,
			  need_word(args, text_printf("the value of '%s'", word)));
	}
}

/*
 * What of 'add' is not a parameter. Return: false if the next word is one.
 */
static bool parse_place(struct change *c, struct args *args)
{
	const char *word = peek_word(args), *at;

	if (!strcmp(word, "name")) {
		next_word(args);
		c->name = need_word(args, "the name after 'name'");
		body_text(&c->body, MRPC_A_ENGINE_NAME, c->name);
	} else if (!strcmp(word, "scope")) {
		next_word(args);
		parse_scope(args, &c->body);
	} else if (!strcmp(word, "before") || !strcmp(word, "after")) {
		next_word(args);
		at = need_word(args, text_printf("the engine after '%s'", word));
		body_text(&c->body, !strcmp(word, "before") ? MRPC_A_ENGINE_BEFORE :
			  MRPC_A_ENGINE_AFTER, at);
	} else {
		return false;
	}
	return true;
}

static void put_type(struct body *b, struct json_object *type)
{
	body_text(b, MRPC_A_ENGINE_TYPE, string_at(type, "name"));
	body_u32(b, MRPC_A_ENGINE_VERSION, number_at(type, "version"));
}

static struct json_object *need_type(struct args *args)
{
	uint32_t version;
	char *name;

	split_type(need_word(args, "the type of engine"), &name, &version);
	return type_get(name, version);
}

static int run_add(struct args *args)
{
	struct change c = { .cmd = MRPC_CMD_ENGINE_ADD, .what = "added" };
	struct json_object *type = need_type(args), *request;
	const char *word;

	put_type(&c.body, type);
	while (peek_word(args)) {
		if (change_option(&c, args) || parse_place(&c, args))
			continue;
		word = next_word(args);
		put_param(&c.body, type, word,
			  need_word(args, text_printf("the value of '%s'", word)));
	}
	if (!c.name)
		c.name = string_at(type, "name");
	request = decode(&set_engine, (void *)c.body.data, c.body.len);
	c.scope = json_at(request, "scope");
	return change_run(&c);
}

/* A change of an engine that is there. */
static void begin_change(struct change *c, struct args *args, struct json_object **engine)
{
	c->name = need_word(args, "the name of the engine");
	*engine = engine_get(c->name);
	c->scope = json_at(*engine, "scope");
	body_text(&c->body, MRPC_A_ENGINE_NAME, c->name);
}

static int run_set(struct args *args)
{
	struct change c = { .cmd = MRPC_CMD_ENGINE_SET, .what = "configured" };
	struct json_object *engine;

	begin_change(&c, args, &engine);
	if (!peek_word(args))
		usage("a parameter is missing; 'mrpc engine type show %s' lists them",
		      string_at(engine, "type"));
	parse_params(&c, args, type_get(string_at(engine, "type"), number_at(engine, "version")));
	return change_run(&c);
}

static int run_replace(struct args *args)
{
	struct change c = { .cmd = MRPC_CMD_ENGINE_SET, .what = "replaced" };
	struct json_object *engine, *type;

	begin_change(&c, args, &engine);
	type = need_type(args);
	put_type(&c.body, type);
	parse_params(&c, args, type);
	return change_run(&c);
}

static int run_del(struct args *args)
{
	struct change c = { .cmd = MRPC_CMD_ENGINE_DEL, .what = "removed" };
	struct json_object *engine;

	begin_change(&c, args, &engine);
	while (change_option(&c, args))
		;
	no_more_words(args);
	return change_run(&c);
}

static int run_step(struct args *args)
{
	struct change c = { .cmd = MRPC_CMD_ENGINE_STEP, .what = "stepped" };
	const char *word;
	uint64_t percent;
	char *why;

	c.name = need_word(args, "the name of the engine");
	word = need_word(args, "the percentage");
	if (!parse_value(word, "%", &percent, &why) || percent > 100)
		usage("'%s' is not a percentage: it must be 0 to 100", word);
	no_more_words(args);
	body_text(&c.body, MRPC_A_ENGINE_NAME, c.name);
	body_u32(&c.body, MRPC_A_ENGINE_PERCENT, percent);
	return change_run(&c);
}

int do_engine(struct args *args)
{
	static const struct word commands[] = {
		{ "show", run_show, "list" },
		{ "dump", run_dump },
		{ "type", run_type },
		{ "add", run_add },
		{ "set", run_set },
		{ "replace", run_replace },
		{ "del", run_del, "delete" },
		{ "step", run_step },
		{ "help" },
		{ }
	};

	return run_command(args, "engine", commands, "show");
}
