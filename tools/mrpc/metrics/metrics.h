/* SPDX-License-Identifier: GPL-2.0 */
/* mrpc metrics: once, or as a service. */
#ifndef MRPC_TOOL_METRICS_METRICS_H
#define MRPC_TOOL_METRICS_METRICS_H

struct args;

int do_metrics(struct args *args);

#endif /* MRPC_TOOL_METRICS_METRICS_H */
