// SPDX-License-Identifier: MIT
#include <err.h>
#include <search.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "records.h"

static void append(struct record *r, const char *line, size_t len)
{
	r->value = realloc(r->value, r->len + len);
	if (!r->value)
		err(1, NULL);
	memcpy(r->value + r->len, line, len);
	r->len += len;
}

static void set_key(struct record *r, const char *line, size_t len)
{
	static const char field[] = "Package: ";

	if (r->key || strncmp(line, field, sizeof(field) - 1))
		return;
	r->key = strndup(line + sizeof(field) - 1,
			 len - (sizeof(field) - 1) - (line[len - 1] == '\n'));
	if (!r->key)
		err(1, NULL);
}

/* Whether it is the first of its name; hcreate()'s table is for the whole program. */
static bool is_new(char *key)
{
	ENTRY e = { .key = key };

	if (hsearch(e, FIND))
		return false;
	if (!hsearch(e, ENTER))
		err(1, NULL);
	return true;
}

static void add(struct records *records, struct record *r)
{
	if (r->key && r->key[0] && is_new(r->key)) {
		records->list[records->nr++] = *r;
		records->bytes += r->len;
	} else {
		free(r->key);
		free(r->value);
	}
	memset(r, 0, sizeof(*r));
}

struct records records_read(const char *file, size_t max)
{
	FILE *in = strcmp(file, "-") ? fopen(file, "r") : stdin;
	struct records records = { 0 };
	struct record r = { 0 };
	char *line = NULL;
	size_t size = 0;
	ssize_t len;

	if (!in)
		err(1, "%s", file);
	records.list = calloc(max, sizeof(*records.list));
	if (!records.list || !hcreate(max * 2))
		err(1, NULL);
	while (records.nr < max && (len = getline(&line, &size, in)) > 0) {
		if (line[0] == '\n') {
			add(&records, &r);
			continue;
		}
		set_key(&r, line, (size_t)len);
		append(&r, line, (size_t)len);
	}
	if (ferror(in))
		err(1, "%s", file);
	if (records.nr < max)
		add(&records, &r);
	free(line);
	hdestroy();
	if (in != stdin)
		fclose(in);
	if (!records.nr)
		errx(1, "%s: there are no records (as 'apt-cache dumpavail' prints them)", file);
	return records;
}

void records_free(struct records *records)
{
	size_t i;

	for (i = 0; i < records->nr; i++) {
		free(records->list[i].key);
		free(records->list[i].value);
	}
	free(records->list);
}
