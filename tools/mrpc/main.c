// SPDX-License-Identifier: GPL-2.0
/* mrpc: shows operators what the kernel's RPC service does. */
#include <getopt.h>
#include <stdlib.h>
#include <unistd.h>

#include "tool.h"

struct options options;

static int do_version(struct args *args)
{
	if (is_help(peek_word(args))) {
		help_object("version");
		return 0;
	}
	no_more_words(args);
	if (options.json)
		puts("{\"version\":\"" MRPC_VERSION "\"}");
	else
		puts("mrpc " MRPC_VERSION);
	return 0;
}

static const struct word objects[] = {
	{ "session", do_session },
	{ "qp", do_qp },
	{ "conn", do_conn, "connection" },
	{ "service", do_service },
	{ "schema", do_schema },
	{ "datapath", do_datapath },
	{ "engine", do_engine },
	{ "queue", do_queue },
	{ "runtime", do_runtime },
	{ "egress", do_egress },
	{ "transport", do_transport, .whole = true },
	{ "set", do_keyset, .whole = true },
	{ "config", do_config, .whole = true },
	{ "plan", do_plan },
	{ "policy", do_policy, .whole = true },
	{ "metrics", do_metrics, .whole = true },
	{ "monitor", do_monitor },
	{ "top", do_top },
	{ "dump", do_dump },
	{ "version", do_version },
	{ "help", do_help },
	{ }
};

static void parse_options(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "json", no_argument, NULL, 'j' },
		{ "pretty", no_argument, NULL, 'p' },
		{ "stats", no_argument, NULL, 's' },
		{ "statistics", no_argument, NULL, 's' },
		{ "ts", no_argument, NULL, 't' },
		{ "timestamp", no_argument, NULL, 't' },
		{ "netns", required_argument, NULL, 'n' },
		{ "version", no_argument, NULL, 'V' },
		{ "help", no_argument, NULL, 'h' },
		{ }
	};
	struct args none = { };
	int c;

	argv[0] = "mrpc";	/* in getopt's complaints */
	/* As with ip, options come before the object, and -json is --json. */
	while ((c = getopt_long_only(argc, argv, "+jpstn:Vh", longs, NULL)) != -1) {
		switch (c) {
		case 'j':
			options.json = true;
			break;
		case 'p':
			options.pretty = true;
			break;
		case 's':
			options.stats = true;
			break;
		case 't':
			options.timestamp = true;
			break;
		case 'n':
			enter_netns(optarg);
			break;
		case 'V':
			exit(do_version(&none));
		case 'h':
			exit(do_help(&none));
		default:	/* getopt_long() has said why */
			usage("'mrpc help' lists the options");
		}
	}
}

int main(int argc, char **argv)
{
	struct args args;
	const char *word;
	int status;

	parse_options(argc, argv);
	args.nr = argc - optind;
	args.words = argv + optind;
	word = next_word(&args);
	if (!word) {
		fputs("mrpc: an object is missing; 'mrpc help' lists them\n", stderr);
		return EXIT_USAGE;
	}
	status = find_word(objects, word, "an object")->run(&args);
	if (fflush(stdout) || ferror(stdout))
		fail("cannot write the output");
	return status;
}
