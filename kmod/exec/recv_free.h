/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MRPC_EXEC_RECV_FREE_H
#define MRPC_EXEC_RECV_FREE_H

#include <linux/types.h>

#include "core/session.h"
#include "exec/stall.h"

/* There is more room in the receive heap: a connection that waits for room tries again. */
static inline void mrpc_recv_freed(struct mrpc_session *session)
{
	smp_mb();	/* pairs with the barrier in mrpc_sink_alloc() */
	mrpc_stall_kick(session);
}

int mrpc_release(struct mrpc_session *session, const u32 *blocks, u32 nr);
void mrpc_recv_cancel(struct mrpc_session *session, u32 block, u32 dirty);

#endif /* MRPC_EXEC_RECV_FREE_H */
