// SPDX-License-Identifier: GPL-2.0
/* What operators see of ranks. Each function copies under the lock, and nothing waits for a reader. */
#include <linux/rcupdate.h>
#include <linux/string.h>
#include <linux/xarray.h>

#include "core/conn.h"
#include "core/session.h"
#include "group/inspect.h"
#include "group/member.h"

/**
 * mrpc_member_next() - iterate over a session's ranks of groups
 * @session: the session
 * @id: start at this id; moved to the one found
 *
 * Return: the rank with a reference, or NULL at the end.
 */
struct mrpc_member *mrpc_member_next(struct mrpc_session *session, unsigned long *id)
{
	struct mrpc_member *m;

	rcu_read_lock();
	for (m = xa_find(&session->members, id, MRPC_MAX_GROUPS, XA_PRESENT); m;
	     m = xa_find_after(&session->members, id, MRPC_MAX_GROUPS, XA_PRESENT)) {
		if (kref_get_unless_zero(&m->ref))
			break;
	}
	rcu_read_unlock();
	return m;
}

/* The rank that must send the next chunk. Under the lock; an operation runs. */
static u32 mrpc_member_awaits(struct mrpc_member *m)
{
	struct mrpc_chunk chunk;

	if (m->receiving || mrpc_progress_recv(&m->progress, &chunk) != MRPC_NEXT_CHUNK)
		return MRPC_NO_RANK;
	return chunk.peer;
}

/**
 * mrpc_member_view() - look at a rank
 * @m: the rank
 * @view: out
 *
 * Context: process.
 */
void mrpc_member_view(struct mrpc_member *m, struct mrpc_member_view *view)
{
	const struct mrpc_group_trace *t = &m->trace;
	u32 rank;

	memset(view, 0, sizeof(*view));
	spin_lock_bh(&m->lock);
	view->status = m->status;
	view->running = m->running;
	for (rank = 0; rank < m->ranks; rank++)
		view->conns += !!m->links[rank].conn;
	view->waiting = m->nr_operations - m->running;
	view->tx_bytes = t->tx_bytes;
	view->rx_bytes = t->rx_bytes;
	memcpy(view->totals, t->totals, sizeof(view->totals));
	if (m->running) {
		view->until = m->until;
		view->awaits = mrpc_member_awaits(m);
		view->record = *mrpc_trace_last(&m->trace);
	}
	spin_unlock_bh(&m->lock);
}

/**
 * mrpc_member_view_links() - look at the connections of a rank
 * @m: the rank
 * @links: out: by rank, @m->ranks of them
 *
 * Context: process.
 */
void mrpc_member_view_links(struct mrpc_member *m, struct mrpc_link_view *links)
{
	const struct mrpc_member_link *link;
	bool now;
	u32 rank;

	spin_lock_bh(&m->lock);
	for (rank = 0; rank < m->ranks; rank++) {
		link = &m->links[rank];
		now = m->running && link->seq == m->seq;
		links[rank] = (struct mrpc_link_view){
			.conn = link->conn ? link->conn->id : 0,
			.sent = now ? link->sent : 0,
			.received = now ? link->received : 0,
			.early = link->conn && link->early,
			.left = link->left,
		};
	}
	spin_unlock_bh(&m->lock);
}
