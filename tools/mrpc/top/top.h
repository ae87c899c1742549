/* SPDX-License-Identifier: GPL-2.0 */
/* mrpc top: what happens, as a live screen or, for scripts, some times. */
#ifndef MRPC_TOOL_TOP_TOP_H
#define MRPC_TOOL_TOP_TOP_H

struct args;

int do_top(struct args *args);

#endif /* MRPC_TOOL_TOP_TOP_H */
