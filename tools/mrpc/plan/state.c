// SPDX-License-Identifier: GPL-2.0
/*
 * mrpc plan: the progress of a plan, in a file beside the plan. The file has a line of JSON for
 * the plan and its hosts, then one for each thing that was begun or done. The command that takes a
 * change back is written before the change is made. The file is replaced as a whole each time. So
 * a process that is killed leaves the old or the new file.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <json-c/json.h>

#include "cli/file.h"
#include "cli/util.h"
#include "plan/file.h"
#include "plan/state.h"
#include "plan/undo.h"
#include "plan/words.h"
#include "show/json.h"

#define STATE_MAX	(64 << 20)

/**
 * struct state - progress of a plan
 * @file: its name
 * @lines: objects: first "plan", then "change", "done" ...
 */
struct state {
	char *file;
	struct json_object *lines;
};

/* The name of a plan's state file; to be freed. */
char *state_file(const char *plan)
{
	return text_printf("%s.state", plan);
}

/* -- writing ------------------------------------------------------------------------------ */

static void write_state(const struct state *s)
{
	char *text = NULL;
	size_t len = 0, i;
	FILE *out = open_text(&text, &len);

	for (i = 0; i < json_object_array_length(s->lines); i++)
		fprintf(out, "%s\n",
			json_object_to_json_string_ext(json_object_array_get_idx(s->lines, i),
						       JSON_C_TO_STRING_PLAIN |
						       JSON_C_TO_STRING_NOSLASHESCAPE));
	fclose(out);
	write_file(s->file, text, len);
	free(text);
}

static void add_line(struct state *s, struct json_object *line)
{
	json_object_array_add(s->lines, line);
	write_state(s);
}

static struct json_object *host_json(const struct host *h)
{
	struct command via = { h->via, h->nr_via };
	struct json_object *object = json_object_new_object();

	json_object_object_add(object, "via", words_json(&via));
	json_object_object_add(object, "quote", json_object_new_boolean(h->quote));
	return object;
}

/* Starts the state of a plan. An older state of it is dropped. */
struct state *state_new(const struct plan *p)
{
	struct json_object *line = json_object_new_object(), *hosts = json_object_new_object();
	struct state *s = calloc(1, sizeof(*s));
	int i;

	if (!s)
		fail("out of memory");
	s->file = state_file(p->file);
	s->lines = json_object_new_array();
	for (i = 0; i < p->nr_hosts; i++)
		json_object_object_add(hosts, p->hosts[i].name, host_json(&p->hosts[i]));
	json_object_object_add(line, "plan", json_object_new_string(p->hash));
	json_object_object_add(line, "steps", json_object_new_int(p->nr_steps));
	json_object_object_add(line, "hosts", hosts);
	add_line(s, line);
	return s;
}

static struct json_object *new_line(const char *what, int step, const char *host)
{
	struct json_object *line = json_object_new_object();

	json_object_object_add(line, "what", json_object_new_string(what));
	json_object_object_add(line, "step", json_object_new_int(step));
	if (host)
		json_object_object_add(line, "host", json_object_new_string(host));
	return line;
}

/* Records that a change is about to be made. */
void state_begin(struct state *s, int step, const struct step *what, const struct host *h,
		 const struct before *before)
{
	struct json_object *line = new_line("begun", step, h->name);

	json_object_object_add(line, "name", json_object_new_string(what->name));
	json_object_object_add(line, "run", words_json(&what->run));
	json_object_object_add(line, "undo", words_json(&before->undo));
	if (before->state)
		json_object_object_add(line, "before", json_object_get(before->state));
	add_line(s, line);
}

/*
 * Records that a change is "done", "undone", or has "failed" as a whole, or that a step is
 * "checked". For a step @host is NULL.
 */
void state_mark(struct state *s, int step, const char *host, const char *what)
{
	add_line(s, new_line(what, step, host));
}

/* Records that the plan is "applied" or "rolled back". */
void state_finish(struct state *s, const char *how)
{
	struct json_object *line = json_object_new_object();

	json_object_object_add(line, "end", json_object_new_string(how));
	add_line(s, line);
}

/* -- reading -------------------------------------------------------------------------------- */

static void __attribute__((noreturn)) bad_state(const struct state *s)
{
	fail("'%s' is not what 'mrpc plan' writes; 'mrpc plan show' tells the steps, to look by hand",
	     s->file);
}

static void check_line(const struct state *s, struct json_object *line, bool first)
{
	if (!json_object_is_type(line, json_type_object) ||
	    (first && (!string_at(line, "plan") ||
		       !json_object_is_type(json_at(line, "hosts"), json_type_object))) ||
	    (!first && !string_at(line, "end") &&
	     (!string_at(line, "what") || !json_at(line, "step"))))
		bad_state(s);
	if (!first && !strcmp(string_at(line, "what") ?: "", "begun") &&
	    (!string_at(line, "host") ||
	     !json_object_is_type(json_at(line, "run"), json_type_array) ||
	     !json_object_is_type(json_at(line, "undo"), json_type_array)))
		bad_state(s);
}

/**
 * state_read() - read the progress of a plan
 * @plan: its file
 *
 * Return: NULL: the plan has never been begun.
 */
struct state *state_read(const char *plan)
{
	struct state *s = calloc(1, sizeof(*s));
	char *text, *line, *save = NULL;
	struct json_object *object;
	size_t len;

	if (!s)
		fail("out of memory");
	s->file = state_file(plan);
	if (access(s->file, F_OK)) {
		free(s->file);
		free(s);
		return NULL;
	}
	text = read_file(s->file, STATE_MAX, &len);
	text[len] = 0;
	s->lines = json_object_new_array();
	for (line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		object = json_tokener_parse(line);
		check_line(s, object, !json_object_array_length(s->lines));
		json_object_array_add(s->lines, object);
	}
	if (!json_object_array_length(s->lines))
		bad_state(s);
	free(text);
	return s;
}

/* The hash of the plan that the state belongs to. */
const char *state_hash(const struct state *s)
{
	return string_at(json_object_array_get_idx(s->lines, 0), "plan");
}

/* How the plan ended; NULL: it has not ended. */
const char *state_end(const struct state *s)
{
	size_t nr = json_object_array_length(s->lines);

	return string_at(json_object_array_get_idx(s->lines, nr - 1), "end");
}

static bool is_line(struct json_object *line, const char *what, int step, const char *host)
{
	if (strcmp(string_at(line, "what") ?: "", what) ||
	    json_object_get_int(json_at(line, "step")) != step)
		return false;
	return !host || !strcmp(string_at(line, "host") ?: "", host);
}

/* The last line with these values, or NULL. */
static struct json_object *find_line(const struct state *s, const char *what, int step,
				     const char *host)
{
	size_t i;

	for (i = json_object_array_length(s->lines); i; i--) {
		struct json_object *line = json_object_array_get_idx(s->lines, i - 1);

		if (is_line(line, what, step, host))
			return line;
	}
	return NULL;
}

/* The last record of a change. */
enum done state_done(const struct state *s, int step, const char *host)
{
	static const struct {
		const char *what;
		enum done done;
	} words[] = {
		{ "begun", BEGUN }, { "done", DONE }, { "undone", UNDONE }, { "failed", NOT_DONE }
	};
	size_t i, j;

	for (i = json_object_array_length(s->lines); i; i--)
		for (j = 0; j < sizeof(words) / sizeof(*words); j++)
			if (is_line(json_object_array_get_idx(s->lines, i - 1), words[j].what,
				    step, host))
				return words[j].done;
	return NOT_DONE;
}

bool state_checked(const struct state *s, int step)
{
	return find_line(s, "checked", step, NULL);
}

/* Has a roll-back begun? */
bool state_undoing(const struct state *s)
{
	size_t i;

	for (i = 0; i < json_object_array_length(s->lines); i++)
		if (!strcmp(string_at(json_object_array_get_idx(s->lines, i), "what") ?: "", "undone"))
			return true;
	return false;
}

/* The record of the beginning of a change. */
struct json_object *state_change(const struct state *s, int step, const char *host)
{
	return find_line(s, "begun", step, host);
}

/* All changes that were begun, the last one first; to be put. */
struct json_object *state_changes(const struct state *s)
{
	struct json_object *array = json_object_new_array();
	size_t i;

	for (i = json_object_array_length(s->lines); i; i--) {
		struct json_object *line = json_object_array_get_idx(s->lines, i - 1);

		if (!strcmp(string_at(line, "what") ?: "", "begun"))
			json_object_array_add(array, json_object_get(line));
	}
	return array;
}

/* A host as it was when the plan began. It is never freed. */
struct host *state_host(const struct state *s, const char *name)
{
	struct json_object *hosts = json_at(json_object_array_get_idx(s->lines, 0), "hosts"), *host;
	struct host *h = calloc(1, sizeof(*h));
	struct command via;

	if (!h)
		fail("out of memory");
	if (!json_object_object_get_ex(hosts, name, &host))
		bad_state(s);
	via = words_from_json(json_at(host, "via"));
	h->name = text_printf("%s", name);
	h->via = via.words;
	h->nr_via = via.nr;
	h->quote = json_object_get_boolean(json_at(host, "quote"));
	return h;
}
