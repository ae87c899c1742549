/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The claim: at most one context executes one direction of a datapath.
 *
 * Model: qdisc_run_begin/end. A context that finds RUN set sets MISSED and leaves. The owner
 * clears RUN and, after a full barrier, reads MISSED again. DISABLE keeps every context out
 * (quiesce, as napi_disable).
 */
#ifndef MRPC_LIB_DS_CLAIM_H
#define MRPC_LIB_DS_CLAIM_H

#include "lib/ds/types.h"

#ifdef __KERNEL__
#include <linux/atomic.h>
#else
/* Native: the same operations over C11 atomics, or over a test's scheduler. */
#include "lib/ds/claim_native.h"
#endif

#define MRPC_CLAIM_RUN		1
#define MRPC_CLAIM_MISSED	2
#define MRPC_CLAIM_DISABLE	4

struct mrpc_claim {
	atomic_t state;
};

static inline void mrpc_claim_init(struct mrpc_claim *c)
{
	atomic_set(&c->state, 0);
}

/**
 * mrpc_claim_begin() - try to become the owner
 *
 * Return: true if the caller now owns the claim. If false, the present owner, or the
 * context that enables the claim again, must look at the caller's work. The caller must have
 * made that work visible before the call.
 */
static inline bool mrpc_claim_begin(struct mrpc_claim *c)
{
	int old = atomic_read(&c->state);

	for (;;) {
		int new = old & (MRPC_CLAIM_RUN | MRPC_CLAIM_DISABLE) ?
			  old | MRPC_CLAIM_MISSED : MRPC_CLAIM_RUN;

		/* The cmpxchg also runs if the value does not change. Its full barrier
		 * orders the caller's work before the owner's next look at it.
		 */
		if (atomic_try_cmpxchg(&c->state, &old, new))
			return new == MRPC_CLAIM_RUN;
	}
}

/**
 * mrpc_claim_end() - give the claim back
 *
 * Return: true if another context tried to begin meanwhile. Then the caller is still the
 * owner (MISSED is cleared). It must look for work again, or hand over with
 * mrpc_claim_yield(). If DISABLE was set meanwhile, the caller no longer owns the claim, and
 * MISSED stays set for mrpc_claim_enable().
 */
static inline bool mrpc_claim_end(struct mrpc_claim *c)
{
	int old = atomic_read(&c->state);

	for (;;) {
		int new;

		if ((old & MRPC_CLAIM_MISSED) && !(old & MRPC_CLAIM_DISABLE))
			new = MRPC_CLAIM_RUN;
		else
			new = old & ~MRPC_CLAIM_RUN;
		if (atomic_try_cmpxchg(&c->state, &old, new))
			return new & MRPC_CLAIM_RUN;
	}
}

/**
 * mrpc_claim_yield() - give the claim back although work may be left
 *
 * The caller must afterwards make sure that some context begins again.
 */
static inline void mrpc_claim_yield(struct mrpc_claim *c)
{
	atomic_fetch_andnot(MRPC_CLAIM_RUN | MRPC_CLAIM_MISSED, &c->state);
}

/**
 * mrpc_claim_disable() - keep every context out
 *
 * Return: true if the claim has no owner now. If false, the caller waits until
 * mrpc_claim_idle() returns true.
 */
static inline bool mrpc_claim_disable(struct mrpc_claim *c)
{
	return !(atomic_fetch_or(MRPC_CLAIM_DISABLE, &c->state) & MRPC_CLAIM_RUN);
}

static inline bool mrpc_claim_idle(struct mrpc_claim *c)
{
	return !(atomic_read_acquire(&c->state) & MRPC_CLAIM_RUN);
}

/**
 * mrpc_claim_enable() - end of mrpc_claim_disable()
 *
 * Return: true if a context tried to begin meanwhile. Then the caller must begin, or make
 * another context begin.
 */
static inline bool mrpc_claim_enable(struct mrpc_claim *c)
{
	return atomic_fetch_andnot(MRPC_CLAIM_DISABLE | MRPC_CLAIM_MISSED, &c->state) &
	       MRPC_CLAIM_MISSED;
}

#endif /* MRPC_LIB_DS_CLAIM_H */
