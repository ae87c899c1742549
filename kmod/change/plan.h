/* SPDX-License-Identifier: GPL-2.0 */
/* The plan of a datapath's change: from one chain to the next. */
#ifndef MRPC_CHANGE_PLAN_H
#define MRPC_CHANGE_PLAN_H

#include <linux/types.h>

#include "change/link_version.h"
#include "core/placement.h"

struct mrpc_chain;
struct mrpc_conn;
struct mrpc_engine;
struct mrpc_engine_ops;
struct mrpc_group;
struct netlink_ext_ack;

/**
 * struct mrpc_item - one engine of a datapath's next chain
 * @p: its placement, a reference
 * @group: its configuration, a reference
 * @services: services of the connection that it sees
 * @e: the instance
 * @old: the present instance of the same placement, or NULL
 * @dirs: value of @e->dirs before @e->ops->configure()
 * @fresh: @e is new
 * @configured: @e->ops->configure() has accepted @group
 */
struct mrpc_item {
	struct mrpc_placement *p;
	struct mrpc_group *group;
	u32 services;
	struct mrpc_engine *e;
	struct mrpc_engine *old;
	u32 dirs;
	bool fresh;
	bool configured;
};

/**
 * struct mrpc_change - a change from one chain to the next
 * @conn: the connection
 * @gen: generation of the placements that it follows
 * @nr: number of @items
 * @chain: the next chain, or NULL: no engines
 * @link: plan of the link below it
 * @differs: there is something to change
 * @leaked: number of rpcs that engines had lost
 * @items: the engines in order
 */
struct mrpc_change {
	struct mrpc_conn *conn;
	u64 gen;
	u32 nr;
	struct mrpc_chain *chain;
	struct mrpc_link_plan link;
	bool differs;
	u32 leaked;
	struct mrpc_item items[MRPC_PLACEMENTS_MAX];
};

void mrpc_engine_free(struct mrpc_engine *e);
bool mrpc_engine_takes(const struct mrpc_engine_ops *ops, const struct mrpc_engine_ops *from);
struct mrpc_change *mrpc_change_prepare(struct mrpc_conn *conn, struct netlink_ext_ack *extack);
void mrpc_change_free(struct mrpc_change *c, bool undo);

#endif /* MRPC_CHANGE_PLAN_H */
