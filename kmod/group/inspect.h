/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MRPC_GROUP_INSPECT_H
#define MRPC_GROUP_INSPECT_H

#include <linux/types.h>

#include "group/trace.h"

struct mrpc_member;
struct mrpc_session;

/**
 * struct mrpc_member_view - a rank at one moment
 * @status: enum mrpc_status of its end; MRPC_OK: its group has not ended. Otherwise
 *	mrpc_member.detail says why, and does not change any more
 * @running: an operation runs, and @record is it
 * @conns: connections
 * @waiting: operations that have not begun
 * @until: when the operation has taken too long, ns
 * @awaits: the rank whose chunk is next; MRPC_NO_RANK: none is, or it comes now
 * @tx_bytes: see struct mrpc_group_trace
 * @rx_bytes: the same
 * @record: of the operation that runs
 * @totals: by enum mrpc_collective
 */
struct mrpc_member_view {
	u16 status;
	bool running;
	u32 conns;
	u32 waiting;
	u64 until;
	u32 awaits;
	u64 tx_bytes;
	u64 rx_bytes;
	struct mrpc_group_record record;
	struct mrpc_group_total totals[MRPC_NR_COLLECTIVES];
};

/**
 * struct mrpc_link_view - what a rank has to do with another one
 * @conn: number of the connection, or 0
 * @sent: chunks of the operation that runs
 * @received: the same
 * @early: a chunk waits for its turn
 * @left: the other rank has left
 */
struct mrpc_link_view {
	u32 conn;
	u32 sent;
	u32 received;
	bool early;
	bool left;
};

struct mrpc_member *mrpc_member_next(struct mrpc_session *session, unsigned long *id);
void mrpc_member_view(struct mrpc_member *m, struct mrpc_member_view *view);
void mrpc_member_view_links(struct mrpc_member *m, struct mrpc_link_view *links);

#endif /* MRPC_GROUP_INSPECT_H */
