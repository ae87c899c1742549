/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MRPC_CORE_SESSION_H
#define MRPC_CORE_SESSION_H

#include <linux/eventfd.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mrpc.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>
#include <net/net_namespace.h>

#include "core/heap.h"
#include "core/waiters.h"
#include "lib/ds/buddy.h"

struct attribute_group;
struct cred;
struct mem_cgroup;
struct mrpc_call;
struct mrpc_conn;
struct mrpc_qp;
struct mrpc_refusal;
struct mrpc_schema;
struct mrpc_user;
struct net;

#define MRPC_SESSION_CGROUPS	16

/**
 * struct mrpc_session - one open of /dev/mrpc
 *
 * Reference counted. The file holds one reference (and through it every mapping). Each connection,
 * listener and call with pages under way holds one. The release of the file closes everything in
 * it. The last reference frees the memory, always in process context.
 *
 * @ref: references
 * @id: id in mrpc_sessions: unique as long as this session is open
 * @net: network namespace of the opener, a reference
 * @memcg: charged for memory that is allocated outside its threads, a reference
 * @user: per-user limits, a reference
 * @unlimited: the limits do not apply: the opener had CAP_SYS_RESOURCE
 * @pid, @uid, @name: the opener
 * @cred: the opener's credentials, a reference: links that the kernel makes have them
 * @cgroups: ids of the opener's cgroup and those above it, from the root; the
 *	deepest are left out if there are more
 * @nr_cgroups: number of @cgroups
 * @making: one thread at a time does the setup, or makes a region or queue pair. Only ioctls take
 *	it. It is held while the answer is written, which may fail and may take long
 * @lock: protects @schemas
 * @setup: true after MRPC_IOC_SETUP
 * @closing: the file is gone; no new connection
 * @send, @recv: the heaps
 * @qps: [0, nr_qps) are valid; appended under @making with release semantics
 * @schemas: ids to schemas, a reference each; under @lock
 * @conns: ids to connections and listeners; own lock, RCU readers
 * @recent: the connection that was looked up last, without a reference, or NULL. The setter has a
 *	reference; the last put clears the field; readers use RCU
 * @ready_lock: protects @ready, @ready_listeners, @pending, @stalled, @nr_stalled and @stalls
 * @ready_first: the connection that has been ready for longest, a reference, or NULL;
 *	taken and given with atomic exchanges. Set only while @ready is empty
 * @ready: the others that have something to do
 * @ready_listeners: listeners that have something to accept
 * @pending: requests that found no room in a completion queue
 * @stalled: connections that wait for room in @recv: a list for each order of blocks, the oldest
 *	connection first (mrpc_exec.stalled_at)
 * @nr_stalled: connections in @stalled; read without the lock
 * @stalls: the latest mrpc_exec.stalled_at
 * @pollers: threads in enter or call that would run ready connections
 * @poll_wait: threads in poll() and epoll
 * @accept_wait: those of them that wait only for a link to accept
 * @rx_spare: an unused receive buffer; taken and given with xchg
 * @call_spares: unused objects for the next calls, by mrpc_call.spare; taken and given with xchg
 * @parked: synchronous calls of threads that a signal interrupted, a reference each; own lock
 * @next_parked: start of the search for a free token; under the lock of @parked
 * @members: ids to ranks of groups, a reference each; own lock, RCU readers
 * @free_work: frees it, as the last reference can go in softirq
 */
struct mrpc_session {
	struct kref ref;
	struct rcu_head rcu;
	u32 id;
	struct net *net;
	struct mem_cgroup *memcg;
	struct mrpc_user *user;
	bool unlimited;
	pid_t pid;
	kuid_t uid;
	const struct cred *cred;
	char name[MRPC_COMM_LEN];
	u64 cgroups[MRPC_SESSION_CGROUPS];
	u32 nr_cgroups;
	struct mutex making;
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
	struct list_head stalled[MRPC_BUDDY_ORDERS];
	u32 nr_stalled;
	u64 stalls;
	u32 nr_pending;
	struct mrpc_waiters pollers;
	wait_queue_head_t poll_wait;
	wait_queue_head_t accept_wait;
	u8 *rx_spare;
	struct mrpc_call *call_spares;
	struct xarray parked;
	u32 next_parked;
	struct xarray members;
	struct work_struct free_work;
	u64 opened;
};

extern const struct file_operations mrpc_fops;



struct mrpc_session *mrpc_session_next(struct net *net, u32 after);
struct mrpc_session *mrpc_session_find(struct net *net, u32 id);
u32 mrpc_session_count(void);
void mrpc_session_put(struct mrpc_session *session);
bool mrpc_session_in_cgroup(const struct mrpc_session *session, u64 id);
int mrpc_session_reserve(struct mrpc_session *session, u32 *id);
void mrpc_session_unreserve(struct mrpc_session *session, u32 id);
int mrpc_session_publish(struct mrpc_session *session, u32 id, void *entry);
int mrpc_session_here(struct mrpc_session *session, struct mrpc_refusal *r);

/* Returns the id of the opener's cgroup; 0: not known, because some cgroups are left out. */
static inline u64 mrpc_session_cgroup(const struct mrpc_session *session)
{
	u32 nr = session->nr_cgroups;

	return nr && nr < MRPC_SESSION_CGROUPS ? session->cgroups[nr - 1] : 0;
}

static inline void mrpc_session_get(struct mrpc_session *session)
{
	kref_get(&session->ref);
}

/* Returns true if a connection is ready. Before it sleeps, a caller needs a full barrier first. */
static inline bool mrpc_session_ready(const struct mrpc_session *session)
{
	return READ_ONCE(session->ready_first) || !list_empty_careful(&session->ready);
}

extern const struct attribute_group *mrpc_groups[];

struct mrpc_session *mrpc_session_new(void);
void mrpc_session_leave(struct mrpc_session *session);

#endif /* MRPC_CORE_SESSION_H */
