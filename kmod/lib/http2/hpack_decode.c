// SPDX-License-Identifier: GPL-2.0
#include "lib/http2/hpack_static.h"
#include "lib/http2/hpack_table.h"
#include "lib/http2/huffman.h"

/* The peer may say that a value is this large; integers have five bytes at most. */
#define HPACK_MAX_INT		(1U << 28)
#define HPACK_INT_SHIFTS	28
/* The smallest size since the last block, and the last one. */
#define HPACK_MAX_UPDATES	2

/**
 * struct hpack_block - a block that is being decoded
 * @t: the table
 * @p: what is not yet decoded
 * @end: its end
 * @sink: gets the fields
 * @used: bytes of the sink's buffer that hold delivered fields; 0 once a limit is passed
 * @nr: fields so far
 * @list: sum of their sizes
 * @updates: size updates so far
 * @too_large: a limit is passed: fields are decoded for the table only
 */
struct hpack_block {
	struct mrpc_hpack_table *t;
	const u8 *p;
	const u8 *end;
	struct mrpc_hpack_sink *sink;
	u32 used;
	u32 nr;
	u32 list;
	u32 updates;
	bool too_large;
};

/* What a string is read from. */
enum hpack_from {
	HPACK_PLAIN,	/* from memory, as it is */
	HPACK_HUFFMAN,	/* from memory, coded */
	HPACK_RING,	/* from the table's ring */
};

struct hpack_string {
	enum hpack_from from;
	const u8 *p;
	u32 at;		/* position in the ring */
	u32 len;	/* before decoding */
};

/* Reads the rest of an integer that does not fit its first byte. */
static int hpack_long_int(struct hpack_block *b, u32 *value)
{
	u32 shift;

	for (shift = 0; shift < HPACK_INT_SHIFTS; shift += 7) {
		u8 byte;

		if (b->p == b->end)
			return -EBADMSG;
		byte = *b->p++;
		*value += (u32)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return *value < HPACK_MAX_INT ? 0 : -EBADMSG;
	}
	return -EBADMSG;
}

/* Reads an integer with @prefix bits in its first byte. */
static inline int hpack_int(struct hpack_block *b, u32 prefix, u32 *value)
{
	u32 mask = BIT(prefix) - 1;

	*value = *b->p++ & mask;
	return likely(*value < mask) ? 0 : hpack_long_int(b, value);
}

/* Finds a string literal in the block. */
static int hpack_literal_string(struct hpack_block *b, struct hpack_string *s)
{
	if (b->p == b->end)
		return -EBADMSG;
	s->from = *b->p & 0x80 ? HPACK_HUFFMAN : HPACK_PLAIN;
	if (hpack_int(b, 7, &s->len) || s->len > b->end - b->p)
		return -EBADMSG;
	s->p = b->p;
	b->p += s->len;
	return 0;
}

/* Finds an entry of one of the tables: name and value as one string, and the bytes of the name. */
static int hpack_entry(struct hpack_block *b, u32 index, struct hpack_string *s, u32 *nlen)
{
	const struct mrpc_hpack_slot *slot;

	if (!index)
		return -EBADMSG;
	if (index <= MRPC_HPACK_STATIC) {
		const struct mrpc_hpack_entry *e = mrpc_hpack_static_get(index);

		s->from = HPACK_PLAIN;
		s->p = (const u8 *)e->text;
		s->len = e->nlen + e->vlen;
		*nlen = e->nlen;
		return 0;
	}
	slot = mrpc_hpack_table_slot(b->t, index - MRPC_HPACK_STATIC - 1);
	if (!slot)
		return -EBADMSG;
	s->from = HPACK_RING;
	s->at = slot->at;
	s->len = slot->nlen + slot->vlen;
	*nlen = slot->nlen;
	return 0;
}

/*
 * Writes a string to the sink's buffer, from @at on, as far as the buffer goes.
 * Return: bytes of the whole string, or -EBADMSG.
 */
static int hpack_store(struct hpack_block *b, const struct hpack_string *s, u32 at)
{
	u8 *to = b->sink->buf + at;
	u32 room = MRPC_HPACK_MAX_LIST - at;

	if (s->from == HPACK_HUFFMAN)
		return mrpc_huffman_decode(s->p, s->len, to, room);
	room = min(room, s->len);
	if (s->from == HPACK_RING)
		mrpc_hpack_table_read(b->t, s->at, to, room);
	else
		memcpy(to, s->p, room);
	return s->len;
}

/* A limit is passed: strings of delivered fields are void, and their room is used again. */
static void hpack_give_up(struct hpack_block *b)
{
	b->too_large = true;
	b->used = 0;
}

/* Counts a field that is in the sink's buffer; delivers it if the block is within its limits. */
static int hpack_deliver(struct hpack_block *b, u32 nlen, u32 vlen, u32 flags)
{
	const u8 *name = b->sink->buf + b->used;

	b->nr++;
	b->list += mrpc_hpack_size(nlen, vlen);
	if (b->nr > MRPC_HPACK_END_FIELDS || b->list > MRPC_HPACK_END_LIST)
		return -EMSGSIZE;
	if (b->nr > MRPC_HPACK_MAX_FIELDS || b->list > MRPC_HPACK_MAX_LIST)
		hpack_give_up(b);
	if (b->too_large)
		return 0;
	b->used += nlen + vlen;
	b->sink->field(b->sink, name, nlen, name + nlen, vlen, flags);
	return 0;
}

static int hpack_indexed(struct hpack_block *b)
{
	struct hpack_string s;
	u32 index, nlen;

	if (hpack_int(b, 7, &index) || hpack_entry(b, index, &s, &nlen))
		return -EBADMSG;
	/* If it does not fit, the block is too large, and the string is not needed. */
	hpack_store(b, &s, b->used);
	return hpack_deliver(b, nlen, s.len - nlen, 0);
}

/* Writes name and value to the sink's buffer, behind what is used; gets their lengths. */
static int hpack_store_pair(struct hpack_block *b, const struct hpack_string *name,
			    const struct hpack_string *value, u32 *nlen, u32 *vlen)
{
	int ret = hpack_store(b, name, b->used);

	if (ret < 0)
		return ret;
	*nlen = ret;
	ret = hpack_store(b, value, min_t(u32, b->used + *nlen, MRPC_HPACK_MAX_LIST));
	if (ret < 0)
		return ret;
	*vlen = ret;
	return 0;
}

/* Adds a field to the table. Only a field that is larger than any table may be cut. */
static void hpack_add(struct hpack_block *b, const u8 *name, u32 nlen, u32 vlen)
{
	struct mrpc_hpack_slot slot = { .nlen = nlen, .vlen = vlen };

	if (mrpc_hpack_size(nlen, vlen) > b->t->max)
		mrpc_hpack_table_clear(b->t);
	else
		mrpc_hpack_table_add(b->t, slot, name, name + nlen);
}

/* Decodes a literal; its name has an index of @prefix bits. If @add, the decoder enters it. */
static int hpack_literal(struct hpack_block *b, u32 prefix, u32 flags, bool add)
{
	struct hpack_string name, value;
	u32 index, nlen, vlen;
	const u8 *at;
	int ret;

	if (hpack_int(b, prefix, &index))
		return -EBADMSG;
	/* The length of an entry's name replaces that of the whole entry. */
	ret = index ? hpack_entry(b, index, &name, &name.len) : hpack_literal_string(b, &name);
	if (ret || hpack_literal_string(b, &value))
		return -EBADMSG;
	ret = hpack_store_pair(b, &name, &value, &nlen, &vlen);
	if (!ret && b->used && nlen + vlen > MRPC_HPACK_MAX_LIST - b->used) {
		/* The table may need it whole. */
		hpack_give_up(b);
		ret = hpack_store_pair(b, &name, &value, &nlen, &vlen);
	}
	if (ret)
		return ret;
	at = b->sink->buf + b->used;
	ret = hpack_deliver(b, nlen, vlen, flags);
	if (!ret && add)
		hpack_add(b, at, nlen, vlen);
	return ret;
}

static int hpack_update(struct hpack_block *b)
{
	u32 max;

	if (b->nr || b->updates == HPACK_MAX_UPDATES)
		return -EBADMSG;
	b->updates++;
	if (hpack_int(b, 5, &max) || max > MRPC_HPACK_TABLE_SIZE)
		return -EBADMSG;
	mrpc_hpack_table_resize(b->t, max);
	return 0;
}

int mrpc_hpack_decode(struct mrpc_hpack_table *t, const u8 *in, u32 len,
		      struct mrpc_hpack_sink *sink)
{
	struct hpack_block b = { .t = t, .p = in, .end = in + len, .sink = sink };
	int ret;

	if (!t->ring)
		return -ENOMEM;
	while (b.p != b.end) {
		u8 first = *b.p;

		if (first & 0x80)
			ret = hpack_indexed(&b);
		else if (first & 0x40)
			ret = hpack_literal(&b, 6, 0, true);
		else if (first & 0x20)
			ret = hpack_update(&b);
		else
			ret = hpack_literal(&b, 4, first & 0x10 ? MRPC_HPACK_NEVER_INDEXED : 0, false);
		if (ret)
			return ret;
	}
	return b.too_large ? -E2BIG : 0;
}
