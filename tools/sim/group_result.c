// SPDX-License-Identifier: GPL-2.0
/* From runs to speed-ups, and these as text. */
#include "group_result.h"
#include "memory.h"

static const char *const placements[] = { "random", "compact" };
static const char *const strategies[] = { "random ring", "OR", "OR+FFA", "OR+FFA, turns" };

/* Of the paper's Fig. 4.10; 0: it has no such figure. */
static const double paper[GROUP_PLACEMENTS][GROUP_STRATEGIES] = {
	[GROUP_RANDOM] = { 1, 2.6, 3.3, 0 },
	[GROUP_COMPACT] = { 1, 3.3, 3.4, 0 },
};

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Adds one run to @r; @speedups gets those of its jobs. */
static void add_run(struct group_result *r, const struct group_config *c, u32 runs,
		    const struct group_run *run, const double *base, double *speedups)
{
	double sum = 0;
	u32 i;

	for (i = 0; i < c->jobs; i++) {
		speedups[i] = base[i] / run->seconds[i];
		sum += speedups[i];
		r->milliseconds += 1000 * run->seconds[i] / (runs * c->jobs);
	}
	sum /= c->jobs;
	r->run_least = r->run_least ? min(r->run_least, sum) : sum;
	r->run_most = max(r->run_most, sum);
	r->speedup += sum / runs;
	r->racks += run->racks / runs;
	r->at_a_time += run->at_a_time / runs;
}

void group_results(const struct group_config *c, u32 runs, struct group_result *results)
{
	u32 nr = runs * c->jobs, run, s;
	double *speedups = sim_zalloc(GROUP_STRATEGIES * nr * sizeof(*speedups)), *mine, *base = NULL;
	struct group_config config = *c;
	struct group_run r;

	for (s = 0; s < GROUP_STRATEGIES; s++)
		results[s] = (struct group_result){ .placement = c->placement, .strategy = s };
	for (run = 0; run < runs; run++) {
		config.seed = c->seed + run;
		for (s = 0; s < GROUP_STRATEGIES; s++) {
			group_run(&config, s, &r);
			if (s == GROUP_RANDOM_RING)
				base = r.seconds;
			add_run(&results[s], c, runs, &r, base, speedups + s * nr + run * c->jobs);
			if (s != GROUP_RANDOM_RING)
				free(r.seconds);
		}
		free(base);
	}
	for (s = 0; s < GROUP_STRATEGIES; s++) {
		mine = speedups + s * nr;
		qsort(mine, nr, sizeof(*mine), by_value);
		results[s].p10 = mine[(nr - 1) / 10];
		results[s].p50 = mine[(nr - 1) / 2];
		results[s].p90 = mine[(u64)(nr - 1) * 9 / 10];
	}
	free(speedups);
}

/* -- text ----------------------------------------------------------------------- */

static void print_row(FILE *out, const struct group_result *r)
{
	double said = paper[r->placement][r->strategy];

	fprintf(out, "%-9s  %-13s %8.2f", placements[r->placement], strategies[r->strategy],
		r->speedup);
	if (said)
		fprintf(out, " %7.1f", said);
	else
		fprintf(out, " %7s", "-");
	fprintf(out, " %6.2f to %5.2f %7.2f %6.2f %6.2f %9.2f ms %6.1f %6.1f\n", r->run_least,
		r->run_most, r->p10, r->p50, r->p90, r->milliseconds, r->racks, r->at_a_time);
}

void group_print(FILE *out, const struct group_config *c, u32 runs,
		 const struct group_result *results, u32 nr)
{
	u32 i;

	fprintf(out, "%u GPUs (%u racks of %u hosts of %u), %u spines, %g Gbit/s, oversubscription %.2f\n",
		cluster_gpus(&c->cluster), c->cluster.racks, c->cluster.hosts, c->cluster.gpus,
		c->cluster.spines, c->cluster.mbps / 1000.0, cluster_oversubscription(&c->cluster));
	fprintf(out, "%u runs of %u jobs, %u or %u GPUs, %u times %g MB each, one in %g ms\n\n", runs,
		c->jobs, c->sizes[0], c->sizes[1], c->iterations, c->bytes / 1e6, c->arrival * 1000);
	fprintf(out, "%-9s  %-13s %8s %7s %15s %7s %6s %6s %12s %6s %6s\n", "placement", "", "speed-up",
		"paper", "of single runs", "P10", "P50", "P90", "AllReduce", "racks", "jobs");
	for (i = 0; i < nr; i++)
		print_row(out, &results[i]);
}

void group_print_json(FILE *out, const struct group_config *c, u32 runs,
		      const struct group_result *results, u32 nr)
{
	const struct group_result *r;
	u32 i;

	fprintf(out, "{\"gpus\":%u,\"spines\":%u,\"racks\":%u,\"hosts\":%u,\"rate_mbps\":%u,",
		cluster_gpus(&c->cluster), c->cluster.spines, c->cluster.racks, c->cluster.hosts,
		c->cluster.mbps);
	fprintf(out, "\"runs\":%u,\"jobs\":%u,\"iterations\":%u,\"arrival_ms\":%g,\"busy\":%g,", runs,
		c->jobs, c->iterations, c->arrival * 1000, c->busy);
	fprintf(out, "\"seed\":%llu,\"results\":[", (unsigned long long)c->seed);
	for (i = 0; i < nr; i++) {
		r = &results[i];
		fprintf(out, "%s{\"placement\":\"%s\",\"strategy\":\"%s\",\"speedup\":%.4f,",
			i ? "," : "", placements[r->placement], strategies[r->strategy], r->speedup);
		fprintf(out, "\"run_least\":%.4f,\"run_most\":%.4f,\"p10\":%.4f,\"p50\":%.4f,",
			r->run_least, r->run_most, r->p10, r->p50);
		fprintf(out, "\"p90\":%.4f,\"milliseconds\":%.6f,\"racks\":%.2f,\"at_a_time\":%.2f,",
			r->p90, r->milliseconds, r->racks, r->at_a_time);
		if (paper[r->placement][r->strategy])
			fprintf(out, "\"paper\":%.1f}", paper[r->placement][r->strategy]);
		else
			fprintf(out, "\"paper\":null}");
	}
	fprintf(out, "]}\n");
}
