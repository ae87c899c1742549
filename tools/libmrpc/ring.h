/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Access to the rings of a queue pair. All ordering between the application and the kernel is
 * here. The producer stores its index with release, so that the consumer sees the entries before
 * it. The consumer loads that index with acquire.
 */
#ifndef LIBMRPC_RING_H
#define LIBMRPC_RING_H

#include <stdbool.h>

#include <linux/mrpc.h>

/**
 * struct ring - one queue pair's rings as the application sees them
 * @head: the shared part
 * @sqes: submission entries
 * @cqes: completion entries
 * @sq_mask: number of submission entries - 1
 * @cq_mask: number of completion entries - 1
 * @sq_tail: index that was last published; the shared copy is never read back
 * @cq_head: the same for the completion queue
 */
struct ring {
	struct mrpc_qp_head *head;
	struct mrpc_sqe *sqes;
	const struct mrpc_cqe *cqes;
	__u32 sq_mask;
	__u32 cq_mask;
	__u32 sq_tail;
	__u32 cq_head;
};

/* The submission queue's head: the kernel has taken the entries before it. */
static inline __u32 ring_sq_head(const struct ring *r)
{
	return __atomic_load_n(&r->head->sq.head, __ATOMIC_ACQUIRE);
}

/* Entries that the kernel has not taken. The head is read first: it never passes the tail. */
static inline __u32 ring_sq_pending(const struct ring *r)
{
	__u32 head = ring_sq_head(r);

	return __atomic_load_n(&r->sq_tail, __ATOMIC_RELAXED) - head;
}

/* The slot of the next entry; NULL if the queue is full. */
static inline struct mrpc_sqe *ring_sq_slot(const struct ring *r)
{
	if (ring_sq_pending(r) > r->sq_mask)
		return NULL;
	return &r->sqes[r->sq_tail & r->sq_mask];
}

static inline void ring_sq_publish(struct ring *r)
{
	__u32 tail = r->sq_tail + 1;

	__atomic_store_n(&r->sq_tail, tail, __ATOMIC_RELAXED);
	__atomic_store_n(&r->head->sq.tail, tail, __ATOMIC_RELEASE);
}

/* Copies the next completion out; false if there is none. */
static inline bool ring_cq_pop(struct ring *r, struct mrpc_cqe *cqe)
{
	if (__atomic_load_n(&r->head->cq.tail, __ATOMIC_ACQUIRE) == r->cq_head)
		return false;
	*cqe = r->cqes[r->cq_head & r->cq_mask];
	__atomic_store_n(&r->head->cq.head, ++r->cq_head, __ATOMIC_RELEASE);
	return true;
}

static inline bool ring_cq_empty(const struct ring *r)
{
	return __atomic_load_n(&r->head->cq.tail, __ATOMIC_ACQUIRE) == r->cq_head;
}

/*
 * The new head must be visible before the queue is looked at again. The kernel signals only when
 * it adds to an empty queue. Otherwise the kernel and the application, which found no more
 * entries, could miss each other.
 */
static inline bool ring_cq_empty_for_sleep(const struct ring *r)
{
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	return ring_cq_empty(r);
}

/* Does the kernel have work that waits until the application enters? */
static inline bool ring_kernel_pending(const struct ring *r)
{
	return __atomic_load_n(&r->head->flags, __ATOMIC_RELAXED) & MRPC_QP_PENDING;
}

#endif /* LIBMRPC_RING_H */
