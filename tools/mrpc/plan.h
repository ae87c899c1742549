/* SPDX-License-Identifier: GPL-2.0 */
/* mrpc plan: what its files share. */
#ifndef MRPC_TOOL_PLAN_H
#define MRPC_TOOL_PLAN_H

#include <signal.h>
#include <stddef.h>

#include "tool.h"

#define PLAN_FILE_MAX	(1 << 20)

/* Where something is in the file, from 1. */
struct mark {
	size_t line;
	size_t column;
};

/**
 * struct host - where commands can be run
 * @name: its name
 * @mark: where it stands
 * @via: words before the command; none: here
 * @nr_via: how many
 * @quote: they hand the command to a shell, as ssh does
 */
struct host {
	char *name;
	struct mark mark;
	char **via;
	int nr_via;
	bool quote;
};

/* Words behind "mrpc". */
struct command {
	char **words;
	int nr;
};

/**
 * struct condition - what must become true
 * @mark: where it stands
 * @text: as it was written
 * @hosts: indexes; where
 * @nr_hosts: how many
 * @show: what to ask; none: calls must not fail for @quiet
 * @path: a value in the JSON of that
 * @op: one of "== != <= >= < >"
 * @value: with what to compare it
 * @quiet: ns
 */
struct condition {
	struct mark mark;
	char *text;
	int *hosts;
	int nr_hosts;
	struct command show;
	char *path;
	char *op;
	char *value;
	uint64_t quiet;
};

/**
 * struct step - a change
 * @name: for people
 * @mark: where it stands
 * @hosts: indexes; in this order
 * @nr_hosts: how many
 * @run: the change
 * @run_mark: where that stands
 * @undo: what takes it back; none: it is found out (plan_undo.c)
 * @no_undo: nothing has to be taken back
 * @checks: conditions
 * @nr_checks: how many
 * @within: ns in which they must have become true
 * @pause: ns to wait afterwards
 * @abort_if: rule about latencies, or NULL
 */
struct step {
	char *name;
	struct mark mark;
	int *hosts;
	int nr_hosts;
	struct command run;
	struct mark run_mark;
	struct command undo;
	bool no_undo;
	struct condition *checks;
	int nr_checks;
	uint64_t within;
	uint64_t pause;
	char *abort_if;
};

/**
 * struct plan - a file
 * @file: its name
 * @hash: SHA-256, in hexadecimal
 */
struct plan {
	const char *file;
	char hash[65];
	struct host *hosts;
	int nr_hosts;
	struct step *steps;
	int nr_steps;
};

/* -- plan_file.c: reading ---------------------------------------------- */

int plan_lock(const char *file);
struct plan *plan_read(const char *file);
void __attribute__((noreturn, format(printf, 3, 4)))
plan_bad(const struct plan *p, struct mark mark, const char *fmt, ...);

/* -- plan_words.c: commands ----------------------------------------------------------- */

/* How a change is taken back. */
enum inverse {
	INVERSE_GIVEN,		/* the plan says it */
	INVERSE_NONE,		/* nothing to take back */
	INVERSE_ADD, INVERSE_DEL, INVERSE_SET, INVERSE_REPLACE,		/* engines */
	INVERSE_PAUSE, INVERSE_RESUME,
	INVERSE_RUNTIME_ADD, INVERSE_RUNTIME_DEL, INVERSE_RUNTIME_SET,
	INVERSE_EGRESS_SET, INVERSE_EGRESS_DEL, INVERSE_EGRESS_HOLD,
	INVERSE_CREATE,		/* of a set of keys */
};

bool words_split(const char *text, struct command *c, char **why);
void words_add(struct command *c, const char *word);
struct command command(const char *word, ...);
char *words_text(const struct command *c);
struct json_object *words_json(const struct command *c);
struct command words_from_json(struct json_object *array);
bool words_change(const struct command *c, enum inverse *inverse, char **why);
bool words_show(const struct command *c, char **why);

/* -- plan_run.c: running commands on hosts ----------------------------------------------- */

extern volatile sig_atomic_t plan_interrupted;

/**
 * struct outcome - what a command did
 * @status: its exit status; -1: it did not end in time, or could not be run
 * @out: what it printed
 * @err: what it complained
 */
struct outcome {
	int status;
	char *out;
	char *err;
};

void plan_catch(void);
bool plan_wait(uint64_t ns);
uint64_t plan_clock(void);
struct outcome host_run(const struct host *h, const struct command *c, bool show);
struct json_object *host_ask(const struct host *h, const struct command *c, char **why);
bool outcome_known(const struct outcome *o);
char *outcome_why(const struct outcome *o);
void outcome_free(struct outcome *o);

/* -- plan_undo.c: taking changes back --------------------------------------------------------- */

/**
 * struct before - what was before a change
 * @state: of what will be changed, to see later whether it was; NULL: that cannot be seen
 * @undo: what takes it back; no words: nothing does
 * @why: there is no way to take it back
 */
struct before {
	struct json_object *state;
	struct command undo;
	char *why;
};

struct before undo_find(const struct host *h, const struct step *s);
struct json_object *undo_state(const struct host *h, const struct command *run);
struct json_object *undo_part(struct json_object *object, const char *const *keys);
bool undo_unfinished(struct json_object *state);

/* -- plan_egress.c: changes of egress domains --------------------------------------------------- */

struct command undo_egress(const struct host *h, const struct command *run, enum inverse inverse,
			   char **why);
struct json_object *egress_state(const struct host *h, const struct command *run);

/* -- plan_check.c: conditions --------------------------------------------------------------------- */

char *check_step(const struct plan *p, const struct step *s);

struct json_object *check_series(void *host);

/* -- plan_state.c: how far it has come ---------------------------------------------------------------- */

enum done { NOT_DONE, BEGUN, DONE, UNDONE };

struct state;

char *state_file(const char *plan);
struct state *state_new(const struct plan *p);
struct state *state_read(const char *plan);
const char *state_hash(const struct state *s);
const char *state_end(const struct state *s);
void state_begin(struct state *s, int step, const struct step *what, const struct host *h,
		 const struct before *before);
void state_mark(struct state *s, int step, const char *host, const char *what);
void state_finish(struct state *s, const char *how);
enum done state_done(const struct state *s, int step, const char *host);
bool state_checked(const struct state *s, int step);
bool state_undoing(const struct state *s);
struct json_object *state_change(const struct state *s, int step, const char *host);
struct json_object *state_changes(const struct state *s);
struct host *state_host(const struct state *s, const char *name);

/* -- plan_apply.c: making, resuming and taking back ------------------------------------------------------- */

int plan_validate(const struct plan *p, bool say);
int plan_dry_run(const struct plan *p);
int plan_apply(const struct plan *p, struct state *s, bool keep);
int plan_roll_back(struct state *s, const char *plan);

#endif /* MRPC_TOOL_PLAN_H */
