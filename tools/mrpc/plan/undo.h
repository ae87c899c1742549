/* SPDX-License-Identifier: GPL-2.0 */
/* mrpc plan: what takes a change back, from what there was before it. */
#ifndef MRPC_TOOL_PLAN_UNDO_H
#define MRPC_TOOL_PLAN_UNDO_H

#include <stdbool.h>

#include "plan/words.h"

struct host;
struct json_object;
struct step;

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
bool undo_unfinished(struct json_object *state);

#endif /* MRPC_TOOL_PLAN_UNDO_H */
