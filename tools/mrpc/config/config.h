/* SPDX-License-Identifier: GPL-2.0 */
/* The engines of a network namespace in a file, and back. */
#ifndef MRPC_TOOL_CONFIG_CONFIG_H
#define MRPC_TOOL_CONFIG_CONFIG_H

struct args;

int do_config(struct args *args);

#endif /* MRPC_TOOL_CONFIG_CONFIG_H */
