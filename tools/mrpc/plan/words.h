/* SPDX-License-Identifier: GPL-2.0 */
/* mrpc plan: commands as words, and which ones a plan may have. */
#ifndef MRPC_TOOL_PLAN_WORDS_H
#define MRPC_TOOL_PLAN_WORDS_H

#include <stdbool.h>

struct json_object;

/* Words behind "mrpc". */
struct command {
	char **words;
	int nr;
};

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

#endif /* MRPC_TOOL_PLAN_WORDS_H */
