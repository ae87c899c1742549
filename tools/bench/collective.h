/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What mrpc and its peers measure of collectives: the same operations, as often, printed alike. In
 * a machine with a clock of instructions, the programs count these instead of microseconds.
 */
#ifndef COLLECTIVE_H
#define COLLECTIVE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum bench_op {
	BENCH_ALLREDUCE,	/* in place, as the next two */
	BENCH_ALLGATHER,
	BENCH_BROADCAST,
	BENCH_ALLREDUCE_APART,	/* from one buffer into another one */
	BENCH_NR
};

static const char *const bench_ops[BENCH_NR] = {
	"allreduce", "allgather", "broadcast", "allreduce-apart",
};

/* Bytes: of the buffer, which for allgather is that of the result. They are floats. */
static const uint32_t bench_sizes[] = { 1 << 10, 64 << 10, 1 << 20, 16 << 20 };

#define BENCH_SIZES	(sizeof(bench_sizes) / sizeof(bench_sizes[0]))

/* scripts/vm says so to what runs in such a machine. */
static inline bool bench_counts(void)
{
	return getenv("MRPC_COUNTED");
}

/* Counts repeat, but take long: they are of AllReduce, small and large. */
static inline bool bench_wants(enum bench_op op, uint32_t bytes)
{
	if (!bench_counts())
		return op != BENCH_ALLREDUCE_APART;
	return (op == BENCH_ALLREDUCE || op == BENCH_ALLREDUCE_APART) &&
	       (bytes == 1 << 10 || bytes == 1 << 20);
}

/* Operations that are measured together, after some that are not. */
static inline int bench_rounds(uint32_t bytes)
{
	return bytes >= 16 << 20 ? 2 : bytes >= 1 << 20 ? 10 : bytes >= 64 << 10 ? 50 : 200;
}

static inline int bench_warm(uint32_t bytes)
{
	return bench_rounds(bytes) / 10 + 1;
}

/* Microseconds. Where instructions are counted, each is a tick of the time stamp counter. */
static inline double bench_now(void)
{
	struct timespec ts;

	if (bench_counts())
		return (double)__builtin_ia32_rdtsc();
	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e6 + (double)ts.tv_nsec / 1e3;
}

/* A line: peer, way, operation, bytes, microseconds or instructions of an operation. */
static inline void bench_print(const char *peer, const char *way, enum bench_op op, uint32_t bytes,
			       double cost)
{
	printf("collective %s %s %s %u %.1f\n", peer, way, bench_ops[op], bytes, cost);
	fflush(stdout);
}

#endif /* COLLECTIVE_H */
