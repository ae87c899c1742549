// SPDX-License-Identifier: GPL-2.0
/* Transports: those that are loaded, and what they count. */
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>
#include <linux/mrpc_netlink.h>

#include "cli/help.h"
#include "cli/options.h"
#include "cli/util.h"
#include "cli/words.h"
#include "engine/transport.h"
#include "nl/body.h"
#include "nl/nl.h"
#include "nl/sets.h"
#include "show/json.h"
#include "show/objects.h"
#include "show/print.h"

static const struct column columns[] = {
	{ "TRANSPORT", "name" },
	{ "VERSION", "version" },
	{ "MODULE", "module" },
	{ "REFS", "references" },
	{ "FEATURES", "features" },
	{ }
};

/* -- their numbers ----------------------------------------------------------- */

/* Where those of a kind are, and what one of them is. */
static const struct kind {
	const char *key;
	const char *one;
} kinds[] = {
	{ "counters", "counter" }, { "drops", "drop" }, { "gauges", "gauge" },
	{ "settings", "setting" }, { }
};

static char *number_transport(struct json_object *number)
{
	return text_printf("%s@%llu", string_at(number, "of.name") ?: "?",
			   (unsigned long long)number_at(number, "of.version"));
}

static char *number_kind(struct json_object *number)
{
	return text_printf("%s", string_at(number, "kind"));
}

static char *number_name(struct json_object *number)
{
	return text_printf("%s", string_at(number, "name"));
}

static char *number_value(struct json_object *number)
{
	return text_printf("%s", string_at(number, "value"));
}

static const struct column number_columns[] = {
	{ "TRANSPORT", .text = number_transport },
	{ "KIND", .text = number_kind },
	{ "NAME", .text = number_name },
	{ "VALUE", .text = number_value, .right = true },
	{ }
};

/* Those of a kind, without those that are 0 unless all are wanted. */
static void add_numbers(struct json_object *numbers, struct json_object *transports,
			const struct kind *kind)
{
	struct json_object *entries = entries_of(transports, kind->key), *entry;
	size_t i;

	for (i = 0; i < json_object_array_length(entries); i++) {
		entry = json_object_array_get_idx(entries, i);
		if (!options.stats && !number_at(entry, "value"))
			continue;
		json_object_object_add(entry, "kind", json_object_new_string(kind->one));
		json_object_array_add(numbers, json_object_get(entry));
	}
	json_object_put(entries);
}

static void number_table(struct json_object *transports)
{
	struct json_object *numbers = json_object_new_array();
	const struct kind *kind;

	for (kind = kinds; kind->key; kind++)
		add_numbers(numbers, transports, kind);
	if (json_object_array_length(numbers)) {
		putchar('\n');
		print_table(NULL, number_columns, numbers);
	}
	json_object_put(numbers);
}

/* -- show and dump ------------------------------------------------------------ */

static int show(struct args *args, bool dump)
{
	const char *name = next_word(args);
	struct json_object *array;
	struct body body = { };

	no_more_words(args);
	if (name)
		body_text(&body, MRPC_A_TRANSPORT_NAME, name);
	array = ask_all(MRPC_CMD_TRANSPORT_GET, &set_transport, &body);
	if (options.json) {
		print_json(array);
	} else if (dump) {
		print_blocks("transport", &set_transport, array);
	} else {
		print_table(&set_transport, columns, array);
		if (name || options.stats)
			number_table(array);
	}
	json_object_put(array);
	body_free(&body);
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

int do_transport(struct args *args)
{
	static const struct word commands[] = {
		{ "show", run_show, "list" },
		{ "dump", run_dump },
		{ "help" },
		{ }
	};

	return run_command(args, "transport", commands, "show");
}
