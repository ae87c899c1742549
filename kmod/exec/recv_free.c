// SPDX-License-Identifier: GPL-2.0
/* The application gives blocks of the receive heap back. */
#include <linux/nospec.h>

#include "core/heap.h"
#include "core/session.h"
#include "exec/recv_free.h"

/**
 * mrpc_release() - blocks come back from the application
 * @session: the session
 * @blocks: receive heap offsets, in kernel memory
 * @nr: how many
 *
 * Return: 0, or -EINVAL if any of them was not a delivered block.
 */
int mrpc_release(struct mrpc_session *session, const u32 *blocks, u32 nr)
{
	int err = mrpc_heap_release(&session->recv, blocks, nr);

	mrpc_recv_freed(session);
	return err;
}

/**
 * mrpc_recv_cancel() - the kernel itself frees a block, which was never delivered
 * @session: the session
 * @block: its receive heap offset
 * @dirty: bytes that may have been written
 *
 * Context: process; not under session->ready_lock. Connections may be kicked, the caller's, too.
 */
void mrpc_recv_cancel(struct mrpc_session *session, u32 block, u32 dirty)
{
	mrpc_heap_cancel(&session->recv, block, dirty);
	mrpc_recv_freed(session);
}
