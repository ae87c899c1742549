/* SPDX-License-Identifier: GPL-2.0 */
/* Sets of keys in a configuration: 'config save' and 'config restore'. */
#ifndef MRPC_TOOL_RULES_KEYSET_CONFIG_H
#define MRPC_TOOL_RULES_KEYSET_CONFIG_H

#include <stdbool.h>

struct json_object;

struct json_object *keyset_saved(void);
bool keyset_restore(struct json_object *sets, bool exact);
bool keyset_remove_others(struct json_object *sets);

#endif /* MRPC_TOOL_RULES_KEYSET_CONFIG_H */
