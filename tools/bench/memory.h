/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What memory is used for.
 */
#ifndef _MEMORY_H
#define _MEMORY_H

#include <stdint.h>

#define MEMORY_KINDS	512

/**
 * struct memory - memory of the machine at one moment
 * @nr: kinds of memory
 * @kinds: caches of slabs, and of /proc/meminfo what has none
 */
struct memory {
	unsigned int nr;
	struct {
		char name[64];
		uint64_t bytes;
	} kinds[MEMORY_KINDS];
};

/* To be freed with free(). */
struct memory *memory_now(void);

/* Prints by kind what has come since @before, for each end of @conns connections. */
void memory_more(const struct memory *before, uint64_t conns);

#endif
