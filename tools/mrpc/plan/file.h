/* SPDX-License-Identifier: GPL-2.0 */
/* mrpc plan: from YAML to a plan. */
#ifndef MRPC_TOOL_PLAN_FILE_H
#define MRPC_TOOL_PLAN_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "plan/words.h"

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
 * @undo: what takes it back; none: it is found out (undo.c)
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

int plan_lock(const char *file);
struct plan *plan_read(const char *file);
void __attribute__((noreturn, format(printf, 3, 4)))
plan_bad(const struct plan *p, struct mark mark, const char *fmt, ...);

#endif /* MRPC_TOOL_PLAN_FILE_H */
