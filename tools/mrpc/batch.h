/* SPDX-License-Identifier: GPL-2.0 */
/* Commands from a file. */
#ifndef MRPC_TOOL_BATCH_H
#define MRPC_TOOL_BATCH_H

struct args;

int run_batch(const char *file, int (*run)(struct args *args));

#endif /* MRPC_TOOL_BATCH_H */
