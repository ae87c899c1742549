/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Runtimes: kernel threads that run datapaths, in place of the threads that wait for them.
 */
#ifndef MRPC_EXEC_RUNTIME_H
#define MRPC_EXEC_RUNTIME_H

#include <linux/cpumask.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/netlink.h>
#include <linux/refcount.h>
#include <linux/spinlock.h>
#include <linux/types.h>

#include "core/exec.h"
#include "lib/ds/order.h"

struct task_struct;

#define MRPC_RUNTIME_NAME	16	/* with NUL; the thread is called mrpc/NAME */

#define MRPC_RUNTIMES_MAX	64	/* of the host */

#define MRPC_RUNTIME_TURN_MIN	4096	/* bytes */

#define MRPC_RUNTIME_TURN	(256 << 10)	/* bytes, default */

#define MRPC_RUNTIME_BUSY_MAX	(10 * NSEC_PER_MSEC)

/**
 * struct mrpc_runtime_args - an operator's settings of a runtime
 * @name: its name
 * @cpus: processors that it may run on
 * @nice: nice value, as for a process
 * @fifo: it runs before all ordinary processes
 * @busy: time to look for work before it sleeps, ns
 * @within: enum mrpc_order_within, for the order of its datapaths
 * @turn: bytes after which a datapath lets others go first
 * @dedicated: it takes only one datapath
 */
struct mrpc_runtime_args {
	char name[MRPC_RUNTIME_NAME];
	cpumask_var_t cpus;
	int nice;
	bool fifo;
	u64 busy;
	u8 within;
	u32 turn;
	bool dedicated;
};

/**
 * struct mrpc_runtime - a kernel thread that runs datapaths
 *
 * Reference counted: the list holds one reference; each datapath on it, each engine instance of
 * type "runtime" and each user of a lookup hold one. The thread ends when the runtime is deleted.
 * That is refused while datapaths are on it, or will be.
 *
 * @ref: references
 * @rcu: for the free; mrpc_kick() reads mrpc_conn.exec.runtime under RCU
 * @list: entry of mrpc_runtimes; under mrpc_runtimes_lock
 * @id: unique until the module is unloaded
 * @name: unique
 * @task: the thread, a reference
 * @users: datapaths that are placed on it; under mrpc_runtimes_lock
 * @named: configurations of engines that name it; under mrpc_runtimes_lock
 * @nice, @fifo, @dedicated, @cpus: as the operator said; under mrpc_runtimes_lock
 * @busy: as the operator said; under mrpc_runtimes_lock, read by the thread
 * @turn: as the operator said; under mrpc_runtimes_lock, read by the thread and when a datapath
 *	is placed
 * @lock: @order; taken in process and softirq context, nothing is taken inside
 * @order: the datapaths that have something to do, by mrpc_conn.exec.turn
 * @running: whose turn it is, or NULL; under @lock. The thread has the reference
 * @again: it has something to do after this turn, too; under @lock
 * @urgent: a datapath waits that goes before it; under @lock, read by owners of claims
 * @sleeping: the thread waits, or is about to
 * @turns, @wakeups, @ran: counters; of the thread. @ran in ns
 */
struct mrpc_runtime {
	refcount_t ref;
	struct rcu_head rcu;
	struct list_head list;
	u32 id;
	char name[MRPC_RUNTIME_NAME];
	struct task_struct *task;
	u32 users;
	u32 named;
	int nice;
	bool fifo;
	bool dedicated;
	cpumask_var_t cpus;
	u64 busy;
	u32 turn;
	spinlock_t lock;
	struct mrpc_order order;
	struct mrpc_conn *running;
	bool again;
	bool urgent;
	bool sleeping;
	u64 turns;
	u64 wakeups;
	u64 ran;
};

/*
 * Returns true if the turn must end between two messages, because a datapath that goes before it
 * waits. For the owner of a claim. The connection may get its first runtime meanwhile.
 */
static inline bool mrpc_runtime_hurries(const struct mrpc_exec *exec)
{
	const struct mrpc_runtime *rt = rcu_dereference_check(exec->runtime, true);

	return rt && READ_ONCE(rt->urgent);
}

extern struct mutex mrpc_runtimes_lock;

extern struct list_head mrpc_runtimes;	/* in order of id; under mrpc_runtimes_lock */

void mrpc_runtime_describe(struct mrpc_runtime *rt, struct mrpc_runtime_args *args);
struct mrpc_runtime *mrpc_runtime_find(const char *name);
struct mrpc_runtime *mrpc_runtime_next(u32 after);
void mrpc_runtime_put(struct mrpc_runtime *rt);
bool mrpc_runtime_kick(struct mrpc_conn *conn);
int mrpc_runtime_thread(void *arg);
struct mrpc_runtime *mrpc_runtime_lookup(const char *name);

#endif /* MRPC_EXEC_RUNTIME_H */
