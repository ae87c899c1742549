// SPDX-License-Identifier: GPL-2.0
/*
 * Latencies, from the histograms of an engine of the type metrics: whether they got
 * worse since a change began, as an --abort-if rule says:
 *
 *	p99 > 2x	more than twice what it was before
 *	p50 > 5ms	more than this
 *	errors > 1%	of the calls failed
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>
#include <linux/mrpc_netlink.h>

#include "cli/options.h"
#include "cli/util.h"
#include "engine/find.h"
#include "engine/latency.h"
#include "lib/ds/hist.h"
#include "nl/body.h"
#include "nl/nl.h"
#include "nl/sets.h"
#include "show/json.h"
#include "show/print.h"
#include "show/values.h"

#define ENOUGH	100	/* calls to judge by; with fewer one goes on, and judges later */

/* Times of all calls, and how many of them failed. */
struct sample {
	struct mrpc_hist hist;
	uint64_t calls;
	uint64_t errors;
};

/**
 * struct latency - a rule, and what was seen so far
 * @rule: as it was written
 * @engine: where the histograms are
 * @series: where these come from; an array, or NULL: they cannot be had now
 * @arg: for it
 * @quantile: parts in a million; 0: the rule is about errors
 * @times: the limit is so many times what was usual; 0: it is @limit
 * @limit: ns, or errors in a million calls
 * @start: when it was opened
 * @mark: from when on calls are judged
 * @usual: what the rule is about, before the change
 * @calls: between @start and the change: as long as a step
 * @last: what it was when it was judged last; 0 for not yet
 */
struct latency {
	const char *rule;
	char *engine;
	struct json_object *(*series)(void *arg);
	void *arg;
	uint32_t quantile;
	double times;
	uint64_t limit;
	struct sample start;
	struct sample mark;
	uint64_t usual;
	uint64_t calls;
	uint64_t last;
};

/* -- the rule --------------------------------------------------------------------- */

static char *bad_rule(const char *rule)
{
	return text_printf("'%s' is not a rule: it must be as 'p99 > 2x', 'p50 > 5ms' or 'errors > 1%%'",
			   rule);
}

/* "p99" is 990000, "p99.9" 999000. */
static bool parse_quantile(const char *word, uint32_t *quantile)
{
	char *end;
	double value;

	*quantile = 0;
	if (!strcmp(word, "errors"))
		return true;
	value = strtod(word + 1, &end);
	if (*word != 'p' || !isdigit((unsigned char)word[1]) || *end || value <= 0 || value >= 100)
		return false;
	*quantile = value * 10000 + 0.5;
	return true;
}

static bool parse_rule(struct latency *l, const char *rule)
{
	char what[16], limit[32], *end, *why = NULL;
	int used = 0;

	if (sscanf(rule, " %15[a-z0-9.] > %31s %n", what, limit, &used) != 2 || rule[used] ||
	    !parse_quantile(what, &l->quantile))
		return false;
	l->rule = rule;
	l->times = strtod(limit, &end);
	if (end != limit && !strcmp(end, "x") && l->times > 1)
		return true;
	l->times = 0;
	if (!parse_value(limit, l->quantile ? "ns" : "0.0001%", &l->limit, &why)) {
		free(why);
		return false;
	}
	return !isdigit((unsigned char)limit[strlen(limit) - 1]);
}

/* -- measuring ----------------------------------------------------------------------- */

static void add_series(struct sample *s, struct json_object *series)
{
	struct json_object *buckets = json_at(series, "buckets");
	bool ok = !strcmp(string_at(series, "status") ?: "", "OK");
	size_t i;

	if (strcmp(string_at(series, "name") ?: "", "total") || !buckets)
		return;
	for (i = 0; i < json_object_array_length(buckets); i++) {
		struct json_object *bucket = json_object_array_get_idx(buckets, i);
		uint64_t count = number_at(bucket, "count");

		s->hist.count[mrpc_hist_index(number_at(bucket, "most"))] += count;
		s->calls += count;
		s->errors += ok ? 0 : count;
	}
	if (number_at(series, "most") > s->hist.max)
		s->hist.max = number_at(series, "most");
}

/* The histograms of engine @arg. */
static struct json_object *own_series(void *arg)
{
	struct json_object *array;
	struct body body = { };

	body_text(&body, MRPC_A_SERIES_ENGINE, arg);
	array = ask_all(MRPC_CMD_SERIES_GET, &set_series, &body);
	body_free(&body);
	return array;
}

static void measure(const struct latency *l, struct sample *s)
{
	struct json_object *array = l->series(l->arg);
	size_t i;

	memset(s, 0, sizeof(*s));
	for (i = 0; array && i < json_object_array_length(array); i++)
		add_series(s, json_object_array_get_idx(array, i));
	json_object_put(array);
}

/* What the rule is about, between two measurements. Return: false: too few calls. */
static bool value_between(const struct latency *l, const struct sample *from,
			  const struct sample *to, uint64_t *value)
{
	struct mrpc_hist hist = { .max = to->hist.max };
	uint64_t calls = to->calls - from->calls;
	int i;

	if (calls < ENOUGH)
		return false;
	for (i = 0; i < MRPC_HIST_BUCKETS; i++)
		hist.count[i] = to->hist.count[i] - from->hist.count[i];
	if (l->quantile)
		*value = mrpc_hist_quantile(&hist, l->quantile);
	else
		*value = (to->errors - from->errors) * 1000000 / calls;
	return true;
}

static char *text_measured(const struct latency *l, uint64_t value)
{
	return l->quantile ? text_time(value) : text_printf("%g%%", value / 1e4);
}

/* -- where -------------------------------------------------------------------------- */

/* The engine that measures calls of this scope: of the same one, or of everything. */
static char *find_metrics(struct json_object *scope)
{
	struct json_object *array = engine_array(), *all = NULL, *same = NULL, *e, *other;
	char *name;
	size_t i;

	for (i = 0; i < json_object_array_length(array); i++) {
		e = json_object_array_get_idx(array, i);
		other = json_at(e, "scope");
		if (strcmp(string_at(e, "type") ?: "", "metrics"))
			continue;
		if (scope && other && json_object_equal(scope, other))
			same = e;
		else if (!other || !json_object_object_length(other))
			all = e;
	}
	e = same ?: all;
	if (!e)
		fail("--abort-if needs latencies, and no engine measures them here: "
		     "'mrpc engine add metrics' first, with the same scope or none");
	name = text_printf("%s", string_at(e, "name"));
	json_object_put(array);
	return name;
}

/**
 * latency_open() - begin to measure what is usual
 * @rule: of --abort-if
 * @scope: of the engine that will be changed, or NULL
 *
 * Does not return if the rule is wrong or nothing measures latencies.
 */
struct latency *latency_open(const char *rule, struct json_object *scope)
{
	struct latency *l = calloc(1, sizeof(*l));

	if (!l)
		fail("out of memory");
	if (!parse_rule(l, rule))
		usage("%s", bad_rule(rule));
	l->engine = find_metrics(scope);
	l->series = own_series;
	l->arg = l->engine;
	measure(l, &l->start);
	return l;
}

/**
 * latency_open_at() - the same, of another host
 * @rule: as of --abort-if
 * @where: what the histograms are called
 * @series: gets them: an array, or NULL
 * @arg: for it
 */
struct latency *latency_open_at(const char *rule, const char *where,
				struct json_object *(*series)(void *arg), void *arg)
{
	struct latency *l = calloc(1, sizeof(*l));

	if (!l)
		fail("out of memory");
	parse_rule(l, rule);
	l->engine = text_printf("%s", where);
	l->series = series;
	l->arg = arg;
	measure(l, &l->start);
	return l;
}

/* Why a rule cannot be one, to be freed; or NULL. */
char *latency_check(const char *rule)
{
	struct latency l = { };

	return parse_rule(&l, rule) ? NULL : bad_rule(rule);
}

void latency_free(struct latency *l)
{
	free(l->engine);
	free(l);
}

/**
 * latency_begin() - the change begins now
 * @l: the rule
 *
 * Return: NULL; or why the rule has nothing to compare with, to be freed.
 */
char *latency_begin(struct latency *l)
{
	static const struct sample nothing;
	char *text;

	measure(l, &l->mark);
	l->calls = l->mark.calls - l->start.calls;
	/* With too little traffic since, what there was before has to do. */
	if (!value_between(l, &l->start, &l->mark, &l->usual) &&
	    !value_between(l, &nothing, &l->mark, &l->usual) && l->times)
		return text_printf("'%s' cannot be judged: '%s' has seen fewer than %d calls",
				   l->rule, l->engine, ENOUGH);
	if (!l->times)
		return NULL;
	l->limit = l->times * l->usual;
	text = text_measured(l, l->usual);
	if (!options.json)
		printf("usual: %s, by engine '%s'\n", text, l->engine);
	free(text);
	return NULL;
}

/* A step was made: calls are judged from here on. */
void latency_step(struct latency *l)
{
	measure(l, &l->mark);
}

/**
 * latency_judge() - whether calls since the last step were as the rule forbids
 * @l: the rule
 *
 * Return: NULL if not, or what was seen, to be freed.
 */
char *latency_judge(struct latency *l)
{
	struct sample now;
	char *seen, *limit, *why;
	uint64_t calls;

	measure(l, &now);
	calls = now.calls - l->mark.calls;
	if (value_between(l, &l->mark, &now, &l->last) && l->last > l->limit) {
		seen = text_measured(l, l->last);
		limit = text_measured(l, l->limit);
		why = text_printf("'%s': it is %s, allowed is %s", l->rule, seen, limit);
		free(seen);
		free(limit);
		return why;
	}
	/* Calls that hang are in no histogram. */
	if (l->calls >= ENOUGH && calls < l->calls / 20)
		return text_printf("calls have nearly stopped: %llu since the last step, %llu are usual",
				   (unsigned long long)calls, (unsigned long long)l->calls);
	return NULL;	/* or too few to judge by, in a quiet place */
}

/* What was seen when it was judged last, or NULL. */
char *latency_text(const struct latency *l)
{
	return l->last ? text_measured(l, l->last) : NULL;
}
