// SPDX-License-Identifier: GPL-2.0
/* Rings and routes: what kmod/lib/group has to say, and random ones. */
#include "group_rings.h"
#include "lib/group/ring_order.h"
#include "memory.h"
#include "random.h"

/* -- rings ---------------------------------------------------------------------- */

/* The members in the order of their ranks, which is random. */
static void random_ring(struct group_job *job)
{
	u32 i;

	for (i = 0; i < job->size; i++)
		job->order[i] = i;
}

static void optimal_rings(const struct group_config *c, bool turns, struct group_job *job)
{
	struct mrpc_ring_member *m = sim_zalloc(job->size * sizeof(*m));
	struct mrpc_ring_error err;
	u32 i;

	for (i = 0; i < job->size; i++)
		m[i] = (struct mrpc_ring_member){
			.rack = cluster_rack_of(&c->cluster, job->gpus[i]),
			.host = cluster_host_of(&c->cluster, job->gpus[i]),
		};
	for (i = 0; i < job->rings; i++) {
		if (!mrpc_ring_order(m, job->size, turns ? i : 0, job->order + i * job->size, &err))
			continue;
		fprintf(stderr, "mrpc-sim: member %u %s: %u\n", err.member, err.what, err.value);
		exit(1);
	}
	free(m);
}

void group_rings_make(const struct group_config *c, u8 strategy, struct group_job *job)
{
	u32 i, entries;

	job->rings = strategy == GROUP_RANDOM_RING ? 1 : c->cluster.spines;
	entries = job->rings * job->size;
	job->order = sim_zalloc(entries * sizeof(u32));
	job->routes = sim_zalloc(entries * sizeof(u32));
	job->edges = sim_zalloc(entries * sizeof(*job->edges));
	if (strategy == GROUP_RANDOM_RING)
		random_ring(job);
	else
		optimal_rings(c, strategy == GROUP_OR_FFA_TURNS, job);
	for (i = 0; i < entries; i++)
		job->routes[i] = rnd_below(&job->rnd, c->cluster.spines);
	job->stale = true;
}

/* The GPUs at both ends of the edge behind entry @at of the orders. */
static void ends_of(const struct group_job *job, u32 at, u32 *from, u32 *to)
{
	u32 ring = at / job->size * job->size;

	*from = job->gpus[job->order[at]];
	*to = job->gpus[job->order[ring + (at + 1) % job->size]];
}

/* -- routes --------------------------------------------------------------------- */

/**
 * struct assignment - what mrpc_flow_assign() is asked, and how to read the answer
 * @net: what it is asked
 * @routes: of each flow: where its route belongs
 * @bundle_of: of each pair of racks: the current job's bundle, or U32_MAX
 */
struct assignment {
	struct mrpc_flow_net net;
	u32 **routes;
	u32 *bundle_of;
};

static void assignment_init(struct assignment *a, const struct group_config *c,
			    const struct group_job *jobs)
{
	const struct cluster *cl = &c->cluster;
	struct mrpc_flow_path *paths;
	u32 i, flows = 0;

	for (i = 0; i < c->jobs; i++)
		if (jobs[i].state == JOB_RUNS)
			flows += jobs[i].rings * jobs[i].size;
	*a = (struct assignment){};
	a->net.nr_links = 2 * cl->racks * cl->spines;
	a->net.nr_paths = cl->racks * cl->racks * cl->spines;
	a->net.nr_jobs = c->jobs;
	a->net.links = sim_zalloc(a->net.nr_links * sizeof(*a->net.links));
	a->net.paths = paths = sim_zalloc(a->net.nr_paths * sizeof(*paths));
	a->net.jobs = sim_zalloc(c->jobs * sizeof(*a->net.jobs));
	a->net.bundles = sim_zalloc(flows * sizeof(*a->net.bundles));
	a->net.flows = sim_zalloc(flows * sizeof(*a->net.flows));
	a->routes = sim_zalloc(flows * sizeof(*a->routes));
	a->bundle_of = sim_zalloc(cl->racks * cl->racks * sizeof(u32));
	cluster_paths(cl, a->net.links, paths);
}

static void assignment_fini(struct assignment *a)
{
	free(a->net.links);
	free((void *)a->net.paths);
	free(a->net.jobs);
	free(a->net.bundles);
	free(a->net.flows);
	free(a->routes);
	free(a->bundle_of);
}

/* The bundle of the job's flows between two racks. */
static u32 bundle_get(struct assignment *a, const struct cluster *c, u32 job, u32 pair)
{
	if (a->bundle_of[pair] == U32_MAX) {
		a->bundle_of[pair] = a->net.nr_bundles;
		a->net.bundles[a->net.nr_bundles++] = (struct mrpc_flow_bundle){
			.job = job, .first_path = pair * c->spines, .nr_paths = c->spines };
	}
	return a->bundle_of[pair];
}

/* A ring has its part of a network device. */
static void assignment_add(struct assignment *a, const struct group_config *c, u32 index,
			   struct group_job *job)
{
	const struct cluster *cl = &c->cluster;
	u32 at, from, to, nr;

	memset(a->bundle_of, 0xff, cl->racks * cl->racks * sizeof(u32));
	for (at = 0; at < job->rings * job->size; at++) {
		ends_of(job, at, &from, &to);
		from = cluster_rack_of(cl, from);
		to = cluster_rack_of(cl, to);
		if (from == to)
			continue;
		nr = a->net.nr_flows++;
		a->routes[nr] = &job->routes[at];
		a->net.flows[nr] = (struct mrpc_flow){
			.bundle = bundle_get(a, cl, index, from * cl->racks + to),
			.demand = max(cl->mbps / job->rings, 1U),
		};
	}
	job->stale = true;
}

void group_routes_assign(const struct group_config *c, struct group_job *jobs)
{
	struct mrpc_flow_error err;
	struct assignment a;
	u32 i;

	assignment_init(&a, c, jobs);
	for (i = 0; i < c->jobs; i++)
		if (jobs[i].state == JOB_RUNS)
			assignment_add(&a, c, i, &jobs[i]);
	if (mrpc_flow_assign(&a.net, &err)) {
		fprintf(stderr, "mrpc-sim: %s %u %s: %llu\n", err.table, err.index, err.what,
			(unsigned long long)err.value);
		exit(1);
	}
	for (i = 0; i < a.net.nr_flows; i++)
		*a.routes[i] = a.net.flows[i].path;
	assignment_fini(&a);
}

/* -- edges ---------------------------------------------------------------------- */

static int by_ends(const void *a, const void *b)
{
	const struct group_edge *x = a, *y = b;

	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	if (x->to != y->to)
		return x->to < y->to ? -1 : 1;
	return (x->spine > y->spine) - (x->spine < y->spine);
}

void group_edges_make(const struct group_config *c, struct group_job *job)
{
	struct group_edge *e = job->edges;
	u32 at, from, to, i, nr = 0;

	for (at = 0; at < job->rings * job->size; at++) {
		ends_of(job, at, &from, &to);
		if (cluster_host_of(&c->cluster, from) == cluster_host_of(&c->cluster, to))
			continue;
		/* In one rack the route makes no difference. */
		i = cluster_rack_of(&c->cluster, from) == cluster_rack_of(&c->cluster, to);
		e[nr++] = (struct group_edge){ from, to, i ? 0 : job->routes[at], 1 };
	}
	qsort(e, nr, sizeof(*e), by_ends);
	for (i = job->nr_edges = 0; i < nr; i++) {
		if (i && !by_ends(&e[job->nr_edges - 1], &e[i]))
			e[job->nr_edges - 1].count++;
		else
			e[job->nr_edges++] = e[i];
	}
	job->stale = false;
}
