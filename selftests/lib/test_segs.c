// SPDX-License-Identifier: GPL-2.0
/*
 * Find a byte of a byte section of many segments.
 */
#include <stdlib.h>
#include <sys/mman.h>

#include "lib/message/segs.h"
#include "rnd.h"
#include "tap.h"

#define MANY	(2U << 20)	/* segments of a message of 1 GiB, and more than a caller can have */

static struct mrpc_seg_index x;
static u32 *from;		/* of each segment */
static u32 total;
static uint64_t rnd = 1;

/* @nr segments of random lengths below @most. */
static void segs_make(u32 nr, u32 most)
{
	struct mrpc_msg_seg *segs = mmap(NULL, nr * sizeof(*segs), PROT_READ | PROT_WRITE,
					 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	u32 i;

	CHECK(segs != MAP_FAILED);
	from = malloc(nr * sizeof(*from));
	total = 0;
	for (i = 0; i < nr; i++) {
		segs[i] = (struct mrpc_msg_seg){ .len = rnd_below(&rnd, most) };
		from[i] = total;
		total += ALIGN(segs[i].len, 8);
	}
	x.segs = segs;
	x.nr_marks = mrpc_seg_marks(nr);
	x.marks = malloc(x.nr_marks * sizeof(*x.marks) + 1);
	mrpc_seg_index(&x);
}

static void segs_free(u32 nr)
{
	munmap((void *)x.segs, nr * sizeof(*x.segs));
	free(x.marks);
	free(from);
}

static void check_at(const struct mrpc_seg_at *at, u32 offset)
{
	CHECK_EQ(at->from, from[at->seg]);
	CHECK(offset >= at->from);
	CHECK(offset - at->from < ALIGN(x.segs[at->seg].len, 8));
}

/* Wherever one is, one gets to any byte; empty segments have none. */
TEST(segs_random)
{
	u32 nr, i, round;

	for (round = 0; round < 300; round++) {
		struct mrpc_seg_at at = { 0 };

		nr = 1 + rnd_below(&rnd, round % 3 ? 200 : 2000);
		segs_make(nr, round % 2 ? 3 : 100);
		for (i = 0; total && i < 500; i++) {
			u32 offset = rnd_below(&rnd, total);

			mrpc_seg_seek(&x, &at, offset);
			check_at(&at, offset);
		}
		segs_free(nr);
	}
}

/* All bytes in their order. */
TEST(segs_in_order)
{
	struct mrpc_seg_at at = { 0 };
	u32 offset;

	segs_make(1000, 40);
	for (offset = 0; offset < total; offset++) {
		mrpc_seg_seek(&x, &at, offset);
		check_at(&at, offset);
	}
	segs_free(1000);
}

/*
 * A peer asks for the first byte and the last one, again and again. Only the segments of a step are
 * looked at: all others are in pages that may not be read.
 */
TEST(segs_far)
{
	const u32 page = 4096 / sizeof(struct mrpc_msg_seg);
	struct mrpc_seg_at at = { 0 };
	u32 i, seg, offset;

	segs_make(MANY, 100);
	for (i = 0; i < 2000; i++) {
		seg = i % 2 ? rnd_below(&rnd, MANY / 8) : MANY - 1 - rnd_below(&rnd, MANY / 8);
		offset = from[seg];
		CHECK_EQ(mprotect((void *)x.segs, MANY * sizeof(*x.segs), PROT_NONE), 0);
		CHECK_EQ(mprotect((void *)&x.segs[seg / page * page], 4096, PROT_READ), 0);
		/* An empty one has no byte: the next one may be in the next page. */
		if ((seg + 1) % page == 0)
			continue;
		if (from[seg + 1] == offset)
			continue;
		mrpc_seg_seek(&x, &at, offset);
		check_at(&at, offset);
		CHECK_EQ(at.seg, seg);
	}
	CHECK_EQ(mprotect((void *)x.segs, MANY * sizeof(*x.segs), PROT_READ), 0);
	segs_free(MANY);
}
