// SPDX-License-Identifier: GPL-2.0
/*
 * Runtimes, and the engine type by which datapaths are placed on them.
 *
 * A datapath on a runtime is run by its thread only; others just kick it. Which
 * one it is follows from the placements like everything else of a datapath: an
 * engine of type "runtime" has no stage, it only says where the others run.
 */
#include <linux/kthread.h>
#include <linux/sched/clock.h>
#include <linux/sched/mm.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <uapi/linux/sched/types.h>

#include "chain/chain.h"
#include "core/placement.h"
#include "exec/runtime.h"
#include "core/session.h"

static DEFINE_MUTEX(mrpc_runtimes_lock);
static LIST_HEAD(mrpc_runtimes);	/* in order of id; under mrpc_runtimes_lock */
static u32 mrpc_nr_runtimes;		/* under mrpc_runtimes_lock */
static u32 mrpc_next_runtime;		/* under mrpc_runtimes_lock */

static void mrpc_runtime_free(struct rcu_head *rcu)
{
	struct mrpc_runtime *rt = container_of(rcu, struct mrpc_runtime, rcu);

	put_task_struct(rt->task);
	free_cpumask_var(rt->cpus);
	kfree(rt);
}

/**
 * mrpc_runtime_put() - drop a reference
 * @rt: the runtime
 *
 * Context: any but hard interrupt.
 */
void mrpc_runtime_put(struct mrpc_runtime *rt)
{
	if (refcount_dec_and_test(&rt->ref))
		call_rcu(&rt->rcu, mrpc_runtime_free);
}

/* -- the thread --------------------------------------------------------------- */

/* It has something to do, and may do it. Under rt->lock. Return: wake the thread. */
static bool mrpc_runtime_list(struct mrpc_runtime *rt, struct mrpc_conn *conn, bool resumes)
{
	mrpc_conn_get(conn);
	mrpc_order_rank(&rt->order, &conn->turn, READ_ONCE(conn->tx_priority),
			READ_ONCE(conn->tx_left));
	mrpc_order_put(&rt->order, &conn->turn, resumes);
	/* How much is left to send says nothing of who has something to receive: only ranks. */
	if (rt->running && rt->order.rule.within == MRPC_ORDER_STRICT &&
	    mrpc_order_before(&conn->turn, &rt->running->turn))
		WRITE_ONCE(rt->urgent, true);
	return rt->sleeping;
}

/**
 * mrpc_runtime_kick() - have a datapath's runtime run it
 * @conn: the connection
 *
 * Context: any but hard interrupt.
 * Return: false: it is on none, or is just leaving it: somebody else must run it.
 */
bool mrpc_runtime_kick(struct mrpc_conn *conn)
{
	bool wake = false, on = false;
	struct mrpc_runtime *rt;

	rcu_read_lock();
	rt = rcu_dereference(conn->runtime);
	if (rt) {
		spin_lock_bh(&rt->lock);
		/* A runtime that it has left takes nothing more of it. */
		on = rcu_access_pointer(conn->runtime) == rt && conn->turn.home;
		if (on && rt->running == conn)
			rt->again = true;
		else if (on && !conn->turn.listed)
			wake = mrpc_runtime_list(rt, conn, false);
		spin_unlock_bh(&rt->lock);
		if (wake)
			wake_up_process(rt->task);
	}
	rcu_read_unlock();
	return on;
}

static struct mrpc_conn *mrpc_runtime_take(struct mrpc_runtime *rt)
{
	struct mrpc_conn *conn = NULL;
	struct mrpc_order_entity *e;

	spin_lock_bh(&rt->lock);
	e = mrpc_order_take(&rt->order);
	if (e) {
		conn = container_of(e, struct mrpc_conn, turn);
		WRITE_ONCE(conn->turn_bytes, conn->turn_left ?: READ_ONCE(rt->turn));
	}
	rt->sleeping = !e;
	rt->running = conn;
	rt->again = false;
	WRITE_ONCE(rt->urgent, false);
	spin_unlock_bh(&rt->lock);
	return conn;
}

static u64 mrpc_runtime_moved(const struct mrpc_conn *conn)
{
	return READ_ONCE(conn->stats.tx_bytes) + READ_ONCE(conn->stats.rx_bytes);
}

/*
 * A turn has ended. One that somebody else has cut short goes on before its equals, with
 * what is left of it: else who is often cut short would get less than they.
 */
static void mrpc_runtime_ended(struct mrpc_runtime *rt, struct mrpc_conn *conn, u64 ns, u64 moved)
{
	spin_lock_bh(&rt->lock);
	if (rt->running == conn) {
		conn->turn_left = 0;
		if (rt->urgent && moved + MRPC_RUNTIME_TURN_MIN <= conn->turn_bytes)
			conn->turn_left = conn->turn_bytes - moved;
		mrpc_order_charge(&rt->order, &conn->turn, ns);
		rt->running = NULL;
		if (rt->again)
			mrpc_runtime_list(rt, conn, conn->turn_left);
	}
	spin_unlock_bh(&rt->lock);
}

static void mrpc_runtime_turn(struct mrpc_runtime *rt, struct mrpc_conn *conn)
{
	struct mem_cgroup *old = set_active_memcg(conn->session->memcg);
	u64 start = local_clock(), before = mrpc_runtime_moved(conn), ns;

	mrpc_datapath_run(conn, NULL);
	set_active_memcg(old);
	ns = local_clock() - start;
	WRITE_ONCE(rt->turns, rt->turns + 1);
	WRITE_ONCE(rt->ran, rt->ran + ns);
	mrpc_runtime_ended(rt, conn, ns, mrpc_runtime_moved(conn) - before);
	mrpc_conn_put(conn);
}

/* Nothing to do: look a while longer if the operator wants that, then sleep. */
static void mrpc_runtime_idle(struct mrpc_runtime *rt)
{
	u64 busy = READ_ONCE(rt->busy), until;

	if (busy) {
		until = local_clock() + busy;
		while (local_clock() < until && !READ_ONCE(rt->order.listed) &&
		       !kthread_should_stop())
			cond_resched();
	}
	set_current_state(TASK_IDLE);
	if (!READ_ONCE(rt->order.listed) && !kthread_should_stop()) {
		WRITE_ONCE(rt->wakeups, rt->wakeups + 1);
		schedule();
	}
	__set_current_state(TASK_RUNNING);
}

static int mrpc_runtime_thread(void *arg)
{
	struct mrpc_runtime *rt = arg;
	struct mrpc_conn *conn;

	while (!kthread_should_stop()) {
		conn = mrpc_runtime_take(rt);
		if (conn)
			mrpc_runtime_turn(rt, conn);
		else
			mrpc_runtime_idle(rt);
		cond_resched();
	}
	return 0;
}

/* -- the operator's side --------------------------------------------------------- */

static struct mrpc_runtime *mrpc_runtime_lookup(const char *name)
{
	struct mrpc_runtime *rt;

	list_for_each_entry(rt, &mrpc_runtimes, list)
		if (!strcmp(rt->name, name))
			return rt;
	return NULL;
}

/**
 * mrpc_runtime_find() - look a runtime up
 * @name: its name
 *
 * Return: the runtime with a reference, or NULL.
 */
struct mrpc_runtime *mrpc_runtime_find(const char *name)
{
	struct mrpc_runtime *rt;

	mutex_lock(&mrpc_runtimes_lock);
	rt = mrpc_runtime_lookup(name);
	if (rt)
		refcount_inc(&rt->ref);
	mutex_unlock(&mrpc_runtimes_lock);
	return rt;
}

/**
 * mrpc_runtime_next() - iterate over the runtimes, for dumps
 * @after: id of the last one, 0 for the first
 *
 * Return: the runtime with a reference, or NULL.
 */
struct mrpc_runtime *mrpc_runtime_next(u32 after)
{
	struct mrpc_runtime *rt;

	mutex_lock(&mrpc_runtimes_lock);
	list_for_each_entry(rt, &mrpc_runtimes, list) {
		if (rt->id > after) {
			refcount_inc(&rt->ref);
			mutex_unlock(&mrpc_runtimes_lock);
			return rt;
		}
	}
	mutex_unlock(&mrpc_runtimes_lock);
	return NULL;
}

/**
 * mrpc_runtime_describe() - what a runtime is now
 * @rt: the runtime
 * @args: out; its cpus are allocated
 */
void mrpc_runtime_describe(struct mrpc_runtime *rt, struct mrpc_runtime_args *args)
{
	mutex_lock(&mrpc_runtimes_lock);
	strscpy(args->name, rt->name, sizeof(args->name));
	cpumask_copy(args->cpus, rt->cpus);
	args->nice = rt->nice;
	args->fifo = rt->fifo;
	args->busy = rt->busy;
	args->within = rt->order.rule.within;
	args->turn = rt->turn;
	args->dedicated = rt->dedicated;
	mutex_unlock(&mrpc_runtimes_lock);
}

static int mrpc_runtime_check(const struct mrpc_runtime_args *args, struct netlink_ext_ack *extack)
{
	if (!capable(CAP_NET_ADMIN)) {
		NL_SET_ERR_MSG(extack, "runtimes are the host's: they need CAP_NET_ADMIN in the initial user namespace");
		return -EPERM;
	}
	if (args->nice < MIN_NICE || args->nice > MAX_NICE) {
		NL_SET_ERR_MSG_FMT(extack, "nice is %d, allowed is %d to %d", args->nice, MIN_NICE,
				   MAX_NICE);
		return -ERANGE;
	}
	if (args->within > MRPC_ORDER_SMALL || args->turn < MRPC_RUNTIME_TURN_MIN ||
	    args->turn > MRPC_ORDER_MAX_QUANTUM || args->busy > MRPC_RUNTIME_BUSY_MAX) {
		NL_SET_ERR_MSG_FMT(extack, "turn is %u bytes (%u to %u), busy %llu ns (at most %lu)",
				   args->turn, MRPC_RUNTIME_TURN_MIN, MRPC_ORDER_MAX_QUANTUM,
				   args->busy, MRPC_RUNTIME_BUSY_MAX);
		return -ERANGE;
	}
	if (!cpumask_intersects(args->cpus, cpu_online_mask)) {
		NL_SET_ERR_MSG(extack, "none of these processors is online");
		return -EINVAL;
	}
	return 0;
}

/* Under mrpc_runtimes_lock. */
static int mrpc_runtime_apply(struct mrpc_runtime *rt, const struct mrpc_runtime_args *args,
			      struct netlink_ext_ack *extack)
{
	struct mrpc_order_rule rule = {
		.within = args->within,
		.quantum = NSEC_PER_MSEC,	/* its cost is time */
	};
	int err;

	err = set_cpus_allowed_ptr(rt->task, args->cpus);
	if (err) {
		NL_SET_ERR_MSG(extack, "the thread cannot run on these processors");
		return err;
	}
	spin_lock_bh(&rt->lock);
	while (mrpc_order_settle(&rt->order)) {	/* what an earlier change has left */
		spin_unlock_bh(&rt->lock);
		cond_resched();
		spin_lock_bh(&rt->lock);
	}
	mrpc_order_set(&rt->order, &rule);
	spin_unlock_bh(&rt->lock);
	if (args->fifo)
		sched_set_fifo_low(rt->task);
	else
		sched_set_normal(rt->task, args->nice);
	cpumask_copy(rt->cpus, args->cpus);
	rt->nice = args->nice;
	rt->fifo = args->fifo;
	rt->dedicated = args->dedicated;
	WRITE_ONCE(rt->busy, args->busy);
	WRITE_ONCE(rt->turn, args->turn);
	return 0;
}

static struct mrpc_runtime *mrpc_runtime_new(const struct mrpc_runtime_args *args)
{
	struct mrpc_order_rule rule = { .quantum = NSEC_PER_MSEC };
	struct mrpc_runtime *rt = kzalloc(sizeof(*rt), GFP_KERNEL);

	if (!rt)
		return NULL;
	if (!zalloc_cpumask_var(&rt->cpus, GFP_KERNEL)) {
		kfree(rt);
		return NULL;
	}
	refcount_set(&rt->ref, 1);
	spin_lock_init(&rt->lock);
	mrpc_order_init(&rt->order, &rule);
	strscpy(rt->name, args->name, sizeof(rt->name));
	rt->task = kthread_create(mrpc_runtime_thread, rt, "mrpc/%s", rt->name);
	if (!IS_ERR(rt->task)) {
		get_task_struct(rt->task);
		return rt;
	}
	free_cpumask_var(rt->cpus);
	kfree(rt);
	return NULL;
}

/**
 * mrpc_runtime_add() - make a runtime
 * @args: what it is to be
 * @extack: why not
 *
 * Context: process; may sleep.
 * Return: 0 or a negative errno.
 */
int mrpc_runtime_add(const struct mrpc_runtime_args *args, struct netlink_ext_ack *extack)
{
	struct mrpc_runtime *rt;
	int err;

	err = mrpc_runtime_check(args, extack);
	if (err)
		return err;
	rt = mrpc_runtime_new(args);
	if (!rt)
		return -ENOMEM;
	mutex_lock(&mrpc_runtimes_lock);
	err = -EEXIST;
	if (mrpc_runtime_lookup(rt->name)) {
		NL_SET_ERR_MSG_FMT(extack, "there is a runtime '%s' already", rt->name);
	} else if (mrpc_nr_runtimes >= MRPC_RUNTIMES_MAX) {
		NL_SET_ERR_MSG_FMT(extack, "there are %u runtimes, the most that are allowed",
				   mrpc_nr_runtimes);
		err = -ENOSPC;
	} else {
		err = mrpc_runtime_apply(rt, args, extack);
	}
	if (!err) {
		rt->id = ++mrpc_next_runtime;
		mrpc_nr_runtimes++;
		list_add_tail(&rt->list, &mrpc_runtimes);
		wake_up_process(rt->task);
	}
	mutex_unlock(&mrpc_runtimes_lock);
	if (err) {
		kthread_stop(rt->task);
		mrpc_runtime_put(rt);
	}
	return err;
}

/**
 * mrpc_runtime_set() - change a runtime, which goes on running
 * @rt: the runtime; it may have been deleted
 * @args: what it is to be
 * @extack: why not
 *
 * Context: process; may sleep.
 * Return: 0 or a negative errno.
 */
int mrpc_runtime_set(struct mrpc_runtime *rt, const struct mrpc_runtime_args *args,
		     struct netlink_ext_ack *extack)
{
	int err;

	err = mrpc_runtime_check(args, extack);
	if (err)
		return err;
	mutex_lock(&mrpc_runtimes_lock);
	err = -ENOENT;
	if (list_empty(&rt->list)) {
		NL_SET_ERR_MSG_FMT(extack, "runtime '%s' has been deleted", rt->name);
	} else if (args->dedicated && rt->users > 1) {
		NL_SET_ERR_MSG_FMT(extack, "runtime '%s' has %u datapaths: too many for a dedicated one",
				   rt->name, rt->users);
		err = -EBUSY;
	} else {
		err = mrpc_runtime_apply(rt, args, extack);
	}
	mutex_unlock(&mrpc_runtimes_lock);
	return err;
}

/**
 * mrpc_runtime_del() - end a runtime
 * @name: its name
 * @extack: why not
 *
 * Context: process; may sleep.
 * Return: 0; -ENOENT; -EBUSY: datapaths are on it, or engines name it.
 */
int mrpc_runtime_del(const char *name, struct netlink_ext_ack *extack)
{
	struct mrpc_runtime *rt;
	int err = 0;

	/* Engines that have been removed end after a grace period. */
	rcu_barrier();
	flush_workqueue(mrpc_end_wq);
	mutex_lock(&mrpc_runtimes_lock);
	rt = mrpc_runtime_lookup(name);
	if (!rt) {
		NL_SET_ERR_MSG_FMT(extack, "there is no runtime '%s'", name);
		err = -ENOENT;
	} else if (rt->users) {
		NL_SET_ERR_MSG_FMT(extack, "%u datapaths are on runtime '%s': remove what places them there",
				   rt->users, name);
		err = -EBUSY;
	} else if (rt->named) {
		NL_SET_ERR_MSG_FMT(extack, "engines place new datapaths on runtime '%s': remove them first",
				   name);
		err = -EBUSY;
	} else {
		list_del_init(&rt->list);
		mrpc_nr_runtimes--;
	}
	mutex_unlock(&mrpc_runtimes_lock);
	if (err)
		return err;
	kthread_stop(rt->task);
	mrpc_runtime_put(rt);
	return 0;
}

/* -- the engine type "runtime" ------------------------------------------------------ */

/**
 * struct mrpc_runtime_use - what an instance says of its datapath
 * @list: entry of mrpc_conn.runtime_uses; under mrpc_runtimes_lock
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

/* Another instance says the same of @conn. Under mrpc_runtimes_lock. */
static bool mrpc_runtime_has(const struct mrpc_runtime *rt, const struct mrpc_conn *conn)
{
	const struct mrpc_runtime_use *use;

	list_for_each_entry(use, &conn->runtime_uses, list)
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
	has = mrpc_runtime_has(rt, conn);
	if (list_empty(&rt->list)) {
		NL_SET_ERR_MSG_FMT(extack, "runtime '%s' has been deleted", rt->name);
		err = -ENOENT;
	} else if (rt->dedicated && rt->users && !has) {
		NL_SET_ERR_MSG_FMT(extack, "runtime '%s' is dedicated, and has its datapath", rt->name);
		err = -EBUSY;
	} else {
		rt->users += !has;
		refcount_inc(&rt->ref);
		list_add(&use->list, &conn->runtime_uses);
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
	use->rt->users -= !mrpc_runtime_has(use->rt, e->conn);
	mutex_unlock(&mrpc_runtimes_lock);
}

/* Out of the order of the runtime that it was on. */
static void mrpc_runtime_leave(struct mrpc_conn *conn, struct mrpc_runtime *rt)
{
	bool listed;

	spin_lock_bh(&rt->lock);
	listed = conn->turn.listed;
	mrpc_order_leave(&rt->order, &conn->turn);
	conn->turn.home = NULL;
	conn->turn_left = 0;
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
	struct mrpc_runtime *now = rcu_dereference_protected(conn->runtime, true), *rt = NULL;
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
	rcu_assign_pointer(conn->runtime, NULL);
	if (now)
		mrpc_runtime_leave(conn, now);
	if (!rt) {
		WRITE_ONCE(conn->turn_bytes, 0);
		return;
	}
	refcount_inc(&rt->ref);
	spin_lock_bh(&rt->lock);
	mrpc_order_join(&rt->order, &conn->turn, NULL);
	rcu_assign_pointer(conn->runtime, rt);
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
