/* SPDX-License-Identifier: GPL-2.0 */
/* The field grpc-message: a status detail in percent encoding. */
#ifndef MRPC_LIB_GRPC_PERCENT_H
#define MRPC_LIB_GRPC_PERCENT_H

#include "lib/ds/types.h"

/* The most bytes that mrpc_grpc_percent_encode() makes of @len */
#define MRPC_GRPC_PERCENT_LEN(len)	(3 * (len))

/**
 * mrpc_grpc_percent_encode() - encode a status detail
 * @text: bytes, in any encoding
 * @len: how many
 * @out: room for MRPC_GRPC_PERCENT_LEN(@len) bytes
 *
 * Bytes outside %x20-7E, the percent sign, and spaces at both ends become %XX. HTTP/2 allows no
 * spaces at the ends of a value.
 *
 * Return: bytes written.
 */
u32 mrpc_grpc_percent_encode(const u8 *text, u32 len, u8 *out);

/**
 * mrpc_grpc_percent_decode() - decode grpc-message
 * @in: the field's value
 * @len: its bytes
 * @out: gets UTF-8; is not @in
 * @room: its bytes
 *
 * Escapes that are none stay as they are. A text longer than @room is cut between two characters.
 * Each byte that does not belong to a character of UTF-8 becomes a question mark.
 *
 * Return: bytes written.
 */
u32 mrpc_grpc_percent_decode(const u8 *in, u32 len, u8 *out, u32 room);

#endif /* MRPC_LIB_GRPC_PERCENT_H */
