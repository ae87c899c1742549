// SPDX-License-Identifier: GPL-2.0
/* Schemas: those that the kernel has, and files. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>
#include <linux/mrpc.h>
#include <linux/mrpc_netlink.h>

#include "cli/help.h"
#include "cli/options.h"
#include "cli/util.h"
#include "cli/words.h"
#include "nl/body.h"
#include "nl/nl.h"
#include "nl/sets.h"
#include "show/json.h"
#include "show/print.h"
#include "show/schema_file.h"
#include "show/schemas.h"

static char *schema_hash(struct json_object *object)
{
	return text_printf("%.12s", string_at(object, "hash") ?: "-");
}

static const struct column columns[] = {
	{ "SCHEMA", "id" },
	{ "SERVICE", "service" },
	{ "METHODS", "methods" },
	{ "TYPES", "types" },
	{ "FIELDS", "fields" },
	{ "SIZE", "bytes" },
	{ "COMPILED", "plan_bytes" },
	{ "SESSIONS", "sessions" },
	{ "USERS", "users" },
	{ "BINDS", "binds", .stats = true },
	{ "COMPILE-TIME", "compile_ns", .stats = true },
	{ "HASH", .text = schema_hash },
	{ }
};

static const struct column method_columns[] = {
	{ "METHOD", "name" },
	{ "REQUEST", "request" },
	{ "SIZE", "request_size" },
	{ "REPLY", "reply" },
	{ "SIZE", "reply_size" },
	{ }
};

static struct json_object *methods_of(struct json_object *schema)
{
	struct json_object *array;
	struct body body = { };

	body_u32(&body, MRPC_A_METHOD_SCHEMA, number_at(schema, "id"));
	array = ask_all(MRPC_CMD_METHOD_GET, &set_method, &body);
	body_free(&body);
	return array;
}

static void add_methods(struct json_object *array)
{
	size_t i;

	for (i = 0; i < json_object_array_length(array); i++) {
		struct json_object *schema = json_object_array_get_idx(array, i);

		json_object_object_add(schema, "method", methods_of(schema));
	}
}

/* All schemas, with their methods or not. */
struct json_object *schema_array(bool methods)
{
	struct json_object *array = ask_all(MRPC_CMD_SCHEMA_GET, &set_schema, NULL);

	if (methods)
		add_methods(array);
	return array;
}

void schema_blocks(struct json_object *array)
{
	size_t i;

	for (i = 0; i < json_object_array_length(array); i++) {
		struct json_object *schema = json_object_array_get_idx(array, i);

		printf("%sschema:\n", i ? "\n" : "");
		print_block(&set_schema, schema, 4);
		print_table(&set_method, method_columns, json_at(schema, "method"));
	}
}

static void parse_hash(const char *text, uint8_t hash[MRPC_HASH_LEN])
{
	unsigned int byte;
	int i;

	if (strlen(text) != 2 * MRPC_HASH_LEN || strspn(text, "0123456789abcdefABCDEF") !=
	    strlen(text))
		usage("'%s' is not a hash: it must be %d hexadecimal digits", text,
		      2 * MRPC_HASH_LEN);
	for (i = 0; i < MRPC_HASH_LEN; i++) {
		sscanf(text + 2 * i, "%2x", &byte);
		hash[i] = byte;
	}
}

static int show(struct args *args, bool dump)
{
	static const struct word filters[] = { { "id" }, { "hash" }, { } };
	struct json_object *array;
	uint8_t hash[MRPC_HASH_LEN];
	const char *word = next_word(args);
	struct body body = { };
	uint32_t id;

	if (word) {
		if (!strcmp(find_word(filters, word, "a filter")->name, "id")) {
			id = need_number(args, "the number after 'id'");
			if (!id)
				usage("numbers after 'id' begin at 1");
			body_u32(&body, MRPC_A_SCHEMA_ID, id);
		} else {
			parse_hash(need_word(args, "the hash after 'hash'"), hash);
			body_put(&body, MRPC_A_SCHEMA_HASH, hash, sizeof(hash));
		}
		no_more_words(args);
		array = ask_one(MRPC_CMD_SCHEMA_GET, &set_schema, &body);
		body_free(&body);
		add_methods(array);
	} else {
		array = schema_array(dump);
	}
	if (options.json) {
		print_json(array);
	} else if (dump) {
		schema_blocks(array);
	} else {
		print_table(&set_schema, columns, array);
		if (word) {
			putchar('\n');
			print_table(&set_method, method_columns,
				    json_at(json_object_array_get_idx(array, 0), "method"));
		}
	}
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

int do_schema(struct args *args)
{
	static const struct word commands[] = {
		{ "show", run_show, "list" },
		{ "dump", run_dump },
		{ "check", schema_check },
		{ "load", schema_load },
		{ "help" },
		{ }
	};

	return run_command(args, "schema", commands, "show");
}
