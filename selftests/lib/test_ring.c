// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/lib/ds/ring */
/*
 * The kernel's side of the rings against an application: a correct one, in
 * every interleaving, and a hostile one.
 */
#define MRPC_CLAIM_MODEL
#include "lib/ds/ring.h"
#include "interleave.h"
#include "rnd.h"
#include "tap.h"

#define ENTRIES	2	/* in the interleaving tests: full and empty are near */
#define POSTS	4

static struct {
	struct mrpc_ring ring;
	struct mrpc_cqe cqes[ENTRIES];
	struct mrpc_sqe sqes[ENTRIES];
	struct mrpc_cq cq;
	struct mrpc_sq sq;
	u32 efd;		/* the eventfd's count */
	u32 posted;
	u32 consumed;
	u32 batch;		/* consumer: entries per published head */
	u32 promised;		/* reservers: entries that they have got */
} w;

static void init(void)
{
	u32 i;

	memset(&w, 0, sizeof(w));
	w.batch = 1;
	mrpc_cq_init(&w.cq, &w.ring, w.cqes, ENTRIES);
	mrpc_sq_init(&w.sq, &w.ring, w.sqes, ENTRIES);
	il_watch(&w, sizeof(w));
	il_track(&w.ring.head, sizeof(w.ring.head));
	il_track(&w.ring.tail, sizeof(w.ring.tail));
	/* One word for the entry's bytes: more would only cost time. */
	for (i = 0; i < ENTRIES; i++) {
		il_track(&w.cqes[i].user_data, sizeof(u64));
		il_track(&w.sqes[i].user_data, sizeof(u64));
	}
}

static void init_batch(void)
{
	init();
	w.batch = ENTRIES;
}

/* The other may come between the looks at what is promised and at the tail. */
static void init_reserve(void)
{
	init();
	il_track(&w.cq.tail, sizeof(w.cq.tail));
}

static bool cq_has_room(void)
{
	return (u32)w.cq.promised.counter - w.ring.head < ENTRIES;
}

/* The kernel: posts 1, 2, ... */
static void cq_producer(void)
{
	u32 i;

	for (i = 1; i <= POSTS; i++) {
		struct mrpc_cqe cqe = { .user_data = i };

		while (!mrpc_cq_reserve(&w.cq, 1, 0))
			il_wait(cq_has_room);
		mrpc_cq_post(&w.cq, &cqe);
		if (mrpc_cq_was_empty(&w.cq)) {
			il_forget(i << 1 | 1);
			il_point();
			w.efd++;
		}
		w.posted = i;
		il_forget(i << 1);
	}
}

static bool signalled(void)
{
	return w.efd;
}

/*
 * The application: drains, and sleeps on the eventfd as ring.h demands; goes on
 * until it has seen all.
 */
static void cq_consumer(void)
{
	u32 head = 0;

	for (;;) {
		u32 n = 0;

		while (n < w.batch && head != smp_load_acquire(&w.ring.tail)) {
			il_assert(READ_ONCE(w.cqes[head % ENTRIES].user_data) == head + 1);
			head++;
			n++;
			il_forget(head << 8 | n);
		}
		if (n) {
			smp_store_release(&w.ring.head, head);
			w.consumed = head;
			continue;
		}
		if (head == POSTS)
			return;
		smp_mb();
		if (head != smp_load_acquire(&w.ring.tail))
			continue;
		il_wait(signalled);
		w.efd = 0;
		il_forget(head << 8);
	}
}

static bool cq_shows(void)
{
	return w.ring.tail != w.consumed;
}

/* The application: takes what ENTER says is there, without a look at the tail. */
static void cq_enterer(void)
{
	u32 head = 0, n;

	while (head < POSTS) {
		n = mrpc_cq_ready(&w.cq);
		if (!n) {
			il_wait(cq_shows);
			continue;
		}
		il_assert(smp_load_acquire(&w.ring.tail) - head >= n);
		for (; n; n--, head++)
			il_assert(READ_ONCE(w.cqes[head % ENTRIES].user_data) == head + 1);
		smp_store_release(&w.ring.head, head);
		w.consumed = head;
		il_forget(head);
	}
}

static void cq_end(void)
{
	/* A consumer that still sleeps was never told. */
	il_assert(il_done(0) && il_done(1));
	il_assert(w.consumed == POSTS);
	il_assert(!mrpc_cq_reserved(&w.cq) && !mrpc_cq_used(&w.cq));
}

/* Several want the same room at the same time, without a lock. */
static void cq_reserver(void)
{
	u32 i;

	for (i = 0; i < ENTRIES; i++)
		if (mrpc_cq_reserve(&w.cq, 1, 0))
			w.promised++;
}

static void cq_reservers_end(void)
{
	il_assert(il_done(0) && il_done(1));
	il_assert(w.promised == ENTRIES && mrpc_cq_reserved(&w.cq) == ENTRIES);
}

static bool sq_has_room(void)
{
	return w.posted - w.ring.head < ENTRIES;
}

static void sq_producer(void)
{
	u32 tail = 0;

	while (tail < POSTS) {
		while (tail - smp_load_acquire(&w.ring.head) == ENTRIES)
			il_wait(sq_has_room);
		WRITE_ONCE(w.sqes[tail % ENTRIES].user_data, tail + 1);
		tail++;
		smp_store_release(&w.ring.tail, tail);
		w.posted = tail;
	}
}

static bool sq_has_entry(void)
{
	return w.ring.tail != w.sq.head;
}

static void sq_consumer(void)
{
	struct mrpc_sqe sqe;
	int ret;

	while (w.consumed < POSTS) {
		ret = mrpc_sq_peek(&w.sq, &sqe);
		il_assert(ret >= 0);
		if (ret) {
			il_assert(sqe.user_data == w.consumed + 1);
			w.consumed++;
			mrpc_sq_consume(&w.sq);
		} else {
			il_wait(sq_has_entry);
		}
	}
}

static void sq_end(void)
{
	il_assert(il_done(0) && il_done(1));
	il_assert(w.ring.head == POSTS);
}

#define SCENARIO(name, start, stop, ...)					\
TEST(name)									\
{										\
	static const struct il_scenario s = { start, { __VA_ARGS__ }, stop };	\
										\
	CHECK(!il_run(#name, &s));						\
}

SCENARIO(ring_cq_interleavings, init, cq_end, cq_producer, cq_consumer)
SCENARIO(ring_cq_interleavings_batch, init_batch, cq_end, cq_producer, cq_consumer)
SCENARIO(ring_cq_interleavings_enter, init_reserve, cq_end, cq_producer, cq_enterer)
SCENARIO(ring_cq_interleavings_reserve, init_reserve, cq_reservers_end, cq_reserver, cq_reserver)
SCENARIO(ring_sq_interleavings, init, sq_end, sq_producer, sq_consumer)

/*
 * Where the shared memory lies exactly between the sanitizer's red zones, so
 * that an index that follows the application's wishes is seen.
 */
struct shared {
	struct mrpc_ring *ring;
	void *entries;
	u32 nr;
};

static void shared_alloc(struct shared *s, u32 nr)
{
	s->nr = nr;
	s->ring = calloc(1, sizeof(*s->ring));
	s->entries = calloc(nr, MRPC_RING_ENTRY);
	if (!s->ring || !s->entries)
		abort();
}

static void shared_free(struct shared *s)
{
	free(s->ring);
	free(s->entries);
}

/* A counter as an attacker would choose it: near what is expected, or anywhere. */
static u32 hostile(u64 *rnd, u32 honest, u32 nr)
{
	switch (rnd_below(rnd, 6)) {
	case 0:
		return honest;
	case 1:
		return honest + nr;
	case 2:
		return honest + nr + 1;
	case 3:
		return honest - 1;
	case 4:
		return honest + rnd_below(rnd, 2 * nr + 2) - nr;
	default:
		return rnd_next(rnd);
	}
}

TEST(ring_sq_hostile)
{
	u64 rnd = 1;
	u32 round, i;

	for (round = 0; round < 300; round++) {
		u32 nr = 1U << rnd_below(&rnd, 6);
		struct mrpc_sqe sqe;
		struct mrpc_sq sq;
		struct shared s;

		shared_alloc(&s, nr);
		mrpc_sq_init(&sq, s.ring, s.entries, nr);
		/* A counter that wraps around is an ordinary one. */
		sq.head = round % 2 ? -rnd_below(&rnd, 100) : 0;
		s.ring->head = sq.head;
		for (i = 0; i < 300; i++) {
			u32 ready, expect;
			int ret;

			s.ring->tail = hostile(&rnd, sq.head, nr);
			s.ring->head = rnd_next(&rnd);
			((struct mrpc_sqe *)s.entries)[sq.head % nr].user_data = i;
			ready = s.ring->tail - sq.head;
			expect = sq.head;
			memset(&sqe, 0xff, sizeof(sqe));

			ret = mrpc_sq_peek(&sq, &sqe);
			CHECK_EQ(sq.head, expect);
			if (!ready) {
				CHECK_EQ(ret, 0);
			} else if (ready > nr) {
				CHECK_EQ(ret, -EPROTO);
			} else {
				CHECK_EQ(ret, 1);
				CHECK_EQ(sqe.user_data, i);
				/* What is changed now comes too late. */
				memset(s.entries, 0x55, (size_t)nr * MRPC_RING_ENTRY);
				CHECK_EQ(sqe.user_data, i);
				CHECK_EQ(sqe.detail_len, 0);
				mrpc_sq_consume(&sq);
				CHECK_EQ(sq.head, expect + 1);
				CHECK_EQ(s.ring->head, expect + 1);
				memset(s.entries, 0, (size_t)nr * MRPC_RING_ENTRY);
			}
		}
		shared_free(&s);
	}
}

/* A correct application: nothing is ever overwritten, whatever is reserved and given back. */
TEST(ring_cq_room)
{
	u64 rnd = 2;
	u32 round, i;

	for (round = 0; round < 300; round++) {
		u32 nr = 2U << rnd_below(&rnd, 5);
		u32 head, seen = 0, sent = 0;
		struct mrpc_cq cq;
		struct shared s;

		shared_alloc(&s, nr);
		mrpc_cq_init(&cq, s.ring, s.entries, nr);
		head = round % 2 ? -rnd_below(&rnd, 100) : 0;
		cq.tail = head;
		atomic_set(&cq.promised, head);
		s.ring->head = head;
		s.ring->tail = head;
		for (i = 0; i < 1000; i++) {
			u32 used = cq.tail - head;
			u32 held = mrpc_cq_reserved(&cq);
			u32 n = rnd_below(&rnd, nr + 2);
			u32 spare = rnd_below(&rnd, 2) ? rnd_below(&rnd, nr + 1) : 0;
			struct mrpc_cqe cqe = { .user_data = sent, .resv2 = ~sent };
			bool fits;

			switch (rnd_below(&rnd, 4)) {
			case 0:
				if (!rnd_below(&rnd, 8))
					n = U32_MAX - rnd_below(&rnd, 3);
				fits = (u64)n + spare + used + held <= nr;
				CHECK_EQ(mrpc_cq_reserve(&cq, n, spare), fits);
				CHECK_EQ(mrpc_cq_reserved(&cq), held + (fits ? n : 0));
				break;
			case 1:
				n = rnd_below(&rnd, held + 1);
				mrpc_cq_unreserve(&cq, n);
				CHECK_EQ(mrpc_cq_reserved(&cq), held - n);
				break;
			case 2:
				if (!held)
					break;
				mrpc_cq_post(&cq, &cqe);
				CHECK_EQ(mrpc_cq_was_empty(&cq), !used);
				CHECK_EQ(mrpc_cq_reserved(&cq), held - 1);
				CHECK_EQ(mrpc_cq_used(&cq), used + 1);
				CHECK_EQ(s.ring->tail, cq.tail);
				sent++;
				break;
			default:
				for (n = rnd_below(&rnd, used + 1); n; n--) {
					struct mrpc_cqe *e = s.entries;

					e += head % nr;
					CHECK_EQ(e->user_data, seen);
					CHECK_EQ(e->resv2, (u64)(u32)~seen);
					memset(e, 0xee, sizeof(*e));
					head++;
					seen++;
				}
				s.ring->head = head;
				break;
			}
			CHECK(cq.tail - head + mrpc_cq_reserved(&cq) <= nr);
		}
		shared_free(&s);
	}
}

TEST(ring_cq_hostile)
{
	u64 rnd = 3;
	u32 round, i;

	for (round = 0; round < 300; round++) {
		u32 nr = 2U << rnd_below(&rnd, 5);
		struct mrpc_cqe cqe = { 0 };
		struct mrpc_cq cq;
		struct shared s;

		shared_alloc(&s, nr);
		mrpc_cq_init(&cq, s.ring, s.entries, nr);
		for (i = 0; i < 1000; i++) {
			u32 held = mrpc_cq_reserved(&cq);
			u32 tail = cq.tail;
			u32 used;

			s.ring->head = hostile(&rnd, cq.tail, nr);
			s.ring->tail = rnd_next(&rnd);
			used = tail - s.ring->head;
			CHECK_EQ(mrpc_cq_used(&cq), used > nr ? nr : used);
			if (rnd_below(&rnd, 2)) {
				bool ok = mrpc_cq_reserve(&cq, 1, 0);

				CHECK_EQ(ok, used <= nr && used + held < nr);
			} else if (held) {
				mrpc_cq_post(&cq, &cqe);
				CHECK_EQ(mrpc_cq_was_empty(&cq), s.ring->head == tail);
				CHECK_EQ(s.ring->tail, tail + 1);
			}
			/* Never more than there are slots, however often it lies. */
			CHECK(mrpc_cq_reserved(&cq) <= nr);
		}
		shared_free(&s);
	}
}
