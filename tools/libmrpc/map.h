/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Maps by their keys. @f is the map's field, @ref its array of entries. */
#ifndef LIBMRPC_MAP_H
#define LIBMRPC_MAP_H

#include "desc.h"

/* Less than 0, 0 or more than 0 as the key of @a is less than that of @b, equal or more. */
int map_compare(const struct mrpc_field_desc *f, const void *root_a, const char *a,
		const void *root_b, const char *b) HIDDEN;

/* The entries by key, those with one key in their order. Return: for free(), or NULL. */
const char **map_sort(const struct mrpc_field_desc *f, const void *root,
		      struct mrpc_ref ref) HIDDEN;

/* Which entry of the array @e is. */
static inline __u32 map_index(const struct mrpc_field_desc *f, const void *root,
			      struct mrpc_ref ref, const char *e)
{
	return (e - (const char *)mrpc_ref_ptr(root, ref)) / f->message->size;
}

#endif /* LIBMRPC_MAP_H */
