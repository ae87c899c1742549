// SPDX-License-Identifier: GPL-2.0
/* mrpc plan: conditions, asked again and again until all are true. */
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "cli/clock.h"
#include "cli/interrupt.h"
#include "cli/options.h"
#include "cli/util.h"
#include "plan/check.h"
#include "plan/file.h"
#include "plan/run.h"
#include "plan/words.h"
#include "show/json.h"
#include "show/print.h"
#include "show/values.h"

#define EVERY		500000000	/* ns between two looks */

/* -- comparing -------------------------------------------------------------------------- */

/* A number with or without a unit: "5ms" is in ns, "16KiB" in bytes. */
static bool to_number(const char *word, double *value)
{
	uint64_t whole;
	char *end, *why;

	*value = strtod(word, &end);
	if (end != word && !*end)
		return true;
	if (parse_value(word, "ns", &whole, &why) || parse_value(word, "bytes", &whole, &why) ||
	    parse_value(word, "%", &whole, &why)) {
		*value = whole;
		return true;
	}
	return false;
}

static const char *to_text(struct json_object *value)
{
	if (json_object_is_type(value, json_type_boolean))
		return json_object_get_boolean(value) ? "yes" : "no";
	/* Flags: usually one word. */
	if (json_object_is_type(value, json_type_array) && json_object_array_length(value) == 1)
		value = json_object_array_get_idx(value, 0);
	return json_object_get_string(value);
}

static bool order_is(int order, const char *op)
{
	switch (*op) {
	case '=':
		return !order;
	case '!':
		return order;
	case '<':
		return order < 0 || (op[1] && !order);
	default:
		return order > 0 || (op[1] && !order);
	}
}

static bool compare(struct json_object *value, const struct condition *c)
{
	double have, want;

	if (json_object_is_type(value, json_type_int) ||
	    json_object_is_type(value, json_type_double)) {
		have = json_object_get_double(value);
		if (!to_number(c->value, &want))
			return *c->op == '!';
		return order_is(have < want ? -1 : have > want, c->op);
	}
	return order_is(strcmp(to_text(value), c->value), c->op);
}

/* All objects must have it so. Return: NULL: they have; or what is so, to be freed. */
static char *compare_all(struct json_object *array, const struct condition *c)
{
	struct json_object *count = NULL, *value;
	size_t i, nr = json_object_is_type(array, json_type_array) ?
		       json_object_array_length(array) : 1;
	char *why = NULL;

	if (!strcmp(c->path, "count")) {
		count = json_object_new_uint64(nr);
		if (!compare(count, c))
			why = text_printf("count is %zu", nr);
		json_object_put(count);
		return why;
	}
	if (!nr)
		return text_printf("there is nothing to compare");
	for (i = 0; i < nr; i++) {
		value = json_at(json_object_is_type(array, json_type_array) ?
				json_object_array_get_idx(array, i) : array, c->path);
		if (!value)
			return text_printf("there is no %s", c->path);
		if (!compare(value, c))
			return text_printf("%s is %s", c->path, to_text(value));
	}
	return NULL;
}

/* -- calls that fail ------------------------------------------------------------------------ */

/**
 * struct watch - a condition at a host
 * @condition: which
 * @host: where
 * @since: ns; quiet: when no call had failed
 * @failed: quiet: calls that had failed, by connection
 * @why: what was wrong when it was looked at last; NULL: it is true
 */
struct watch {
	const struct condition *condition;
	const struct host *host;
	uint64_t since;
	struct json_object *failed;
	char *why;
};

static struct json_object *failed_calls(struct json_object *conns)
{
	struct json_object *failed = json_object_new_object(), *conn;
	char *key;
	size_t i;

	for (i = 0; i < json_object_array_length(conns); i++) {
		conn = json_object_array_get_idx(conns, i);
		key = text_printf("%s/%s", string_at(conn, "session"), string_at(conn, "id"));
		json_object_object_add(failed, key,
				       json_object_new_uint64(number_at(conn, "stats.failed")));
		free(key);
	}
	return failed;
}

/* Calls of a connection that has begun since then count, too. */
static uint64_t failed_since(struct json_object *before, struct json_object *now)
{
	struct json_object *was;
	uint64_t sum = 0;

	json_object_object_foreach(now, key, is) {
		uint64_t old = 0;

		if (json_object_object_get_ex(before, key, &was))
			old = json_object_get_uint64(was);
		sum += json_object_get_uint64(is) - old;
	}
	return sum;
}

/* Each call that fails starts the time again. */
static char *look_at_calls(struct watch *w, struct json_object *conns)
{
	struct json_object *now = failed_calls(conns);
	uint64_t time = clock_ns(), failed = w->failed ? failed_since(w->failed, now) : 0;

	if (!w->failed || failed) {
		json_object_put(w->failed);
		w->failed = now;
		w->since = time;
	} else {
		json_object_put(now);
	}
	if (failed)
		return text_printf("%llu calls have failed", (unsigned long long)failed);
	if (time - w->since < w->condition->quiet)
		return text_printf("it is too early to say");
	return NULL;
}

/* -- looking -------------------------------------------------------------------------------------- */

static void look(struct watch *w)
{
	const struct condition *c = w->condition;
	struct command conn = { };
	struct json_object *answer;

	free(w->why);
	w->why = NULL;
	words_add(&conn, "conn");
	answer = host_ask(w->host, c->show.nr ? &c->show : &conn, &w->why);
	if (!answer)
		return;
	w->why = c->show.nr ? compare_all(answer, c) : look_at_calls(w, answer);
	json_object_put(answer);
}

static void say(const struct watch *w, uint64_t ns)
{
	char *time = text_time(ns);

	if (!options.json)
		printf("    %s: %s: true after %s\n", w->host->name, w->condition->text, time);
	fflush(stdout);
	free(time);
}

/* Return: how many watches there are. */
static int make_watches(const struct plan *p, const struct step *s, struct watch *watches)
{
	int i, j, nr = 0;

	for (i = 0; i < s->nr_checks; i++)
		for (j = 0; j < s->checks[i].nr_hosts; j++)
			watches[nr++] = (struct watch) {
				.condition = &s->checks[i],
				.host = &p->hosts[s->checks[i].hosts[j]],
			};
	return nr;
}

/* One round. Return: the first that is not true, or NULL. */
static struct watch *look_at_all(struct watch *watches, int nr)
{
	struct watch *wrong = NULL;
	int i;

	for (i = 0; i < nr && !interrupted; i++) {
		look(&watches[i]);
		if (watches[i].why && !wrong)
			wrong = &watches[i];
	}
	return wrong;
}

/**
 * check_step() - wait until all conditions of a step are true, at the same time
 * @p: the plan
 * @s: the step
 *
 * Return: NULL: they are, or it was interrupted; or which one is not, to be freed.
 */
char *check_step(const struct plan *p, const struct step *s)
{
	struct watch *watches = calloc(s->nr_checks * p->nr_hosts + 1, sizeof(*watches)), *wrong;
	uint64_t begin = clock_ns();
	char *why = NULL;
	int i, nr;

	if (!watches)
		fail("out of memory");
	nr = make_watches(p, s, watches);
	for (;;) {
		wrong = look_at_all(watches, nr);
		if (!wrong || clock_ns() - begin > s->within || !interrupt_wait(EVERY))
			break;
	}
	if (wrong && !interrupted)
		why = text_printf("%s: '%s' has not become true within %s: %s", wrong->host->name,
				  wrong->condition->text, text_value(s->within, "ns"), wrong->why);
	for (i = 0; i < nr; i++) {
		if (!wrong && !interrupted)
			say(&watches[i], clock_ns() - begin);
		json_object_put(watches[i].failed);
		free(watches[i].why);
	}
	free(watches);
	return why;
}

/* -- latencies ------------------------------------------------------------------------------------ */

/* The histograms of the first engine that has some; NULL: the host does not answer. */
struct json_object *check_series(void *host)
{
	struct json_object *all, *some, *one;
	struct command metrics = { };
	const char *engine = NULL;
	char *why = NULL;
	size_t i;

	words_add(&metrics, "metrics");
	all = host_ask(host, &metrics, &why);
	free(why);
	if (!all)
		return NULL;
	some = json_object_new_array();
	for (i = 0; i < json_object_array_length(all); i++) {
		one = json_object_array_get_idx(all, i);
		if (!engine)
			engine = string_at(one, "engine");
		if (!strcmp(string_at(one, "engine"), engine))
			json_object_array_add(some, json_object_get(one));
	}
	json_object_put(all);
	return some;
}
