/* SPDX-License-Identifier: GPL-2.0 */
/* Queues of datapaths, what is in them, and holding them. */
#ifndef MRPC_TOOL_ENGINE_QUEUE_H
#define MRPC_TOOL_ENGINE_QUEUE_H

struct args;
struct json_object;

void queue_table(struct json_object *array);
char *queue_name(struct json_object *queue);
int do_queue(struct args *args);

#endif /* MRPC_TOOL_ENGINE_QUEUE_H */
