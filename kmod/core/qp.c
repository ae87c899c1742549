// SPDX-License-Identifier: GPL-2.0
/*
 * Queue pairs: submission, completion, and the two ways to enter the kernel.
 */
#include <linux/eventfd.h>
#include <linux/ktime.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/nospec.h>
#include <linux/poll.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "core/conn.h"
#include "core/session.h"
#include "core/waiters.h"

#define MRPC_SQ_MAX	4096
#define MRPC_CQ_MAX	16384
#define MRPC_ENTER_CONNS	16	/* connections whose datapaths run together */
#define MRPC_ENTER_WORK	(100 * NSEC_PER_USEC)	/* for what is ready, beside waiting */

/**
 * mrpc_qp_destroy() - free a queue pair that nobody uses any more
 * @qp: the queue pair, or NULL
 */
void mrpc_qp_destroy(struct mrpc_qp *qp)
{
	if (!qp)
		return;
	if (qp->eventfd)
		eventfd_ctx_put(qp->eventfd);
	vfree(qp->mem);
	kfree(qp);
}

static struct mrpc_qp_head *mrpc_qp_head(struct mrpc_qp *qp)
{
	return qp->mem;
}

static struct mrpc_qp *mrpc_qp_new(struct mrpc_session *session, struct mrpc_qp_setup *args)
{
	u32 sq_off = sizeof(struct mrpc_qp_head);
	u32 cq_off = sq_off + args->sq_entries * sizeof(struct mrpc_sqe);
	u32 len = PAGE_ALIGN(cq_off + args->cq_entries * sizeof(struct mrpc_cqe));
	struct mrpc_qp *qp = kzalloc(sizeof(*qp), GFP_KERNEL_ACCOUNT);

	if (!qp)
		return NULL;
	qp->mem = __vmalloc(len, GFP_KERNEL_ACCOUNT | __GFP_ZERO);
	if (!qp->mem) {
		kfree(qp);
		return NULL;
	}
	qp->session = session;
	qp->flags = args->flags;
	qp->mem_len = len;
	mutex_init(&qp->submit);
	spin_lock_init(&qp->lock);
	INIT_LIST_HEAD(&qp->late);
	mrpc_waiters_init(&qp->wait);
	mrpc_sq_init(&qp->sq, &mrpc_qp_head(qp)->sq, qp->mem + sq_off, args->sq_entries);
	mrpc_cq_init(&qp->cq, &mrpc_qp_head(qp)->cq, qp->mem + cq_off, args->cq_entries);
	args->mmap_len = len;
	args->sq_off = sq_off;
	args->cq_off = cq_off;
	return qp;
}

/**
 * mrpc_qp_create() - MRPC_IOC_QP
 * @session: the session
 * @args: what is wanted; the rest is filled
 *
 * Return: 0 or a negative errno.
 */
int mrpc_qp_create(struct mrpc_session *session, struct mrpc_qp_setup *args)
{
	struct mrpc_qp *qp;
	int err = 0;

	if (args->flags & ~(MRPC_QP_SERVE | MRPC_QP_EVENTFD) || args->resv)
		return -EINVAL;
	if (!is_power_of_2(args->sq_entries) || args->sq_entries > MRPC_SQ_MAX ||
	    !is_power_of_2(args->cq_entries) || args->cq_entries > MRPC_CQ_MAX ||
	    args->cq_entries < 2 * args->sq_entries)
		return -EINVAL;
	qp = mrpc_qp_new(session, args);
	if (!qp)
		return -ENOMEM;
	if (args->flags & MRPC_QP_EVENTFD) {
		qp->eventfd = eventfd_ctx_fdget(args->eventfd);
		if (IS_ERR(qp->eventfd)) {
			err = PTR_ERR(qp->eventfd);
			qp->eventfd = NULL;
			goto out;
		}
	}
	mutex_lock(&session->lock);
	if (session->nr_qps == MRPC_MAX_QPS) {
		err = -EDQUOT;
	} else {
		qp->id = session->nr_qps;
		args->qp = qp->id;
		session->qps[qp->id] = qp;
		/* Pairs with the acquire in mrpc_qp_count(). */
		smp_store_release(&session->nr_qps, qp->id + 1);
	}
	mutex_unlock(&session->lock);
out:
	if (err)
		mrpc_qp_destroy(qp);
	return err;
}

/**
 * mrpc_qp_find() - look a queue pair up
 * @session: the session
 * @id: what the application says
 *
 * Return: the queue pair, valid as long as the session, or NULL.
 */
struct mrpc_qp *mrpc_qp_find(struct mrpc_session *session, u32 id)
{
	u32 nr = mrpc_qp_count(session);

	return id < nr ? session->qps[array_index_nospec(id, nr)] : NULL;
}

/**
 * mrpc_qp_reserve() - promise completions
 * @qp: the queue pair
 * @nr: how many
 *
 * Context: any but hard interrupt. Return: false if there is no room.
 */
bool mrpc_qp_reserve(struct mrpc_qp *qp, u32 nr)
{
	return mrpc_cq_reserve(&qp->cq, nr, 0);
}

/**
 * mrpc_qp_unreserve() - promised completions will not come
 * @qp: the queue pair
 * @nr: how many
 */
void mrpc_qp_unreserve(struct mrpc_qp *qp, u32 nr)
{
	mrpc_cq_unreserve(&qp->cq, nr);
}

/**
 * mrpc_qp_post_locked() - post a completion for which room was reserved
 * @qp: the queue pair, its lock held
 * @cqe: the completion
 *
 * mrpc_qp_wake() follows, after the lock is released. It has the full barrier between the
 * new tail and the looks for who sleeps in ENTER or poll(), each of which looks at tail after
 * one of its own. Only who sleeps on the eventfd is not looked for there.
 */
void mrpc_qp_post_locked(struct mrpc_qp *qp, const struct mrpc_cqe *cqe)
{
	qp->completed++;
	mrpc_cq_post(&qp->cq, cqe);
	if (qp->eventfd && mrpc_cq_was_empty(&qp->cq))
		eventfd_signal(qp->eventfd);
}

/**
 * mrpc_qp_wake() - wake who waits for completions
 * @qp: the queue pair
 */
void mrpc_qp_wake(struct mrpc_qp *qp)
{
	mrpc_wake_all(&qp->wait);
	/* The barrier in there serves this look, too. */
	if (waitqueue_active(&qp->session->poll_wait))
		wake_up_poll(&qp->session->poll_wait, EPOLLIN | EPOLLRDNORM);
}

/**
 * mrpc_qp_post() - post a completion for which room was reserved
 * @qp: the queue pair
 * @cqe: the completion
 *
 * Context: any but hard interrupt.
 */
void mrpc_qp_post(struct mrpc_qp *qp, const struct mrpc_cqe *cqe)
{
	spin_lock_bh(&qp->lock);
	mrpc_qp_post_locked(qp, cqe);
	spin_unlock_bh(&qp->lock);
	mrpc_qp_wake(qp);
}

/**
 * mrpc_qp_post_sent() - say that a call's send blocks are free
 * @qp: the queue pair, its lock held, with room
 * @call: the call
 *
 * mrpc_qp_wake() follows, after the lock is released.
 */
void mrpc_qp_post_sent(struct mrpc_qp *qp, const struct mrpc_call *call)
{
	const struct mrpc_cqe cqe = {
		.type = MRPC_CQE_SENT,
		.user_data = call->user_data,
		.conn = call->conn->id,
	};

	mrpc_qp_post_locked(qp, &cqe);
}

/* Work waits for a thread of the application in ENTER. */
static void mrpc_qp_call_in(struct mrpc_qp *qp)
{
	smp_mb();	/* what waits before the flag; pairs with mrpc_enter_leave() */
	WRITE_ONCE(mrpc_qp_head(qp)->flags, MRPC_QP_PENDING);
	if (qp->eventfd)
		eventfd_signal(qp->eventfd);
	mrpc_qp_wake(qp);
}

/**
 * mrpc_qp_sent() - say that a reply's send blocks are free, now or when there is room
 * @qp: the queue pair
 * @call: the reply, and a reference, which is taken over
 *
 * No room is promised for this: peers decide when it comes, and replies that they do not read
 * would take the room from the requests of others.
 *
 * Context: any but hard interrupt.
 */
void mrpc_qp_sent(struct mrpc_qp *qp, struct mrpc_call *call)
{
	bool late = false;

	spin_lock_bh(&qp->lock);
	if (list_empty(&qp->late) && mrpc_cq_reserve(&qp->cq, 1, 0)) {
		mrpc_qp_post_sent(qp, call);
	} else if (!READ_ONCE(qp->session->closing)) {
		mrpc_call_get(call);	/* the list's */
		list_add_tail(&call->pending, &qp->late);
		late = true;
	}
	spin_unlock_bh(&qp->lock);
	if (late)
		mrpc_qp_call_in(qp);
	else
		mrpc_qp_wake(qp);
	mrpc_call_put(call);
}

/* Say what there was no room for, as far as there is some. Context: process. */
static void mrpc_qp_say_late(struct mrpc_qp *qp)
{
	struct mrpc_call *call;

	while (!list_empty(&qp->late)) {
		spin_lock_bh(&qp->lock);
		call = list_first_entry_or_null(&qp->late, struct mrpc_call, pending);
		if (call && mrpc_cq_reserve(&qp->cq, 1, 0)) {
			list_del_init(&call->pending);
			mrpc_qp_post_sent(qp, call);
		} else {
			call = NULL;
		}
		spin_unlock_bh(&qp->lock);
		if (!call)
			return;
		mrpc_qp_wake(qp);
		mrpc_call_put(call);
	}
}

/* Is there still something to be said, and no room? */
static bool mrpc_qp_is_late(struct mrpc_qp *qp)
{
	if (likely(list_empty(&qp->late)))
		return false;
	mrpc_qp_say_late(qp);
	return !list_empty(&qp->late);
}

/**
 * mrpc_qp_end() - nobody looks at a queue pair any more
 * @qp: of a session that is closing
 *
 * Context: process; may sleep.
 */
void mrpc_qp_end(struct mrpc_qp *qp)
{
	struct mrpc_call *call, *next;
	LIST_HEAD(late);

	spin_lock_bh(&qp->lock);
	list_splice_init(&qp->late, &late);
	spin_unlock_bh(&qp->lock);
	list_for_each_entry_safe(call, next, &late, pending) {
		list_del_init(&call->pending);
		mrpc_call_put(call);
		cond_resched();
	}
}

/**
 * mrpc_qp_ready() - completions that wait for the application
 * @qp: the queue pair
 */
u32 mrpc_qp_ready(struct mrpc_qp *qp)
{
	return mrpc_cq_ready(&qp->cq);
}

/**
 * mrpc_qp_set_pending() - tell serving queue pairs to enter
 * @session: a session in whose lists something waits that a completion does
 *	not announce
 */
void mrpc_qp_set_pending(struct mrpc_session *session)
{
	u32 nr = mrpc_qp_count(session), i;

	wake_up_poll(&session->poll_wait, EPOLLIN | EPOLLRDNORM);
	for (i = 0; i < nr; i++)
		if (session->qps[i]->flags & MRPC_QP_SERVE)
			mrpc_qp_call_in(session->qps[i]);
}

/* -- submission ----------------------------------------------------------- */

/*
 * The connections that entries have named, whose datapaths have not run since: what
 * one gets of several entries leaves together, though others' lie between.
 *
 * On the stack of who submits, with a reference to each connection.
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

/* What the application means by @id, into the batch. */
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
 * The same. One that is in the batch keeps its id, and is what that means until it is
 * forgotten: it need not be looked up again. Return: the connection, whose reference is the
 * batch's, so that its datapath will run; or NULL.
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

/**
 * mrpc_release() - blocks come back from the application
 * @session: the session
 * @blocks: receive heap offsets, in kernel memory
 * @nr: how many
 *
 * Return: 0, or -EINVAL if any of them was not a delivered block.
 */
int mrpc_release(struct mrpc_session *session, const u32 *blocks, u32 nr)
{
	int err = mrpc_heap_release(&session->recv, blocks, nr);

	mrpc_recv_freed(session);
	return err;
}

/**
 * mrpc_recv_cancel() - the kernel itself frees a block, which was never delivered
 * @session: the session
 * @block: its receive heap offset
 * @dirty: bytes that may have been written
 *
 * Context: process; not under session->ready_lock. Connections may be kicked, the caller's, too.
 */
void mrpc_recv_cancel(struct mrpc_session *session, u32 block, u32 dirty)
{
	mrpc_heap_cancel(&session->recv, block, dirty);
	mrpc_recv_freed(session);
}

/* Room that one entry may need in the completion queue. */
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
		if (!conn->accepted)
			err = mrpc_call_cancel(conn, sqe->call, qp);
		mrpc_conn_put(conn);
	}
	/* A success is told by the call's own completion. */
	if (err)
		mrpc_enter_nop(qp, sqe, MRPC_NOT_FOUND);
	else
		mrpc_qp_unreserve(qp, 1);
}

static bool mrpc_zero(const u32 *words, u32 from, u32 to)
{
	while (from < to)
		if (words[from++])
			return false;
	return true;
}

/*
 * What an operation does not use is zero, so that it can get a meaning later.
 * CALL and REPLY are checked, with a sentence, where they are carried out.
 */
static bool mrpc_sqe_sane(const struct mrpc_sqe *sqe)
{
	bool plain = !sqe->flags && !sqe->priority && !sqe->resv;

	switch (sqe->op) {
	case MRPC_OP_NOP:
		return plain && !sqe->conn && mrpc_zero(sqe->blocks, 0, MRPC_RELEASE_MAX);
	case MRPC_OP_CANCEL:
		return plain && mrpc_zero(sqe->blocks, 2, MRPC_RELEASE_MAX);
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

/* With qp->submit held, which it gives back. */
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
		/* What waits to be said is bounded by what is under way. */
		if (sqe.op == MRPC_OP_REPLY && mrpc_qp_is_late(qp))
			break;
		if (!mrpc_qp_reserve(qp, mrpc_enter_room(&sqe)))
			break;
		mrpc_sq_consume(&qp->sq);
		mrpc_enter_one(session, qp, &sqe, &batch);
		++*submitted;
		if (!(*submitted % 64)) {
			mrpc_enter_flush(&batch);
			cond_resched();
			if (signal_pending(current))
				break;
		}
	}
	qp->submitted += *submitted;
	mutex_unlock(&qp->submit);
	mrpc_enter_flush(&batch);
	return err;
}

struct mrpc_enter_wait {
	struct mrpc_qp *qp;
	u32 min;
};

/* What waits for room in the completion queue. */
static noinline void mrpc_enter_pull(struct mrpc_qp *qp)
{
	mrpc_qp_say_late(qp);
	mrpc_serve_pull(qp->session, qp);
}

/**
 * mrpc_qp_says() - would ENTER have something to say that there was no room for?
 * @qp: the queue pair
 */
bool mrpc_qp_says(struct mrpc_qp *qp)
{
	return !list_empty(&qp->late) && mrpc_cq_room(&qp->cq, 1, 0);
}

/* Would mrpc_enter_pull() find something, and room for it? */
static bool mrpc_enter_pulls(struct mrpc_qp *qp)
{
	if (mrpc_qp_says(qp))
		return true;
	return !list_empty(&qp->session->pending) && mrpc_serve_room(qp);
}

/*
 * Of what waits only that is taken for which there is room: else a thread that is
 * about to sleep would never do so. It need not look again by itself:
 * - a request that comes later wakes it, mrpc_qp_set_pending();
 * - so does the completion that needs less room than was promised, which is given back before;
 * - who else makes room is in ENTER, or comes there, and takes them himself: by what he submits,
 *   or by what he consumes, after which he looks at MRPC_QP_PENDING.
 */
static bool mrpc_enter_done(void *ctx)
{
	struct mrpc_enter_wait *w = ctx;

	if (unlikely(mrpc_enter_pulls(w->qp))) {
		__set_current_state(TASK_RUNNING);	/* the last reference may be ours */
		mrpc_enter_pull(w->qp);
	}
	return mrpc_qp_ready(w->qp) >= w->min;
}

/* Say whether something is left that no completion announces. */
static void mrpc_enter_leave(struct mrpc_session *session, struct mrpc_qp *qp)
{
	bool left;

	if (READ_ONCE(mrpc_qp_head(qp)->flags)) {
		WRITE_ONCE(mrpc_qp_head(qp)->flags, 0);
		smp_mb();	/* before the look at the lists; who adds then sets the flag */
	}
	left = !list_empty(&qp->late);
	if (qp->flags & MRPC_QP_SERVE)
		left |= !list_empty(&session->pending) || !list_empty(&session->ready_listeners);
	if (left)
		WRITE_ONCE(mrpc_qp_head(qp)->flags, MRPC_QP_PENDING);
}

/*
 * Not to wait, or not any more, is no excuse for not working: what is ready would need
 * somebody else, and an entry of its own. But not for long, as nobody looks at the
 * completions meanwhile.
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
 * @args: what to do; submitted is filled. The signal mask is the caller's affair
 *
 * Context: process.
 * Return: 0, -EINVAL (no such queue pair), -EPROTO (impossible submission
 * queue), -EINTR, -ETIME.
 */
int mrpc_qp_enter(struct mrpc_session *session, struct mrpc_enter *args)
{
	struct mrpc_enter_wait w = { .qp = mrpc_qp_find(session, args->qp) };
	struct mrpc_poller poller __uninitialized;
	u64 until = U64_MAX;
	int err = 0;

	if (!w.qp || args->min_complete > w.qp->cq.mask + 1)
		return -EINVAL;
	args->submitted = 0;
	/* As no poller: one that sleeps must be able to go on when it is woken. */
	if (args->to_submit && mutex_lock_interruptible(&w.qp->submit))
		return -EINTR;
	/* What our own entries make ready is ours, too. */
	mrpc_poll_begin(session, &poller);
	if (args->to_submit)
		err = mrpc_enter_submit(session, w.qp, args->to_submit, &args->submitted);
	w.min = args->min_complete;
	if (!err && w.min) {
		if (args->timeout_ns != U64_MAX)
			until = ktime_get_ns() + min_t(u64, args->timeout_ns, S64_MAX / 2);
		err = mrpc_poll_wait(session, w.qp, &w.qp->wait, mrpc_enter_done, &w, until);
	}
	if (!err) {
		mrpc_enter_work(session, w.qp);
		if (mrpc_enter_pulls(w.qp))
			mrpc_enter_pull(w.qp);
	}
	mrpc_poll_end(session, &poller);
	mrpc_enter_leave(session, w.qp);
	return err;
}

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
