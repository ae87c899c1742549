/* SPDX-License-Identifier: GPL-2.0 */
/* Sets of keys: what their files share. */
#ifndef MRPC_TOOL_KEYSET_H
#define MRPC_TOOL_KEYSET_H

#include "tool.h"

/* -- keyset_keys.c: keys as text, as JSON and as attributes ---------------------------- */

const char *key_put(struct body *keys, uint32_t kind, const char *text, size_t len);
bool key_put_json(struct body *keys, uint32_t kind, struct json_object *value);
struct json_object *key_json(uint32_t kind, const char *key, size_t len);
void key_print(uint32_t kind, const char *key, size_t len);
void key_print_json(uint32_t kind, const char *key, size_t len);

/* -- keyset.c: the kernel's sets --------------------------------------------------------- */

struct json_object *keyset_array(void);
struct json_object *keyset_find(struct json_object *array, const char *name);
uint32_t keyset_kind(struct json_object *keyset);
struct body keyset_keys(const char *name);
void keyset_send(int cmd, const char *name, const struct body *keys);

#endif /* MRPC_TOOL_KEYSET_H */
