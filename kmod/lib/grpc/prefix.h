/* SPDX-License-Identifier: GPL-2.0 */
/* The five bytes before each message: a flag, and the message's length. */
#ifndef MRPC_LIB_GRPC_PREFIX_H
#define MRPC_LIB_GRPC_PREFIX_H

#include "lib/ds/types.h"
#include "lib/grpc/encoding.h"
#include "lib/grpc/status.h"

#define MRPC_GRPC_PREFIX	5
#define MRPC_GRPC_COMPRESSED	1	/* the flag: grpc-encoding says how */

/**
 * struct mrpc_grpc_prefix - a prefix that comes in pieces
 * @bytes: what has come
 * @have: how many; 0 before the first and again for the next message
 */
struct mrpc_grpc_prefix {
	u8 bytes[MRPC_GRPC_PREFIX];
	u8 have;
};

/* mrpc_grpc_prefix_take() - Return: how many of @len bytes belong to the prefix, and are in it */
static inline u32 mrpc_grpc_prefix_take(struct mrpc_grpc_prefix *p, const u8 *buf, u32 len)
{
	u32 n = min_t(u32, len, MRPC_GRPC_PREFIX - p->have);

	if (likely(n == MRPC_GRPC_PREFIX)) {
		memcpy(p->bytes, buf, MRPC_GRPC_PREFIX);
		p->have = n;
		return n;
	}
	memcpy(p->bytes + p->have, buf, n);
	p->have += n;
	return n;
}

static inline bool mrpc_grpc_prefix_whole(const struct mrpc_grpc_prefix *p)
{
	return p->have == MRPC_GRPC_PREFIX;
}

/* mrpc_grpc_prefix_len() - Return: bytes of the message behind a whole prefix */
static inline u32 mrpc_grpc_prefix_len(const struct mrpc_grpc_prefix *p)
{
	return (u32)p->bytes[1] << 24 | p->bytes[2] << 16 | p->bytes[3] << 8 | p->bytes[4];
}

static inline bool mrpc_grpc_prefix_compressed(const struct mrpc_grpc_prefix *p)
{
	return p->bytes[0] == MRPC_GRPC_COMPRESSED;
}

/* mrpc_grpc_prefix_write() - write the prefix of a message of @len bytes */
static inline void mrpc_grpc_prefix_write(u8 out[MRPC_GRPC_PREFIX], bool compressed, u32 len)
{
	out[0] = compressed ? MRPC_GRPC_COMPRESSED : 0;
	out[1] = len >> 24;
	out[2] = len >> 16;
	out[3] = len >> 8;
	out[4] = len;
}

/**
 * mrpc_grpc_prefix_check() - may the message behind a whole prefix come?
 * @p: the prefix
 * @max: bytes of the largest message
 * @encoding: enum mrpc_grpc_encoding of the stream
 * @accept: set of encodings that the receiver has code for
 * @v: gets FINE or STATUS. A server that says UNIMPLEMENTED adds grpc-accept-encoding
 *
 * The length is that on the wire: the receiver limits what comes of it itself.
 */
void mrpc_grpc_prefix_check(const struct mrpc_grpc_prefix *p, u32 max, u8 encoding, u8 accept,
			    struct mrpc_grpc_verdict *v);

#endif /* MRPC_LIB_GRPC_PREFIX_H */
