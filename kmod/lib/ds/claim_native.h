/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The kernel's atomics and barriers that claim.h and ring.h use, natively.
 *
 * By default over the compiler's C11 atomics. A test that defines
 * MRPC_CLAIM_MODEL supplies the mrpc_model_*() functions instead: there, every
 * operation is a point where its scheduler may switch threads or let a store
 * become visible later.
 *
 * <stdatomic.h> cannot be included with this: it gives some of the kernel's
 * names another meaning.
 */
#ifndef MRPC_LIB_DS_CLAIM_NATIVE_H
#define MRPC_LIB_DS_CLAIM_NATIVE_H

#include "lib/ds/types.h"

typedef struct { int counter; } atomic_t;

#ifndef MRPC_CLAIM_MODEL

#define READ_ONCE(x)		__atomic_load_n(&(x), __ATOMIC_RELAXED)
#define WRITE_ONCE(x, v)	__atomic_store_n(&(x), v, __ATOMIC_RELAXED)
/* The barriers: what they pair with is said where they are used. */
#define smp_load_acquire(p)	__atomic_load_n(p, __ATOMIC_ACQUIRE) /* load */
#define smp_store_release(p, v)	__atomic_store_n(p, v, __ATOMIC_RELEASE) /* store */
#define smp_mb()		__atomic_thread_fence(__ATOMIC_SEQ_CST) /* full */

/* Nothing to do: the operation itself is the barrier. */
static inline void mrpc_model_rmw(const void *p)
{
	(void)p;
}

#else

/*
 * @size is 4 or 8. A load sees the thread's own stores; others see a store at
 * some later time, a release store not before the thread's earlier ones. The
 * barrier, and the read-modify-write about to be done at @p, wait until all of
 * the thread's stores are visible.
 */
u64 mrpc_model_load(const void *p, size_t size);
void mrpc_model_store(void *p, u64 v, size_t size, bool release);
void mrpc_model_mb(void);
void mrpc_model_rmw(const void *p);

#define READ_ONCE(x)		((__typeof__(x))mrpc_model_load(&(x), sizeof(x)))
#define WRITE_ONCE(x, v)	mrpc_model_store(&(x), v, sizeof(x), false)
#define smp_load_acquire(p)	READ_ONCE(*(p)) /* loads stay in order anyway */
#define smp_store_release(p, v)	mrpc_model_store(p, v, sizeof(*(p)), true) /* store */
#define smp_mb()		mrpc_model_mb() /* full */

#endif /* MRPC_CLAIM_MODEL */

static inline int atomic_read(const atomic_t *v)
{
	return READ_ONCE(v->counter);
}

static inline int atomic_read_acquire(const atomic_t *v)
{
	return smp_load_acquire(&v->counter); /* pairs with who writes @v */
}

static inline void atomic_set(atomic_t *v, int i)
{
	WRITE_ONCE(v->counter, i);
}

/* As in the kernel, those that return a value are full barriers when they succeed. */

static inline bool atomic_try_cmpxchg(atomic_t *v, int *old, int new)
{
	mrpc_model_rmw(&v->counter);
	return __atomic_compare_exchange_n(&v->counter, old, new, false, __ATOMIC_SEQ_CST,
					   __ATOMIC_RELAXED);
}

static inline void atomic_sub(int i, atomic_t *v)
{
	mrpc_model_rmw(&v->counter);
	__atomic_fetch_sub(&v->counter, i, __ATOMIC_RELAXED);
}

static inline int atomic_fetch_or(int i, atomic_t *v)
{
	mrpc_model_rmw(&v->counter);
	return __atomic_fetch_or(&v->counter, i, __ATOMIC_SEQ_CST);
}

static inline int atomic_fetch_andnot(int i, atomic_t *v)
{
	mrpc_model_rmw(&v->counter);
	return __atomic_fetch_and(&v->counter, ~i, __ATOMIC_SEQ_CST);
}

#endif /* MRPC_LIB_DS_CLAIM_NATIVE_H */
