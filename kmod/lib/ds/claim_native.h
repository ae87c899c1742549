/* SPDX-License-Identifier: GPL-2.0 */
/*
 * User-space versions of the kernel's atomics and barriers that claim.h and ring.h use.
 *
 * By default they use the compiler's C11 atomics. A test that defines MRPC_CLAIM_MODEL
 * supplies the mrpc_model_*() functions instead. Then the test's scheduler may, at every
 * operation, switch threads or delay the visibility of a store.
 *
 * <stdatomic.h> cannot be included together with this file: it defines some of the kernel's
 * names with another meaning.
 */
#ifndef MRPC_LIB_DS_CLAIM_NATIVE_H
#define MRPC_LIB_DS_CLAIM_NATIVE_H

#include "lib/ds/types.h"

typedef struct { int counter; } atomic_t;

#ifndef MRPC_CLAIM_MODEL

#define READ_ONCE(x)		__atomic_load_n(&(x), __ATOMIC_RELAXED)
#define WRITE_ONCE(x, v)	__atomic_store_n(&(x), v, __ATOMIC_RELAXED)
/* The barriers: each place of use says what its barrier pairs with. */
#define smp_load_acquire(p)	__atomic_load_n(p, __ATOMIC_ACQUIRE) /* load */
#define smp_store_release(p, v)	__atomic_store_n(p, v, __ATOMIC_RELEASE) /* store */
#define smp_mb()		__atomic_thread_fence(__ATOMIC_SEQ_CST) /* full */

/* Nothing to do: the atomic operation itself is the barrier. */
static inline void mrpc_model_rmw(const void *p)
{
	(void)p;
}

#else

/*
 * @size is 4 or 8. A load sees the own stores of its thread. Other threads see a store some
 * time later. They see a release store only after the thread's earlier stores. The barrier
 * waits until all stores of the thread are visible; so does the read-modify-write that
 * follows at @p.
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
	return smp_load_acquire(&v->counter); /* pairs with the writers of @v */
}

static inline void atomic_set(atomic_t *v, int i)
{
	WRITE_ONCE(v->counter, i);
}

/* As in the kernel, the functions that return a value are full barriers when they succeed. */

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
