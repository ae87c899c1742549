/* SPDX-License-Identifier: GPL-2.0 */
/* mrpc metrics: groups. */
#ifndef MRPC_TOOL_METRICS_GROUP_H
#define MRPC_TOOL_METRICS_GROUP_H

#include <stdio.h>

void print_groups(FILE *out);

#endif /* MRPC_TOOL_METRICS_GROUP_H */
