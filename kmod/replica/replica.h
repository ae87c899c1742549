/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Replicas: servers that take calls of a connection in place of its own server.
 *
 * A connection can have sets of them, one for each balancing engine placed on it. Every replica has
 * a link. A link is an ordinary connection of the same session that the kernel makes. No
 * application and no engine sees it. A call stays in the table of its connection, and is also
 * entered into the table of the link that carries it. It ends at its connection when the link has
 * its reply, or has ended.
 */
#ifndef MRPC_REPLICA_REPLICA_H
#define MRPC_REPLICA_REPLICA_H

#include <linux/list.h>
#include <linux/mrpc_policy.h>
#include <linux/mutex.h>
#include <linux/refcount.h>
#include <linux/socket.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

#include "lib/balance.h"
#include "replica/egress.h"

struct mrpc_chooser;
struct mrpc_placement;
struct mrpc_transport_ops;

#define MRPC_REPLICA_NAME	52	/* with NUL: it is part of counters' names */

/**
 * struct mrpc_replica_place - the operator's description of a replica
 * @name: "tcp:10.0.0.1:7000"
 * @ops: the transport; a module reference
 * @addr: for it
 * @addr_len: its bytes
 * @weight: share of the calls
 */
struct mrpc_replica_place {
	char name[MRPC_REPLICA_NAME];
	const struct mrpc_transport_ops *ops;
	struct sockaddr_storage addr;
	u32 addr_len;
	u32 weight;
};

/**
 * struct mrpc_replica_plan - the operator's settings of a set; immutable
 * @ref: one of its group, and one of each set that follows it
 * @policy: enum mrpc_balance_policy
 * @max_bad: calls that fail in a row before a replica is ejected
 * @backoff: time of the first ejection, ns
 * @nr: of @places
 */
struct mrpc_replica_plan {
	refcount_t ref;
	u8 policy;
	u32 max_bad;
	u64 backoff;
	u32 nr;
	struct mrpc_replica_place places[MRPC_BALANCE_MEMBERS];
};

/**
 * struct mrpc_candidates - the replicas as pick sees them; of the owner of the transmit claim
 * @nr: number of candidates
 * @set: as the program sees it; the kernel does not decide by it
 * @all: the candidates; the kernel does not decide by them either
 */
struct mrpc_candidates {
	u32 nr;
	struct mrpc_lb_set set;
	struct mrpc_lb_candidate all[MRPC_LB_CANDIDATES];
};

/**
 * struct mrpc_replica - one server of a set
 *
 * @ref: one of the set's list, and one of each of its links
 * @set: a reference
 * @list: entry of @set->all; of @set's work
 * @place: its address; its weight is @m's; immutable, with a module reference
 * @m: state; under @set->lock
 * @conn: its link, a reference, or NULL; written by @set's work, and under
 *	@set->lock
 * @tried: time when the link was begun, ns; of @set's work
 * @why: why it has no link, static; under @set->lock
 * @leaving: it gets no more calls, and is freed when its link has ended; of @set's work
 */
struct mrpc_replica {
	refcount_t ref;
	struct mrpc_replicas *set;
	struct list_head list;
	struct mrpc_replica_place place;
	struct mrpc_member m;
	struct mrpc_conn *conn;
	u64 tried;
	const char *why;
	bool leaving;
};

/**
 * struct mrpc_replicas - the replicas of a connection, for one placement
 *
 * Made with the placement's first instance on the datapath. Versions of an engine that replace each
 * other share it. When the last instance has gone, its links finish their calls, and end. When the
 * connection ends, they end with it.
 *
 * @ref: one of the connection's list, of each instance, of each replica, and of the work while it
 *	is queued
 * @users: instances; under @conn->lock
 * @list: entry of mrpc_conn.replicas; under @conn->lock
 * @conn: the connection that makes the calls; a reference
 * @placement: its placement; the address is only compared
 * @name: of the placement
 * @lock: protects @plan, @b, @waiting, and the state of replicas; process context; a link's
 *	lock is taken inside
 * @plan: the wanted plan, a reference, or NULL before the first call
 * @applied: the plan that @b is made of, a reference; changed by @work
 * @b: replicas that get calls
 * @waiting: calls wait until a replica is fit
 * @chooser: the policy that chooses, or NULL. The owner of the transmit claim of @conn writes it;
 *	its instance keeps the policy. Under @chooser_lock it is cleared, and read without the claim
 * @done: tells @chooser how a call ended; set with the first chooser
 * @outcomes: the chooser's programs want the outcomes of calls; written as @chooser is
 * @choosers: choosers of all instances; under @chooser_lock
 * @chooser_lock: protects @choosers, and the run of the programs' done; a mutex: runs take time
 * @all: replicas, leaving ones included; of @work
 * @work: makes and ends links; does everything that takes time
 */
struct mrpc_replicas {
	refcount_t ref;
	u32 users;
	struct list_head list;
	struct mrpc_conn *conn;
	const struct mrpc_placement *placement;
	char name[32];
	spinlock_t lock;
	struct mrpc_replica_plan *plan;
	struct mrpc_replica_plan *applied;
	struct mrpc_balance b;
	bool waiting;
	struct mrpc_chooser *chooser;
	void (*done)(struct mrpc_replicas *set, const struct mrpc_call *call,
		     struct mrpc_lb_done *end);
	bool outcomes;
	struct list_head choosers;
	struct mutex chooser_lock;
	struct list_head all;
	struct delayed_work work;
};

static inline struct mrpc_replica *mrpc_replica_of(struct mrpc_member *m)
{
	return container_of(m, struct mrpc_replica, m);
}

#endif /* MRPC_REPLICA_REPLICA_H */
