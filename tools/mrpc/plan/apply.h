/* SPDX-License-Identifier: GPL-2.0 */
/* mrpc plan. */
#ifndef MRPC_TOOL_PLAN_APPLY_H
#define MRPC_TOOL_PLAN_APPLY_H

#include <stdbool.h>

struct plan;
struct state;

int plan_validate(const struct plan *p, bool say);
int plan_dry_run(const struct plan *p);
int plan_apply(const struct plan *p, struct state *s, bool keep);
int plan_roll_back(struct state *s, const char *plan);

#endif /* MRPC_TOOL_PLAN_APPLY_H */
