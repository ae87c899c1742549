/* SPDX-License-Identifier: GPL-2.0 */
/* The rings of a job, and the routes of their flows, by a strategy. */
#ifndef SIM_GROUP_RINGS_H
#define SIM_GROUP_RINGS_H

#include "group_jobs.h"

/** group_rings_make() - make the rings of a job that has GPUs, with random routes */
void group_rings_make(const struct group_config *c, u8 strategy, struct group_job *job);

/**
 * group_routes_assign() - give the flows of all jobs that run new routes, by FFA
 * @c: configuration
 * @jobs: all jobs
 *
 * A job uses them from its next AllReduce on.
 */
void group_routes_assign(const struct group_config *c, struct group_job *jobs);

/** group_edges_make() - compute @edges from rings and routes; equal flows are one edge */
void group_edges_make(const struct group_config *c, struct group_job *job);

#endif /* SIM_GROUP_RINGS_H */
