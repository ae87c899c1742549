// SPDX-License-Identifier: GPL-2.0
/* Sets of keys in a configuration: 'config save' and 'config restore'. */
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>
#include <linux/mrpc_netlink.h>
#include <netlink/attr.h>

#include "cli/options.h"
#include "cli/util.h"
#include "nl/body.h"
#include "nl/nl.h"
#include "nl/sets.h"
#include "rules/keyset.h"
#include "rules/keyset_config.h"
#include "rules/keyset_keys.h"
#include "show/json.h"

/**
 * keyset_saved() - all sets with their keys, for a file
 *
 * Return: an array.
 */
struct json_object *keyset_saved(void)
{
	struct json_object *sets = keyset_array(), *set, *list;
	struct nlattr *nla;
	struct body keys;
	size_t i, at;

	for (i = 0; i < json_object_array_length(sets); i++) {
		set = json_object_array_get_idx(sets, i);
		list = json_object_new_array();
		keys = keyset_keys(string_at(set, "name"));
		for (at = 0; at < keys.len; at += NLA_ALIGN(nla->nla_len)) {
			nla = (void *)(keys.data + at);
			json_object_array_add(list, key_json(keyset_kind(set), nla_data(nla),
							     nla_len(nla)));
		}
		body_free(&keys);
		json_object_object_del(set, "id");
		json_object_object_del(set, "users");
		json_object_object_add(set, "keys", list);
	}
	return sets;
}

static bool request(int cmd, const char *name, uint32_t kind, const char *what)
{
	struct body body = { };
	struct answer a;

	body_text(&body, MRPC_A_KEYSET_NAME, name);
	if (kind)
		body_u32(&body, MRPC_A_KEYSET_KIND, kind);
	a = ask(cmd, false, &set_keyset, &body);
	if (a.err)
		fprintf(stderr, "mrpc: the set '%s' could not be %s: %s\n", name, what, a.why);
	else if (!options.json)
		printf("set %s: %s\n", name, what);
	free(a.why);
	json_object_put(a.array);
	body_free(&body);
	return !a.err;
}

/* Those that the kernel has and the file does not. */
static struct body other_keys(const char *name, uint32_t kind, struct json_object *list)
{
	struct body have = keyset_keys(name), others = { };
	struct json_object *wanted = json_object_new_object(), *key;
	struct nlattr *nla;
	size_t i, at;

	for (i = 0; i < json_object_array_length(list); i++)
		json_object_object_add(wanted, json_object_to_json_string(
				       json_object_array_get_idx(list, i)), NULL);
	for (at = 0; at < have.len; at += NLA_ALIGN(nla->nla_len)) {
		nla = (void *)(have.data + at);
		key = key_json(kind, nla_data(nla), nla_len(nla));
		if (!json_object_object_get_ex(wanted, json_object_to_json_string(key), NULL))
			body_put(&others, MRPC_A_KEYSET_KEY, nla_data(nla), nla_len(nla));
		json_object_put(key);
	}
	json_object_put(wanted);
	body_free(&have);
	return others;
}

static void restore_keys(const char *name, uint32_t kind, struct json_object *list, bool exact)
{
	struct body keys = { }, others = { };
	size_t i;

	for (i = 0; i < json_object_array_length(list); i++)
		if (!key_put_json(&keys, kind, json_object_array_get_idx(list, i)))
			fail("the file has a key of '%s' that is none: %s", name,
			     json_object_to_json_string(json_object_array_get_idx(list, i)));
	if (exact)
		others = other_keys(name, kind, list);
	keyset_send(MRPC_CMD_KEYSET_INSERT, name, &keys);
	keyset_send(MRPC_CMD_KEYSET_REMOVE, name, &others);
	body_free(&keys);
	body_free(&others);
}

/**
 * keyset_restore() - make sets as a file has them, before the engines whose rules need them
 * @sets: what keyset_saved() has made
 * @exact: keys that the file does not have go
 *
 * Return: false if one could not be restored; it has been said why.
 */
bool keyset_restore(struct json_object *sets, bool exact)
{
	struct json_object *now = keyset_array(), *set, *have, *list;
	const char *name;
	bool ok = true;
	size_t i;

	for (i = 0; i < json_object_array_length(sets); i++) {
		set = json_object_array_get_idx(sets, i);
		name = string_at(set, "name");
		list = json_at(set, "keys");
		if (!name || !string_at(set, "kind") || !json_object_is_type(list, json_type_array))
			fail("a set of the file has no name, kind or keys");
		have = keyset_find(now, name);
		if (have && keyset_kind(have) != keyset_kind(set)) {
			fprintf(stderr, "mrpc: the set '%s' has keys of another kind: destroy it and restore again\n",
				name);
			ok = false;
		} else if (have || request(MRPC_CMD_KEYSET_NEW, name, keyset_kind(set), "made")) {
			restore_keys(name, keyset_kind(set), list, exact);
		} else {
			ok = false;
		}
	}
	json_object_put(now);
	return ok;
}

/* Those that the file does not have, once no rules refer to them. */
bool keyset_remove_others(struct json_object *sets)
{
	struct json_object *now = keyset_array();
	bool ok = true;
	size_t i;

	for (i = 0; i < json_object_array_length(now); i++) {
		const char *name = string_at(json_object_array_get_idx(now, i), "name");

		if (!keyset_find(sets, name))
			ok &= request(MRPC_CMD_KEYSET_DEL, name, 0, "removed");
	}
	json_object_put(now);
	return ok;
}
