// SPDX-License-Identifier: GPL-2.0
/* Runtimes: kernel threads that run datapaths. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>
#include <linux/mrpc_netlink.h>

#include "cli/help.h"
#include "cli/options.h"
#include "cli/util.h"
#include "cli/words.h"
#include "engine/runtime.h"
#include "nl/body.h"
#include "nl/nl.h"
#include "nl/sets.h"
#include "show/json.h"
#include "show/print.h"
#include "show/values.h"

/* -- show --------------------------------------------------------------------------- */

static char *nice_text(struct json_object *runtime)
{
	if (json_object_get_boolean(json_at(runtime, "fifo")))
		return text_printf("fifo");
	return text_printf("%d", json_object_get_int(json_at(runtime, "nice")));
}

static const struct column columns[] = {
	{ "NAME", "name" },
	{ "THREAD", "thread" },
	{ "CPUS", "cpus" },
	{ "NICE", .text = nice_text, .right = true },
	{ "ORDER", "order" },
	{ "TURN", "turn" },
	{ "BUSY", "busy_ns" },
	{ "DEDICATED", "dedicated" },
	{ "DATAPATHS", "datapaths" },
	{ "WAITING", "waiting" },
	{ "RAN", "ran_ns" },
	{ "TURNS", "turns", .stats = true },
	{ "WAKEUPS", "wakeups", .stats = true },
	{ }
};

/* The kernel's number has a sign, which attributes of its size do not show. */
static void give_sign(struct json_object *array)
{
	size_t i;

	for (i = 0; i < json_object_array_length(array); i++) {
		struct json_object *runtime = json_object_array_get_idx(array, i);
		int32_t nice = (uint32_t)number_at(runtime, "nice");

		json_object_object_add(runtime, "nice", json_object_new_int(nice));
	}
}

static int run_show(struct args *args)
{
	const char *name = next_word(args);
	struct json_object *array;
	struct body body = { };

	no_more_words(args);
	if (name) {
		body_text(&body, MRPC_A_RUNTIME_NAME, name);
		array = ask_one(MRPC_CMD_RUNTIME_GET, &set_runtime, &body);
	} else {
		array = ask_all(MRPC_CMD_RUNTIME_GET, &set_runtime, &body);
	}
	give_sign(array);
	if (options.json)
		print_json(array);
	else
		print_table(&set_runtime, columns, array);
	json_object_put(array);
	body_free(&body);
	return 0;
}

/* -- add, set and del ------------------------------------------------------------------ */

static void put_nice(struct body *b, const char *word)
{
	char *end;
	long nice;

	errno = 0;
	nice = strtol(word, &end, 10);
	if (errno || end == word || *end || nice < -100 || nice > 100)
		usage("'%s' is no nice value: -20 to 19", word);
	body_u32(b, MRPC_A_RUNTIME_NICE, (int32_t)nice);
}

static void put_order(struct body *b, const char *word)
{
	static const struct word orders[] = { { "fifo" }, { "strict" }, { "small" }, { } };

	body_u32(b, MRPC_A_RUNTIME_ORDER, find_word(orders, word, "an order") - orders);
}

static void put_turn(struct body *b, const char *word)
{
	uint64_t bytes;
	char *why;

	if (!parse_value(word, "bytes", &bytes, &why))
		usage("turn: %s", why);
	if (bytes > UINT32_MAX)
		usage("a turn of '%s' is too long: at most 1GiB", word);
	body_u32(b, MRPC_A_RUNTIME_TURN, bytes);
}

static void put_bool(struct body *b, int attr, const char *word)
{
	static const struct word bools[] = { { "no", NULL, "0" }, { "yes", NULL, "1" }, { } };

	body_u8(b, attr, find_word(bools, word, "yes or no") - bools);
}

static int change(struct args *args, int cmd)
{
	static const struct word words[] = {
		{ "cpus" }, { "nice" }, { "fifo" }, { "busy" }, { "order" }, { "turn" },
		{ "dedicated" }, { }
	};
	const char *word, *name, *value;
	struct body body = { };

	body_text(&body, MRPC_A_RUNTIME_NAME, need_word(args, "the name of the runtime"));
	while ((word = next_word(args))) {
		name = find_word(words, word, "a setting")->name;
		if (!strcmp(name, "busy")) {
			body_u64(&body, MRPC_A_RUNTIME_BUSY,
				 need_time(args, "the time after 'busy'"));
			continue;
		}
		value = need_word(args, text_printf("a value after '%s'", name));
		if (!strcmp(name, "cpus"))
			body_text(&body, MRPC_A_RUNTIME_CPUS, value);
		else if (!strcmp(name, "nice"))
			put_nice(&body, value);
		else if (!strcmp(name, "order"))
			put_order(&body, value);
		else if (!strcmp(name, "turn"))
			put_turn(&body, value);
		else if (!strcmp(name, "fifo"))
			put_bool(&body, MRPC_A_RUNTIME_FIFO, value);
		else
			put_bool(&body, MRPC_A_RUNTIME_DEDICATED, value);
	}
	json_object_put(ask_one(cmd, &set_runtime, &body));
	body_free(&body);
	return 0;
}

static int run_add(struct args *args)
{
	return change(args, MRPC_CMD_RUNTIME_ADD);
}

static int run_set(struct args *args)
{
	return change(args, MRPC_CMD_RUNTIME_SET);
}

static int run_del(struct args *args)
{
	struct body body = { };

	body_text(&body, MRPC_A_RUNTIME_NAME, need_word(args, "the name of the runtime"));
	no_more_words(args);
	json_object_put(ask_one(MRPC_CMD_RUNTIME_DEL, &set_runtime, &body));
	body_free(&body);
	return 0;
}

int do_runtime(struct args *args)
{
	static const struct word commands[] = {
		{ "show", run_show, "list" },
		{ "add", run_add },
		{ "set", run_set },
		{ "del", run_del },
		{ "help" },
		{ }
	};

	return run_command(args, "runtime", commands, "show");
}
