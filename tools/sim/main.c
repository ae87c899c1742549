// SPDX-License-Identifier: GPL-2.0
/* mrpc-sim: hundreds of simulated hosts with the prio transport's protocol, or with collectives. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"

static const char usage[] =
	"Usage: mrpc-sim run [OPTION]...     calls over a network of hosts; what they took\n"
	"       mrpc-sim faults [OPTION]...  random faults; is every message delivered once?\n"
	"       mrpc-sim group [OPTION]...   AllReduce of many jobs; by which rings and routes?\n"
	"       mrpc-sim fit FILE.csv W      how well workload W follows a table\n"
	"       mrpc-sim COMMAND --help      the options of a command\n"
	"       mrpc-sim --version\n"
	"\n"
	"Times are simulated: a command with the same options prints the same each time.\n"
	"Exit status: 0; 1: it failed, or a fault was found; 2: wrong usage.\n";

static int fit(int argc, char **argv)
{
	const struct sim_workload *w;

	if (argc == 2 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))) {
		puts("Usage: mrpc-sim fit FILE.csv W\n\n"
		     "FILE.csv has lines BYTES,FRACTION: so much of the messages are at most so long.");
		return 0;
	}
	if (argc != 3)
		return command_usage("fit wants a file and a workload");
	w = sim_workload_find(argv[2]);
	if (!w)
		return command_usage("no workload '%s'; there are w1 to w5", argv[2]);
	return sim_fit(argv[1], w);
}

int main(int argc, char **argv)
{
	if (argc < 2)
		return command_usage("which command? run, faults, group or fit");
	if (!strcmp(argv[1], "run"))
		return command_run(argc - 1, argv + 1);
	if (!strcmp(argv[1], "faults"))
		return command_faults(argc - 1, argv + 1);
	if (!strcmp(argv[1], "group"))
		return command_group(argc - 1, argv + 1);
	if (!strcmp(argv[1], "fit"))
		return fit(argc - 1, argv + 1);
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) {
		fputs(usage, stdout);
		return 0;
	}
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
		puts("mrpc-sim " MRPC_VERSION);
		return 0;
	}
	return command_usage("no command '%s'; there are run, faults, group and fit", argv[1]);
}
