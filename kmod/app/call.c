// SPDX-License-Identifier: GPL-2.0
/* MRPC_IOC_CALL: a call and its reply in one system call. */
#include <linux/sched/signal.h>
#include <linux/xarray.h>

#include "app/call.h"
#include "app/poll.h"
#include "call/client.h"
#include "call/tx.h"
#include "core/call.h"
#include "core/calls.h"
#include "core/conn.h"
#include "core/rpc.h"
#include "exec/control_frame.h"
#include "exec/recv_free.h"

#define MRPC_PARKED_MAX	16384	/* calls of a session that wait for their threads */

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
	mine = mrpc_calls_abandon(conn, call->id);
	spin_unlock(&conn->lock);
	if (!mine)
		return;
	mrpc_call_abort(mine, MRPC_CANCELLED, "interrupted by a signal");
	if (!mrpc_conn_send_cancel(conn, call))
		mrpc_datapath_tx(conn);
}

/*
 * Waits until the call is done. After a fatal signal it does not wait for pages under way. Their
 * readers hold the heap, and no thread of the dying process can reuse the pages.
 */
static void mrpc_sync_settle(struct mrpc_call *call)
{
	while (!mrpc_sync_done(call)) {
		set_current_state(TASK_KILLABLE);
		if (!mrpc_sync_done(call))
			schedule_timeout(HZ / 10);
		__set_current_state(TASK_RUNNING);
		if (fatal_signal_pending(current)) {
			WRITE_ONCE(call->waiter, NULL);
			return;
		}
		mrpc_datapath_poll(call->session, NULL);
	}
}

/*
 * Parks the call of a thread that a signal interrupts. The call goes on. After a stop, a freeze or
 * a handler with SA_RESTART the same ioctl comes again, and finds the call by its token. After any
 * other handler the application decides.
 * Return: false: the thread is dying, or too many calls are parked.
 */
static bool mrpc_sync_park(struct mrpc_session *session, struct mrpc_call *call, u32 *token)
{
	if (fatal_signal_pending(current))
		return false;
	WRITE_ONCE(call->waiter, NULL);
	if (xa_alloc_cyclic(&session->parked, token, call, XA_LIMIT(1, MRPC_PARKED_MAX),
			    &session->next_parked, GFP_KERNEL_ACCOUNT) >= 0)
		return true;
	WRITE_ONCE(call->waiter, current);
	*token = 0;
	return false;
}

/* Takes a parked call. The calling thread then owns it, whichever thread parked it. */
static struct mrpc_call *mrpc_sync_unpark(struct mrpc_session *session, u32 *token)
{
	struct mrpc_call *call = xa_erase(&session->parked, *token);

	*token = 0;
	if (call)
		WRITE_ONCE(call->waiter, current);
	return call;
}

/**
 * mrpc_parked_end() - drop the parked calls: no thread comes back for them
 * @session: a session that is closing
 *
 * Context: process.
 */
void mrpc_parked_end(struct mrpc_session *session)
{
	struct mrpc_call *call;
	unsigned long token;

	xa_for_each(&session->parked, token, call) {
		xa_erase(&session->parked, token);
		mrpc_call_put(call);
		cond_resched();
	}
}

/* Return: 0: @args has the completion. -EINTR: the caller is dying, or the call was cancelled. */
static int mrpc_sync_end(struct mrpc_session *session, struct mrpc_call *call,
			 struct mrpc_call_sync *args)
{
	mrpc_sync_cancel(call);
	mrpc_sync_settle(call);
	if (!mrpc_sync_done(call))	/* this thread is dying; the call may still be written */
		return -EINTR;
	/* If it completed while the signal came, the completion counts. */
	if (args->flags & MRPC_CALL_CANCEL || call->cqe.status != MRPC_CANCELLED) {
		args->cqe = call->cqe;
		return 0;
	}
	if (call->cqe.flags & MRPC_CQE_BLOCK)
		mrpc_release(session, &call->cqe.block, 1);
	return -EINTR;
}

static int mrpc_sync_wait(struct mrpc_session *session, struct mrpc_call *call,
			  struct mrpc_call_sync *args)
{
	int err;

	if (args->flags & MRPC_CALL_CANCEL) {
		err = mrpc_sync_end(session, call, args);
	} else if (!mrpc_wait(session, NULL, mrpc_sync_done, call, U64_MAX)) {
		args->cqe = call->cqe;
		err = 0;
	} else {
		if (mrpc_sync_park(session, call, &args->token))
			return -ERESTARTSYS;
		err = mrpc_sync_end(session, call, args);
	}
	mrpc_call_put(call);
	return err;
}

/**
 * mrpc_qp_call() - MRPC_IOC_CALL: carry out one call, start to end, in this thread
 * @session: the session
 * @args: the call, and blocks that are released first; the completion or the token is filled in
 *
 * Context: process. Return: 0 (the status is in the completion); -ERESTARTSYS: the call goes on
 * under its token; -EINTR: it was cancelled; -EINVAL: not a call; -ENOENT: no call has this token.
 */
int mrpc_qp_call(struct mrpc_session *session, struct mrpc_call_sync *args)
{
	struct mrpc_conn *conn;
	struct mrpc_call *call;
	int err;

	if (args->sqe.op != MRPC_OP_CALL || args->nr > MRPC_RELEASE_MAX ||
	    args->flags & ~MRPC_CALL_CANCEL || (args->flags && !args->token))
		return -EINVAL;
	if (args->token) {
		call = mrpc_sync_unpark(session, &args->token);
		return call ? mrpc_sync_wait(session, call, args) : -ENOENT;
	}
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
	return mrpc_sync_wait(session, call, args);
}
