/* SPDX-License-Identifier: GPL-2.0 */
/* mrpc plan: running commands on hosts. */
#ifndef MRPC_TOOL_PLAN_RUN_H
#define MRPC_TOOL_PLAN_RUN_H

#include <stdbool.h>

#include "plan/words.h"

struct host;
struct json_object;

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

struct outcome host_run(const struct host *h, const struct command *c, bool show);
struct json_object *host_ask(const struct host *h, const struct command *c, char **why);
bool outcome_known(const struct outcome *o);
char *outcome_why(const struct outcome *o);
void outcome_free(struct outcome *o);

#endif /* MRPC_TOOL_PLAN_RUN_H */
