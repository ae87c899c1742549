// SPDX-License-Identifier: GPL-2.0
/* The engines that the kernel has. */
#include <json-c/json.h>
#include <linux/mrpc_netlink.h>

#include "engine/find.h"
#include "engine/params.h"
#include "nl/body.h"
#include "nl/nl.h"
#include "nl/sets.h"

/* One engine with everything, counters of its type's own too. */
struct json_object *engine_get(const char *name)
{
	struct json_object *array, *engine;
	struct body body = { };

	body_text(&body, MRPC_A_ENGINE_NAME, name);
	array = ask_one(MRPC_CMD_ENGINE_GET, &set_engine, &body);
	body_free(&body);
	engine = json_object_get(json_object_array_get_idx(array, 0));
	json_object_put(array);
	add_rule_texts(engine);
	return engine;
}

/* All engines, from the application to the wire. */
struct json_object *engine_array(void)
{
	return ask_all(MRPC_CMD_ENGINE_GET, &set_engine, NULL);
}
