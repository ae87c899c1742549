// SPDX-License-Identifier: GPL-2.0
/* Which links there are in a cluster. */
#include "cluster.h"

u32 cluster_way(const struct cluster *c, u32 from, u32 to, u32 spine, u32 *links)
{
	u32 a = cluster_rack_of(c, from), b = cluster_rack_of(c, to);
	u32 up = 2 * cluster_gpus(c), down = up + c->racks * c->spines, nr = 0;

	if (cluster_host_of(c, from) == cluster_host_of(c, to))
		return 0;
	links[nr++] = from;
	if (a != b) {
		links[nr++] = up + a * c->spines + spine;
		links[nr++] = down + b * c->spines + spine;
	}
	links[nr++] = cluster_gpus(c) + to;
	return nr;
}

void cluster_paths(const struct cluster *c, struct mrpc_flow_link *links,
		   struct mrpc_flow_path *paths)
{
	u32 down = c->racks * c->spines, a, b, s, i;

	for (i = 0; i < 2 * down; i++)
		links[i] = (struct mrpc_flow_link){ .capacity = c->mbps };
	for (a = 0; a < c->racks; a++)
		for (b = 0; b < c->racks; b++)
			for (s = 0; s < c->spines; s++)
				*paths++ = (struct mrpc_flow_path){
					.nr_links = 2,
					.link = { a * c->spines + s, down + b * c->spines + s },
				};
}
