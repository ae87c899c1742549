// SPDX-License-Identifier: GPL-2.0
/* Queues of datapaths: their content, and holding them. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <json-c/json.h>
#include <linux/mrpc_netlink.h>

#include "cli/help.h"
#include "cli/options.h"
#include "cli/util.h"
#include "cli/words.h"
#include "engine/queue.h"
#include "nl/body.h"
#include "nl/nl.h"
#include "nl/sets.h"
#include "show/json.h"
#include "show/print.h"
#include "show/values.h"

/* -- options of a queue ---------------------------------------------------- */

/**
 * struct filter - selects queues
 * @body: attributes by which the kernel selects
 * @datapath: number, or 0
 * @engine: name, or NULL
 * @dir: MRPC_QUEUE_DIR_*, or -1
 * @busy: only queues that are paused or not empty
 * @every: watch: ns between two outputs
 */
struct filter {
	struct body body;
	uint32_t datapath;
	const char *engine;
	int dir;
	bool busy;
	uint64_t every;
};

static int need_dir(struct args *args)
{
	static const struct word dirs[] = { { "tx" }, { "rx" }, { } };
	const char *word = need_word(args, "'tx' or 'rx' after 'dir'");

	return !strcmp(find_word(dirs, word, "a direction")->name, "tx") ?
	       MRPC_QUEUE_DIR_TX : MRPC_QUEUE_DIR_RX;
}

static struct filter parse_filter(struct args *args, const struct word *words)
{
	struct filter f = { .dir = -1 };
	const char *word, *name;

	while ((word = next_word(args))) {
		name = find_word(words, word, "a filter")->name;
		if (!strcmp(name, "session"))
			body_u32(&f.body, MRPC_A_QUEUE_SESSION, need_id(args, name));
		else if (!strcmp(name, "datapath"))
			f.datapath = need_id(args, name);
		else if (!strcmp(name, "engine"))
			f.engine = need_word(args, "the name after 'engine'");
		else if (!strcmp(name, "dir"))
			f.dir = need_dir(args);
		else if (!strcmp(name, "--every"))
			f.every = need_time(args, "the time after '--every'");
		else
			f.busy = true;
	}
	if (f.datapath)
		body_u32(&f.body, MRPC_A_QUEUE_DATAPATH, f.datapath);
	return f;
}

/* -- show and watch ------------------------------------------------------------------ */

/* The engine of an engine's queue; or a name for the queue behind all engines. */
char *queue_name(struct json_object *queue)
{
	const char *engine = string_at(queue, "engine");

	if (engine)
		return text_printf("%s", engine);
	return text_printf(!strcmp(string_at(queue, "dir") ?: "", "tx") ? "(link)" : "(arriving)");
}

static const struct column columns[] = {
	{ "DATAPATH", "datapath" },
	{ "SESSION", "session" },
	{ "CONN", "conn" },
	{ "DIR", "dir" },
	{ "QUEUE", .text = queue_name },
	{ "DEPTH", "depth" },
	{ "KEPT", "kept" },
	{ "BYTES", "bytes" },
	{ "OLDEST", "age_ns" },
	{ "PAUSED", "paused" },
	{ }
};

static bool is_wanted(const struct filter *f, struct json_object *queue)
{
	const char *engine = string_at(queue, "engine");

	if (f->engine && (!engine || strcmp(f->engine, engine)))
		return false;
	if (f->dir >= 0 && strcmp(string_at(queue, "dir") ?: "",
				  f->dir == MRPC_QUEUE_DIR_TX ? "tx" : "rx"))
		return false;
	return !f->busy || number_at(queue, "depth") || number_at(queue, "kept") ||
	       json_object_get_boolean(json_at(queue, "paused"));
}

static struct json_object *queues(const struct filter *f)
{
	struct json_object *all = ask_all(MRPC_CMD_QUEUE_GET, &set_queue, &f->body), *some, *queue;
	size_t i;

	some = json_object_new_array();
	for (i = 0; i < json_object_array_length(all); i++) {
		queue = json_object_array_get_idx(all, i);
		if (is_wanted(f, queue))
			json_object_array_add(some, json_object_get(queue));
	}
	json_object_put(all);
	return some;
}

void queue_table(struct json_object *array)
{
	print_table(&set_queue, columns, array);
}

static const struct word show_words[] = {
	{ "session" }, { "datapath" }, { "engine" }, { "dir" }, { "busy" }, { }
};

static void print_queues(const struct filter *f)
{
	struct json_object *array = queues(f);

	if (options.json)
		print_json(array);
	else
		queue_table(array);
	json_object_put(array);
}

static int run_show(struct args *args)
{
	struct filter f = parse_filter(args, show_words);

	print_queues(&f);
	return 0;
}

static int run_watch(struct args *args)
{
	static const struct word words[] = {
		{ "session" }, { "datapath" }, { "engine" }, { "dir" }, { "busy" }, { "--every" },
		{ }
	};
	struct filter f = parse_filter(args, words);
	uint64_t every = f.every ?: 1000000000;
	struct timespec pause = { every / 1000000000, every % 1000000000 };

	for (;;) {
		if (isatty(STDOUT_FILENO) && !options.json)
			fputs("\033[H\033[2J", stdout);
		print_queues(&f);
		/* The reader of the output has gone. */
		if (fflush(stdout) || ferror(stdout))
			return EXIT_FAILED;
		nanosleep(&pause, NULL);
		if (!isatty(STDOUT_FILENO) && !options.json)
			putchar('\n');
	}
}

/* -- pause and resume ------------------------------------------------------------------ */

static int hold(struct args *args, bool paused)
{
	static const struct word words[] = { { "datapath" }, { "dir" }, { } };
	const char *engine = need_word(args, "the name of the engine");
	struct filter f = parse_filter(args, words);
	struct json_object *array;

	body_text(&f.body, MRPC_A_QUEUE_ENGINE, engine);
	if (f.dir >= 0)
		body_u32(&f.body, MRPC_A_QUEUE_DIR, f.dir);
	body_u8(&f.body, MRPC_A_QUEUE_PAUSED, paused);
	array = ask_one(MRPC_CMD_QUEUE_SET, &set_queue, &f.body);
	if (options.json)
		print_json(json_object_array_get_idx(array, 0));
	else
		printf("%s %s on %s datapaths\n", engine, paused ? "paused" : "resumed",
		       string_at(json_object_array_get_idx(array, 0), "changed"));
	json_object_put(array);
	body_free(&f.body);
	return 0;
}

static int run_pause(struct args *args)
{
	return hold(args, true);
}

static int run_resume(struct args *args)
{
	return hold(args, false);
}

/* -- dump ---------------------------------------------------------------------------------- */

static char *rpc_method(struct json_object *rpc)
{
	const char *service = string_at(rpc, "service"), *method = string_at(rpc, "method");

	return service ? text_printf("%s/%s", service, method ?: "?") : text_printf("-");
}

static const struct column rpc_columns[] = {
	{ "INDEX", "index" },
	{ "CALL", "call_id" },
	{ "KIND", "kind" },
	{ "METHOD", .text = rpc_method },
	{ "SIZE", "size" },
	{ "PRIORITY", "priority" },
	{ "STATUS", "status" },
	{ "DEADLINE", "deadline_ns" },
	{ "AGE", "age_ns" },
	{ "FLAGS", "flags" },
	{ }
};

static int run_dump(struct args *args)
{
	static const struct word words[] = { { "datapath" }, { "engine" }, { "dir" }, { } };
	struct filter f = parse_filter(args, words);
	struct json_object *array;
	struct body body = { };

	if (!f.datapath || f.dir < 0)
		usage("which queue? 'mrpc queue dump datapath NUMBER dir tx|rx [engine NAME]'");
	body_u32(&body, MRPC_A_RPC_DATAPATH, f.datapath);
	body_u32(&body, MRPC_A_RPC_DIR, f.dir);
	if (f.engine)
		body_text(&body, MRPC_A_RPC_ENGINE, f.engine);
	array = ask_all(MRPC_CMD_RPC_GET, &set_rpc, &body);
	if (options.json)
		print_json(array);
	else
		print_table(&set_rpc, rpc_columns, array);
	json_object_put(array);
	body_free(&body);
	return 0;
}

int do_queue(struct args *args)
{
	static const struct word commands[] = {
		{ "show", run_show, "list" },
		{ "watch", run_watch },
		{ "pause", run_pause },
		{ "resume", run_resume },
		{ "dump", run_dump },
		{ "help" },
		{ }
	};

	return run_command(args, "queue", commands, "show");
}
