// SPDX-License-Identifier: GPL-2.0
/* Policies by their names. */
#include <string.h>

#include <json-c/json.h>
#include <linux/mrpc_netlink.h>

#include "cli/util.h"
#include "nl/nl.h"
#include "nl/sets.h"
#include "policy/name.h"
#include "show/json.h"

/* "NAME", or "NAME@VERSION" when that is not 1; not to be freed. */
char *policy_label(const char *name, uint32_t version)
{
	return version > 1 ? text_printf("%s@%u", name, version) : text_printf("%s", name);
}

/* The engine type, be it a policy or not, or NULL. */
struct json_object *policy_find(const char *name, uint32_t version)
{
	struct json_object *array = ask_all(MRPC_CMD_ENGINE_TYPE_GET, &set_type, NULL);
	struct json_object *type, *found = NULL;
	size_t i;

	for (i = 0; i < json_object_array_length(array) && !found; i++) {
		type = json_object_array_get_idx(array, i);
		if (!strcmp(string_at(type, "name"), name) && number_at(type, "version") == version)
			found = json_object_get(type);
	}
	json_object_put(array);
	return found;
}
