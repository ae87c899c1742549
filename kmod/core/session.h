/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MRPC_CORE_SESSION_H
#define MRPC_CORE_SESSION_H

#include <linux/eventfd.h>
#include <linux/kref.h>
#include <linux/mrpc.h>
#include <linux/mutex.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>
#include <net/net_namespace.h>

#include "core/heap.h"
#include "lib/ds/ring.h"
#include "core/waiters.h"

struct mrpc_conn;
struct mrpc_call;
struct mrpc_refusal;
struct mrpc_schema;
struct mrpc_user;

#define MRPC_CALLS_LIMIT	8192	/* calls in flight on one connection */
#define MRPC_SESSION_CGROUPS	16

/**
 * struct mrpc_qp - a queue pair, used by one application thread
 *
 * Created by MRPC_IOC_QP, immutable but for the fields below, ends with the
 * session.
 *
 * @session: owner (not a reference: the session outlives it)
 * @id: its number
 * @flags: MRPC_QP_SERVE, MRPC_QP_EVENTFD
 * @mem: the shared memory: struct mrpc_qp_head, entries
 * @mem_len: its bytes
 * @submit: serialises consumers of the submission queue (two threads that use
 *	one queue pair are slow, not wrong)
 * @sq: under @submit
 * @lock: producers of the completion queue, process and softirq context
 * @cq: under @lock; room in it is promised without
 * @late: replies whose blocks are free, which there was no room to say, by mrpc_call.pending, a
 *	reference each; under @lock. Empty from mrpc_qp_end() on
 * @wait: threads in enter
 * @eventfd: signalled on empty to non-empty, or NULL
 * @served: requests delivered and not yet answered; balances the threads
 * @submitted, @completed: counters; under @submit and @lock
 */
struct mrpc_qp {
	struct mrpc_session *session;
	u32 id;
	u32 flags;
	void *mem;
	u32 mem_len;
	struct mutex submit;
	struct mrpc_sq sq;
	spinlock_t lock;
	struct mrpc_cq cq;
	struct list_head late;
	struct mrpc_waiters wait;
	struct eventfd_ctx *eventfd;
	atomic_t served;
	u64 submitted;
	u64 completed;
};

/**
 * struct mrpc_session - one open of /dev/mrpc
 *
 * Reference counted: the file holds one (and through it every mapping), each
 * connection, listener and call with pages under way holds one. When the file
 * is released everything in it is closed; memory ends with the last reference,
 * always in process context.
 *
 * @ref: references
 * @id: unique in this boot
 * @list: entry of mrpc_sessions, in order of @id; under mrpc_sessions_lock
 * @net: network namespace of the opener, a reference
 * @memcg: charged for what is allocated outside its threads, a reference
 * @user: per-user limits, a reference
 * @pid, @uid, @name: who
 * @cred: the opener's credentials, a reference: links that the kernel makes are his
 * @cgroups: ids of the opener's cgroup and those above it, from the root; the
 *	deepest are left out if there are more
 * @nr_cgroups: how many
 * @lock: set-up: regions, queue pairs, schemas
 * @setup: true after MRPC_IOC_SETUP
 * @closing: the file is gone; no new connection
 * @send, @recv: the heaps
 * @qps: [0, nr_qps) are valid; appended under @lock with release semantics
 * @schemas: ids to schemas, a reference each; under @lock
 * @conns: ids to connections and listeners; own lock, RCU readers
 * @recent: the connection that was looked up last, without a reference, or NULL. Who
 *	sets it has one; the last put takes it away; readers use RCU
 * @ready_lock: the four lists
 * @ready_first: the connection that has been ready for longest, a reference, or NULL;
 *	taken and given with atomic exchanges. Set only while @ready is empty
 * @ready: the others that have something to do
 * @ready_listeners: listeners that have something to accept
 * @pending: requests that found no room in a completion queue
 * @stalled: connections whose input waits for receive heap
 * @pollers: threads in enter or call that would run ready connections
 * @poll_wait: poll() and epoll
 * @rx_spare: a receive buffer that nobody uses; taken and given with xchg
 * @call_spares: likewise objects for the next calls, by mrpc_call.spare
 * @charged: heap bytes charged to @user; under @lock
 * @free_work: the last reference can go in softirq
 */
struct mrpc_session {
	struct kref ref;
	struct rcu_head rcu;
	u32 id;
	struct list_head list;
	struct net *net;
	struct mem_cgroup *memcg;
	struct mrpc_user *user;
	pid_t pid;
	kuid_t uid;
	const struct cred *cred;
	char name[MRPC_COMM_LEN];
	u64 cgroups[MRPC_SESSION_CGROUPS];
	u32 nr_cgroups;
	struct mutex lock;
	bool setup;
	bool closing;
	struct mrpc_heap send;
	struct mrpc_heap recv;
	struct mrpc_qp *qps[MRPC_MAX_QPS];
	u32 nr_qps;
	struct mrpc_schema *schemas[MRPC_MAX_SCHEMAS];
	u32 nr_schemas;
	struct xarray conns;
	u32 next_conn;
	struct mrpc_conn __rcu *recent;
	spinlock_t ready_lock;
	struct mrpc_conn *ready_first;
	struct list_head ready;
	struct list_head ready_listeners;
	struct list_head pending;
	struct list_head stalled;
	u32 nr_pending;
	struct mrpc_waiters pollers;
	wait_queue_head_t poll_wait;
	u8 *rx_spare;
	struct mrpc_call *call_spares;
	u64 charged;
	struct work_struct free_work;
	u64 opened;
};

/* session.c */
extern const struct file_operations mrpc_fops;
extern struct list_head mrpc_sessions;
extern spinlock_t mrpc_sessions_lock;
struct mrpc_session *mrpc_session_next(struct net *net, u32 after);
u32 mrpc_session_count(void);
void mrpc_session_put(struct mrpc_session *session);
bool mrpc_session_in_cgroup(const struct mrpc_session *session, u64 id);
int mrpc_session_reserve(struct mrpc_session *session, u32 *id);
void mrpc_session_unreserve(struct mrpc_session *session, u32 id);
int mrpc_session_publish(struct mrpc_session *session, u32 id, void *entry);
int mrpc_session_here(struct mrpc_session *session, struct mrpc_refusal *r);

/* Id of the opener's cgroup; 0: where some are left out it is not known. */
static inline u64 mrpc_session_cgroup(const struct mrpc_session *session)
{
	u32 nr = session->nr_cgroups;

	return nr && nr < MRPC_SESSION_CGROUPS ? session->cgroups[nr - 1] : 0;
}

static inline void mrpc_session_get(struct mrpc_session *session)
{
	kref_get(&session->ref);
}

/* Has a connection something to do? Who is about to sleep needs a full barrier before. */
static inline bool mrpc_session_ready(const struct mrpc_session *session)
{
	return READ_ONCE(session->ready_first) || !list_empty_careful(&session->ready);
}

/* ioctl.c */
long mrpc_session_ioctl(struct mrpc_session *session, unsigned int cmd, void __user *arg);

/* qp.c */
int mrpc_qp_create(struct mrpc_session *session, struct mrpc_qp_setup *args);
void mrpc_qp_destroy(struct mrpc_qp *qp);
struct mrpc_qp *mrpc_qp_find(struct mrpc_session *session, u32 id);

/* Queue pairs [0, count) are complete and stay. */
static inline u32 mrpc_qp_count(const struct mrpc_session *session)
{
	/* Pairs with the release in mrpc_qp_create(). */
	return smp_load_acquire(&session->nr_qps);
}

bool mrpc_qp_reserve(struct mrpc_qp *qp, u32 nr);
void mrpc_qp_unreserve(struct mrpc_qp *qp, u32 nr);
void mrpc_qp_post(struct mrpc_qp *qp, const struct mrpc_cqe *cqe);
void mrpc_qp_post_locked(struct mrpc_qp *qp, const struct mrpc_cqe *cqe);
void mrpc_qp_post_sent(struct mrpc_qp *qp, const struct mrpc_call *call);
void mrpc_qp_sent(struct mrpc_qp *qp, struct mrpc_call *call);
void mrpc_qp_end(struct mrpc_qp *qp);
bool mrpc_qp_says(struct mrpc_qp *qp);
void mrpc_qp_wake(struct mrpc_qp *qp);
u32 mrpc_qp_ready(struct mrpc_qp *qp);
int mrpc_qp_enter(struct mrpc_session *session, struct mrpc_enter *args);
int mrpc_qp_call(struct mrpc_session *session, struct mrpc_call_sync *args);
void mrpc_qp_set_pending(struct mrpc_session *session);
int mrpc_release(struct mrpc_session *session, const u32 *blocks, u32 nr);
void mrpc_recv_cancel(struct mrpc_session *session, u32 block, u32 dirty);

/* call/tx.c */
void mrpc_datapath_unstall(struct mrpc_session *session);

/* There is more room in the receive heap: who waits for some tries again. */
static inline void mrpc_recv_freed(struct mrpc_session *session)
{
	smp_mb();	/* pairs with the one in mrpc_sink_alloc() */
	if (!list_empty(&session->stalled))
		mrpc_datapath_unstall(session);
}

/* main.c */
struct mrpc_knobs {
	uint copy_threshold;
	uint max_calls;
	uint max_sessions;	/* per user */
	uint max_conns;		/* per user */
	ulong max_heap;		/* bytes per user */
	uint busy_poll;		/* us that a thread looks before it sleeps */
};
extern struct mrpc_knobs mrpc_knobs;
extern struct workqueue_struct *mrpc_wq;	/* runs datapaths */
extern struct workqueue_struct *mrpc_end_wq;	/* ends connections; may wait */

/* The knob, within what a call table can hold. */
static inline u32 mrpc_max_calls(void)
{
	return clamp(READ_ONCE(mrpc_knobs.max_calls), 1U, MRPC_CALLS_LIMIT);
}

/* sysfs.c */
extern const struct attribute_group *mrpc_groups[];

/* core/user.c */
struct mrpc_user *mrpc_user_get(kuid_t uid);
void mrpc_user_put(struct mrpc_user *user);
int mrpc_user_charge_session(struct mrpc_user *user);
void mrpc_user_uncharge_session(struct mrpc_user *user);
int mrpc_user_charge_heap(struct mrpc_user *user, u64 bytes);
void mrpc_user_uncharge_heap(struct mrpc_user *user, u64 bytes);
int mrpc_user_charge_conn(struct mrpc_user *user);
void mrpc_user_uncharge_conn(struct mrpc_user *user);

#endif /* MRPC_CORE_SESSION_H */
