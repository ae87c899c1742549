/* SPDX-License-Identifier: GPL-2.0 */
/* Runtimes: kernel threads that run datapaths. */
#ifndef MRPC_TOOL_ENGINE_RUNTIME_H
#define MRPC_TOOL_ENGINE_RUNTIME_H

struct args;

int do_runtime(struct args *args);

#endif /* MRPC_TOOL_ENGINE_RUNTIME_H */
