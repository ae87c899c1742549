/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Jobs that run AllReduce in rings over a shared cluster. The rings and routes are those of
 * kmod/lib/group, or random ones.
 */
#ifndef SIM_GROUP_H
#define SIM_GROUP_H

#include "cluster.h"

enum group_placement {
	GROUP_RANDOM,	/* any free GPUs */
	GROUP_COMPACT,	/* GPUs of one rack, if a rack has enough */
	GROUP_PLACEMENTS,
};

enum group_strategy {
	GROUP_RANDOM_RING,	/* one ring in random order; each flow has a random route */
	GROUP_OR,		/* as many optimal rings as paths; each flow has a random route */
	GROUP_OR_FFA,		/* the same rings; mrpc_flow_assign() chooses routes */
	GROUP_OR_FFA_TURNS,	/* and each ring leaves a host by another network device */
	GROUP_STRATEGIES,
};

/**
 * struct group_config - of a run
 * @cluster: where
 * @placement: enum group_placement
 * @jobs: how many
 * @sizes: GPUs of a job: one of these two, equally likely
 * @bytes: that an AllReduce sums up
 * @iterations: AllReduces of each job, one after the other
 * @arrival: mean seconds between jobs
 * @busy: part of the hosts that others use
 * @seed: of all that is random
 */
struct group_config {
	struct cluster cluster;
	u8 placement;
	u32 jobs;
	u32 sizes[2];
	double bytes;
	u32 iterations;
	double arrival;
	double busy;
	u64 seed;
};

/**
 * struct group_run - what a run has shown
 * @seconds: of each job: a mean AllReduce
 * @racks: mean over jobs: in which a job has GPUs
 * @at_a_time: mean over time: jobs that run
 * @bytes: that flows were to carry
 * @carried: that links of GPUs to leaves carried
 */
struct group_run {
	double *seconds;
	double racks;
	double at_a_time;
	double bytes;
	double carried;
};

/**
 * group_run() - simulate all jobs under one strategy
 * @c: configuration; the same one draws the same jobs for all strategies
 * @strategy: enum group_strategy
 * @run: out; the caller frees @seconds
 */
void group_run(const struct group_config *c, u8 strategy, struct group_run *run);

/** group_room() - Return: the number of GPUs of hosts that others do not use */
u32 group_room(const struct group_config *c);

#endif /* SIM_GROUP_H */
