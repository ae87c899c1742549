/* SPDX-License-Identifier: MIT */
/*
 * Package records, as 'apt-cache dumpavail' prints them.
 */
#ifndef RECORDS_H
#define RECORDS_H

#include <stddef.h>

struct record {
	char *key;		/* the package's name */
	char *value;		/* the whole stanza */
	size_t len;
};

struct records {
	struct record *list;
	size_t nr;
	size_t bytes;
};

/*
 * Reads the first @max records; of those with the same name only the first.
 * @file "-" is the standard input. Exits with a message if that fails.
 */
struct records records_read(const char *file, size_t max);
void records_free(struct records *records);

#endif /* RECORDS_H */
