/* SPDX-License-Identifier: GPL-2.0 */
/* Egress domains: what the files about them share. */
#ifndef MRPC_TOOL_EGRESS_H
#define MRPC_TOOL_EGRESS_H

#include "tool.h"

char *domain_words(const char *dev);
struct json_object *domain_find(struct json_object *array, const char *dev);

#endif /* MRPC_TOOL_EGRESS_H */
