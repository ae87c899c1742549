/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MRPC_TOOL_STATUS_H
#define MRPC_TOOL_STATUS_H

extern const char *const status_names[];	/* of enum mrpc_status, then NULL */

#endif /* MRPC_TOOL_STATUS_H */
