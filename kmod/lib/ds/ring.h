/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The kernel's side of a queue pair's two rings (struct mrpc_ring).
 *
 * The peer is an application. It may write anything into the shared memory at any time. So the
 * kernel keeps its own counters and only publishes them. It reads a published counter back only
 * to report what the application can see (mrpc_cq_ready()). It reads the application's counter
 * once and checks that value. It always masks an index.
 *
 * The queue pair's submit mutex protects the submission side. The queue pair's lock protects the
 * posting of completions. mrpc_cq_reserve() needs no lock.
 */
#ifndef MRPC_LIB_DS_RING_H
#define MRPC_LIB_DS_RING_H

#include <linux/mrpc.h>
#include "lib/ds/types.h"

#ifdef __KERNEL__
#include <asm/barrier.h>
#include <linux/atomic.h>
#include <linux/compiler.h>
#else
#include "lib/ds/claim_native.h"
#endif

#define MRPC_RING_ENTRY	64

static_assert(sizeof(struct mrpc_sqe) == MRPC_RING_ENTRY, "uapi");
static_assert(sizeof(struct mrpc_cqe) == MRPC_RING_ENTRY, "uapi");

/**
 * struct mrpc_sq - consumer of a submission queue
 * @ring: shared; the application writes tail, the kernel writes head
 * @entries: shared; written by the application
 * @mask: number of entries, a power of two, less one
 * @head: private; the next entry to consume
 */
struct mrpc_sq {
	struct mrpc_ring *ring;
	const struct mrpc_sqe *entries;
	u32 mask;
	u32 head;
};

/**
 * struct mrpc_cq - producer of a completion queue
 * @ring: shared; the application writes head, the kernel writes tail
 * @entries: shared; written by the kernel
 * @mask: number of entries, a power of two, less one
 * @tail: private; the next entry to produce
 * @promised: value of tail after all completions are posted that mrpc_cq_reserve() has
 *	promised
 */
struct mrpc_cq {
	struct mrpc_ring *ring;
	struct mrpc_cqe *entries;
	u32 mask;
	u32 tail;
	atomic_t promised;
};

/*
 * Copies an entry. Each byte is read once and written once, because the memory is shared.
 * Without the unrolling the compiler leaves a loop: 42 instructions instead of 16.
 */
static inline void mrpc_ring_copy(void *to, const void *from)
{
	typedef u64 __attribute__((__may_alias__)) word;
	const word *src = from;
	word *dst = to;
	u32 i;

	/* Without this the compiler computes the address of each word before each access. */
	OPTIMIZER_HIDE_VAR(src);
	OPTIMIZER_HIDE_VAR(dst);
#pragma GCC unroll 8
	for (i = 0; i < MRPC_RING_ENTRY / sizeof(word); i++)
		WRITE_ONCE(dst[i], READ_ONCE(src[i]));
}

/** mrpc_sq_init() - @nr: number of entries, a power of two */
static inline void mrpc_sq_init(struct mrpc_sq *sq, struct mrpc_ring *ring,
				const struct mrpc_sqe *entries, u32 nr)
{
	sq->ring = ring;
	sq->entries = entries;
	sq->mask = nr - 1;
	sq->head = 0;
}

/**
 * mrpc_sq_peek() - copy the next submission
 * @sqe: out: private copy; the shared entry is not read again
 *
 * Return: 1: copied; the caller calls mrpc_sq_consume(), unless it leaves the entry for later.
 * 0: the queue is empty. -EPROTO: the application's tail is impossible.
 */
static inline int mrpc_sq_peek(const struct mrpc_sq *sq, struct mrpc_sqe *sqe)
{
	/* Acquire: the entry's bytes are read after the tail that covers them. */
	u32 ready = smp_load_acquire(&sq->ring->tail) - sq->head;

	if (!ready)
		return 0;
	if (ready > sq->mask + 1)
		return -EPROTO;
	mrpc_ring_copy(sqe, &sq->entries[sq->head & sq->mask]);
	return 1;
}

/** mrpc_sq_consume() - give the entry that mrpc_sq_peek() copied back to the application */
static inline void mrpc_sq_consume(struct mrpc_sq *sq)
{
	sq->head++;
	/* Release: the application overwrites the entry only after the kernel has read it. */
	smp_store_release(&sq->ring->head, sq->head);
}

/** mrpc_cq_init() - @nr: number of entries, a power of two */
static inline void mrpc_cq_init(struct mrpc_cq *cq, struct mrpc_ring *ring,
				struct mrpc_cqe *entries, u32 nr)
{
	cq->ring = ring;
	cq->entries = entries;
	cq->mask = nr - 1;
	cq->tail = 0;
	atomic_set(&cq->promised, 0);
}

/**
 * mrpc_cq_used() - completions that the application has not consumed
 *
 * An impossible head counts as a full queue. Then no more room is promised, and a task that
 * waits for completions stops waiting.
 */
static inline u32 mrpc_cq_used(const struct mrpc_cq *cq)
{
	u32 used = cq->tail - READ_ONCE(cq->ring->head);

	return min(used, cq->mask + 1);
}

/**
 * mrpc_cq_ready() - completions that the application finds in the ring
 *
 * While an entry is being posted, the private tail is ahead of the published one. A task that
 * is told not to wait must find the entry, so this reads the published tail. An application
 * that forges a counter deceives only itself.
 */
static inline u32 mrpc_cq_ready(const struct mrpc_cq *cq)
{
	/* Acquire: the application may read the entries and tail at once. */
	return smp_load_acquire(&cq->ring->tail) - READ_ONCE(cq->ring->head);
}

/** mrpc_cq_reserved() - entries promised but not posted; the caller keeps posters out */
static inline u32 mrpc_cq_reserved(const struct mrpc_cq *cq)
{
	return (u32)atomic_read(&cq->promised) - cq->tail;
}

/* Is there room for @n more entries, and @spare besides, after those already promised? */
static inline bool mrpc_cq_fits(const struct mrpc_cq *cq, u32 promised, u32 head, u32 n, u32 spare)
{
	u32 size = cq->mask + 1;
	/* A head that moved back can make the difference greater than the size. */
	u32 taken = min(promised - head, size);

	return n <= size - taken && spare <= size - taken - n;
}

/** mrpc_cq_room() - does mrpc_cq_reserve() find room now? Promises nothing */
static inline bool mrpc_cq_room(const struct mrpc_cq *cq, u32 n, u32 spare)
{
	u32 head = smp_load_acquire(&cq->ring->head);	/* acquire: read before the tail */

	return READ_ONCE(cq->tail) - head <= cq->mask + 1 &&
	       mrpc_cq_fits(cq, atomic_read(&cq->promised), head, n, spare);
}

/**
 * mrpc_cq_reserve() - promise room for @n completions
 * @spare: entries that must stay free besides, at most the size of the queue
 *
 * Return: false if there is not enough room; then nothing is reserved.
 */
static inline bool mrpc_cq_reserve(struct mrpc_cq *cq, u32 n, u32 spare)
{
	/* Acquire: the kernel writes a slot only after the application has read it. */
	u32 head = smp_load_acquire(&cq->ring->head);
	int old = atomic_read(&cq->promised);

	/* The tail is read after the head. So the head is never ahead of the tail. */
	if (READ_ONCE(cq->tail) - head > cq->mask + 1)
		return false;
	do {
		if (!mrpc_cq_fits(cq, old, head, n, spare))
			return false;
	} while (!atomic_try_cmpxchg(&cq->promised, &old, old + n));
	return true;
}

/** mrpc_cq_unreserve() - give back room that is not needed */
static inline void mrpc_cq_unreserve(struct mrpc_cq *cq, u32 n)
{
	atomic_sub(n, &cq->promised);
}

/**
 * mrpc_cq_post() - post a completion, for which room is reserved
 *
 * Sleepers may wait for this completion. The caller looks for them only after a full barrier:
 * that of mrpc_cq_was_empty(), or its own.
 */
static inline void mrpc_cq_post(struct mrpc_cq *cq, const struct mrpc_cqe *cqe)
{
	u32 old = cq->tail;

	/* The application may have moved its head since the reservation. The index still
	 * stays inside the ring: the application can lose only its own completions.
	 */
	mrpc_ring_copy(&cq->entries[old & cq->mask], cqe);
	WRITE_ONCE(cq->tail, old + 1);
	smp_store_release(&cq->ring->tail, old + 1); /* the entry's bytes come first */
}

/**
 * mrpc_cq_was_empty() - must the eventfd be signalled for the entry just posted?
 *
 * Return: true if the queue went from empty to non-empty. The caller keeps posters out.
 *
 * An application that wants to sleep on the eventfd stores its head, executes a full barrier
 * and reads tail again. It sleeps only if the two are equal. So at least one side sees the
 * other's store: the application the kernel's tail, or the kernel the application's head.
 */
static inline bool mrpc_cq_was_empty(const struct mrpc_cq *cq)
{
	smp_mb(); /* pairs with the one before the application's second look at tail */
	return READ_ONCE(cq->ring->head) == cq->tail - 1;
}

#endif /* MRPC_LIB_DS_RING_H */
