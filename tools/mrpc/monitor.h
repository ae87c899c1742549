/* SPDX-License-Identifier: GPL-2.0 */
/* mrpc monitor: what happens, a line for each event. */
#ifndef MRPC_TOOL_MONITOR_H
#define MRPC_TOOL_MONITOR_H

struct args;

int do_monitor(struct args *args);

#endif /* MRPC_TOOL_MONITOR_H */
