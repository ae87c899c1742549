/* SPDX-License-Identifier: GPL-2.0 */
/* Giving up what a service does not need. */
#ifndef MRPC_TOOL_METRICS_PRIVILEGES_H
#define MRPC_TOOL_METRICS_PRIVILEGES_H

void keep_only(int capability);

#endif /* MRPC_TOOL_METRICS_PRIVILEGES_H */
