// SPDX-License-Identifier: GPL-2.0
/*
 * The strings of an entry begin where those of the one before end. The sum of all entries counts 32
 * bytes for each beyond its strings, so that live strings never meet in the ring.
 */
#include "lib/http2/hpack_table.h"

static_assert(!(MRPC_HPACK_TABLE_SIZE & (MRPC_HPACK_TABLE_SIZE - 1)), "positions are masked");
static_assert(!(MRPC_HPACK_SLOTS & (MRPC_HPACK_SLOTS - 1)), "slots are masked");

void mrpc_hpack_table_init(struct mrpc_hpack_table *t)
{
	memset(t, 0, sizeof(*t));
	t->max = MRPC_HPACK_TABLE_SIZE;
	t->told = t->max;
	t->least = U32_MAX;
}

const struct mrpc_hpack_slot *mrpc_hpack_table_slot(const struct mrpc_hpack_table *t, u32 nth)
{
	if (nth >= t->nr)
		return NULL;
	return &t->slots[(t->next - 1 - nth) & (MRPC_HPACK_SLOTS - 1)];
}

/* Bytes of @len from position @at to the ring's end; the rest is at its beginning. */
static u32 hpack_before_end(u32 at, u32 len)
{
	return min_t(u32, len, MRPC_HPACK_TABLE_SIZE - at);
}

void mrpc_hpack_table_read(const struct mrpc_hpack_table *t, u32 at, u8 *to, u32 len)
{
	u32 first;

	at &= MRPC_HPACK_TABLE_SIZE - 1;
	first = hpack_before_end(at, len);
	memcpy(to, t->ring + at, first);
	if (unlikely(first < len))
		memcpy(to + first, t->ring, len - first);
}

bool mrpc_hpack_table_same(const struct mrpc_hpack_table *t, u32 at, const u8 *as, u32 len)
{
	u32 first;

	at &= MRPC_HPACK_TABLE_SIZE - 1;
	first = hpack_before_end(at, len);
	return !memcmp(as, t->ring + at, first) &&
	       (likely(first == len) || !memcmp(as + first, t->ring, len - first));
}

static void hpack_write(struct mrpc_hpack_table *t, const u8 *from, u32 len)
{
	u32 first = hpack_before_end(t->tail, len);

	memcpy(t->ring + t->tail, from, first);
	if (unlikely(first < len))
		memcpy(t->ring, from + first, len - first);
	t->tail = (t->tail + len) & (MRPC_HPACK_TABLE_SIZE - 1);
}

/* Evicts the oldest entries until the size is at most @size. */
static void hpack_evict(struct mrpc_hpack_table *t, u32 size)
{
	while (t->size > size) {
		const struct mrpc_hpack_slot *oldest = mrpc_hpack_table_slot(t, t->nr - 1);

		t->size -= mrpc_hpack_size(oldest->nlen, oldest->vlen);
		t->nr--;
	}
}

void mrpc_hpack_table_clear(struct mrpc_hpack_table *t)
{
	t->generation++;
	hpack_evict(t, 0);
}

void mrpc_hpack_table_resize(struct mrpc_hpack_table *t, u32 max)
{
	t->max = max;
	t->generation++;
	hpack_evict(t, max);
}

void mrpc_hpack_table_add(struct mrpc_hpack_table *t, struct mrpc_hpack_slot slot,
			  const u8 *name, const u8 *value)
{
	u32 size = mrpc_hpack_size(slot.nlen, slot.vlen);

	hpack_evict(t, t->max - size);
	slot.at = t->tail;
	hpack_write(t, name, slot.nlen);
	hpack_write(t, value, slot.vlen);
	t->slots[t->next] = slot;
	t->next = (t->next + 1) & (MRPC_HPACK_SLOTS - 1);
	t->size += size;
	t->nr++;
	t->generation++;
}
