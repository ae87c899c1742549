/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MRPC_CORE_CONN_H
#define MRPC_CORE_CONN_H

#include <linux/atomic.h>
#include <linux/hrtimer.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/llist.h>
#include <linux/mrpc.h>
#include <linux/mutex.h>
#include <linux/socket.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

#include "core/port.h"
#include "core/rpc.h"
#include "core/transport.h"
#include "core/waiters.h"
#include "lib/ds/claim.h"
#include "lib/ds/deadline.h"
#include "lib/ds/order.h"
#include "lib/message/calltable.h"
#include "lib/message/feature.h"

struct mrpc_chain;
struct mrpc_qp;
struct mrpc_refusal;
struct mrpc_replica;
struct mrpc_runtime;
struct mrpc_schema;
struct mrpc_session;

/*
 * A service of a connection or listener. It holds a reference to the schema. @calls of a listener
 * counts the calls of connections that have ended, under its session's xa_lock.
 */
struct mrpc_service {
	struct mrpc_schema *schema;
	u64 calls;		/* started (client; conn->lock) or delivered (server; receive claim) */
};

/* Counters. Each has one writing context at a time; dumps read them. */
struct mrpc_conn_stats {
	u64 calls;		/* started or received; conn->lock */
	u64 done;		/* calls with status OK; conn->lock */
	u64 failed;		/* calls with any other status; conn->lock */
	u64 tx_bytes;		/* transmit claim */
	u64 tx_frames;
	u64 rx_bytes;		/* receive claim */
	u64 rx_frames;
	u64 rx_refused;		/* frames answered with an error */
	u64 heap_stalls;	/* input stopped for want of receive heap */
	u64 tx_summed;		/* frames with a checksum; transmit claim */
	u64 rx_summed;		/* receive claim */
};

/* mrpc_conn.flags */
enum {
	MRPC_CONN_RX_READY,	/* the link has input */
	MRPC_CONN_TX_READY,	/* the link has room, or the queue has entries */
	MRPC_CONN_TIMER,	/* the timer has fired */
	MRPC_CONN_LISTED,	/* on the session's ready list */
	MRPC_CONN_TX_FULL,	/* receive waits for the transmit queue */
	MRPC_CONN_RX_FULL,	/* receive waits for the engines */
	MRPC_CONN_CHANGING,	/* the owner of a claim must give it back soon */
	MRPC_CONN_ABORT,	/* close without orderly end */
	MRPC_CONN_LEFT,		/* its session has ended: orderly end only if it is idle */
	MRPC_CONN_HEARD,	/* the peer's HELLO or HELLO_ACK has arrived */
	MRPC_CONN_BYE,		/* the peer has said that it starts no more calls */
	MRPC_CONN_SHOOK,	/* the handshake has succeeded, and an event has told it */
	MRPC_CONN_DENIED,	/* the handshake was answered with a refusal */
	MRPC_CONN_DEAD,		/* the close work has done everything */
	MRPC_CONN_FORGOTTEN,	/* no more in its session's table */
	MRPC_CONN_TOUCHED,	/* on the touched list of the connection that it carries for */
	MRPC_CONN_CARRIES,	/* the link of a replica that may be given calls */
};

/**
 * struct mrpc_path_ops - functions for rpcs that leave the engines
 *
 * The owner of the direction's claim calls them.
 *
 * @passed: the rpc has passed all engines
 * @rejected: an engine has rejected it
 * @dropped: its connection is closed
 */
struct mrpc_path_ops {
	void (*passed)(struct mrpc_conn *conn, struct mrpc_rpc *rpc);
	void (*rejected)(struct mrpc_conn *conn, struct mrpc_rpc *rpc);
	void (*dropped)(struct mrpc_conn *conn, struct mrpc_rpc *rpc);
};

/**
 * struct mrpc_path - one direction of a datapath, as far as there are engines
 *
 * The owner of the direction's claim owns all fields, unless stated otherwise.
 *
 * @ops: functions for rpcs that leave the engines; immutable
 * @out: rpcs behind the last engine; transmit: they wait for the link
 * @rejected: rpcs that engines have rejected in this turn
 * @all: rpcs among the engines, by mrpc_rpc.all
 * @held: number of rpcs in @all; read by dumps
 * @held_bytes: receive: memory that keeps them
 * @wake: time when an engine wants to be called, ns, 0: never; under mrpc_conn.lock
 * @late: transmit: a BYE that waits until no rpc is among the engines
 */
struct mrpc_path {
	const struct mrpc_path_ops *ops;
	struct mrpc_queue out;
	struct mrpc_queue rejected;
	struct list_head all;
	u32 held;
	u64 held_bytes;
	u64 wake;
	struct mrpc_rpc *late;
};

/**
 * struct mrpc_conn - a session's connection to the services of a peer, or an accepted one
 *
 * Reference counted. The session's table holds one reference; each call, the ready list, queued
 * work and each user of a lookup hold one. The close work ends its link. mrpc_conn_close() queues
 * that work exactly once. The last reference frees its memory.
 *
 * @ref: references
 * @session: owner, a reference
 * @id: id in the session's table
 * @dp_id: id of its datapath in dumps; unique while the connection exists
 * @home: version 1 of its transport, a module reference; the link can go back to it
 * @ops: the present version of its link's transport, a module reference. Changes together with
 *	@link: with both claims held, under @lock
 * @link: the transport's state; set before the connection is READY
 * @features: the features that it has agreed on with its peer; see struct mrpc_features
 * @uses: MRPC_FEATURE_* that the operator wants in what is sent; changes with both claims
 *	held, or before the connection is READY
 * @adds: those of @uses that the peer accepts; changed by the owner of @tx, or before READY
 * @replica: replica that this link belongs to, a reference, immutable; NULL: it is an
 *	application's connection
 * @listener: the listener that accepted it, a reference, immutable; NULL: it has connected
 * @listener_id: id of @listener, 0 without one
 * @shaking: entry of mrpc_listener.shaking; under its lock
 * @shaking_slot: slot of its peer's address in mrpc_listener.peers
 * @accepted: true at the server's end
 * @local, @peer: addresses; set with the link
 * @flags: MRPC_CONN_*; atomic bit operations
 * @state: enum mrpc_conn_state; under @lock, read anywhere
 * @why: reason why it is CLOSED; under @lock
 * @unmade: reason why its engines could not be made, or NULL: then the connection ends for
 *	this reason; under @lock, freed with the connection
 * @lock: protects call tables, deadlines, state, and the statistics that name it. Short, taken
 *	in process context only, no lock is taken under it. The lock of a link may be taken
 *	under the lock of its replica set
 * @calls, @serves: call tables, which grow with their use; under @lock
 * @deadlines: deadlines of the calls in them; under @lock
 * @wait: for changes of state, and for drained tables
 * @tx, @rx: the claims
 * @txq: rpcs from any context to the owner of @tx
 * @touched: links of replicas that the owner of @tx has given rpcs to, by @touch, a reference
 *	each; they run after the claim has been given back
 * @tx_queued: number of rpcs in @txq, in @path[MRPC_TX], and being made
 * @path: the parts between application and link, for each direction
 * @chain: its engines, or NULL. Changes with both claims held, or before the
 *	connection is READY; readers without a claim use RCU
 * @wants: mrpc_chain.flags of @chain, 0 without one; for readers that need no more of it
 * @change_lock: held to change @chain, or to end the connection
 * @datapaths: entry of mrpc_net.datapaths, or, for a link of a replica, of mrpc_net.links; under
 *	the lock of mrpc_net
 * @runtime: the kernel thread that runs it, a reference, or NULL; changes like
 *	@chain
 * @runtime_uses: the instances of type "runtime", which choose @runtime; for runtime_type.c
 * @turn: its place in the order of the runtime; under the runtime's lock
 * @turn_bytes: bytes after which others go first; 0: after MRPC_STREAM_TURN
 * @turn_left: bytes left of a turn there that was cut short; under the runtime's lock
 * @tx_until: when stats.tx_bytes reaches it, others have their turn; owner of @tx
 * @tx_left: bytes that the next rpc still has to send; a hint
 * @tx_priority: priority of that rpc; a hint
 * @port: its place in an egress domain
 * @rx_spare: an object for the next received message, or NULL; owner of @rx
 * @copied: packets with pages that the network stack copied although it got them by
 *	reference, since the transport last tried. If there are any, copying at once is cheaper
 * @sink: receive in progress; owner of @rx
 * @rx_qp: queue pair of the thread that owns @rx, or NULL
 * @rxq: replies that links of replicas have received for the engines here, by
 *	mrpc_rx.rpc
 * @timer: fires at the earliest of the first deadline and the next keepalive. At the end it
 *	makes the close work check a link that lingers
 * @timer_at: time when @timer fires; under @lock
 * @last_rx: time of the last sign of the peer, jiffies64; owner of @rx
 * @rx_since: time when the message being received was found incomplete, 0 for none;
 *	owner of @rx
 * @rx_len: bytes of it that were still to come
 * @keepalive: ns of silence before a probe
 * @opened: time of its beginning, ns
 * @ready: entry of the session's ready list; under its ready_lock
 * @stalled: entry of the session's stalled list; under its ready_lock
 * @run: function that runs one turn of its datapath; immutable
 * @work: runs the datapath if no thread waits
 * @close_work: ends the connection
 * @down_since: time when that began, ns, 0 before; under @change_lock
 * @change_work: brings it to what the placements say, if the thread that noticed cannot
 * @services: the services that it negotiated
 * @map: server: wire numbering to the listener's numbering
 * @nr_wire: server: number of services that the client asked for
 * @max_message: largest message accepted here
 * @peer_max_message: largest message that the peer accepts
 * @refusal: client: the handshake writes its reason of failure here; NULL: not wanted; under @lock
 * @link_err: the first cause of the link's end, a negative errno, or 0. Written by the owners of
 *	both claims, and by the transport, which may know it before them
 * @replicas: sets of replicas that take its calls (replica.h), by
 *	mrpc_replicas.list; under @lock
 * @touch: entry in @touched of the connection that this link carries calls for
 * @free_work: frees it, as the last reference can go in softirq
 */
struct mrpc_conn {
	struct kref ref;
	struct rcu_head rcu;
	struct mrpc_session *session;
	u32 id;
	u32 dp_id;
	const struct mrpc_transport_ops *home;
	const struct mrpc_transport_ops *ops;
	void *link;
	struct mrpc_features features;
	struct mrpc_replica *replica;
	u64 uses;
	u64 adds;
	struct mrpc_listener *listener;
	u32 listener_id;
	struct list_head shaking;
	u8 shaking_slot;
	bool accepted;
	struct sockaddr_storage local;
	struct sockaddr_storage peer;
	unsigned long flags;
	u8 state;
	u16 close_status;
	const char *why;
	char *unmade;

	spinlock_t lock;
	struct mrpc_call_table calls;
	struct mrpc_serve_table serves;
	struct mrpc_deadlines deadlines;
	struct mrpc_conn_stats stats;
	struct mrpc_waiters wait;

	struct mrpc_claim tx;
	struct mrpc_claim rx;
	struct llist_head txq;
	struct llist_head touched;
	atomic_t tx_queued;
	struct mrpc_path path[MRPC_DIRS];
	struct mrpc_chain __rcu *chain;
	u32 wants;
	struct mutex change_lock;
	struct list_head datapaths;
	struct mrpc_runtime __rcu *runtime;
	struct list_head runtime_uses;
	struct mrpc_order_entity turn;
	u32 turn_bytes;
	u32 turn_left;
	u64 tx_until;
	u64 tx_left;
	u8 tx_priority;
	struct mrpc_port port;
	struct mrpc_rx *rx_spare;
	atomic_t copied;
	struct mrpc_sink sink;
	struct mrpc_qp *rx_qp;
	struct llist_head rxq;

	struct hrtimer timer;
	u64 timer_at;
	u64 last_rx;
	u64 rx_since;
	u32 rx_len;
	u64 keepalive;
	u64 opened;

	struct list_head ready;
	struct list_head stalled;
	void (*run)(struct mrpc_conn *conn, struct mrpc_qp *qp);
	struct work_struct work;
	struct work_struct close_work;
	u64 down_since;
	struct work_struct change_work;

	struct mrpc_service *services;
	u32 nr_services;
	u8 map[MRPC_MAX_SERVICES];
	u32 nr_wire;
	u32 max_message;
	u32 peer_max_message;
	struct mrpc_refusal *refusal;
	int link_err;
	struct list_head replicas;
	struct llist_node touch;
	struct work_struct free_work;
};

int mrpc_conn_grow(struct mrpc_conn *conn, u32 need);
struct mrpc_conn *mrpc_conn_find(struct mrpc_session *session, u32 id);
struct mrpc_conn *mrpc_conn_find_any(struct mrpc_session *session, u32 id);
struct mrpc_conn *mrpc_conn_next(struct mrpc_session *session, unsigned long *id);
void mrpc_conn_put(struct mrpc_conn *conn);

static inline void mrpc_conn_get(struct mrpc_conn *conn)
{
	kref_get(&conn->ref);
}

void mrpc_conn_forget(struct mrpc_conn *conn);

/* Returns the time since the last sign of the peer, ns. A sign may come right now. */
static inline u64 mrpc_conn_silent(const struct mrpc_conn *conn)
{
	u64 heard = READ_ONCE(conn->last_rx), now = get_jiffies_64();

	return now > heard ? jiffies64_to_nsecs(now - heard) : 0;
}

/* Converts microseconds of an ioctl's argument to nanoseconds; 0 is the default. */
static inline u64 mrpc_us_or(u64 us, u64 fallback)
{
	return us ? min_t(u64, us, S64_MAX / 8 / NSEC_PER_USEC) * NSEC_PER_USEC : fallback;
}

u32 mrpc_conn_active(struct mrpc_conn *conn);
void mrpc_conn_wake_drain(struct mrpc_conn *conn);

/* Called when a call has ended: wakes the waiters for the end of the last call. */
static inline void mrpc_conn_drained(struct mrpc_conn *conn)
{
	if (unlikely(READ_ONCE(conn->state) == MRPC_CONN_DRAINING))
		mrpc_conn_wake_drain(conn);
}

void mrpc_conn_close(struct mrpc_conn *conn, u16 status, const char *why, bool abort);
int mrpc_conn_tables(struct mrpc_conn *conn);
void mrpc_conn_tables_free(struct mrpc_conn *conn);
int mrpc_conn_number(struct mrpc_conn *conn);
void mrpc_conn_free_work(struct work_struct *work);
void mrpc_link_agreed(struct mrpc_conn *conn);
bool mrpc_conn_is_drained(void *ctx);

#endif /* MRPC_CORE_CONN_H */
