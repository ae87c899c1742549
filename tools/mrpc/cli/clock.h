/* SPDX-License-Identifier: GPL-2.0 */
/* The time that passes, whatever the administrator sets the clock to. */
#ifndef MRPC_TOOL_CLI_CLOCK_H
#define MRPC_TOOL_CLI_CLOCK_H

#include <stdint.h>
#include <time.h>

/* Returns the time of CLOCK_MONOTONIC in ns. */
static inline uint64_t clock_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

#endif /* MRPC_TOOL_CLI_CLOCK_H */
