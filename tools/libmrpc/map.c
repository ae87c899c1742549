// SPDX-License-Identifier: LGPL-2.1-or-later
/* Maps by their keys. On the wire a map is an array of entries in any order. */
#include <stdlib.h>

#include "map.h"

static int compare_strings(const void *a, __u32 a_len, const void *b, __u32 b_len)
{
	__u32 len = a_len < b_len ? a_len : b_len;
	int diff = len ? memcmp(a, b, len) : 0;

	return diff ? diff : (a_len > b_len) - (a_len < b_len);
}

/* Any order will do, so numbers are compared as if they had no sign. */
int map_compare(const struct mrpc_field_desc *f, const void *root_a, const char *a,
		const void *root_b, const char *b)
{
	const struct mrpc_field_desc *key = &f->message->fields[0];
	union value va = desc_value(key, a + key->offset), vb = desc_value(key, b + key->offset);

	if (key->kind == MRPC_DESC_STRING)
		return compare_strings(mrpc_ref_ptr(root_a, va.ref), va.ref.len,
				       mrpc_ref_ptr(root_b, vb.ref), vb.ref.len);
	return (va.u64 > vb.u64) - (va.u64 < vb.u64);
}

struct order {
	const struct mrpc_field_desc *f;
	const void *root;
};

static int compare(const void *a, const void *b, void *arg)
{
	const char *left = *(const char *const *)a, *right = *(const char *const *)b;
	const struct order *o = arg;
	int diff = map_compare(o->f, o->root, left, o->root, right);

	return diff ? diff : (left > right) - (left < right);
}

const char **map_sort(const struct mrpc_field_desc *f, const void *root, struct mrpc_ref ref)
{
	const char **entries = calloc((size_t)ref.len + 1, sizeof(*entries));
	const char *first = mrpc_ref_ptr(root, ref);
	struct order order = { f, root };
	__u32 i;

	for (i = 0; entries && i < ref.len; i++)
		entries[i] = first + (size_t)i * f->message->size;
	if (entries && ref.len > 1)
		qsort_r(entries, ref.len, sizeof(*entries), compare, &order);
	return entries;
}
