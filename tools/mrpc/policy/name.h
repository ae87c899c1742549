/* SPDX-License-Identifier: GPL-2.0 */
/* Policies by their names. */
#ifndef MRPC_TOOL_POLICY_NAME_H
#define MRPC_TOOL_POLICY_NAME_H

#include <stdint.h>

struct json_object;

struct json_object *policy_find(const char *name, uint32_t version);
char *policy_label(const char *name, uint32_t version);

#endif /* MRPC_TOOL_POLICY_NAME_H */
