/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MRPC_CORE_CONN_H
#define MRPC_CORE_CONN_H

#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mrpc.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

#include "core/calls.h"
#include "core/datapath.h"
#include "core/exec.h"
#include "core/link.h"
#include "core/port.h"
#include "core/receive.h"
#include "core/rpc.h"
#include "core/services.h"
#include "core/transport.h"
#include "core/waiters.h"

struct mrpc_qp;
struct mrpc_refusal;
struct mrpc_replica;
struct mrpc_session;

/* Counters; each written by one context at a time, read by dumps. */
struct mrpc_conn_stats {
	u64 calls;		/* started or received; conn->lock */
	u64 done;		/* with status OK; conn->lock */
	u64 failed;		/* with any other; conn->lock */
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
	MRPC_CONN_CHANGING,	/* who owns a claim is to give it back soon */
	MRPC_CONN_ABORT,	/* close without orderly end */
	MRPC_CONN_LEFT,		/* its session has ended: orderly only if it is idle */
	MRPC_CONN_HEARD,	/* the peer's HELLO or HELLO_ACK has arrived */
	MRPC_CONN_BYE,		/* the peer has said that it starts no more calls */
	MRPC_CONN_SHOOK,	/* the handshake has succeeded, and events have said so */
	MRPC_CONN_DENIED,	/* the handshake was answered with a refusal */
	MRPC_CONN_DEAD,		/* the close work has done everything */
	MRPC_CONN_FORGOTTEN,	/* no more in its session's table */
	MRPC_CONN_TOUCHED,	/* on the touched list of whose calls it carries */
	MRPC_CONN_CARRIES,	/* the link of a replica that may be given calls */
};

/**
 * struct mrpc_conn - a session's binding to a peer's services, or an accepted one
 *
 * Reference counted. The session's table holds one reference; each call, the
 * ready list, queued work and each looker-up hold one. Its link ends when the
 * close work runs (mrpc_conn_close() queues it exactly once), its memory with
 * the last reference.
 *
 * @ref: references
 * @session: owner, a reference
 * @id: in the session's table
 * @dp_id: the id of its datapath in dumps; no other one has it as long as this one is there
 * @replica: whose link this is, a reference, immutable; NULL: it is an application's
 *	connection
 * @listener: the listener that accepted it, a reference, immutable; NULL: it has connected
 * @listener_id: its id, 0 without one
 * @shaking: entry of mrpc_listener.shaking; under its lock
 * @shaking_slot: of its peer's address in mrpc_listener.peers
 * @accepted: true at the server's end
 * @flags: MRPC_CONN_*; atomic bit operations
 * @state: enum mrpc_conn_state; under @lock, read anywhere
 * @why: why it is CLOSED; under @lock
 * @unmade: why its engines could not be made, or NULL: this is why it ends
 *	then; under @lock, freed with the connection
 * @lock: call tables, deadlines, state, statistics named so. Short, taken in
 *	process context only, nothing is taken inside. A link's may be taken with its
 *	set's lock held
 * @wait: for changes of state, and for drained tables
 * @port: its place in an egress domain
 * @opened: when, ns
 * @close_work: ends it
 * @down_since: when that began, ns, 0 before; under @change_lock
 * @refusal: client: where the handshake says why it failed; NULL: nobody asks; under @lock
 * @replicas: sets of replicas that take its calls (replica.h), by
 *	mrpc_replicas.list; under @lock
 * @free_work: the last reference can go in softirq
 */
struct mrpc_conn {
	struct kref ref;
	struct rcu_head rcu;
	struct mrpc_session *session;
	u32 id;
	u32 dp_id;
	struct mrpc_replica *replica;
	struct mrpc_listener *listener;
	u32 listener_id;
	struct list_head shaking;
	u8 shaking_slot;
	bool accepted;
	unsigned long flags;
	u8 state;
	u16 close_status;
	const char *why;
	char *unmade;

	struct mrpc_link link;
	struct mrpc_conn_services services;

	spinlock_t lock;
	struct mrpc_calls calls;
	struct mrpc_conn_stats stats;
	struct mrpc_waiters wait;

	struct mrpc_exec exec;
	struct mrpc_datapath dp;
	struct mrpc_receive receive;

	struct mrpc_port port;

	u64 opened;

	struct work_struct close_work;
	u64 down_since;

	struct mrpc_refusal *refusal;
	struct list_head replicas;
	struct work_struct free_work;
};

struct mrpc_conn *mrpc_conn_find(struct mrpc_session *session, u32 id);
struct mrpc_conn *mrpc_conn_find_any(struct mrpc_session *session, u32 id);
struct mrpc_conn *mrpc_conn_next(struct mrpc_session *session, unsigned long *id);
void mrpc_conn_put(struct mrpc_conn *conn);

static inline void mrpc_conn_get(struct mrpc_conn *conn)
{
	kref_get(&conn->ref);
}

void mrpc_conn_forget(struct mrpc_conn *conn);

/* Nanoseconds of an ioctl's argument in microseconds; 0 is the default. */
static inline u64 mrpc_us_or(u64 us, u64 fallback)
{
	return us ? min_t(u64, us, S64_MAX / 8 / NSEC_PER_USEC) * NSEC_PER_USEC : fallback;
}

u32 mrpc_conn_active(struct mrpc_conn *conn);
void mrpc_conn_wake_drain(struct mrpc_conn *conn);

/* A call has ended: wake who waits for the last one. */
static inline void mrpc_conn_drained(struct mrpc_conn *conn)
{
	if (unlikely(READ_ONCE(conn->state) == MRPC_CONN_DRAINING))
		mrpc_conn_wake_drain(conn);
}

void mrpc_conn_close(struct mrpc_conn *conn, u16 status, const char *why, bool abort);
int mrpc_conn_number(struct mrpc_conn *conn);
void mrpc_conn_free_work(struct work_struct *work);
bool mrpc_conn_is_drained(void *ctx);

#endif /* MRPC_CORE_CONN_H */
