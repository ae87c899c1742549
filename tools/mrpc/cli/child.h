/* SPDX-License-Identifier: GPL-2.0 */
/* A command in a process of its own. */
#ifndef MRPC_TOOL_CLI_CHILD_H
#define MRPC_TOOL_CLI_CHILD_H

struct args;

int run_child(int (*run)(struct args *args), struct args *args);

#endif /* MRPC_TOOL_CLI_CHILD_H */
