// SPDX-License-Identifier: GPL-2.0
/*
 * mrpc plan: what takes a change back, from what there was before it.
 */
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "cli/util.h"
#include "plan/egress.h"
#include "plan/file.h"
#include "plan/run.h"
#include "plan/undo.h"
#include "plan/words.h"
#include "show/json.h"
#include "show/values.h"

/* -- what there is ------------------------------------------------------------------------- */

/* The first object of what a command shows, or NULL and why. */
static struct json_object *ask_first(const struct host *h, struct command c, char **why)
{
	struct json_object *array = host_ask(h, &c, why), *first;

	if (!array)
		return NULL;
	first = json_object_is_type(array, json_type_array) ?
		json_object_get(json_object_array_get_idx(array, 0)) : NULL;
	json_object_put(array);
	if (!first)
		*why = text_printf("there is no such thing");
	return first;
}

static struct json_object *ask_engine(const struct host *h, const char *name, char **why)
{
	return ask_first(h, command("engine", "show", name, NULL), why);
}

static struct json_object *ask_runtime(const struct host *h, const char *name, char **why)
{
	return ask_first(h, command("runtime", "show", name, NULL), why);
}

/* -- engines --------------------------------------------------------------------------------- */

static bool is_place(const char *word)
{
	return !strcmp(word, "name") || !strcmp(word, "before") || !strcmp(word, "after") ||
	       !strcmp(word, "--step") || !strcmp(word, "--every") || !strcmp(word, "--abort-if");
}

static bool is_scope(const char *word)
{
	static const char *const words[] = {
		"service", "session", "pid", "uid", "cgroup", "datapath", "side"
	};
	size_t i;

	for (i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (!strcmp(word, words[i]))
			return true;
	return false;
}

/* What 'engine add' calls the new engine. */
static char *added_name(const struct command *run)
{
	int i = 3;

	while (i < run->nr) {
		if (!strcmp(run->words[i], "name") && i + 1 < run->nr)
			return text_printf("%s", run->words[i + 1]);
		if (!strcmp(run->words[i], "scope")) {
			for (i++; i + 1 < run->nr && is_scope(run->words[i]); i += 2)
				;
			continue;
		}
		i += 2;
	}
	return text_printf("%.*s", (int)strcspn(run->words[2], "@"), run->words[2]);
}

/* The engine that a command is about; to be freed. */
static char *engine_name(const struct command *run)
{
	return strcmp(run->words[1], "add") ? text_printf("%s", run->words[2]) : added_name(run);
}

static struct json_object *find_param(struct json_object *type, const char *name)
{
	struct json_object *params = json_at(type, "params");
	size_t i;

	for (i = 0; params && i < json_object_array_length(params); i++)
		if (!strcmp(string_at(json_object_array_get_idx(params, i), "name") ?: "", name))
			return json_object_array_get_idx(params, i);
	return NULL;
}

/* A value as the command line takes it; NULL: there is none, or it cannot be said in words. */
static char *value_word(struct json_object *type, const char *name, struct json_object *value)
{
	struct json_object *param = find_param(type, name), *text = json_at(value, "text");
	const char *kind = param ? string_at(param, "type") : "", *word;
	size_t len;

	if (text) {
		word = json_object_get_string(text);
		/* Rules end in an end of line. */
		for (len = strlen(word); len && word[len - 1] == '\n'; len--)
			;
		return text_printf("%.*s", (int)len, word);
	}
	if (!json_at(value, "num"))
		return NULL;
	if (!strcmp(kind, "bool"))
		return text_printf(number_at(value, "num") ? "on" : "off");
	return text_value(number_at(value, "num"), param ? string_at(param, "unit") : NULL);
}

static bool add_value(struct command *c, struct json_object *type, const char *name,
		      struct json_object *value, char **why)
{
	char *word = value_word(type, name, value);

	if (!word) {
		*why = text_printf("the present value of '%s' cannot be said in words", name);
		return false;
	}
	words_add(c, name);
	words_add(c, word);
	free(word);
	return true;
}

static struct json_object *ask_type(const struct host *h, struct json_object *engine, char **why)
{
	char *word = text_printf("%s@%s", string_at(engine, "type"), string_at(engine, "version"));
	struct json_object *type = ask_first(h, command("engine", "type", "show", word, NULL), why);

	free(word);
	return type;
}

/* Those that the operator has given. */
static bool add_given(struct command *c, struct json_object *type, struct json_object *engine,
		      char **why)
{
	struct json_object *values = json_at(engine, "values");

	if (!values)
		return true;
	json_object_object_foreach(values, name, value)
		if (json_at(value, "given") && !add_value(c, type, name, value, why))
			return false;
	return true;
}

static void add_scope(struct command *c, struct json_object *scope)
{
	if (!scope || !json_object_object_length(scope))
		return;
	words_add(c, "scope");
	json_object_object_foreach(scope, key, value) {
		if (json_object_is_type(value, json_type_array))
			value = json_object_array_get_idx(value, 0);
		words_add(c, key);
		words_add(c, json_object_get_string(value));
	}
}

/* Before which engine it stands; the last one is where one gets without a word. */
static bool add_place(const struct host *h, struct command *c, const char *name, char **why)
{
	struct command all = command("engine", "show", NULL);
	struct json_object *array = host_ask(h, &all, why), *next = NULL;
	size_t i;

	if (!array)
		return false;
	for (i = 0; i + 1 < json_object_array_length(array); i++)
		if (!strcmp(string_at(json_object_array_get_idx(array, i), "name") ?: "", name))
			next = json_object_array_get_idx(array, i + 1);
	if (next) {
		words_add(c, "before");
		words_add(c, string_at(next, "name"));
	}
	json_object_put(array);
	return true;
}

static struct command undo_del(const struct host *h, struct json_object *engine,
			       struct json_object *type, char **why)
{
	const char *name = string_at(engine, "name");
	char *word = text_printf("%s@%s", string_at(engine, "type"), string_at(engine, "version"));
	struct command c = command("engine", "add", word, "name", name, NULL);

	add_scope(&c, json_at(engine, "scope"));
	if (add_place(h, &c, name, why))
		add_given(&c, type, engine, why);
	free(word);
	return c;
}

static struct command undo_replace(struct json_object *engine, struct json_object *type, char **why)
{
	char *word = text_printf("%s@%s", string_at(engine, "type"), string_at(engine, "version"));
	struct command c = command("engine", "replace", string_at(engine, "name"), word, NULL);

	add_given(&c, type, engine, why);
	free(word);
	return c;
}

/* The parameters that the command sets, as they are now. */
static struct command undo_set(const struct command *run, struct json_object *engine,
			       struct json_object *type, char **why)
{
	struct command c = command("engine", "set", string_at(engine, "name"), NULL);
	struct json_object *values = json_at(engine, "values"), *value;
	int i;

	for (i = 3; i + 1 < run->nr; i += 2) {
		if (is_place(run->words[i]))
			continue;
		value = NULL;
		if (values)
			json_object_object_get_ex(values, run->words[i], &value);
		if (!value) {
			*why = text_printf("'%s' has no value of '%s' to go back to",
					   string_at(engine, "name"), run->words[i]);
			break;
		}
		if (!add_value(&c, type, run->words[i], value, why))
			break;
	}
	return c;
}

/* @engine: as it is; empty if it is not there. */
static struct command undo_engine(const struct host *h, const struct command *run,
				  enum inverse inverse, struct json_object *engine, char **why)
{
	struct json_object *type;
	struct command c = { };
	char *name;

	if (inverse == INVERSE_ADD) {
		name = engine_name(run);
		c = command("engine", "del", name, NULL);
		free(name);
		return c;
	}
	if (!json_at(engine, "name")) {
		*why = text_printf("there is no engine '%s'", run->words[2]);
		return c;
	}
	type = ask_type(h, engine, why);
	if (!type)
		return c;
	if (inverse == INVERSE_DEL)
		c = undo_del(h, engine, type, why);
	else if (inverse == INVERSE_REPLACE)
		c = undo_replace(engine, type, why);
	else
		c = undo_set(run, engine, type, why);
	json_object_put(type);
	return c;
}

/* -- runtimes ---------------------------------------------------------------------------------- */

static char *setting_word(struct json_object *runtime, const char *name)
{
	if (!strcmp(name, "busy"))
		return text_printf("%lluns", (unsigned long long)number_at(runtime, "busy_ns"));
	if (!strcmp(name, "fifo") || !strcmp(name, "dedicated"))
		return text_printf(json_object_get_boolean(json_at(runtime, name)) ? "yes" : "no");
	return text_printf("%s", string_at(runtime, name) ?: "");
}

static void add_setting(struct command *c, struct json_object *runtime, const char *name)
{
	char *word = setting_word(runtime, name);

	words_add(c, name);
	words_add(c, word);
	free(word);
}

static struct command undo_runtime(const struct host *h, const struct command *run,
				   enum inverse inverse, char **why)
{
	static const char *const settings[] = {
		"cpus", "nice", "fifo", "busy", "order", "turn", "dedicated"
	};
	const char *name = run->words[2];
	struct json_object *runtime;
	struct command c;
	size_t i;

	if (inverse == INVERSE_RUNTIME_ADD)
		return command("runtime", "del", name, NULL);
	runtime = ask_runtime(h, name, why);
	if (!runtime)
		return (struct command) { };
	c = command("runtime", inverse == INVERSE_RUNTIME_DEL ? "add" : "set", name, NULL);
	if (inverse == INVERSE_RUNTIME_DEL)
		for (i = 0; i < sizeof(settings) / sizeof(*settings); i++)
			add_setting(&c, runtime, settings[i]);
	else
		for (i = 3; i + 1 < (size_t)run->nr; i += 2)
			add_setting(&c, runtime, run->words[i]);
	json_object_put(runtime);
	return c;
}

/* -- all ------------------------------------------------------------------------------------------ */

/* The same words but for the second one. */
static struct command instead(const struct command *run, const char *word)
{
	struct command c = { };
	int i;

	for (i = 0; i < run->nr; i++)
		words_add(&c, i == 1 ? word : run->words[i]);
	return c;
}

static struct command find(const struct host *h, const struct command *run, enum inverse inverse,
			   struct json_object *state, char **why)
{
	switch (inverse) {
	case INVERSE_ADD:
	case INVERSE_DEL:
	case INVERSE_SET:
	case INVERSE_REPLACE:
		return undo_engine(h, run, inverse, state, why);
	case INVERSE_RUNTIME_ADD:
	case INVERSE_RUNTIME_DEL:
	case INVERSE_RUNTIME_SET:
		return undo_runtime(h, run, inverse, why);
	case INVERSE_EGRESS_SET:
	case INVERSE_EGRESS_DEL:
	case INVERSE_EGRESS_HOLD:
		return undo_egress(h, run, inverse, why);
	case INVERSE_PAUSE:
		return instead(run, "resume");
	case INVERSE_RESUME:
		return instead(run, "pause");
	case INVERSE_CREATE:
		return command("set", "destroy", run->words[2], NULL);
	default:
		return (struct command) { };
	}
}

/* Of an engine, what a change of it changes. */
static struct json_object *engine_state(struct json_object *engine)
{
	static const char *const keys[] = {
		"name", "type", "version", "scope", "values", "percent", "adding", "removing",
		"next_type", "next_version", "next_values", NULL
	};

	return json_part(engine, keys);
}

/* Is a change in progress? */
bool undo_unfinished(struct json_object *state)
{
	return json_at(state, "adding") || json_at(state, "removing") || json_at(state, "next_type");
}

/* A set's keys do not matter, its existence does. */
static struct json_object *set_state(const struct host *h, const char *name)
{
	struct command show = command("set", "show", NULL);
	struct json_object *state = json_object_new_object(), *array;
	char *why = NULL;
	size_t i;

	array = host_ask(h, &show, &why);
	for (i = 0; array && i < json_object_array_length(array); i++)
		if (!strcmp(string_at(json_object_array_get_idx(array, i), "name") ?: "", name))
			json_object_object_add(state, "name", json_object_new_string(name));
	json_object_put(array);
	free(why);
	return state;
}

static struct json_object *runtime_state(const struct host *h, const char *name)
{
	static const char *const passing[] = { "waiting", "turns", "wakeups", "ran_ns", "datapaths" };
	struct json_object *state;
	char *why = NULL;
	size_t i;

	state = ask_runtime(h, name, &why) ?: json_object_new_object();
	for (i = 0; i < sizeof(passing) / sizeof(*passing); i++)
		json_object_object_del(state, passing[i]);
	free(why);
	return state;
}

/**
 * undo_state() - what a command will change, as it is now
 * @h: where
 * @run: the command
 *
 * Return: an object, empty if the thing is not there; NULL: that cannot be seen, and
 * the command may be run twice.
 */
struct json_object *undo_state(const struct host *h, const struct command *run)
{
	struct json_object *engine, *state;
	char *name, *why = NULL;

	if (!strcmp(run->words[0], "engine")) {
		name = engine_name(run);
		engine = ask_engine(h, name, &why);
		state = engine_state(engine);
		json_object_put(engine);
		free(name);
		free(why);
		return state;
	}
	if (!strcmp(run->words[0], "runtime"))
		return runtime_state(h, run->words[2]);
	if (!strcmp(run->words[0], "egress"))
		return egress_state(h, run);
	if (!strcmp(run->words[0], "set") &&
	    (!strcmp(run->words[1], "create") || !strcmp(run->words[1], "destroy")))
		return set_state(h, run->words[2]);
	return NULL;
}

/**
 * undo_find() - what there is before a change, and how to go back there
 * @h: where
 * @s: the change
 */
struct before undo_find(const struct host *h, const struct step *s)
{
	struct before b = { .state = undo_state(h, &s->run) };
	enum inverse inverse = INVERSE_NONE;
	char *why = NULL;

	if (s->no_undo)
		return b;
	if (s->undo.nr) {
		b.undo = s->undo;
		return b;
	}
	words_change(&s->run, &inverse, &why);
	b.undo = find(h, &s->run, inverse, b.state, &b.why);
	return b;
}
