// SPDX-License-Identifier: GPL-2.0
/* mrpc-sim run: options, one run for each transport or degree of overcommitment. */
#include <getopt.h>

#include "command.h"
#include "memory.h"
#include "result.h"

#define MAX_RUNS 16

static const char usage[] =
	"Usage: mrpc-sim run [OPTION]...\n"
	"\n"
	"Traffic:\n"
	"  --transport T[,T]...  prio, dctcp, srpt, sr, gbn: a run for each (prio)\n"
	"  --pattern P           random, incast, all-to-all, mixed (random)\n"
	"  --workload W          lengths: w1 to w5 (w4)\n"
	"  --load PART           of the hosts' cables, with headers (0.8)\n"
	"  --messages N          to send (100000)\n"
	"  --size BYTES          of a request of a burst (10000)\n"
	"  --fan N               hosts that send to one at once (hosts - 1)\n"
	"  --seed N              of all that is random (1)\n"
	"Network:\n"
	"  --hosts N             (144)\n"
	"  --racks N             leaf switches (9)\n"
	"  --spines N            spine switches (4)\n"
	"  --rate MBPS           of a host's cable (10000)\n"
	"  --core-rate MBPS      of a cable between switches (40000)\n"
	"  --wire-ns N           of any cable and the switch behind it (250)\n"
	"  --host-ns N           of software, from a packet's coming to its having effect (1500)\n"
	"  --buffer BYTES        of a queue in a switch; 0: no bound (1000000)\n"
	"  --shared BYTES        of a switch; 0: no bound (0)\n"
	"  --mark BYTES          packets are marked that meet a longer queue (the transport's)\n"
	"  --ecmp                a message keeps its path; else packets are sprayed,\n"
	"                        but for dctcp, sr and gbn\n"
	"  --one-level           switches do not look at priorities\n"
	"  --lose PART           of packets, at the end of their way (0)\n"
	"Transports:\n"
	"  --below BYTES         that a host's port takes beforehand (2 chunks of prio)\n"
	"  --chunk BYTES         prio: one turn of a message\n"
	"  --unscheduled BYTES   prio: that a pair of hosts sends without a grant\n"
	"  --prio-window BYTES   prio: that are granted ahead\n"
	"  --overcommit N[,N]... prio: messages that are granted at a time, a run for each\n"
	"  --window PACKETS      sr, gbn: in flight (200)\n"
	"  --drain TIMES         the time of all beginnings that endings may take (4)\n"
	"Output:\n"
	"  -j, --json            JSON\n"
	"  --svg FILE            draw slowdowns, or use if there are several --overcommit\n"
	"  --title TEXT          of the picture\n";

enum {
	TRANSPORT = 256, PATTERN, WORKLOAD, LOAD, MESSAGES, SIZE, FAN, SEED, HOSTS, RACKS, SPINES,
	RATE, CORE_RATE, WIRE, HOST, BUFFER, SHARED, MARK, ECMP, ONE_LEVEL, LOSE, BELOW, CHUNK,
	UNSCHEDULED, PRIO_WINDOW, OVERCOMMIT, WINDOW, DRAIN, SVG, TITLE,
};

static const struct option longs[] = {
	{ "transport", required_argument, NULL, TRANSPORT },
	{ "pattern", required_argument, NULL, PATTERN },
	{ "workload", required_argument, NULL, WORKLOAD },
	{ "load", required_argument, NULL, LOAD },
	{ "messages", required_argument, NULL, MESSAGES },
	{ "size", required_argument, NULL, SIZE },
	{ "fan", required_argument, NULL, FAN },
	{ "seed", required_argument, NULL, SEED },
	{ "hosts", required_argument, NULL, HOSTS },
	{ "racks", required_argument, NULL, RACKS },
	{ "spines", required_argument, NULL, SPINES },
	{ "rate", required_argument, NULL, RATE },
	{ "core-rate", required_argument, NULL, CORE_RATE },
	{ "wire-ns", required_argument, NULL, WIRE },
	{ "host-ns", required_argument, NULL, HOST },
	{ "buffer", required_argument, NULL, BUFFER },
	{ "shared", required_argument, NULL, SHARED },
	{ "mark", required_argument, NULL, MARK },
	{ "ecmp", no_argument, NULL, ECMP },
	{ "one-level", no_argument, NULL, ONE_LEVEL },
	{ "lose", required_argument, NULL, LOSE },
	{ "below", required_argument, NULL, BELOW },
	{ "chunk", required_argument, NULL, CHUNK },
	{ "unscheduled", required_argument, NULL, UNSCHEDULED },
	{ "prio-window", required_argument, NULL, PRIO_WINDOW },
	{ "overcommit", required_argument, NULL, OVERCOMMIT },
	{ "window", required_argument, NULL, WINDOW },
	{ "drain", required_argument, NULL, DRAIN },
	{ "json", no_argument, NULL, 'j' },
	{ "svg", required_argument, NULL, SVG },
	{ "title", required_argument, NULL, TITLE },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

/**
 * struct request - what the command line asks for
 * @config: of all runs
 * @transports, @nr_transports: of each
 * @overcommits, @nr_overcommits: of each
 * @ecmp: asked for
 * @json, @svg, @title: output
 */
struct request {
	struct sim_config config;
	const struct sim_transport *transports[MAX_RUNS];
	u32 nr_transports;
	u32 overcommits[MAX_RUNS];
	u32 nr_overcommits;
	bool ecmp;
	bool json;
	const char *svg;
	const char *title;
};

static const struct {
	const char *name;
	u8 pattern;
} patterns[] = {
	{ "random", SIM_RANDOM }, { "incast", SIM_INCAST }, { "all-to-all", SIM_ALL_TO_ALL },
	{ "mixed", SIM_MIXED },
};

/* ---- values ----------------------------------------------------------------- */

static bool set_u32(const char *option, const char *text, u32 low, u32 high, u32 *to)
{
	double value;

	if (!command_number(option, text, low, high, &value))
		return false;
	*to = value;
	return true;
}

static bool set_transports(struct request *r, char *list)
{
	char *name;

	r->nr_transports = 0;
	for (name = strtok(list, ","); name; name = strtok(NULL, ",")) {
		if (r->nr_transports == MAX_RUNS) {
			command_usage("--transport: more than %u", MAX_RUNS);
			return false;
		}
		r->transports[r->nr_transports] = sim_transport_find(name);
		if (!r->transports[r->nr_transports++]) {
			command_usage("no transport '%s'; there are prio, dctcp, srpt, sr, gbn", name);
			return false;
		}
	}
	return r->nr_transports;
}

static bool set_overcommits(struct request *r, char *list)
{
	char *text;

	r->nr_overcommits = 0;
	for (text = strtok(list, ","); text; text = strtok(NULL, ",")) {
		if (r->nr_overcommits == MAX_RUNS) {
			command_usage("--overcommit: more than %u", MAX_RUNS);
			return false;
		}
		if (!set_u32("overcommit", text, 1, 64, &r->overcommits[r->nr_overcommits++]))
			return false;
	}
	return r->nr_overcommits;
}

static bool set_pattern(struct request *r, const char *name)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(patterns); i++) {
		if (!strcmp(patterns[i].name, name)) {
			r->config.pattern = patterns[i].pattern;
			return true;
		}
	}
	command_usage("no pattern '%s'; there are random, incast, all-to-all, mixed", name);
	return false;
}

static bool set_workload(struct request *r, const char *name)
{
	r->config.workload = sim_workload_find(name);
	if (!r->config.workload)
		command_usage("no workload '%s'; there are w1 to w5", name);
	return r->config.workload;
}

static bool set_network(struct sim_topology *t, int option, const char *text)
{
	switch (option) {
	case HOSTS:
		return set_u32("hosts", text, 2, 100000, &t->hosts);
	case RACKS:
		return set_u32("racks", text, 1, 10000, &t->racks);
	case SPINES:
		return set_u32("spines", text, 1, 1000, &t->spines);
	case RATE:
		return set_u32("rate", text, 1, 1000000, &t->host_mbps);
	case CORE_RATE:
		return set_u32("core-rate", text, 1, 1000000, &t->core_mbps);
	case WIRE:
		return set_u32("wire-ns", text, 0, 1000000000, &t->wire_ns);
	case HOST:
		return set_u32("host-ns", text, 0, 1000000000, &t->host_ns);
	case BUFFER:
		return set_u32("buffer", text, 0, U32_MAX, &t->buffer);
	case SHARED:
		return set_u32("shared", text, 0, U32_MAX, &t->shared);
	case MARK:
		return set_u32("mark", text, 0, U32_MAX, &t->mark);
	default:
		return set_u32("below", text, 1, 1 << 30, &t->below);
	}
}

static bool set_number(struct sim_config *c, int option, const char *text)
{
	double value;

	switch (option) {
	case LOAD:
		return command_number("load", text, 0.01, 10, &c->load);
	case MESSAGES:
		return set_u32("messages", text, 10, 100000000, &c->messages);
	case SIZE:
		return set_u32("size", text, 0, 1 << 30, &c->size);
	case FAN:
		return set_u32("fan", text, 1, 100000, &c->fan);
	case SEED:
		if (!command_number("seed", text, 0, 9e15, &value))
			return false;
		c->seed = value;
		return true;
	case LOSE:
		if (!command_number("lose", text, 0, 0.9, &value))
			return false;
		c->lose = value * 1000000;
		return true;
	case CHUNK:
		return set_u32("chunk", text, 1, 1 << 20, &c->prio.chunk);
	case UNSCHEDULED:
		return set_u32("unscheduled", text, 1, 1 << 30, &c->prio.unscheduled);
	case PRIO_WINDOW:
		return set_u32("prio-window", text, 1, 1 << 30, &c->prio.window);
	case WINDOW:
		return set_u32("window", text, 1, 1000000, &c->window);
	case DRAIN:
		return command_number("drain", text, 0, 1000, &c->drain);
	default:
		return set_network(&c->topology, option, text);
	}
}

/* Return: false: it is wrong, and that is printed */
static bool set_option(struct request *r, int option, char *value)
{
	switch (option) {
	case TRANSPORT:
		return set_transports(r, value);
	case OVERCOMMIT:
		return set_overcommits(r, value);
	case PATTERN:
		return set_pattern(r, value);
	case WORKLOAD:
		return set_workload(r, value);
	case ECMP:
		r->ecmp = true;
		return true;
	case ONE_LEVEL:
		r->config.topology.fifo = true;
		return true;
	case 'j':
		r->json = true;
		return true;
	case SVG:
		r->svg = value;
		return true;
	case TITLE:
		r->title = value;
		return true;
	default:
		return set_number(&r->config, option, value);
	}
}

/* ---- checks that need more than one option ---------------------------------- */

static bool check(struct sim_config *c)
{
	u32 hosts = c->topology.hosts;

	if (c->topology.racks > hosts) {
		command_usage("%u hosts are too few for %u racks", hosts, c->topology.racks);
		return false;
	}
	if (c->topology.racks == 1)
		c->topology.spines = 0;
	if (!c->fan)
		c->fan = hosts - 1;
	if (c->fan >= hosts) {
		command_usage("--fan %u: only %u others", c->fan, hosts - 1);
		return false;
	}
	return true;
}

/* ---- runs ------------------------------------------------------------------- */

static void run_one(const struct request *r, const struct sim_transport *transport,
		    u32 overcommit, struct sim_result *result)
{
	struct sim_config c = r->config;
	struct sim sim;

	c.transport = transport;
	c.prio.overcommit = overcommit;
	c.topology.spray = !r->ecmp && !transport->fifo;
	sim_run(&sim, &c);
	sim_result_of(&sim, result);
	sim_fini(&sim);
}

static int run_all(const struct request *r)
{
	struct sim_result results[MAX_RUNS];
	u32 nr = 0, i, k;
	int err = 0;

	for (i = 0; i < r->nr_transports; i++)
		for (k = 0; k < r->nr_overcommits && nr < MAX_RUNS; k++)
			run_one(r, r->transports[i], r->overcommits[k], &results[nr++]);
	if (r->json)
		sim_print_json(stdout, &r->config, results, nr);
	else
		sim_print_results(stdout, results, nr);
	if (r->svg && r->nr_overcommits > 1)
		err = sim_draw_use(r->svg, r->title, results, nr);
	else if (r->svg)
		err = sim_draw_slowdown(r->svg, r->title, results, nr);
	return err;
}

static void help(void)
{
	const struct sim_transport *t;
	u32 i;

	fputs(usage, stdout);
	printf("\nWhat carries messages:\n");
	for (i = 0; (t = sim_transport_at(i)); i++)
		printf("  %-6s %s\n", t->name, t->what);
}

int command_run(int argc, char **argv)
{
	struct request r = {
		.transports = { &sim_prio }, .nr_transports = 1, .nr_overcommits = 1, .title = "",
		.config = {
			.topology = {
				.hosts = 144, .racks = 9, .spines = 4, .host_mbps = 10000,
				.core_mbps = 40000, .wire_ns = 250, .host_ns = 1500,
				.buffer = 1000000,
			},
			.pattern = SIM_RANDOM, .workload = sim_workload_find("w4"), .load = 0.8,
			.messages = 100000, .size = 10000, .window = 200, .seed = 1, .drain = 4,
		},
	};
	int option;

	while ((option = getopt_long(argc, argv, "jh", longs, NULL)) != -1) {
		if (option == 'h') {
			help();
			return 0;
		}
		if (option == '?' || !set_option(&r, option, optarg))
			return 2;
	}
	if (optind < argc)
		return command_usage("'%s' is not an option", argv[optind]);
	if (!check(&r.config))
		return 2;
	return run_all(&r);
}
