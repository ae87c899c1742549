// SPDX-License-Identifier: GPL-2.0
/* Where things stand in a .proto file. */
#include <stdlib.h>
#include <string.h>

#include "place.h"

struct path path_add(struct path base, int32_t a, int32_t b)
{
	int32_t *steps = xalloc(base.len + 2, sizeof(*steps));

	if (base.len)
		memcpy(steps, base.steps, base.len * sizeof(*steps));
	steps[base.len++] = a;
	if (b >= 0)
		steps[base.len++] = b;
	return (struct path){ steps, base.len };
}

static int compare(const int32_t *a, size_t a_len, const int32_t *b, size_t b_len)
{
	size_t i;

	for (i = 0; i < a_len && i < b_len; i++)
		if (a[i] != b[i])
			return a[i] < b[i] ? -1 : 1;
	return (a_len > b_len) - (a_len < b_len);
}

static int compare_locations(const void *a, const void *b)
{
	const LocationProto *la = *(LocationProto *const *)a, *lb = *(LocationProto *const *)b;

	return compare(la->path, la->n_path, lb->path, lb->n_path);
}

static int compare_path(const void *key, const void *element)
{
	const struct path *path = key;
	const LocationProto *location = *(LocationProto *const *)element;

	return compare(path->steps, path->len, location->path, location->n_path);
}

void places_init(struct places *places, const FileProto *proto)
{
	places->file = proto->name;
	places->nr = proto->source_code_info ? proto->source_code_info->n_location : 0;
	if (!places->nr)
		return;
	places->sorted = xalloc(places->nr, sizeof(*places->sorted));
	memcpy(places->sorted, proto->source_code_info->location,
	       places->nr * sizeof(*places->sorted));
	qsort(places->sorted, places->nr, sizeof(*places->sorted), compare_locations);
}

const LocationProto *places_find(const struct places *places, struct path path)
{
	LocationProto **found = NULL;

	if (places->nr)
		found = bsearch(&path, places->sorted, places->nr, sizeof(*places->sorted),
				compare_path);
	return found ? *found : NULL;
}

struct where places_where(const struct places *places, struct path path)
{
	struct where where = { .file = places->file };

	for (; path.len; path.len--) {
		const LocationProto *location = places_find(places, path);

		if (!location || location->n_span < 3)
			continue;
		where.line = location->span[0] + 1;
		where.column = location->span[1] + 1;
		break;
	}
	return where;
}
