// SPDX-License-Identifier: GPL-2.0
/* Timers of a connection: deadlines of calls, keepalive, peers that are too slow. */
#include <linux/list.h>
#include <linux/rcupdate.h>

#include "call/client.h"
#include "call/server.h"
#include "chain/chain.h"
#include "conn/close.h"
#include "conn/timer.h"
#include "core/calls.h"
#include "core/conn.h"
#include "core/listener.h"
#include "core/rpc.h"
#include "exec/control_frame.h"
#include "exec/kick.h"
#include "exec/stall.h"
#include "lib/ds/deadline.h"
#include "lib/message/wire.h"

#define MRPC_HANDSHAKE_TIME	(10 * NSEC_PER_SEC)	/* for an accepted connection */
#define MRPC_PROBE_QUEUE	16	/* no probes behind more than this */
#define MRPC_SLOW_GRACE		(10 * NSEC_PER_SEC)	/* for a message to arrive, and */
#define MRPC_SLOW_RATE		(64 << 10)		/* bytes a second beyond */

/* Takes the first call with a deadline in the past out of its table. */
static struct mrpc_call *mrpc_conn_expired(struct mrpc_conn *conn, u64 now)
{
	struct mrpc_call *call = NULL;
	struct mrpc_deadline *d;

	spin_lock(&conn->lock);
	d = mrpc_deadlines_first(&conn->calls.deadlines);
	if (d && d->when <= now) {
		call = container_of(d, struct mrpc_call, deadline);
		if (conn->link.accepted)
			mrpc_calls_answer(conn, call->id);
		else
			mrpc_calls_abandon(conn, call->id);
	}
	spin_unlock(&conn->lock);
	return call;
}

static void mrpc_conn_expire(struct mrpc_conn *conn, u64 now)
{
	struct mrpc_call *call;

	while ((call = mrpc_conn_expired(conn, now))) {
		if (conn->link.accepted) {
			mrpc_serve_abort(call, MRPC_DEADLINE_EXCEEDED,
					 "the deadline passed at the server");
			continue;
		}
		mrpc_conn_send_cancel(conn, call);
		mrpc_call_abort(call, MRPC_DEADLINE_EXCEEDED, "the deadline passed");
	}
}

/* Returns true if the message being received comes more slowly than any honest one. */
static bool mrpc_conn_trickles(const struct mrpc_conn *conn, u64 now)
{
	u64 since = READ_ONCE(conn->receive.since);

	return since && now > since && now - since > MRPC_SLOW_GRACE +
	       div_u64((u64)READ_ONCE(conn->receive.len) * NSEC_PER_SEC, MRPC_SLOW_RATE);
}

/* Returns true if the peer is too slow: a half received message holds its block of the heap. */
static bool mrpc_conn_too_slow(struct mrpc_conn *conn, u64 now)
{
	const struct mrpc_transport_ops *ops;
	bool slow;

	/* No claim is held. The link may change to another version, and the owner of the old
	 * version's module may put it. But a module that is removed stays for a grace period.
	 */
	rcu_read_lock();
	ops = READ_ONCE(conn->link.ops);
	if (ops->slow)
		slow = ops->slow(&conn->link, now, MRPC_SLOW_GRACE + conn->link.keepalive);
	else
		slow = mrpc_conn_trickles(conn, now);
	rcu_read_unlock();
	return slow;
}

/* Probes a silent peer. Return: the time of the next check. */
static u64 mrpc_conn_keepalive(struct mrpc_conn *conn, u64 now)
{
	u64 silent = mrpc_link_silent(&conn->link);

	if (READ_ONCE(conn->state) == MRPC_CONN_CONNECTING) {
		if (test_bit(MRPC_CONN_DENIED, &conn->flags))	/* the peer had time to read why */
			mrpc_conn_close(conn, MRPC_UNAVAILABLE, "the handshake was refused", false);
		else if (conn->link.accepted && now - conn->opened >= MRPC_HANDSHAKE_TIME)
			mrpc_conn_close(conn, MRPC_UNAVAILABLE, "no handshake in time", true);
		return now + NSEC_PER_SEC;
	}
	if (unlikely(READ_ONCE(conn->link.worn)) && READ_ONCE(conn->state) == MRPC_CONN_READY)
		mrpc_conn_bye(conn);
	if (mrpc_conn_too_slow(conn, now)) {
		mrpc_conn_close(conn, MRPC_UNAVAILABLE, "a message took too long to arrive", true);
		return U64_MAX;
	}
	/* The transport notices by itself that the peer is gone. It looks at the clock in recv(). */
	if (conn->link.home->flags & MRPC_TRANSPORT_FOREIGN) {
		mrpc_stall_kick(conn->session);
		mrpc_kick_rx(conn);
		mrpc_kick_tx(conn);	/* it may have had no memory */
		return now + conn->link.keepalive;
	}
	/* While this end does not read, silence is not the fault of the peer. But this end does
	 * not read the peer's probes either, so it must send something.
	 */
	if (mrpc_stalled(conn) || test_bit(MRPC_CONN_TX_FULL, &conn->flags) ||
	    test_bit(MRPC_CONN_RX_FULL, &conn->flags) || test_bit(MRPC_CONN_EARLY, &conn->flags)) {
		if (atomic_read(&conn->dp.tx_queued) < MRPC_PROBE_QUEUE)
			mrpc_conn_send_control(conn, MRPC_WIRE_PING, now);
		/* A connection that has the turn may wait for its runtime for long. */
		mrpc_stall_kick(conn->session);
		return now + conn->link.keepalive;
	}
	if (silent >= 3 * conn->link.keepalive) {
		mrpc_conn_close(conn, MRPC_UNAVAILABLE, "the peer fell silent", true);
		return U64_MAX;
	}
	if (silent < conn->link.keepalive)
		return now + conn->link.keepalive - silent;
	mrpc_conn_send_control(conn, MRPC_WIRE_PING, now);
	return now + conn->link.keepalive;
}

/**
 * mrpc_conn_timeout() - handle the timer: deadlines and keepalive
 * @conn: the connection
 *
 * Context: process; may sleep; no claim held.
 */
void mrpc_conn_timeout(struct mrpc_conn *conn)
{
	u64 now = ktime_get_ns(), next;
	struct mrpc_deadline *first;

	spin_lock(&conn->lock);
	WRITE_ONCE(conn->exec.timer_at, U64_MAX);
	spin_unlock(&conn->lock);
	mrpc_conn_expire(conn, now);
	next = mrpc_conn_keepalive(conn, now);
	mrpc_chain_timeout(conn, now, &next);
	spin_lock(&conn->lock);
	first = mrpc_deadlines_first(&conn->calls.deadlines);
	if (first)
		next = min(next, first->when);
	spin_unlock(&conn->lock);
	if (next != U64_MAX)
		mrpc_conn_arm(conn, next);
}
