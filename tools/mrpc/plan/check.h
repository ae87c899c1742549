/* SPDX-License-Identifier: GPL-2.0 */
/* mrpc plan: conditions, asked again and again until all are true. */
#ifndef MRPC_TOOL_PLAN_CHECK_H
#define MRPC_TOOL_PLAN_CHECK_H

struct json_object;
struct plan;
struct step;

char *check_step(const struct plan *p, const struct step *s);
struct json_object *check_series(void *host);

#endif /* MRPC_TOOL_PLAN_CHECK_H */
