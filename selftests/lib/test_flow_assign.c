// SPDX-License-Identifier: GPL-2.0
/* Covers: kmod/lib/group/flow_assign */
/*
 * Paths of flows: kmod/lib/group/flow_assign.c, against a model that knows no lists and no
 * running loads, and by the shares that jobs get on a testbed of two racks.
 */
#include "lib/group/flow_assign.h"
#include "lib/group/ring_order.h"
#include "rnd.h"
#include "tap.h"

#define MAX_LINKS	64
#define MAX_PATHS	64
#define MAX_FLOWS	128

static struct mrpc_flow_link links[MAX_LINKS], empty[MAX_LINKS];
static struct mrpc_flow_path paths[MAX_PATHS];
static struct mrpc_flow_job jobs[16];
static struct mrpc_flow_bundle bundles[32];
static struct mrpc_flow flows[MAX_FLOWS];
static struct mrpc_flow_net net;

static void begin(void)
{
	memset(links, 0, sizeof(links));
	memset(paths, 0, sizeof(paths));
	memset(jobs, 0, sizeof(jobs));
	memset(bundles, 0, sizeof(bundles));
	memset(flows, 0, sizeof(flows));
	net = (struct mrpc_flow_net){ .links = links, .paths = paths, .jobs = jobs,
				      .bundles = bundles, .flows = flows };
}

static void assign(void)
{
	struct mrpc_flow_error err;
	int ret;

	memcpy(empty, links, sizeof(links));
	ret = mrpc_flow_assign(&net, &err);
	CHECK_MSG(!ret, "%d: %s %u %s: %llu", ret, err.table, err.index, err.what,
		  (unsigned long long)err.value);
}

static const struct mrpc_flow_path *path_of(u32 flow)
{
	return &paths[bundles[flows[flow].bundle].first_path + flows[flow].path];
}

static bool path_has(const struct mrpc_flow_path *p, u32 link)
{
	u32 i;

	for (i = 0; i < p->nr_links; i++)
		if (p->link[i] == link)
			return true;
	return false;
}

/* -- a model ---------------------------------------------------------------------- */

/* The flow that has the next turn, of those with @high jobs: of the least round, the first job. */
static int model_turn(const bool *placed, bool high)
{
	u32 round[16] = { 0 }, i, job, best_round = U32_MAX, best_job = 0;
	int best = -1;

	for (i = 0; i < net.nr_flows; i++) {
		job = bundles[flows[i].bundle].job;
		if (jobs[job].high == high && !placed[i] &&
		    (round[job] < best_round || (round[job] == best_round && job < best_job))) {
			best = i;
			best_round = round[job];
			best_job = job;
		}
		round[job]++;
	}
	return best;
}

/* What the worst link of @p lacks, from the flows that are placed so far. */
static s64 model_excess(const bool *placed, const struct mrpc_flow_path *p, u32 demand)
{
	s64 worst = -(1LL << 62), excess;
	u32 i, k;

	for (i = 0; i < p->nr_links; i++) {
		excess = empty[p->link[i]].load + demand - empty[p->link[i]].capacity;
		for (k = 0; k < net.nr_flows; k++)
			if (placed[k] && path_has(path_of(k), p->link[i]))
				excess += flows[k].demand;
		worst = max(worst, excess);
	}
	return worst;
}

/* Flow @f has the best path that it may have, given the flows placed before. */
static void check_best(const bool *placed, u32 f, u32 *last)
{
	const struct mrpc_flow_bundle *b = &bundles[flows[f].bundle];
	s64 got = model_excess(placed, path_of(f), flows[f].demand), other;
	u32 i, steps, got_steps = (flows[f].path + b->nr_paths - *last) % b->nr_paths;

	CHECK(flows[f].path < b->nr_paths);
	CHECK(!path_of(f)->reserved || jobs[b->job].high);
	for (i = 0; i < b->nr_paths; i++) {
		if (paths[b->first_path + i].reserved && !jobs[b->job].high)
			continue;
		other = model_excess(placed, &paths[b->first_path + i], flows[f].demand);
		steps = (i + b->nr_paths - *last) % b->nr_paths;
		CHECK(got < other || (got == other && got_steps <= steps));
	}
	*last = (flows[f].path + 1) % b->nr_paths;
}

static void check_all(void)
{
	bool placed[MAX_FLOWS] = { false };
	u32 last[32] = { 0 }, i, k, high;
	u64 load;
	int f;

	for (high = 0; high < 2; high++) {
		while ((f = model_turn(placed, high)) >= 0) {
			check_best(placed, f, &last[flows[f].bundle]);
			placed[f] = true;
		}
	}
	for (i = 0; i < net.nr_links; i++) {
		load = empty[i].load;
		for (k = 0; k < net.nr_flows; k++)
			load += path_has(path_of(k), i) ? flows[k].demand : 0;
		CHECK_EQ(links[i].load, load);
	}
}

/* Different links for each path; few values, so that there are ties. */
static void draw_network(u64 *rnd)
{
	u32 i, k;

	net.nr_links = 6 + rnd_below(rnd, MAX_LINKS - 6);
	for (i = 0; i < net.nr_links; i++) {
		links[i].capacity = 10 * (1 + rnd_below(rnd, 3));
		links[i].load = rnd_below(rnd, 4) ? 0 : 10 * rnd_below(rnd, 4);
	}
	net.nr_paths = 1 + rnd_below(rnd, MAX_PATHS);
	for (i = 0; i < net.nr_paths; i++) {
		paths[i].nr_links = 1 + rnd_below(rnd, MRPC_FLOW_PATH_LINKS);
		paths[i].link[0] = rnd_below(rnd, net.nr_links);
		for (k = 1; k < paths[i].nr_links; k++)
			paths[i].link[k] = (paths[i].link[k - 1] + 1) % net.nr_links;
		paths[i].reserved = !rnd_below(rnd, 5);
	}
}

static void draw_flows(u64 *rnd)
{
	struct mrpc_flow_bundle *b;
	u32 i;

	net.nr_jobs = 1 + rnd_below(rnd, 8);
	for (i = 0; i < net.nr_jobs; i++)
		jobs[i].high = !rnd_below(rnd, 3);
	net.nr_bundles = 1 + rnd_below(rnd, 32);
	for (i = 0; i < net.nr_bundles; i++) {
		b = &bundles[i];
		b->job = rnd_below(rnd, net.nr_jobs);
		b->first_path = rnd_below(rnd, net.nr_paths);
		b->nr_paths = 1 + rnd_below(rnd, net.nr_paths - b->first_path);
		if (!jobs[b->job].high)
			paths[b->first_path].reserved = false;
	}
	net.nr_flows = rnd_below(rnd, MAX_FLOWS + 1);
	for (i = 0; i < net.nr_flows; i++)
		flows[i] = (struct mrpc_flow){ .bundle = rnd_below(rnd, net.nr_bundles),
					       .demand = 5 * (1 + rnd_below(rnd, 3)),
					       .path = ~0, .next = ~0 };
}

TEST(each_flow_gets_the_best_path)
{
	u64 rnd = 31;
	u32 round;

	for (round = 0; round < 400; round++) {
		begin();
		draw_network(&rnd);
		draw_flows(&rnd);
		assign();
		check_all();
	}
}

/* What the last call has left in internal fields does not matter. */
TEST(again_is_the_same)
{
	u32 before[MAX_FLOWS], i;
	u64 rnd = 32;

	begin();
	draw_network(&rnd);
	draw_flows(&rnd);
	net.nr_flows = MAX_FLOWS;
	for (i = 0; i < MAX_FLOWS; i++)
		flows[i] = (struct mrpc_flow){ .bundle = i % net.nr_bundles, .demand = 7 };
	assign();
	for (i = 0; i < MAX_FLOWS; i++)
		before[i] = flows[i].path;
	memcpy(links, empty, sizeof(links));
	assign();
	for (i = 0; i < MAX_FLOWS; i++)
		CHECK_EQ(flows[i].path, before[i]);
}

/* -- the testbed -------------------------------------------------------------------- */

/*
 * Two racks of two hosts, two spine switches, each a path of 50 Gbit/s between the racks. A host
 * has two network devices of 50 Gbit/s, one for each GPU. Rings: one for each device that a job
 * uses on a host, times the two paths.
 */
enum { SPINES = 2, HOSTS = 4, GPUS = 2, MBPS = 50000 };

/* Links: up from rack r to spine s is 4 * r + s; down to rack r from spine s is 4 * r + 2 + s. */
static void begin_testbed(void)
{
	u32 i;

	begin();
	net.nr_links = 8;
	for (i = 0; i < 8; i++)
		links[i].capacity = MBPS;
	net.nr_paths = 4;
	for (i = 0; i < 4; i++) {	/* from rack 0 by each spine, from rack 1 by each */
		paths[i].nr_links = 2;
		paths[i].link[0] = 4 * (i / 2) + i % 2;
		paths[i].link[1] = 4 * (1 - i / 2) + 2 + i % 2;
	}
}

/* A job with @gpus[host]: bits of the GPUs that it uses there. */
static void add_job(const u8 *gpus)
{
	struct mrpc_ring_member m[HOSTS * GPUS];
	u32 order[HOSTS * GPUS], nr = 0, devices = 0, ring, i, from, to;
	u32 job = net.nr_jobs++, first = net.nr_bundles;
	struct mrpc_ring_error err;

	for (i = 0; i < HOSTS * GPUS; i++)
		if (gpus[i / GPUS] & BIT(i % GPUS))
			m[nr++] = (struct mrpc_ring_member){ .rack = i / GPUS / 2, .host = i / GPUS };
	for (i = 0; i < HOSTS; i++)
		devices = max(devices, (u32)__builtin_popcount(gpus[i]));
	for (i = 0; i < 2; i++)
		bundles[net.nr_bundles++] = (struct mrpc_flow_bundle){
			.job = job, .first_path = 2 * i, .nr_paths = 2 };
	for (ring = 0; ring < devices * SPINES; ring++) {
		CHECK_EQ(mrpc_ring_order(m, nr, ring, order, &err), 0);
		for (i = 0; i < nr; i++) {
			from = m[order[i]].rack;
			to = m[order[(i + 1) % nr]].rack;
			if (from != to)
				flows[net.nr_flows++] = (struct mrpc_flow){
					.bundle = first + from, .demand = MBPS / SPINES };
		}
	}
}

/* Flows of each job that a link carries. */
static u32 flows_on(u32 link, u32 job)
{
	u32 i, found = 0;

	for (i = 0; i < net.nr_flows; i++)
		found += bundles[flows[i].bundle].job == job && path_has(path_of(i), link);
	return found;
}

/*
 * Flows that share a link get equal parts of it, but no more than they ask for. All links carry
 * the same number here, so that one division is the fair share. Return: Mbit/s of a job from rack 0.
 */
static u32 share_of(u32 job)
{
	u32 rate = 0, link, i, all;

	for (link = 0; link < SPINES; link++) {
		for (i = all = 0; i < net.nr_jobs; i++)
			all += flows_on(link, i);
		if (all)
			rate += flows_on(link, job) * min(MBPS / all, (u32)MBPS / SPINES);
	}
	return rate;
}

static void check_even(void)
{
	u32 job, link;

	for (job = 0; job < net.nr_jobs; job++)
		for (link = 0; link < 8; link += 2)
			CHECK_EQ(flows_on(link, job), flows_on(link + 1, job));
}

/* Each of two jobs has both devices of a host in either rack. */
TEST(setup_1_is_equal)
{
	begin_testbed();
	add_job((u8[]){ 3, 0, 3, 0 });
	add_job((u8[]){ 0, 3, 0, 3 });
	assign();
	check_even();
	CHECK_EQ(share_of(0), 50000);
	CHECK_EQ(share_of(1), 50000);
}

/* Each of two jobs has one device of each host. */
TEST(setup_2_is_equal)
{
	begin_testbed();
	add_job((u8[]){ 1, 1, 1, 1 });
	add_job((u8[]){ 2, 2, 2, 2 });
	assign();
	check_even();
	CHECK_EQ(share_of(0), 50000);
	CHECK_EQ(share_of(1), 50000);
}

/* Job A has two devices on each of its hosts, B and C one. */
TEST(setup_3_is_2_to_1_to_1)
{
	begin_testbed();
	add_job((u8[]){ 3, 0, 3, 0 });
	add_job((u8[]){ 0, 1, 0, 1 });
	add_job((u8[]){ 0, 2, 0, 2 });
	assign();
	check_even();
	CHECK_EQ(share_of(0), 50000);
	CHECK_EQ(share_of(1), 25000);
	CHECK_EQ(share_of(2), 25000);
}

/* Job A has one device of each host, B and C the others of two hosts each. */
TEST(setup_4_is_equal)
{
	begin_testbed();
	add_job((u8[]){ 1, 1, 1, 1 });
	add_job((u8[]){ 2, 0, 2, 0 });
	add_job((u8[]){ 0, 2, 0, 2 });
	assign();
	check_even();
	CHECK(share_of(0) >= 33330);
	CHECK_EQ(share_of(1), share_of(0));
	CHECK_EQ(share_of(2), share_of(0));
}

/* The text's example: two jobs with two flows each, two routes: each route has one of each. */
TEST(each_route_has_a_flow_of_each)
{
	u32 i;

	begin_testbed();
	net.nr_jobs = net.nr_bundles = 2;
	for (i = 0; i < 2; i++)
		bundles[i] = (struct mrpc_flow_bundle){ .job = i, .nr_paths = 2 };
	net.nr_flows = 4;
	for (i = 0; i < 4; i++)
		flows[i] = (struct mrpc_flow){ .bundle = i / 2, .demand = MBPS };
	assign();
	for (i = 0; i < 4; i++)
		CHECK_EQ(flows_on(i / 2, i % 2), 1);
}

/* PFA: spine 1 is for job A alone, which also has the better part of spine 0. */
TEST(reserved_routes_are_kept)
{
	u32 link;

	begin_testbed();
	paths[1].reserved = paths[3].reserved = true;
	add_job((u8[]){ 3, 0, 3, 0 });
	add_job((u8[]){ 0, 1, 0, 1 });
	add_job((u8[]){ 0, 2, 0, 2 });
	jobs[0].high = true;
	assign();
	for (link = 1; link < 8; link += 2) {
		CHECK_EQ(flows_on(link, 1), 0);
		CHECK_EQ(flows_on(link, 2), 0);
		CHECK(flows_on(link, 0) >= 3);
	}
	CHECK(flows_on(0, 0) <= 1);
	CHECK_EQ(flows_on(0, 1), 2);
	CHECK_EQ(flows_on(0, 2), 2);
}

/* What the network already carries is gone round. */
TEST(background_is_avoided)
{
	begin_testbed();
	links[0].load = 40000;
	links[3].load = 40000;
	add_job((u8[]){ 1, 0, 1, 0 });
	assign();
	CHECK_EQ(flows_on(0, 0), 0);
	CHECK_EQ(flows_on(1, 0), 2);
	CHECK_EQ(flows_on(3, 0), 0);
	CHECK_EQ(flows_on(2, 0), 2);
}

/* -- what is refused ---------------------------------------------------------------- */

static void refused(int want, const char *table, u32 index, const char *what, u64 value)
{
	struct mrpc_flow_error err = { 0 };

	memcpy(empty, links, sizeof(links));
	CHECK_EQ(mrpc_flow_assign(&net, &err), want);
	CHECK_STR(err.table, table);
	CHECK_EQ(err.index, index);
	CHECK_STR(err.what, what);
	CHECK_EQ(err.value, value);
	CHECK(!memcmp(empty, links, sizeof(links)));
}

static void begin_good(void)
{
	begin_testbed();
	add_job((u8[]){ 1, 0, 1, 0 });
	add_job((u8[]){ 0, 1, 0, 1 });
}

/* Each makes one value wrong, and wants the words, and the value as it was put there. */
#define WRONG(where, bad, want, table, index, what)			\
	do {								\
		begin_good();						\
		where = bad;						\
		refused(want, table, index, what, bad);			\
	} while (0)

TEST(wrong_values_are_refused)
{
	WRONG(links[7].capacity, 0, -EINVAL, "link", 7, "has a capacity that is 0 or too large");
	WRONG(links[3].capacity, MRPC_FLOW_MAX_RATE + 1, -EINVAL, "link", 3,
	      "has a capacity that is 0 or too large");
	WRONG(links[3].load, MRPC_FLOW_MAX_RATE + 1, -EINVAL, "link", 3,
	      "has a load that is too large");
	WRONG(paths[2].nr_links, 0, -EINVAL, "path", 2, "has no link, or too many");
	WRONG(paths[2].nr_links, MRPC_FLOW_PATH_LINKS + 1, -EINVAL, "path", 2,
	      "has no link, or too many");
	WRONG(paths[1].link[1], 8, -EINVAL, "path", 1, "names a link that does not exist");
	WRONG(bundles[3].job, 2, -EINVAL, "bundle", 3, "names a job that does not exist");
	WRONG(bundles[3].nr_paths, 0, -EINVAL, "bundle", 3, "has no path, or too many");
	WRONG(bundles[3].nr_paths, MRPC_FLOW_BUNDLE_PATHS + 1, -EINVAL, "bundle", 3,
	      "has no path, or too many");
	WRONG(flows[5].bundle, 4, -EINVAL, "flow", 5, "names a bundle that does not exist");
	WRONG(flows[5].demand, 0, -EINVAL, "flow", 5, "has no demand");
	WRONG(net.nr_flows, MRPC_FLOW_MAX + 1, -E2BIG, "flow", MRPC_FLOW_MAX, "is one too many");
	WRONG(net.nr_bundles, MRPC_FLOW_MAX + 1, -E2BIG, "bundle", MRPC_FLOW_MAX,
	      "is one too many");
}

TEST(paths_beyond_the_end_are_refused)
{
	begin_good();
	bundles[3].nr_paths = 3;
	refused(-EINVAL, "bundle", 3, "names a path that does not exist", 4);
	bundles[3].first_path = U32_MAX;
	bundles[3].nr_paths = 2;
	refused(-EINVAL, "bundle", 3, "names a path that does not exist", (u64)U32_MAX + 1);
	bundles[3].first_path = 4;
	bundles[3].nr_paths = 1;
	refused(-EINVAL, "bundle", 3, "names a path that does not exist", 4);
}

TEST(only_reserved_paths_are_refused)
{
	begin_good();
	paths[2].reserved = paths[3].reserved = true;
	jobs[0].high = true;
	refused(-ENETUNREACH, "bundle", 3, "has only reserved paths", 2);
	jobs[1].high = true;
	assign();
}

/* Nothing overflows at the largest values. */
TEST(largest_values)
{
	u32 i;

	begin_good();
	for (i = 0; i < net.nr_links; i++)
		links[i].capacity = links[i].load = MRPC_FLOW_MAX_RATE;
	for (i = 0; i < net.nr_flows; i++)
		flows[i].demand = U32_MAX;
	assign();
	check_all();
	begin();
	assign();	/* nothing at all */
}

/* -- many ----------------------------------------------------------------------------- */

/* One job has a bundle with most flows, another one many bundles. The limit is far below n^2. */
TEST_LIMIT(many_flows, 30)
{
	enum { MANY = 100000, SPREAD = 16 };
	struct mrpc_flow *f = calloc(MANY, sizeof(*f));
	struct mrpc_flow_bundle *b = calloc(MANY / 2 + 1, sizeof(*b));
	struct mrpc_flow_error err;
	u32 i;

	begin();
	net.nr_links = net.nr_paths = SPREAD;
	for (i = 0; i < SPREAD; i++) {
		links[i].capacity = 1000;
		paths[i].nr_links = 1;
		paths[i].link[0] = i;
	}
	net.nr_jobs = 2;
	net.bundles = b;
	net.nr_bundles = MANY / 2 + 1;
	for (i = 0; i <= MANY / 2; i++)
		b[i] = (struct mrpc_flow_bundle){ .job = !!i, .nr_paths = SPREAD };
	net.flows = f;
	net.nr_flows = MANY;
	for (i = 0; i < MANY; i++)
		f[i] = (struct mrpc_flow){ .bundle = i < MANY / 2 ? 0 : i - MANY / 2 + 1,
					   .demand = 2 };
	CHECK_EQ(mrpc_flow_assign(&net, &err), 0);
	for (i = 0; i < SPREAD; i++)
		CHECK_EQ(links[i].load, 2 * MANY / SPREAD);
	free(f);
	free(b);
}
