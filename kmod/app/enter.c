// SPDX-License-Identifier: GPL-2.0
/* MRPC_IOC_ENTER: takes submissions, and waits for completions. */
#include <linux/ktime.h>
#include <linux/list.h>
#include <linux/nospec.h>
#include <linux/poll.h>
#include <linux/sched/signal.h>

#include "app/enter.h"
#include "app/poll.h"
#include "call/client.h"
#include "call/flow_grant.h"
#include "call/flow_rx.h"
#include "call/flow_tx.h"
#include "call/server.h"
#include "call/tx.h"
#include "core/conn.h"
#include "core/qp.h"
#include "core/session.h"
#include "exec/recv_free.h"
#include "group/submit.h"
#include "lib/ds/ring.h"

#define MRPC_ENTER_CONNS	16	/* connections whose datapaths run together */
#define MRPC_ENTER_WORK	(100 * NSEC_PER_USEC)	/* for ready datapaths, besides waiting */

/*
 * Connections that entries have named, with datapaths that have not run since. Calls of several
 * entries to one connection leave together, even with entries for others between them.
 *
 * On the stack of the submitting thread, with a reference to each connection.
 */
struct mrpc_enter_batch {
	u32 nr;
	struct mrpc_conn *conns[MRPC_ENTER_CONNS];
};

static void mrpc_enter_flush(struct mrpc_enter_batch *batch)
{
	u32 i;

	for (i = 0; i < batch->nr; i++) {
		mrpc_datapath_tx(batch->conns[i]);
		mrpc_conn_put(batch->conns[i]);
	}
	batch->nr = 0;
}

/* Finds the connection that the application calls @id, and adds it to the batch. */
static noinline struct mrpc_conn *mrpc_enter_find(struct mrpc_session *session,
						  struct mrpc_enter_batch *batch, u32 id)
{
	struct mrpc_conn *conn = mrpc_conn_find(session, id);

	if (!conn)
		return NULL;
	if (batch->nr == MRPC_ENTER_CONNS)
		mrpc_enter_flush(batch);
	batch->conns[batch->nr++] = conn;
	return conn;
}

/*
 * As mrpc_enter_find(), but looks in the batch first. A connection in the batch keeps its id until
 * it is forgotten, so it need not be looked up again. Return: the connection, or NULL. The batch
 * holds the reference, so the datapath will run.
 */
static struct mrpc_conn *mrpc_enter_conn(struct mrpc_session *session,
					 struct mrpc_enter_batch *batch, u32 id)
{
	u32 i = batch->nr;

	while (i--) {
		struct mrpc_conn *conn = batch->conns[i];

		if (conn->id == id && !test_bit(MRPC_CONN_FORGOTTEN, &conn->flags))
			return conn;
	}
	return mrpc_enter_find(session, batch, id);
}

static void mrpc_enter_nop(struct mrpc_qp *qp, const struct mrpc_sqe *sqe, u16 status)
{
	struct mrpc_cqe cqe = {
		.user_data = sqe->user_data,
		.type = status == MRPC_OK ? MRPC_CQE_NOP : MRPC_CQE_ERROR,
		.status = status,
	};

	mrpc_qp_post(qp, &cqe);
}

/* Returns the room that one entry may need in the completion queue. */
static u32 mrpc_enter_room(const struct mrpc_sqe *sqe)
{
	return sqe->op == MRPC_OP_CALL && !(sqe->flags & MRPC_SQE_COPY) ? 2 : 1;
}

static void mrpc_enter_cancel(struct mrpc_session *session, struct mrpc_qp *qp,
			      const struct mrpc_sqe *sqe)
{
	struct mrpc_conn *conn = mrpc_conn_find(session, sqe->conn);
	int err = -ENOENT;

	if (conn) {
		if (!conn->link.accepted)
			err = mrpc_call_cancel(conn, sqe->call, qp);
		mrpc_conn_put(conn);
	}
	/* After a success the call's own completion tells the result. */
	if (err)
		mrpc_enter_nop(qp, sqe, MRPC_NOT_FOUND);
	else
		mrpc_qp_unreserve(qp, 1);
}

static void mrpc_enter_grant(struct mrpc_qp *qp, const struct mrpc_sqe *sqe,
			     struct mrpc_conn *conn)
{
	/* A connection that has ended needs no credit, nor does a call. */
	if (!conn || mrpc_flow_grant(conn, sqe))
		mrpc_qp_unreserve(qp, 1);
	else
		mrpc_enter_nop(qp, sqe, MRPC_INVALID_ARGUMENT);
}

static bool mrpc_zero(const u32 *words, u32 from, u32 to)
{
	while (from < to)
		if (words[from++])
			return false;
	return true;
}

/*
 * Checks that the fields that an operation does not use are zero, so that they can get a meaning
 * later. CALL, REPLY and SEND are checked where they are carried out, with an error text.
 */
static bool mrpc_sqe_sane(const struct mrpc_sqe *sqe)
{
	bool plain = !sqe->flags && !sqe->priority && !sqe->resv;

	switch (sqe->op) {
	case MRPC_OP_NOP:
		return plain && !sqe->conn && mrpc_zero(sqe->blocks, 0, MRPC_RELEASE_MAX);
	case MRPC_OP_CANCEL:
		return plain && mrpc_zero(sqe->blocks, 2, MRPC_RELEASE_MAX);
	case MRPC_OP_GRANT:	/* all but @call and @max_reply */
		return plain && mrpc_zero(sqe->blocks, 2, 7) &&
		       mrpc_zero(sqe->blocks, 8, MRPC_RELEASE_MAX);
	case MRPC_OP_RELEASE:
		return plain && sqe->nr <= MRPC_RELEASE_MAX &&
		       mrpc_zero(sqe->blocks, sqe->nr, MRPC_RELEASE_MAX);
	default:
		return true;
	}
}

static void mrpc_enter_one(struct mrpc_session *session, struct mrpc_qp *qp,
			   const struct mrpc_sqe *sqe, struct mrpc_enter_batch *batch)
{
	struct mrpc_cqe failed __uninitialized;
	struct mrpc_conn *conn;

	if (!mrpc_sqe_sane(sqe)) {
		mrpc_enter_nop(qp, sqe, MRPC_INVALID_ARGUMENT);
		return;
	}
	switch (sqe->op) {
	case MRPC_OP_NOP:
		mrpc_enter_nop(qp, sqe, MRPC_OK);
		return;
	case MRPC_OP_CALL:
		conn = mrpc_enter_conn(session, batch, sqe->conn);
		mrpc_call_submit(session, conn, sqe, qp, NULL, &failed);
		return;
	case MRPC_OP_REPLY:
		conn = mrpc_enter_conn(session, batch, sqe->conn);
		mrpc_serve_reply(session, conn, sqe, qp);
		return;
	case MRPC_OP_SEND:
		conn = mrpc_enter_conn(session, batch, sqe->conn);
		mrpc_flow_send(session, conn, sqe, qp);
		return;
	case MRPC_OP_COLLECTIVE:
		mrpc_operation_submit(session, sqe, qp);
		return;
	case MRPC_OP_GRANT:
		mrpc_enter_grant(qp, sqe, mrpc_enter_conn(session, batch, sqe->conn));
		return;
	case MRPC_OP_CANCEL:
		mrpc_enter_cancel(session, qp, sqe);
		return;
	case MRPC_OP_RELEASE:
		if (mrpc_release(session, sqe->blocks, sqe->nr))
			mrpc_enter_nop(qp, sqe, MRPC_INVALID_ARGUMENT);
		else
			mrpc_qp_unreserve(qp, 1);
		return;
	default:
		mrpc_enter_nop(qp, sqe, MRPC_UNIMPLEMENTED);
	}
}

/* The caller holds qp->submit. This function releases it. */
static int mrpc_enter_submit(struct mrpc_session *session, struct mrpc_qp *qp, u32 nr,
			     u32 *submitted)
{
	struct mrpc_enter_batch batch __uninitialized;
	struct mrpc_sqe sqe __uninitialized;
	int err = 0;

	batch.nr = 0;
	while (*submitted < nr) {
		err = mrpc_sq_peek(&qp->sq, &sqe);
		if (err <= 0)
			break;
		err = 0;
		/* No REPLY or SEND while a completion is late: this bounds the late ones. */
		if ((sqe.op == MRPC_OP_REPLY || sqe.op == MRPC_OP_SEND) && mrpc_qp_is_late(qp))
			break;
		if (!mrpc_qp_reserve(qp, mrpc_enter_room(&sqe)))
			break;
		mrpc_sq_consume(&qp->sq);
		mrpc_enter_one(session, qp, &sqe, &batch);
		++*submitted;
		/* One entry can be a large message. */
		if (signal_pending(current))
			break;
		if (!(*submitted % 64) || need_resched()) {
			mrpc_enter_flush(&batch);
			cond_resched();
		}
	}
	qp->submitted += *submitted;
	mutex_unlock(&qp->submit);
	mrpc_enter_flush(&batch);
	return err;
}

/*
 * What a thread in ENTER waits for. On its stack.
 *
 * @min: completions in the queue
 * @news: mrpc_qp.news must be so large, too, unless something waits for room in the queue
 */
struct mrpc_enter_wait {
	struct mrpc_qp *qp;
	u32 min;
	u64 news;
};

/* Begins a wait. The caller has submitted nothing yet: completions of that count as new. */
static void mrpc_enter_wait_init(struct mrpc_enter_wait *w, const struct mrpc_enter *args)
{
	u32 ready;

	w->min = args->min_complete;
	w->news = 0;
	if (!(args->flags & MRPC_ENTER_NOT_SENT))
		return;
	/*
	 * Acquire: a completion that @news counts is in the ring. One that comes between the two
	 * looks ends the wait early, and not late.
	 */
	w->news = smp_load_acquire(&w->qp->news);
	ready = mrpc_qp_ready(w->qp);
	if (ready < w->min)
		w->news += w->min - ready;
}

/* Posts and takes what waited for room in the completion queue. */
static noinline void mrpc_enter_pull(struct mrpc_qp *qp)
{
	mrpc_qp_say_late(qp);
	mrpc_flow_pull(qp);
	mrpc_serve_pull(qp->session, qp);
}

/* Returns true if mrpc_enter_pull() would find something, and room for it. */
static bool mrpc_enter_pulls(struct mrpc_qp *qp)
{
	if (mrpc_qp_says(qp) || mrpc_flow_pulls(qp))
		return true;
	return !list_empty(&qp->session->pending) && mrpc_serve_room(qp);
}

/* Returns true if something waits for room in the queues, that no completion announces. */
static bool mrpc_enter_is_full(const struct mrpc_qp *qp)
{
	return !list_empty(&qp->late) || !list_empty(&qp->flows) ||
	       (qp->flags & MRPC_QP_SERVE && !list_empty(&qp->session->pending));
}

/*
 * Pulls the work that waits, while the queues have room. Without room a thread that is about to
 * sleep would never sleep. The thread need not check again by itself:
 * - a request that comes later wakes it, mrpc_qp_set_pending();
 * - a completion that needs less room than was reserved wakes it too. It gives the rest back first;
 * - any other thread that makes room is in ENTER or enters later, and pulls by itself. It makes
 *   room by what it submits, or by what it consumes: then it checks MRPC_QP_PENDING.
 */
static bool mrpc_enter_done(void *ctx)
{
	struct mrpc_enter_wait *w = ctx;

	if (unlikely(mrpc_enter_pulls(w->qp))) {
		__set_current_state(TASK_RUNNING);	/* this may drop the last reference */
		mrpc_enter_pull(w->qp);
	}
	return mrpc_qp_ready(w->qp) >= w->min &&
	       (READ_ONCE(w->qp->news) >= w->news || mrpc_enter_is_full(w->qp));
}

/* Sets MRPC_QP_PENDING if something is left that no completion announces. */
static void mrpc_enter_leave(struct mrpc_session *session, struct mrpc_qp *qp)
{
	bool left;

	if (READ_ONCE(mrpc_qp_head(qp)->flags)) {
		WRITE_ONCE(mrpc_qp_head(qp)->flags, 0);
		smp_mb();	/* before the look at the lists; an adder then sets the flag */
	}
	left = mrpc_enter_is_full(qp) ||
	       (qp->flags & MRPC_QP_SERVE && !list_empty(&session->ready_listeners));
	if (left)
		WRITE_ONCE(mrpc_qp_head(qp)->flags, MRPC_QP_PENDING);
}

/*
 * Runs what is ready, even if the thread does not wait, or waits no more. Otherwise another thread
 * would have to enter for it. Stops soon, because no thread looks at the completions meanwhile.
 */
static void mrpc_enter_work(struct mrpc_session *session, struct mrpc_qp *qp)
{
	u64 until;

	if (!mrpc_session_ready(session) && list_empty(&session->ready_listeners))
		return;
	until = ktime_get_ns() + MRPC_ENTER_WORK;
	while (mrpc_datapath_poll(session, qp) && ktime_get_ns() < until)
		cond_resched();
}

/**
 * mrpc_qp_enter() - MRPC_IOC_ENTER
 * @session: the session
 * @args: what to do. Adds the entries that it submits to args->submitted. The caller sets the
 *	signal mask
 *
 * Context: process.
 * Return: 0, -EINVAL (no such queue pair, or more submitted than there was to submit), -EPROTO
 * (impossible submission queue), -ETIME; -EINTR: call again with the same @args to go on.
 */
int mrpc_qp_enter(struct mrpc_session *session, struct mrpc_enter *args)
{
	struct mrpc_enter_wait w = { .qp = mrpc_qp_find(session, args->qp) };
	struct mrpc_poller poller __uninitialized;
	u32 left = args->to_submit - args->submitted, taken = 0;
	struct mrpc_waiters *waiters;
	int err = 0;

	if (!w.qp || args->min_complete > w.qp->cq.mask + 1 || args->submitted > args->to_submit)
		return -EINVAL;
	/* Before it becomes a poller: a sleeping poller must be able to go on when woken. */
	if (left && mutex_lock_interruptible(&w.qp->submit))
		return -EINTR;
	mrpc_enter_wait_init(&w, args);
	/* This thread also runs what its own entries make ready. */
	mrpc_poll_begin(session, &poller);
	if (left)
		err = mrpc_enter_submit(session, w.qp, left, &taken);
	args->submitted += taken;
	waiters = args->flags & MRPC_ENTER_NOT_SENT ? &w.qp->wait_news : &w.qp->wait;
	if (!err && w.min)
		err = mrpc_poll_wait(session, w.qp, waiters, mrpc_enter_done, &w, args->until_ns);
	if (!err) {
		mrpc_enter_work(session, w.qp);
		if (mrpc_enter_pulls(w.qp))
			mrpc_enter_pull(w.qp);
	}
	mrpc_poll_end(session, &poller);
	mrpc_enter_leave(session, w.qp);
	return err;
}
