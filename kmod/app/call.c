// SPDX-License-Identifier: GPL-2.0
/* MRPC_IOC_CALL: a call and its reply in one system call. */
#include <linux/nospec.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>

#include "app/call.h"
#include "app/poll.h"
#include "call/client.h"
#include "call/tx.h"
#include "core/call.h"
#include "core/conn.h"
#include "core/rpc.h"
#include "exec/control_frame.h"
#include "exec/recv_free.h"
#include "lib/ds/deadline.h"
#include "lib/message/calltable.h"

#define MRPC_SYNC_DONE	(BIT(MRPC_CALL_DONE) | BIT(MRPC_CALL_SENT))

static bool mrpc_sync_done(void *ctx)
{
	struct mrpc_call *call = ctx;

	/* Acquire: call->cqe is read after this. */
	return (smp_load_acquire(&call->flags) & MRPC_SYNC_DONE) == MRPC_SYNC_DONE;
}

static void mrpc_sync_cancel(struct mrpc_call *call)
{
	struct mrpc_conn *conn = call->conn;
	struct mrpc_call *mine;

	spin_lock(&conn->lock);
	mine = mrpc_call_abandon(&conn->calls, call->id);
	if (mine) {
		mrpc_deadlines_del(&conn->deadlines, &mine->deadline);
		conn->stats.failed++;
	}
	spin_unlock(&conn->lock);
	if (!mine)
		return;
	mrpc_call_abort(mine, MRPC_CANCELLED, "interrupted by a signal");
	if (!mrpc_conn_send_cancel(conn, call))
		mrpc_datapath_tx(conn);
}

/*
 * A fatal signal does not wait for pages under way: whoever still reads them
 * holds the heap, and nobody is left to reuse it.
 */
static void mrpc_sync_settle(struct mrpc_call *call)
{
	while (!mrpc_sync_done(call)) {
		set_current_state(TASK_KILLABLE);
		if (!mrpc_sync_done(call))
			schedule_timeout(HZ / 10);
		__set_current_state(TASK_RUNNING);
		if (fatal_signal_pending(current)) {
			get_task_struct(current);
			set_bit(MRPC_CALL_ORPHAN, &call->flags);
			return;
		}
		mrpc_datapath_poll(call->session, NULL);
	}
}

/**
 * mrpc_qp_call() - MRPC_IOC_CALL: one call, start to end, in this thread
 * @session: the session
 * @args: the call, and blocks that come back first; the completion is filled
 *
 * Context: process. Return: 0 (the status is in the completion); -EINTR; -EINVAL: there is no call.
 */
int mrpc_qp_call(struct mrpc_session *session, struct mrpc_call_sync *args)
{
	struct mrpc_conn *conn;
	struct mrpc_call *call;
	int err;

	if (args->sqe.op != MRPC_OP_CALL || args->nr > MRPC_RELEASE_MAX)
		return -EINVAL;
	if (args->nr) {
		err = mrpc_release(session, args->blocks, args->nr);
		if (err)
			return err;
	}
	conn = mrpc_conn_find(session, args->sqe.conn);
	err = mrpc_call_submit(session, conn, &args->sqe, NULL, &call, &args->cqe);
	if (!err)
		mrpc_datapath_tx(conn);
	if (conn)
		mrpc_conn_put(conn);
	if (err)
		return 0;
	err = mrpc_wait(session, NULL, mrpc_sync_done, call, U64_MAX);
	if (err) {
		mrpc_sync_cancel(call);
		mrpc_sync_settle(call);
		if (!mrpc_sync_done(call))	/* we are dying: somebody may be writing it */
			goto out;
		/* It may have completed while the signal came: then it counts. */
		if (call->cqe.status != MRPC_CANCELLED)
			err = 0;
		else if (call->cqe.flags & MRPC_CQE_BLOCK)
			mrpc_release(session, &call->cqe.block, 1);
	}
	args->cqe = call->cqe;
out:
	mrpc_call_put(call);
	return err;
}
