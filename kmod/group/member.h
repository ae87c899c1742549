/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MRPC_GROUP_MEMBER_H
#define MRPC_GROUP_MEMBER_H

#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mrpc.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/workqueue.h>

#include "group/trace.h"
#include "lib/ds/claim.h"
#include "lib/group/progress.h"

struct mrpc_change;
struct mrpc_conn;
struct mrpc_operation;
struct mrpc_refusal;
struct mrpc_session;

/**
 * struct mrpc_member_link - the connection to another rank; all under mrpc_member.lock
 * @conn: the connection, a reference until its link ends; or NULL
 * @seq: the operation that @sent and @received count chunks of
 * @sent: chunks
 * @received: chunks
 * @early: a chunk of it waits for its turn: its end of the link does not read
 * @left: the rank has left: it has done its part of all operations up to here, and none of later ones
 */
struct mrpc_member_link {
	struct mrpc_conn *conn;
	u64 seq;
	u32 sent;
	u32 received;
	bool early;
	bool left;
};

/**
 * struct mrpc_member - one rank of a group, on this host
 *
 * Reference counted. The table of the session holds one reference until the rank leaves. Each
 * connection of @links holds one until it is freed. Queued work holds one. The owner of the claim
 * @run sends chunks, copies, and begins and completes operations. The owner of the receive claim of a
 * connection receives the chunk that has its turn.
 */
struct mrpc_member {
	/* Immutable. */
	struct kref ref;
	struct rcu_head rcu;
	struct mrpc_session *session;	/* a reference */
	u32 id;				/* in the table of the session */
	u64 key;
	u32 ranks;
	u32 rank;
	u64 limit;			/* ns that an operation may take */
	u64 joined;			/* ns */
	u8 *scratch;			/* a chunk that is not received in place */

	/* Runs the member: see run.c. */
	struct mrpc_claim run;

	/*
	 * Protects what follows, and @links. Any context but hard interrupt. Inside it only locks of
	 * workqueues are taken.
	 */
	spinlock_t lock;
	/* Operations that are not complete, by mrpc_operation.list; the first one may run. */
	struct list_head operations;
	u32 nr_operations;
	/* Number of the operation that was begun last; it runs if @running. */
	u64 seq;
	bool running;
	/* When the operation that runs, or is held, has taken too long, ns. */
	u64 until;
	/* When @limit_work looks at it, ns; 0: it is not queued. */
	u64 looks_at;
	/*
	 * Strategies. Only the owner of the claim finishes a change, and only while no operation runs.
	 * So it reads, without the lock, the strategy in use.
	 */
	struct mrpc_change *change;
	bool held;	/* the next operation waits for a change */
	/* Of the operation that runs. */
	struct mrpc_progress progress;
	/* The connection that receives a chunk to its place now, or NULL; without a reference. */
	struct mrpc_conn *receiving;
	/* Why the group has ended; MRPC_OK: it has not. @detail does not change afterwards. */
	u16 status;
	bool in_order;	/* the application has left when all operations were complete */
	char detail[MRPC_MAX_DETAIL];
	struct mrpc_group_trace trace;

	struct work_struct end_work;	/* tells the other ranks that it has ended */
	struct delayed_work close_work;	/* closes the connections then */
	struct delayed_work limit_work;	/* looks at @until */
	struct work_struct run_work;	/* goes on with a long run */
	struct work_struct free_work;
	struct mrpc_member_link links[] __counted_by(ranks);
};

/**
 * mrpc_member_counts() - return the connection to a rank, with counts of the operation that runs
 * @m: the member; the caller has its lock
 * @rank: the other rank
 */
static inline struct mrpc_member_link *mrpc_member_counts(struct mrpc_member *m, u32 rank)
{
	struct mrpc_member_link *link = &m->links[rank];

	if (link->seq != m->seq) {
		link->seq = m->seq;
		link->sent = 0;
		link->received = 0;
	}
	return link;
}

struct mrpc_member *mrpc_member_find(struct mrpc_session *session, u32 id);
void mrpc_member_put(struct mrpc_member *m);
int mrpc_member_join(struct mrpc_session *session, struct mrpc_group_new *args,
		     struct mrpc_refusal *r);
int mrpc_member_leave(struct mrpc_session *session, u32 id);
void mrpc_members_end(struct mrpc_session *session);

#endif /* MRPC_GROUP_MEMBER_H */
