// SPDX-License-Identifier: GPL-2.0
/*
 * Reductions (kmod/lib/group/reduce.h) of two buffers, for a profiler that counts, or by time:
 *
 *	reduce_bench count BYTES	each case once to warm up, and once in run_measured()
 *	reduce_bench time BYTES		bytes per second of each case, the best of several rounds
 *
 * Prints "TYPE OPERATION WAY BYTES-PER-SECOND", and 0 where nothing was timed. The first line is
 * memcpy(). tools/bench/reduce makes the table.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/group/reduce_fp.h"

#define ROUNDS		12
#define ROUND_BYTES	(48 << 20)

static const char *const elems[MRPC_NR_ELEMS] = { "i32", "i64", "u8", "f32", "f64", "bf16", "f16" };
static const char *const ops[MRPC_NR_REDUCE_OPS] = { "sum", "min", "max", "prod", "and", "or" };

static u8 *dst, *src;
static size_t bytes;

typedef void reduce_fn(u32 elem, u32 op, void *to, const void *with, const void *from,
		       size_t count);

static void copy(u32 elem, u32 op, void *to, const void *with, const void *from, size_t count)
{
	(void)op;
	(void)with;
	memcpy(to, from, count * mrpc_elem_size(elem));
}

/* The profiler counts what is in here. */
static noinline void run_measured(reduce_fn *reduce, u32 elem, u32 op)
{
	reduce(elem, op, dst, dst, src, bytes / mrpc_elem_size(elem));
	__asm__ volatile("" : : "r"(dst) : "memory");
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static double rate(reduce_fn *reduce, u32 elem, u32 op)
{
	u32 turns = ROUND_BYTES / bytes + 1, round, i;
	double took, best = 1e9;

	for (round = 0; round < ROUNDS; round++) {
		took = seconds();
		for (i = 0; i < turns; i++)
			run_measured(reduce, elem, op);
		took = seconds() - took;
		best = took < best ? took : best;
	}
	return (double)bytes * turns / best;
}

/* Operands that change nothing, however often: no overflow, no subnormal number. */
static void fill(u32 elem, u32 op)
{
	static const u64 ones[MRPC_NR_ELEMS] = {
		1, 1, 1, 0x3f800000, 0x3ff0000000000000ULL, 0x3f80, 0x3c00,
	};
	const u32 size = mrpc_elem_size(elem);
	size_t i;

	memset(src, 0, bytes);
	for (i = 0; i < bytes; i += size) {
		memcpy(dst + i, &ones[elem], size);
		if (op == MRPC_REDUCE_PROD)
			memcpy(src + i, &ones[elem], size);
	}
}

static void measure(const char *way, reduce_fn *reduce, u32 elem, u32 op, bool timed)
{
	double is = 0;

	fill(elem, op);
	reduce(elem, op, dst, dst, src, bytes / mrpc_elem_size(elem));
	if (timed)
		is = rate(reduce, elem, op);
	else
		run_measured(reduce, elem, op);
	printf("%s %s %s %.0f\n", elems[elem], ops[op], way, is);
}

int main(int argc, char **argv)
{
	bool timed = argc == 3 && !strcmp(argv[1], "time");
	u32 elem, op;

	bytes = argc == 3 ? strtoul(argv[2], NULL, 10) / 8 * 8 : 0;
	if (!bytes || (!timed && strcmp(argv[1], "count"))) {
		fprintf(stderr, "usage: reduce_bench count|time BYTES\n");
		return 2;
	}
	dst = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
	src = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
	if (!dst || !src)
		abort();
	measure("memcpy", copy, MRPC_ELEM_U8, MRPC_REDUCE_OR, timed);
	for (elem = 0; elem < MRPC_NR_ELEMS; elem++) {
		for (op = 0; op < MRPC_NR_REDUCE_OPS; op++) {
			if (mrpc_reduce_check(elem, op))
				continue;
			if (!mrpc_reduce_needs_fp(elem, op))
				measure("plain", mrpc_reduce, elem, op, timed);
			measure("vector", mrpc_reduce_fp, elem, op, timed);
#ifdef __x86_64__
			if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("f16c"))
				measure("avx2", mrpc_reduce_fp_avx2, elem, op, timed);
#endif
		}
	}
	return 0;
}
