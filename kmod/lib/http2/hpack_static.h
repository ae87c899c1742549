/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MRPC_LIB_HTTP2_HPACK_STATIC_H
#define MRPC_LIB_HTTP2_HPACK_STATIC_H

#include "lib/ds/types.h"

/* Entries of the static table; their indexes begin with 1. */
#define MRPC_HPACK_STATIC	61

/**
 * struct mrpc_hpack_entry - an entry of the static table (RFC 7541, appendix A)
 * @text: the name, and the value behind it
 * @nlen: bytes of the name
 * @vlen: bytes of the value
 */
struct mrpc_hpack_entry {
	const char *text;
	u8 nlen;
	u8 vlen;
};

/** mrpc_hpack_static_get() - Return: the entry with @index, which is 1 to MRPC_HPACK_STATIC */
const struct mrpc_hpack_entry *mrpc_hpack_static_get(u32 index);

/**
 * mrpc_hpack_static_find() - find a field in the static table
 * @whole: gets true: the value is the entry's, too
 *
 * Return: index of an entry with the name; 0: none. Of several, that with the value, or the first.
 */
u32 mrpc_hpack_static_find(const u8 *name, u32 nlen, const u8 *value, u32 vlen, bool *whole);

#endif /* MRPC_LIB_HTTP2_HPACK_STATIC_H */
