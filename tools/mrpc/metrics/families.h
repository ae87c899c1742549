/* SPDX-License-Identifier: GPL-2.0 */
/* What the kernel knows, as samples of families. */
#ifndef MRPC_TOOL_METRICS_FAMILIES_H
#define MRPC_TOOL_METRICS_FAMILIES_H

#include <stdio.h>

void print_metrics(FILE *out);

#endif /* MRPC_TOOL_METRICS_FAMILIES_H */
