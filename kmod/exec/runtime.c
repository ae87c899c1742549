// SPDX-License-Identifier: GPL-2.0
/*
 * Runtimes, and the engine type that places datapaths on them.
 *
 * Only the thread of its runtime runs a datapath; all others just kick it. Like everything else of
 * a datapath, its runtime follows from the placements. An engine of type "runtime" has no stage: it
 * only says where the other engines run.
 */
#include <linux/rcupdate.h>
#include <linux/sched/clock.h>
#include <linux/sched/mm.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <uapi/linux/sched/types.h>

#include "core/conn.h"
#include "core/session.h"
#include "exec/runtime.h"
#include "lib/ds/order.h"
#include <linux/kthread.h>

DEFINE_MUTEX(mrpc_runtimes_lock);

LIST_HEAD(mrpc_runtimes);

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

/* Lists a datapath that has something to do. Under rt->lock. Return: true: wake the thread. */
static bool mrpc_runtime_list(struct mrpc_runtime *rt, struct mrpc_conn *conn, bool resumes)
{
	struct mrpc_exec *exec = &conn->exec;

	mrpc_conn_get(conn);
	mrpc_order_rank(&rt->order, &exec->turn, READ_ONCE(exec->hint.priority),
			READ_ONCE(exec->hint.left));
	mrpc_order_put(&rt->order, &exec->turn, resumes);
	/* What is left to send says nothing of a datapath that has input: only ranks count. */
	if (rt->running && rt->order.rule.within == MRPC_ORDER_STRICT &&
	    mrpc_order_before(&exec->turn, &rt->running->exec.turn))
		WRITE_ONCE(rt->urgent, true);
	return rt->sleeping;
}

/**
 * mrpc_runtime_kick() - make the runtime of a datapath run it
 * @conn: the connection
 *
 * Context: any but hard interrupt.
 * Return: false: the datapath has no runtime, or just leaves it: the caller must find a runner.
 */
bool mrpc_runtime_kick(struct mrpc_conn *conn)
{
	bool wake = false, on = false;
	struct mrpc_runtime *rt;

	rcu_read_lock();
	rt = rcu_dereference(conn->exec.runtime);
	if (rt) {
		spin_lock_bh(&rt->lock);
		/* A runtime that it has left takes nothing more of it. */
		on = rcu_access_pointer(conn->exec.runtime) == rt && conn->exec.turn.home;
		if (on && rt->running == conn)
			rt->again = true;
		else if (on && !conn->exec.turn.listed)
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
		conn = container_of(e, struct mrpc_conn, exec.turn);
		WRITE_ONCE(conn->exec.turn_bytes, conn->exec.turn_left ?: READ_ONCE(rt->turn));
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
 * Ends a turn. A turn that another datapath has cut short goes on before those of equal rank, with
 * what is left of it: else a datapath that is often cut short would get less than they do.
 */
static void mrpc_runtime_ended(struct mrpc_runtime *rt, struct mrpc_conn *conn, u64 ns, u64 moved)
{
	struct mrpc_exec *exec = &conn->exec;

	spin_lock_bh(&rt->lock);
	if (rt->running == conn) {
		exec->turn_left = 0;
		if (rt->urgent && moved + MRPC_RUNTIME_TURN_MIN <= exec->turn_bytes)
			exec->turn_left = exec->turn_bytes - moved;
		mrpc_order_charge(&rt->order, &exec->turn, ns);
		rt->running = NULL;
		if (rt->again)
			mrpc_runtime_list(rt, conn, exec->turn_left);
	}
	spin_unlock_bh(&rt->lock);
}

static void mrpc_runtime_turn(struct mrpc_runtime *rt, struct mrpc_conn *conn)
{
	struct mem_cgroup *old = set_active_memcg(conn->session->memcg);
	u64 start = local_clock(), before = mrpc_runtime_moved(conn), ns;

	conn->exec.run(conn, NULL);
	set_active_memcg(old);
	ns = local_clock() - start;
	WRITE_ONCE(rt->turns, rt->turns + 1);
	WRITE_ONCE(rt->ran, rt->ran + ns);
	mrpc_runtime_ended(rt, conn, ns, mrpc_runtime_moved(conn) - before);
	mrpc_conn_put(conn);
}

/* Looks for work a while longer if the operator wants that, then sleeps. */
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

int mrpc_runtime_thread(void *arg)
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

struct mrpc_runtime *mrpc_runtime_lookup(const char *name)
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
 * mrpc_runtime_describe() - copy the present settings of a runtime
 * @rt: the runtime
 * @args: out: the settings; the caller has allocated its cpus
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
