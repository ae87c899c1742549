/* SPDX-License-Identifier: GPL-2.0 */
/* Which jobs come when, and which GPUs they get. */
#ifndef SIM_GROUP_JOBS_H
#define SIM_GROUP_JOBS_H

#include "group.h"

enum group_job_state { JOB_TO_COME, JOB_WAITS, JOB_RUNS, JOB_ENDED };

/**
 * struct group_edge - equal flows of a job from one GPU to another
 * @from, @to: GPUs
 * @spine: if these are in different racks
 * @count: number of flows
 */
struct group_edge {
	u32 from;
	u32 to;
	u32 spine;
	u32 count;
};

/**
 * struct group_job - a job
 * @arrives: time, s
 * @size: number of GPUs
 * @state: enum group_job_state
 * @gpus: which it has, by rank
 * @rings: number of rings
 * @order: of all rings: ranks, @size for each
 * @routes: of the edge behind each entry of @order: spine
 * @edges, @nr_edges: of all rings together
 * @stale: @edges do not have the current @routes
 * @left: AllReduces that have not ended
 * @under_way: edges with flows that have not ended
 * @began: time of the current AllReduce
 * @seconds: of all AllReduces
 * @rnd: the job's own source of chance
 */
struct group_job {
	double arrives;
	u32 size;
	u8 state;
	u32 *gpus;
	u32 rings;
	u32 *order;
	u32 *routes;
	struct group_edge *edges;
	u32 nr_edges;
	bool stale;
	u32 left;
	u32 under_way;
	double began;
	double seconds;
	u64 rnd;
};

/** group_jobs_draw() - draw all jobs; group_jobs_free() frees them */
struct group_job *group_jobs_draw(const struct group_config *c);
void group_jobs_free(struct group_job *jobs, u32 nr);

/** group_hosts_draw() - mark the GPUs of the hosts that others use in @used */
void group_hosts_draw(const struct group_config *c, bool *used);

/**
 * group_job_place() - give a job free GPUs
 * @c: configuration
 * @job: which has none
 * @used: of each GPU; those of the job become used
 *
 * The ranks are in random order. Return: false: there are not enough.
 */
bool group_job_place(const struct group_config *c, struct group_job *job, bool *used);

/** group_job_racks() - Return: the number of racks in which the job has GPUs */
u32 group_job_racks(const struct group_config *c, const struct group_job *job);

#endif /* SIM_GROUP_JOBS_H */
