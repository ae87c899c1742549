// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/lib/ds/deadline */
/*
 * The heap of deadlines against a search over all of them.
 */
#include "lib/ds/deadline.h"
#include "rnd.h"
#include "tap.h"

#define CAP	40

/* Everything that must hold of a heap; @all: every element there is. */
static void check_heap(const struct mrpc_deadlines *d, const struct mrpc_deadline *all,
		       const bool *in, u32 nr)
{
	const struct mrpc_deadline *first = mrpc_deadlines_first(d);
	u32 i, count = 0;

	for (i = 0; i < nr; i++) {
		CHECK_EQ(!!all[i].pos, in[i]);
		if (!in[i])
			continue;
		count++;
		CHECK(all[i].pos <= d->nr);
		CHECK(d->heap[all[i].pos - 1] == &all[i]);
		CHECK(first && first->when <= all[i].when);
	}
	CHECK_EQ(d->nr, count);
	CHECK_EQ(!!first, !!count);
	for (i = 1; i < d->nr; i++)
		CHECK(d->heap[(i - 1) / 2]->when <= d->heap[i]->when);
}

TEST(deadline_random)
{
	struct mrpc_deadline all[CAP + 10];
	struct mrpc_deadlines d;
	bool in[CAP + 10];
	u64 rnd = 1;
	u32 round, i, k;

	for (round = 0; round < 200; round++) {
		u32 span = round % 2 ? 10 : 1000000;	/* many equal ones, or hardly any */

		memset(&d, 0, sizeof(d));
		memset(all, 0, sizeof(all));
		memset(in, 0, sizeof(in));
		d.cap = rnd_below(&rnd, CAP + 1);
		d.heap = calloc(d.cap ? d.cap : 1, sizeof(*d.heap));
		CHECK(d.heap);
		for (i = 0; i < 1000; i++) {
			k = rnd_below(&rnd, ARRAY_SIZE(all));
			if (in[k] || !rnd_below(&rnd, 4)) {
				mrpc_deadlines_del(&d, &all[k]);
				in[k] = false;
			} else {
				all[k].when = rnd_below(&rnd, span);
				if (rnd_below(&rnd, 20) == 0)
					all[k].when = ~0ULL - rnd_below(&rnd, 2);
				in[k] = d.nr < d.cap;
				CHECK_EQ(mrpc_deadlines_add(&d, &all[k]), in[k] ? 0 : -ENOSPC);
			}
			check_heap(&d, all, in, ARRAY_SIZE(all));
		}
		free(d.heap);
	}
}

/* What the timer does: takes the first until none is left. */
TEST(deadline_grows)
{
	struct mrpc_deadline all[CAP], *first;
	struct mrpc_deadlines d = { .heap = calloc(2, sizeof(*d.heap)), .cap = 2 };
	struct mrpc_deadline **heap = calloc(CAP, sizeof(*heap)), **old;
	u32 i, nr = 0;

	CHECK(d.heap && heap);
	memset(all, 0, sizeof(all));
	for (i = 0; i < CAP; i++) {
		all[i].when = CAP - i;
		if (i == 2) {
			CHECK_EQ(mrpc_deadlines_add(&d, &all[i]), -ENOSPC);
			old = d.heap;
			CHECK(mrpc_deadlines_grow(&d, heap, CAP) == old);
			free(old);
		}
		CHECK_EQ(mrpc_deadlines_add(&d, &all[i]), 0);
	}
	for (i = CAP; i--; nr++) {
		first = mrpc_deadlines_first(&d);
		CHECK(first == &all[i]);
		mrpc_deadlines_del(&d, first);
	}
	CHECK_EQ(nr, CAP);
	free(heap);
}

TEST(deadline_sorted)
{
	struct mrpc_deadline *heap[CAP], all[CAP] = { 0 };
	struct mrpc_deadlines d = { .heap = heap, .cap = CAP };
	u64 rnd = 2, last;
	u32 round, i;

	for (round = 0; round < 500; round++) {
		for (i = 0; i < CAP; i++) {
			all[i].when = rnd_below(&rnd, 100);
			CHECK_EQ(mrpc_deadlines_add(&d, &all[i]), 0);
		}
		for (last = 0, i = 0; i < CAP; i++) {
			struct mrpc_deadline *e = mrpc_deadlines_first(&d);

			CHECK(e && e->when >= last);
			last = e->when;
			mrpc_deadlines_del(&d, e);
			CHECK_EQ(e->pos, 0);
		}
		CHECK(!mrpc_deadlines_first(&d));
	}
}

/* Ascending deadlines stay where they were put. */
TEST(deadline_ascending)
{
	struct mrpc_deadline *heap[CAP], all[CAP] = { 0 };
	struct mrpc_deadlines d = { .heap = heap, .cap = CAP };
	u32 i;

	for (i = 0; i < CAP; i++) {
		all[i].when = i / 2;
		CHECK_EQ(mrpc_deadlines_add(&d, &all[i]), 0);
	}
	for (i = 0; i < CAP; i++)
		CHECK_EQ(all[i].pos, i + 1);
}

TEST(deadline_leave_is_harmless)
{
	struct mrpc_deadline *heap[1], e = { .when = 5 }, other = { .when = 1 };
	struct mrpc_deadlines d = { .heap = heap, .cap = 1 };

	mrpc_deadlines_del(&d, &e);
	CHECK_EQ(mrpc_deadlines_add(&d, &e), 0);
	mrpc_deadlines_del(&d, &other);
	CHECK(mrpc_deadlines_first(&d) == &e);
	CHECK_EQ(mrpc_deadlines_add(&d, &other), -ENOSPC);
	CHECK_EQ(other.pos, 0);
	mrpc_deadlines_del(&d, &e);
	mrpc_deadlines_del(&d, &e);
	CHECK_EQ(d.nr, 0);
}
