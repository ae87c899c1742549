/* SPDX-License-Identifier: GPL-2.0 */
/* The dynamic table of HPACK, for decoder and encoder. */
#ifndef MRPC_LIB_HTTP2_HPACK_TABLE_H
#define MRPC_LIB_HTTP2_HPACK_TABLE_H

#include "lib/http2/hpack.h"

/* What an entry or a field counts; strings below 2^31 bytes. */
static inline u32 mrpc_hpack_size(u32 nlen, u32 vlen)
{
	return nlen + vlen + MRPC_HPACK_OVERHEAD;
}

/** mrpc_hpack_table_slot() - Return: the entry that is @nth, the newest is 0; NULL: none */
const struct mrpc_hpack_slot *mrpc_hpack_table_slot(const struct mrpc_hpack_table *t, u32 nth);

/** mrpc_hpack_table_read() - copy @len bytes of the ring, from position @at on, to @to */
void mrpc_hpack_table_read(const struct mrpc_hpack_table *t, u32 at, u8 *to, u32 len);

/** mrpc_hpack_table_same() - Return: the @len bytes of the ring, from @at on, are those of @as */
bool mrpc_hpack_table_same(const struct mrpc_hpack_table *t, u32 at, const u8 *as, u32 len);

/**
 * mrpc_hpack_table_resize() - set the largest size, and evict what is beyond it
 * @max: at most MRPC_HPACK_TABLE_SIZE
 */
void mrpc_hpack_table_resize(struct mrpc_hpack_table *t, u32 max);

/**
 * mrpc_hpack_table_add() - add an entry, and evict the oldest as far as it needs their room
 * @t: a table with a ring
 * @slot: lengths, below 2^16, and hashes of the entry; the position is set here
 * @name: not in the ring
 * @value: not in the ring
 *
 * The table must be large enough for the entry.
 */
void mrpc_hpack_table_add(struct mrpc_hpack_table *t, struct mrpc_hpack_slot slot,
			  const u8 *name, const u8 *value);

/** mrpc_hpack_table_clear() - evict all entries */
void mrpc_hpack_table_clear(struct mrpc_hpack_table *t);

#endif /* MRPC_LIB_HTTP2_HPACK_TABLE_H */
