/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which path each flow of a group takes through a network with several paths.
 *
 * Best-fit fair flow assignment (FFA): each flow gets the path with the least excess demand. The
 * excess of a path is that of its worst link: load + demand - capacity, with the flow counted. It
 * is negative where there is room. Jobs take turns, one flow each, so that none takes all good
 * paths. Of equally good paths a bundle takes the one after its last, so that it spreads.
 *
 * Priority flow assignment (PFA) is the same with reserved paths. Flows of ordinary jobs are
 * placed first, on paths that are not reserved. Then flows of high jobs choose among all paths.
 * FFA is the case without reserved paths and high jobs.
 *
 * What the network carries besides is the load that links have at the beginning.
 *
 * The code here does not lock, allocate or recurse. All arrays are the caller's. It takes as many
 * steps as there are flows and bundles, times the paths of a bundle.
 */
#ifndef MRPC_LIB_GROUP_FLOW_ASSIGN_H
#define MRPC_LIB_GROUP_FLOW_ASSIGN_H

#include "lib/ds/types.h"

#define MRPC_FLOW_PATH_LINKS	6		/* up to a third tier of switches, and down */
#define MRPC_FLOW_BUNDLE_PATHS	1024		/* paths between two places */
#define MRPC_FLOW_MAX		(1U << 20)	/* flows, and bundles */
#define MRPC_FLOW_MAX_RATE	(1ULL << 60)	/* of a link */

/**
 * struct mrpc_flow_link - one direction of a cable
 * @capacity: what it can carry, 1 to MRPC_FLOW_MAX_RATE, in the unit of demands
 * @load: in: what it carries besides the flows, at most MRPC_FLOW_MAX_RATE; out: and the flows
 */
struct mrpc_flow_link {
	u64 capacity;
	u64 load;
};

/**
 * struct mrpc_flow_path - a way from one place to another
 * @link: indexes of the links that it uses
 * @nr_links: number of them, 1 to MRPC_FLOW_PATH_LINKS
 * @reserved: only for high jobs
 */
struct mrpc_flow_path {
	u32 link[MRPC_FLOW_PATH_LINKS];
	u8 nr_links;
	bool reserved;
};

/**
 * struct mrpc_flow_job - an application
 * @high: its flows may use reserved paths
 * @first: internal: the first of its flows that has no path yet
 * @last: internal: the last of its flows
 * @next: internal: the job that has the next turn
 */
struct mrpc_flow_job {
	bool high;
	u32 first;
	u32 last;
	u32 next;
};

/**
 * struct mrpc_flow_bundle - flows of one job between the same two places
 * @job: index of the job
 * @first_path: index of the first path between these places
 * @nr_paths: number of paths, 1 to MRPC_FLOW_BUNDLE_PATHS
 * @next_path: internal: where the search begins, relative to @first_path
 */
struct mrpc_flow_bundle {
	u32 job;
	u32 first_path;
	u32 nr_paths;
	u32 next_path;
};

/**
 * struct mrpc_flow - a stream of data that takes one path
 * @bundle: index of its bundle
 * @demand: what it could use, not 0
 * @path: out: the route, relative to the bundle's @first_path
 * @next: internal: the next flow of the same job
 */
struct mrpc_flow {
	u32 bundle;
	u32 demand;
	u32 path;
	u32 next;
};

/**
 * struct mrpc_flow_net - the network, and the flows to place in it
 * @links: links
 * @paths: paths
 * @jobs: jobs; the order of their turns
 * @bundles: bundles
 * @flows: flows; those of a job get their paths in this order
 * @nr_links: number of @links
 * @nr_paths: number of @paths
 * @nr_jobs: number of @jobs
 * @nr_bundles: number of @bundles, at most MRPC_FLOW_MAX
 * @nr_flows: number of @flows, at most MRPC_FLOW_MAX
 */
struct mrpc_flow_net {
	struct mrpc_flow_link *links;
	const struct mrpc_flow_path *paths;
	struct mrpc_flow_job *jobs;
	struct mrpc_flow_bundle *bundles;
	struct mrpc_flow *flows;
	u32 nr_links;
	u32 nr_paths;
	u32 nr_jobs;
	u32 nr_bundles;
	u32 nr_flows;
};

/**
 * struct mrpc_flow_error - why flows were refused
 * @what: a sentence without its subject, static
 * @table: which array, static: "link", "path", "bundle", "flow"
 * @index: entry of the array
 * @value: the offending value
 */
struct mrpc_flow_error {
	const char *what;
	const char *table;
	u32 index;
	u64 value;
};

/**
 * mrpc_flow_assign() - give each flow a path
 * @net: network and flows; the caller sets all that is not internal or out
 * @err: filled on failure
 *
 * The result depends only on the arguments. On failure no load has changed.
 *
 * Return: 0; -EINVAL: a value is wrong; -E2BIG: too many flows or bundles; -ENETUNREACH: all paths
 * of an ordinary job's bundle are reserved.
 */
int mrpc_flow_assign(const struct mrpc_flow_net *net, struct mrpc_flow_error *err);

#endif /* MRPC_LIB_GROUP_FLOW_ASSIGN_H */
