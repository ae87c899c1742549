// SPDX-License-Identifier: GPL-2.0
/*
 * Datapaths: who runs what, and when.
 *
 * Each direction of a connection's datapath is executed by the owner of its
 * claim: the application's own thread in enter or call, or a work item where no
 * thread waits. Readiness (a socket callback, a timer) only sets a flag and
 * makes somebody look: a waiting thread if there is one, else the work item.
 */
#include <linux/sched/mm.h>

#include "chain/chain.h"
#include "core/conn.h"
#include "egress/domain.h"
#include "change/link_version.h"
#include "core/placement.h"
#include "replica/replica.h"
#include "exec/runtime.h"
#include "core/session.h"
#include "core/trace.h"

#define MRPC_RX_BUDGET	64	/* frames before others get a turn */
#define MRPC_TX_BUDGET	256	/* rpcs before others get a turn */

static void mrpc_queue_work(struct mrpc_conn *conn)
{
	mrpc_conn_get(conn);
	if (!queue_work(mrpc_wq, &conn->work))
		mrpc_conn_put(conn);
}

static void mrpc_list_ready(struct mrpc_conn *conn)
{
	struct mrpc_session *session = conn->session;

	if (test_and_set_bit(MRPC_CONN_LISTED, &conn->flags))
		return;
	mrpc_conn_get(conn);
	if (!list_empty(&session->ready) || cmpxchg(&session->ready_first, NULL, conn)) {
		spin_lock_bh(&session->ready_lock);
		list_add_tail(&conn->ready, &session->ready);
		spin_unlock_bh(&session->ready_lock);
		smp_mb();	/* as the cmpxchg() that succeeds */
	}
	/* The last poller may have left between our look and the entry. Pairs
	 * with the barrier in mrpc_ready_handoff(): one of us sees the other.
	 */
	if (!mrpc_wake_one(&session->pollers))
		mrpc_ready_handoff(session);
}

/*
 * Make somebody run the datapath. Any context but hard interrupt. The caller has had a full
 * barrier since he did what is to be seen: a flag was set.
 */
static void mrpc_kick(struct mrpc_conn *conn)
{
	if (rcu_access_pointer(conn->runtime) && mrpc_runtime_kick(conn))
		return;
	/* A poller that does not sleep looks again before it does. */
	if (mrpc_waiters_any(&conn->session->pollers))
		mrpc_list_ready(conn);
	else
		mrpc_queue_work(conn);
}

/**
 * mrpc_kick_rx() - the link has input
 * @conn: the connection
 *
 * Context: any but hard interrupt.
 */
void mrpc_kick_rx(struct mrpc_conn *conn)
{
	if (!test_and_set_bit(MRPC_CONN_RX_READY, &conn->flags))
		mrpc_kick(conn);
}
EXPORT_SYMBOL_GPL(mrpc_kick_rx);

/**
 * mrpc_kick_tx() - the link has room again
 * @conn: the connection
 *
 * Context: any but hard interrupt.
 */
void mrpc_kick_tx(struct mrpc_conn *conn)
{
	if (!test_and_set_bit(MRPC_CONN_TX_READY, &conn->flags))
		mrpc_kick(conn);
}
EXPORT_SYMBOL_GPL(mrpc_kick_tx);

/**
 * mrpc_kick_room() - mrpc_kick_tx() for links that may be in an egress domain
 * @conn: the connection
 *
 * There others may go first. Context: any but hard interrupt.
 */
void mrpc_kick_room(struct mrpc_conn *conn)
{
	struct mrpc_domain *d;

	rcu_read_lock();
	d = rcu_dereference(conn->port.domain);
	if (!d || !mrpc_domain_event(conn, d))
		mrpc_kick_tx(conn);
	rcu_read_unlock();
}
EXPORT_SYMBOL_GPL(mrpc_kick_room);

/**
 * mrpc_kick_again() - a claim was given back although work may be left
 * @conn: the connection
 * @flag: MRPC_CONN_RX_READY or MRPC_CONN_TX_READY
 *
 * The flag may be set already, and whoever was called for it may have come,
 * found the claim taken and left: so kick in any case.
 */
void mrpc_kick_again(struct mrpc_conn *conn, int flag)
{
	set_bit(flag, &conn->flags);
	smp_mb__after_atomic();	/* for mrpc_kick() */
	mrpc_kick(conn);
}

/**
 * mrpc_datapath_kick() - a connection is complete: look what its link has
 * @conn: the connection
 */
void mrpc_datapath_kick(struct mrpc_conn *conn)
{
	mrpc_kick_again(conn, MRPC_CONN_RX_READY);
}

static enum hrtimer_restart mrpc_timer_fired(struct hrtimer *timer)
{
	struct mrpc_conn *conn = container_of(timer, struct mrpc_conn, timer);

	if (!test_and_set_bit(MRPC_CONN_TIMER, &conn->flags))
		mrpc_kick(conn);
	return HRTIMER_NORESTART;
}

/**
 * mrpc_tx_unreserve() - one rpc less is on its way out
 * @conn: the connection
 */
void mrpc_tx_unreserve(struct mrpc_conn *conn)
{
	int left = atomic_dec_return(&conn->tx_queued);

	if (left <= MRPC_TX_BUDGET && test_bit(MRPC_CONN_TX_FULL, &conn->flags) &&
	    test_and_clear_bit(MRPC_CONN_TX_FULL, &conn->flags))
		mrpc_kick_rx(conn);
	if (!left)
		mrpc_conn_drained(conn);
}

/**
 * mrpc_tx_done() - an rpc is sent, or will not be
 * @conn: the connection
 * @rpc: an rpc on no queue
 */
void mrpc_tx_done(struct mrpc_conn *conn, struct mrpc_rpc *rpc)
{
	struct mrpc_call *call = rpc->call;

	mrpc_tx_unreserve(conn);
	mrpc_call_sent_put(call);
	mrpc_call_put(call);
}

/**
 * mrpc_tx_out() - an rpc is behind the engines
 * @conn: the connection
 * @rpc: an rpc on no queue
 */
void mrpc_tx_out(struct mrpc_conn *conn, struct mrpc_rpc *rpc)
{
	if (rpc->drop) {
		mrpc_tx_done(conn, rpc);
		return;
	}
	rpc->wired = true;
	if (unlikely(rpc->call->via && rpc->call->via != conn)) {
		mrpc_carry_send(conn, rpc);
		return;
	}
	if (unlikely(READ_ONCE(conn->adds)))
		mrpc_link_dress(conn, rpc);
	mrpc_queue_push(&conn->path[MRPC_TX].out, rpc);
}

/* The peer never hears of this call: its slot is free. Return: it was still waited for. */
static bool mrpc_tx_unstart(struct mrpc_call *call)
{
	bool mine = mrpc_call_give_up(call);

	if (call->via)
		mrpc_carry_undo(call);
	return mine;
}

/**
 * mrpc_tx_rejected() - an engine has rejected an rpc on its way out
 * @conn: the connection
 * @rpc: an rpc on no queue
 */
void mrpc_tx_rejected(struct mrpc_conn *conn, struct mrpc_rpc *rpc)
{
	struct mrpc_call *call = rpc->call;

	if (call->role == MRPC_ROLE_SERVER) {
		mrpc_rpc_to_status(rpc, rpc->status, rpc->detail);
		mrpc_tx_out(conn, rpc);
		return;
	}
	rpc->drop = true;
	if (mrpc_tx_unstart(call))
		mrpc_call_abort(call, rpc->status, rpc->detail);
	mrpc_tx_done(conn, rpc);
}

/*
 * A call is given up. If it is still among the engines, or behind us in the
 * queue, it is not sent, and neither is this; its blocks are free at once unless
 * an engine has them.
 */
static void mrpc_tx_cancel(struct mrpc_conn *conn, struct mrpc_rpc *rpc)
{
	struct mrpc_rpc *target = &rpc->call->target->rpc;

	if (target->wired) {
		mrpc_carry_cancel(rpc->call);
		mrpc_tx_out(conn, rpc);
		return;
	}
	target->drop = true;
	mrpc_tx_unstart(target->call);
	if (mrpc_chain_withdraw(conn, target))
		mrpc_tx_done(conn, target);
	mrpc_tx_done(conn, rpc);
	mrpc_conn_drained(conn);
}

/* A control frame, or a status that the kernel gives: past the engines. */
static void mrpc_tx_control(struct mrpc_conn *conn, struct mrpc_rpc *rpc)
{
	struct mrpc_path *path = &conn->path[MRPC_TX];

	if (rpc->frame.type == MRPC_WIRE_FEATURES_ACK) {
		mrpc_features_answer(&conn->features, rpc->frame.call_id);
		mrpc_link_agreed(conn);
	} else if (rpc->frame.type == MRPC_WIRE_BYE && path->late) {
		mrpc_tx_done(conn, rpc);	/* one says it all */
		return;
	} else if (rpc->frame.type == MRPC_WIRE_BYE && path->held) {
		path->late = rpc;	/* not before what was called earlier */
		return;
	}
	mrpc_tx_out(conn, rpc);
}

static void mrpc_tx_sort(struct mrpc_conn *conn, struct mrpc_rpc *rpc)
{
	if (rpc->call->target)
		mrpc_tx_cancel(conn, rpc);
	else if (rpc->call->role == MRPC_ROLE_CONTROL)
		mrpc_tx_control(conn, rpc);
	else if (rpc->drop || !mrpc_chain_wants(conn, MRPC_TX) ||
		 mrpc_chain_enter(conn, MRPC_TX, rpc))
		mrpc_tx_out(conn, rpc);
}

/* Take what was submitted since the last look, keeping its order. */
static void mrpc_tx_take(struct mrpc_conn *conn)
{
	struct llist_node *node = llist_del_all(&conn->txq);

	if (node && node->next)
		node = llist_reverse_order(node);
	while (node) {
		struct mrpc_rpc *rpc = llist_entry(node, struct mrpc_rpc, node);

		node = node->next;
		mrpc_tx_sort(conn, rpc);
	}
}

/* Fill the queue of the link. Return: true: the engines want another turn. */
static bool mrpc_tx_fill(struct mrpc_conn *conn)
{
	struct mrpc_path *path = &conn->path[MRPC_TX];
	bool again = false;

	if (!llist_empty(&conn->txq))
		mrpc_tx_take(conn);
	if (path->held)
		again = mrpc_chain_run(conn, MRPC_TX);
	if (path->late && !path->held) {
		mrpc_tx_out(conn, path->late);
		path->late = NULL;
	}
	return again;
}

static void mrpc_tx_drop(struct mrpc_conn *conn)
{
	struct mrpc_path *path = &conn->path[MRPC_TX];
	struct mrpc_rpc *rpc;

	mrpc_tx_take(conn);
	mrpc_chain_purge(conn, MRPC_TX);
	if (path->late)
		mrpc_tx_done(conn, path->late);
	path->late = NULL;
	while ((rpc = mrpc_queue_peek(&path->out))) {
		mrpc_queue_del(&path->out, rpc);
		mrpc_tx_done(conn, rpc);
	}
}

/* The link has all of an rpc. */
static void mrpc_tx_complete(struct mrpc_conn *conn, struct mrpc_rpc *rpc)
{
	struct mrpc_call *call = rpc->call;

	conn->stats.tx_frames++;
	conn->stats.tx_bytes += mrpc_rpc_total(rpc);
	if (unlikely(rpc->frame.type == MRPC_WIRE_FEATURES_ACK))
		mrpc_features_answered(&conn->features);
	if (call->stamped)
		WRITE_ONCE(call->times.transmit, ktime_get_ns());
	trace_mrpc_transmit(conn, call);
	mrpc_queue_del(&conn->path[MRPC_TX].out, rpc);
	mrpc_tx_done(conn, rpc);
}

/* Give one rpc to the link. Return: as mrpc_transport_ops.send. */
static int mrpc_tx_one(struct mrpc_conn *conn, struct mrpc_rpc *rpc)
{
	int err;

	if (!rpc->done) {
		mrpc_rpc_marshal(rpc);
	} else if (rpc->done == mrpc_rpc_total(rpc)) {
		mrpc_tx_complete(conn, rpc);	/* all of it has gone with another */
		return 0;
	}
	err = conn->ops->send(conn, rpc, !list_is_last(&rpc->list, &conn->path[MRPC_TX].out.list));
	if (!err)
		mrpc_tx_complete(conn, rpc);
	return err;
}

/* The message behind @rpc, or NULL. */
static struct mrpc_rpc *mrpc_tx_behind(struct mrpc_conn *conn, struct mrpc_rpc *rpc)
{
	return list_is_last(&rpc->list, &conn->path[MRPC_TX].out.list) ? NULL :
	       list_next_entry(rpc, list);
}

/*
 * Give a chunk of an rpc to the link, if it is its turn. Return: 0: there may be
 * more to do; -EAGAIN: mrpc_kick_tx() will be called; else the link is dead.
 */
static int mrpc_tx_chunk(struct mrpc_conn *conn, struct mrpc_domain *d, struct mrpc_rpc *rpc)
{
	u64 before = rpc->done, total = mrpc_rpc_total(rpc);
	u32 bytes;
	int err;

	/* All of it has gone with another before the datapath came to its domain. */
	if (before == total) {
		mrpc_tx_complete(conn, rpc);
		return 0;
	}
	bytes = mrpc_domain_turn(conn, d, rpc);
	if (!bytes)
		return -EAGAIN;
	if (!before)
		mrpc_rpc_marshal(rpc);
	err = conn->ops->send_chunk(conn, rpc, bytes);
	mrpc_domain_sent(conn, d, rpc->done - before,
			 rpc->done == total ? mrpc_tx_behind(conn, rpc) : rpc);
	if (!err && rpc->done == total)
		mrpc_tx_complete(conn, rpc);
	/* Where it took a part there may be another turn now. */
	return err == -EAGAIN && rpc->done > before ? 0 : err;
}

/* What a runtime orders datapaths by. */
static void mrpc_tx_hint(struct mrpc_conn *conn, const struct mrpc_rpc *rpc)
{
	WRITE_ONCE(conn->tx_left, mrpc_rpc_total(rpc) - rpc->done);
	/* Who ranks messages says it of the latest that he has seen. */
	if (rpc->wired || !(READ_ONCE(conn->wants) & MRPC_ENGINE_RANKS))
		WRITE_ONCE(conn->tx_priority, mrpc_rpc_rank(rpc));
}

/**
 * mrpc_tx_next() - the rpc that the link gets after @rpc
 * @conn: the connection
 * @rpc: the one that ops->send was called with, or the one that this returned
 * @bytes: what the transport has gathered since ops->send was called
 *
 * For transports that send several at once. What they take of an rpc they add to
 * its done; in its turn ops->send is called for it only if something of it is left.
 *
 * Context: owner of the transmit claim. Return: the rpc, marshalled; NULL: there
 * is none, or it is the turn of others.
 */
struct mrpc_rpc *mrpc_tx_next(struct mrpc_conn *conn, struct mrpc_rpc *rpc, u64 bytes)
{
	if (list_is_last(&rpc->list, &conn->path[MRPC_TX].out.list) ||
	    conn->stats.tx_bytes + bytes >= conn->tx_until || mrpc_runtime_hurries(conn))
		return NULL;
	rpc = list_next_entry(rpc, list);
	mrpc_rpc_marshal(rpc);
	return rpc;
}
EXPORT_SYMBOL_GPL(mrpc_tx_next);

/*
 * The link, or what came over it, makes the connection end. @why is what is said where
 * @err says no more.
 */
static void mrpc_link_failed(struct mrpc_conn *conn, int err, const char *why)
{
	if (err == -ESHUTDOWN) {
		why = "the peer closed the connection";
	} else if (err == -ECONNREFUSED) {
		why = "nobody serves this address";
		set_bit(MRPC_CONN_REFUSED, &conn->flags);
	} else if (err == -ETIMEDOUT) {
		why = "the peer does not answer";
	} else if (err == -EPROTO) {
		why = "the peer broke the protocol";
	} else if (err == -EBADMSG) {
		why = "a checksum was wrong: what the peer sent is not what came";
		atomic64_inc(&mrpc_net(conn->session->net)->checksum_errors);
	}
	mrpc_conn_close(conn, MRPC_UNAVAILABLE, why, err != -ESHUTDOWN);
}

/* One round of the transmit chain. True: the budget is used up, work is left. */
static bool mrpc_tx_round(struct mrpc_conn *conn, int *budget)
{
	/* It may get its first one meanwhile. */
	struct mrpc_domain *d = conn->ops->send_chunk ?
				rcu_dereference_check(conn->port.domain, true) : NULL;
	u32 turn = READ_ONCE(conn->turn_bytes);
	struct mrpc_rpc *rpc;
	bool again;
	int err;

	conn->tx_until = turn ? conn->stats.tx_bytes + turn : U64_MAX;
	if (test_bit(MRPC_CONN_TX_READY, &conn->flags))
		clear_bit(MRPC_CONN_TX_READY, &conn->flags);
	if (READ_ONCE(conn->state) == MRPC_CONN_CLOSED) {
		if (d)
			mrpc_domain_idle(conn, d);
		mrpc_tx_drop(conn);
		return false;
	}
	if (d)
		smp_mb();	/* before the look for a grant */
	again = mrpc_tx_fill(conn);
	while ((rpc = mrpc_queue_peek(&conn->path[MRPC_TX].out))) {
		if (--*budget < 0 || conn->stats.tx_bytes >= conn->tx_until ||
		    mrpc_runtime_hurries(conn)) {
			mrpc_tx_hint(conn, rpc);
			return true;
		}
		if (test_bit(MRPC_CONN_CHANGING, &conn->flags))
			return false;	/* who changes it kicks */
		err = d ? mrpc_tx_chunk(conn, d, rpc) : mrpc_tx_one(conn, rpc);
		if (err == -EAGAIN)
			return false;
		if (err) {
			mrpc_link_failed(conn, err, "the link failed while sending");
			return false;
		}
		if (mrpc_queue_empty(&conn->path[MRPC_TX].out))
			again |= mrpc_tx_fill(conn);
	}
	return again;
}

static void mrpc_tx_own(struct mrpc_conn *conn)
{
	int budget = MRPC_TX_BUDGET;
	u64 frames;
	bool again;

	/* The budget is for the whole ownership: others may keep coming. */
	do {
		frames = conn->stats.tx_frames;
		again = mrpc_tx_round(conn, &budget);
		if (conn->ops->flush && conn->stats.tx_frames != frames)
			conn->ops->flush(conn);
		if (again) {
			mrpc_claim_yield(&conn->tx);
			mrpc_kick_again(conn, MRPC_CONN_TX_READY);
			return;
		}
	} while (mrpc_claim_end(&conn->tx));
}

static void mrpc_tx_run(struct mrpc_conn *conn)
{
	if (!mrpc_claim_begin(&conn->tx))
		return;
	mrpc_tx_own(conn);
	/* Not while the claim is held: links have claims of their own. */
	if (unlikely(!llist_empty(&conn->touched)))
		mrpc_carry_flush(conn);
}

/**
 * mrpc_datapath_tx() - have the transmit direction run
 * @conn: the connection
 *
 * By its runtime if it has one; else here, unless another context does it.
 *
 * Context: process; may sleep.
 */
void mrpc_datapath_tx(struct mrpc_conn *conn)
{
	if (rcu_access_pointer(conn->runtime))
		mrpc_kick_again(conn, MRPC_CONN_TX_READY);
	else
		mrpc_tx_run(conn);
}

/* One round of the receive chain. Return: as mrpc_transport_ops.recv. */
static int mrpc_rx_round(struct mrpc_conn *conn, struct mrpc_qp *qp, int budget)
{
	bool again = false;
	int n;

	conn->rx_qp = qp;
	if (unlikely(!llist_empty(&conn->rxq)))
		mrpc_rx_take(conn);
	if (conn->path[MRPC_RX].held)
		again = mrpc_chain_run(conn, MRPC_RX);
	n = conn->ops->recv(conn, budget);
	if (again || test_bit(MRPC_CONN_CHANGING, &conn->flags))
		set_bit(MRPC_CONN_RX_READY, &conn->flags);
	/* What waits for room is kicked only where the flag is not set. */
	return again && (n >= 0 || n == -EAGAIN) ? budget : n;
}

static void mrpc_datapath_rx(struct mrpc_conn *conn, struct mrpc_qp *qp)
{
	int budget = MRPC_RX_BUDGET, n;

	if (!mrpc_claim_begin(&conn->rx))
		return;
	do {
		if (!test_and_clear_bit(MRPC_CONN_RX_READY, &conn->flags))
			continue;
		if (READ_ONCE(conn->state) == MRPC_CONN_CLOSED)
			continue;
		n = mrpc_rx_round(conn, qp, budget);
		if (n > 0)
			budget -= n;
		if (budget <= 0) {
			mrpc_claim_yield(&conn->rx);
			mrpc_kick_again(conn, MRPC_CONN_RX_READY);
			return;
		}
		if (n >= 0 || n == -EAGAIN)
			continue;
		mrpc_link_failed(conn, n, "the link failed while receiving");
	} while (mrpc_claim_end(&conn->rx));
}

/**
 * mrpc_datapath_run() - do whatever a datapath has to do now, within budgets
 * @conn: the connection
 * @qp: queue pair of the calling thread, or NULL
 *
 * Who calls it has had a full barrier, or the lock of who kicks, since he took @conn: what was
 * done before a kick that came to nothing is seen.
 *
 * Context: process; may sleep.
 */
void mrpc_datapath_run(struct mrpc_conn *conn, struct mrpc_qp *qp)
{
	if (test_bit(MRPC_CONN_TIMER, &conn->flags) &&
	    test_and_clear_bit(MRPC_CONN_TIMER, &conn->flags))
		mrpc_conn_timeout(conn);
	if (test_bit(MRPC_CONN_RX_READY, &conn->flags))
		mrpc_datapath_rx(conn, qp);
	if (test_bit(MRPC_CONN_TX_READY, &conn->flags) || !llist_empty(&conn->txq))
		mrpc_tx_run(conn);
}

static void mrpc_datapath_work(struct work_struct *work)
{
	struct mrpc_conn *conn = container_of(work, struct mrpc_conn, work);
	struct mem_cgroup *old = set_active_memcg(conn->session->memcg);

	mrpc_datapath_run(conn, NULL);
	set_active_memcg(old);
	mrpc_conn_put(conn);
}

/**
 * mrpc_tx_submit() - put an rpc on a datapath
 * @conn: the connection
 * @rpc: the rpc; the queue takes over one reference to its call, and its first
 *	sent reference
 *
 * The caller runs mrpc_datapath_tx() afterwards, once for a batch.
 * Context: any but hard interrupt.
 */
void mrpc_tx_submit(struct mrpc_conn *conn, struct mrpc_rpc *rpc)
{
	mrpc_tx_reserve(conn);
	mrpc_tx_submit_reserved(conn, rpc);
}

/**
 * mrpc_tx_submit_reserved() - put an rpc on a datapath that has a place for it
 * @conn: the connection
 * @rpc: as for mrpc_tx_submit()
 */
void mrpc_tx_submit_reserved(struct mrpc_conn *conn, struct mrpc_rpc *rpc)
{
	if (rcu_access_pointer(conn->runtime) && atomic_read(&conn->tx_queued) == 1)
		mrpc_tx_hint(conn, rpc);
	llist_add(&rpc->node, &conn->txq);
}

/**
 * mrpc_datapath_purge() - drop everything queued and half received
 * @conn: a CLOSED connection; the caller owns both claims
 */
void mrpc_datapath_purge(struct mrpc_conn *conn)
{
	mrpc_tx_drop(conn);
	mrpc_rx_purge(conn);
	if (conn->sink.active || conn->sink.rx)
		mrpc_sink_drop(conn, &conn->sink);
	mrpc_chain_purge(conn, MRPC_RX);
}

/* Take a connection off the ready list, for one that dies. */
void mrpc_ready_remove(struct mrpc_conn *conn)
{
	struct mrpc_session *session = conn->session;
	u32 refs = 0;

	if (cmpxchg(&session->ready_first, conn, NULL) == conn) {
		clear_bit(MRPC_CONN_LISTED, &conn->flags);
		refs++;
	}
	spin_lock_bh(&session->ready_lock);
	if (!list_empty(&conn->stalled))
		list_del_init(&conn->stalled);
	if (!list_empty(&conn->ready)) {
		list_del_init(&conn->ready);
		clear_bit(MRPC_CONN_LISTED, &conn->flags);
		refs++;
	}
	spin_unlock_bh(&session->ready_lock);
	while (refs--)		/* it may have been listed again in between */
		mrpc_conn_put(conn);
}

/*
 * Take the first of the ready connections, with its reference. Who kicks it from now on
 * lists it again; what he did before is seen by who runs it. Return: NULL: there is none.
 */
static struct mrpc_conn *mrpc_ready_take(struct mrpc_session *session)
{
	struct mrpc_conn *conn = NULL;

	if (READ_ONCE(session->ready_first))
		conn = xchg(&session->ready_first, NULL);
	if (!conn && !list_empty(&session->ready)) {
		spin_lock_bh(&session->ready_lock);
		conn = list_first_entry_or_null(&session->ready, struct mrpc_conn, ready);
		if (conn)
			list_del_init(&conn->ready);
		spin_unlock_bh(&session->ready_lock);
	}
	if (conn) {
		clear_bit(MRPC_CONN_LISTED, &conn->flags);
		smp_mb__after_atomic();	/* pairs with the test_and_set_bit() of who lists it */
	}
	return conn;
}

static struct mrpc_listener *mrpc_ready_take_listener(struct mrpc_session *session)
{
	struct mrpc_listener *l;

	spin_lock_bh(&session->ready_lock);
	l = list_first_entry_or_null(&session->ready_listeners, struct mrpc_listener, ready);
	if (l) {
		list_del_init(&l->ready);
		clear_bit(MRPC_LISTENER_LISTED, &l->flags);
	}
	spin_unlock_bh(&session->ready_lock);
	return l;
}

/**
 * mrpc_datapath_poll() - run one ready connection or listener of a session
 * @session: the session
 * @qp: queue pair of the calling thread, or NULL
 *
 * Context: process; may sleep; in a thread of the session's application.
 * Return: false if none was ready.
 */
bool mrpc_datapath_poll(struct mrpc_session *session, struct mrpc_qp *qp)
{
	struct mrpc_listener *l = NULL;
	struct mrpc_conn *conn;

	/* Listeners first: busy connections must not keep new ones out. */
	if (unlikely(!list_empty(&session->ready_listeners)))
		l = mrpc_ready_take_listener(session);
	if (unlikely(l)) {
		mrpc_listener_run(l);
		mrpc_listener_put(l);
		return true;
	}
	conn = mrpc_ready_take(session);
	if (!conn)
		return false;
	mrpc_datapath_run(conn, qp);
	mrpc_conn_put(conn);
	return true;
}

/**
 * mrpc_ready_handoff() - a polling thread leaves: somebody else must look
 * @session: the session
 *
 * Context: any but hard interrupt. Listeners stay on their list for the next thread that
 * enters: accepted sockets are charged to the application.
 */
void mrpc_ready_handoff(struct mrpc_session *session)
{
	struct mrpc_conn *conn;

	smp_mb();	/* pairs with the one after an entry in mrpc_list_ready() */
	if (!list_empty(&session->ready_listeners)) {
		smp_mb();	/* who did not see this entry is seen */
		if (!mrpc_wake_one(&session->pollers))
			mrpc_qp_set_pending(session);
	}
	while (mrpc_session_ready(session)) {
		smp_mb();	/* likewise */
		if (mrpc_wake_one(&session->pollers))
			return;
		conn = mrpc_ready_take(session);
		if (conn) {
			mrpc_queue_work(conn);
			mrpc_conn_put(conn);
		}
	}
}

/**
 * mrpc_datapath_unstall() - receive heap has become free
 * @session: the session
 */
void mrpc_datapath_unstall(struct mrpc_session *session)
{
	struct mrpc_conn *conn;
	LIST_HEAD(now);

	/* Those that stall again meanwhile wait for the next release. */
	spin_lock_bh(&session->ready_lock);
	list_splice_init(&session->stalled, &now);
	while (!list_empty(&now)) {
		conn = list_first_entry(&now, struct mrpc_conn, stalled);
		list_del_init(&conn->stalled);
		mrpc_conn_get(conn);
		spin_unlock_bh(&session->ready_lock);
		mrpc_kick_rx(conn);
		mrpc_conn_put(conn);
		spin_lock_bh(&session->ready_lock);
	}
	spin_unlock_bh(&session->ready_lock);
}

/**
 * mrpc_datapath_init() - prepare a new connection's datapath
 * @conn: the connection
 */
void mrpc_datapath_init(struct mrpc_conn *conn)
{
	mrpc_claim_init(&conn->tx);
	mrpc_claim_init(&conn->rx);
	mrpc_claim_disable(&conn->rx);	/* until mrpc_conn_publish() */
	init_llist_head(&conn->txq);
	mrpc_chain_init(conn);
	INIT_LIST_HEAD(&conn->ready);
	INIT_LIST_HEAD(&conn->stalled);
	INIT_WORK(&conn->work, mrpc_datapath_work);
	hrtimer_init(&conn->timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT);
	conn->timer.function = mrpc_timer_fired;
}
