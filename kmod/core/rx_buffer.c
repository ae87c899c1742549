// SPDX-License-Identifier: GPL-2.0
/* Receive buffers of a session. */
#include <linux/mm.h>

#include "core/conn.h"
#include "core/large.h"
#include "core/rx_buffer.h"
#include "core/session.h"
#include "core/user.h"

/* What a session's user is charged for a buffer: one of the usual size is part of a connection. */
static u64 mrpc_stream_charge(u32 cap)
{
	return cap - MRPC_STREAM_BUF;
}

/**
 * mrpc_stream_alloc() - a buffer for what is being received
 * @link: the link that it comes over
 * @cap: bytes; out: those that it has
 *
 * The usual case costs no allocation: the session keeps one buffer. A large one is charged to the
 * session's user, for the peer says how large it is. Context: process; may sleep.
 * Return: the buffer, aligned to 8, or NULL.
 */
u8 *mrpc_stream_alloc(struct mrpc_link *link, u32 *cap)
{
	struct mrpc_session *session = mrpc_link_conn(link)->session;
	u8 *buf = NULL;

	*cap = max_t(u32, *cap, MRPC_STREAM_BUF);
	if (*cap == MRPC_STREAM_BUF)
		buf = xchg(&session->rx_spare, NULL);
	if (buf)
		return buf;
	if (mrpc_user_charge_memory(session, mrpc_stream_charge(*cap)))
		return NULL;
	buf = mrpc_large_alloc(*cap);
	if (!buf)
		mrpc_user_uncharge_memory(session->user, mrpc_stream_charge(*cap));
	return buf;
}
EXPORT_SYMBOL_GPL(mrpc_stream_alloc);

/**
 * mrpc_stream_recycle() - give back what mrpc_stream_alloc() has returned
 * @link: the link that it comes over
 * @buf: the buffer, or NULL
 * @cap: its bytes
 *
 * Context: process.
 */
void mrpc_stream_recycle(struct mrpc_link *link, u8 *buf, u32 cap)
{
	struct mrpc_session *session = mrpc_link_conn(link)->session;

	if (!buf)
		return;
	mrpc_user_uncharge_memory(session->user, mrpc_stream_charge(cap));
	if (cap != MRPC_STREAM_BUF || cmpxchg(&session->rx_spare, NULL, buf))
		kvfree(buf);
}
EXPORT_SYMBOL_GPL(mrpc_stream_recycle);
