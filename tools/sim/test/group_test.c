// SPDX-License-Identifier: GPL-2.0
/* Collectives in a cluster: links, shares, places, runs. */
#include <math.h>

#include "group_jobs.h"
#include "group_result.h"
#include "memory.h"
#include "random.h"
#include "shares.h"
#include "tap.h"

static bool near(double a, double b)
{
	return fabs(a - b) <= 1e-6 * fmax(fabs(a), fabs(b));
}

/* -- links ------------------------------------------------------------------------ */

static const struct cluster tiny = { .spines = 3, .racks = 2, .hosts = 2, .gpus = 4, .mbps = 8000 };

/* 16 GPUs: links 0 to 15 are out of them, 16 to 31 into them, 32 to 37 up, 38 to 43 down. */
TEST(ways)
{
	u32 l[CLUSTER_WAY];

	CHECK_EQ(cluster_links(&tiny), 44);
	CHECK_EQ(cluster_way(&tiny, 1, 3, 0, l), 0);
	CHECK_EQ(cluster_way(&tiny, 1, 4, 2, l), 2);
	CHECK(l[0] == 1 && l[1] == 20);
	CHECK_EQ(cluster_way(&tiny, 7, 8, 2, l), 4);
	CHECK(l[0] == 7 && l[1] == 34 && l[2] == 43 && l[3] == 24);
	CHECK_EQ(cluster_way(&tiny, 15, 0, 1, l), 4);
	CHECK(l[0] == 15 && l[1] == 36 && l[2] == 39 && l[3] == 16);
}

/* The paths for mrpc_flow_assign() are the ways of the simulated flows. */
TEST(paths_are_ways)
{
	struct mrpc_flow_link links[12];
	struct mrpc_flow_path paths[12];
	u32 l[CLUSTER_WAY], a, b, s;

	cluster_paths(&tiny, links, paths);
	for (a = 0; a < 12; a++)
		CHECK(links[a].capacity == 8000 && !links[a].load);
	for (s = 0; s < 3; s++) {
		for (a = 0; a < 2; a++) {
			b = 1 - a;
			CHECK_EQ(cluster_way(&tiny, 8 * a, 8 * b, s, l), 4);
			CHECK_EQ(paths[(a * 2 + b) * 3 + s].nr_links, 2);
			CHECK_EQ(paths[(a * 2 + b) * 3 + s].link[0], l[1] - 32);
			CHECK_EQ(paths[(a * 2 + b) * 3 + s].link[1], l[2] - 32);
		}
	}
}

/* -- shares ------------------------------------------------------------------------ */

static bool flow_uses(const struct share_flow *f, u32 link)
{
	u32 i;

	for (i = 0; i < f->nr_links; i++)
		if (f->links[i] == link)
			return true;
	return false;
}

/* What all flows of @link have together, and the largest rate of one. */
static double link_use(const struct shares *s, u32 link, double *largest)
{
	const struct share_flow *f;
	double sum = 0;
	u32 i;

	*largest = 0;
	for (i = 0; i < s->nr_active; i++) {
		f = &s->flows[s->active[i]];
		if (!flow_uses(f, link))
			continue;
		sum += f->rate * f->count;
		*largest = fmax(*largest, f->rate);
	}
	return sum;
}

/*
 * Max-min shares are the only ones with these properties: no link carries more than it can, and
 * each flow has a full link on which no other flow is faster.
 */
static void check_max_min(const struct shares *s)
{
	const struct share_flow *f;
	double largest, use;
	u32 i, k;

	for (i = 0; i < s->nr_links; i++)
		CHECK(link_use(s, i, &largest) <= s->links[i].capacity * (1 + 1e-6));
	for (i = 0; i < s->nr_active; i++) {
		f = &s->flows[s->active[i]];
		for (k = 0; k < f->nr_links; k++) {
			use = link_use(s, f->links[k], &largest);
			if (near(use, s->links[f->links[k]].capacity) && near(f->rate, largest))
				break;
		}
		CHECK_MSG(k < f->nr_links, "flow %u could be faster than %g", i, f->rate);
	}
}

static void add_random(struct shares *s, u64 *rnd)
{
	u32 links[CLUSTER_WAY], nr = 1 + rnd_below(rnd, CLUSTER_WAY), i;

	links[0] = rnd_below(rnd, s->nr_links);
	for (i = 1; i < nr; i++)
		links[i] = (links[i - 1] + 1 + rnd_below(rnd, s->nr_links / 8)) % s->nr_links;
	shares_add(s, rnd_below(rnd, 100), 1 + rnd_below(rnd, 3), links, nr,
		   1000 + rnd_below(rnd, 9000));
}

TEST(shares_are_max_min)
{
	u32 round, step, i, owner;
	struct shares s;
	u64 rnd = 41;

	for (round = 0; round < 60; round++) {
		shares_init(&s, 8 + rnd_below(&rnd, 40), 1000);
		for (i = 0; i < s.nr_links; i++)
			s.links[i].capacity = 500 * (1 + rnd_below(&rnd, 4));
		for (step = 0; step < 40; step++) {
			for (i = rnd_below(&rnd, 4); i; i--)
				add_random(&s, &rnd);
			shares_update(&s);
			check_max_min(&s);
			if (s.nr_active) {
				shares_advance(&s, shares_next(&s));
				CHECK(shares_end(&s, &owner));
			}
			while (shares_end(&s, &owner))
				;
		}
		shares_fini(&s);
	}
}

/* 10 bytes/s for flows of 100 and 50 bytes: these end after 15 and after 10 seconds. */
TEST(flows_end_in_time)
{
	struct shares s;
	u32 owner;

	shares_init(&s, 1, 10);
	CHECK(isinf(shares_next(&s)));
	shares_add(&s, 1, 1, (u32[]){ 0 }, 1, 100);
	shares_add(&s, 2, 1, (u32[]){ 0 }, 1, 50);
	shares_update(&s);
	CHECK(near(shares_next(&s), 10));
	CHECK(!shares_end(&s, &owner));
	shares_advance(&s, 10);
	CHECK(shares_end(&s, &owner) && owner == 2);
	CHECK(!shares_end(&s, &owner));
	shares_update(&s);
	CHECK(near(shares_next(&s), 5));
	shares_advance(&s, 5);
	CHECK(shares_end(&s, &owner) && owner == 1);
	CHECK(near(s.links[0].carried, 150));
	CHECK(!s.nr_active);
	shares_fini(&s);
}

/* -- places ------------------------------------------------------------------------- */

static struct group_config small(u8 placement)
{
	return (struct group_config){
		.cluster = { .spines = 4, .racks = 6, .hosts = 3, .gpus = 8, .mbps = 200000 },
		.placement = placement, .jobs = 20, .sizes = { 16, 32 }, .bytes = 100e6,
		.iterations = 6, .arrival = 0.01, .seed = 1,
	};
}

static void check_used(const struct group_job *job, const bool *before, const bool *used, u32 nr)
{
	u32 i, more = 0;

	for (i = 0; i < job->size; i++)
		CHECK(used[job->gpus[i]] && !before[job->gpus[i]]);
	for (i = 0; i < nr; i++)
		more += used[i] && !before[i];
	CHECK_EQ(more, job->size);
}

/* A compact job is in one rack if one has room, and in as few as can be else. */
TEST(places)
{
	bool used[144], before[144];
	struct group_config c;
	struct group_job *jobs;
	u32 i, round, racks;

	for (round = 0; round < 20; round++) {
		c = small(round % 2 ? GROUP_COMPACT : GROUP_RANDOM);
		c.seed = round + 1;
		jobs = group_jobs_draw(&c);
		memset(used, 0, sizeof(used));
		for (i = racks = 0; i < c.jobs; i++) {
			memcpy(before, used, sizeof(used));
			if (!group_job_place(&c, &jobs[i], used))
				break;
			check_used(&jobs[i], before, used, 144);
			racks = max(racks, group_job_racks(&c, &jobs[i]));
			/* A rack has 24 GPUs. */
			if (c.placement == GROUP_COMPACT && i < 3)
				CHECK_EQ(group_job_racks(&c, &jobs[i]), jobs[i].size == 16 ? 1 : 2);
		}
		CHECK(i >= 4 && i < 9);
		CHECK(!memcmp(before, used, sizeof(used)));
		CHECK(c.placement == GROUP_COMPACT || racks == 6);
		group_jobs_free(jobs, c.jobs);
	}
}

/* The rack that the job fills best; a job that fits in none begins in the emptiest. */
TEST(compact_fits_best)
{
	static const u8 room[6] = { 24, 16, 20, 0, 8, 5 }, want_16[6] = { 0, 16 };
	static const u8 want_32[6] = { 24, 0, 0, 0, 8 };
	struct group_config c = small(GROUP_COMPACT);
	struct group_job *jobs;
	bool used[144];
	u32 i, k, got[6];

	jobs = group_jobs_draw(&c);
	for (k = 0; k < c.jobs; k++) {
		memset(got, 0, sizeof(got));
		for (i = 0; i < 144; i++)
			used[i] = i % 24 >= room[i / 24];
		CHECK(group_job_place(&c, &jobs[k], used));
		for (i = 0; i < jobs[k].size; i++)
			got[jobs[k].gpus[i] / 24]++;
		for (i = 0; i < 6; i++)
			CHECK_EQ(got[i], jobs[k].size == 16 ? want_16[i] : want_32[i]);
	}
	group_jobs_free(jobs, c.jobs);
}

/* -- runs ---------------------------------------------------------------------------- */

/* An AllReduce alone in one rack takes what the network devices need, in any ring. */
TEST(alone_at_the_bound)
{
	struct group_config c = small(GROUP_COMPACT);
	struct group_run r;
	double bound;
	u32 s;

	c.jobs = 1;
	c.sizes[0] = c.sizes[1] = 16;
	bound = 2.0 * 15 / 16 * c.bytes * 8 / (c.cluster.mbps * 1e6);
	for (s = 0; s < GROUP_STRATEGIES; s++) {
		group_run(&c, s, &r);
		/* 4 rings that leave a host by 4 devices are 4 times as fast. */
		CHECK(near(r.seconds[0], s == GROUP_OR_FFA_TURNS ? bound / 4 : bound));
		CHECK(near(r.racks, 1));
		free(r.seconds);
	}
}

/* What flows are to carry is what network devices have sent. */
TEST(bytes_are_conserved)
{
	struct group_config c;
	struct group_run r;
	u32 s, i;

	for (s = 0; s < GROUP_STRATEGIES * GROUP_PLACEMENTS; s++) {
		c = small(s % GROUP_PLACEMENTS);
		group_run(&c, s / GROUP_PLACEMENTS, &r);
		CHECK_MSG(near(r.bytes, r.carried), "%.0f, not %.0f", r.carried, r.bytes);
		CHECK(r.bytes > 0 && r.at_a_time > 0);
		for (i = 0; i < c.jobs; i++)
			CHECK(r.seconds[i] > 0 && isfinite(r.seconds[i]));
		free(r.seconds);
	}
}

/* Of a crowded network each step of the policies gets more. */
TEST(strategies_are_in_order)
{
	struct group_result r[GROUP_STRATEGIES];
	struct group_config c = small(GROUP_RANDOM);

	group_results(&c, 2, r);
	CHECK(near(r[GROUP_RANDOM_RING].speedup, 1));
	CHECK_MSG(r[GROUP_OR].speedup > 1.1, "%g", r[GROUP_OR].speedup);
	CHECK_MSG(r[GROUP_OR_FFA].speedup > 1.05 * r[GROUP_OR].speedup, "%g, %g",
		  r[GROUP_OR_FFA].speedup, r[GROUP_OR].speedup);
	CHECK(r[GROUP_OR].p10 <= r[GROUP_OR].p50 && r[GROUP_OR].p50 <= r[GROUP_OR].p90);
	CHECK(r[GROUP_OR].run_least <= r[GROUP_OR].speedup &&
	      r[GROUP_OR].speedup <= r[GROUP_OR].run_most);
}

TEST(busy_hosts_are_left_alone)
{
	struct group_config c = small(GROUP_RANDOM);
	bool used[144] = { false };
	u32 i, nr = 0;

	c.busy = 0.5;
	group_hosts_draw(&c, used);
	for (i = 0; i < 144; i++) {
		nr += used[i];
		CHECK_EQ(used[i], used[i / 8 * 8]);
	}
	CHECK(nr > 0 && nr < 144);
	CHECK_EQ(group_room(&c), 144 - nr);
	c.busy = 0;
	CHECK_EQ(group_room(&c), 144);
	c.busy = 1;
	CHECK_EQ(group_room(&c), 0);
}
