/* SPDX-License-Identifier: GPL-2.0 */
/* Engines and their types. */
#ifndef MRPC_TOOL_ENGINE_ENGINE_H
#define MRPC_TOOL_ENGINE_ENGINE_H

struct args;
struct json_object;

int do_engine(struct args *args);
void engine_blocks(struct json_object *array);

#endif /* MRPC_TOOL_ENGINE_ENGINE_H */
