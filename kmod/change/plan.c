// SPDX-License-Identifier: GPL-2.0
/*
 * The plan of a datapath's change: instances of engines, and what is to become of each. All new
 * parts are made here, while the datapath runs.
 */
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "chain/chain.h"
#include "change/plan.h"
#include "change/runtime_type.h"
#include "core/conn.h"
#include "core/engine.h"
#include "core/engine_config.h"
#include "core/engine_count.h"
#include "core/globals.h"
#include "core/net.h"
#include "core/rpc.h"
#include "core/session.h"

/* -- instances -------------------------------------------------------------------- */

static void mrpc_engine_free_work(struct work_struct *work)
{
	struct mrpc_engine *e = container_of(to_rcu_work(work), struct mrpc_engine, free_work);

	if (e->ops->destroy)
		e->ops->destroy(e);
	mrpc_group_put(e->group);
	mrpc_placement_put(e->placement);
	kfree(e);
}

/**
 * mrpc_engine_free() - end an instance that has left its chain
 * @e: the instance, its queues empty
 *
 * Frees it after a grace period, because call_end() may be running.
 */
void mrpc_engine_free(struct mrpc_engine *e)
{
	mrpc_engine_keep_counts(e);
	mrpc_runtime_unuse(e);
	queue_rcu_work(mrpc_end_wq, &e->free_work);
}

static struct mrpc_engine *mrpc_engine_new(struct mrpc_conn *conn, const struct mrpc_item *item,
					   struct netlink_ext_ack *extack)
{
	struct mrpc_engine *e = kzalloc(sizeof(*e), GFP_KERNEL_ACCOUNT);
	int dir, err;

	if (!e)
		return ERR_PTR(-ENOMEM);
	for (dir = 0; dir < MRPC_DIRS; dir++)
		mrpc_queue_init(&e->in[dir]);
	INIT_RCU_WORK(&e->free_work, mrpc_engine_free_work);
	e->ops = item->group->ops;
	e->flags = e->ops->flags;
	e->dirs = e->ops->dirs;
	e->placement = item->p;
	e->group = item->group;
	e->conn = conn;
	e->offered = &conn->services;
	e->requests = conn->link.accepted ? MRPC_RX : MRPC_TX;
	e->memcg = conn->session->memcg;
	e->services = item->services;
	if (e->ops->create) {
		err = e->ops->create(e, extack);
		if (err) {
			kfree(e);
			return ERR_PTR(err);
		}
	}
	mrpc_placement_get(e->placement);
	mrpc_group_get(e->group);
	return e;
}

/* -- planning ------------------------------------------------------------------- */

/* Notes what the placements want of this datapath now. */
static void mrpc_change_collect(struct mrpc_change *c)
{
	struct mrpc_net *mn = mrpc_net(c->conn->session->net);
	struct mrpc_placement *p;
	struct mrpc_group *g;

	c->nr = 0;
	mrpc_link_plan(c->conn, &c->link);
	spin_lock(&mn->lock);
	c->gen = mn->gen;
	list_for_each_entry(p, &mn->placements, list) {
		if (!mrpc_scope_matches(&p->scope, c->conn))
			continue;
		g = mrpc_placement_choose(p, c->conn);
		if (!g || !mrpc_link_plan_add(c->conn, &c->link, g))
			continue;
		mrpc_placement_get(p);
		mrpc_group_get(g);
		c->items[c->nr++] = (struct mrpc_item) {
			.p = p,
			.group = g,
			.services = mrpc_scope_services(&p->scope, &c->conn->services),
		};
	}
	spin_unlock(&mn->lock);
}

static bool mrpc_engine_understands(const struct mrpc_engine_ops *ops,
				    const struct mrpc_engine_ops *from)
{
	const char *const *name;

	if (!ops->restore || !from->decompose)
		return false;
	if (!strcmp(ops->name, from->name))
		return true;
	for (name = ops->takes; name && *name; name++)
		if (!strcmp(*name, from->name))
			return true;
	return false;
}

/**
 * mrpc_engine_takes() - does a new instance take the state of an old one?
 * @ops: of the new instance
 * @from: of the old one
 */
bool mrpc_engine_takes(const struct mrpc_engine_ops *ops, const struct mrpc_engine_ops *from)
{
	return mrpc_engine_understands(ops, from) && from->state_version >= ops->oldest &&
	       from->state_version <= ops->state_version;
}

/* Refuses state of the own type in an unknown version: it would be lost silently. */
static int mrpc_change_check(const struct mrpc_engine_ops *ops, const struct mrpc_engine_ops *from,
			     struct netlink_ext_ack *extack)
{
	if (!mrpc_engine_understands(ops, from) || mrpc_engine_takes(ops, from))
		return 0;
	NL_SET_ERR_MSG_FMT(extack, "%s@%u takes state %u to %u; that of %s@%u is %u",
			   ops->name, ops->version, ops->oldest, ops->state_version, from->name,
			   from->version, from->state_version);
	return -EOPNOTSUPP;
}

static int mrpc_change_item(struct mrpc_change *c, struct mrpc_item *item,
			    struct netlink_ext_ack *extack)
{
	const struct mrpc_chain *now = mrpc_chain_of(&c->conn->dp);
	int err;
	u32 i;

	for (i = 0; now && i < now->nr; i++)
		if (now->engines[i]->placement == item->p)
			item->old = now->engines[i];
	if (item->old && item->old->group == item->group) {
		item->e = item->old;
		return 0;
	}
	c->differs = true;
	if (item->old && item->old->ops == item->group->ops &&
	    !(item->old->ops->flags & MRPC_ENGINE_REMAKE)) {
		item->e = item->old;
		return 0;
	}
	if (item->old && extack) {	/* without @extack: going back matters more than state */
		err = mrpc_change_check(item->group->ops, item->old->ops, extack);
		if (err)
			return err;
	}
	item->e = mrpc_engine_new(c->conn, item, extack);
	if (IS_ERR(item->e)) {
		err = PTR_ERR(item->e);
		item->e = NULL;
		return err;
	}
	item->fresh = true;
	return 0;
}

/**
 * mrpc_change_free() - end a plan
 * @c: the plan
 * @undo: it was not carried out: new instances and the new chain end, too
 *
 * Context: process.
 */
void mrpc_change_free(struct mrpc_change *c, bool undo)
{
	u32 i;

	for (i = 0; i < c->nr; i++) {
		struct mrpc_item *item = &c->items[i];

		if (undo && item->fresh && item->e)
			mrpc_engine_free(item->e);
		mrpc_placement_put(item->p);
		mrpc_group_put(item->group);
	}
	if (undo)
		kfree(c->chain);
	kfree(c);
}

/**
 * mrpc_change_prepare() - make everything that a datapath's next chain needs
 * @conn: its connection; under change_lock, or only the caller knows it
 * @extack: why not; NULL: the change takes something back
 *
 * Context: process; may sleep. Return: the plan, for mrpc_change_free(), or an ERR_PTR.
 */
struct mrpc_change *mrpc_change_prepare(struct mrpc_conn *conn, struct netlink_ext_ack *extack)
{
	const struct mrpc_chain *now = mrpc_chain_of(&conn->dp);
	struct mrpc_engine *engines[MRPC_PLACEMENTS_MAX];
	struct mrpc_change *c;
	u32 i, kept = 0;
	int err;

	c = kzalloc(sizeof(*c), GFP_KERNEL_ACCOUNT);
	if (!c)
		return ERR_PTR(-ENOMEM);
	c->conn = conn;
	mrpc_change_collect(c);
	for (i = 0; i < c->nr; i++) {
		err = mrpc_change_item(c, &c->items[i], extack);
		if (err)
			goto fail;
		kept += !!c->items[i].old;
		engines[i] = c->items[i].e;
	}
	if (kept != (now ? now->nr : 0))
		c->differs = true;	/* some engines leave */
	if (!mrpc_link_follows(conn, &c->link))
		c->differs = true;
	if (!c->differs || !c->nr)
		return c;
	err = -ENOMEM;
	c->chain = mrpc_chain_new(engines, c->nr);
	if (c->chain)
		return c;
fail:
	mrpc_change_free(c, true);
	return ERR_PTR(err);
}
