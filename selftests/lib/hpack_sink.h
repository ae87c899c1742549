/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What tests of HPACK share: a decoder that keeps the fields of a block, and strings in the Huffman
 * code. Blocks of memory have their exact size, so that the sanitizer sees the first byte beyond.
 */
#ifndef HPACK_SINK_H
#define HPACK_SINK_H

#include <stdlib.h>

#include "huffman_codes.h"
#include "lib/http2/hpack.h"

struct hpack_sink_field {
	const u8 *name, *value;
	u32 nlen, vlen, flags;
};

/**
 * struct hpack_sink - a decoder and the fields of its last block
 * @fields: with strings in @kept
 * @kept: strings of delivered fields; those in the sink's buffer do not survive -E2BIG
 * @wrong: a field was not where the interface says
 */
struct hpack_sink {
	struct mrpc_hpack_table table;
	struct mrpc_hpack_sink sink;
	struct hpack_sink_field fields[MRPC_HPACK_MAX_FIELDS];
	u8 kept[MRPC_HPACK_MAX_LIST];
	u32 nr, used;
	bool wrong;
};

static inline void hpack_sink_field(struct mrpc_hpack_sink *sink, const u8 *name, u32 nlen,
				    const u8 *value, u32 vlen, u32 flags)
{
	struct hpack_sink *s = container_of(sink, struct hpack_sink, sink);

	if (s->nr == MRPC_HPACK_MAX_FIELDS || name != sink->buf + s->used || value != name + nlen) {
		s->wrong = true;
		return;
	}
	memcpy(s->kept + s->used, name, nlen + vlen);
	name = s->kept + s->used;
	s->used += nlen + vlen;
	s->fields[s->nr++] = (struct hpack_sink_field){ name, name + nlen, nlen, vlen, flags };
}

static inline void hpack_sink_init(struct hpack_sink *s)
{
	mrpc_hpack_table_init(&s->table);
	mrpc_hpack_table_give(&s->table, malloc(MRPC_HPACK_TABLE_SIZE));
	s->sink.field = hpack_sink_field;
	s->sink.buf = malloc(MRPC_HPACK_MAX_LIST);
	s->wrong = false;
}

static inline void hpack_sink_free(struct hpack_sink *s)
{
	free(s->table.ring);
	free(s->sink.buf);
}

static inline int hpack_sink_decode(struct hpack_sink *s, const u8 *in, u32 len)
{
	u8 *copy = malloc(len);
	int ret;

	memcpy(copy, in, len);
	s->nr = 0;
	s->used = 0;
	ret = mrpc_hpack_decode(&s->table, copy, len, &s->sink);
	free(copy);
	return ret;
}

/* Writes a string in the Huffman code, filled up with ones. Return: its bytes. */
static inline u32 hpack_huffman(u8 *out, const u8 *in, u32 len)
{
	u8 *begin = out;
	u64 bits = 0;
	u32 nr = 0, i;

	for (i = 0; i < len; i++) {
		bits = bits << huffman_codes[in[i]].bits | huffman_codes[in[i]].code;
		for (nr += huffman_codes[in[i]].bits; nr >= 8; nr -= 8)
			*out++ = bits >> (nr - 8);
	}
	if (nr)
		*out++ = bits << (8 - nr) | 0xff >> nr;
	return out - begin;
}

/* Writes an integer; @extra: bytes more than it needs. */
static inline u32 hpack_int(u8 *out, u8 first, u32 prefix, u32 value, u32 extra)
{
	u32 mask = (1U << prefix) - 1, len = 1;

	if (value < mask) {
		out[0] = first | value;
		return 1;
	}
	out[0] = first | mask;
	for (value -= mask; value >= 0x80; value >>= 7)
		out[len++] = value | 0x80;
	out[len++] = value | (extra ? 0x80 : 0);
	while (extra--)
		out[len++] = extra ? 0x80 : 0;
	return len;
}

/* Writes a string literal, in the Huffman code if @huffman. */
static inline u32 hpack_string(u8 *out, const u8 *in, u32 len, bool huffman, u32 extra)
{
	static u8 coded[1 << 20];
	u32 coded_len = huffman ? hpack_huffman(coded, in, len) : len;
	u32 at = hpack_int(out, huffman ? 0x80 : 0, 7, coded_len, extra);

	memcpy(out + at, huffman ? coded : in, coded_len);
	return at + coded_len;
}

#endif /* HPACK_SINK_H */
