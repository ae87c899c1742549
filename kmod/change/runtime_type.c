// SPDX-License-Identifier: GPL-2.0
/* The engine type "runtime", by which datapaths are placed on runtimes. */
#include <linux/list.h>
#include <linux/slab.h>
#include <uapi/linux/sched/types.h>

#include "chain/chain.h"
#include "change/runtime_type.h"
#include "core/conn.h"
#include "core/engine.h"
#include "exec/runtime.h"
#include "lib/ds/order.h"

/**
 * struct mrpc_runtime_use - what an instance says of its datapath
 * @list: entry of mrpc_conn.exec.runtime_uses; under mrpc_runtimes_lock
 * @rt: the runtime, a reference
 */
struct mrpc_runtime_use {
	struct list_head list;
	struct mrpc_runtime *rt;
};

enum {
	MRPC_RUNTIME_ON,
};

static const struct mrpc_param mrpc_runtime_params[] = {
	[MRPC_RUNTIME_ON] = {
		.name	= "on",
		.type	= MRPC_PARAM_STRING,
		.flags	= MRPC_PARAM_REQUIRED,
		.doc	= "name of the runtime",
		.min	= 1,
		.max	= MRPC_RUNTIME_NAME - 1,
	},
};

/* A configuration keeps its runtime. */
static int mrpc_runtime_group(struct mrpc_group *g, const struct mrpc_group *prev,
			      struct netlink_ext_ack *extack)
{
	const char *name = g->values[MRPC_RUNTIME_ON].data;
	struct mrpc_runtime *rt;

	if (!capable(CAP_NET_ADMIN)) {
		NL_SET_ERR_MSG(extack, "runtimes are the host's: they need CAP_NET_ADMIN in the initial user namespace");
		return -EPERM;
	}
	mutex_lock(&mrpc_runtimes_lock);
	rt = mrpc_runtime_lookup(name);
	if (rt) {
		refcount_inc(&rt->ref);
		rt->named++;
	}
	mutex_unlock(&mrpc_runtimes_lock);
	g->priv = rt;
	if (!rt) {
		NL_SET_ERR_MSG_FMT(extack, "there is no runtime '%s'", name);
		return -ENOENT;
	}
	return 0;
}

static void mrpc_runtime_group_end(struct mrpc_group *g)
{
	struct mrpc_runtime *rt = g->priv;

	mutex_lock(&mrpc_runtimes_lock);
	rt->named--;
	mutex_unlock(&mrpc_runtimes_lock);
	mrpc_runtime_put(rt);
}

/* Another instance says the same of this datapath. Under mrpc_runtimes_lock. */
static bool mrpc_runtime_has(const struct mrpc_runtime *rt, const struct mrpc_exec *exec)
{
	const struct mrpc_runtime_use *use;

	list_for_each_entry(use, &exec->runtime_uses, list)
		if (use->rt == rt)
			return true;
	return false;
}

/*
 * A datapath counts as its runtime's user from before it is on it until after, and once:
 * what is set again has a new instance before the present one goes.
 */
static int mrpc_runtime_join(struct mrpc_runtime_use *use, struct mrpc_conn *conn,
			     struct netlink_ext_ack *extack)
{
	struct mrpc_runtime *rt = use->rt;
	int err = 0;
	bool has;

	mutex_lock(&mrpc_runtimes_lock);
	has = mrpc_runtime_has(rt, &conn->exec);
	if (list_empty(&rt->list)) {
		NL_SET_ERR_MSG_FMT(extack, "runtime '%s' has been deleted", rt->name);
		err = -ENOENT;
	} else if (rt->dedicated && rt->users && !has) {
		NL_SET_ERR_MSG_FMT(extack, "runtime '%s' is dedicated, and has its datapath", rt->name);
		err = -EBUSY;
	} else {
		rt->users += !has;
		refcount_inc(&rt->ref);
		list_add(&use->list, &conn->exec.runtime_uses);
	}
	mutex_unlock(&mrpc_runtimes_lock);
	return err;
}

static int mrpc_runtime_create(struct mrpc_engine *e, struct netlink_ext_ack *extack)
{
	struct mrpc_runtime_use *use = kmalloc(sizeof(*use), GFP_KERNEL_ACCOUNT);
	int err;

	if (!use)
		return -ENOMEM;
	use->rt = e->group->priv;
	err = mrpc_runtime_join(use, e->conn, extack);
	if (err)
		kfree(use);
	else
		e->priv = use;
	return err;
}

static void mrpc_runtime_destroy(struct mrpc_engine *e)
{
	struct mrpc_runtime_use *use = e->priv;

	mrpc_runtime_put(use->rt);
	kfree(use);
}

static struct mrpc_engine_ops mrpc_runtime_ops = {
	.name		= "runtime",
	.version	= 1,
	.owner		= THIS_MODULE,
	.flags		= MRPC_ENGINE_NO_STAGE | MRPC_ENGINE_REMAKE,
	.params		= mrpc_runtime_params,
	.nr_params	= ARRAY_SIZE(mrpc_runtime_params),
	.doc		= "says which runtime runs a datapath; the one nearest to the wire counts",
	.group_create	= mrpc_runtime_group,
	.group_destroy	= mrpc_runtime_group_end,
	.create		= mrpc_runtime_create,
	.destroy	= mrpc_runtime_destroy,
};

/**
 * mrpc_runtime_unuse() - an engine is out of its chain
 * @e: the engine; if it was the last that named a runtime for its datapath, that has one less
 *
 * At once, not when the instance is freed: a dedicated one takes the next.
 *
 * Context: process; may sleep.
 */
void mrpc_runtime_unuse(const struct mrpc_engine *e)
{
	struct mrpc_runtime_use *use = e->priv;

	if (e->ops != &mrpc_runtime_ops)
		return;
	mutex_lock(&mrpc_runtimes_lock);
	list_del(&use->list);
	use->rt->users -= !mrpc_runtime_has(use->rt, &e->conn->exec);
	mutex_unlock(&mrpc_runtimes_lock);
}

/* Out of the order of the runtime that it was on. */
static void mrpc_runtime_leave(struct mrpc_conn *conn, struct mrpc_runtime *rt)
{
	struct mrpc_exec *exec = &conn->exec;
	bool listed;

	spin_lock_bh(&rt->lock);
	listed = exec->turn.listed;
	mrpc_order_leave(&rt->order, &exec->turn);
	exec->turn.home = NULL;
	exec->turn_left = 0;
	if (rt->running == conn)	/* its turn is as good as over: it got no claim */
		rt->running = NULL;
	spin_unlock_bh(&rt->lock);
	if (listed)
		mrpc_conn_put(conn);
	mrpc_runtime_put(rt);
}

/**
 * mrpc_runtime_follow() - put a datapath on the runtime that its engines say
 * @conn: the connection; both claims are held, or it has not run yet
 * @chain: its engines, or NULL
 *
 * The caller kicks the datapath afterwards.
 */
void mrpc_runtime_follow(struct mrpc_conn *conn, const struct mrpc_chain *chain)
{
	struct mrpc_exec *exec = &conn->exec;
	struct mrpc_runtime *now = rcu_dereference_protected(exec->runtime, true), *rt = NULL;
	const struct mrpc_runtime_use *use;
	u32 i;

	for (i = 0; chain && i < chain->nr; i++) {
		if (chain->engines[i]->ops != &mrpc_runtime_ops)
			continue;
		use = chain->engines[i]->priv;
		rt = use->rt;
	}
	if (rt == now)
		return;
	rcu_assign_pointer(exec->runtime, NULL);
	if (now)
		mrpc_runtime_leave(conn, now);
	if (!rt) {
		WRITE_ONCE(exec->turn_bytes, 0);
		return;
	}
	refcount_inc(&rt->ref);
	spin_lock_bh(&rt->lock);
	mrpc_order_join(&rt->order, &exec->turn, NULL);
	rcu_assign_pointer(exec->runtime, rt);
	spin_unlock_bh(&rt->lock);
}

int __init mrpc_runtime_init(void)
{
	return mrpc_engine_register(&mrpc_runtime_ops);
}

/* No placement is left, so no datapath is on a runtime. */
void mrpc_runtime_exit(void)
{
	struct mrpc_runtime *rt, *next;

	mrpc_engine_unregister(&mrpc_runtime_ops);
	list_for_each_entry_safe(rt, next, &mrpc_runtimes, list) {
		list_del(&rt->list);
		kthread_stop(rt->task);
		mrpc_runtime_put(rt);
	}
	rcu_barrier();
}
