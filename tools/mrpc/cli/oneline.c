// SPDX-License-Identifier: GPL-2.0
/*
 * Blocks of several lines as one, as 'ip -o' has them: what a command prints is kept
 * until it ends. A block is a line that ends with a colon, and the indented ones behind.
 */
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/oneline.h"
#include "cli/util.h"

static FILE *real;	/* NULL: nothing is kept */
static char *kept;
static size_t size;

void oneline_begin(void)
{
	real = stdout;
	stdout = open_text(&kept, &size);
}

/* Blanks in a row as one: a line had columns. */
static void print_squeezed(FILE *out, const char *line, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++)
		if (!isblank((unsigned char)line[i]) || !i || !isblank((unsigned char)line[i - 1]))
			putc(line[i] == '\t' ? ' ' : line[i], out);
}

/* Prints what was kept. */
void oneline_end(void)
{
	const char *line, *end;
	bool block = false;

	if (!real)
		return;
	fclose(stdout);
	stdout = real;
	real = NULL;
	for (line = kept; *line; line = *end ? end + 1 : end) {
		end = strchrnul(line, '\n');
		if (block && isblank((unsigned char)*line)) {
			fputs(" \\", stdout);
			print_squeezed(stdout, line, end - line);
			continue;
		}
		if (block)
			putchar('\n');
		if (block && line == end) {	/* between two blocks */
			block = false;
			continue;
		}
		block = end > line && end[-1] == ':';
		fwrite(line, 1, end - line + (*end && !block), stdout);
	}
	if (block)
		putchar('\n');
	free(kept);
}
