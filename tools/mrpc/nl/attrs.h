/* SPDX-License-Identifier: GPL-2.0 */
/* For the tables of what the kernel's attributes mean: sets.c, sets_engine.c, sets_group.c. */
#ifndef MRPC_TOOL_NL_ATTRS_H
#define MRPC_TOOL_NL_ATTRS_H

#include "nl/sets.h"

#define SET(_attrs)	{ .max = sizeof(_attrs) / sizeof((_attrs)[0]) - 1, .attrs = (_attrs) }
#define NUMBER(_key)	{ .key = (_key), .kind = ATTR_NUMBER }
#define BYTES(_key)	{ .key = (_key), .kind = ATTR_BYTES }
#define TIME(_key)	{ .key = (_key), .kind = ATTR_TIME }
#define TEXT(_key)	{ .key = (_key), .kind = ATTR_TEXT }
#define HASH(_key)	{ .key = (_key), .kind = ATTR_HASH }
#define ENUM(_key, _names)	{ .key = (_key), .kind = ATTR_ENUM, .names = (_names) }
#define FLAGS(_key, _names)	{ .key = (_key), .kind = ATTR_FLAGS, .names = (_names) }
#define ADDR(_key)	{ .key = (_key), .kind = ATTR_ADDR }
#define NEST(_key, _set)	{ .key = (_key), .kind = ATTR_NEST, .set = (_set) }
#define LIST(_key, _set)	{ .key = (_key), .kind = ATTR_LIST, .set = (_set) }
#define MAP(_key, _set)	{ .key = (_key), .kind = ATTR_MAP, .set = (_set) }
#define FLAG(_key)	{ .key = (_key), .kind = ATTR_FLAG }
#define BOOL(_key)	{ .key = (_key), .kind = ATTR_BOOL }
#define WORDS(_key)	{ .key = (_key), .kind = ATTR_WORDS }
#define NUMBERS(_key)	{ .key = (_key), .kind = ATTR_NUMBERS }
#define DATA(_key)	{ .key = (_key), .kind = ATTR_DATA }

#endif /* MRPC_TOOL_NL_ATTRS_H */
