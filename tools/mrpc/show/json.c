// SPDX-License-Identifier: GPL-2.0
/* Looking into JSON objects. */
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "cli/util.h"
#include "show/json.h"

/* What is at keys with dots between, or NULL. */
struct json_object *json_at(struct json_object *object, const char *path)
{
	char key[64];

	while (object && *path) {
		size_t len = strcspn(path, ".");

		snprintf(key, sizeof(key), "%.*s", (int)len, path);
		if (!json_object_object_get_ex(object, key, &object))
			return NULL;
		path += len + (path[len] == '.');
	}
	return object;
}

struct json_object *entries_of(struct json_object *array, const char *key)
{
	struct json_object *all = json_object_new_array(), *object, *map, *entry;
	size_t i;

	for (i = 0; i < json_object_array_length(array); i++) {
		object = json_object_array_get_idx(array, i);
		map = json_at(object, key);
		if (!map)
			continue;
		json_object_object_foreach(map, name, value) {
			entry = json_object_new_object();
			json_object_object_add(entry, "of", json_object_get(object));
			json_object_object_add(entry, "name", json_object_new_string(name));
			json_object_object_add(entry, "value", json_object_get(value));
			json_object_array_add(all, entry);
		}
	}
	return all;
}

uint64_t number_at(struct json_object *object, const char *path)
{
	return json_object_get_uint64(json_at(object, path));
}

const char *string_at(struct json_object *object, const char *path)
{
	struct json_object *value = json_at(object, path);

	return value ? json_object_get_string(value) : NULL;
}

char *text_joined(struct json_object *array, const char *between)
{
	size_t i, len = 0;
	char *text = NULL;
	FILE *out = open_text(&text, &len);

	for (i = 0; i < json_object_array_length(array); i++)
		fprintf(out, "%s%s", i ? between : "",
			json_object_get_string(json_object_array_get_idx(array, i)));
	fclose(out);
	return text;
}

/* Of @object, what it has of these @keys; nothing of NULL. */
struct json_object *json_part(struct json_object *object, const char *const *keys)
{
	struct json_object *state = json_object_new_object(), *value;

	for (; object && *keys; keys++)
		if (json_object_object_get_ex(object, *keys, &value))
			json_object_object_add(state, *keys, json_object_get(value));
	return state;
}
