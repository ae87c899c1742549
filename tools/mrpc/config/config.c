// SPDX-License-Identifier: GPL-2.0
/*
 * The engines of a network namespace in a file, and back: what 'config save' writes
 * is JSON, an array of engines from the application to the wire, with what
 * the operator has said of them, the sets of keys that their rules may need, the
 * egress domains, and the object files of the policies that these use. 'config restore' makes that so, and changes nothing that is so
 * already.
 */
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>
#include <linux/mrpc_netlink.h>

#include "cli/file.h"
#include "cli/help.h"
#include "cli/options.h"
#include "cli/util.h"
#include "cli/words.h"
#include "config/config.h"
#include "config/file_name.h"
#include "engine/egress_config.h"
#include "engine/find.h"
#include "engine/params.h"
#include "engine/scope.h"
#include "nl/body.h"
#include "nl/nl.h"
#include "nl/sets.h"
#include "policy/config.h"
#include "rules/keyset_config.h"
#include "show/json.h"
#include "show/print.h"

#define FILE_MAX	(512 << 20)

/* -- save ------------------------------------------------------------------------------ */

/* What the operator has given, as numbers and texts. */
static struct json_object *saved_values(struct json_object *values)
{
	struct json_object *saved = json_object_new_object(), *plain;

	if (!values)
		return saved;
	json_object_object_foreach(values, name, value) {
		if (!json_at(value, "given"))
			continue;
		plain = json_at(value, "text") ?: json_at(value, "data") ?: json_at(value, "num");
		if (plain)
			json_object_object_add(saved, name, json_object_get(plain));
	}
	return saved;
}

static struct json_object *saved_engine(struct json_object *e)
{
	struct json_object *saved = json_object_new_object();
	struct json_object *scope = portable_scope(json_at(e, "scope"));

	if (!scope) {
		fprintf(stderr, "mrpc: '%s' is not saved: its scope will mean nothing after the next boot\n",
			string_at(e, "name"));
		return NULL;
	}
	json_object_object_add(saved, "name", json_object_get(json_at(e, "name")));
	json_object_object_add(saved, "type", json_object_get(json_at(e, "type")));
	json_object_object_add(saved, "version", json_object_get(json_at(e, "version")));
	json_object_object_add(saved, "scope", scope);
	json_object_object_add(saved, "values", saved_values(json_at(e, "values")));
	return saved;
}

/* Changes in progress are not kept: what an engine was before them is. */
static struct json_object *all_saved(void)
{
	struct json_object *array = engine_array(), *saved = json_object_new_array(), *e, *one;
	size_t i;

	for (i = 0; i < json_object_array_length(array); i++) {
		e = json_object_array_get_idx(array, i);
		if (json_at(e, "adding")) {
			fprintf(stderr, "mrpc: '%s' is not saved: it is being added\n",
				string_at(e, "name"));
			continue;
		}
		e = engine_get(string_at(e, "name"));
		one = saved_engine(e);
		if (one)
			json_object_array_add(saved, one);
		json_object_put(e);
	}
	json_object_put(array);
	return saved;
}

static void add_name(struct json_object *names, const char *name)
{
	if (name)
		json_object_object_add(names, name, NULL);
}

/* All that may be the name of a policy: an engine's type, what chooses for it, a discipline. */
static struct json_object *policy_names(struct json_object *engines, struct json_object *domains)
{
	struct json_object *names = json_object_new_object(), *one;
	size_t i;

	for (i = 0; i < json_object_array_length(engines); i++) {
		one = json_object_array_get_idx(engines, i);
		add_name(names, string_at(one, "type"));
		add_name(names, string_at(one, "values.chooser"));
	}
	for (i = 0; i < json_object_array_length(domains); i++)
		add_name(names, string_at(json_object_array_get_idx(domains, i), "discipline"));
	return names;
}

static int run_save(struct args *args)
{
	const char *name = next_word(args), *json;
	struct json_object *all = json_object_new_object(), *names;
	char *text;

	no_more_words(args);
	if (!name)
		name = config_file_to_write();
	json_object_object_add(all, "sets", keyset_saved());
	json_object_object_add(all, "egress", domains_saved());
	json_object_object_add(all, "engines", all_saved());
	names = policy_names(json_at(all, "engines"), json_at(all, "egress"));
	json_object_object_add(all, "policies", policies_saved(names));
	json_object_put(names);
	json = json_object_to_json_string_ext(all, JSON_C_TO_STRING_PRETTY |
					      JSON_C_TO_STRING_SPACED |
					      JSON_C_TO_STRING_NOSLASHESCAPE);
	text = text_printf("%s\n", json);
	if (!strcmp(name, "-"))
		fputs(text, stdout);
	else
		write_file(name, text, strlen(text));
	free(text);
	json_object_put(all);
	return 0;
}

/* -- restore ---------------------------------------------------------------------------- */

/* An older file wrote none. */
static void need_array(struct json_object *all, const char *key, const char *name)
{
	if (!json_at(all, key))
		json_object_object_add(all, key, json_object_new_array());
	if (!json_object_is_type(json_at(all, key), json_type_array))
		fail("'%s' has \"%s\" that are none", name, key);
}

static struct json_object *read_config(const char *name)
{
	struct json_tokener *tok = json_tokener_new();
	struct json_object *all;
	size_t len;
	char *text = read_file(name, FILE_MAX, &len);

	if (!tok)
		fail("out of memory");
	all = json_tokener_parse_ex(tok, text, len);
	if (!all)
		fail("'%s' is not JSON: at byte %zu: %s", name, json_tokener_get_parse_end(tok),
		     json_tokener_error_desc(json_tokener_get_error(tok)));
	json_tokener_free(tok);
	free(text);
	if (!json_object_is_type(json_at(all, "engines"), json_type_array))
		fail("'%s' has no \"engines\": 'mrpc config save' did not write it", name);
	need_array(all, "sets", name);
	need_array(all, "egress", name);
	need_array(all, "policies", name);
	return all;
}

static struct json_object *find_engine(struct json_object *array, const char *name, size_t *at)
{
	size_t i;

	for (i = 0; i < json_object_array_length(array); i++) {
		struct json_object *e = json_object_array_get_idx(array, i);

		if (!strcmp(string_at(e, "name") ?: "", name)) {
			*at = i;
			return e;
		}
	}
	return NULL;
}

static void put_values(struct body *b, struct json_object *type, struct json_object *values)
{
	if (!values)
		return;
	json_object_object_foreach(values, name, value)
		put_param_json(b, type, name, value);
}

/* Values that the engine was given, and that the file does not have, go back to the default. */
static void put_defaults(struct body *b, struct json_object *type, struct json_object *now,
			 struct json_object *values)
{
	json_object_object_foreach(now, name, value) {
		(void)value;
		if (!json_object_object_get_ex(values, name, NULL))
			put_param_json(b, type, name, NULL);
	}
}

/* Return: whether it went well; else it has been said why. */
static bool change(int cmd, const char *name, const char *what, const struct body *body)
{
	struct answer a = ask(cmd, false, &set_engine, body);
	bool ok = !a.err;

	if (!ok)
		fprintf(stderr, "mrpc: '%s' could not be %s: %s\n", name, what, a.why);
	else if (!options.json)
		printf("%s: %s\n", name, what);
	free(a.why);
	json_object_put(a.array);
	return ok;
}

static bool add_engine(struct json_object *e, struct json_object *type, const char *after,
		       const char *before)
{
	struct body body = { };
	bool ok;

	body_text(&body, MRPC_A_ENGINE_NAME, string_at(e, "name"));
	body_text(&body, MRPC_A_ENGINE_TYPE, string_at(e, "type"));
	body_u32(&body, MRPC_A_ENGINE_VERSION, number_at(type, "version"));
	put_scope(&body, json_at(e, "scope"));
	put_values(&body, type, json_at(e, "values"));
	if (after)
		body_text(&body, MRPC_A_ENGINE_AFTER, after);
	else if (before)
		body_text(&body, MRPC_A_ENGINE_BEFORE, before);
	ok = change(MRPC_CMD_ENGINE_ADD, string_at(e, "name"), "added", &body);
	body_free(&body);
	return ok;
}

static bool del_engine(const char *name)
{
	struct body body = { };
	bool ok;

	body_text(&body, MRPC_A_ENGINE_NAME, name);
	ok = change(MRPC_CMD_ENGINE_DEL, name, "removed", &body);
	body_free(&body);
	return ok;
}

/* The engine is there, in the same scope: give it the type and values of the file. */
static bool set_engine_to(struct json_object *e, struct json_object *now, struct json_object *type)
{
	struct json_object *values = json_at(e, "values"), *have = saved_values(json_at(now, "values"));
	bool same_type = !strcmp(string_at(e, "type"), string_at(now, "type") ?: "");
	bool same_version = number_at(type, "version") == number_at(now, "version");
	struct body body = { };
	bool ok = true;

	if (same_type && same_version && json_object_equal(values, have))
		goto out;
	body_text(&body, MRPC_A_ENGINE_NAME, string_at(e, "name"));
	body_text(&body, MRPC_A_ENGINE_TYPE, string_at(e, "type"));
	body_u32(&body, MRPC_A_ENGINE_VERSION, number_at(type, "version"));
	put_values(&body, type, values);
	if (same_type)
		put_defaults(&body, type, have, values);
	ok = change(MRPC_CMD_ENGINE_SET, string_at(e, "name"), "changed", &body);
	body_free(&body);
out:
	json_object_put(have);
	return ok;
}

static bool same_scope(struct json_object *e, struct json_object *now)
{
	struct json_object *scope = portable_scope(json_at(now, "scope"));
	bool same = scope && json_object_equal(scope, json_at(e, "scope"));

	json_object_put(scope);
	return same;
}

/* The newest version that there is does, if the one of the file is not to be had. */
static struct json_object *type_for(struct json_object *e)
{
	struct body body = { };
	struct json_object *type = NULL;
	struct answer a;

	body_text(&body, MRPC_A_ENGINE_TYPE_NAME, string_at(e, "type"));
	body_u32(&body, MRPC_A_ENGINE_TYPE_VERSION, number_at(e, "version"));
	a = ask(MRPC_CMD_ENGINE_TYPE_GET, false, &set_type, &body);
	if (a.err)
		fprintf(stderr, "mrpc: '%s' could not be restored: %s\n", string_at(e, "name"), a.why);
	else
		type = json_object_get(json_object_array_get_idx(a.array, 0));
	free(a.why);
	json_object_put(a.array);
	body_free(&body);
	return type;
}

/**
 * struct restore - what is being restored
 * @now: the engines that are there, as they were at the beginning
 * @last: the engine before, of the file, that is there; or NULL
 * @last_at: its place in @now
 * @first: the engine that came first in @now, or NULL
 */
struct restore {
	struct json_object *now;
	const char *last;
	size_t last_at;
	const char *first;
};

static bool restore_engine(struct restore *r, struct json_object *e)
{
	const char *name = string_at(e, "name");
	struct json_object *now, *type;
	size_t at = 0;
	bool ok;

	if (!name || !string_at(e, "type") || !number_at(e, "version"))
		fail("an engine of the file has no name, type or version");
	type = type_for(e);
	if (!type)
		return false;
	now = find_engine(r->now, name, &at);
	if (now && r->last && at < r->last_at) {
		fprintf(stderr, "mrpc: '%s' stands before '%s' and should stand behind it: remove one of them and restore again\n",
			name, r->last);
		json_object_put(type);
		return false;
	}
	if (now && !same_scope(e, now)) {
		if (!del_engine(name)) {
			json_object_put(type);
			return false;
		}
		now = NULL;
	}
	if (now) {
		now = engine_get(name);
		ok = set_engine_to(e, now, type);
		json_object_put(now);
		r->last_at = at;
	} else {
		ok = add_engine(e, type, r->last, r->first);
	}
	if (ok)
		r->last = name;
	json_object_put(type);
	return ok;
}

/* Those that the file does not have go first. */
static bool remove_others(struct json_object *now, struct json_object *engines)
{
	bool ok = true;
	size_t i, at;

	for (i = 0; i < json_object_array_length(now); i++) {
		const char *name = string_at(json_object_array_get_idx(now, i), "name");

		if (!find_engine(engines, name, &at))
			ok &= del_engine(name);
	}
	return ok;
}

static int run_restore(struct args *args)
{
	const char *word = next_word(args);
	bool exact = word && !strcmp(word, "exact"), ok = true;
	const char *name = exact ? next_word(args) : word;
	struct json_object *all, *engines;
	struct restore r = { };
	size_t i;

	no_more_words(args);
	if (!name)
		name = config_file();
	all = read_config(name);
	engines = json_at(all, "engines");
	ok = keyset_restore(json_at(all, "sets"), exact);
	ok &= policies_restore(json_at(all, "policies"));
	/* Before the engines: with the first call that one ranks or gives to a tenant the
	 * order is what it was.
	 */
	ok &= domains_restore(json_at(all, "egress"), exact);
	r.now = engine_array();
	if (exact) {
		ok &= remove_others(r.now, engines);
		json_object_put(r.now);
		r.now = engine_array();
	}
	if (json_object_array_length(r.now))
		r.first = string_at(json_object_array_get_idx(r.now, 0), "name");
	for (i = 0; i < json_object_array_length(engines); i++)
		ok &= restore_engine(&r, json_object_array_get_idx(engines, i));
	if (exact)
		ok &= keyset_remove_others(json_at(all, "sets"));
	if (options.json)
		print_json(all);
	json_object_put(r.now);
	json_object_put(all);
	return ok ? 0 : EXIT_FAILED;
}

int do_config(struct args *args)
{
	static const struct word commands[] = {
		{ "save", run_save }, { "restore", run_restore }, { "help" }, { }
	};

	return run_command(args, "config", commands, "help");
}
