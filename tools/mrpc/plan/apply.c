// SPDX-License-Identifier: GPL-2.0
/* mrpc plan: making the changes of a plan, continuing them, and taking them back. */
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "cli/interrupt.h"
#include "cli/options.h"
#include "cli/util.h"
#include "engine/latency.h"
#include "nl/nl.h"
#include "plan/apply.h"
#include "plan/check.h"
#include "plan/file.h"
#include "plan/run.h"
#include "plan/state.h"
#include "plan/undo.h"
#include "plan/words.h"
#include "show/json.h"
#include "show/print.h"

/* -- before the first step -------------------------------------------------------------- */

/* Asks a host a question. On failure it prints the reason and returns NULL. */
static struct json_object *probe(const struct plan *p, const struct host *h, const char *text,
				 struct mark mark, const char *what)
{
	struct json_object *answer;
	struct command c = { };
	char *why = NULL;

	words_split(text, &c, &why);
	answer = host_ask(h, &c, &why);
	if (!answer)
		fprintf(stderr, "mrpc: %s:%zu:%zu: %s: %s: %s\n", p->file, mark.line, mark.column,
			h->name, what, why);
	free(why);
	return answer;
}

static bool validate_host(const struct plan *p, const struct host *h, bool say)
{
	struct json_object *version, *engines = NULL;

	version = probe(p, h, "version", h->mark, "mrpc does not answer there");
	if (version)
		engines = probe(p, h, "engine show", h->mark, "the kernel does not answer there");
	if (engines && say)
		printf("%s: mrpc %s, %zu engines\n", h->name, string_at(version, "version") ?: "?",
		       json_object_array_length(engines));
	if (engines && strcmp(string_at(version, "version") ?: "", MRPC_VERSION))
		fprintf(stderr, "mrpc: %s:%zu:%zu: %s has mrpc %s, this is %s: they may differ in what they know\n",
			p->file, h->mark.line, h->mark.column, h->name,
			string_at(version, "version") ?: "?", MRPC_VERSION);
	json_object_put(version);
	json_object_put(engines);
	return engines;
}

/* Checks that the host has the engine type, in the version that the command names. */
static bool validate_type(const struct plan *p, const struct step *s, const struct host *h,
			  const struct command *c)
{
	int at = c->nr > 3 && !strcmp(c->words[1], "replace") ? 3 : 2;
	struct json_object *type;
	char *text;

	if (strcmp(c->words[0], "engine") ||
	    (strcmp(c->words[1], "add") && strcmp(c->words[1], "replace")))
		return true;
	text = text_printf("engine type show %s", c->words[at]);
	type = probe(p, h, text, s->run_mark, "this engine cannot be had");
	free(text);
	json_object_put(type);
	return type;
}

/**
 * plan_validate() - can all hosts do what the plan wants?
 * @p: the plan
 * @say: print what is known of each
 *
 * Changes nothing, except that modules of engines are loaded.
 * Return: exit status; errors have been printed.
 */
int plan_validate(const struct plan *p, bool say)
{
	bool good = true;
	int i, j;

	for (i = 0; i < p->nr_hosts; i++)
		good &= validate_host(p, &p->hosts[i], say);
	if (!good)
		return EXIT_FAILED;
	for (i = 0; i < p->nr_steps; i++) {
		const struct step *s = &p->steps[i];

		for (j = 0; j < s->nr_hosts; j++) {
			good &= validate_type(p, s, &p->hosts[s->hosts[j]], &s->run);
			if (s->undo.nr)
				good &= validate_type(p, s, &p->hosts[s->hosts[j]], &s->undo);
		}
	}
	return good ? 0 : EXIT_FAILED;
}

/* -- reports for people and for programs ----------------------------------------------- */

static struct json_object *events;	/* with -j */

static void say_change(int step, int steps, const char *name, const char *host,
		       const struct command *c)
{
	char *words = words_text(c);

	if (!options.json && steps)
		printf("%d/%d %s\n", step + 1, steps, name);
	if (!options.json)
		printf("    %s: mrpc %s\n", host, words);
	fflush(stdout);
	free(words);
}

static void add_event(const char *what, int step, const char *name, const char *host,
		      const struct command *c, const char *why)
{
	struct json_object *event;

	if (!options.json)
		return;
	if (!events)
		events = json_object_new_array();
	event = json_object_new_object();
	json_object_object_add(event, "what", json_object_new_string(what));
	json_object_object_add(event, "step", json_object_new_int(step + 1));
	json_object_object_add(event, "name", json_object_new_string(name));
	if (host)
		json_object_object_add(event, "host", json_object_new_string(host));
	if (c)
		json_object_object_add(event, "command", words_json(c));
	if (why)
		json_object_object_add(event, "why", json_object_new_string(why));
	json_object_array_add(events, event);
}

/* Prints the result of the plan. Return: exit status. */
static int finish(const char *plan, const char *result, const char *why, const char *next)
{
	struct json_object *object;

	if (why)
		fprintf(stderr, "mrpc: %s: %s%s%s\n", plan, why, next ? "; " : "", next ?: "");
	if (options.json) {
		object = json_object_new_object();
		json_object_object_add(object, "plan", json_object_new_string(plan));
		json_object_object_add(object, "result", json_object_new_string(result));
		if (why)
			json_object_object_add(object, "why", json_object_new_string(why));
		json_object_object_add(object, "events", events ?: json_object_new_array());
		print_json(object);
	} else {
		printf("%s: %s\n", plan, result);
	}
	return why ? EXIT_FAILED : 0;
}

static char *how_to_go_on(const char *plan)
{
	return text_printf("'mrpc plan resume %s' goes on, 'mrpc plan rollback %s' goes back", plan,
			   plan);
}

/* -- a dry run ----------------------------------------------------------------------------------- */

static void dry_change(const struct step *s, int step, int steps, const struct host *h)
{
	struct before b = undo_find(h, s);
	char *undo = words_text(&b.undo);

	say_change(step, steps, s->name, h->name, &s->run);
	if (!options.json)
		printf("        back by: %s%s\n", b.undo.nr ? "mrpc " : "",
		       b.why ? "what is found out when it is made" : b.undo.nr ? undo : "nothing");
	add_event("would run", step, s->name, h->name, &s->run, NULL);
	free(undo);
	json_object_put(b.state);
}

/* Prints what would be done, and how it would be taken back in the present state. */
int plan_dry_run(const struct plan *p)
{
	int i, j;

	for (i = 0; i < p->nr_steps; i++) {
		const struct step *s = &p->steps[i];

		for (j = 0; j < s->nr_hosts; j++)
			dry_change(s, i, j ? 0 : p->nr_steps, &p->hosts[s->hosts[j]]);
		for (j = 0; j < s->nr_checks && !options.json; j++)
			printf("    check: %s\n", s->checks[j].text);
		if (s->abort_if && !options.json)
			printf("    abort if: %s\n", s->abort_if);
	}
	finish(p->file, "dry run", NULL, NULL);
	return 0;
}

/* -- one change -------------------------------------------------------------------------------------- */

/**
 * enum result - result of a step
 * @GOOD: it is made
 * @FAILED: it is not made, or a check failed
 * @STOPPED: the operator interrupted it, or a host does not answer: the result is not known
 */
enum result { GOOD, FAILED, STOPPED };

static char *failed_why;	/* reason of FAILED and STOPPED */

static enum result failed(enum result result, char *why)
{
	failed_why = why;
	return result;
}

/* Takes back a gradual change that was left unfinished; its kernel side may be doing so, too. */
static struct json_object *take_back(const struct host *h, const struct command *run)
{
	struct json_object *now = undo_state(h, run);
	struct command back = { };
	struct outcome o;
	char *text, *why;
	int i;

	for (i = 0; i < 5 && undo_unfinished(now); i++) {
		text = text_printf("engine step %s 0", string_at(now, "name"));
		back = (struct command) { };
		words_split(text, &back, &why);
		o = host_run(h, &back, true);
		outcome_free(&o);
		free(text);
		json_object_put(now);
		if (i)
			interrupt_wait(500000000);
		now = undo_state(h, run);
	}
	return now;
}

/* A change was begun, and its end is not known: was it made? */
static enum result settle(struct state *st, int step, const struct step *s, const struct host *h,
			  bool *made)
{
	struct json_object *before = json_at(state_change(st, step, h->name), "before"), *now;
	bool unfinished;

	*made = false;
	if (!before)
		return GOOD;	/* it can be run again */
	now = take_back(h, &s->run);
	unfinished = undo_unfinished(now);
	*made = !json_object_equal(before, now);
	json_object_put(now);
	if (unfinished)
		return failed(STOPPED, text_printf("%s: a change in progress cannot be taken back; 'mrpc engine step NAME 0' there does",
						   h->name));
	return GOOD;
}

static enum result run_change(const struct plan *p, struct state *st, int step, const struct host *h)
{
	const struct step *s = &p->steps[step];
	struct outcome o;
	char *why;

	o = host_run(h, &s->run, false);
	if (!o.status) {
		outcome_free(&o);
		state_mark(st, step, h->name, "done");
		add_event("done", step, s->name, h->name, &s->run, NULL);
		return GOOD;
	}
	why = outcome_why(&o);
	add_event("failed", step, s->name, h->name, &s->run, why);
	if (interrupted)
		return failed(STOPPED, text_printf("interrupted in step %d, '%s'", step + 1, s->name));
	if (!outcome_known(&o))
		return failed(STOPPED, text_printf("%s: it is not known what became of step %d, '%s': %s",
						   h->name, step + 1, s->name, why));
	/* It failed as a whole, so there is nothing to take back. */
	state_mark(st, step, h->name, "failed");
	return failed(FAILED, text_printf("%s: step %d, '%s', failed: %s", h->name, step + 1,
					  s->name, why));
}

static enum result make_change(const struct plan *p, struct state *st, int step,
			       const struct host *h, bool first)
{
	const struct step *s = &p->steps[step];
	enum done done = state_done(st, step, h->name);
	struct before before;
	enum result result;
	bool made = false;

	if (done == DONE)
		return GOOD;
	if (done == BEGUN) {
		result = settle(st, step, s, h, &made);
		if (result != GOOD)
			return result;
	}
	if (made) {
		state_mark(st, step, h->name, "done");
		return GOOD;
	}
	if (done == NOT_DONE) {
		before = undo_find(h, s);
		if (before.why)
			return failed(FAILED, text_printf("%s: step %d, '%s', could not be taken back: %s; 'undo' can say how",
							  h->name, step + 1, s->name, before.why));
		state_begin(st, step, s, h, &before);
		json_object_put(before.state);
	}
	say_change(step, first ? p->nr_steps : 0, s->name, h->name, &s->run);
	return run_change(p, st, step, h);
}

/* -- latencies around a step ---------------------------------------------------------------------------- */

static struct latency **open_latencies(const struct plan *p, const struct step *s)
{
	struct latency **all = calloc(s->nr_hosts, sizeof(*all));
	int i;

	if (!all)
		fail("out of memory");
	for (i = 0; i < s->nr_hosts; i++)
		all[i] = latency_open_at(s->abort_if, p->hosts[s->hosts[i]].name, check_series,
					 &p->hosts[s->hosts[i]]);
	return all;
}

/* Measures the usual latencies, for as long as the pause afterwards. */
static enum result begin_latencies(struct latency **all, const struct plan *p, const struct step *s)
{
	char *why;
	int i;

	if (!interrupt_wait(s->pause))
		return failed(STOPPED, text_printf("interrupted before '%s'", s->name));
	for (i = 0; i < s->nr_hosts; i++) {
		why = latency_begin(all[i]);
		if (why)
			return failed(FAILED, text_printf("%s: %s", p->hosts[s->hosts[i]].name, why));
	}
	return GOOD;
}

static enum result judge_latencies(struct latency **all, const struct plan *p, const struct step *s)
{
	char *why;
	int i;

	for (i = 0; i < s->nr_hosts; i++) {
		why = latency_judge(all[i]);
		if (why)
			return failed(FAILED, text_printf("%s: %s", p->hosts[s->hosts[i]].name, why));
	}
	return GOOD;
}

static void close_latencies(struct latency **all, const struct step *s)
{
	int i;

	for (i = 0; all && i < s->nr_hosts; i++)
		latency_free(all[i]);
	free(all);
}

/* -- a step ------------------------------------------------------------------------------------------------- */

static enum result check_changes(const struct plan *p, int step, struct latency **latencies)
{
	const struct step *s = &p->steps[step];
	char *why;
	int i;

	for (i = 0; latencies && i < s->nr_hosts; i++)
		latency_step(latencies[i]);
	why = check_step(p, s);
	if (why) {
		add_event("check failed", step, s->name, NULL, NULL, why);
		return failed(FAILED, text_printf("after step %d, '%s': %s", step + 1, s->name, why));
	}
	if (interrupted || !interrupt_wait(s->pause))
		return failed(STOPPED, text_printf("interrupted after step %d, '%s'", step + 1, s->name));
	return latencies ? judge_latencies(latencies, p, s) : GOOD;
}

static enum result make_step(const struct plan *p, struct state *st, int step)
{
	const struct step *s = &p->steps[step];
	/* The usual latencies can only be measured before the step. */
	bool fresh = state_done(st, step, p->hosts[s->hosts[0]].name) == NOT_DONE;
	struct latency **latencies = s->abort_if && fresh ? open_latencies(p, s) : NULL;
	enum result result = latencies ? begin_latencies(latencies, p, s) : GOOD;
	int i;

	for (i = 0; i < s->nr_hosts && result == GOOD; i++) {
		result = make_change(p, st, step, &p->hosts[s->hosts[i]], !i);
		if (result == GOOD && interrupted)
			result = failed(STOPPED, text_printf("interrupted in step %d, '%s'", step + 1,
							     s->name));
	}
	if (result == GOOD)
		result = check_changes(p, step, latencies);
	if (result == GOOD)
		state_mark(st, step, NULL, "checked");
	close_latencies(latencies, s);
	return result;
}

/* -- back ------------------------------------------------------------------------------------------------------ */

/* Takes a change back. Return: NULL, or why it failed. */
static char *undo_change(struct state *st, struct json_object *line)
{
	int step = json_object_get_int(json_at(line, "step"));
	const char *name = string_at(line, "name") ?: "?";
	struct step s = { .run = words_from_json(json_at(line, "run")) };
	struct command undo = words_from_json(json_at(line, "undo"));
	struct host *h = state_host(st, string_at(line, "host"));
	enum done done = state_done(st, step, h->name);
	bool made = true;
	struct outcome o;
	char *why;

	if (done == UNDONE || done == NOT_DONE)
		return NULL;
	if (done == BEGUN && settle(st, step, &s, h, &made) != GOOD)
		return failed_why;
	/* If the state cannot be compared, the change counts as made. */
	if (done == BEGUN && !made && !json_at(line, "before"))
		made = true;
	if (made && undo.nr) {
		say_change(step, 0, name, h->name, &undo);
		o = host_run(h, &undo, false);
		if (o.status) {
			why = text_printf("%s: step %d, '%s', could not be taken back: %s", h->name,
					  step + 1, name, outcome_why(&o));
			add_event("roll-back failed", step, name, h->name, &undo, why);
			return why;
		}
		outcome_free(&o);
	}
	state_mark(st, step, h->name, "undone");
	add_event("undone", step, name, h->name, &undo, NULL);
	return NULL;
}

/* Takes all changes back, the last first. Return: NULL, or why it stopped. */
static char *undo_all(struct state *st)
{
	struct json_object *changes = state_changes(st), *version;
	struct command ask = { };
	char *why = NULL;
	size_t i;

	words_add(&ask, "version");
	for (i = 0; i < json_object_array_length(changes) && !why; i++) {
		struct json_object *line = json_object_array_get_idx(changes, i);
		struct host *h = state_host(st, string_at(line, "host"));

		version = host_ask(h, &ask, &why);
		if (!version)
			why = text_printf("%s: mrpc does not answer there: %s", h->name, why);
		else
			why = undo_change(st, line);
		json_object_put(version);
		if (!why && interrupted && i + 1 < json_object_array_length(changes))
			why = text_printf("interrupted");
	}
	json_object_put(changes);
	return why;
}

/**
 * plan_roll_back() - take all changes back
 * @s: progress of the plan
 * @plan: the file
 *
 * Return: exit status.
 */
int plan_roll_back(struct state *s, const char *plan)
{
	char *why = undo_all(s), *next;

	if (why) {
		next = text_printf("'mrpc plan rollback %s' tries again", plan);
		return finish(plan, "partly rolled back", why, next);
	}
	state_finish(s, "rolled back");
	return finish(plan, "rolled back", NULL, NULL);
}

/* Rolls back after a step that failed. */
static int go_back(struct state *s, const char *plan)
{
	char *why = failed_why, *more;

	if (!options.json)
		printf("%s: rolling back: %s\n", plan, why);
	more = undo_all(s);
	if (more)
		return finish(plan, "partly rolled back", text_printf("%s; then %s", why, more),
			      text_printf("'mrpc plan rollback %s' tries again", plan));
	state_finish(s, "rolled back");
	return finish(plan, "rolled back", why, NULL);
}

/**
 * plan_apply() - make the changes that are not made yet
 * @p: the plan
 * @s: progress of the plan
 * @keep: if a step fails, leave everything as it is
 *
 * Return: exit status.
 */
int plan_apply(const struct plan *p, struct state *s, bool keep)
{
	enum result result = GOOD;
	int i;

	for (i = 0; i < p->nr_steps && result == GOOD; i++)
		if (!state_checked(s, i))
			result = make_step(p, s, i);
	if (result == FAILED && !keep)
		return go_back(s, p->file);
	if (result != GOOD)
		return finish(p->file, result == FAILED ? "failed" : "stopped", failed_why,
			      how_to_go_on(p->file));
	state_finish(s, "applied");
	return finish(p->file, "applied", NULL, NULL);
}
