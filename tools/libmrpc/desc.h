/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reading a message by its type's description. */
#ifndef LIBMRPC_DESC_H
#define LIBMRPC_DESC_H

#include <string.h>

#include "mrpc_message.h"

#define HIDDEN __attribute__((visibility("hidden")))

/* A value of any kind: what a field, or an element of its array, holds. */
union value {
	bool b;
	__s32 i32;
	__u32 u32;
	float f;
	__s64 i64;
	__u64 u64;
	double d;
	struct mrpc_ref ref;
};

/* Bytes of an element of an array. */
static inline size_t desc_elem_size(const struct mrpc_field_desc *f)
{
	if (f->kind == MRPC_DESC_MESSAGE)
		return f->message->size;
	if (f->kind == MRPC_DESC_BOOL)
		return 1;
	return f->kind < MRPC_DESC_INT64 ? 4 : 8;
}

static inline struct mrpc_ref desc_ref(const struct mrpc_field_desc *f, const void *m)
{
	struct mrpc_ref ref;

	memcpy(&ref, (const char *)m + f->offset, sizeof(ref));
	return ref;
}

/* A scalar, string or bytes at @p. */
static inline union value desc_value(const struct mrpc_field_desc *f, const void *p)
{
	union value v = { .u64 = 0 };

	memcpy(&v, p, desc_elem_size(f));
	return v;
}

/* Does the field hold something that is not what it holds when nothing is set? */
static inline bool desc_is_set(const struct mrpc_field_desc *f, const void *m)
{
	static const char zero[8];
	__u32 word;

	if (f->flags & MRPC_DESC_ONEOF) {
		memcpy(&word, (const char *)m + f->presence, 4);
		return word == f->number;
	}
	if (f->flags & MRPC_DESC_OPTIONAL) {
		memcpy(&word, (const char *)m + f->presence / 32 * 4, 4);
		return word & 1U << f->presence % 32;
	}
	if (f->flags & MRPC_DESC_REPEATED || f->kind >= MRPC_DESC_STRING)
		return desc_ref(f, m).len;
	return memcmp((const char *)m + f->offset, zero, desc_elem_size(f));
}

#endif /* LIBMRPC_DESC_H */
