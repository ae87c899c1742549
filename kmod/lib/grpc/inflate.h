/* SPDX-License-Identifier: GPL-2.0 */
/* Messages that have come compressed. */
#ifndef MRPC_LIB_GRPC_INFLATE_H
#define MRPC_LIB_GRPC_INFLATE_H

#include "lib/ds/types.h"

/* The wrapper of gzip around raw deflate: RFC 1952. */
#define MRPC_GZIP_HEADER	10	/* bytes, without the optional fields */
#define MRPC_GZIP_TRAILER	8	/* the CRC-32, then the length modulo 2^32 */

/**
 * struct mrpc_grpc_inflated - a message that is being inflated
 * @out: the bytes so far
 * @len: how many
 * @cap: bytes at @out
 * @max: bytes of the largest message
 * @workspace: mrpc_grpc_inflate_workspace() bytes
 * @grow: makes @cap at least @need and keeps the @len bytes at @out. Return: 0 or -ENOMEM
 *
 * @grow is called again and again, each time for twice as much, and never for more than @max + 1.
 */
struct mrpc_grpc_inflated {
	u8 *out;
	u32 len;
	u32 cap;
	u32 max;
	void *workspace;
	int (*grow)(struct mrpc_grpc_inflated *x, u32 need);
};

/* mrpc_grpc_inflate_workspace() - Return: bytes that the inflater needs while it works */
u32 mrpc_grpc_inflate_workspace(void);

/**
 * mrpc_grpc_inflate() - inflate a message
 * @encoding: MRPC_GRPC_GZIP or MRPC_GRPC_DEFLATE
 * @in: all that has come behind the prefix
 * @len: its bytes
 * @x: the message, with @out, @len and @cap zero
 *
 * A gzip message has one member, and nothing behind it.
 *
 * Context: may sleep. Return: 0; -EBADMSG: it is not what @encoding says; -EMSGSIZE: it has more
 * than @x->max bytes; -ENOMEM. The caller frees @x->out in any case.
 */
int mrpc_grpc_inflate(u8 encoding, const u8 *in, u32 len, struct mrpc_grpc_inflated *x);

#endif /* MRPC_LIB_GRPC_INFLATE_H */
