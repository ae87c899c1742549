/* SPDX-License-Identifier: GPL-2.0 */
/* Looking into JSON objects. */
#ifndef MRPC_TOOL_SHOW_JSON_H
#define MRPC_TOOL_SHOW_JSON_H

#include <stdint.h>

struct json_object;

char *text_joined(struct json_object *array, const char *between);
struct json_object *json_at(struct json_object *object, const char *path);

/*
 * An object for each entry of the objects' maps at @key: its "name", its "value", and the
 * object that it is "of".
 */
struct json_object *entries_of(struct json_object *array, const char *key);

struct json_object *json_part(struct json_object *object, const char *const *keys);
uint64_t number_at(struct json_object *object, const char *path);
const char *string_at(struct json_object *object, const char *path);

#endif /* MRPC_TOOL_SHOW_JSON_H */
