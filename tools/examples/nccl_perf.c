// SPDX-License-Identifier: MIT
/*
 * nccl-perf [-b BYTES] [-e BYTES] [-f FACTOR] [-n TIMES]: how long AllReduce takes.
 *
 * An ordinary program of NCCL, but for its memory, which is the host's, and its stream, which is
 * NULL. A launcher starts it once for each rank, and says which rank it is in the environment. Rank
 * 0 listens at NCCL_COMM_ID. Without a launcher, for two ranks:
 *
 *	export NCCL_COMM_ID=127.0.0.1:7004 MRPC_RANKS=2
 *	MRPC_RANK=0 nccl-perf & MRPC_RANK=1 nccl-perf
 */
#include <err.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <nccl.h>

#define CHECK(call)							\
	do {								\
		ncclResult_t check_result = (call);			\
									\
		if (check_result != ncclSuccess)			\
			errx(1, "%s: %s", ncclGetErrorString(check_result), \
			     ncclGetLastError(NULL));			\
	} while (0)

/* Sizes from @begin to @end, each @factor times the one before; @times AllReduces of each. */
struct plan {
	size_t begin;
	size_t end;
	size_t factor;
	size_t times;
};

struct rank {
	ncclComm_t comm;
	int rank;
	int ranks;
};

/* A whole number that is not below @least, perhaps with K, M or G behind it. */
static size_t number(const char *text, size_t least)
{
	static const char units[] = "KMG";
	const char *unit;
	unsigned long n;
	char *end;

	errno = 0;
	n = strtoul(text, &end, 10);
	unit = *end ? strchr(units, *end) : NULL;
	if (unit)
		end++;
	if (errno || *text == '-' || *end || end == text || n < least || n > 1u << 30)
		errx(2, "%s is not a number from %zu on, such as 8, 64K, 1M", text, least);
	return unit ? n << 10 * (unit - units + 1) : n;
}

static struct plan parse(int argc, char **argv)
{
	struct plan p = { .begin = 1 << 10, .end = 1 << 20, .factor = 2, .times = 20 };
	int c;

	while ((c = getopt(argc, argv, "b:e:f:n:")) != -1) {
		switch (c) {
		case 'b':
			p.begin = number(optarg, 1);
			break;
		case 'e':
			p.end = number(optarg, 1);
			break;
		case 'f':
			p.factor = number(optarg, 1);
			break;
		case 'n':
			p.times = number(optarg, 1);
			break;
		default:
			errx(2, "usage: nccl-perf [-b BYTES] [-e BYTES] [-f FACTOR] [-n TIMES]");
		}
	}
	if (optind < argc || p.factor < 2 || p.begin < sizeof(float) || p.begin > p.end)
		errx(2, "sizes go from -b, %zu bytes or more, to -e, by a factor of -f, 2 or more",
		     sizeof(float));
	return p;
}

/* What launchers call the rank and the number of ranks. Alone without any. */
static void find_rank(struct rank *r)
{
	static const char *const names[][2] = {
		{ "MRPC_RANK", "MRPC_RANKS" },
		{ "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE" },
		{ "PMI_RANK", "PMI_SIZE" },
		{ "SLURM_PROCID", "SLURM_NTASKS" },
	};
	const char *rank, *ranks;
	size_t i;

	r->rank = 0;
	r->ranks = 1;
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		rank = getenv(names[i][0]);
		ranks = getenv(names[i][1]);
		if (!rank || !ranks)
			continue;
		r->rank = (int)number(rank, 0);
		r->ranks = (int)number(ranks, 1);
		break;
	}
	if (r->ranks > 1 && !getenv("NCCL_COMM_ID"))
		errx(2, "NCCL_COMM_ID must be HOST:PORT of rank 0, the same at all ranks");
}

static void join(struct rank *r)
{
	ncclUniqueId id;

	find_rank(r);
	CHECK(ncclGetUniqueId(&id));
	CHECK(ncclCommInitRank(&r->comm, r->ranks, id, r->rank));
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Whole numbers, so that the sum is exact in any order. */
static float element(int rank, size_t i)
{
	return (float)((size_t)rank * 7 + i % 1000);
}

/* Elements of the sum of all ranks that are wrong, at all ranks together. */
static long count_wrong(const struct rank *r, const float *sum, size_t count)
{
	int64_t wrong = 0;
	float expected;
	size_t i;
	int rank;

	for (i = 0; i < count; i++) {
		expected = 0;
		for (rank = 0; rank < r->ranks; rank++)
			expected += element(rank, i);
		wrong += sum[i] != expected;
	}
	CHECK(ncclAllReduce(&wrong, &wrong, 1, ncclInt64, ncclSum, r->comm, NULL));
	return (long)wrong;
}

/* Seconds of one AllReduce. */
static double measure(const struct rank *r, const float *in, float *out, size_t count, size_t times)
{
	double begin;
	size_t i;

	/* The first one finds all ranks here. */
	CHECK(ncclAllReduce(in, out, count, ncclFloat, ncclSum, r->comm, NULL));
	begin = now();
	for (i = 0; i < times; i++)
		CHECK(ncclAllReduce(in, out, count, ncclFloat, ncclSum, r->comm, NULL));
	return (now() - begin) / (double)times;
}

/* The bandwidths are those of nccl-tests: of the buffer, and of what each rank must send. */
static long run_size(const struct rank *r, const float *in, float *out, size_t bytes, size_t times)
{
	size_t count = bytes / sizeof(float);
	double seconds = measure(r, in, out, count, times);
	double algbw = (double)(count * sizeof(float)) / seconds / 1e9;
	double busbw = algbw * 2 * (r->ranks - 1) / r->ranks;
	long wrong = count_wrong(r, out, count);

	if (!r->rank)
		printf("%12zu %12zu %12.1f %12.3f %12.3f %12ld\n", count * sizeof(float), count,
		       seconds * 1e6, algbw, busbw, wrong);
	return wrong;
}

int main(int argc, char **argv)
{
	struct plan p = parse(argc, argv);
	struct rank r;
	float *in, *out;
	long wrong = 0;
	size_t i;

	setvbuf(stdout, NULL, _IOLBF, 0);
	join(&r);
	CHECK(ncclMemAlloc((void **)&in, p.end));
	CHECK(ncclMemAlloc((void **)&out, p.end));
	for (i = 0; i < p.end / sizeof(float); i++)
		in[i] = element(r.rank, i);
	if (!r.rank)
		printf("# AllReduce, sum of floats, %d ranks, %zu times\n"
		       "# %10s %12s %12s %12s %12s %12s\n", r.ranks, p.times, "bytes", "elements",
		       "time (us)", "algbw (GB/s)", "busbw (GB/s)", "wrong");
	for (i = p.begin; i <= p.end; i *= p.factor) {
		wrong += run_size(&r, in, out, i, p.times);
		if (i > p.end / p.factor)
			break;
	}
	CHECK(ncclMemFree(in));
	CHECK(ncclMemFree(out));
	CHECK(ncclCommDestroy(r.comm));
	return wrong ? 1 : 0;
}
