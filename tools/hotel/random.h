/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Random numbers that are the same in each run: splitmix64.
 */
#ifndef _HOTEL_RANDOM_H
#define _HOTEL_RANDOM_H

#include <stdint.h>

static inline uint64_t random_next(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

/* From 0 to just below 1. */
static inline double random_unit(uint64_t *state)
{
	return (double)(random_next(state) >> 11) / (double)(1ULL << 53);
}

/* From @low to @high, both included. */
static inline unsigned int random_range(uint64_t *state, unsigned int low, unsigned int high)
{
	return low + (unsigned int)(random_next(state) % (high - low + 1));
}

#endif
