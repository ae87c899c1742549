/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MRPC_CORE_QP_H
#define MRPC_CORE_QP_H

#include <linux/atomic.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/types.h>

#include "core/session.h"
#include "core/waiters.h"
#include "lib/ds/ring.h"

struct eventfd_ctx;
struct mrpc_call;
struct mrpc_cqe;
struct mrpc_qp_head;
struct mrpc_qp_setup;

/**
 * struct mrpc_qp - a queue pair, used by one application thread
 *
 * Created by MRPC_IOC_QP, immutable but for the fields below, ends with the
 * session.
 *
 * @session: owner (not a reference: the session outlives it)
 * @id: its number
 * @flags: MRPC_QP_SERVE, MRPC_QP_EVENTFD
 * @mem: the shared memory: struct mrpc_qp_head, entries
 * @mem_len: its bytes
 * @submit: serialises consumers of the submission queue (two threads that use
 *	one queue pair are slow, not wrong)
 * @sq: under @submit
 * @lock: producers of the completion queue, process and softirq context
 * @cq: under @lock; room in it is promised without
 * @late: replies whose blocks are free, which there was no room to say, by mrpc_call.pending, a
 *	reference each; under @lock. Empty from mrpc_qp_end() on
 * @flows: flows with completions for which there was no room, by mrpc_flow.waiting, a reference to
 *	the call each; under @lock. Empty from mrpc_qp_end() on
 * @wait: threads in ENTER that wait for completions of all types
 * @wait_news: threads in ENTER with MRPC_ENTER_NOT_SENT
 * @eventfd: signalled on empty to non-empty, or NULL
 * @served: requests delivered and not yet answered; balances the threads
 * @streaming: of these, calls that stream
 * @submitted, @completed: counters; under @submit and @lock
 * @news: of @completed, those of other types than MRPC_CQE_SENT; written under @lock
 */
struct mrpc_qp {
	struct mrpc_session *session;
	u32 id;
	u32 flags;
	void *mem;
	u32 mem_len;
	struct mutex submit;
	struct mrpc_sq sq;
	spinlock_t lock;
	struct mrpc_cq cq;
	struct list_head late;
	struct list_head flows;
	struct mrpc_waiters wait;
	struct mrpc_waiters wait_news;
	struct eventfd_ctx *eventfd;
	atomic_t served;
	atomic_t streaming;
	u64 submitted;
	u64 completed;
	u64 news;
};

/* Queue pairs [0, count) are complete and stay. */
static inline u32 mrpc_qp_count(const struct mrpc_session *session)
{
	/* Pairs with the release in mrpc_qp_publish(). */
	return smp_load_acquire(&session->nr_qps);
}

void mrpc_qp_destroy(struct mrpc_qp *qp);
struct mrpc_qp_head *mrpc_qp_head(struct mrpc_qp *qp);

/* qp.c */
struct mrpc_qp *mrpc_qp_create(struct mrpc_session *session, struct mrpc_qp_setup *args);
void mrpc_qp_publish(struct mrpc_qp *qp);
struct mrpc_qp *mrpc_qp_find(struct mrpc_session *session, u32 id);
bool mrpc_qp_reserve(struct mrpc_qp *qp, u32 nr);
void mrpc_qp_unreserve(struct mrpc_qp *qp, u32 nr);
void mrpc_qp_post_locked(struct mrpc_qp *qp, const struct mrpc_cqe *cqe);
void mrpc_qp_wake(struct mrpc_qp *qp);
void mrpc_qp_post(struct mrpc_qp *qp, const struct mrpc_cqe *cqe);
void mrpc_qp_post_sent(struct mrpc_qp *qp, const struct mrpc_call *call);
void mrpc_qp_sent(struct mrpc_qp *qp, struct mrpc_call *call);
void mrpc_qp_say_late(struct mrpc_qp *qp);
bool mrpc_qp_is_late(struct mrpc_qp *qp);
void mrpc_qp_end(struct mrpc_qp *qp);
u32 mrpc_qp_ready(struct mrpc_qp *qp);
void mrpc_qp_set_pending(struct mrpc_session *session);
void mrpc_qp_call_in(struct mrpc_qp *qp);
bool mrpc_qp_says(struct mrpc_qp *qp);

#endif /* MRPC_CORE_QP_H */
