// SPDX-License-Identifier: GPL-2.0
/* Receive buffers of a session. */
#include <linux/mm.h>
#include <linux/slab.h>

#include "core/rx_buffer.h"
#include "core/session.h"

/**
 * mrpc_stream_alloc() - a buffer for what is being received
 * @session: the session
 * @cap: bytes; out: those that it has
 *
 * The usual case costs no allocation: the session keeps one buffer. Context: process; may
 * sleep. Return: the buffer, aligned to 8, or NULL.
 */
u8 *mrpc_stream_alloc(struct mrpc_session *session, u32 *cap)
{
	u8 *buf = NULL;

	*cap = max_t(u32, *cap, MRPC_STREAM_BUF);
	if (*cap == MRPC_STREAM_BUF)
		buf = xchg(&session->rx_spare, NULL);
	return buf ?: kvmalloc(*cap, GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
}
EXPORT_SYMBOL_GPL(mrpc_stream_alloc);

/**
 * mrpc_stream_recycle() - give back what mrpc_stream_alloc() has returned
 * @session: the session
 * @buf: the buffer
 * @cap: its bytes
 *
 * Context: process.
 */
void mrpc_stream_recycle(struct mrpc_session *session, u8 *buf, u32 cap)
{
	if (cap != MRPC_STREAM_BUF || cmpxchg(&session->rx_spare, NULL, buf))
		kvfree(buf);
}
EXPORT_SYMBOL_GPL(mrpc_stream_recycle);
