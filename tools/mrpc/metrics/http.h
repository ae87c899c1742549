/* SPDX-License-Identifier: GPL-2.0 */
/* The little of HTTP/1.1 that the exporter needs: is this a request for /metrics? */
#ifndef MRPC_TOOL_METRICS_HTTP_H
#define MRPC_TOOL_METRICS_HTTP_H

#include <stddef.h>

#define HTTP_MAX	4096	/* bytes of a request */

int http_parse(const char *text, size_t len);
const char *http_reason(int status);

#endif /* MRPC_TOOL_METRICS_HTTP_H */
