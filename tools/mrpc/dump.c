// SPDX-License-Identifier: GPL-2.0
/* mrpc dump: everything of all objects. */
#include <stdio.h>

#include <json-c/json.h>
#include <linux/mrpc_netlink.h>

#include "cli/help.h"
#include "cli/options.h"
#include "cli/words.h"
#include "dump.h"
#include "engine/engine.h"
#include "engine/find.h"
#include "engine/queue.h"
#include "nl/nl.h"
#include "nl/sets.h"
#include "show/objects.h"
#include "show/print.h"
#include "show/schemas.h"

/* Everything of everything, as one asks for in a report of a bug. */
static void dump_all(struct json_object *all, const char *name, int cmd, const struct set *set)
{
	struct json_object *array = ask_all(cmd, set, NULL);

	if (!options.json) {
		print_blocks(name, set, array);
		if (json_object_array_length(array))
			putchar('\n');
	}
	json_object_object_add(all, name, array);
}

int do_dump(struct args *args)
{
	struct json_object *all = json_object_new_object(), *array;
	const struct object *o;

	if (is_help(peek_word(args))) {
		help_object("dump");
		return 0;
	}
	no_more_words(args);
	for (o = object_kinds; o->name; o++)
		dump_all(all, o->name, o->cmd, o->set);
	dump_all(all, "egress", MRPC_CMD_EGRESS_GET, &set_egress);
	dump_all(all, "transport", MRPC_CMD_TRANSPORT_GET, &set_transport);
	array = schema_array(true);
	if (!options.json)
		schema_blocks(array);
	json_object_object_add(all, "schema", array);
	array = engine_array();
	if (!options.json)
		engine_blocks(array);
	json_object_object_add(all, "engine", array);
	array = ask_all(MRPC_CMD_QUEUE_GET, &set_queue, NULL);
	if (!options.json)
		queue_table(array);
	json_object_object_add(all, "queue", array);
	if (options.json)
		print_json(all);
	json_object_put(all);
	return 0;
}
