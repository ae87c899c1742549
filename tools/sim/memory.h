/* SPDX-License-Identifier: GPL-2.0 */
/* Memory that is there, or the program ends. */
#ifndef SIM_MEMORY_H
#define SIM_MEMORY_H

#include <stdio.h>
#include <stdlib.h>

static inline void *sim_realloc(void *old, size_t bytes)
{
	void *p = realloc(old, bytes);

	if (!p && bytes) {
		fprintf(stderr, "mrpc-sim: no memory for %zu bytes\n", bytes);
		exit(1);
	}
	return p;
}

/** sim_zalloc() - @bytes of zeroes */
static inline void *sim_zalloc(size_t bytes)
{
	void *p = calloc(1, bytes);

	if (!p) {
		fprintf(stderr, "mrpc-sim: no memory for %zu bytes\n", bytes);
		exit(1);
	}
	return p;
}

#endif /* SIM_MEMORY_H */
