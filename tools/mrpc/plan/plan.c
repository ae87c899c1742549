// SPDX-License-Identifier: GPL-2.0
/* mrpc plan: changes of several hosts, step by step. */
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "cli/help.h"
#include "cli/interrupt.h"
#include "cli/options.h"
#include "cli/util.h"
#include "cli/words.h"
#include "plan/apply.h"
#include "plan/file.h"
#include "plan/plan.h"
#include "plan/run.h"
#include "plan/state.h"
#include "plan/words.h"
#include "show/json.h"
#include "show/print.h"

/* A plan, and nothing behind it but options. */
static struct plan *need_plan(struct args *args, bool *dry, bool *keep)
{
	const char *file = NULL, *word;

	while ((word = next_word(args))) {
		if (dry && !strcmp(word, "--dry-run"))
			*dry = true;
		else if (keep && !strcmp(word, "--keep"))
			*keep = true;
		else if (!strncmp(word, "--", 2))
			usage("'%s' is not an option here", word);
		else if (file)
			usage("'%s' is one word too many", word);
		else
			file = word;
	}
	if (!file)
		usage("the file with the plan is missing");
	if (!strcmp(file, "-"))
		usage("a plan must be a file, because what was done is written beside it");
	return plan_read(file);
}

/* -- show ------------------------------------------------------------------------------ */

static const char *progress(const struct state *s, int step, const char *host)
{
	static const char *const words[] = {
		[NOT_DONE] = "-", [BEGUN] = "begun", [DONE] = "done", [UNDONE] = "undone",
	};

	return s ? words[state_done(s, step, host)] : "-";
}

/* An object for each change, that is, each step on each host. */
static struct json_object *plan_json(const struct plan *p, const struct state *s)
{
	struct json_object *array = json_object_new_array(), *o, *checks;
	int i, j, k;

	for (i = 0; i < p->nr_steps; i++) {
		const struct step *step = &p->steps[i];

		for (j = 0; j < step->nr_hosts; j++) {
			const char *host = p->hosts[step->hosts[j]].name;

			o = json_object_new_object();
			checks = json_object_new_array();
			json_object_object_add(o, "step", json_object_new_int(i + 1));
			json_object_object_add(o, "name", json_object_new_string(step->name));
			json_object_object_add(o, "host", json_object_new_string(host));
			json_object_object_add(o, "run", words_json(&step->run));
			json_object_object_add(o, "state",
					       json_object_new_string(progress(s, i, host)));
			for (k = 0; k < step->nr_checks; k++)
				json_object_array_add(checks,
						      json_object_new_string(step->checks[k].text));
			json_object_object_add(o, "check", checks);
			json_object_array_add(array, o);
		}
	}
	return array;
}

static char *change_step(struct json_object *change)
{
	return text_printf("%s", string_at(change, "step"));
}

static char *change_name(struct json_object *change)
{
	return text_printf("%s", string_at(change, "name"));
}

static char *change_host(struct json_object *change)
{
	return text_printf("%s", string_at(change, "host"));
}

static char *change_state(struct json_object *change)
{
	return text_printf("%s", string_at(change, "state"));
}

static char *change_checks(struct json_object *change)
{
	return text_printf("%zu", json_object_array_length(json_at(change, "check")));
}

static char *change_command(struct json_object *change)
{
	struct command c = words_from_json(json_at(change, "run"));

	return words_text(&c);
}

static const struct column columns[] = {
	{ "STEP", .text = change_step, .right = true },
	{ "HOST", .text = change_host },
	{ "STATE", .text = change_state },
	{ "CHECKS", .text = change_checks, .right = true },
	{ "NAME", .text = change_name },
	{ "COMMAND", .text = change_command },
	{ }
};

static int run_show(struct args *args)
{
	struct plan *p = need_plan(args, NULL, NULL);
	struct state *s = state_read(p->file);
	struct json_object *array = plan_json(p, s);

	if (options.json)
		print_json(array);
	else
		print_table(NULL, columns, array);
	if (s && strcmp(state_hash(s), p->hash))
		fprintf(stderr, "mrpc: '%s' has changed since it was begun\n", p->file);
	json_object_put(array);
	return 0;
}

/* -- check, apply, resume, rollback --------------------------------------------------------- */

static int run_check(struct args *args)
{
	struct plan *p = need_plan(args, NULL, NULL);
	int status = plan_validate(p, !options.json);

	if (options.json)
		printf("{\"plan\":%s,\"result\":\"%s\"}\n",
		       json_object_to_json_string(json_object_new_string(p->file)),
		       status ? "refused" : "good");
	else if (!status)
		printf("%s: %d steps on %d hosts can be made\n", p->file, p->nr_steps, p->nr_hosts);
	return status;
}

static int run_apply(struct args *args)
{
	bool dry = false, keep = false;
	struct plan *p = need_plan(args, &dry, &keep);
	struct state *s = state_read(p->file);

	if (s && !state_end(s) && !dry)
		fail("'%s' was begun and has not ended: 'mrpc plan resume %s' goes on, 'mrpc plan rollback %s' goes back",
		     p->file, p->file, p->file);
	interrupt_catch();
	if (plan_validate(p, false))
		return EXIT_FAILED;
	if (dry)
		return plan_dry_run(p);
	return plan_apply(p, state_new(p), keep);
}

static int run_resume(struct args *args)
{
	bool keep = false;
	struct plan *p = need_plan(args, NULL, &keep);
	struct state *s = state_read(p->file);

	if (!s || state_end(s))
		fail("there is nothing to resume: '%s' %s%s", p->file,
		     s ? "was " : "has not been begun", s ? state_end(s) : "");
	if (strcmp(state_hash(s), p->hash))
		fail("'%s' has changed since it was begun; 'mrpc plan rollback %s' takes back what was done",
		     p->file, p->file);
	if (state_undoing(s))
		fail("'%s' is being rolled back; 'mrpc plan rollback %s' goes on with that", p->file,
		     p->file);
	interrupt_catch();
	if (plan_validate(p, false))
		return EXIT_FAILED;
	return plan_apply(p, s, keep);
}

/*
 * Also of a plan that was applied long ago, has changed or is gone: the state file
 * knows all.
 */
static int run_rollback(struct args *args)
{
	const char *file = need_word(args, "the file with the plan");
	struct state *s;

	no_more_words(args);
	plan_lock(file);
	s = state_read(file);
	if (!s)
		fail("there is nothing to roll back: '%s' has not been begun", file);
	if (state_end(s) && !strcmp(state_end(s), "rolled back"))
		fail("there is nothing to roll back: '%s' was rolled back", file);
	interrupt_catch();
	return plan_roll_back(s, file);
}

int do_plan(struct args *args)
{
	static const struct word commands[] = {
		{ "check", run_check },
		{ "show", run_show },
		{ "apply", run_apply, .whole = true },
		{ "resume", run_resume, .whole = true },
		{ "rollback", run_rollback, .whole = true },
		{ "help" },
		{ }
	};

	return run_command(args, "plan", commands, "help");
}
