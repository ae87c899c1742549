/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MRPC_CORE_LISTENER_H
#define MRPC_CORE_LISTENER_H

#include <linux/atomic.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/socket.h>
#include <linux/types.h>
#include <linux/workqueue.h>

#include "lib/ds/claim.h"

struct mrpc_conn;
struct mrpc_service;
struct mrpc_session;
struct mrpc_transport_ops;

/**
 * struct mrpc_listener - where a session accepts connections
 *
 * Reference counted: the session's table holds one, the ready list one, each
 * looker-up one.
 *
 * @ops: transport, a module reference
 * @link: the transport's state; set by listen, under no lock before publication
 * @addr: bound address
 * @claim: who accepts
 * @flags: bit 0: on the ready list
 * @pending: accepted connections whose handshake is not complete
 * @closed: no more is accepted; under the session's ready_lock
 * @max_message: what accepted connections inherit
 * @keepalive: likewise
 * @retry: looks again after a failure that took no link; holds a reference
 */
struct mrpc_listener {
	struct kref ref;
	struct mrpc_session *session;
	u32 id;
	const struct mrpc_transport_ops *ops;
	void *link;
	struct sockaddr_storage addr;
	u32 addr_len;
	struct mrpc_claim claim;
	unsigned long flags;
	atomic_t pending;
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

#define MRPC_LISTENER_TAG	1	/* of its pointer in the session's table */

#define MRPC_LISTENER_LISTED	0

#define MRPC_LISTENER_PENDING	128	/* handshakes under way */

void mrpc_listener_put(struct mrpc_listener *l);
struct mrpc_listener *mrpc_listener_find(struct mrpc_session *session, u32 id);
struct mrpc_listener *mrpc_listener_next(struct mrpc_session *session, unsigned long *id);
void mrpc_listener_fold(struct mrpc_conn *conn);
u64 mrpc_listener_patience(struct mrpc_conn *conn);

#endif /* MRPC_CORE_LISTENER_H */
