/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A cluster of GPUs: hosts under leaf switches, and each leaf connected to each spine switch. Each
 * GPU has a network device of its own. All cables have the same rate.
 */
#ifndef SIM_CLUSTER_H
#define SIM_CLUSTER_H

#include "lib/group/flow_assign.h"

#define CLUSTER_MAX_GPUS	65536
#define CLUSTER_WAY		4	/* links between two GPUs at most */

/**
 * struct cluster - what there is
 * @spines: spine switches: the paths between two racks
 * @racks: leaf switches
 * @hosts: under each leaf
 * @gpus: in each host
 * @mbps: rate of a cable in each direction
 *
 * GPUs have numbers: those of a host are neighbours, as are the hosts of a rack. A link is one
 * direction of a cable. Links have numbers, too: those from each GPU, those to each GPU, those up
 * from each leaf to each spine, those down.
 */
struct cluster {
	u32 spines;
	u32 racks;
	u32 hosts;
	u32 gpus;
	u32 mbps;
};

static inline u32 cluster_gpus(const struct cluster *c)
{
	return c->racks * c->hosts * c->gpus;
}

static inline u32 cluster_host_of(const struct cluster *c, u32 gpu)
{
	return gpu / c->gpus;
}

static inline u32 cluster_rack_of(const struct cluster *c, u32 gpu)
{
	return gpu / (c->gpus * c->hosts);
}

static inline u32 cluster_links(const struct cluster *c)
{
	return 2 * cluster_gpus(c) + 2 * c->racks * c->spines;
}

/** cluster_oversubscription() - the rate to a leaf from its hosts, over that to the spines */
static inline double cluster_oversubscription(const struct cluster *c)
{
	return (double)c->hosts * c->gpus / c->spines;
}

/**
 * cluster_way() - the links from one GPU to another
 * @c: cluster
 * @from: GPU
 * @to: another GPU
 * @spine: the spine switch, if they are in different racks
 * @links: out: up to CLUSTER_WAY links
 *
 * Return: number of links; 0 in one host, which has faster ways than the network.
 */
u32 cluster_way(const struct cluster *c, u32 from, u32 to, u32 spine, u32 *links);

/**
 * cluster_paths() - make the paths between racks for mrpc_flow_assign()
 * @c: cluster
 * @links: out: capacities, of the links up and down: 2 * racks * spines
 * @paths: out: racks * racks * spines
 *
 * Paths from rack a to rack b begin at (a * racks + b) * spines, with one for each spine.
 */
void cluster_paths(const struct cluster *c, struct mrpc_flow_link *links,
		   struct mrpc_flow_path *paths);

#endif /* SIM_CLUSTER_H */
