/* SPDX-License-Identifier: GPL-2.0 */
/* Schemas: those that the kernel has, and files. */
#ifndef MRPC_TOOL_SHOW_SCHEMAS_H
#define MRPC_TOOL_SHOW_SCHEMAS_H

#include <stdbool.h>

struct args;
struct json_object;

int do_schema(struct args *args);
struct json_object *schema_array(bool methods);
void schema_blocks(struct json_object *array);

#endif /* MRPC_TOOL_SHOW_SCHEMAS_H */
