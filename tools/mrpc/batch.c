// SPDX-License-Identifier: GPL-2.0
/* Commands from a file, one in a line, as 'ip -batch' takes them. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "batch.h"
#include "cli/child.h"
#include "cli/options.h"
#include "cli/util.h"
#include "cli/words.h"
#include "plan/words.h"

#define BATCH_MAX	(16 << 20)

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
	/* All of it first: a process that ends would move the place in an open file. */
	size_t len;
	char *text = read_file(file, BATCH_MAX, &len), *line, *why;
	int status = 0, one, number = 0;

	text[len] = 0;
	while ((line = strsep(&text, "\n")) && (!status || options.force)) {
		struct command c = { };
		struct args args;

		number++;
		if (line[strspn(line, " \t")] == '#')
			continue;
		if (!words_split(line, &c, &why))
			usage("%s:%d: %s", file, number, why);
		args = (struct args){ c.nr, c.words };
		one = c.nr ? run_child(run, &args) : 0;
		if (one)
			fprintf(stderr, "mrpc: %s:%d: the command failed\n", file, number);
		status = status ?: one;
	}
	return status;
}
