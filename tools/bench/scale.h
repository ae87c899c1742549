/* SPDX-License-Identifier: GPL-2.0 */
/* Between the files of scale_bench. */
#ifndef SCALE_H
#define SCALE_H

#include <stdlib.h>

#include "lib/ds/types.h"

/**
 * struct scale_case - what a call does with one structure
 * @name: one word
 * @set_up: fills it with @n entries, connections or peers
 * @turn: with entry @i, from 0 to @n - 1, any of them; @r: 32 random bits more
 * @growth: how much more instructions a turn may cost with 10,000 entries than with 16,
 *	enum scale_growth
 * @lines: lines of the cache at most that a turn may miss with 10,000
 */
struct scale_case {
	const char *name;
	void (*set_up)(u32 n);
	void (*turn)(u32 i, u32 r);
	u8 growth;
	u8 lines;
};

enum scale_growth {
	SCALE_FLAT,	/* rate at 10,000 is 0.9 of that at 16, or more */
	SCALE_LOG,	/* as log2(n), and a tenth */
	SCALE_LINEAR,	/* it has to grow, or nothing was measured */
};

/** scale_alloc() - zeroed array, or the end */
void *scale_alloc(size_t nr, size_t size);

static inline void expect(bool is)
{
	if (!is)
		abort();
}

/* scale_prio.c */
extern const struct scale_case scale_prio_calls, scale_prio_receive, scale_prio_send;

#endif /* SCALE_H */
