/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Header fields that come from the HPACK decoder, before anything is read from them: known names,
 * and the rules of RFC 9113 section 8.2 and 8.3 for all messages.
 */
#ifndef MRPC_LIB_GRPC_FIELD_H
#define MRPC_LIB_GRPC_FIELD_H

#include "lib/ds/types.h"

/* Names that mean something to this code. The pseudo-header fields come first. */
enum mrpc_grpc_name {
	MRPC_GRPC_NAME_METHOD,			/* :method */
	MRPC_GRPC_NAME_SCHEME,			/* :scheme */
	MRPC_GRPC_NAME_PATH,			/* :path */
	MRPC_GRPC_NAME_AUTHORITY,		/* :authority */
	MRPC_GRPC_NAME_HTTP_STATUS,		/* :status */
	MRPC_GRPC_NAME_PSEUDO,			/* any other with a colon in front */
	MRPC_GRPC_NAME_CONNECTION,		/* connection-specific: HTTP/2 has none of them */
	MRPC_GRPC_NAME_TE,
	MRPC_GRPC_NAME_HOST,
	MRPC_GRPC_NAME_CONTENT_TYPE,
	MRPC_GRPC_NAME_CONTENT_LENGTH,
	MRPC_GRPC_NAME_USER_AGENT,
	MRPC_GRPC_NAME_PLAIN_AUTHORITY,		/* authority, without a colon */
	MRPC_GRPC_NAME_TIMEOUT,			/* grpc-timeout */
	MRPC_GRPC_NAME_ENCODING,		/* grpc-encoding */
	MRPC_GRPC_NAME_ACCEPT,			/* grpc-accept-encoding */
	MRPC_GRPC_NAME_STATUS,			/* grpc-status */
	MRPC_GRPC_NAME_MESSAGE,			/* grpc-message */
	MRPC_GRPC_NAME_DETAILS,			/* grpc-status-details-bin */
	MRPC_GRPC_NAME_ATTEMPTS,		/* grpc-previous-rpc-attempts */
	MRPC_GRPC_NAME_PUSHBACK,		/* grpc-retry-pushback-ms */
	MRPC_GRPC_NAME_GRPC,			/* any other that begins with grpc- */
	MRPC_GRPC_NAME_SCHEMA,			/* mrpc-schema */
	MRPC_GRPC_NAME_MRPC,			/* any other that begins with mrpc- */
	MRPC_GRPC_NAME_OTHER,
};

/**
 * struct mrpc_grpc_block - what has come of one header block
 * @seen: BIT(enum mrpc_grpc_name) of each field
 * @again: the field that came last is not the first of its name
 * @trailers: the block is trailers, which have no pseudo-header fields
 *
 * All zeroes, but for @trailers, before the first field.
 */
struct mrpc_grpc_block {
	u32 seen;
	bool again;
	bool trailers;
};

/* mrpc_grpc_name_find() - Return: what a field's name means */
enum mrpc_grpc_name mrpc_grpc_name_find(const u8 *name, u32 nlen);

/**
 * mrpc_grpc_block_field() - check one field of a block, and count it in
 * @b: the block
 * @name: the field's name
 * @nlen: its bytes
 * @value: its value
 * @vlen: its bytes
 * @id: gets what the name means
 *
 * Refuses what makes a message malformed: characters, a pseudo-header field that is unknown, in
 * trailers, behind another field or there twice, fields of a connection, and a te that is not
 * "trailers". Which pseudo-header fields a request or response has is for the caller.
 *
 * The receiver of client's trailers needs nothing but this.
 *
 * Return: NULL, or a sentence for people, static.
 */
const char *mrpc_grpc_block_field(struct mrpc_grpc_block *b, const u8 *name, u32 nlen,
				  const u8 *value, u32 vlen, enum mrpc_grpc_name *id);

/* mrpc_grpc_trim() - Return: @text without blanks at both ends, of *@trimmed bytes */
const u8 *mrpc_grpc_trim(const u8 *text, u32 len, u32 *trimmed);

/* mrpc_grpc_content_type() - is this application/grpc with nothing, "+proto" or parameters? */
bool mrpc_grpc_content_type(const u8 *value, u32 vlen);

/**
 * mrpc_grpc_number() - read a decimal number
 * @text: digits
 * @len: how many
 * @max: the largest number, below S64_MAX / 16
 *
 * Return: the number; -EINVAL: @text is something else, or a larger number.
 */
s64 mrpc_grpc_number(const u8 *text, u32 len, s64 max);

#endif /* MRPC_LIB_GRPC_FIELD_H */
