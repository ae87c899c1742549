/* SPDX-License-Identifier: GPL-2.0 */
/* Parameters of engine types: from words to attributes, and back. */
#ifndef MRPC_TOOL_ENGINE_PARAMS_H
#define MRPC_TOOL_ENGINE_PARAMS_H

#include <stdint.h>

struct body;
struct json_object;

struct json_object *type_get(const char *name, uint32_t version);
struct json_object *find_param(struct json_object *type, const char *name);
void split_type(const char *word, char **name, uint32_t *version);
void put_param(struct body *b, struct json_object *type, const char *name, const char *word);
void put_param_json(struct body *b, struct json_object *type, const char *name,
		    struct json_object *value);
void add_rule_texts(struct json_object *engine);
char *text_params(struct json_object *values, struct json_object *type);

#endif /* MRPC_TOOL_ENGINE_PARAMS_H */
