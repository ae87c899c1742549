/* SPDX-License-Identifier: GPL-2.0 */
/* mrpc plan: what takes changes of egress domains back. */
#ifndef MRPC_TOOL_PLAN_EGRESS_H
#define MRPC_TOOL_PLAN_EGRESS_H

#include "plan/words.h"

struct host;
struct json_object;

struct command undo_egress(const struct host *h, const struct command *run, enum inverse inverse,
			   char **why);
struct json_object *egress_state(const struct host *h, const struct command *run);

#endif /* MRPC_TOOL_PLAN_EGRESS_H */
