/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MRPC_CORE_CONN_H
#define MRPC_CORE_CONN_H

#include <linux/container_of.h>
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

struct mrpc_member;
struct mrpc_qp;
struct mrpc_refusal;
struct mrpc_replica;
struct mrpc_session;

/* Counters; each written by one context at a time, read by dumps. */
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
	MRPC_CONN_ROOM,		/* it was kicked for room in the heap: exec/stall.c */
	MRPC_CONN_TX_FULL,	/* receive waits for the transmit queue */
	MRPC_CONN_RX_FULL,	/* receive waits for the engines */
	MRPC_CONN_CHANGING,	/* the owner of a claim is to give it back soon */
	MRPC_CONN_ABORT,	/* close without orderly end */
	MRPC_CONN_LEFT,		/* its session has ended: orderly end only if it is idle */
	MRPC_CONN_HEARD,	/* the peer's HELLO or HELLO_ACK has arrived */
	MRPC_CONN_BYE,		/* the peer has said that it starts no more calls */
	MRPC_CONN_SHOOK,	/* the handshake has succeeded, and an event has told it */
	MRPC_CONN_DENIED,	/* the handshake was answered with a refusal */
	MRPC_CONN_DEAD,		/* the close work has done everything */
	MRPC_CONN_FORGOTTEN,	/* no more in its session's table */
	MRPC_CONN_TOUCHED,	/* on the touched list of the connection that it carries calls of */
	MRPC_CONN_CARRIES,	/* the link of a replica that may be given calls */
	MRPC_CONN_EARLY,	/* receive waits for the turn of a chunk */
	MRPC_CONN_MEMBER,	/* chunks were sent: its member may go on */
	MRPC_CONN_NO_CALLS,	/* calls of the peer are refused; set while receive has no owner */
};

/**
 * struct mrpc_conn - a session's binding to a peer's services, or an accepted one
 *
 * Reference counted. The session's table holds one reference; each call, the
 * ready list, queued work and each look-up hold one. Its link ends when the
 * close work runs (mrpc_conn_close() queues it exactly once), its memory with
 * the last reference.
 *
 * The header of an embedded struct says which code owns it, and what protects it.
 */
struct mrpc_conn {
	/* Identity: immutable once the connection can be found, but for what is said. */

	struct kref ref;
	struct rcu_head rcu;
	/* Owner, a reference. */
	struct mrpc_session *session;
	/* In the session's table. */
	u32 id;
	/* Of its datapath in dumps; no other datapath has it as long as this one exists. */
	u32 dp_id;
	/* The replica that has this link, a reference. NULL: it is an application's connection. */
	struct mrpc_replica *replica;
	/*
	 * The rank of a group that sends chunks over it, a reference, and the rank at the other
	 * end. NULL: none yet. Set once, with release semantics; @member_rank before @member.
	 */
	struct mrpc_member *member;
	u32 member_rank;
	/* The listener that accepted it, a reference. NULL: it has connected. */
	struct mrpc_listener *listener;
	/* Of the peer's address in mrpc_listener.peers. Under mrpc_listener.lock. */
	u8 shaking_slot;
	/* Entry of mrpc_listener.shaking. Under mrpc_listener.lock. */
	struct list_head shaking;
	/* When it was made, ns. */
	u64 opened;

	/* Life. */

	/* MRPC_CONN_*; atomic bit operations. */
	unsigned long flags;
	/* enum mrpc_conn_state. Under @lock, read anywhere. */
	u8 state;
	/* What its calls complete with when it is CLOSED. Under @lock. */
	u16 close_status;
	/* Why it is CLOSED, static text or @unmade. Under @lock. */
	const char *why;
	/*
	 * Why its engines could not be made, or NULL: then this is why it ends. Under @lock, freed
	 * with the connection.
	 */
	char *unmade;

	struct mrpc_link link;
	struct mrpc_conn_services services;

	/*
	 * Guards the state and what is said above and below: @calls, the counters of calls in
	 * @stats, exec.timer_at, link.ops. Short; taken in process context only. Inside it only
	 * the timer's lock is taken. A link's may be taken with the lock of its replica set held.
	 */
	spinlock_t lock;
	struct mrpc_calls calls;
	/* Each counter says what protects it. */
	struct mrpc_conn_stats stats;
	/* Threads that wait for changes of state, and for drained tables. */
	struct mrpc_waiters wait;

	struct mrpc_exec exec;
	struct mrpc_datapath dp;
	struct mrpc_receive receive;
	struct mrpc_port port;

	/* Client: where the handshake says why it failed. NULL: no thread asks. Under @lock. */
	struct mrpc_refusal *refusal;
	/* Sets of replicas that take its calls, by mrpc_replicas.list. Under @lock. */
	struct list_head replicas;
	/* Ends it. */
	struct work_struct close_work;
	/* When that began, ns, 0 before. Under dp.change_lock. */
	u64 down_since;
	/* Frees it: the last reference can go in softirq. */
	struct work_struct free_work;
};

/* The connection that has @link. For the core: a transport knows only the link. */
static inline struct mrpc_conn *mrpc_link_conn(struct mrpc_link *link)
{
	return container_of(link, struct mrpc_conn, link);
}

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

/* A call has ended: wake the threads that wait for the last one. */
static inline void mrpc_conn_drained(struct mrpc_conn *conn)
{
	if (unlikely(READ_ONCE(conn->state) == MRPC_CONN_DRAINING))
		mrpc_conn_wake_drain(conn);
}

/* Counts a call that has ended. The caller holds the connection's lock. */
static inline void mrpc_conn_count(struct mrpc_conn *conn, u16 status)
{
	if (status == MRPC_OK)
		conn->stats.done++;
	else
		conn->stats.failed++;
}

void mrpc_conn_close(struct mrpc_conn *conn, u16 status, const char *why, bool abort);
int mrpc_conn_number(struct mrpc_conn *conn);
void mrpc_conn_free_work(struct work_struct *work);
bool mrpc_conn_is_drained(void *ctx);

#endif /* MRPC_CORE_CONN_H */
