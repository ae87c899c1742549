/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The body of HELLO and HELLO_ACK: identity, versions, features and schemas of the sender.
 *
 *   struct mrpc_hello_hdr
 *   per service: u8 hash[32], u8 verdict, __le16 name_len, name bytes
 *   identity: identity_len bytes (reserved for authentication)
 *
 * HELLO lists the services that the client will call, in the numbering of
 * mrpc_wire_hdr.method; verdict is 0. HELLO_ACK lists the same services with
 * the server's verdict and the server's own hash (zeros if unknown to it).
 */
#ifndef MRPC_LIB_MESSAGE_HANDSHAKE_H
#define MRPC_LIB_MESSAGE_HANDSHAKE_H

#include <linux/mrpc.h>
#include "lib/ds/types.h"
#include "lib/message/wire.h"

#define MRPC_HELLO_MAX_IDENTITY	256

struct mrpc_hello_hdr {
	u8 version_min;
	u8 version_max;		/* HELLO_ACK: min == max == chosen */
	__le16 nr_services;	/* 1 to MRPC_MAX_SERVICES */
	__le32 max_message;	/* largest message that the sender of this accepts */
	__le64 features;	/* offered; HELLO_ACK: the chosen subset */
	__le32 max_calls;	/* slots: calls in flight, 1 to 65536 */
	__le16 status;		/* HELLO_ACK: enum mrpc_status */
	__le16 identity_len;
};

enum mrpc_verdict {
	MRPC_VERDICT_OK = 0,
	MRPC_VERDICT_UNKNOWN = 1,	/* no such service here */
	MRPC_VERDICT_MISMATCH = 2,	/* another schema */
	MRPC_VERDICT_MAX = MRPC_VERDICT_MISMATCH,
};

struct mrpc_hello_service {
	u8 hash[MRPC_HASH_LEN];
	u8 verdict;
	u16 name_len;
	const char *name;	/* not NUL-terminated; into the buffer */
};

struct mrpc_hello {
	u8 version_min;
	u8 version_max;
	u16 nr_services;
	u16 status;
	u16 identity_len;
	u32 max_message;
	u32 max_calls;
	u64 features;
	const u8 *identity;
	struct mrpc_hello_service services[MRPC_MAX_SERVICES];
};

/**
 * mrpc_hello_encode() - write the body of a HELLO or HELLO_ACK
 * Return: its length, or -EMSGSIZE if @size (or a limit) is too small.
 */
int mrpc_hello_encode(const struct mrpc_hello *hello, void *buf, size_t size);

/**
 * mrpc_hello_decode() - check and parse a body; pointers go into @buf
 * Names must be dotted identifiers and unique. Return: 0 or -EPROTO.
 */
int mrpc_hello_decode(const void *buf, size_t len, struct mrpc_hello *hello, const char **why);

#endif /* MRPC_LIB_MESSAGE_HANDSHAKE_H */
