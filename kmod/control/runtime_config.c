// SPDX-License-Identifier: GPL-2.0
/* Runtimes as operators make, change and delete them. */
#include <linux/list.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <uapi/linux/sched/types.h>

#include "control/runtime_config.h"
#include "core/globals.h"
#include "exec/runtime.h"
#include "lib/ds/order.h"

static u32 mrpc_nr_runtimes;		/* under mrpc_runtimes_lock */
static u32 mrpc_next_runtime;		/* under mrpc_runtimes_lock */

static int mrpc_runtime_check(const struct mrpc_runtime_args *args, struct netlink_ext_ack *extack)
{
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

/* Take a runtime off the list, if nothing is on it. Under mrpc_runtimes_lock. */
static int mrpc_runtime_remove(struct mrpc_runtime *rt, const char *name,
			       struct netlink_ext_ack *extack)
{
	if (!rt) {
		NL_SET_ERR_MSG_FMT(extack, "there is no runtime '%s'", name);
		return -ENOENT;
	}
	if (rt->users) {
		NL_SET_ERR_MSG_FMT(extack, "%u datapaths are on runtime '%s': remove what places them there",
				   rt->users, name);
		return -EBUSY;
	}
	if (rt->named) {
		NL_SET_ERR_MSG_FMT(extack, "engines place new datapaths on runtime '%s': remove them first",
				   name);
		return -EBUSY;
	}
	list_del_init(&rt->list);
	mrpc_nr_runtimes--;
	return 0;
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
	int err;

	mutex_lock(&mrpc_runtimes_lock);
	rt = mrpc_runtime_lookup(name);
	if (rt && (rt->users || rt->named)) {
		/* Engines that have been removed end after a grace period. */
		mutex_unlock(&mrpc_runtimes_lock);
		rcu_barrier();
		flush_workqueue(mrpc_end_wq);
		mutex_lock(&mrpc_runtimes_lock);
		rt = mrpc_runtime_lookup(name);
	}
	err = mrpc_runtime_remove(rt, name, extack);
	mutex_unlock(&mrpc_runtimes_lock);
	if (err)
		return err;
	kthread_stop(rt->task);
	mrpc_runtime_put(rt);
	return 0;
}
