// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/lib/ds/claim kmod/lib/ds/ring */
/*
 * The claim and the rings with real threads: what the interleaving tests leave
 * out, above all reordered loads. Everything that they are to protect is plain
 * memory here, so that the thread sanitizer, where this is built with it, sees
 * an order that is missing.
 */
#if defined(__SANITIZE_THREAD__) && !defined(__clang__)
/* It does not see fences; that only makes it demand more of the other operations. */
#pragma GCC diagnostic ignored "-Wtsan"
#endif

#include <pthread.h>
#include <sched.h>

#include "lib/ds/claim.h"
#include "lib/ds/ring.h"
#include "rnd.h"
#include "tap.h"

#define THREADS	4

static void start(pthread_t *t, void *(*fn)(void *), void *arg)
{
	CHECK_EQ(pthread_create(t, NULL, fn, arg), 0);
}

static void join(pthread_t t)
{
	CHECK_EQ(pthread_join(t, NULL), 0);
}

/* -- claim ---------------------------------------------------------------- */

#define SUBMISSIONS	20000

static struct {
	struct mrpc_claim claim;
	u32 work[THREADS];	/* atomic; each written by one thread */
	u32 done[THREADS];	/* the owner's */
	u64 runs;		/* the owner's */
	u32 kicks;		/* atomic */
	u32 stop;		/* atomic */
} c;

static void execute(void)
{
	u32 left = 3;
	u32 i;

	if (!mrpc_claim_begin(&c.claim))
		return;
	do {
		for (i = 0; i < THREADS; i++) {
			u32 work = READ_ONCE(c.work[i]);

			if (work == c.done[i])
				continue;
			if (!left--) {
				mrpc_claim_yield(&c.claim);
				__atomic_fetch_add(&c.kicks, 1, __ATOMIC_RELAXED);
				return;
			}
			c.done[i] = work;
			c.runs++;
		}
	} while (mrpc_claim_end(&c.claim));
}

static void *submitter(void *arg)
{
	u32 *work = arg;
	u32 i;

	for (i = 1; i <= SUBMISSIONS; i++) {
		WRITE_ONCE(*work, i);
		execute();
	}
	return NULL;
}

static void *worker(void *arg)
{
	for (;;) {
		u32 stop = smp_load_acquire(&c.stop);

		if (__atomic_exchange_n(&c.kicks, 0, __ATOMIC_RELAXED))
			execute();
		else if (stop)
			return arg;
		else
			sched_yield();
	}
}

static void *disabler(void *arg)
{
	while (!smp_load_acquire(&c.stop)) {
		if (!mrpc_claim_disable(&c.claim))
			while (!mrpc_claim_idle(&c.claim))
				sched_yield();
		c.runs++;	/* as if it were the owner */
		if (mrpc_claim_enable(&c.claim))
			execute();
		sched_yield();
	}
	return arg;
}

TEST(threads_claim)
{
	pthread_t sub[THREADS], kick, dis;
	u32 i;

	memset(&c, 0, sizeof(c));
	mrpc_claim_init(&c.claim);
	start(&kick, worker, NULL);
	start(&dis, disabler, NULL);
	for (i = 0; i < THREADS; i++)
		start(&sub[i], submitter, &c.work[i]);
	for (i = 0; i < THREADS; i++)
		join(sub[i]);
	smp_store_release(&c.stop, 1);
	join(dis);
	join(kick);
	/* The worker may have gone before the last kick. */
	while (c.kicks) {
		c.kicks = 0;
		execute();
	}
	for (i = 0; i < THREADS; i++)
		CHECK_EQ(c.done[i], SUBMISSIONS);
	CHECK_EQ(c.claim.state.counter, 0);
}

/* -- rings ---------------------------------------------------------------- */

#define ENTRIES		8
#define TRANSFERS	200000

static struct {
	struct mrpc_ring ring;
	struct mrpc_sqe sqes[ENTRIES];
	struct mrpc_cqe cqes[ENTRIES];
	struct mrpc_sq sq;
	struct mrpc_cq cq;
	u32 efd;	/* atomic */
	u32 stop;	/* atomic */
	u32 near;	/* atomic; what the counters are about */
} r;

static void rings_init(void)
{
	memset(&r, 0, sizeof(r));
	mrpc_sq_init(&r.sq, &r.ring, r.sqes, ENTRIES);
	mrpc_cq_init(&r.cq, &r.ring, r.cqes, ENTRIES);
}

/* The application: plain accesses to the entries, as a C program would do. */
static void *app_submits(void *arg)
{
	u32 tail;

	for (tail = 0; tail < TRANSFERS;) {
		struct mrpc_sqe *sqe = &r.sqes[tail % ENTRIES];

		if (tail - smp_load_acquire(&r.ring.head) == ENTRIES) {
			sched_yield();
			continue;
		}
		memset(sqe, 0, sizeof(*sqe));
		sqe->user_data = tail;
		sqe->detail_len = ~tail;
		smp_store_release(&r.ring.tail, ++tail);
	}
	return arg;
}

TEST(threads_sq)
{
	struct mrpc_sqe sqe;
	pthread_t app;
	u32 i;

	rings_init();
	start(&app, app_submits, NULL);
	for (i = 0; i < TRANSFERS; i++) {
		int ret;

		while (!(ret = mrpc_sq_peek(&r.sq, &sqe)))
			sched_yield();
		CHECK_EQ(ret, 1);
		CHECK_EQ(sqe.user_data, i);
		CHECK_EQ(sqe.detail_len, ~i);
		mrpc_sq_consume(&r.sq);
	}
	join(app);
	CHECK_EQ(mrpc_sq_peek(&r.sq, &sqe), 0);
}

/* Sleeps on the eventfd whenever it may: a signal that is missing hangs the test. */
static void *app_reaps(void *arg)
{
	u32 head = 0;

	while (head < TRANSFERS) {
		if (head != smp_load_acquire(&r.ring.tail)) {
			const struct mrpc_cqe *cqe = &r.cqes[head % ENTRIES];

			CHECK_EQ(cqe->user_data, head);
			CHECK_EQ(cqe->resv2, ~(u64)head);
			smp_store_release(&r.ring.head, ++head);
			continue;
		}
		smp_mb();
		if (head != smp_load_acquire(&r.ring.tail))
			continue;
		while (!__atomic_exchange_n(&r.efd, 0, __ATOMIC_RELAXED))
			sched_yield();
	}
	return arg;
}

TEST(threads_cq)
{
	pthread_t app;
	u32 i;

	rings_init();
	start(&app, app_reaps, NULL);
	for (i = 0; i < TRANSFERS; i++) {
		struct mrpc_cqe cqe = { .user_data = i, .resv2 = ~(u64)i };

		while (!mrpc_cq_reserve(&r.cq, 1, 0))
			sched_yield();
		mrpc_cq_post(&r.cq, &cqe);
		if (mrpc_cq_was_empty(&r.cq))
			__atomic_store_n(&r.efd, 1, __ATOMIC_RELAXED);
	}
	join(app);
	CHECK_EQ(mrpc_cq_used(&r.cq), 0);
}

/* Writes anything anywhere into the shared memory while the kernel works with it. */
static void *scribbler(void *arg)
{
	u64 rnd = 1;

	while (!READ_ONCE(r.stop)) {
		u32 word = rnd_below(&rnd, ENTRIES * 8);

		WRITE_ONCE(r.ring.head, READ_ONCE(r.near) + rnd_below(&rnd, 20) - 10);
		WRITE_ONCE(r.ring.tail, READ_ONCE(r.near) + rnd_below(&rnd, 20) - 10);
		WRITE_ONCE(((u64 *)r.sqes)[word], (u64)rnd_next(&rnd));
		WRITE_ONCE(((u64 *)r.cqes)[word], (u64)rnd_next(&rnd));
	}
	return arg;
}

TEST(threads_hostile)
{
	u32 i, taken = 0, posted = 0, refused = 0;
	struct mrpc_sqe sqe, copy;
	struct mrpc_cqe cqe = { 0 };
	pthread_t app;

	rings_init();
	start(&app, scribbler, NULL);
	/* On a busy machine it can take a while until both threads run at a time. */
	for (i = 0; i < TRANSFERS || taken < 100 || refused < 100 || posted < 100; i++) {
		int ret = mrpc_sq_peek(&r.sq, &sqe);

		/* The two rings go at their own paces; the scribbler follows both. */
		WRITE_ONCE(r.near, i % 2 ? r.sq.head : r.cq.tail);
		CHECK(ret == 1 || ret == 0 || ret == -EPROTO);
		if (ret == 1) {
			copy = sqe;
			mrpc_sq_consume(&r.sq);
			CHECK(!memcmp(&copy, &sqe, sizeof(sqe)));
			taken++;
		}
		refused += ret == -EPROTO;
		if (mrpc_cq_reserve(&r.cq, 1, 0)) {
			mrpc_cq_post(&r.cq, &cqe);
			posted++;
		}
		CHECK_EQ(mrpc_cq_reserved(&r.cq), 0);
		if (i % 256 == 0)
			sched_yield();
	}
	CHECK_EQ(r.sq.head, taken);
	CHECK_EQ(r.cq.tail, posted);
	WRITE_ONCE(r.stop, 1);
	join(app);
}
