/* SPDX-License-Identifier: GPL-2.0 */
/* More than whole numbers from the tests' generator. */
#ifndef SIM_RANDOM_H
#define SIM_RANDOM_H

#include <math.h>

#include "rnd.h"
#include "lib/ds/types.h"

/** sim_seed() - a state for stream @stream of a run; neighbouring seeds share nothing */
static inline u64 sim_seed(u64 seed, u64 stream)
{
	u64 z = seed * 0x9e3779b97f4a7c15ULL + (stream + 1) * 0xd1b54a32d192ed03ULL;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	z ^= z >> 31;
	return z ? z : 1;
}

/** sim_uniform() - in (0, 1) */
static inline double sim_uniform(u64 *state)
{
	return (rnd_next(state) + 0.5) / 4294967296.0;
}

/** sim_exponential() - of a Poisson process's gaps */
static inline double sim_exponential(u64 *state, double mean)
{
	return -log(sim_uniform(state)) * mean;
}

/** sim_chance() - true in @ppm of a million cases */
static inline bool sim_chance(u64 *state, u32 ppm)
{
	return ppm && rnd_below(state, 1000000) < ppm;
}

#endif /* SIM_RANDOM_H */
