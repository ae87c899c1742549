/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Protobuf's wire format: wire types, tags and varints.
 *
 * A varint has seven bits in each byte, the lowest first. The top bit of a byte says that
 * another byte follows.
 */
#ifndef MRPC_LIB_PROTOBUF_VARINT_H
#define MRPC_LIB_PROTOBUF_VARINT_H

#include "lib/ds/types.h"

#define MRPC_PB_MAX_VARINT	10U	/* bytes of a varint */
#define MRPC_PB_MAX_VARINT32	5U	/* bytes of a tag or a length */

enum mrpc_pb_wire {
	MRPC_PB_VARINT = 0,
	MRPC_PB_FIXED64 = 1,
	MRPC_PB_LEN = 2,
	MRPC_PB_GROUP = 3,	/* the begin of a group */
	MRPC_PB_GROUP_END = 4,
	MRPC_PB_FIXED32 = 5,
};

/** mrpc_pb_varint_size() - bytes of @v as a varint */
static inline u32 mrpc_pb_varint_size(u64 v)
{
	/* With n significant bits it is (n + 6) / 7; 9 / 64 is a little less than 1 / 7. */
	return ((u32)fls64(v | 1) * 9 + 64) / 64;
}

/** mrpc_pb_varint_put() - write @v to @to, where mrpc_pb_varint_size() bytes are */
static inline void mrpc_pb_varint_put(u8 *to, u64 v)
{
	while (v >= 0x80) {
		*to++ = v | 0x80;
		v >>= 7;
	}
	*to = v;
}

/**
 * mrpc_pb_varint_get() - read a varint
 * @p: bytes
 * @room: how many there are
 * @max: how many a varint may have: MRPC_PB_MAX_VARINT or less
 * @v: out: the value; bits beyond 64 are dropped
 *
 * Return: bytes of the varint, or 0: it does not end within @room and @max bytes.
 */
static inline u32 mrpc_pb_varint_get(const u8 *p, u32 room, u32 max, u64 *v)
{
	u64 value = 0;
	u32 i;

	room = min(room, max);
	for (i = 0; i < room; i++) {
		value |= (u64)(p[i] & 0x7f) << 7 * i;
		if (p[i] < 0x80) {
			*v = value;
			return i + 1;
		}
	}
	return 0;
}

#endif /* MRPC_LIB_PROTOBUF_VARINT_H */
