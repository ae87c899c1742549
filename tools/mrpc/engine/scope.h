/* SPDX-License-Identifier: GPL-2.0 */
/* Scopes, as people write them: which datapaths a placement is for. */
#ifndef MRPC_TOOL_ENGINE_SCOPE_H
#define MRPC_TOOL_ENGINE_SCOPE_H

#include <stdbool.h>

struct args;
struct body;
struct json_object;

/* Does a word begin an item of a scope? */
bool is_scope_word(const char *word);
void parse_scope(struct args *args, struct body *b);
void put_scope(struct body *b, struct json_object *scope);
struct json_object *portable_scope(struct json_object *scope);
char *text_scope(struct json_object *scope);

#endif /* MRPC_TOOL_ENGINE_SCOPE_H */
