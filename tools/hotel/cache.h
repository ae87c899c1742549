/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A client of memcached, of its text protocol. A cache that fails, or is absent, misses.
 */
#ifndef _HOTEL_CACHE_H
#define _HOTEL_CACHE_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CACHE_KEY	40	/* longest key, with the NUL */
#define CACHE_KEYS	512	/* most of them at once */
#define CACHE_BUFFER	(128 * 1024)

/* A value that was found; NULL if it was not. Not NUL-terminated. */
struct cached {
	const char *data;
	size_t len;
};

/*
 * Where all threads' connections go: HOST:PORT of IPv4. NULL for no cache. Before any
 * other call. Each thread makes a connection of its own when it needs one.
 */
void cache_init(const char *address);

/* Valid until the thread calls either again. @nr is at most CACHE_KEYS. */
void cache_get(char keys[][CACHE_KEY], size_t nr, struct cached *found);
void cache_set(const char *key, const char *value, size_t len);

/*
 * The answer to a get of @nr keys: VALUE lines in the order of the keys, and END. Fills @found.
 * Return: its bytes; 0 if it is not complete; -1 if it is none.
 */
long cache_parse(const char *text, size_t len, char keys[][CACHE_KEY], size_t nr,
		 struct cached *found);

#ifdef __cplusplus
}
#endif

#endif
