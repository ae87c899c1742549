// SPDX-License-Identifier: GPL-2.0
/* Options before the object. */
#include <getopt.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "cli/options.h"
#include "cli/util.h"

struct options options;

/* Sets a flag for the output format. Return: false: @c is not such a flag. */
static bool set_flag(int c)
{
	switch (c) {
	case 'j':
		options.json = true;
		return true;
	case 'p':
		options.pretty = true;
		return true;
	case 's':
		options.stats = true;
		return true;
	case 't':
		options.timestamp = true;
		return true;
	case 'o':
		options.oneline = true;
		return true;
	default:
		return false;
	}
}

/**
 * parse_options() - parse the options before the object
 * @argc: of main()
 * @argv: of main()
 *
 * Return: number of words of @argv taken.
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
		{ "oneline", no_argument, NULL, 'o' },
		{ "batch", required_argument, NULL, 'b' },
		{ "force", no_argument, NULL, 'f' },
		{ "netns", required_argument, NULL, 'n' },
		{ "version", no_argument, NULL, 'V' },
		{ "help", no_argument, NULL, 'h' },
		{ }
	};
	int c;

	argv[0] = "mrpc";	/* name in getopt's error messages */
	/* As with ip, -json is --json. */
	while ((c = getopt_long_only(argc, argv, "+jpstob:fn:Vh", longs, NULL)) != -1) {
		if (set_flag(c))
			continue;
		switch (c) {
		case 'b':
			options.batch = optarg;
			break;
		case 'f':
			options.force = true;
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

/* Is it one or several flags: "-j", "-js" or "--json"? It sets them. */
static bool is_flag(const char *word)
{
	static const struct {
		const char *name;
		int flag;
	} names[] = {
		{ "json", 'j' }, { "pretty", 'p' }, { "stats", 's' }, { "statistics", 's' },
		{ "ts", 't' }, { "timestamp", 't' }, { "oneline", 'o' },
	};
	size_t i, dashes = strspn(word, "-");

	if (dashes < 1 || dashes > 2 || !word[dashes])
		return false;
	word += dashes;
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(names[i].name, word))
			return set_flag(names[i].flag);
	if (dashes > 1 || strspn(word, "jpsto") < strlen(word))
		return false;
	while (*word)
		set_flag(*word++);
	return true;
}

/**
 * parse_flags() - parse the flags behind the object, as in bpftool
 * @nr: number of @words
 * @words: the object and the words after it; flags are removed. Words after "--" stay
 *
 * Return: number of words left.
 */
int parse_flags(int nr, char **words)
{
	int i, left = 0;

	for (i = 0; i < nr && strcmp(words[i], "--"); i++)
		if (!is_flag(words[i]))
			words[left++] = words[i];
	while (++i < nr)
		words[left++] = words[i];
	return left;
}
