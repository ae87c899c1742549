// SPDX-License-Identifier: GPL-2.0
/* mrpc-sim group: AllReduce of many jobs in a cluster, by ring and by route. */
#include <getopt.h>

#include "command.h"
#include "group_result.h"

static const char usage[] =
	"Usage: mrpc-sim group [OPTION]...\n"
	"\n"
	"Jobs run AllReduce over a leaf-spine network. How much faster than in random rings?\n"
	"\n"
	"  --placement P     random, compact, both (both)\n"
	"  --jobs N          (50)\n"
	"  --iterations N    AllReduces of a job (100)\n"
	"  --arrival MS      mean time between jobs (200)\n"
	"  --busy PART       of the hosts that others use (0)\n"
	"  --runs N          with seeds one after the other (5)\n"
	"  --seed N          of the first run (1)\n"
	"  --spines N        (16)\n"
	"  --racks N         (24)\n"
	"  --hosts N         in a rack (4)\n"
	"  --gpus N          in a host, with a network device each (8)\n"
	"  --rate MBPS       of each cable (200000)\n"
	"  -j, --json        JSON\n";

enum {
	PLACEMENT = 256, JOBS, ITERATIONS, ARRIVAL, BUSY, RUNS, SEED, SPINES, RACKS, HOSTS, GPUS, RATE,
};

static const struct option longs[] = {
	{ "placement", required_argument, NULL, PLACEMENT },
	{ "jobs", required_argument, NULL, JOBS },
	{ "iterations", required_argument, NULL, ITERATIONS },
	{ "arrival", required_argument, NULL, ARRIVAL },
	{ "busy", required_argument, NULL, BUSY },
	{ "runs", required_argument, NULL, RUNS },
	{ "seed", required_argument, NULL, SEED },
	{ "spines", required_argument, NULL, SPINES },
	{ "racks", required_argument, NULL, RACKS },
	{ "hosts", required_argument, NULL, HOSTS },
	{ "gpus", required_argument, NULL, GPUS },
	{ "rate", required_argument, NULL, RATE },
	{ "json", no_argument, NULL, 'j' },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

/**
 * struct request - what the command line asks for
 * @config: of all runs
 * @both: placements, not that of @config only
 * @runs: how many
 * @json: output
 */
struct request {
	struct group_config config;
	bool both;
	u32 runs;
	bool json;
};

static bool set_u32(const char *option, const char *text, u32 low, u32 high, u32 *to)
{
	double value;

	if (!command_number(option, text, low, high, &value))
		return false;
	*to = value;
	return true;
}

static bool set_placement(struct request *r, const char *name)
{
	r->both = !strcmp(name, "both");
	r->config.placement = !strcmp(name, "compact") ? GROUP_COMPACT : GROUP_RANDOM;
	if (r->both || r->config.placement || !strcmp(name, "random"))
		return true;
	command_usage("no placement '%s'; there are random, compact, both", name);
	return false;
}

static bool set_number(struct request *r, int option, const char *text)
{
	struct group_config *c = &r->config;
	double value;

	switch (option) {
	case JOBS:
		return set_u32("jobs", text, 1, 10000, &c->jobs);
	case ITERATIONS:
		return set_u32("iterations", text, 1, 1000000, &c->iterations);
	case BUSY:
		return command_number("busy", text, 0, 1, &c->busy);
	case RUNS:
		return set_u32("runs", text, 1, 1000, &r->runs);
	case SPINES:
		return set_u32("spines", text, 1, 256, &c->cluster.spines);
	case RACKS:
		return set_u32("racks", text, 1, 256, &c->cluster.racks);
	case HOSTS:
		return set_u32("hosts", text, 1, 256, &c->cluster.hosts);
	case GPUS:
		/* Each job is to need the network. */
		return set_u32("gpus", text, 1, c->sizes[0] - 1, &c->cluster.gpus);
	case RATE:
		return set_u32("rate", text, 1, 100000000, &c->cluster.mbps);
	case ARRIVAL:
		if (!command_number("arrival", text, 0.001, 1e9, &value))
			return false;
		c->arrival = value / 1000;
		return true;
	default:
		if (!command_number("seed", text, 0, 9e15, &value))
			return false;
		c->seed = value;
		return true;
	}
}

/* Return: false: it is wrong, and that is printed */
static bool set_option(struct request *r, int option, const char *value)
{
	if (option == 'j')
		r->json = true;
	else if (option == PLACEMENT)
		return set_placement(r, value);
	else
		return set_number(r, option, value);
	return true;
}

/* The largest job must find its GPUs in each run. */
static bool check_room(const struct request *r)
{
	struct group_config c = r->config;
	u32 i, room, want = max(c.sizes[0], c.sizes[1]);

	if (cluster_gpus(&c.cluster) > CLUSTER_MAX_GPUS) {
		command_usage("%u GPUs; there can be %u", cluster_gpus(&c.cluster), CLUSTER_MAX_GPUS);
		return false;
	}
	for (i = 0; i < r->runs; i++, c.seed++) {
		room = group_room(&c);
		if (room >= want)
			continue;
		command_usage("%u of %u GPUs are free with seed %llu; a job wants up to %u", room,
			      cluster_gpus(&c.cluster), (unsigned long long)c.seed, want);
		return false;
	}
	return true;
}

static void run(struct request *r)
{
	struct group_result results[GROUP_PLACEMENTS * GROUP_STRATEGIES];
	u32 nr = 0;

	do {
		group_results(&r->config, r->runs, results + nr);
		nr += GROUP_STRATEGIES;
	} while (r->both && ++r->config.placement < GROUP_PLACEMENTS);
	if (r->json)
		group_print_json(stdout, &r->config, r->runs, results, nr);
	else
		group_print(stdout, &r->config, r->runs, results, nr);
}

int command_group(int argc, char **argv)
{
	struct request r = {
		.both = true, .runs = 5,
		.config = {
			.cluster = { .spines = 16, .racks = 24, .hosts = 4, .gpus = 8, .mbps = 200000 },
			.jobs = 50, .sizes = { 16, 32 }, .bytes = 100e6, .iterations = 100,
			.arrival = 0.2, .seed = 1,
		},
	};
	int option;

	while ((option = getopt_long(argc, argv, "jh", longs, NULL)) != -1) {
		if (option == 'h') {
			fputs(usage, stdout);
			return 0;
		}
		if (option == '?' || !set_option(&r, option, optarg))
			return 2;
	}
	if (optind < argc)
		return command_usage("'%s' is not an option", argv[optind]);
	if (!check_room(&r))
		return 2;
	run(&r);
	return 0;
}
