/* SPDX-License-Identifier: GPL-2.0 */
/* Changes of engines. */
#ifndef MRPC_TOOL_ENGINE_CHANGE_H
#define MRPC_TOOL_ENGINE_CHANGE_H

#include <stdbool.h>
#include <stdint.h>

#include "nl/body.h"

struct args;
struct json_object;

/**
 * struct change - a change to make
 * @cmd: MRPC_CMD_ENGINE_*
 * @what: in the past tense, for people
 * @name: of the engine
 * @scope: of it, as JSON, or NULL
 * @body: the request, without percent
 * @step: percent in each step; 0: all at once
 * @every: ns between them
 * @abort_if: rule, or NULL
 */
struct change {
	int cmd;
	const char *what;
	const char *name;
	struct json_object *scope;
	struct body body;
	uint32_t step;
	uint64_t every;
	const char *abort_if;
};

bool change_option(struct change *c, struct args *args);
int change_run(struct change *c);

#endif /* MRPC_TOOL_ENGINE_CHANGE_H */
