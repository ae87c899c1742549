// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/lib/ds/claim */
/*
 * The claim in every interleaving of two to four threads. What must hold:
 *
 * - no owner ever finds another one, nor is there one while the claim is disabled;
 * - when all has come to rest, all work is done, unless the claim is disabled
 *   and says by MISSED that enable has to look.
 */
#define MRPC_CLAIM_MODEL
#include "lib/ds/claim.h"
#include "interleave.h"
#include "tap.h"

#define SUBMITTERS	3

static struct {
	struct mrpc_claim claim;
	u32 work[SUBMITTERS];	/* submitted; each written by one thread */
	u32 done[SUBMITTERS];	/* by the owner */
	u32 kicks;		/* work items queued */
	u32 owners;
	u32 disabled;
	u32 budget;		/* pieces of work until the owner yields */
} w;

static void init(void)
{
	memset(&w, 0, sizeof(w));
	mrpc_claim_init(&w.claim);
	w.budget = U32_MAX;
	il_watch(&w, sizeof(w));
	il_track(&w.claim, sizeof(w.claim));
	il_track(w.work, sizeof(w.work));
}

static void init_budget(void)
{
	init();
	w.budget = 1;
}

/* Between an operation and the next point no other thread runs: the checks are atomic with it. */
static void own(void)
{
	il_assert(!w.owners);
	il_assert(!w.disabled);
	w.owners++;
}

static void disown(void)
{
	w.owners--;
}

/* What every submitter, work item and enabler does; @where: by which call in its program. */
static void execute(u32 where)
{
	bool begun = mrpc_claim_begin(&w.claim);
	u32 left = w.budget;
	u32 i;

	il_forget(where << 16 | begun << 15);
	if (!begun)
		return;
	own();
	do {
		for (i = 0; i < SUBMITTERS; i++) {
			u32 work;

			il_forget(where << 16 | 1 << 14 | (left & 0xff) << 4 | i);
			work = READ_ONCE(w.work[i]);
			il_assert(w.owners == 1);
			il_note(w.done[i]);
			if (work == w.done[i])
				continue;
			if (!left--) {
				mrpc_claim_yield(&w.claim);
				disown();
				/* Bound to look, but slow to arrange it. */
				il_point();
				w.kicks++;
				return;
			}
			w.done[i] = work;
		}
	} while (mrpc_claim_end(&w.claim));
	il_forget(where << 16);
	disown();
}

static void submit(u32 i, u32 nth)
{
	WRITE_ONCE(w.work[i], nth);
	execute(nth);
}

static void submit_a(void)
{
	submit(0, 1);
}

static void submit_b(void)
{
	submit(1, 1);
}

static void submit_c(void)
{
	submit(2, 1);
}

static void submit_a_twice(void)
{
	submit(0, 1);
	submit(0, 2);
}

static void submit_b_twice(void)
{
	submit(1, 1);
	submit(1, 2);
}

static bool kicked(void)
{
	return w.kicks;
}

/* The work item: never ends, so it is also there after the last submitter. */
static void worker(void)
{
	for (;;) {
		il_wait(kicked);
		w.kicks--;
		execute(0);
	}
}

static bool not_running(void)
{
	return !(w.claim.state.counter & MRPC_CLAIM_RUN);
}

static void disable(void)
{
	if (!mrpc_claim_disable(&w.claim))
		while (!mrpc_claim_idle(&w.claim))
			il_wait(not_running);
	il_assert(!w.owners);
	w.disabled = 1;
	il_point();
	il_assert(!w.owners);
}

static void enable(u32 where)
{
	bool missed = mrpc_claim_enable(&w.claim);

	w.disabled = 0;
	il_forget(where << 16 | missed << 15);
	if (missed)
		execute(where);
}

static void disable_enable(void)
{
	disable();
	enable(1);
}

static void disable_enable_twice(void)
{
	disable();
	enable(1);
	disable();
	enable(2);
}

/* Thinks better of it before the owner is out. */
static void disable_enable_at_once(void)
{
	mrpc_claim_disable(&w.claim);
	enable(1);
}

static void end(void)
{
	u32 state = w.claim.state.counter;
	u32 i, left = 0;
	int t;

	for (t = 0; t < il.nr_threads; t++)
		il_assert(il.s->thread[t] == worker || il_done(t));
	for (i = 0; i < SUBMITTERS; i++)
		left |= w.work[i] - w.done[i];
	il_assert(!w.owners);
	il_assert(!(state & MRPC_CLAIM_RUN));
	il_assert(!!(state & MRPC_CLAIM_DISABLE) == w.disabled);
	if (w.disabled)
		il_assert(!left || (state & MRPC_CLAIM_MISSED));
	else
		il_assert(!left && !state);
}

#define SCENARIO(name, start, ...)						\
TEST(name)									\
{										\
	static const struct il_scenario s = { start, { __VA_ARGS__ }, end };	\
										\
	CHECK(!il_run(#name, &s));						\
}

SCENARIO(claim_two_submitters, init, submit_a_twice, submit_b_twice)
SCENARIO(claim_three_submitters, init, submit_a, submit_b, submit_c)
SCENARIO(claim_yield, init_budget, submit_a_twice, submit_b, worker)
SCENARIO(claim_yield_three_submitters, init_budget, submit_a, submit_b, submit_c, worker)
SCENARIO(claim_disable, init, submit_a, disable)
SCENARIO(claim_disable_two_submitters, init, submit_a, submit_b, disable)
SCENARIO(claim_disable_yield, init_budget, submit_a, submit_b, disable, worker)
SCENARIO(claim_enable, init, submit_a_twice, submit_b, disable_enable)
SCENARIO(claim_enable_twice, init, submit_a, submit_b, disable_enable_twice)
SCENARIO(claim_enable_yield, init_budget, submit_a, submit_b, disable_enable, worker)
SCENARIO(claim_enable_at_once, init, submit_a, submit_b, disable_enable_at_once)
SCENARIO(claim_enable_at_once_yield, init_budget, submit_a, submit_b, disable_enable_at_once,
	 worker)
