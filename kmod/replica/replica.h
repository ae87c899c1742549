/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Replicas: servers that take calls of a connection in its own server's place.
 *
 * A connection can have sets of them, one for each engine placed on it that
 * balances. Every replica has a link of its own: an ordinary connection of the same
 * session, made by the kernel, which no application and no engine sees. A call stays
 * in the table of the connection that it was made on, and is entered into that of the
 * link that carries it, too; it ends where it was made when the link has its reply,
 * or has ended.
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

#include "core/conn.h"
#include "lib/balance.h"
#include "replica/egress.h"

struct mrpc_chooser;
struct mrpc_placement;
struct mrpc_transport_ops;

#define MRPC_REPLICA_NAME	52	/* with NUL: a counter's name is built of it */

/**
 * struct mrpc_replica_place - where a replica is, as the operator says
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
 * struct mrpc_replica_plan - what an operator wants of a set; immutable
 * @ref: its group's, and each set's that follows it
 * @policy: enum mrpc_balance_policy
 * @max_bad: calls that fail in a row before a replica is ejected
 * @backoff: for how long, for the first time, ns
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
 * struct mrpc_candidates - what pick sees of the replicas; of the owner of the transmit claim
 * @nr: how many
 * @set: as the program sees it; nothing here decides by it
 * @all: the candidates; likewise
 */
struct mrpc_candidates {
	u32 nr;
	struct mrpc_lb_set set;
	struct mrpc_lb_candidate all[MRPC_LB_CANDIDATES];
};

/**
 * struct mrpc_replica - one server of a set
 *
 * @ref: the set's list, and each of its links
 * @set: a reference
 * @list: entry of @set->all; of @set's work
 * @place: where; its weight is @m's; immutable, with a module reference
 * @m: state; under @set->lock
 * @conn: its link, a reference, or NULL; written by @set's work, and under
 *	@set->lock
 * @tried: when that was begun, ns; of @set's work
 * @why: why it has none, static; under @set->lock
 * @leaving: it gets no more calls, and goes when its link has ended; of @set's work
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
 * Made when the placement's first instance on the datapath is; versions of an
 * engine that replace each other share it. When the last of them has gone its
 * links finish what they carry, and end; when the connection ends they end with
 * it.
 *
 * @ref: the connection's list, each instance, each replica, and the work when it
 *	is queued
 * @users: instances; under @conn->lock
 * @list: entry of mrpc_conn.replicas; under @conn->lock
 * @conn: whose calls they take; a reference
 * @placement: for whom; an address that is compared
 * @name: of the placement
 * @lock: @plan, @b, @waiting, and what replicas say; process context; a link's
 *	lock is taken inside
 * @plan: what is wanted, a reference, or NULL before the first call
 * @applied: the plan that @b is made of, a reference; changed by @work
 * @b: those that get calls
 * @waiting: calls wait until somebody is fit
 * @chooser: the policy that chooses, or NULL: written by the owner of the transmit claim
 *	of @conn, whose instance keeps it; cleared, and read by who has no claim, under
 *	@chooser_lock
 * @done: tells @chooser how a call ended; set with the first chooser
 * @outcomes: its programs want to know how calls end; written as @chooser is
 * @choosers: those of all instances; under @chooser_lock
 * @chooser_lock: @choosers, and the run of the programs' done; a mutex: they take their time
 * @all: replicas, those that are leaving too; of @work
 * @work: makes and ends links; everything that takes time
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

/*
 * What the operator has been told is so holds for every call from then on. Of a connection
 * that has ended what waits is dropped. Under set->lock.
 */
static inline bool mrpc_replicas_behind(const struct mrpc_replicas *set)
{
	return set->plan != set->applied || READ_ONCE(set->conn->state) == MRPC_CONN_CLOSED;
}

#endif /* MRPC_REPLICA_REPLICA_H */
