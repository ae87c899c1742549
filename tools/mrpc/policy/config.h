/* SPDX-License-Identifier: GPL-2.0 */
/* Policies in a configuration: 'config save' and 'config restore'. */
#ifndef MRPC_TOOL_POLICY_CONFIG_H
#define MRPC_TOOL_POLICY_CONFIG_H

#include <stdbool.h>

struct json_object;

struct json_object *policies_saved(struct json_object *names);
bool policies_restore(struct json_object *policies);

#endif /* MRPC_TOOL_POLICY_CONFIG_H */
