/* SPDX-License-Identifier: GPL-2.0 */
/* What mrpc and its peers measure of collectives: the same operations, as often, printed alike. */
#ifndef COLLECTIVE_H
#define COLLECTIVE_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum bench_op { BENCH_ALLREDUCE, BENCH_ALLGATHER, BENCH_BROADCAST, BENCH_NR };

static const char *const bench_ops[BENCH_NR] = { "allreduce", "allgather", "broadcast" };

/* Bytes: of the buffer, which for allgather is that of the result. They are floats. */
static const uint32_t bench_sizes[] = { 1 << 10, 64 << 10, 1 << 20, 16 << 20 };

#define BENCH_SIZES	(sizeof(bench_sizes) / sizeof(bench_sizes[0]))

/* Operations that are timed together, after some that are not. */
static inline int bench_rounds(uint32_t bytes)
{
	return bytes >= 16 << 20 ? 2 : bytes >= 1 << 20 ? 10 : bytes >= 64 << 10 ? 50 : 200;
}

static inline int bench_warm(uint32_t bytes)
{
	return bench_rounds(bytes) / 10 + 1;
}

static inline double bench_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e6 + (double)ts.tv_nsec / 1e3;
}

/* A line: the peer, the way, the operation, bytes, microseconds of an operation. */
static inline void bench_print(const char *peer, const char *way, enum bench_op op, uint32_t bytes,
			       double us)
{
	printf("collective %s %s %s %u %.1f\n", peer, way, bench_ops[op], bytes, us);
	fflush(stdout);
}

#endif /* COLLECTIVE_H */
