/* SPDX-License-Identifier: GPL-2.0 */
/* Records of TLS 1.3 that carry no data, after the handshake. */
#ifndef MRPC_LIB_TLS_CONTROL_H
#define MRPC_LIB_TLS_CONTROL_H

#include "lib/ds/types.h"

/* Content types of records: RFC 8446, section 5.1. */
#define MRPC_TLS_ALERT		21
#define MRPC_TLS_HANDSHAKE	22
#define MRPC_TLS_DATA		23

#define MRPC_TLS_ALERT_LEN	2
#define MRPC_TLS_WARNING	1	/* first byte of an alert */
#define MRPC_TLS_CLOSE_NOTIFY	0	/* second byte of one */

/**
 * struct mrpc_tls_control - the handshake message that is under way
 * @head: its type and its length, 3 bytes
 * @have: bytes of @head that have come
 * @left: bytes that are missing after @head
 *
 * Zeros before the first. Messages may be in pieces, and several in one record.
 */
struct mrpc_tls_control {
	u8 head[4];
	u8 have;
	u32 left;
};

/**
 * mrpc_tls_control() - what a record that is no data means
 * @c: of the connection
 * @type: the record's content type
 * @buf: a piece of its content
 * @len: bytes of @buf
 * @why: out: why the connection must end
 *
 * The tickets of a server are skipped: this side does not resume sessions.
 *
 * Return: 0: go on; -ESHUTDOWN: the peer has said that it sends no more; -EPROTO: the connection
 * must end.
 */
int mrpc_tls_control(struct mrpc_tls_control *c, u8 type, const u8 *buf, u32 len,
		     const char **why);

#endif /* MRPC_LIB_TLS_CONTROL_H */
