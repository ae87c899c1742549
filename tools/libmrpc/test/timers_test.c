// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Times in order, against a search of all.
 */
#include "session.h"
#include "timers.h"

#define NR	200

TEST(random)
{
	static struct timer timers[NR];
	struct timer *heap = NULL;
	u32 seed = 1, i, j, n;
	u64 least;

	for (i = 0; i < 100000; i++) {
		seed = seed * 1664525 + 1013904223;
		n = (seed >> 16) % NR;
		if (timers[n].prev) {
			timers_del(&heap, &timers[n]);
		} else {
			timers[n].at = seed >> 8 & 255;
			timers_add(&heap, &timers[n]);
		}
		for (j = 0, least = UINT64_MAX; j < NR; j++)
			if (timers[j].prev && timers[j].at < least)
				least = timers[j].at;
		CHECK_EQ(heap ? heap->at : UINT64_MAX, least);
	}
	/* All that is left comes out in order. */
	for (least = 0; heap; least = n) {
		n = (u32)heap->at;
		CHECK(n >= least);
		timers_del(&heap, heap);
	}
	for (i = 0; i < NR; i++)
		CHECK(!timers[i].prev);
}
