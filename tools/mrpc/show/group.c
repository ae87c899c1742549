// SPDX-License-Identifier: GPL-2.0
/* Groups: their ranks on this host, and what these do. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>
#include <linux/mrpc_netlink.h>

#include "cli/help.h"
#include "cli/options.h"
#include "cli/util.h"
#include "cli/words.h"
#include "nl/body.h"
#include "nl/nl.h"
#include "nl/sets.h"
#include "show/group.h"
#include "show/group_set.h"
#include "show/group_trace.h"
#include "show/json.h"
#include "show/objects.h"
#include "show/print.h"

/* -- what a line of show has ------------------------------------------------------------ */

static char *group_name(struct json_object *group)
{
	return text_printf("%llu:%llu", (unsigned long long)number_at(group, "session"),
			   (unsigned long long)number_at(group, "id"));
}

static char *group_rank(struct json_object *group)
{
	return text_printf("%llu/%llu", (unsigned long long)number_at(group, "rank"),
			   (unsigned long long)number_at(group, "ranks"));
}

/* "AllReduce 17, ring, 4.0M, for 210ms, awaits rank 3" */
static char *text_operation(struct json_object *o)
{
	char *bytes = text_bytes(number_at(o, "bytes")), *age = text_time(number_at(o, "age_ns"));
	const char *awaits = string_at(o, "awaits");
	char *text;

	text = text_printf("%s %llu, %s, %s, for %s%s%s", string_at(o, "collective"),
			   (unsigned long long)number_at(o, "number"), string_at(o, "algorithm"),
			   bytes, age, awaits ? ", awaits rank " : "", awaits ?: "");
	free(bytes);
	free(age);
	return text;
}

/* "strategy 3, awaits rank 2", or "strategy 3, after operation 7" */
static char *text_change(struct json_object *group)
{
	const char *awaits = string_at(group, "strategy.awaits");

	return text_printf("strategy %s, %s %s", string_at(group, "strategy.next"),
			   awaits ? "awaits rank" : "after operation",
			   awaits ?: string_at(group, "strategy.last"));
}

/* What the rank does, or why its group has ended. */
static char *group_now(struct json_object *group)
{
	struct json_object *operation = json_at(group, "operation");

	if (json_at(group, "status"))
		return text_printf("%s: %s", string_at(group, "status"),
				   string_at(group, "detail") ?: "");
	if (operation)
		return text_operation(operation);
	return json_at(group, "strategy.next") ? text_change(group) : text_printf("-");
}

const struct column group_columns[] = {
	{ "GROUP", .text = group_name },
	{ "RANK", .text = group_rank },
	{ "NAME", "name" },
	{ "PID", "pid" },
	{ "CONNS", "conns" },
	{ "STATE", "state" },
	{ "WAITING", "waiting" },
	{ "DONE", "completed" },
	{ "FAILED", "failed" },
	{ "TX-BYTES", "tx_bytes" },
	{ "RX-BYTES", "rx_bytes" },
	{ "STRATEGY", "strategy.version", .stats = true },
	{ "ORDER", "strategy.order", .stats = true },
	{ "KEY", "key", .stats = true },
	{ "AGE", "age_ns" },
	{ "NOW", .text = group_now },
	{ }
};

static const struct column link_columns[] = {
	{ "RANK", "rank" },
	{ "CONN", "conn" },
	{ "TX-CHUNKS", "tx_chunks" },
	{ "RX-CHUNKS", "rx_chunks" },
	{ "EARLY", "early" },
	{ "LEFT", "left" },
	{ }
};

/* -- which group ------------------------------------------------------------------------- */

/* "4:1": session and group. Return: false: @word is no such thing. */
static bool parse_group(const char *word, uint32_t *session, uint32_t *id)
{
	unsigned long a, b;
	char *end;

	if (*word < '0' || *word > '9')
		return false;
	a = strtoul(word, &end, 10);
	if (*end != ':' || end[1] < '0' || end[1] > '9')
		return false;
	b = strtoul(end + 1, &end, 10);
	if (*end || !a || !b || a > UINT32_MAX || b > UINT32_MAX)
		return false;
	*session = a;
	*id = b;
	return true;
}

static void need_group_name(struct args *args, uint32_t *session, uint32_t *id)
{
	const char *word = need_word(args, "the group, as SESSION:NUMBER,");

	if (!parse_group(word, session, id))
		usage("'%s' is not a group: it must be SESSION:NUMBER, as 4:1", word);
}

static struct body need_group(struct args *args, int attr_session, int attr)
{
	struct body body = { };
	uint32_t session, id;

	need_group_name(args, &session, &id);
	body_u32(&body, attr_session, session);
	body_u32(&body, attr, id);
	return body;
}

/* "4:1" is short for "session 4 id 1". */
static int show(struct args *args, bool dump)
{
	const char *word = peek_word(args);
	uint32_t session, id;

	if (word && parse_group(word, &session, &id)) {
		char *words[] = { "session", text_printf("%u", session),
				  "id", text_printf("%u", id) };
		struct args same = { 4, words };

		next_word(args);
		no_more_words(args);
		return show_object("group", &same, dump);
	}
	return show_object("group", args, dump);
}

static int group_show(struct args *args)
{
	return show(args, false);
}

static int group_dump(struct args *args)
{
	return show(args, true);
}

static int group_links(struct args *args)
{
	struct body body = need_group(args, MRPC_A_GROUP_LINK_SESSION, MRPC_A_GROUP_LINK_GROUP);
	struct json_object *array;

	no_more_words(args);
	array = ask_all(MRPC_CMD_GROUP_LINK_GET, &set_group_link, &body);
	if (options.json)
		print_json(array);
	else
		print_table(&set_group_link, link_columns, array);
	json_object_put(array);
	body_free(&body);
	return 0;
}

static int change(struct args *args)
{
	uint32_t session, id;

	need_group_name(args, &session, &id);
	return group_set(args, session, id);
}

/* -- trace ---------------------------------------------------------------------------------- */

static void move_all(struct json_object *to, struct json_object *from)
{
	size_t i;

	for (i = 0; i < json_object_array_length(from); i++)
		json_object_array_add(to, json_object_get(json_object_array_get_idx(from, i)));
	json_object_put(from);
}

/* Those of all groups. Of one that was left meanwhile nothing is known. */
static struct json_object *trace_all(void)
{
	struct json_object *groups = ask_all(MRPC_CMD_GROUP_GET, &set_group, NULL), *group;
	struct json_object *all = json_object_new_array();
	size_t i;

	for (i = 0; i < json_object_array_length(groups); i++) {
		struct body body = { };
		struct answer a;

		group = json_object_array_get_idx(groups, i);
		body_u32(&body, MRPC_A_GROUP_TRACE_SESSION, number_at(group, "session"));
		body_u32(&body, MRPC_A_GROUP_TRACE_GROUP, number_at(group, "id"));
		a = ask(MRPC_CMD_GROUP_TRACE_GET, true, &set_group_trace, &body);
		move_all(all, a.array);
		free(a.why);
		body_free(&body);
	}
	json_object_put(groups);
	return all;
}

static struct json_object *trace_named(struct args *args)
{
	struct json_object *all = json_object_new_array();

	while (peek_word(args)) {
		struct body body = need_group(args, MRPC_A_GROUP_TRACE_SESSION,
					      MRPC_A_GROUP_TRACE_GROUP);

		move_all(all, ask_all(MRPC_CMD_GROUP_TRACE_GET, &set_group_trace, &body));
		body_free(&body);
	}
	return all;
}

static int group_trace(struct args *args)
{
	struct json_object *records = peek_word(args) ? trace_named(args) : trace_all(), *events;

	if (options.json) {
		events = group_trace_chrome(records);
		print_json(events);
		json_object_put(events);
	} else {
		group_trace_table(records);
	}
	json_object_put(records);
	return 0;
}

int do_group(struct args *args)
{
	static const struct word commands[] = {
		{ "show", group_show, "list" },
		{ "dump", group_dump },
		{ "links", group_links },
		{ "set", change },
		{ "trace", group_trace },
		{ "help" },
		{ }
	};

	return run_command(args, "group", commands, "show");
}
