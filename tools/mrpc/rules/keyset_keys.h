/* SPDX-License-Identifier: GPL-2.0 */
/* Keys of sets, as text, as JSON and as attributes. */
#ifndef MRPC_TOOL_RULES_KEYSET_KEYS_H
#define MRPC_TOOL_RULES_KEYSET_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct body;
struct json_object;

const char *key_put(struct body *keys, uint32_t kind, const char *text, size_t len);
bool key_put_json(struct body *keys, uint32_t kind, struct json_object *value);
struct json_object *key_json(uint32_t kind, const char *key, size_t len);
void key_print(uint32_t kind, const char *key, size_t len);
void key_print_json(uint32_t kind, const char *key, size_t len);

#endif /* MRPC_TOOL_RULES_KEYSET_KEYS_H */
