// SPDX-License-Identifier: GPL-2.0
/* mrpc monitor: events, one line for each. */
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

#include <json-c/json.h>
#include <linux/mrpc_netlink.h>

#include "cli/help.h"
#include "cli/options.h"
#include "cli/util.h"
#include "cli/words.h"
#include "engine/egress.h"
#include "engine/params.h"
#include "engine/scope.h"
#include "monitor.h"
#include "nl/decode.h"
#include "nl/nl.h"
#include "nl/sets.h"
#include "show/json.h"
#include "show/print.h"

static const struct event {
	int cmd;
	const char *object;
	const char *what;
	const struct set *set;
} events[] = {
	{ MRPC_CMD_SESSION_OPEN_NTF, "session", "open", &set_session },
	{ MRPC_CMD_SESSION_CLOSE_NTF, "session", "close", &set_session },
	{ MRPC_CMD_CONN_OPEN_NTF, "conn", "open", &set_conn },
	{ MRPC_CMD_CONN_CLOSE_NTF, "conn", "close", &set_conn },
	{ MRPC_CMD_SERVICE_OPEN_NTF, "service", "open", &set_service },
	{ MRPC_CMD_SERVICE_CLOSE_NTF, "service", "close", &set_service },
	{ MRPC_CMD_ENGINE_ADD_NTF, "engine", "add", &set_engine },
	{ MRPC_CMD_ENGINE_SET_NTF, "engine", "set", &set_engine },
	{ MRPC_CMD_ENGINE_DEL_NTF, "engine", "del", &set_engine },
	{ MRPC_CMD_ENGINE_FAULT_NTF, "engine", "fault", &set_fault },
	{ MRPC_CMD_EGRESS_SET_NTF, "egress", "set", &set_egress },
	{ MRPC_CMD_EGRESS_DEL_NTF, "egress", "del", &set_egress },
	{ MRPC_CMD_EGRESS_EXPIRE_NTF, "egress", "expire", &set_egress },
	{ MRPC_CMD_POLICY_ATTACH_NTF, "policy", "attach", &set_type },
	{ MRPC_CMD_POLICY_REPLACE_NTF, "policy", "replace", &set_type },
	{ MRPC_CMD_POLICY_DETACH_NTF, "policy", "detach", &set_type },
	{ }
};

static const char *wanted;	/* an object, or NULL for all */

/* ISO 8601 with microseconds, in local time. */
static char *now(void)
{
	struct timeval tv;
	char date[32];

	gettimeofday(&tv, NULL);
	strftime(date, sizeof(date), "%FT%T", localtime(&tv.tv_sec));
	return text_printf("%s.%06ld", date, (long)tv.tv_usec);
}

/* Prints a value of an event, if the event has it. */
static void put(const struct set *set, struct json_object *object, const char *label,
		const char *key)
{
	struct json_object *value = json_at(object, key);
	char *text;

	if (!value)
		return;
	text = text_of(set_find(set, key, strlen(key)), value);
	printf(" %s %s", label, text);
	free(text);
}

static void print_conn(const struct set *set, struct json_object *object)
{
	struct json_object *services = json_at(object, "services");
	size_t i;

	put(set, object, "session", "session");
	put(set, object, "conn", "id");
	put(set, object, "listener", "listener");
	put(set, object, "transport", "transport");
	put(set, object, "local", "local");
	put(set, object, "peer", "peer");
	for (i = 0; services && i < json_object_array_length(services); i++)
		printf(" service %s",
		       string_at(json_object_array_get_idx(services, i), "name"));
	if (!json_at(object, "status"))
		return;
	printf(" calls %s failed %s", string_at(object, "stats.calls"),
	       string_at(object, "stats.failed"));
	put(set, object, "age", "age_ns");
	put(set, object, "status", "status");
	put(set, object, "reason", "reason");
}

static void print_engine(struct json_object *object)
{
	char *scope = text_scope(json_at(object, "scope"));
	char *values = text_params(json_at(object, "values"), NULL);

	put(&set_engine, object, "engine", "name");
	if (json_at(object, "type"))
		printf(" type %s@%s", string_at(object, "type"), string_at(object, "version"));
	printf(" scope %s", scope);
	if (strcmp(values, "-"))
		printf(" values %s", values);
	if (json_at(object, "next_type"))
		printf(" next %s@%s", string_at(object, "next_type"),
		       string_at(object, "next_version"));
	if (json_at(object, "adding") || json_at(object, "removing"))
		printf(" %s", json_at(object, "adding") ? "adding" : "removing");
	put(&set_engine, object, "percent", "percent");
	free(scope);
	free(values);
}

static void print_fault(struct json_object *object)
{
	put(&set_fault, object, "engine", "engine");
	printf(" type %s@%s", string_at(object, "type"), string_at(object, "version"));
	put(&set_fault, object, "datapath", "datapath");
	put(&set_fault, object, "what", "what");
	if (json_at(object, "bypassed"))
		printf(" bypassed");
	put(&set_fault, object, "detail", "detail");
}

/* Its settings; or its counters, if it was deleted or its grants have expired. */
static void print_egress(const char *what, struct json_object *object)
{
	static const char *const is[] = { "discipline", "fair", "paused", "chunk", "limit", NULL };
	static const char *const done[] = { "grants", "expired", "wasted", "sent", NULL };
	char *words = domain_words(string_at(object, "dev") ?: "");
	bool set = !strcmp(what, "set");
	const char *const *key;

	printf(" %s", words);
	for (key = set ? is : done; *key; key++)
		put(&set_egress, object, *key, *key);
	if (set && number_at(object, "rate"))
		put(&set_egress, object, "rate", "rate");
	free(words);
}

static void print_policy(struct json_object *object)
{
	put(&set_type, object, "policy", "name");
	put(&set_type, object, "version", "version");
	printf(" state %s generation %s", string_at(object, "policy.state") ?: "?",
	       string_at(object, "policy.generation") ?: "?");
	if (json_at(object, "policy.why"))
		printf(" why %s", string_at(object, "policy.why"));
}

static void print_event(const struct event *e, struct json_object *object)
{
	char *time;

	if (options.timestamp) {
		time = now();
		printf("[%s] ", time);
		free(time);
	}
	printf("%s %s:", e->object, e->what);
	if (e->set == &set_session) {
		put(e->set, object, "session", "id");
		put(e->set, object, "name", "name");
		put(e->set, object, "pid", "pid");
		put(e->set, object, "uid", "uid");
		if (!strcmp(e->what, "close"))
			put(e->set, object, "age", "age_ns");
	} else if (e->set == &set_service) {
		put(e->set, object, "session", "session");
		put(e->set, object, "listener", "listener");
		put(e->set, object, "transport", "transport");
		put(e->set, object, "address", "address");
		put(e->set, object, "service", "name");
		put(e->set, object, "schema", "schema");
		if (!strcmp(e->what, "close"))
			put(e->set, object, "calls", "calls");
	} else if (e->set == &set_engine) {
		print_engine(object);
	} else if (e->set == &set_fault) {
		print_fault(object);
	} else if (e->set == &set_egress) {
		print_egress(e->what, object);
	} else if (e->set == &set_type) {
		print_policy(object);
	} else {
		print_conn(e->set, object);
	}
	putchar('\n');
}

static void print_event_json(const char *name, struct json_object *content)
{
	struct json_object *object = json_object_new_object();
	char *time;

	json_object_object_add(object, "event", json_object_new_string(name));
	if (options.timestamp) {
		time = now();
		json_object_object_add(object, "time", json_object_new_string(time));
		free(time);
	}
	if (content)
		json_object_object_add(object, strtok(text_printf("%s", name), "-"),
				       json_object_get(content));
	print_json(object);
	json_object_put(object);
}

static int got_event(int cmd, const struct nlattr *attrs, int len)
{
	const struct event *e = events;
	struct json_object *object;
	char *name;

	if (!cmd) {
		if (options.json)
			print_event_json("lost", NULL);
		else
			puts("lost: events came faster than they were read");
		fflush(stdout);
		return 0;
	}
	while (e->cmd && e->cmd != cmd)
		e++;
	if (!e->cmd || (wanted && strcmp(wanted, e->object)))
		return 0;
	object = decode(e->set, attrs, len);
	if (options.json) {
		name = text_printf("%s-%s", e->object, e->what);
		print_event_json(name, object);
		free(name);
	} else {
		print_event(e, object);
	}
	json_object_put(object);
	/* The reader of the output has gone. */
	return fflush(stdout) || ferror(stdout) ? EXIT_FAILED : 0;
}

int do_monitor(struct args *args)
{
	static const struct word objects[] = {
		{ "all" }, { "session" }, { "conn" }, { "service" }, { "engine" },
		{ "egress" }, { "policy" }, { "help" }, { }
	};
	const char *word;

	while ((word = next_word(args))) {
		if (is_help(word)) {
			help_object("monitor");
			return 0;
		}
		wanted = find_word(objects, word, "an object")->name;
		if (!strcmp(wanted, "help")) {
			help_object("monitor");
			return 0;
		}
		if (!strcmp(wanted, "all"))
			wanted = NULL;
	}
	return listen_to(got_event);
}
