/* SPDX-License-Identifier: GPL-2.0 */
/* How much faster AllReduce is than in random rings: over all jobs and runs. */
#ifndef SIM_GROUP_RESULT_H
#define SIM_GROUP_RESULT_H

#include <stdio.h>

#include "group.h"

/**
 * struct group_result - of one placement and strategy
 * @placement: enum group_placement
 * @strategy: enum group_strategy
 * @speedup: mean over jobs: time in a random ring / time
 * @run_least, @run_most: means of single runs
 * @p10, @p50, @p90: of jobs
 * @milliseconds: mean over jobs of a mean AllReduce
 * @racks: mean over jobs: in which a job has GPUs
 * @at_a_time: mean over time: jobs that run
 */
struct group_result {
	u8 placement;
	u8 strategy;
	double speedup;
	double run_least;
	double run_most;
	double p10;
	double p50;
	double p90;
	double milliseconds;
	double racks;
	double at_a_time;
};

/**
 * group_results() - run all strategies
 * @c: configuration; seeds of runs begin with its seed
 * @runs: for each strategy
 * @results: out: GROUP_STRATEGIES, of the placement of @c
 */
void group_results(const struct group_config *c, u32 runs, struct group_result *results);

/** group_print() - a table; group_print_json() - JSON */
void group_print(FILE *out, const struct group_config *c, u32 runs,
		 const struct group_result *results, u32 nr);
void group_print_json(FILE *out, const struct group_config *c, u32 runs,
		      const struct group_result *results, u32 nr);

#endif /* SIM_GROUP_RESULT_H */
