/* SPDX-License-Identifier: GPL-2.0 */
/* mrpc metrics: the histograms that engines keep. */
#ifndef MRPC_TOOL_METRICS_HIST_H
#define MRPC_TOOL_METRICS_HIST_H

#include <stdio.h>

struct json_object;

struct json_object *metrics_series(void);
void print_histograms(FILE *out, struct json_object *series);

#endif /* MRPC_TOOL_METRICS_HIST_H */
