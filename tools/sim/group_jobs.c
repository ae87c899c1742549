// SPDX-License-Identifier: GPL-2.0
/* Jobs: when they come, and where they are. */
#include "group_jobs.h"
#include "memory.h"
#include "random.h"

enum { STREAM_JOBS, STREAM_HOSTS, STREAM_JOB };	/* one stream more for each job */

struct group_job *group_jobs_draw(const struct group_config *c)
{
	struct group_job *jobs = sim_zalloc(c->jobs * sizeof(*jobs));
	u64 rnd = sim_seed(c->seed, STREAM_JOBS);
	double now = 0;
	u32 i;

	for (i = 0; i < c->jobs; i++) {
		now += sim_exponential(&rnd, c->arrival);
		jobs[i].arrives = now;
		jobs[i].size = c->sizes[rnd_below(&rnd, 2)];
		jobs[i].gpus = sim_zalloc(jobs[i].size * sizeof(u32));
		jobs[i].left = c->iterations;
		jobs[i].rnd = sim_seed(c->seed, STREAM_JOB + i);
	}
	return jobs;
}

void group_jobs_free(struct group_job *jobs, u32 nr)
{
	u32 i;

	for (i = 0; i < nr; i++) {
		free(jobs[i].gpus);
		free(jobs[i].order);
		free(jobs[i].routes);
		free(jobs[i].edges);
	}
	free(jobs);
}

void group_hosts_draw(const struct group_config *c, bool *used)
{
	u64 rnd = sim_seed(c->seed, STREAM_HOSTS);
	u32 host, hosts = c->cluster.racks * c->cluster.hosts, i;

	for (host = 0; host < hosts; host++)
		if (sim_chance(&rnd, c->busy * 1000000))
			for (i = 0; i < c->cluster.gpus; i++)
				used[host * c->cluster.gpus + i] = true;
}

/* -- places --------------------------------------------------------------------- */

static void shuffle(u64 *rnd, u32 *list, u32 nr)
{
	u32 i, k;

	for (i = nr; i > 1; i--) {
		k = rnd_below(rnd, i);
		swap(list[k], list[i - 1]);
	}
}

static u32 rack_free(const struct cluster *c, const bool *used, u32 rack)
{
	u32 gpus = c->hosts * c->gpus, i, nr = 0;

	for (i = 0; i < gpus; i++)
		nr += !used[rack * gpus + i];
	return nr;
}

/* The fullest rack that has room for all; if none has, the emptiest. */
static u32 choose_rack(const struct cluster *c, const bool *used, u32 want)
{
	u32 rack, room, best = 0, best_room = rack_free(c, used, 0);

	for (rack = 1; rack < c->racks; rack++) {
		room = rack_free(c, used, rack);
		if (best_room >= want ? room >= want && room < best_room : room > best_room) {
			best = rack;
			best_room = room;
		}
	}
	return best;
}

static void place_compact(const struct cluster *c, struct group_job *job, bool *used)
{
	u32 gpus = c->hosts * c->gpus, nr = 0, rack, i;

	while (nr < job->size) {
		rack = choose_rack(c, used, job->size - nr);
		for (i = rack * gpus; i < (rack + 1) * gpus && nr < job->size; i++) {
			if (used[i])
				continue;
			used[i] = true;
			job->gpus[nr++] = i;
		}
	}
	shuffle(&job->rnd, job->gpus, job->size);
}

static void place_random(const struct cluster *c, struct group_job *job, bool *used)
{
	u32 *free_gpus = sim_zalloc(cluster_gpus(c) * sizeof(u32)), nr = 0, i;

	for (i = 0; i < cluster_gpus(c); i++)
		if (!used[i])
			free_gpus[nr++] = i;
	shuffle(&job->rnd, free_gpus, nr);
	for (i = 0; i < job->size; i++) {
		job->gpus[i] = free_gpus[i];
		used[free_gpus[i]] = true;
	}
	free(free_gpus);
}

bool group_job_place(const struct group_config *c, struct group_job *job, bool *used)
{
	u32 rack, room = 0;

	for (rack = 0; rack < c->cluster.racks; rack++)
		room += rack_free(&c->cluster, used, rack);
	if (room < job->size)
		return false;
	if (c->placement == GROUP_COMPACT)
		place_compact(&c->cluster, job, used);
	else
		place_random(&c->cluster, job, used);
	return true;
}

u32 group_job_racks(const struct group_config *c, const struct group_job *job)
{
	u32 i, k, rack, nr = 0;

	for (i = 0; i < job->size; i++) {
		rack = cluster_rack_of(&c->cluster, job->gpus[i]);
		for (k = 0; k < i; k++)
			if (cluster_rack_of(&c->cluster, job->gpus[k]) == rack)
				break;
		nr += k == i;
	}
	return nr;
}
