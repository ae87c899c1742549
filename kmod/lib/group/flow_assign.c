// SPDX-License-Identifier: GPL-2.0
/*
 * Flows onto paths: see flow_assign.h for the contract.
 */
#include "lib/group/flow_assign.h"

#define NONE	U32_MAX		/* ends a list of flows, or of jobs */

/* -- checks -------------------------------------------------------------------- */

static int flow_refuse(struct mrpc_flow_error *err, int why, const char *table, u32 index,
		       const char *what, u64 value)
{
	*err = (struct mrpc_flow_error){ .what = what, .table = table, .index = index,
					 .value = value };
	return why;
}

static int flow_check_links(const struct mrpc_flow_net *net, struct mrpc_flow_error *err)
{
	const struct mrpc_flow_link *l;
	u32 i;

	for (i = 0; i < net->nr_links; i++) {
		l = &net->links[i];
		if (!l->capacity || l->capacity > MRPC_FLOW_MAX_RATE)
			return flow_refuse(err, -EINVAL, "link", i,
					   "has a capacity that is 0 or too large", l->capacity);
		if (l->load > MRPC_FLOW_MAX_RATE)
			return flow_refuse(err, -EINVAL, "link", i, "has a load that is too large",
					   l->load);
	}
	return 0;
}

static int flow_check_paths(const struct mrpc_flow_net *net, struct mrpc_flow_error *err)
{
	const struct mrpc_flow_path *p;
	u32 i, k;

	for (i = 0; i < net->nr_paths; i++) {
		p = &net->paths[i];
		if (!p->nr_links || p->nr_links > MRPC_FLOW_PATH_LINKS)
			return flow_refuse(err, -EINVAL, "path", i, "has no link, or too many",
					   p->nr_links);
		for (k = 0; k < p->nr_links; k++)
			if (p->link[k] >= net->nr_links)
				return flow_refuse(err, -EINVAL, "path", i,
						   "names a link that does not exist", p->link[k]);
	}
	return 0;
}

static int flow_check_bundle(const struct mrpc_flow_net *net, u32 index,
			     struct mrpc_flow_error *err)
{
	const struct mrpc_flow_bundle *b = &net->bundles[index];
	u32 i;

	if (b->job >= net->nr_jobs)
		return flow_refuse(err, -EINVAL, "bundle", index, "names a job that does not exist",
				   b->job);
	if (!b->nr_paths || b->nr_paths > MRPC_FLOW_BUNDLE_PATHS)
		return flow_refuse(err, -EINVAL, "bundle", index, "has no path, or too many",
				   b->nr_paths);
	if (b->first_path >= net->nr_paths || b->nr_paths > net->nr_paths - b->first_path)
		return flow_refuse(err, -EINVAL, "bundle", index,
				   "names a path that does not exist",
				   (u64)b->first_path + b->nr_paths - 1);
	if (net->jobs[b->job].high)
		return 0;
	for (i = 0; i < b->nr_paths; i++)
		if (!net->paths[b->first_path + i].reserved)
			return 0;
	return flow_refuse(err, -ENETUNREACH, "bundle", index, "has only reserved paths",
			   b->nr_paths);
}

static int flow_check(const struct mrpc_flow_net *net, struct mrpc_flow_error *err)
{
	const struct mrpc_flow *f;
	int ret;
	u32 i;

	if (net->nr_flows > MRPC_FLOW_MAX)
		return flow_refuse(err, -E2BIG, "flow", MRPC_FLOW_MAX, "is one too many",
				   net->nr_flows);
	if (net->nr_bundles > MRPC_FLOW_MAX)
		return flow_refuse(err, -E2BIG, "bundle", MRPC_FLOW_MAX, "is one too many",
				   net->nr_bundles);
	ret = flow_check_links(net, err);
	if (!ret)
		ret = flow_check_paths(net, err);
	for (i = 0; i < net->nr_bundles && !ret; i++)
		ret = flow_check_bundle(net, i, err);
	for (i = 0; i < net->nr_flows && !ret; i++) {
		f = &net->flows[i];
		if (f->bundle >= net->nr_bundles)
			ret = flow_refuse(err, -EINVAL, "flow", i,
					  "names a bundle that does not exist", f->bundle);
		else if (!f->demand)
			ret = flow_refuse(err, -EINVAL, "flow", i, "has no demand", 0);
	}
	return ret;
}

/* -- choice -------------------------------------------------------------------- */

/*
 * What the path's worst link lacks; negative: what it has left. The demand of the flow to place
 * would add the same to all paths.
 */
static s64 path_excess(const struct mrpc_flow_net *net, const struct mrpc_flow_path *p)
{
	const struct mrpc_flow_link *l;
	s64 excess, worst = 0;
	u32 i;

	for (i = 0; i < p->nr_links; i++) {
		l = &net->links[p->link[i]];
		excess = (s64)l->load - (s64)l->capacity;
		if (!i || excess > worst)
			worst = excess;
	}
	return worst;
}

/* The check has ensured that there is a path. */
static void flow_place(const struct mrpc_flow_net *net, struct mrpc_flow *f, bool high)
{
	struct mrpc_flow_bundle *b = &net->bundles[f->bundle];
	const struct mrpc_flow_path *p;
	u32 i, at = b->next_path;
	s64 excess, best = S64_MAX;

	for (i = 0; i < b->nr_paths; i++) {
		p = &net->paths[b->first_path + at];
		excess = path_excess(net, p);
		if (excess < best && (high || !p->reserved)) {
			best = excess;
			f->path = at;
		}
		at = at + 1 < b->nr_paths ? at + 1 : 0;
	}
	b->next_path = f->path + 1 < b->nr_paths ? f->path + 1 : 0;
	p = &net->paths[b->first_path + f->path];
	for (i = 0; i < p->nr_links; i++)
		net->links[p->link[i]].load += f->demand;
}

/* -- turns --------------------------------------------------------------------- */

/* Makes a list of each job's flows. */
static void flows_list(const struct mrpc_flow_net *net)
{
	struct mrpc_flow_job *job;
	u32 i;

	for (i = 0; i < net->nr_jobs; i++)
		net->jobs[i].first = NONE;
	for (i = 0; i < net->nr_bundles; i++)
		net->bundles[i].next_path = 0;
	for (i = 0; i < net->nr_flows; i++) {
		job = &net->jobs[net->bundles[net->flows[i].bundle].job];
		if (job->first == NONE)
			job->first = i;
		else
			net->flows[job->last].next = i;
		job->last = i;
		net->flows[i].next = NONE;
	}
}

/* Makes a list of the jobs that have flows, and are @high or not. Return: the first, or NONE. */
static u32 jobs_list(const struct mrpc_flow_net *net, bool high)
{
	u32 first = NONE, i;

	for (i = net->nr_jobs; i--; ) {
		if (net->jobs[i].high != high || net->jobs[i].first == NONE)
			continue;
		net->jobs[i].next = first;
		first = i;
	}
	return first;
}

/* Each round walks over the list once, and takes out jobs that have no flow left. */
static void jobs_place(const struct mrpc_flow_net *net, bool high)
{
	u32 first = jobs_list(net, high), *at;
	struct mrpc_flow_job *job;

	while (first != NONE) {
		for (at = &first; *at != NONE; ) {
			job = &net->jobs[*at];
			flow_place(net, &net->flows[job->first], high);
			job->first = net->flows[job->first].next;
			if (job->first == NONE)
				*at = job->next;
			else
				at = &job->next;
		}
	}
}

int mrpc_flow_assign(const struct mrpc_flow_net *net, struct mrpc_flow_error *err)
{
	int ret = flow_check(net, err);

	if (ret)
		return ret;
	flows_list(net);
	jobs_place(net, false);
	jobs_place(net, true);
	return 0;
}
