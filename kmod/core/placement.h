/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Placements: what engines the operator wants, where, in which order.
 *
 * The list of a network namespace's placements is the desired state. Every
 * change of it is followed by bringing the datapaths in scope to it, one after
 * the other (change.c); a new connection is brought to it before its first
 * call.
 */
#ifndef MRPC_CORE_PLACEMENT_H
#define MRPC_CORE_PLACEMENT_H

#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/netlink.h>
#include <linux/refcount.h>
#include <linux/uidgid.h>
#include <net/net_namespace.h>

#include "core/engine.h"
#include "core/net.h"
#include "lib/message/schema.h"

struct mrpc_conn;
struct mrpc_conn_services;
struct mrpc_schema;
struct net;

#define MRPC_PLACEMENT_NAME	32	/* with NUL */

#define MRPC_PLACEMENTS_MAX	32	/* of one network namespace */

/* mrpc_scope.side; as in the netlink family */
#define MRPC_SIDE_CLIENT	1

#define MRPC_SIDE_SERVER	2

#define MRPC_SIDE_BOTH		3

/**
 * struct mrpc_scope - which datapaths of a network namespace
 * @service: connections that have this service, and of their calls only those
 *	of it; "" for any
 * @session: of this session; 0 for any
 * @pid: of sessions opened by this process; 0 for any
 * @has_uid: of sessions opened by @uid
 * @uid: a user
 * @cgroup: of sessions opened in this cgroup or below it; 0 for any
 * @datapath: this one; 0 for any
 * @side: MRPC_SIDE_*
 *
 * All that are given must match.
 */
struct mrpc_scope {
	const char *service;
	u32 session;
	pid_t pid;
	bool has_uid;
	kuid_t uid;
	u64 cgroup;
	u32 datapath;
	u8 side;
};

#define MRPC_PAST_COUNTS	32	/* names of MRPC_ENGINE_COUNTS that are kept */
#define MRPC_COUNT_NAME		64	/* bytes of a name, with NUL */

/**
 * struct mrpc_count - a number that a type counts
 * @name: what
 * @value: how many
 */
struct mrpc_count {
	char name[MRPC_COUNT_NAME];
	u64 value;
};

/**
 * struct mrpc_past - what instances that are gone have counted
 * @lock: the others
 * @stats: sums, of both directions
 * @nr: of @counts
 * @counts: sums, of types with MRPC_ENGINE_COUNTS
 */
struct mrpc_past {
	spinlock_t lock;
	struct mrpc_engine_stats stats[MRPC_DIRS];
	u32 nr;
	struct mrpc_count counts[MRPC_PAST_COUNTS];
};

/**
 * struct mrpc_placement - an engine type on a scope
 *
 * Reference counted: the namespace's list holds one, each instance one.
 * What it says changes only in its list's owner's hands: under mrpc_net.change
 * (by the operator's command) and mrpc_net.lock (for readers).
 *
 * A change in progress has a present and a next configuration, and reaches
 * @percent of the datapaths; NULL stands for "no engine". When no change is in
 * progress @next is @now.
 *
 * @ref: references
 * @list: entry of mrpc_net.placements, in the order application to wire
 * @id: unique in the namespace until it dies
 * @name: unique in the namespace
 * @scope: immutable
 * @now: present configuration, a reference, or NULL
 * @next: configuration of a change in progress, a reference, or NULL
 * @changing: a change is in progress
 * @percent: of the datapaths that have @next
 * @past: of its instances that have ended, since it was placed
 * @service: what scope.service points to
 */
struct mrpc_placement {
	refcount_t ref;
	struct list_head list;
	u32 id;
	char name[MRPC_PLACEMENT_NAME];
	struct mrpc_scope scope;
	struct mrpc_group *now;
	struct mrpc_group *next;
	bool changing;
	u8 percent;
	struct mrpc_past past;
	char service[];
};

/**
 * struct mrpc_change_result - what a change did
 * @matched: datapaths in scope
 * @changed: of them, those that were changed
 * @failed_dp: the datapath where it failed, or 0
 * @rolled_back: it failed, and what had been changed was changed back
 * @leaked: rpcs that engines had lost and that were found again
 * @pause_total: ns that datapaths stood still, summed
 * @pause_p50, @pause_p99, @pause_max: of the datapaths that were changed
 * @duration: ns of the whole change
 */
struct mrpc_change_result {
	u32 matched;
	u32 changed;
	u32 failed_dp;
	bool rolled_back;
	u32 leaked;
	u64 pause_total;
	u64 pause_p50;
	u64 pause_p99;
	u64 pause_max;
	u64 duration;
};

/* What mrpc_placement_add() is told. */
struct mrpc_placement_args {
	const char *name;	/* or NULL: that of the type */
	const char *before;	/* the placement that it stands before, towards */
	const char *after;	/* the wire; or after; both NULL: next to the wire */
	struct mrpc_scope scope;
	u8 percent;		/* 1 to 100: of the datapaths now */
};

static inline void mrpc_group_get(struct mrpc_group *g)
{
	refcount_inc(&g->ref);
}

/* Does an engine use type @ops, or will it? Under mrpc_net.lock. */
static inline bool mrpc_placement_uses(const struct mrpc_placement *p,
				       const struct mrpc_engine_ops *ops)
{
	return (p->now && mrpc_group_uses(p->now, ops)) ||
	       (p->next && mrpc_group_uses(p->next, ops));
}

bool mrpc_scope_has_service(const struct mrpc_scope *scope, const struct mrpc_schema *schema);
bool mrpc_scope_may_match(const struct mrpc_scope *scope, const struct mrpc_session *session);
bool mrpc_scope_matches(const struct mrpc_scope *scope, const struct mrpc_conn *conn);
u32 mrpc_scope_services(const struct mrpc_scope *scope, const struct mrpc_conn_services *s);
struct mrpc_group *mrpc_placement_choose(const struct mrpc_placement *p,
					 const struct mrpc_conn *conn);
u32 mrpc_placement_list(struct net *net, u32 *ids);
struct mrpc_placement *mrpc_placement_by_name(struct net *net, const char *name);
struct mrpc_placement *mrpc_placement_by_id(struct net *net, u32 id);
void mrpc_placement_put(struct mrpc_placement *p);

static inline void mrpc_placement_get(struct mrpc_placement *p)
{
	refcount_inc(&p->ref);
}

struct mrpc_placement *mrpc_placement_find(struct mrpc_net *mn, const char *name);

#endif /* MRPC_CORE_PLACEMENT_H */
