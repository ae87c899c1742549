// SPDX-License-Identifier: GPL-2.0
/*
 * Pausing a datapath: a thread that is no owner of its claims takes both.
 */
#include <linux/delay.h>
#include <linux/list.h>
#include <linux/sched/signal.h>

#include "core/conn.h"
#include "core/rpc.h"
#include "exec/kick.h"
#include "exec/pause.h"
#include "lib/ds/claim.h"

/* Wait for one claim. Under conn->dp.change_lock. */
static int mrpc_claim_take(struct mrpc_claim *claim, bool patient)
{
	if (mrpc_claim_disable(claim))
		return 0;
	while (!mrpc_claim_idle(claim)) {
		if (!patient && signal_pending(current))
			return -EINTR;
		usleep_range(10, 50);
	}
	return 0;
}

/**
 * mrpc_datapath_resume() - give both claims of a datapath back
 * @conn: the connection; under its change_lock
 * @all: kick both directions in any case: an owner may be leaving early right now, and does not
 *	know that no thread waits any more
 *
 * Runners that found the claims taken, or left early, run again.
 */
void mrpc_datapath_resume(struct mrpc_conn *conn, bool all)
{
	const struct mrpc_path *out = &conn->dp.path[MRPC_TX], *in = &conn->dp.path[MRPC_RX];
	bool tx = all || out->held || out->late || !mrpc_queue_empty(&out->out) ||
		  !llist_empty(&conn->dp.touched);
	bool rx = all || in->held;

	clear_bit(MRPC_CONN_CHANGING, &conn->flags);
	tx |= mrpc_claim_enable(&conn->exec.tx);
	rx |= mrpc_claim_enable(&conn->exec.rx);
	/* These may have put it on a runtime that it has left before its turn came. */
	tx |= test_bit(MRPC_CONN_TIMER, &conn->flags) || test_bit(MRPC_CONN_MEMBER, &conn->flags);
	if (tx || test_bit(MRPC_CONN_TX_READY, &conn->flags))
		mrpc_kick_again(conn, MRPC_CONN_TX_READY);
	if (rx || test_bit(MRPC_CONN_RX_READY, &conn->flags))
		mrpc_kick_again(conn, MRPC_CONN_RX_READY);
}

/**
 * mrpc_datapath_pause() - take both claims of a datapath
 * @conn: the connection; under its change_lock
 * @patient: no signal ends it
 *
 * Context: process; waits until the owners of the claims are between two rpcs.
 * Return: 0: give the claims back with mrpc_datapath_resume(); -EINTR; -ESHUTDOWN: the connection
 * has ended.
 */
int mrpc_datapath_pause(struct mrpc_conn *conn, bool patient)
{
	int err;

	if (READ_ONCE(conn->state) == MRPC_CONN_CLOSED)
		return -ESHUTDOWN;
	set_bit(MRPC_CONN_CHANGING, &conn->flags);
	err = mrpc_claim_take(&conn->exec.tx, patient);
	if (!err)
		err = mrpc_claim_take(&conn->exec.rx, patient);
	/* The last claim owners may have ended it, and left a message with a head that they lent. */
	if (!err && READ_ONCE(conn->state) == MRPC_CONN_CLOSED)
		err = -ESHUTDOWN;
	if (err)
		mrpc_datapath_resume(conn, true);
	return err;
}

/**
 * mrpc_datapath_hold() - take both claims of a datapath, and its change_lock
 * @conn: a connection of mrpc_net.datapaths
 *
 * Nothing passes the datapath until mrpc_datapath_release(): be quick.
 *
 * Context: process; waits, interruptibly.
 * Return: 0; -EINTR; -ESHUTDOWN: the connection has ended.
 */
int mrpc_datapath_hold(struct mrpc_conn *conn)
{
	int err = mutex_lock_interruptible(&conn->dp.change_lock);

	if (err)
		return err;
	err = mrpc_datapath_pause(conn, false);
	if (err)
		mutex_unlock(&conn->dp.change_lock);
	return err;
}

/**
 * mrpc_datapath_release() - undo mrpc_datapath_hold()
 * @conn: the connection
 */
void mrpc_datapath_release(struct mrpc_conn *conn)
{
	mrpc_datapath_resume(conn, false);
	mutex_unlock(&conn->dp.change_lock);
}
