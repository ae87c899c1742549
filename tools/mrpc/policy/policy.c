// SPDX-License-Identifier: GPL-2.0
/* Policies in eBPF: showing and detaching them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <json-c/json.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/mrpc_netlink.h>
#include <linux/mrpc_policy.h>

#include "cli/help.h"
#include "cli/options.h"
#include "cli/util.h"
#include "cli/words.h"
#include "engine/params.h"
#include "nl/attrs.h"
#include "nl/body.h"
#include "nl/decode.h"
#include "nl/nl.h"
#include "nl/sets.h"
#include "policy/load.h"
#include "policy/log.h"
#include "policy/map.h"
#include "policy/name.h"
#include "policy/pin.h"
#include "policy/policy.h"
#include "policy/type.h"
#include "show/json.h"
#include "show/print.h"

/* -- policies of the kernel --------------------------------------------------------- */

static bool is_name(const char *name)
{
	size_t len = strlen(name);

	return len < MRPC_POLICY_NAME &&
	       strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_-") == len;
}

/* -- a policy's BPF objects ----------------------------------------------------------------- */

/* A policy as it is shown. */
enum {
	P_NAME = 1, P_VERSION, P_TYPE, P_STATE, P_GENERATION, P_EVICTED, P_WHY, P_USERS, P_ELSEWHERE,
	P_HOOKS, P_FLAGS, P_STORAGE, P_PERIOD, P_FIELDS, P_PINNED, P_LINK, P_PROGRAMS, P_MAPS,
	P_RUNS, P_MEAN, P_REJECTED, P_DELAYED, P_ERRORS, P_FALLBACKS, P_COUNTERS,
};

static const struct attr programs[] = { { }, NUMBER("id"), TEXT("hook"), TEXT("name") };
static const struct set set_program = SET(programs);

static const struct attr maps[] = {
	{ }, NUMBER("id"), TEXT("name"), TEXT("type"), NUMBER("entries"),
};
static const struct set set_map = SET(maps);

static const struct attr policy[] = {
	[P_NAME] = TEXT("name"),
	[P_VERSION] = NUMBER("version"),
	[P_TYPE] = TEXT("type"),
	[P_STATE] = TEXT("state"),
	[P_GENERATION] = NUMBER("generation"),
	[P_EVICTED] = NUMBER("evicted"),
	[P_WHY] = TEXT("why"),
	[P_USERS] = WORDS("users"),
	[P_ELSEWHERE] = NUMBER("elsewhere"),
	[P_HOOKS] = WORDS("hooks"),
	[P_FLAGS] = WORDS("flags"),
	[P_STORAGE] = BYTES("storage"),
	[P_PERIOD] = TIME("period_ns"),
	[P_FIELDS] = WORDS("fields"),
	[P_PINNED] = TEXT("pinned"),
	[P_LINK] = NUMBER("link"),
	[P_PROGRAMS] = LIST("programs", &set_program),
	[P_MAPS] = LIST("maps", &set_map),
	[P_RUNS] = NUMBER("runs"),
	[P_MEAN] = TIME("mean_ns"),
	[P_REJECTED] = NUMBER("rejected"),
	[P_DELAYED] = NUMBER("delayed"),
	[P_ERRORS] = NUMBER("errors"),
	[P_FALLBACKS] = NUMBER("fallbacks"),
	[P_COUNTERS] = MAP("counters", NULL),
};
static const struct set set_policy_shown = SET(policy);

static void add_number(struct json_object *object, const char *key, uint64_t value)
{
	json_object_object_add(object, key, json_object_new_uint64(value));
}

static void add_text(struct json_object *object, const char *key, const char *text)
{
	char *clean = clean_text(text, strlen(text));

	json_object_object_add(object, key, json_object_new_string(clean));
	free(clean);
}

static void add_map(struct json_object *array, uint32_t id)
{
	struct bpf_map_info info = { };
	uint32_t len = sizeof(info);
	struct json_object *object;
	const char *type;
	int fd = bpf_map_get_fd_by_id(id);

	if (fd < 0)
		return;
	if (!bpf_obj_get_info_by_fd(fd, &info, &len)) {
		object = json_object_new_object();
		type = libbpf_bpf_map_type_str(info.type);
		add_number(object, "id", id);
		add_text(object, "name", info.name);
		add_text(object, "type", type ?: "?");
		add_number(object, "entries", info.max_entries);
		json_object_array_add(array, object);
	}
	close(fd);
}

/* Adds the maps of a program, without those that are already in @array. */
static void add_maps(struct json_object *array, const uint32_t *ids, uint32_t nr)
{
	size_t k;
	uint32_t i;

	for (i = 0; i < nr; i++) {
		for (k = 0; k < json_object_array_length(array); k++)
			if (number_at(json_object_array_get_idx(array, k), "id") == ids[i])
				break;
		if (k == json_object_array_length(array))
			add_map(array, ids[i]);
	}
}

static void add_program(struct json_object *programs, struct json_object *maps, const char *hook,
			uint32_t id)
{
	uint32_t ids[64], len = sizeof(struct bpf_prog_info);
	struct bpf_prog_info info = {
		.map_ids = (uintptr_t)ids, .nr_map_ids = sizeof(ids) / sizeof(ids[0]),
	};
	struct json_object *object;
	int fd = bpf_prog_get_fd_by_id(id);

	if (fd < 0)
		return;
	if (!bpf_obj_get_info_by_fd(fd, &info, &len)) {
		object = json_object_new_object();
		add_number(object, "id", id);
		add_text(object, "hook", hook);
		add_text(object, "name", info.name);
		json_object_array_add(programs, object);
		add_maps(maps, ids, info.nr_map_ids > 64 ? 64 : info.nr_map_ids);
	}
	close(fd);
}

/*
 * Reads the kernel's copy of the struct of a policy. It is the value of the policy's map, behind a
 * head of one cache line. Functions are ids of programs. Return: false: it cannot be read.
 */
static bool read_ops(int fd, const struct policy_type *type, uint64_t hooks[MAX_HOOKS])
{
	struct bpf_map_info info = { };
	uint32_t len = sizeof(info), key = 0;
	uint8_t *value;
	size_t line;
	bool ok;

	if (bpf_obj_get_info_by_fd(fd, &info, &len))
		return false;
	for (line = 32; line < info.value_size; line *= 2)
		if (line + (type->size + line - 1) / line * line == info.value_size)
			break;
	if (line >= info.value_size)
		return false;
	value = malloc(info.value_size);
	ok = value && !bpf_map_lookup_elem(fd, &key, value);
	if (ok)
		memcpy(hooks, value + line, type->nr_hooks * sizeof(*hooks));
	free(value);
	return ok;
}

/* Without rights in the initial user namespace, the values that need them are left out. */
static void add_bpf(struct json_object *object, const struct policy_type *type, uint32_t link)
{
	struct json_object *programs, *maps;
	int fd = bpf_link_get_fd_by_id(link), map = -1;
	struct ops_link_info info;
	uint64_t hooks[MAX_HOOKS];
	size_t i;

	if (fd >= 0 && link_info(fd, &info) && info.map_id)
		map = bpf_map_get_fd_by_id(info.map_id);
	if (map >= 0 && read_ops(map, type, hooks)) {
		programs = json_object_new_array();
		maps = json_object_new_array();
		for (i = 0; i < type->nr_hooks; i++)
			if (hooks[i])
				add_program(programs, maps, type->hooks[i], hooks[i]);
		add_map(maps, info.map_id);
		json_object_object_add(object, "programs", programs);
		json_object_object_add(object, "maps", maps);
	}
	if (map >= 0)
		close(map);
	if (fd >= 0)
		close(fd);
}

/* -- show ----------------------------------------------------------------------------------- */

/* Gets the counters of one engine; NULL: it was just deleted. */
static struct json_object *get_engine(const char *name)
{
	struct json_object *engine;
	struct body body = { };
	struct answer a;

	body_text(&body, MRPC_A_ENGINE_NAME, name);
	a = ask(MRPC_CMD_ENGINE_GET, false, &set_engine, &body);
	body_free(&body);
	engine = a.err ? NULL : json_object_get(json_object_array_get_idx(a.array, 0));
	json_object_put(a.array);
	free(a.why);
	return engine;
}

static void add_to(struct json_object *sum, struct json_object *counters)
{
	json_object_object_foreach(counters, key, value)
		if (json_object_is_type(value, json_type_int))
			add_number(sum, key, number_at(sum, key) + json_object_get_uint64(value));
}

/* Sum of the counters of the egress domains that use the policy. */
static struct json_object *sum_domains(const char *name)
{
	struct json_object *domains = ask_all(MRPC_CMD_EGRESS_GET, &set_egress, NULL);
	struct json_object *sum = json_object_new_object(), *domain;
	size_t i;

	for (i = 0; i < json_object_array_length(domains); i++) {
		domain = json_object_array_get_idx(domains, i);
		if (!strcmp(string_at(domain, "discipline") ?: "", name))
			add_to(sum, domain);
	}
	json_object_put(domains);
	return sum;
}

/* Sum of the counters of the engines that use the policy. */
static struct json_object *sum_counters(struct json_object *users)
{
	struct json_object *sum = json_object_new_object(), *engine, *counters;
	size_t i;

	for (i = 0; users && i < json_object_array_length(users); i++) {
		engine = get_engine(json_object_get_string(json_object_array_get_idx(users, i)));
		counters = engine ? json_at(engine, "counters") : NULL;
		if (counters)
			add_to(sum, counters);
		json_object_put(engine);
	}
	return sum;
}

static void add_counters(struct json_object *object, struct json_object *type)
{
	static const char *const common[] = {
		"runs", "rejected", "delayed", "errors", "fallbacks",
	};
	bool sched = !strcmp(string_at(type, "policy.type") ?: "", "sched");
	struct json_object *sum = sched ? sum_domains(string_at(type, "name")) :
					  sum_counters(json_at(type, "users"));
	struct json_object *own = json_at(type, "policy.counters");
	struct json_object *counters = json_object_new_object();
	uint64_t measured = number_at(sum, "measured");
	size_t i;

	for (i = 0; i < sizeof(common) / sizeof(common[0]); i++)
		add_number(object, common[i], number_at(sum, common[i]));
	if (measured)
		add_number(object, "mean_ns", number_at(sum, "measured_ns") / measured);
	for (i = 0; own && i < json_object_array_length(own); i++) {
		const char *name = json_object_get_string(json_object_array_get_idx(own, i));

		add_number(counters, name, number_at(sum, name));
	}
	json_object_object_add(object, "counters", counters);
	json_object_put(sum);
}

static const struct policy_type *type_named(const char *name)
{
	const struct policy_type *type;

	for (type = policy_types; name && type->name; type++)
		if (!strcmp(type->name, name))
			return type;
	return NULL;	/* of a newer kernel */
}

/* Makes the shown form of a policy from its engine type. */
static struct json_object *json_shown(struct json_object *type)
{
	struct json_object *object = json_object_new_object(), *known = json_at(type, "policy");
	const struct policy_type *ops = type_named(string_at(known, "type"));
	struct json_object *users = json_at(type, "users");
	const char *name = string_at(type, "name");
	uint32_t version = number_at(type, "version");
	char *pinned = pin_path(name, version, NULL);

	add_text(object, "name", name);
	add_number(object, "version", version);
	json_object_object_foreach(known, key, value)
		if (strcmp(key, "counters"))
			json_object_object_add(object, key, json_object_get(value));
	json_object_object_add(object, "users", users ? json_object_get(users) :
			       json_object_new_array());
	if (pin_state(name, version) == PIN_ALIVE)
		add_text(object, "pinned", pinned);
	if (ops)
		add_bpf(object, ops, number_at(object, "link"));
	add_counters(object, type);
	free(pinned);
	return object;
}

/* Policies of that name and version; NULL and 0: of any. */
static struct json_object *shown_array(const char *name, uint32_t version)
{
	struct json_object *types = ask_all(MRPC_CMD_ENGINE_TYPE_GET, &set_type, NULL);
	struct json_object *array = json_object_new_array();
	size_t i;

	for (i = 0; i < json_object_array_length(types); i++) {
		struct json_object *type = json_object_array_get_idx(types, i);

		if (!json_at(type, "policy") || (name && strcmp(string_at(type, "name"), name)) ||
		    (version && number_at(type, "version") != version))
			continue;
		json_object_array_add(array, json_shown(type));
	}
	json_object_put(types);
	return array;
}

static char *shown_users(struct json_object *shown)
{
	char *here = text_joined(json_at(shown, "users"), ",");
	uint64_t elsewhere = number_at(shown, "elsewhere");

	if (!elsewhere)
		return *here ? here : text_printf("-");
	return text_printf("%s%s(%llu elsewhere)", here, *here ? "," : "",
			   (unsigned long long)elsewhere);
}

static char *shown_pinned(struct json_object *shown)
{
	return text_printf(json_at(shown, "pinned") ? "yes" : "no");
}

static const struct column columns[] = {
	{ "POLICY", "name" },
	{ "VERSION", "version" },
	{ "TYPE", "type" },
	{ "STATE", "state" },
	{ "GENERATION", "generation" },
	{ "EVICTED", "evicted" },
	{ "HOOKS", "hooks" },
	{ "USERS", .text = shown_users },
	{ "RUNS", "runs" },
	{ "MEAN", "mean_ns" },
	{ "REJECTED", "rejected" },
	{ "DELAYED", "delayed", .stats = true },
	{ "ERRORS", "errors", .stats = true },
	{ "FALLBACKS", "fallbacks", .stats = true },
	{ "PINNED", .text = shown_pinned },
	{ "WHY", "why", .stats = true },
	{ }
};

static void print_shown(struct json_object *array)
{
	size_t i;

	for (i = 0; i < json_object_array_length(array); i++) {
		printf("%spolicy:\n", i ? "\n" : "");
		print_block(&set_policy_shown, json_object_array_get_idx(array, i), 4);
	}
}

/* Does not return if there is none, or if there are several and @one is set. */
static struct json_object *need_shown(const char *word, bool one)
{
	struct json_object *array;
	uint32_t version;
	char *name;

	split_type(word, &name, &version);
	if (!is_name(name))
		usage("'%s' is no name of a policy: it must be of a-z, 0-9, _ and -", name);
	array = shown_array(name, version);
	if (!json_object_array_length(array) && policy_find(name, version ?: 1))
		fail("'%s' is an engine type of a module, not a policy; 'mrpc engine type show "
		     "%s' shows it",
		     word, word);
	if (!json_object_array_length(array) && !one)
		fail("there is no policy '%s'; 'mrpc policy load' loads one", word);
	if (json_object_array_length(array) > 1 && one)
		fail("'%s' has several versions: say which, as %s@%s", name, name,
		     string_at(json_object_array_get_idx(array, 0), "version"));
	free(name);
	return array;
}

static int run_show(struct args *args)
{
	const char *word = next_word(args);
	struct json_object *array;

	no_more_words(args);
	array = word ? need_shown(word, false) : shown_array(NULL, 0);
	if (options.json)
		print_json(array);
	else if (word)
		print_shown(array);
	else
		print_table(&set_policy_shown, columns, array);
	json_object_put(array);
	return 0;
}

/* -- unload --------------------------------------------------------------------------------- */

/* What an engine does without programs: a text from its parameters. */
static const char *word_of(const char *name, const char *param, const char *usual)
{
	struct json_object *engine = get_engine(name);

	return engine ? string_at(engine, param) ?: usual : usual;
}

static const char *fallback_of(const char *name)
{
	return word_of(name, "values.fallback.text", "reject");
}

static bool is_of(struct json_object *shown, const char *type)
{
	return !strcmp(string_at(shown, "type") ?: "", type);
}

/* Text for an engine or domain that uses the policy and would lose it. */
static char *fate_of(struct json_object *shown, const char *name)
{
	if (is_of(shown, "sched"))
		return text_printf("which would go by priority");
	if (is_of(shown, "lb"))
		return text_printf("which would go by its own policy, %s",
				   word_of(name, "values.policy.text", "wrr"));
	return text_printf("whose messages would %s",
			   strcmp(fallback_of(name), "pass") ? "be rejected" : "pass");
}

static void refuse_used(struct json_object *shown, const char *word)
{
	struct json_object *users = json_at(shown, "users");
	uint64_t elsewhere = number_at(shown, "elsewhere");
	size_t nr = json_object_array_length(users), i;
	const char *name;
	char *text = NULL;
	size_t len = 0;
	FILE *out;

	if (!nr && !elsewhere)
		return;
	out = open_text(&text, &len);
	for (i = 0; i < nr; i++) {
		name = json_object_get_string(json_object_array_get_idx(users, i));
		fprintf(out, "%s'%s' (%s)", i ? ", " : "", name, fate_of(shown, name));
	}
	if (elsewhere)
		fprintf(out, "%s%llu in other network namespaces", nr ? " and " : "",
			(unsigned long long)elsewhere);
	fclose(out);
	if (is_of(shown, "sched"))
		fail("egress domains go by the policy '%s': %s; give them another discipline "
		     "with 'mrpc egress set', or say 'force'", word, text);
	fail("the policy '%s' has engines: %s; remove them with 'mrpc engine del', or say 'force'",
	     word, text);
}

/* Return: 0 or a negative errno. */
static int detach(uint32_t link)
{
	int fd = bpf_link_get_fd_by_id(link), err;

	if (fd < 0)
		return fd == -ENOENT ? 0 : fd;
	err = bpf_link_detach(fd);
	close(fd);
	return err;
}

static void say_fate(struct json_object *shown, const char *name)
{
	if (is_of(shown, "sched"))
		printf("%s: goes by priority from now on\n", name);
	else if (is_of(shown, "lb"))
		printf("engine %s: goes by its own policy from now on (%s)\n", name,
		       word_of(name, "values.policy.text", "wrr"));
	else
		printf("engine %s: messages %s from now on (fallback %s)\n", name,
		       strcmp(fallback_of(name), "pass") ? "are rejected" : "pass",
		       fallback_of(name));
}

static void say_unloaded(const char *name, uint32_t version, struct json_object *shown)
{
	struct json_object *users = shown ? json_at(shown, "users") : NULL;
	struct json_object *object, *array;
	size_t i;

	if (options.json) {
		array = json_object_new_array();
		object = json_object_new_object();
		add_text(object, "name", name);
		add_number(object, "version", version);
		json_object_object_add(object, "users", users ? json_object_get(users) :
				       json_object_new_array());
		json_object_array_add(array, object);
		print_json(array);
		json_object_put(array);
		return;
	}
	printf("%s unloaded\n", policy_label(name, version));
	for (i = 0; users && i < json_object_array_length(users); i++) {
		name = json_object_get_string(json_object_array_get_idx(users, i));
		say_fate(shown, name);
	}
}

/* The kernel has no such policy: it was evicted, and pins may be left. */
static int unload_pins(const char *word)
{
	uint32_t version;
	char *name;

	split_type(word, &name, &version);
	version = version ?: 1;
	if (pin_state(name, version) == PIN_NONE)
		fail("there is no policy '%s'", word);
	pin_remove(name, version);
	say_unloaded(name, version, NULL);
	return 0;
}

static int run_unload(struct args *args)
{
	static const struct word words[] = { { "force" }, { } };
	const char *word = need_word(args, "the name of the policy"), *name;
	struct json_object *array, *shown;
	bool force = peek_word(args);
	uint32_t version;
	int err = 0;

	if (force)
		find_word(words, next_word(args), "an option");
	no_more_words(args);
	array = need_shown(word, true);
	if (!json_object_array_length(array))
		return unload_pins(word);
	shown = json_object_array_get_idx(array, 0);
	name = string_at(shown, "name");
	version = number_at(shown, "version");
	if (!force)
		refuse_used(shown, word);
	if (json_at(shown, "link"))
		err = detach(number_at(shown, "link"));
	if (err)
		fail("the policy '%s' cannot be detached: %s", word,
		     err == -EPERM ? explain_words(strerror(EPERM)) : strerror(-err));
	pin_remove(name, version);
	say_unloaded(name, version, shown);
	json_object_put(array);
	return 0;
}

int do_policy(struct args *args)
{
	static const struct word commands[] = {
		{ "show", run_show, "list" },
		{ "load", policy_load },
		{ "replace", policy_replace },
		{ "unload", run_unload },
		{ "map", policy_map },
		{ "help" },
		{ }
	};

	return run_command(args, "policy", commands, "show");
}
