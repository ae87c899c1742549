// SPDX-License-Identifier: LGPL-2.1-or-later
/* Are two messages equal? Functions return 1, 0 or a negative errno, as mrpc_msg_equal() does. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "map.h"

/**
 * struct side - a place in one of the two messages
 * @root: the message's root
 * @p: a struct block or an element; NULL for an empty struct block
 */
struct side {
	const void *root;
	const char *p;
};

static int equal_blocks(const struct mrpc_message_desc *desc, struct side a, struct side b,
			unsigned int depth);

static bool is_set(const struct mrpc_field_desc *f, struct side s)
{
	return s.p && desc_is_set(f, s.p);
}

static struct side at(struct side s, size_t offset)
{
	return (struct side){ s.root, s.p + offset };
}

/* What the reference at @s refers to. */
static struct side follow(const struct mrpc_field_desc *f, struct side s)
{
	return (struct side){ s.root, mrpc_ref_ptr(s.root, desc_ref(f, s.p)) };
}

static bool equal_numbers(double a, double b)
{
	if (isnan(a) || isnan(b))
		return isnan(a) && isnan(b);
	return a == b && signbit(a) == signbit(b);
}

/* Two values, @a and @b being where they are. */
static int equal_values(const struct mrpc_field_desc *f, struct side a, struct side b,
			unsigned int depth)
{
	union value va, vb;

	if (f->kind == MRPC_DESC_MESSAGE)
		return equal_blocks(f->message, a, b, depth + 1);
	va = desc_value(f, a.p);
	vb = desc_value(f, b.p);
	if (f->kind == MRPC_DESC_FLOAT)
		return equal_numbers((double)va.f, (double)vb.f);
	if (f->kind == MRPC_DESC_DOUBLE)
		return equal_numbers(va.d, vb.d);
	if (f->kind < MRPC_DESC_STRING)
		return va.u64 == vb.u64;
	return va.ref.len == vb.ref.len &&
	       (!va.ref.len || !memcmp(mrpc_ref_ptr(a.root, va.ref), mrpc_ref_ptr(b.root, vb.ref),
				       va.ref.len));
}

static int equal_single(const struct mrpc_field_desc *f, struct side a, struct side b,
			unsigned int depth)
{
	if (f->kind == MRPC_DESC_MESSAGE)
		return equal_values(f, follow(f, a), follow(f, b), depth);
	return equal_values(f, at(a, f->offset), at(b, f->offset), depth);
}

static int equal_arrays(const struct mrpc_field_desc *f, struct side a, struct side b,
			unsigned int depth)
{
	__u32 len = desc_ref(f, a.p).len, i;
	size_t size = desc_elem_size(f);
	int ret = len == desc_ref(f, b.p).len;

	a = follow(f, a);
	b = follow(f, b);
	for (i = 0; i < len && ret == 1; i++)
		ret = equal_values(f, at(a, i * size), at(b, i * size), depth);
	return ret;
}

/* -- maps --------------------------------------------------------------------- */

/* The entries by key, without those that a later one replaces. For free(), or NULL. */
static const char **entries_of(const struct mrpc_field_desc *f, struct side s, __u32 *nr)
{
	struct mrpc_ref ref = desc_ref(f, s.p);
	const char **entries = map_sort(f, s.root, ref);
	__u32 i;

	for (*nr = 0, i = 0; entries && i < ref.len; i++) {
		if (i + 1 < ref.len && !map_compare(f, s.root, entries[i], s.root, entries[i + 1]))
			continue;
		entries[(*nr)++] = entries[i];
	}
	return entries;
}

static int equal_maps(const struct mrpc_field_desc *f, struct side a, struct side b,
		      unsigned int depth)
{
	__u32 nr_a, nr_b, i;
	const char **entries_a = entries_of(f, a, &nr_a), **entries_b = entries_of(f, b, &nr_b);
	int ret = entries_a && entries_b ? nr_a == nr_b : -ENOMEM;

	for (i = 0; i < nr_a && ret == 1; i++) {
		ret = !map_compare(f, a.root, entries_a[i], b.root, entries_b[i]);
		if (ret)
			ret = equal_single(&f->message->fields[1],
					   (struct side){ a.root, entries_a[i] },
					   (struct side){ b.root, entries_b[i] }, depth);
	}
	free(entries_a);
	free(entries_b);
	return ret;
}

/* -- messages ----------------------------------------------------------------- */

static int equal_fields(const struct mrpc_field_desc *f, struct side a, struct side b,
			unsigned int depth)
{
	if (!is_set(f, a) || !is_set(f, b))
		return is_set(f, a) == is_set(f, b);
	if (f->flags & MRPC_DESC_MAP)
		return equal_maps(f, a, b, depth);
	if (f->flags & MRPC_DESC_REPEATED)
		return equal_arrays(f, a, b, depth);
	return equal_single(f, a, b, depth);
}

/* One that is being built can be in itself: the depth is bounded. */
static int equal_blocks(const struct mrpc_message_desc *desc, struct side a, struct side b,
			unsigned int depth)
{
	int ret = depth > MRPC_MAX_DEPTH ? -EINVAL : 1;
	__u32 i;

	for (i = 0; i < desc->nr_fields && ret == 1; i++)
		ret = equal_fields(&desc->fields[i], a, b, depth);
	return ret;
}

int mrpc_msg_equal(const struct mrpc_message_desc *desc, const void *root_a, const void *a,
		   const void *root_b, const void *b)
{
	return equal_blocks(desc, (struct side){ root_a, a }, (struct side){ root_b, b }, 1);
}
