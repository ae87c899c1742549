/* SPDX-License-Identifier: GPL-2.0 */
/* Sets of keys, which rules of engines refer to by their names. */
#ifndef MRPC_TOOL_RULES_KEYSET_H
#define MRPC_TOOL_RULES_KEYSET_H

#include <stdint.h>

#include "nl/body.h"

struct args;
struct json_object;

int do_keyset(struct args *args);
struct json_object *keyset_array(void);
struct json_object *keyset_find(struct json_object *array, const char *name);
uint32_t keyset_kind(struct json_object *keyset);
struct body keyset_keys(const char *name);
void keyset_send(int cmd, const char *name, const struct body *keys);

#endif /* MRPC_TOOL_RULES_KEYSET_H */
