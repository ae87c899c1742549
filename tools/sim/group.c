// SPDX-License-Identifier: GPL-2.0
/* The run: jobs come, their AllReduces share the network, they end. */
#include <math.h>

#include "group.h"
#include "group_rings.h"
#include "memory.h"
#include "shares.h"

/**
 * struct world - a run under way
 * @c: configuration
 * @strategy: enum group_strategy
 * @shares: the network
 * @jobs: all
 * @used: of each GPU: a job or another user has it
 * @now: s
 * @come: jobs that have arrived
 * @running, @ended: numbers of jobs
 * @run: what is measured
 */
struct world {
	const struct group_config *c;
	u8 strategy;
	struct shares shares;
	struct group_job *jobs;
	bool *used;
	double now;
	u32 come;
	u32 running;
	u32 ended;
	struct group_run *run;
};

static bool uses_ffa(const struct world *w)
{
	return w->strategy == GROUP_OR_FFA || w->strategy == GROUP_OR_FFA_TURNS;
}

/*
 * Each ring sums up its part of the bytes. On each of its edges go 2 (n - 1) / n of them: once
 * around for sums, once for the results.
 */
static void allreduce_begin(struct world *w, u32 index)
{
	struct group_job *job = &w->jobs[index];
	double bytes = 2 * w->c->bytes * (job->size - 1) / job->size / job->rings;
	u32 links[CLUSTER_WAY], i, nr;
	struct group_edge *e;

	if (job->stale)
		group_edges_make(w->c, job);
	job->began = w->now;
	job->under_way = job->nr_edges;
	for (i = 0; i < job->nr_edges; i++) {
		e = &job->edges[i];
		nr = cluster_way(&w->c->cluster, e->from, e->to, e->spine, links);
		shares_add(&w->shares, index, e->count, links, nr, bytes);
		w->run->bytes += bytes * e->count;
	}
}

/* Jobs that wait get GPUs in the order in which they have come. */
static void jobs_start(struct world *w)
{
	struct group_job *job;
	u32 i;

	for (i = 0; i < w->come; i++) {
		job = &w->jobs[i];
		if (job->state != JOB_WAITS)
			continue;
		if (!group_job_place(w->c, job, w->used))
			return;
		job->state = JOB_RUNS;
		w->running++;
		w->run->racks += (double)group_job_racks(w->c, job) / w->c->jobs;
		group_rings_make(w->c, w->strategy, job);
		if (uses_ffa(w))
			group_routes_assign(w->c, w->jobs);
		allreduce_begin(w, i);
	}
}

static void job_end(struct world *w, struct group_job *job)
{
	u32 i;

	job->state = JOB_ENDED;
	w->running--;
	w->ended++;
	for (i = 0; i < job->size; i++)
		w->used[job->gpus[i]] = false;
	if (uses_ffa(w))
		group_routes_assign(w->c, w->jobs);
}

static void edge_ended(struct world *w, u32 index)
{
	struct group_job *job = &w->jobs[index];

	if (--job->under_way)
		return;
	job->seconds += w->now - job->began;
	if (--job->left)
		allreduce_begin(w, index);
	else
		job_end(w, job);
}

/* Lets time pass until the next event, and handles all that happen then. */
static void step(struct world *w)
{
	double flows = shares_next(&w->shares), seconds = flows;
	u32 owner;

	if (w->come < w->c->jobs)
		seconds = fmin(flows, fmax(w->jobs[w->come].arrives - w->now, 0));
	shares_advance(&w->shares, seconds);
	w->now += seconds;
	w->run->at_a_time += w->running * seconds;
	while (shares_end(&w->shares, &owner))
		edge_ended(w, owner);
	while (w->come < w->c->jobs && w->jobs[w->come].arrives <= w->now)
		w->jobs[w->come++].state = JOB_WAITS;
	jobs_start(w);
	shares_update(&w->shares);
}

u32 group_room(const struct group_config *c)
{
	u32 gpus = cluster_gpus(&c->cluster), i, room = gpus;
	bool *used = sim_zalloc(gpus * sizeof(*used));

	group_hosts_draw(c, used);
	for (i = 0; i < gpus; i++)
		room -= used[i];
	free(used);
	return room;
}

void group_run(const struct group_config *c, u8 strategy, struct group_run *run)
{
	u32 gpus = cluster_gpus(&c->cluster), i;
	struct world w = { .c = c, .strategy = strategy, .run = run };

	*run = (struct group_run){ .seconds = sim_zalloc(c->jobs * sizeof(double)) };
	shares_init(&w.shares, cluster_links(&c->cluster), c->cluster.mbps * 1e6 / 8);
	w.jobs = group_jobs_draw(c);
	w.used = sim_zalloc(gpus * sizeof(*w.used));
	group_hosts_draw(c, w.used);
	while (w.ended < c->jobs)
		step(&w);
	for (i = 0; i < c->jobs; i++)
		run->seconds[i] = w.jobs[i].seconds / c->iterations;
	for (i = 0; i < gpus; i++)
		run->carried += w.shares.links[i].carried;
	run->at_a_time /= w.now;
	group_jobs_free(w.jobs, c->jobs);
	shares_fini(&w.shares);
	free(w.used);
}
