/* SPDX-License-Identifier: GPL-2.0 */
/* Egress domains in a configuration: 'config save' and 'config restore'. */
#ifndef MRPC_TOOL_ENGINE_EGRESS_CONFIG_H
#define MRPC_TOOL_ENGINE_EGRESS_CONFIG_H

#include <stdbool.h>

struct json_object;

struct json_object *domains_saved(void);
bool domains_restore(struct json_object *domains, bool exact);

#endif /* MRPC_TOOL_ENGINE_EGRESS_CONFIG_H */
