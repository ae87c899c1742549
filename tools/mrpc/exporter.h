/* SPDX-License-Identifier: GPL-2.0 */
/* The exporter: what its two processes share. */
#ifndef MRPC_TOOL_EXPORTER_H
#define MRPC_TOOL_EXPORTER_H

#include "metrics.h"

void __attribute__((noreturn)) collector_run(int fd);
int collector_receive(int fd, bool *good);

#endif /* MRPC_TOOL_EXPORTER_H */
