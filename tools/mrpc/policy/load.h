/* SPDX-License-Identifier: GPL-2.0 */
/* Loading policies, and replacing their programs while calls pass. */
#ifndef MRPC_TOOL_POLICY_LOAD_H
#define MRPC_TOOL_POLICY_LOAD_H

struct args;

int policy_load(struct args *args);
int policy_replace(struct args *args);

#endif /* MRPC_TOOL_POLICY_LOAD_H */
