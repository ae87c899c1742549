/* SPDX-License-Identifier: GPL-2.0 */
/* The exporter: a small server of HTTP/1.1 that knows one path, /metrics. */
#ifndef MRPC_TOOL_METRICS_EXPORTER_H
#define MRPC_TOOL_METRICS_EXPORTER_H

int exporter_run(const char *address);

#endif /* MRPC_TOOL_METRICS_EXPORTER_H */
