// SPDX-License-Identifier: GPL-2.0
/* Complaints, texts and files. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/util.h"

/* In one piece, so that lines of several processes do not mix. */
static void __attribute__((format(printf, 1, 0))) complain(const char *fmt, va_list ap)
{
	char *text;

	fflush(stdout);
	if (vasprintf(&text, fmt, ap) >= 0)
		fprintf(stderr, "mrpc: %s\n", text);
}

void usage(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	complain(fmt, ap);
	va_end(ap);
	exit(EXIT_USAGE);
}

void fail(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	complain(fmt, ap);
	va_end(ap);
	exit(EXIT_FAILED);
}

char *text_printf(const char *fmt, ...)
{
	va_list ap;
	char *text;

	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		fail("out of memory");
	va_end(ap);
	return text;
}

FILE *open_text(char **text, size_t *len)
{
	FILE *out = open_memstream(text, len);

	if (!out)
		fail("out of memory");
	return out;
}

/* The bytes of a file ("-": standard input); does not return if it cannot. */
void *read_file(const char *name, size_t max, size_t *len)
{
	FILE *in = strcmp(name, "-") ? fopen(name, "r") : stdin;
	char *buf = malloc(max + 1);

	if (!buf)
		fail("out of memory");
	if (!in)
		fail("cannot open '%s': %s", name, strerror(errno));
	*len = fread(buf, 1, max + 1, in);
	if (ferror(in))
		fail("cannot read '%s': %s", name, strerror(errno));
	if (*len > max)
		fail("'%s' is too long: it has more than %zu bytes", name, max);
	if (in != stdin)
		fclose(in);
	return buf;
}
