/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MRPC_EXEC_STALL_H
#define MRPC_EXEC_STALL_H

#include <linux/bitops.h>
#include <linux/types.h>

#include "core/conn.h"

struct mrpc_session;

void mrpc_stall_begin(struct mrpc_conn *conn, u32 len);
void mrpc_stall_end(struct mrpc_conn *conn);
void mrpc_stall_remove(struct mrpc_conn *conn);
void mrpc_stall_pass(struct mrpc_conn *conn);
void mrpc_stall_kick(struct mrpc_session *session);

/*
 * Does input wait for room in the receive heap? A hint, but for the owner of the receive claim. Also
 * while it was kicked and has not run yet.
 */
static inline bool mrpc_stalled(const struct mrpc_conn *conn)
{
	return READ_ONCE(conn->exec.stalled_at);
}

/* The owner of the receive claim has had its turn: the next connection gets one, if it is due. */
static inline void mrpc_stall_ran(struct mrpc_conn *conn)
{
	if (unlikely(test_bit(MRPC_CONN_ROOM, &conn->flags)))
		mrpc_stall_pass(conn);
}

#endif /* MRPC_EXEC_STALL_H */
