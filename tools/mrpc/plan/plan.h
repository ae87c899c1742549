/* SPDX-License-Identifier: GPL-2.0 */
/* mrpc plan: changes of several hosts, step by step. */
#ifndef MRPC_TOOL_PLAN_PLAN_H
#define MRPC_TOOL_PLAN_PLAN_H

struct args;

int do_plan(struct args *args);

#endif /* MRPC_TOOL_PLAN_PLAN_H */
