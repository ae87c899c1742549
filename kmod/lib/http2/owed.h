/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Control frames of an HTTP/2 connection that are due: how many, and their bytes.
 *
 * The caller's lock is held, as for connection.h.
 */
#ifndef MRPC_LIB_HTTP2_OWED_H
#define MRPC_LIB_HTTP2_OWED_H

#include "lib/http2/connection.h"

/* Bytes of answers that are due, beyond which nothing more is read. */
#define MRPC_H2_MAX_OWED	4096
/* With this room mrpc_h2_owed() always writes something that is due. */
#define MRPC_H2_OWED_ROOM	256

/**
 * mrpc_h2_owed() - write control frames that are due
 * @c: the connection
 * @out: where to
 * @room: bytes at @out; with less than MRPC_H2_OWED_ROOM it may write nothing
 *
 * It writes whole frames, which count as sent. After an error it writes only what leads to
 * GOAWAY, and that.
 *
 * Return: bytes written. If it is 0 with enough room, nothing is due.
 */
u32 mrpc_h2_owed(struct mrpc_h2_conn *c, u8 *out, u32 room);

/** mrpc_h2_owes() - Return: mrpc_h2_owed() would write something */
bool mrpc_h2_owes(const struct mrpc_h2_conn *c);

/**
 * mrpc_h2_congested() - Return: so many answers are due that the caller must not read more
 * @c: the connection
 *
 * It asks before each frame. mrpc_h2_owed() ends this.
 */
bool mrpc_h2_congested(const struct mrpc_h2_conn *c);

#endif /* MRPC_LIB_HTTP2_OWED_H */
