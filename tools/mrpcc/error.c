// SPDX-License-Identifier: GPL-2.0
/* Complaints about the input. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "model.h"

struct complaint {
	struct where at;
	char *text;
};

static struct complaint *all;
static unsigned int count;

struct where file_where(const struct file *file, struct path path)
{
	return places_where(&file->places, path);
}

const char *shown_name(const char *name)
{
	return strlen(name) > MRPC_SCHEMA_SHOWN_NAME ? xasprintf("%.60s...", name) : name;
}

void complain(struct where at, const char *fmt, ...)
{
	struct buf text = { 0 };
	va_list ap;

	va_start(ap, fmt);
	buf_vprintf(&text, fmt, ap);
	va_end(ap);
	all = xrealloc(all, count + 1, sizeof(*all));
	all[count++] = (struct complaint){ at, text.data };
}

void remark(struct where at, const char *fmt, ...)
{
	struct buf text = { 0 };
	va_list ap;

	va_start(ap, fmt);
	buf_vprintf(&text, fmt, ap);
	va_end(ap);
	fprintf(stderr, "%s:%u:%u: note: %s\n", at.file, at.line, at.column, text.data);
}

unsigned int nr_complaints(void)
{
	return count;
}

static int compare(const void *a, const void *b)
{
	const struct complaint *ca = a, *cb = b;
	int ret = strcmp(ca->at.file, cb->at.file);

	if (!ret)
		ret = (ca->at.line > cb->at.line) - (ca->at.line < cb->at.line);
	if (!ret)
		ret = (ca->at.column > cb->at.column) - (ca->at.column < cb->at.column);
	return ret ? ret : strcmp(ca->text, cb->text);
}

const char *complaints(void)
{
	struct buf out = { 0 };
	unsigned int i;

	if (count)
		qsort(all, count, sizeof(*all), compare);
	for (i = 0; i < count; i++) {
		/* A type can be met on several ways. */
		if (i && !compare(&all[i - 1], &all[i]))
			continue;
		if (all[i].at.line)
			buf_printf(&out, "%s:%u:%u: %s\n", all[i].at.file, all[i].at.line,
				   all[i].at.column, all[i].text);
		else
			buf_printf(&out, "%s: %s\n", all[i].at.file, all[i].text);
	}
	return buf_text(&out);
}

void forget_complaints(void)
{
	count = 0;
}
