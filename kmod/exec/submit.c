// SPDX-License-Identifier: GPL-2.0
/* Submitting rpcs to the transmit queue of a datapath, from any context. */
#include "core/conn.h"
#include "core/engine.h"
#include "core/rpc.h"
#include "exec/kick.h"
#include "exec/submit.h"

/**
 * mrpc_tx_unreserve() - give back the place of an rpc that has left
 * @conn: the connection
 */
void mrpc_tx_unreserve(struct mrpc_conn *conn)
{
	int left = atomic_dec_return(&conn->dp.tx_queued);

	if (left <= MRPC_TX_BUDGET && test_bit(MRPC_CONN_TX_FULL, &conn->flags) &&
	    test_and_clear_bit(MRPC_CONN_TX_FULL, &conn->flags))
		mrpc_kick_rx(conn);
	if (!left)
		mrpc_conn_drained(conn);
}

/* Notes the values by which a runtime orders datapaths. */
void mrpc_tx_hint(struct mrpc_conn *conn, const struct mrpc_rpc *rpc)
{
	WRITE_ONCE(conn->exec.hint.left, mrpc_rpc_total(rpc) - rpc->done);
	/* An engine that ranks messages tells the rank of the latest that it has seen. */
	if (rpc->wired || !(READ_ONCE(conn->dp.wants) & MRPC_ENGINE_RANKS))
		WRITE_ONCE(conn->exec.hint.priority, mrpc_rpc_rank(rpc));
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
	if (rcu_access_pointer(conn->exec.runtime) && atomic_read(&conn->dp.tx_queued) == 1)
		mrpc_tx_hint(conn, rpc);
	llist_add(&rpc->node, &conn->dp.submitted);
}
