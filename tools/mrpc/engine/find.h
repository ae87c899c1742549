/* SPDX-License-Identifier: GPL-2.0 */
/* The engines that the kernel has. */
#ifndef MRPC_TOOL_ENGINE_FIND_H
#define MRPC_TOOL_ENGINE_FIND_H

struct json_object;

struct json_object *engine_array(void);
struct json_object *engine_get(const char *name);

#endif /* MRPC_TOOL_ENGINE_FIND_H */
