/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MRPC_CORE_LISTENER_H
#define MRPC_CORE_LISTENER_H

#include <linux/kref.h>
#include <linux/list.h>
#include <linux/socket.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/workqueue.h>

#include "lib/ds/claim.h"

struct mrpc_conn;
struct net;
struct mrpc_service;
struct mrpc_session;
struct mrpc_transport_ops;

#define MRPC_LISTENER_PEERS	64

/**
 * struct mrpc_listener - a place where a session accepts connections
 *
 * Reference counted: the session's table holds one reference, the ready list one, each user of a
 * lookup one and each accepted connection one.
 *
 * @net: the network namespace of @addr, which @session keeps; immutable
 * @ops: transport, a module reference
 * @priv: the transport's state; set by listen, under no lock before publication. NULL: the listener
 *	has no socket, and is given its connections
 * @addr: bound address
 * @claim: held by the thread that accepts
 * @flags: bit 0: on the ready list
 * @lock: protects @shaking, @pending and @peers; taken in process context, no lock is taken under
 *	it
 * @shaking: accepted connections that have not completed their handshake, the oldest first
 * @pending: number of connections in @shaking
 * @peers: number of them by their peers' addresses, hashed
 * @seed: seed of that hash
 * @closed: no more connections are accepted; under the session's ready_lock
 * @max_message: limit for accepted connections
 * @keepalive: keepalive of accepted connections
 * @retry: looks again after a failure that took no link; holds a reference
 */
struct mrpc_listener {
	struct kref ref;
	struct mrpc_session *session;
	struct net *net;
	u32 id;
	const struct mrpc_transport_ops *ops;
	void *priv;
	struct sockaddr_storage addr;
	u32 addr_len;
	struct mrpc_claim claim;
	unsigned long flags;
	spinlock_t lock;
	struct list_head shaking;
	u32 pending;
	u16 peers[MRPC_LISTENER_PEERS];
	u32 seed;
	u64 accepted;
	bool closed;
	struct list_head ready;
	u32 max_message;
	u64 keepalive;
	struct delayed_work retry;
	struct mrpc_service *services;
	u32 nr_services;
	struct rcu_head rcu;
};

#define MRPC_LISTENER_TAG	1	/* tag of its pointer in the session's table */

#define MRPC_LISTENER_LISTED	0

#define MRPC_LISTENER_PENDING	256	/* handshakes under way */

void mrpc_listener_put(struct mrpc_listener *l);
static inline void mrpc_listener_get(struct mrpc_listener *l)
{
	kref_get(&l->ref);
}

struct mrpc_listener *mrpc_listener_find(struct mrpc_session *session, u32 id);
struct mrpc_listener *mrpc_listener_next(struct mrpc_session *session, unsigned long *id);
void mrpc_listener_fold(struct mrpc_conn *conn);

#endif /* MRPC_CORE_LISTENER_H */
