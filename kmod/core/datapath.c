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

#include "conn.h"
#include "session.h"
#include "trace.h"

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
	spin_lock_bh(&session->ready_lock);
	list_add_tail(&conn->ready, &session->ready);
	spin_unlock_bh(&session->ready_lock);
	/* The last poller may have left between our look and the entry. Pairs
	 * with the barrier in mrpc_ready_handoff(): one of us sees the other.
	 */
	if (wq_has_sleeper(&session->pollers))
		wake_up(&session->pollers);
	else
		mrpc_ready_handoff(session);
}

/* Make somebody run the datapath. Any context but hard interrupt. */
static void mrpc_kick(struct mrpc_conn *conn)
{
	/* The barrier inside pairs with the one of prepare_to_wait in
	 * mrpc_wait(): either we see the sleeper, or it sees the flag.
	 */
	if (wq_has_sleeper(&conn->session->pollers))
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

/*
 * After mrpc_claim_yield(). The flag may be set already, and whoever was called
 * for it may have come, found the claim taken and left: so kick in any case.
 */
static void mrpc_kick_again(struct mrpc_conn *conn, int flag)
{
	set_bit(flag, &conn->flags);
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
 * mrpc_datapath_unhold() - one rpc less is on its way out
 * @conn: the connection
 */
void mrpc_datapath_unhold(struct mrpc_conn *conn)
{
	int left = atomic_dec_return(&conn->tx_queued);

	if (left <= MRPC_TX_BUDGET && test_and_clear_bit(MRPC_CONN_TX_FULL, &conn->flags))
		mrpc_kick_rx(conn);
	if (!left)
		mrpc_conn_drained(conn);
}

static void mrpc_rpc_done(struct mrpc_conn *conn, struct mrpc_rpc *rpc)
{
	struct mrpc_call *call = mrpc_rpc_call(rpc);

	list_del(&rpc->list);
	mrpc_datapath_unhold(conn);
	mrpc_call_sent_put(call);
	mrpc_call_put(call);
}

/* Take what was submitted since the last look, keeping its order. */
static void mrpc_tx_take(struct mrpc_conn *conn)
{
	struct llist_node *node = llist_reverse_order(llist_del_all(&conn->txq));

	while (node) {
		struct mrpc_rpc *rpc = llist_entry(node, struct mrpc_rpc, node);

		node = node->next;
		list_add_tail(&rpc->list, &conn->tx_list);
	}
}

static void mrpc_tx_drop(struct mrpc_conn *conn)
{
	struct mrpc_rpc *rpc, *next;

	mrpc_tx_take(conn);
	list_for_each_entry_safe(rpc, next, &conn->tx_list, list)
		mrpc_rpc_done(conn, rpc);
}

/* One round of the transmit chain. True: the budget is used up, work is left. */
static bool mrpc_tx_round(struct mrpc_conn *conn, int *budget)
{
	clear_bit(MRPC_CONN_TX_READY, &conn->flags);
	if (READ_ONCE(conn->state) == MRPC_CONN_CLOSED) {
		mrpc_tx_drop(conn);
		return false;
	}
	mrpc_tx_take(conn);
	while (!list_empty(&conn->tx_list)) {
		struct mrpc_rpc *rpc = list_first_entry(&conn->tx_list, struct mrpc_rpc, list);
		struct mrpc_call *call = mrpc_rpc_call(rpc);
		bool more;
		int err;

		if (--*budget < 0)
			return true;
		if (!rpc->done)
			mrpc_rpc_marshal(rpc);
		more = !list_is_last(&rpc->list, &conn->tx_list);
		err = conn->ops->send(conn, rpc, more);
		if (err == -EAGAIN)
			return false;
		if (err) {
			mrpc_conn_close(conn, MRPC_UNAVAILABLE, "the link failed while sending",
					true);
			return false;
		}
		conn->stats.tx_frames++;
		conn->stats.tx_bytes += mrpc_rpc_total(rpc);
		if (call->sqe_flags & MRPC_SQE_TIMES)
			WRITE_ONCE(call->times.transmit, ktime_get_ns());
		trace_mrpc_transmit(conn, call);
		mrpc_rpc_done(conn, rpc);
		if (list_empty(&conn->tx_list))
			mrpc_tx_take(conn);
	}
	return false;
}

/**
 * mrpc_datapath_tx() - run the transmit direction
 * @conn: the connection
 *
 * Context: process; may sleep. Does nothing if another context does it.
 */
void mrpc_datapath_tx(struct mrpc_conn *conn)
{
	int budget = MRPC_TX_BUDGET;

	if (!mrpc_claim_begin(&conn->tx))
		return;
	/* The budget is for the whole ownership: others may keep coming. */
	do {
		if (mrpc_tx_round(conn, &budget)) {
			mrpc_claim_yield(&conn->tx);
			mrpc_kick_again(conn, MRPC_CONN_TX_READY);
			return;
		}
	} while (mrpc_claim_end(&conn->tx));
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
		conn->rx_qp = qp;
		n = conn->ops->recv(conn, budget);
		if (n > 0)
			budget -= n;
		if (budget <= 0) {
			mrpc_claim_yield(&conn->rx);
			mrpc_kick_again(conn, MRPC_CONN_RX_READY);
			return;
		}
		if (n >= 0 || n == -EAGAIN)
			continue;
		if (n == -ESHUTDOWN)
			mrpc_conn_close(conn, MRPC_UNAVAILABLE, "the peer closed the connection",
					false);
		else if (n == -EPROTO)
			mrpc_conn_close(conn, MRPC_UNAVAILABLE, "the peer broke the protocol",
					true);
		else
			mrpc_conn_close(conn, MRPC_UNAVAILABLE, "the link failed while receiving",
					true);
	} while (mrpc_claim_end(&conn->rx));
}

/**
 * mrpc_datapath_run() - do whatever a datapath has to do now, within budgets
 * @conn: the connection
 * @qp: queue pair of the calling thread, or NULL
 *
 * Context: process; may sleep.
 */
void mrpc_datapath_run(struct mrpc_conn *conn, struct mrpc_qp *qp)
{
	if (test_and_clear_bit(MRPC_CONN_TIMER, &conn->flags))
		mrpc_conn_timeout(conn);
	if (test_bit(MRPC_CONN_RX_READY, &conn->flags))
		mrpc_datapath_rx(conn, qp);
	if (test_bit(MRPC_CONN_TX_READY, &conn->flags) || !llist_empty(&conn->txq))
		mrpc_datapath_tx(conn);
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
 * mrpc_datapath_submit() - put an rpc on a datapath
 * @conn: the connection
 * @rpc: the rpc; the queue takes over one reference to its call, and its first
 *	sent reference
 *
 * The caller runs mrpc_datapath_tx() afterwards, once for a batch.
 * Context: any but hard interrupt.
 */
void mrpc_datapath_submit(struct mrpc_conn *conn, struct mrpc_rpc *rpc)
{
	mrpc_datapath_hold(conn);
	mrpc_datapath_submit_held(conn, rpc);
}

/**
 * mrpc_datapath_submit_held() - put an rpc on a datapath that was held for it
 * @conn: the connection
 * @rpc: as for mrpc_datapath_submit()
 */
void mrpc_datapath_submit_held(struct mrpc_conn *conn, struct mrpc_rpc *rpc)
{
	llist_add(&rpc->node, &conn->txq);
}

/**
 * mrpc_datapath_purge() - drop everything queued and half received
 * @conn: a CLOSED connection; the caller owns both claims
 */
void mrpc_datapath_purge(struct mrpc_conn *conn)
{
	struct mrpc_sink *sink = &conn->sink;

	mrpc_tx_drop(conn);
	if (!sink->active)
		return;
	if (sink->base)
		mrpc_heap_cancel(&conn->session->recv, sink->block, sink->block_len);
	if (sink->call)
		mrpc_call_put(sink->call);
	memset(sink, 0, sizeof(*sink));
}

/* Take a connection off the ready list, for one that dies. */
void mrpc_ready_remove(struct mrpc_conn *conn)
{
	struct mrpc_session *session = conn->session;
	bool listed = false;

	spin_lock_bh(&session->ready_lock);
	if (!list_empty(&conn->stalled))
		list_del_init(&conn->stalled);
	if (!list_empty(&conn->ready)) {
		list_del_init(&conn->ready);
		clear_bit(MRPC_CONN_LISTED, &conn->flags);
		listed = true;
	}
	spin_unlock_bh(&session->ready_lock);
	if (listed)
		mrpc_conn_put(conn);
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
	struct mrpc_conn *conn = NULL;

	if (list_empty(&session->ready) && list_empty(&session->ready_listeners))
		return false;
	spin_lock_bh(&session->ready_lock);
	/* Listeners first: busy connections must not keep new ones out. */
	if (!list_empty(&session->ready_listeners)) {
		l = list_first_entry(&session->ready_listeners, struct mrpc_listener, ready);
		list_del_init(&l->ready);
		clear_bit(MRPC_LISTENER_LISTED, &l->flags);
	} else if (!list_empty(&session->ready)) {
		conn = list_first_entry(&session->ready, struct mrpc_conn, ready);
		list_del_init(&conn->ready);
		clear_bit(MRPC_CONN_LISTED, &conn->flags);
	}
	spin_unlock_bh(&session->ready_lock);
	if (conn) {
		mrpc_datapath_run(conn, qp);
		mrpc_conn_put(conn);
	} else if (l) {
		mrpc_listener_run(l);
		mrpc_listener_put(l);
	}
	return conn || l;
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
		if (wq_has_sleeper(&session->pollers))
			wake_up(&session->pollers);
		else
			mrpc_qp_set_pending(session);
	}
	while (!list_empty(&session->ready)) {
		if (wq_has_sleeper(&session->pollers)) {
			wake_up(&session->pollers);
			return;
		}
		spin_lock_bh(&session->ready_lock);
		conn = list_first_entry_or_null(&session->ready, struct mrpc_conn, ready);
		if (conn) {
			list_del_init(&conn->ready);
			clear_bit(MRPC_CONN_LISTED, &conn->flags);
		}
		spin_unlock_bh(&session->ready_lock);
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
	INIT_LIST_HEAD(&conn->tx_list);
	INIT_LIST_HEAD(&conn->ready);
	INIT_LIST_HEAD(&conn->stalled);
	INIT_WORK(&conn->work, mrpc_datapath_work);
	hrtimer_init(&conn->timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT);
	conn->timer.function = mrpc_timer_fired;
}
