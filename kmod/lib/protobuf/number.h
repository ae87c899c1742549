/* SPDX-License-Identifier: GPL-2.0 */
/* Numbers of each kind: in a struct block or an array, and on protobuf's wire. */
#ifndef MRPC_LIB_PROTOBUF_NUMBER_H
#define MRPC_LIB_PROTOBUF_NUMBER_H

#include "lib/message/schema.h"
#include "lib/protobuf/varint.h"

/** mrpc_pb_zigzag() - signed numbers by magnitude: 0, -1, 1, -2, ... as 0, 1, 2, 3, ... */
static inline u64 mrpc_pb_zigzag(s64 v)
{
	return ((u64)v << 1) ^ (u64)(v >> 63);
}

/** mrpc_pb_unzigzag() - the inverse of mrpc_pb_zigzag() */
static inline u64 mrpc_pb_unzigzag(u64 v)
{
	return v >> 1 ^ -(v & 1);
}

/** mrpc_pb_wire_of() - the wire type (enum mrpc_pb_wire) of one value of @kind (enum mrpc_kind) */
static inline u32 mrpc_pb_wire_of(u32 kind)
{
	static const u8 wires[MRPC_KIND_MAX + 1] = {
		[MRPC_KIND_BOOL] = MRPC_PB_VARINT,
		[MRPC_KIND_INT32] = MRPC_PB_VARINT,
		[MRPC_KIND_SINT32] = MRPC_PB_VARINT,
		[MRPC_KIND_UINT32] = MRPC_PB_VARINT,
		[MRPC_KIND_FIXED32] = MRPC_PB_FIXED32,
		[MRPC_KIND_SFIXED32] = MRPC_PB_FIXED32,
		[MRPC_KIND_FLOAT] = MRPC_PB_FIXED32,
		[MRPC_KIND_ENUM] = MRPC_PB_VARINT,
		[MRPC_KIND_INT64] = MRPC_PB_VARINT,
		[MRPC_KIND_SINT64] = MRPC_PB_VARINT,
		[MRPC_KIND_UINT64] = MRPC_PB_VARINT,
		[MRPC_KIND_FIXED64] = MRPC_PB_FIXED64,
		[MRPC_KIND_SFIXED64] = MRPC_PB_FIXED64,
		[MRPC_KIND_DOUBLE] = MRPC_PB_FIXED64,
		[MRPC_KIND_STRING] = MRPC_PB_LEN,
		[MRPC_KIND_BYTES] = MRPC_PB_LEN,
		[MRPC_KIND_MESSAGE] = MRPC_PB_LEN,
	};

	return wires[kind];
}

/**
 * mrpc_pb_store() - put a number where a message has it
 * @kind: enum mrpc_kind, of a number
 * @to: its place; needs no alignment
 * @v: its varint or the bits of its fixed width; of a 32-bit kind the high bits do not count
 */
static inline void mrpc_pb_store(u32 kind, u8 *to, u64 v)
{
	u32 word = v;

	switch (kind) {
	case MRPC_KIND_BOOL:
		*to = !!v;
		return;
	case MRPC_KIND_SINT64:
		v = mrpc_pb_unzigzag(v);
		break;
	case MRPC_KIND_INT64:
	case MRPC_KIND_UINT64:
	case MRPC_KIND_FIXED64:
	case MRPC_KIND_SFIXED64:
	case MRPC_KIND_DOUBLE:
		break;
	case MRPC_KIND_SINT32:
		word = mrpc_pb_unzigzag(word);
		memcpy(to, &word, sizeof(word));
		return;
	default:
		memcpy(to, &word, sizeof(word));
		return;
	}
	memcpy(to, &v, sizeof(v));
}

/** mrpc_pb_load() - the varint of a number that is at @p; @kind has no fixed width */
static __always_inline u64 mrpc_pb_load(u32 kind, const u8 *p)
{
	u32 word;
	u64 v;

	switch (kind) {
	case MRPC_KIND_BOOL:
		return !!*p;
	case MRPC_KIND_INT64:
	case MRPC_KIND_UINT64:
		memcpy(&v, p, sizeof(v));
		return v;
	case MRPC_KIND_SINT64:
		memcpy(&v, p, sizeof(v));
		return mrpc_pb_zigzag((s64)v);
	}
	memcpy(&word, p, sizeof(word));
	switch (kind) {
	case MRPC_KIND_INT32:
	case MRPC_KIND_ENUM:
		return (s64)(s32)word;
	case MRPC_KIND_SINT32:
		return (u32)mrpc_pb_zigzag((s32)word);
	default:
		return word;
	}
}

#endif /* MRPC_LIB_PROTOBUF_NUMBER_H */
