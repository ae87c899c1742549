// SPDX-License-Identifier: GPL-2.0
/* From samples to percentiles. */
#include "memory.h"
#include "result.h"

static int by_bytes(const void *a, const void *b)
{
	const struct sim_sample *x = a, *y = b;

	return (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

static int by_slowdown(const void *a, const void *b)
{
	const struct sim_sample *x = a, *y = b;

	return (x->slowdown > y->slowdown) - (x->slowdown < y->slowdown);
}

/* Of samples @from to @to - 1, which are sorted by length and stay so. */
static void percentiles(const struct sim *sim, u32 from, u32 to, struct sim_percentiles *p)
{
	u32 nr = to - from;
	struct sim_sample *copy;

	*p = (struct sim_percentiles){};
	if (!nr)
		return;
	copy = sim_realloc(NULL, nr * sizeof(*copy));
	memcpy(copy, sim->samples + from, nr * sizeof(*copy));
	p->up_to = copy[nr - 1].bytes;
	qsort(copy, nr, sizeof(*copy), by_slowdown);
	p->p50 = copy[(nr - 1) / 2].slowdown;
	p->p99 = copy[(u64)(nr - 1) * 99 / 100].slowdown;
	free(copy);
}

static u64 hist_p99(const struct mrpc_hist *h)
{
	u64 total = 0, sum = 0;
	u32 i;

	for (i = 0; i < MRPC_HIST_BUCKETS; i++)
		total += h->count[i];
	for (i = 0; i < MRPC_HIST_BUCKETS; i++) {
		sum += h->count[i];
		if (sum && sum * 100 >= total * 99)
			return min(mrpc_hist_high(i), h->max);
	}
	return 0;
}

/* All of an incast comes through one cable. */
static void rates(const struct sim *sim, struct sim_result *r)
{
	u32 cables = sim->config.pattern == SIM_INCAST ? 1 : sim->config.topology.hosts;
	double bytes = (double)(sim->to_time - sim->from_time) * cables *
		       sim->config.topology.host_mbps / (8 * SIM_US);

	r->milliseconds = (double)(sim->to_time - sim->start_time) / SIM_MS;
	if (bytes <= 0)
		return;
	r->utilisation = (sim->to_wire - sim->from_wire) / bytes;
	r->goodput = sim->payload / bytes;
}

void sim_result_of(struct sim *sim, struct sim_result *r)
{
	u32 nr = sim->nr_samples, i;

	*r = (struct sim_result){ .transport = sim->config.transport->name,
				  .overcommit = sim->config.prio.overcommit };
	r->messages = nr;
	r->unfinished = sim->unfinished;
	qsort(sim->samples, nr, sizeof(*sim->samples), by_bytes);
	for (i = 0; i < SIM_DECILES; i++)
		percentiles(sim, (u64)nr * i / SIM_DECILES, (u64)nr * (i + 1) / SIM_DECILES,
			    &r->deciles[i]);
	percentiles(sim, 0, nr / 2, &r->small);
	percentiles(sim, nr / 2, nr, &r->large);
	percentiles(sim, 0, nr, &r->all);
	rates(sim, r);
	r->edge_max = sim->net.edge.max;
	r->edge_p99 = hist_p99(&sim->net.edge);
	r->core_max = sim->net.spine.max;
	r->core_p99 = hist_p99(&sim->net.spine);
	r->dropped = sim->net.dropped;
	r->marked = sim->net.marked;
	r->lost = sim->lost;
	if (sim->config.transport->counters)
		sim->config.transport->counters(sim, &r->counters);
}
