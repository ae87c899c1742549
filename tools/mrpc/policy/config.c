// SPDX-License-Identifier: GPL-2.0
/*
 * Policies in a configuration: 'config save' and 'config restore'. The kernel does not
 * give programs back, so a configuration has the object files that they are of.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>
#include <linux/mrpc_netlink.h>

#include "cli/child.h"
#include "cli/util.h"
#include "cli/words.h"
#include "nl/nl.h"
#include "nl/sets.h"
#include "policy/config.h"
#include "policy/load.h"
#include "policy/name.h"
#include "policy/pin.h"
#include "show/json.h"

static struct json_object *saved_policy(const char *name, uint32_t version)
{
	struct json_object *saved;
	char *file = pin_source_of(name, version);

	if (!file) {
		fprintf(stderr, "mrpc: the policy '%s' is not saved: 'mrpc policy load' has not loaded it\n",
			policy_label(name, version));
		return NULL;
	}
	saved = json_object_new_object();
	json_object_object_add(saved, "name", json_object_new_string(name));
	json_object_object_add(saved, "version", json_object_new_uint64(version));
	json_object_object_add(saved, "file", json_object_new_string(file));
	free(file);
	return saved;
}

/**
 * policies_saved() - policies, for a file
 * @names: an object whose keys are names; those of no policy do not matter
 *
 * Return: an array.
 */
struct json_object *policies_saved(struct json_object *names)
{
	struct json_object *types = ask_all(MRPC_CMD_ENGINE_TYPE_GET, &set_type, NULL);
	struct json_object *array = json_object_new_array(), *type, *one;
	size_t i;

	for (i = 0; i < json_object_array_length(types); i++) {
		type = json_object_array_get_idx(types, i);
		if (!json_at(type, "policy") ||
		    !json_object_object_get_ex(names, string_at(type, "name"), NULL))
			continue;
		one = saved_policy(string_at(type, "name"), number_at(type, "version"));
		if (one)
			json_object_array_add(array, one);
	}
	json_object_put(types);
	return array;
}

static bool restore_policy(struct json_object *policy)
{
	const char *name = string_at(policy, "name"), *file = string_at(policy, "file");
	uint32_t version = number_at(policy, "version");
	char *words[] = { NULL, "name", NULL };
	struct args args = { 3, words };
	struct json_object *type;

	if (!name || !file || !version)
		fail("a policy of the file has no name, version or file");
	type = policy_find(name, version);
	if (type) {
		json_object_put(type);
		return true;
	}
	words[0] = (char *)file;
	words[2] = text_printf("%s@%u", name, version);
	return !run_child(policy_load, &args);
}

/**
 * policies_restore() - load the policies that are not loaded
 * @policies: as policies_saved() gave them
 *
 * Return: whether all went well; else it has been said why.
 */
bool policies_restore(struct json_object *policies)
{
	bool ok = true;
	size_t i;

	for (i = 0; i < json_object_array_length(policies); i++)
		ok &= restore_policy(json_object_array_get_idx(policies, i));
	return ok;
}
