/* SPDX-License-Identifier: GPL-2.0 */
/* Scopes, as people write them: which datapaths a placement is for. */
#ifndef MRPC_TOOL_ENGINE_SCOPE_H
#define MRPC_TOOL_ENGINE_SCOPE_H

struct args;
struct body;
struct json_object;

void parse_scope(struct args *args, struct body *b);
void put_scope(struct body *b, struct json_object *scope);
struct json_object *portable_scope(struct json_object *scope);
char *text_scope(struct json_object *scope);

#endif /* MRPC_TOOL_ENGINE_SCOPE_H */
