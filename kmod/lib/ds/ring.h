/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The kernel's side of a queue pair's two rings (struct mrpc_ring).
 *
 * The peer is an application that may write anything into the shared memory at
 * any time. So the kernel keeps its own counters and only ever publishes them
 * (it reads one back only to say what the application can see, mrpc_cq_ready());
 * of the other side's counter it reads one value, once, and judges it; and an
 * index is always masked.
 *
 * The submission side runs under the queue pair's submit mutex, who posts
 * completions holds the queue pair's lock. Room for them is promised without it.
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
 * @ring: shared; the application writes tail, we write head
 * @entries: shared; written by the application
 * @mask: number of entries, a power of two, less one
 * @head: ours; the next entry to consume
 */
struct mrpc_sq {
	struct mrpc_ring *ring;
	const struct mrpc_sqe *entries;
	u32 mask;
	u32 head;
};

/**
 * struct mrpc_cq - producer of a completion queue
 * @ring: shared; the application writes head, we write tail
 * @entries: shared; written by us
 * @mask: number of entries, a power of two, less one
 * @tail: ours; the next entry to produce
 * @promised: where tail will be once everything is posted that was promised by
 *	mrpc_cq_reserve()
 */
struct mrpc_cq {
	struct mrpc_ring *ring;
	struct mrpc_cqe *entries;
	u32 mask;
	u32 tail;
	atomic_t promised;
};

/*
 * Copies an entry, each byte read once and written once, whatever the compiler
 * would like to do with shared memory. It would also leave this a loop, 42
 * instructions instead of 16.
 */
static inline void mrpc_ring_copy(void *to, const void *from)
{
	typedef u64 __attribute__((__may_alias__)) word;
	const word *src = from;
	word *dst = to;
	u32 i;

	/* Else it works each word's address out before it reads or writes it. */
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
 * @sqe: out: private copy; the shared entry is not looked at again
 *
 * Return: 1: copied, to be followed by mrpc_sq_consume() unless the caller
 * leaves it for later; 0: the queue is empty; -EPROTO: the application's tail
 * is impossible.
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

/** mrpc_sq_consume() - the entry that mrpc_sq_peek() copied is the application's again */
static inline void mrpc_sq_consume(struct mrpc_sq *sq)
{
	sq->head++;
	/* Release: the application overwrites the entry only after we have read it. */
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
 * An impossible head counts as a full queue: nothing more is promised, and who
 * waits for completions does not wait.
 */
static inline u32 mrpc_cq_used(const struct mrpc_cq *cq)
{
	u32 used = cq->tail - READ_ONCE(cq->ring->head);

	return min(used, cq->mask + 1);
}

/**
 * mrpc_cq_ready() - completions that the application finds in the ring
 *
 * Our own tail is ahead of the published one while an entry is posted; who is told
 * that he need not wait must find the entry. An application that forges either
 * counter deceives only itself.
 */
static inline u32 mrpc_cq_ready(const struct mrpc_cq *cq)
{
	/* Acquire: the application may look at once, at entries and tail. */
	return smp_load_acquire(&cq->ring->tail) - READ_ONCE(cq->ring->head);
}

/** mrpc_cq_reserved() - entries promised and not yet posted; who posts is kept out */
static inline u32 mrpc_cq_reserved(const struct mrpc_cq *cq)
{
	return (u32)atomic_read(&cq->promised) - cq->tail;
}

/* Is there room for @n more, and @spare besides, where so much was promised? */
static inline bool mrpc_cq_fits(const struct mrpc_cq *cq, u32 promised, u32 head, u32 n, u32 spare)
{
	u32 size = cq->mask + 1;
	/* A head that moved back can make it more than the size. */
	u32 taken = min(promised - head, size);

	return n <= size - taken && spare <= size - taken - n;
}

/** mrpc_cq_room() - would mrpc_cq_reserve() find room now? Does not promise it */
static inline bool mrpc_cq_room(const struct mrpc_cq *cq, u32 n, u32 spare)
{
	u32 head = smp_load_acquire(&cq->ring->head);	/* as there: before the tail */

	return READ_ONCE(cq->tail) - head <= cq->mask + 1 &&
	       mrpc_cq_fits(cq, atomic_read(&cq->promised), head, n, spare);
}

/**
 * mrpc_cq_reserve() - promise room for @n completions
 * @spare: places that must be left besides, at most as many as there are
 *
 * Return: false, and nothing is reserved, if there is not so much room.
 */
static inline bool mrpc_cq_reserve(struct mrpc_cq *cq, u32 n, u32 spare)
{
	/* Acquire: a slot is written only after the application has read it. */
	u32 head = smp_load_acquire(&cq->ring->head);
	int old = atomic_read(&cq->promised);

	/* The tail is read later than the head, which it therefore never follows. */
	if (READ_ONCE(cq->tail) - head > cq->mask + 1)
		return false;
	do {
		if (!mrpc_cq_fits(cq, old, head, n, spare))
			return false;
	} while (!atomic_try_cmpxchg(&cq->promised, &old, old + n));
	return true;
}

/** mrpc_cq_unreserve() - give back room that will not be needed */
static inline void mrpc_cq_unreserve(struct mrpc_cq *cq, u32 n)
{
	atomic_sub(n, &cq->promised);
}

/**
 * mrpc_cq_post() - post a completion, for which room was reserved
 *
 * Who may sleep until there is one is looked for after a full barrier: that of
 * mrpc_cq_was_empty(), or one of the caller's.
 */
static inline void mrpc_cq_post(struct mrpc_cq *cq, const struct mrpc_cqe *cqe)
{
	u32 old = cq->tail;

	/* Whatever became of the application's head since the reservation, the
	 * index stays inside: what it can lose is its own completions.
	 */
	mrpc_ring_copy(&cq->entries[old & cq->mask], cqe);
	WRITE_ONCE(cq->tail, old + 1);
	smp_store_release(&cq->ring->tail, old + 1); /* the entry's bytes come first */
}

/**
 * mrpc_cq_was_empty() - must the eventfd be signalled for what was just posted?
 *
 * Return: true if the queue went from empty to non-empty; who posts is kept out.
 *
 * An application that wants to sleep on the eventfd stores its head, executes a
 * full barrier and reads tail again; it sleeps only if they are equal. Of its
 * store of head and ours of tail at least one is then seen by the other side.
 */
static inline bool mrpc_cq_was_empty(const struct mrpc_cq *cq)
{
	smp_mb(); /* pairs with the one before the application's second look at tail */
	return READ_ONCE(cq->ring->head) == cq->tail - 1;
}

#endif /* MRPC_LIB_DS_RING_H */
