// SPDX-License-Identifier: GPL-2.0
/* Commands from a file, one in a line, as 'ip -batch' takes them. */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "batch.h"
#include "cli/child.h"
#include "cli/options.h"
#include "cli/util.h"
#include "cli/words.h"
#include "plan/words.h"

/**
 * run_batch() - the commands of a file
 * @file: its name; "-": standard input
 * @run: runs the words of a command
 *
 * The first that fails is the last, but with -force.
 *
 * Return: exit status.
 */
int run_batch(const char *file, int (*run)(struct args *args))
{
	FILE *in = strcmp(file, "-") ? fopen(file, "re") : stdin;
	int status = 0, one, number = 0;
	size_t room = 0;
	char *line = NULL, *why;

	if (!in)
		fail("cannot open '%s': %s", file, strerror(errno));
	while ((status == 0 || options.force) && getline(&line, &room, in) >= 0) {
		struct command c = { };
		struct args args;

		number++;
		if (line[strspn(line, " \t\n")] == '#')
			continue;
		if (!words_split(line, &c, &why))
			usage("%s:%d: %s", file, number, why);
		args = (struct args){ c.nr, c.words };
		one = c.nr ? run_child(run, &args) : 0;
		if (one)
			fprintf(stderr, "mrpc: %s:%d: the command failed\n", file, number);
		status = status ?: one;
	}
	if (ferror(in))
		fail("cannot read '%s'", file);
	return status;
}
