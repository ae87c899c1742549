// SPDX-License-Identifier: GPL-2.0
/*
 * Queue pairs: submission, completion, and the two ways to enter the kernel.
 */
#include <linux/list.h>
#include <linux/log2.h>
#include <linux/nospec.h>
#include <linux/poll.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "core/call.h"
#include "core/conn.h"
#include "core/flow.h"
#include "core/large.h"
#include "core/qp.h"
#include "core/rpc.h"
#include "core/session.h"
#include "core/user.h"
#include "core/waiters.h"
#include "lib/ds/ring.h"

#define MRPC_SQ_MAX	4096
#define MRPC_CQ_MAX	16384

/**
 * mrpc_qp_destroy() - free a queue pair that is no longer used
 * @qp: the queue pair, or NULL
 */
void mrpc_qp_destroy(struct mrpc_qp *qp)
{
	if (!qp)
		return;
	if (qp->eventfd)
		eventfd_ctx_put(qp->eventfd);
	vfree(qp->mem);
	mrpc_user_uncharge_memory(qp->session->user, qp->mem_len);
	kfree(qp);
}

struct mrpc_qp_head *mrpc_qp_head(struct mrpc_qp *qp)
{
	return qp->mem;
}

static struct mrpc_qp *mrpc_qp_new(struct mrpc_session *session, struct mrpc_qp_setup *args)
{
	u32 sq_off = sizeof(struct mrpc_qp_head);
	u32 cq_off = sq_off + args->sq_entries * sizeof(struct mrpc_sqe);
	u32 len = PAGE_ALIGN(cq_off + args->cq_entries * sizeof(struct mrpc_cqe));
	struct mrpc_qp *qp;
	int err;

	err = mrpc_user_charge_memory(session, len);
	if (err)
		return ERR_PTR(err);
	qp = kzalloc(sizeof(*qp), GFP_KERNEL_ACCOUNT);
	if (qp)
		qp->mem = __vmalloc(len, MRPC_GFP_LARGE | __GFP_ZERO);
	if (!qp || !qp->mem) {
		kfree(qp);
		mrpc_user_uncharge_memory(session->user, len);
		return ERR_PTR(-ENOMEM);
	}
	qp->session = session;
	qp->id = session->nr_qps;
	qp->flags = args->flags;
	qp->mem_len = len;
	mutex_init(&qp->submit);
	spin_lock_init(&qp->lock);
	INIT_LIST_HEAD(&qp->late);
	INIT_LIST_HEAD(&qp->flows);
	mrpc_waiters_init(&qp->wait);
	mrpc_waiters_init(&qp->wait_news);
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
 * @args: the wanted queue pair; the other fields are filled in
 *
 * Context: process; the caller holds the session's mutex @making until it has called
 * mrpc_qp_publish() or mrpc_qp_destroy().
 * Return: the queue pair or an ERR_PTR.
 */
struct mrpc_qp *mrpc_qp_create(struct mrpc_session *session, struct mrpc_qp_setup *args)
{
	struct mrpc_qp *qp;
	int err;

	if (args->flags & ~(MRPC_QP_SERVE | MRPC_QP_EVENTFD) || args->resv)
		return ERR_PTR(-EINVAL);
	if (!is_power_of_2(args->sq_entries) || args->sq_entries > MRPC_SQ_MAX ||
	    !is_power_of_2(args->cq_entries) || args->cq_entries > MRPC_CQ_MAX ||
	    args->cq_entries < 2 * args->sq_entries)
		return ERR_PTR(-EINVAL);
	if (session->nr_qps == MRPC_MAX_QPS)
		return ERR_PTR(-EDQUOT);
	qp = mrpc_qp_new(session, args);
	if (IS_ERR(qp))
		return qp;
	args->qp = qp->id;
	if (!(args->flags & MRPC_QP_EVENTFD))
		return qp;
	qp->eventfd = eventfd_ctx_fdget(args->eventfd);
	if (!IS_ERR(qp->eventfd))
		return qp;
	err = PTR_ERR(qp->eventfd);
	qp->eventfd = NULL;
	mrpc_qp_destroy(qp);
	return ERR_PTR(err);
}

/**
 * mrpc_qp_publish() - make a queue pair visible
 * @qp: from mrpc_qp_create()
 */
void mrpc_qp_publish(struct mrpc_qp *qp)
{
	struct mrpc_session *session = qp->session;

	session->qps[qp->id] = qp;
	/* Pairs with the acquire in mrpc_qp_count(). */
	smp_store_release(&session->nr_qps, qp->id + 1);
}

/**
 * mrpc_qp_find() - look a queue pair up
 * @session: the session
 * @id: the id that the application gave
 *
 * Return: the queue pair, valid as long as the session, or NULL.
 */
struct mrpc_qp *mrpc_qp_find(struct mrpc_session *session, u32 id)
{
	u32 nr = mrpc_qp_count(session);

	return id < nr ? session->qps[array_index_nospec(id, nr)] : NULL;
}

/**
 * mrpc_qp_reserve() - reserve room for completions
 * @qp: the queue pair
 * @nr: number of completions
 *
 * Context: any but hard interrupt. Return: false if there is no room.
 */
bool mrpc_qp_reserve(struct mrpc_qp *qp, u32 nr)
{
	return mrpc_cq_reserve(&qp->cq, nr, 0);
}

/**
 * mrpc_qp_unreserve() - give back the room of completions that will not come
 * @qp: the queue pair
 * @nr: number of completions
 */
void mrpc_qp_unreserve(struct mrpc_qp *qp, u32 nr)
{
	mrpc_cq_unreserve(&qp->cq, nr);
}

/**
 * mrpc_qp_post_locked() - post a completion that has reserved room
 * @qp: the queue pair, its lock held
 * @cqe: the completion
 *
 * The caller calls mrpc_qp_wake() after it has released the lock. That has the full barrier between
 * the new tail and the checks for sleepers in ENTER or poll(). Each sleeper reads tail after a
 * barrier of its own. Only a sleeper on the eventfd is not checked for there.
 */
void mrpc_qp_post_locked(struct mrpc_qp *qp, const struct mrpc_cqe *cqe)
{
	qp->completed++;
	mrpc_cq_post(&qp->cq, cqe);
	if (cqe->type != MRPC_CQE_SENT) {
		/* Release: the entry is in the ring. Pairs with mrpc_enter_wait_init(). */
		smp_store_release(&qp->news, qp->news + 1);
	}
	if (qp->eventfd && mrpc_cq_was_empty(&qp->cq))
		eventfd_signal(qp->eventfd);
}

/* Wakes the threads that wait for completions of all types. Full barrier. */
static void mrpc_qp_wake_for_sent(struct mrpc_qp *qp)
{
	mrpc_wake_all(&qp->wait);
	/* The barrier in mrpc_wake_all() serves this check too. */
	if (waitqueue_active(&qp->session->poll_wait))
		wake_up_poll(&qp->session->poll_wait, EPOLLIN | EPOLLRDNORM);
}

/**
 * mrpc_qp_wake() - wake the threads that wait for completions
 * @qp: the queue pair
 */
void mrpc_qp_wake(struct mrpc_qp *qp)
{
	mrpc_qp_wake_for_sent(qp);
	/* After that barrier. */
	if (mrpc_waiters_any(&qp->wait_news))
		mrpc_wake_all(&qp->wait_news);
}

/**
 * mrpc_qp_post() - post a completion that has reserved room, and wake
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
 * mrpc_qp_post_sent() - post that a call's send blocks are free
 * @qp: the queue pair, its lock held, with room
 * @call: the call
 *
 * The caller calls mrpc_qp_wake() after it has released the lock.
 */
void mrpc_qp_post_sent(struct mrpc_qp *qp, const struct mrpc_call *call)
{
	const struct mrpc_cqe cqe = {
		.type = MRPC_CQE_SENT,
		.status = call->role != MRPC_ROLE_CLIENT && call->unsent ? MRPC_CANCELLED : MRPC_OK,
		.user_data = call->user_data,
		.conn = call->conn->id,
	};

	mrpc_qp_post_locked(qp, &cqe);
}

/**
 * mrpc_qp_call_in() - tell the application that work waits for one of its threads in ENTER
 * @qp: the queue pair
 *
 * Context: any but hard interrupt.
 */
void mrpc_qp_call_in(struct mrpc_qp *qp)
{
	smp_mb();	/* list entries before the flag; pairs with mrpc_enter_leave() */
	WRITE_ONCE(mrpc_qp_head(qp)->flags, MRPC_QP_PENDING);
	if (qp->eventfd)
		eventfd_signal(qp->eventfd);
	mrpc_qp_wake(qp);
}

/**
 * mrpc_qp_sent() - post that a reply's send blocks are free, now or when there is room
 * @qp: the queue pair
 * @call: the reply; takes over a reference
 *
 * No room is reserved for this: peers decide when it comes. If they do not read their replies,
 * these would take the room from the requests of others.
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
		mrpc_call_get(call);	/* for the list */
		list_add_tail(&call->pending, &qp->late);
		late = true;
	}
	spin_unlock_bh(&qp->lock);
	if (late)
		mrpc_qp_call_in(qp);
	else
		mrpc_qp_wake_for_sent(qp);
	mrpc_call_put(call);
}

/* Posts late completions, as far as there is room. Context: process. */
void mrpc_qp_say_late(struct mrpc_qp *qp)
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
		cond_resched();
	}
}

/* Posts late completions. Returns true if some are left without room. */
bool mrpc_qp_is_late(struct mrpc_qp *qp)
{
	if (likely(list_empty(&qp->late)))
		return false;
	mrpc_qp_say_late(qp);
	return !list_empty(&qp->late);
}

/**
 * mrpc_qp_end() - drop the late completions: no thread uses the queue pair any more
 * @qp: a queue pair of a session that is closing
 *
 * Context: process; may sleep.
 */
void mrpc_qp_end(struct mrpc_qp *qp)
{
	struct mrpc_call *call, *next;
	struct mrpc_flow *flow;
	LIST_HEAD(late);

	spin_lock_bh(&qp->lock);
	list_splice_init(&qp->late, &late);
	while ((flow = list_first_entry_or_null(&qp->flows, struct mrpc_flow, waiting))) {
		list_del_init(&flow->waiting);
		spin_unlock_bh(&qp->lock);
		mrpc_flow_forget(flow);
		spin_lock_bh(&qp->lock);
	}
	spin_unlock_bh(&qp->lock);
	list_for_each_entry_safe(call, next, &late, pending) {
		list_del_init(&call->pending);
		mrpc_call_put(call);
		cond_resched();
	}
}

/**
 * mrpc_qp_ready() - return the number of completions that wait for the application
 * @qp: the queue pair
 */
u32 mrpc_qp_ready(struct mrpc_qp *qp)
{
	return mrpc_cq_ready(&qp->cq);
}

/**
 * mrpc_qp_set_pending() - tell serving queue pairs to enter
 * @session: a session with an entry in a list that no completion announces
 */
void mrpc_qp_set_pending(struct mrpc_session *session)
{
	u32 nr = mrpc_qp_count(session), i;

	wake_up_poll(&session->poll_wait, EPOLLIN | EPOLLRDNORM);
	if (wq_has_sleeper(&session->accept_wait))
		wake_up_poll(&session->accept_wait, EPOLLPRI);
	for (i = 0; i < nr; i++)
		if (session->qps[i]->flags & MRPC_QP_SERVE)
			mrpc_qp_call_in(session->qps[i]);
}

/**
 * mrpc_qp_says() - return true if ENTER could post a late completion now
 * @qp: the queue pair
 */
bool mrpc_qp_says(struct mrpc_qp *qp)
{
	return !list_empty(&qp->late) && mrpc_cq_room(&qp->cq, 1, 0);
}
