/* SPDX-License-Identifier: GPL-2.0 */
/* The half of the exporter that may ask the kernel. */
#ifndef MRPC_TOOL_METRICS_COLLECTOR_H
#define MRPC_TOOL_METRICS_COLLECTOR_H

#include <stdbool.h>

void __attribute__((noreturn)) collector_run(int fd);
int collector_receive(int fd, bool *good);

#endif /* MRPC_TOOL_METRICS_COLLECTOR_H */
