/* SPDX-License-Identifier: GPL-2.0 */
/* How long messages are. */
#ifndef SIM_WORKLOAD_H
#define SIM_WORKLOAD_H

#include "lib/ds/types.h"

#define SIM_QUANTILES	21

/**
 * struct sim_quantile - a point of a distribution
 * @bytes: messages of at most so many
 * @ppm: are so many of a million
 */
struct sim_quantile {
	u32 bytes;
	u32 ppm;
};

/**
 * struct sim_workload - a distribution of lengths
 * @name: what it is called on the command line
 * @quantiles: its points, in order; between two of them the logarithm of the length is
 *	distributed evenly, and the first has all the weight below it
 */
struct sim_workload {
	const char *name;
	struct sim_quantile quantiles[SIM_QUANTILES];
};

/** sim_workload_find() - Return: the one of that name, or NULL */
const struct sim_workload *sim_workload_find(const char *name);

/** sim_workload_draw() - a length */
u32 sim_workload_draw(const struct sim_workload *w, u64 *random);

/** sim_workload_mean() - of @size() over all lengths; NULL: of the lengths */
double sim_workload_mean(const struct sim_workload *w, double (*size)(u32 bytes, void *arg),
			 void *arg);

/** sim_workload_below() - the part of messages that are at most @bytes long, 0 to 1 */
double sim_workload_below(const struct sim_workload *w, double bytes);

#endif /* SIM_WORKLOAD_H */
