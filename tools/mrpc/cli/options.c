// SPDX-License-Identifier: GPL-2.0
/* Options before the object. */
#include <getopt.h>
#include <stddef.h>

#include "cli/options.h"
#include "cli/util.h"

struct options options;

/**
 * parse_options() - the options before the object
 * @argc: of main()
 * @argv: likewise
 *
 * Return: how many words of @argv are taken.
 */
int parse_options(int argc, char **argv)
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
			options.netns = optarg;
			break;
		case 'V':
			options.version = true;
			break;
		case 'h':
			options.help = true;
			break;
		default:	/* getopt_long() has said why */
			usage("'mrpc help' lists the options");
		}
	}
	return optind;
}
