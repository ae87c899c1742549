/* SPDX-License-Identifier: GPL-2.0 */
/* The fields grpc-encoding and grpc-accept-encoding. */
#ifndef MRPC_LIB_GRPC_ENCODING_H
#define MRPC_LIB_GRPC_ENCODING_H

#include "lib/ds/types.h"
#include "lib/grpc/out.h"

/* How messages of a stream are compressed: the value of grpc-encoding. */
enum mrpc_grpc_encoding {
	MRPC_GRPC_IDENTITY,	/* not at all; the default */
	MRPC_GRPC_DEFLATE,
	MRPC_GRPC_GZIP,
	MRPC_GRPC_ENCODING_UNKNOWN,	/* a name that this code does not know */
};

/* Sets of encodings. Every end accepts IDENTITY. */
#define MRPC_GRPC_ACCEPT_IDENTITY	BIT(MRPC_GRPC_IDENTITY)
#define MRPC_GRPC_ACCEPT_DEFLATE	BIT(MRPC_GRPC_DEFLATE)
#define MRPC_GRPC_ACCEPT_GZIP		BIT(MRPC_GRPC_GZIP)
/* Those that inflate.h has code for, and IDENTITY. */
#define MRPC_GRPC_ACCEPT_ALL		(MRPC_GRPC_ACCEPT_IDENTITY | MRPC_GRPC_ACCEPT_DEFLATE | \
					 MRPC_GRPC_ACCEPT_GZIP)

/* mrpc_grpc_encoding_parse() - Return: enum mrpc_grpc_encoding of a value of grpc-encoding */
u8 mrpc_grpc_encoding_parse(const u8 *text, u32 len);

/**
 * mrpc_grpc_accept_parse() - read a value of grpc-accept-encoding
 * Return: set of the encodings that are named and known; MRPC_GRPC_ACCEPT_IDENTITY is always in.
 */
u8 mrpc_grpc_accept_parse(const u8 *text, u32 len);

/* mrpc_grpc_put_encoding() - put grpc-encoding for an encoding that is known */
void mrpc_grpc_put_encoding(struct mrpc_grpc_out *out, u8 encoding);

/* mrpc_grpc_put_accept() - put grpc-accept-encoding for a set of encodings */
void mrpc_grpc_put_accept(struct mrpc_grpc_out *out, u8 accept);

#endif /* MRPC_LIB_GRPC_ENCODING_H */
