/* SPDX-License-Identifier: GPL-2.0 */
/* The last operations of ranks, as a table and as Chrome reads them. */
#ifndef MRPC_TOOL_SHOW_GROUP_TRACE_H
#define MRPC_TOOL_SHOW_GROUP_TRACE_H

struct json_object;

void group_trace_table(struct json_object *records);
struct json_object *group_trace_chrome(struct json_object *records);

#endif /* MRPC_TOOL_SHOW_GROUP_TRACE_H */
