/* SPDX-License-Identifier: GPL-2.0 */
/* mrpc metrics: what transports count. */
#ifndef MRPC_TOOL_METRICS_TRANSPORT_H
#define MRPC_TOOL_METRICS_TRANSPORT_H

#include <stdio.h>

void print_transports(FILE *out);

#endif /* MRPC_TOOL_METRICS_TRANSPORT_H */
