// SPDX-License-Identifier: GPL-2.0
#include "lib/http2/hpack_static.h"
#include "lib/http2/hpack_table.h"

/**
 * struct hpack_match - where the tables have a field
 * @index: an entry with its name; 0: none
 * @whole: the entry has its value, too
 */
struct hpack_match {
	u32 index;
	bool whole;
};

u64 mrpc_hpack_room(const struct mrpc_hpack_field *fields, u32 nr)
{
	u64 room = MRPC_HPACK_UPDATE_ROOM;
	u32 i;

	for (i = 0; i < nr; i++)
		room += MRPC_HPACK_FIELD_ROOM + (u64)fields[i].nlen + fields[i].vlen;
	return room;
}

/* Writes an integer with @prefix bits in its first byte, below @first. */
static u8 *hpack_put_int(u8 *out, u8 first, u32 prefix, u32 value)
{
	u32 mask = BIT(prefix) - 1;

	if (value < mask) {
		*out++ = first | value;
		return out;
	}
	*out++ = first | mask;
	for (value -= mask; value >= 0x80; value >>= 7)
		*out++ = value | 0x80;
	*out++ = value;
	return out;
}

static u8 *hpack_put_string(u8 *out, const void *p, u32 len)
{
	out = hpack_put_int(out, 0, 7, len);
	memcpy(out, p, len);
	return out + len;
}

/* A cheap hash. An attacker gains nothing: a table has 128 entries and 4,096 bytes at most. */
static u8 hpack_hash(const u8 *p, u32 len)
{
	u64 hash = len;

	for (; len >= sizeof(u64); p += sizeof(u64), len -= sizeof(u64)) {
		hash = (hash ^ get_unaligned_le64(p)) * 0x9e3779b97f4a7c15ULL;
		hash ^= hash >> 32;
	}
	while (len--)
		hash = (hash << 8 ^ *p++) * 0x9e3779b97f4a7c15ULL;
	return hash >> 56;
}

/* Looks through the dynamic table for a better match than @m. */
static void hpack_find_dynamic(const struct mrpc_hpack_table *t, const struct mrpc_hpack_field *f,
			       const struct mrpc_hpack_slot *want, struct hpack_match *m)
{
	const struct mrpc_hpack_slot *slot;
	u32 i;

	for (i = 0; (slot = mrpc_hpack_table_slot(t, i)); i++) {
		if (slot->nhash != want->nhash || slot->nlen != f->nlen ||
		    !mrpc_hpack_table_same(t, slot->at, f->name, f->nlen))
			continue;
		m->whole = slot->vhash == want->vhash && slot->vlen == f->vlen &&
			   mrpc_hpack_table_same(t, slot->at + slot->nlen, f->value, f->vlen);
		if (m->whole || !m->index)
			m->index = MRPC_HPACK_STATIC + 1 + i;
		if (m->whole)
			return;
	}
}

/* Writes a field that no table has whole. */
static u8 *hpack_put_literal(struct mrpc_hpack_table *t, const struct mrpc_hpack_field *f,
			     const struct mrpc_hpack_slot *slot, u32 index, u8 *out)
{
	bool add = f->mode == MRPC_HPACK_INDEX && t->ring &&
		   mrpc_hpack_size(f->nlen, f->vlen) <= t->max;

	if (add)
		out = hpack_put_int(out, 0x40, 6, index);
	else
		out = hpack_put_int(out, f->mode == MRPC_HPACK_NEVER ? 0x10 : 0, 4, index);
	if (!index)
		out = hpack_put_string(out, f->name, f->nlen);
	out = hpack_put_string(out, f->value, f->vlen);
	if (add)
		mrpc_hpack_table_add(t, *slot, f->name, f->value);
	return out;
}

static u8 *hpack_put_field(struct mrpc_hpack_table *t, const struct mrpc_hpack_field *f, u8 *out)
{
	struct mrpc_hpack_slot slot = { .nlen = f->nlen, .vlen = f->vlen };
	struct hpack_match m;

	m.index = mrpc_hpack_static_find(f->name, f->nlen, f->value, f->vlen, &m.whole);
	if (!m.whole || f->mode == MRPC_HPACK_NEVER) {
		slot.nhash = hpack_hash(f->name, f->nlen);
		slot.vhash = hpack_hash(f->value, f->vlen);
		hpack_find_dynamic(t, f, &slot, &m);
	}
	if (m.whole && f->mode != MRPC_HPACK_NEVER)
		return hpack_put_int(out, 0x80, 7, m.index);
	return hpack_put_literal(t, f, &slot, m.index, out);
}

/* Begins the block after a change of the table's size. */
static u8 *hpack_put_updates(struct mrpc_hpack_table *t, u8 *out)
{
	u8 *begin = out;

	if (t->least < t->max)
		out = hpack_put_int(out, 0x20, 5, t->least);
	if (t->least < t->max || t->max != t->told)
		out = hpack_put_int(out, 0x20, 5, t->max);
	t->told = t->max;
	t->least = U32_MAX;
	/* Blocks that begin like this one are no templates. */
	t->generation += out != begin;
	return out;
}

int mrpc_hpack_encode(struct mrpc_hpack_table *t, const struct mrpc_hpack_field *fields, u32 nr,
		      u8 *out, u32 room)
{
	u8 *begin = out;
	u32 i;

	if (mrpc_hpack_room(fields, nr) > min_t(u32, room, S32_MAX))
		return -ENOSPC;
	out = hpack_put_updates(t, out);
	for (i = 0; i < nr; i++)
		out = hpack_put_field(t, &fields[i], out);
	return out - begin;
}

void mrpc_hpack_encoder_limit(struct mrpc_hpack_table *t, u32 limit)
{
	mrpc_hpack_table_resize(t, min_t(u32, limit, MRPC_HPACK_TABLE_SIZE));
	t->least = min(t->least, t->max);
}
