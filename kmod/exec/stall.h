/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MRPC_EXEC_STALL_H
#define MRPC_EXEC_STALL_H

#include <linux/bitops.h>
#include <linux/types.h>

#include "core/conn.h"
#include "core/session.h"

void mrpc_stall_begin(struct mrpc_conn *conn, u32 len);
void mrpc_stall_end(struct mrpc_conn *conn);
void mrpc_stall_remove(struct mrpc_conn *conn);
void mrpc_stall_pass(struct mrpc_conn *conn);
void mrpc_stall_kick_oldest(struct mrpc_session *session);

/*
 * Does input wait for room in the receive heap? Also true for a connection that was kicked and has
 * not run yet. A hint, but for the owner of the receive claim.
 */
static inline bool mrpc_stalled(const struct mrpc_conn *conn)
{
	return READ_ONCE(conn->exec.stalled_at);
}

/*
 * Kicks the next connection, if one waits. A caller that has freed a block has had a full barrier
 * since, which pairs with that in mrpc_sink_alloc(). Context: process; not under ready_lock.
 */
static inline void mrpc_stall_kick(struct mrpc_session *session)
{
	if (READ_ONCE(session->nr_stalled))
		mrpc_stall_kick_oldest(session);
}

/* The owner of the receive claim has had its turn: the next connection gets one, if it is due. */
static inline void mrpc_stall_ran(struct mrpc_conn *conn)
{
	if (unlikely(test_bit(MRPC_CONN_ROOM, &conn->flags)))
		mrpc_stall_pass(conn);
}

#endif /* MRPC_EXEC_STALL_H */
