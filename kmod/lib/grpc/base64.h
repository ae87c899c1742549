/* SPDX-License-Identifier: GPL-2.0 */
/* Base64 (RFC 4648 section 4) as gRPC uses it for values of keys that end in "-bin". */
#ifndef MRPC_LIB_GRPC_BASE64_H
#define MRPC_LIB_GRPC_BASE64_H

#include "lib/ds/types.h"

/* Bytes that mrpc_grpc_base64_encode() makes of @len */
#define MRPC_GRPC_BASE64_LEN(len)	(((len) * 4 + 2) / 3)

/**
 * mrpc_grpc_base64_encode() - encode without padding
 * @in: bytes
 * @len: how many, at most 2^28
 * @out: room for MRPC_GRPC_BASE64_LEN(@len) bytes; no part of @in
 *
 * Return: bytes written.
 */
u32 mrpc_grpc_base64_encode(const u8 *in, u32 len, u8 *out);

/**
 * mrpc_grpc_base64_decode() - decode one value, padded or not
 * @in: digits, without commas and blanks
 * @len: how many
 * @out: gets the bytes; no part of @in
 * @room: its bytes
 *
 * Bits of the last digit that belong to no byte are ignored, as gRPC's implementations do.
 *
 * Return: bytes written; -EINVAL: not base64; -ENOSPC: @room is too small.
 */
int mrpc_grpc_base64_decode(const u8 *in, u32 len, u8 *out, u32 room);

#endif /* MRPC_LIB_GRPC_BASE64_H */
