// SPDX-License-Identifier: GPL-2.0
/* mrpc-sim faults: seed after seed, and which of them failed. */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>

#include "command.h"
#include "faults.h"

static const char usage[] =
	"Usage: mrpc-sim faults [OPTION]...\n"
	"\n"
	"  --seeds N    how many (1000)\n"
	"  --seed S     the first (1); with --seeds 1 that one again\n"
	"  --keep-going after a failure\n"
	"  --verbose    tell what happens, on stderr\n"
	"\n"
	"Exit status: 0: all held; 1: some did not, and are printed; 2: wrong usage.\n";

static void add(struct fault_report *sum, const struct fault_report *r)
{
	sum->messages += r->messages;
	sum->came += r->came;
	sum->packets += r->packets;
	sum->lost += r->lost;
	sum->repeated += r->repeated;
	sum->delayed += r->delayed;
	sum->damaged += r->damaged;
	sum->restarts += r->restarts;
	sum->stalls += r->stalls;
	sum->cuts += r->cuts;
	sum->resends += r->resends;
	sum->gaps = max(sum->gaps, r->gaps);
	sum->memory = max(sum->memory, r->memory);
}

static void print(const struct fault_report *s, u64 seeds, u64 failed)
{
	printf("%" PRIu64 " seeds, %" PRIu64 " failed\n", seeds, failed);
	printf("messages %" PRIu64 ", of which came %" PRIu64 "\n", s->messages, s->came);
	printf("packets %" PRIu64 ", and lost %" PRIu64 ", repeated %" PRIu64 ", delayed %" PRIu64
	       ", damaged %" PRIu64 "\n", s->packets, s->lost, s->repeated, s->delayed, s->damaged);
	printf("restarts %" PRIu64 ", stalls %" PRIu64 ", cuts %" PRIu64 "\n", s->restarts,
	       s->stalls, s->cuts);
	printf("resends %" PRIu64 ", most bitmaps of a host %" PRIu64
	       ", most state of a host %" PRIu64 " bytes\n", s->resends, s->gaps, s->memory);
}

static int run(u64 first, u64 seeds, bool keep_going, bool verbose)
{
	struct fault_report sum = {}, r;
	u64 i, failed = 0;

	for (i = 0; i < seeds; i++) {
		faults_run(first + i, verbose, &r);
		add(&sum, &r);
		if (!r.failed)
			continue;
		failed++;
		printf("seed %" PRIu64 ": %s\n", first + i, r.why);
		printf("  again: mrpc-sim faults --verbose --seeds 1 --seed %" PRIu64 "\n", first + i);
		fflush(stdout);
		if (!keep_going) {
			i++;
			break;
		}
	}
	print(&sum, i, failed);
	return failed ? 1 : 0;
}

int command_faults(int argc, char **argv)
{
	enum { SEEDS = 256, SEED, KEEP_GOING, VERBOSE };
	static const struct option longs[] = {
		{ "seeds", required_argument, NULL, SEEDS },
		{ "seed", required_argument, NULL, SEED },
		{ "keep-going", no_argument, NULL, KEEP_GOING },
		{ "verbose", no_argument, NULL, VERBOSE },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	bool keep_going = false, verbose = false;
	double seeds = 1000, seed = 1;
	int option;

	while ((option = getopt_long(argc, argv, "h", longs, NULL)) != -1) {
		if (option == '?' ||
		    (option == SEEDS && !command_number("seeds", optarg, 1, 1e12, &seeds)) ||
		    (option == SEED && !command_number("seed", optarg, 0, 9e15, &seed)))
			return 2;
		if (option == 'h') {
			fputs(usage, stdout);
			return 0;
		}
		keep_going |= option == KEEP_GOING;
		verbose |= option == VERBOSE;
	}
	if (optind < argc)
		return command_usage("'%s' is not an option", argv[optind]);
	return run(seed, seeds, keep_going, verbose);
}
