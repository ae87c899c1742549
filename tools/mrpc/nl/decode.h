/* SPDX-License-Identifier: GPL-2.0 */
/* From netlink attributes to JSON objects. */
#ifndef MRPC_TOOL_NL_DECODE_H
#define MRPC_TOOL_NL_DECODE_H

#include <stddef.h>

struct json_object;
struct nlattr;
struct set;

struct json_object *decode(const struct set *set, const struct nlattr *attrs, int len);
char *clean_text(const char *text, size_t len);

#endif /* MRPC_TOOL_NL_DECODE_H */
