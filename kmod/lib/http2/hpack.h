/* SPDX-License-Identifier: GPL-2.0 */
/*
 * HPACK (RFC 7541): header blocks of HTTP/2.
 *
 * A connection has two tables: one for the decoder of received blocks and one for the encoder of
 * sent blocks. The owner of a table gives its memory and calls for one block at a time. All blocks
 * of a connection pass through the table in the order of the wire, those of refused streams too.
 *
 * Not locked: the decoder's table belongs to the owner of the receive claim, the encoder's table to
 * the owner of the transmit claim. Nothing here allocates, sleeps or fails for lack of memory.
 */
#ifndef MRPC_LIB_HTTP2_HPACK_H
#define MRPC_LIB_HTTP2_HPACK_H

#include "lib/ds/types.h"

#define MRPC_HPACK_TABLE_SIZE	4096	/* bytes of a ring; largest SETTINGS_HEADER_TABLE_SIZE */
#define MRPC_HPACK_OVERHEAD	32	/* what an entry or a field counts beyond its strings */
#define MRPC_HPACK_SLOTS	(MRPC_HPACK_TABLE_SIZE / MRPC_HPACK_OVERHEAD)

/* A block within these limits is delivered: all fields, sum of name + value + 32. */
#define MRPC_HPACK_MAX_FIELDS	64
#define MRPC_HPACK_MAX_LIST	16384
/* A block beyond these limits ends the connection. */
#define MRPC_HPACK_END_FIELDS	1024
#define MRPC_HPACK_END_LIST	65536

/**
 * struct mrpc_hpack_slot - where an entry of the dynamic table is
 * @at: position of the name in the ring; the value follows, both may wrap
 * @nlen: bytes of the name
 * @vlen: bytes of the value
 * @nhash: hash of the name; only in the encoder's table
 * @vhash: hash of the value; only in the encoder's table
 */
struct mrpc_hpack_slot {
	u16 at;
	u16 nlen;
	u16 vlen;
	u8 nhash;
	u8 vhash;
};

/**
 * struct mrpc_hpack_table - a dynamic table, of the decoder or of the encoder
 * @ring: strings of all entries, MRPC_HPACK_TABLE_SIZE bytes; NULL until the owner gives it
 * @generation: another number after each change of the entries, their indexes or @max; see
 *	mrpc_hpack_encode() and mrpc_hpack_decode()
 * @size: sum of all entries: name + value + 32
 * @max: what @size may be
 * @told: the encoder: the @max that the peer's decoder knows
 * @least: the encoder: the smallest limit since the last block; U32_MAX: there was none
 * @tail: position in the ring where the next entry begins
 * @nr: number of entries
 * @next: slot of the next entry; the newest entry is in the slot before
 * @slots: the entries, a ring of its own
 */
struct mrpc_hpack_table {
	u8 *ring;
	u64 generation;
	u32 size;
	u32 max;
	u32 told;
	u32 least;
	u16 tail;
	u16 nr;
	u16 next;
	struct mrpc_hpack_slot slots[MRPC_HPACK_SLOTS];
};

/** mrpc_hpack_table_init() - make @t empty, with 4,096 as its largest size and without a ring */
void mrpc_hpack_table_init(struct mrpc_hpack_table *t);

/**
 * mrpc_hpack_table_give() - give @t its ring
 * @t: a table that has none
 * @ring: MRPC_HPACK_TABLE_SIZE bytes, need not be zeroed; @t uses them until its end
 *
 * A decoder needs the ring before its first block. An encoder works without one, but adds no
 * entries until it has one. The ring and struct mrpc_hpack_table are all the memory of a table.
 */
static inline void mrpc_hpack_table_give(struct mrpc_hpack_table *t, u8 *ring)
{
	t->ring = ring;
}

/* Flags of a decoded field. */
#define MRPC_HPACK_NEVER_INDEXED	0x01	/* a proxy must not index it either */

/**
 * struct mrpc_hpack_sink - where decoded fields go
 * @field: called for each field, in order; must not call the decoder. Names and values are any
 *	bytes, without a NUL at the end. Lengths may be 0. @flags: MRPC_HPACK_NEVER_INDEXED
 * @buf: MRPC_HPACK_MAX_LIST bytes for the strings of one block. A field's name and value lie in it
 *	one behind the other, fields lie one behind the other
 */
struct mrpc_hpack_sink {
	void (*field)(struct mrpc_hpack_sink *sink, const u8 *name, u32 nlen,
		      const u8 *value, u32 vlen, u32 flags);
	u8 *buf;
};

/**
 * mrpc_hpack_decode() - decode a whole header block
 * @t: the decoder's table, with its ring
 * @in: the block: the fragments of HEADERS and its CONTINUATIONs, joined
 * @len: bytes of the block
 * @sink: gets the fields
 *
 * Time is linear in @len. If it returns 0, the strings stay valid until @sink->buf is used again.
 *
 * A block that is equal to an earlier one has the same fields, if @t->generation was equal before and
 * behind the earlier call, and still is. Nothing changes if it is not decoded.
 *
 * The decoder does not look into names and values: upper case, order of pseudo-headers and
 * forbidden bytes are the caller's business.
 *
 * Return: 0.
 * -E2BIG: more than MRPC_HPACK_MAX_FIELDS or MRPC_HPACK_MAX_LIST. The first fields were delivered,
 * and their strings are no longer valid. The table is right: only this stream has to be refused.
 * -EBADMSG: not HPACK. The connection ends with COMPRESSION_ERROR.
 * -EMSGSIZE: beyond MRPC_HPACK_END_FIELDS or MRPC_HPACK_END_LIST. The connection ends with
 * ENHANCE_YOUR_CALM.
 * -ENOMEM: @t has no ring. Nothing was decoded.
 * After -EBADMSG and -EMSGSIZE the table must not be used again.
 */
int mrpc_hpack_decode(struct mrpc_hpack_table *t, const u8 *in, u32 len,
		      struct mrpc_hpack_sink *sink);

/**
 * enum mrpc_hpack_mode - what the encoder does with a field
 * @MRPC_HPACK_INDEX: adds it to the dynamic table, unless it is in a table
 * @MRPC_HPACK_PLAIN: does not add it, but uses an entry that is in a table
 * @MRPC_HPACK_NEVER: writes its value, and says that proxies must do so, too: for secrets
 */
enum mrpc_hpack_mode {
	MRPC_HPACK_INDEX,
	MRPC_HPACK_PLAIN,
	MRPC_HPACK_NEVER,
};

/**
 * struct mrpc_hpack_field - a field to encode
 * @name: in lower case; not NULL
 * @value: any bytes; not NULL
 * @nlen: bytes of @name
 * @vlen: bytes of @value
 * @mode: what the encoder does with it
 */
struct mrpc_hpack_field {
	const void *name;
	const void *value;
	u32 nlen;
	u32 vlen;
	enum mrpc_hpack_mode mode;
};

/* Room that a field needs at most beyond its strings, and room of the size updates of a block. */
#define MRPC_HPACK_FIELD_ROOM	13
#define MRPC_HPACK_UPDATE_ROOM	6

/** mrpc_hpack_room() - Return: room with which mrpc_hpack_encode() of these fields cannot fail */
u64 mrpc_hpack_room(const struct mrpc_hpack_field *fields, u32 nr);

/**
 * mrpc_hpack_encode() - write fields as a header block
 * @t: the encoder's table
 * @fields: the fields, in order
 * @nr: how many
 * @out: where the block goes; does not overlap with the fields
 * @room: bytes there, at most S32_MAX
 *
 * What is written must be sent, and in this order: the peer's table follows it. A block may be
 * written by several calls, one behind the other. Strings are not Huffman-coded.
 *
 * A copy of a block, or of its beginning, may be sent again in place of a call, if @t->generation
 * was equal before and behind the call that wrote it, and still is. More fields may follow it.
 *
 * Return: bytes written; -ENOSPC: @room is less than mrpc_hpack_room(), and @t is unchanged.
 */
int mrpc_hpack_encode(struct mrpc_hpack_table *t, const struct mrpc_hpack_field *fields, u32 nr,
		      u8 *out, u32 room);

/**
 * mrpc_hpack_encoder_limit() - the peer's SETTINGS_HEADER_TABLE_SIZE is @limit from now on
 *
 * The table's size becomes the smaller of @limit and MRPC_HPACK_TABLE_SIZE. The next block begins
 * with the size updates that RFC 7541, 4.2 asks for. Called between blocks, not inside one.
 */
void mrpc_hpack_encoder_limit(struct mrpc_hpack_table *t, u32 limit);

#endif /* MRPC_LIB_HTTP2_HPACK_H */
