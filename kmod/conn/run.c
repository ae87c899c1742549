// SPDX-License-Identifier: GPL-2.0
/* Running a connection: moves messages between its link and its application. */
#include <linux/hrtimer.h>
#include <linux/list.h>

#include "call/receive.h"
#include "call/receive_staged.h"
#include "call/tx.h"
#include "chain/chain.h"
#include "conn/run.h"
#include "conn/timer.h"
#include "core/conn.h"
#include "core/qp.h"
#include "core/rpc.h"
#include "core/session.h"
#include "exec/kick.h"
#include "lib/ds/claim.h"

#define MRPC_RX_BUDGET	64	/* frames before others get a turn */

/* Runs one round of the receive chain. Return: as mrpc_transport_ops.recv. */
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
	/* Those that wait for room are kicked only if the flag is not set. */
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
 * mrpc_datapath_run() - do all that a datapath has to do now, within budgets
 * @conn: the connection
 * @qp: queue pair of the calling thread, or NULL
 *
 * Since it took @conn, the caller has had a full barrier, or the lock of the kicking thread. So it
 * sees what was done before a kick that had no effect.
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
 * mrpc_datapath_purge() - drop everything that is queued or half received
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

static const struct mrpc_path_ops mrpc_tx_path_ops = {
	.passed		= mrpc_tx_out,
	.rejected	= mrpc_tx_rejected,
	.dropped	= mrpc_tx_done,
};

static const struct mrpc_path_ops mrpc_rx_path_ops = {
	.passed		= mrpc_rx_out,
	.rejected	= mrpc_rx_rejected,
	.dropped	= mrpc_rx_drop,
};

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
	conn->path[MRPC_TX].ops = &mrpc_tx_path_ops;
	conn->path[MRPC_RX].ops = &mrpc_rx_path_ops;
	conn->run = mrpc_datapath_run;
	INIT_LIST_HEAD(&conn->ready);
	INIT_LIST_HEAD(&conn->stalled);
	INIT_WORK(&conn->work, mrpc_datapath_work);
	hrtimer_init(&conn->timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT);
	conn->timer.function = mrpc_timer_fired;
}
