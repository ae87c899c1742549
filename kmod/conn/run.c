// SPDX-License-Identifier: GPL-2.0
/* Running a connection: moves messages between its link and its application. */
#include <linux/hrtimer.h>
#include <linux/list.h>

#include "call/receive.h"
#include "call/receive_parked.h"
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
#include "exec/stall.h"
#include "group/run.h"
#include "lib/ds/claim.h"

#define MRPC_RX_BUDGET	64	/* frames before others get a turn */

/* Runs one round of the receive chain. Return: as mrpc_transport_ops.recv. */
static int mrpc_rx_round(struct mrpc_conn *conn, struct mrpc_qp *qp, int budget)
{
	bool again = false;
	int n;

	conn->receive.qp = qp;
	if (unlikely(!llist_empty(&conn->dp.from_links)))
		mrpc_rx_take(conn);
	if (conn->dp.path[MRPC_RX].held)
		again = mrpc_chain_run(conn, MRPC_RX);
	n = conn->link.ops->recv(&conn->link, budget);
	/* All that has come was read, so what waited for room is not wanted any more. */
	if (unlikely(mrpc_stalled(conn)) && n >= 0 && n < budget &&
	    !test_bit(MRPC_CONN_CHANGING, &conn->flags))
		mrpc_stall_end(conn);
	mrpc_stall_ran(conn);
	if (again || test_bit(MRPC_CONN_CHANGING, &conn->flags))
		set_bit(MRPC_CONN_RX_READY, &conn->flags);
	/* Those that wait for room are kicked only if the flag is not set. */
	return again && (n >= 0 || n == -EAGAIN) ? budget : n;
}

static void mrpc_datapath_rx(struct mrpc_conn *conn, struct mrpc_qp *qp)
{
	int budget = MRPC_RX_BUDGET, n;

	if (!mrpc_claim_begin(&conn->exec.rx))
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
			mrpc_claim_yield(&conn->exec.rx);
			mrpc_kick_again(conn, MRPC_CONN_RX_READY);
			return;
		}
		if (n >= 0 || n == -EAGAIN)
			continue;
		mrpc_link_failed(conn, n, "the link failed while receiving");
	} while (mrpc_claim_end(&conn->exec.rx));
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
	if (unlikely(test_bit(MRPC_CONN_MEMBER, &conn->flags)) &&
	    test_and_clear_bit(MRPC_CONN_MEMBER, &conn->flags))
		mrpc_member_run(conn->member);
	if (test_bit(MRPC_CONN_TX_READY, &conn->flags) || !llist_empty(&conn->dp.submitted))
		mrpc_tx_run(conn);
}

static void mrpc_datapath_work(struct work_struct *work)
{
	struct mrpc_conn *conn = container_of(work, struct mrpc_conn, exec.work);
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
	if (conn->receive.sink.active || conn->receive.sink.rx)
		mrpc_sink_drop(&conn->link, &conn->receive.sink);
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
	struct mrpc_exec *exec = &conn->exec;

	mrpc_claim_init(&exec->tx);
	mrpc_claim_init(&exec->rx);
	mrpc_claim_disable(&exec->rx);	/* until mrpc_conn_publish() */
	init_llist_head(&conn->dp.submitted);
	mrpc_chain_init(&conn->dp);
	conn->dp.path[MRPC_TX].ops = &mrpc_tx_path_ops;
	conn->dp.path[MRPC_RX].ops = &mrpc_rx_path_ops;
	exec->run = mrpc_datapath_run;
	INIT_LIST_HEAD(&exec->ready);
	INIT_LIST_HEAD(&exec->stalled);
	INIT_LIST_HEAD(&exec->runtime_uses);
	INIT_WORK(&exec->work, mrpc_datapath_work);
	hrtimer_init(&exec->timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT);
	exec->timer.function = mrpc_timer_fired;
}
