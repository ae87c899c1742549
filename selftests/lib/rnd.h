/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Random numbers that are the same in every run: a failure comes back. A state
 * is one u64, not 0.
 */
#ifndef RND_H
#define RND_H

#include <stdint.h>

static inline unsigned int rnd_next(uint64_t *s)
{
	*s ^= *s << 13;
	*s ^= *s >> 7;
	*s ^= *s << 17;
	return *s * 0x2545f4914f6cdd1dULL >> 32;
}

/** rnd_below() - 0 to @n - 1; @n is not 0 */
static inline unsigned int rnd_below(uint64_t *s, unsigned int n)
{
	return (uint64_t)rnd_next(s) * n >> 32;
}

#endif /* RND_H */
