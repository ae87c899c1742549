// SPDX-License-Identifier: GPL-2.0
/*
 * collective_bench ADDRESS RANKS: measures collectives of mrpc by each algorithm, and by the one
 * that the kernel chooses. Each rank is a process. See tools/bench/collectives.
 */
#include <err.h>
#include <sys/wait.h>
#include <unistd.h>

#include <mrpc.h>

#include "collective.h"

static const struct {
	const char *name;
	uint32_t number;
} algorithms[] = {
	{ "chosen", MRPC_ALGORITHM_CHOSEN }, { "ring", MRPC_RING }, { "recursive", MRPC_RECURSIVE },
	{ "binomial", MRPC_BINOMIAL }, { "direct", MRPC_DIRECT },
};

static const uint32_t collectives[BENCH_NR] = {
	[BENCH_ALLREDUCE] = MRPC_ALLREDUCE,
	[BENCH_ALLGATHER] = MRPC_ALLGATHER,
	[BENCH_BROADCAST] = MRPC_BROADCAST,
	[BENCH_ALLREDUCE_APART] = MRPC_ALLREDUCE,
};

/* Does one; false: there is no such algorithm for it. */
static bool run(struct mrpc_group *g, const struct mrpc_group_op *op)
{
	int status = mrpc_group_run(g, op);

	if (status == MRPC_UNIMPLEMENTED)
		return false;
	if (status != MRPC_OK)
		errx(1, "%s", mrpc_last_error());
	return true;
}

static void measure(struct mrpc_group *g, struct mrpc_group_op op, enum bench_op what,
		    uint32_t bytes, const char *how)
{
	int i, rounds = bench_rounds(bytes);
	double start;

	if (!run(g, &op))
		return;
	for (i = 0; i < bench_warm(bytes); i++)
		run(g, &op);
	mrpc_group_barrier(g);
	start = bench_now();
	for (i = 0; i < rounds; i++)
		run(g, &op);
	if (!mrpc_group_rank(g))
		bench_print("mrpc", how, what, bytes, (bench_now() - start) / rounds);
}

static void measure_all(struct mrpc_group *g, enum bench_op what, uint32_t bytes, float *buffer,
			float *other)
{
	struct mrpc_group_op op = {
		.collective = collectives[what],
		.elem = MRPC_ELEM_F32,
		.count = bytes / sizeof(float),
		.input = buffer,
		.output = what == BENCH_ALLREDUCE_APART ? other : buffer,
	};
	unsigned int a;

	if (what == BENCH_ALLGATHER) {
		op.count /= mrpc_group_ranks(g);
		op.input = buffer + op.count * mrpc_group_rank(g);
	}
	for (a = 0; a < sizeof(algorithms) / sizeof(algorithms[0]); a++) {
		op.algorithm = algorithms[a].number;
		measure(g, op, what, bytes, algorithms[a].name);
	}
}

static float *allocate(struct mrpc_session *s)
{
	float *buffer = mrpc_alloc(s, bench_sizes[BENCH_SIZES - 1]);

	if (!buffer)
		errx(1, "%s", mrpc_last_error());
	return memset(buffer, 0, bench_sizes[BENCH_SIZES - 1]);
}

static void be_rank(const char *address, uint32_t ranks, uint32_t rank)
{
	struct mrpc_session_opts opts = { .send_limit = 256 << 20 };
	struct mrpc_session *s = mrpc_session_open(&opts);
	float *buffer, *other;
	unsigned int size, what;
	struct mrpc_group *g;

	g = s ? mrpc_group_create(s, address, ranks, rank, NULL) : NULL;
	if (!g)
		errx(1, "%s", mrpc_last_error());
	buffer = allocate(s);
	other = allocate(s);
	for (size = 0; size < BENCH_SIZES; size++)
		for (what = 0; what < BENCH_NR; what++)
			if (bench_wants(what, bench_sizes[size]))
				measure_all(g, what, bench_sizes[size], buffer, other);
	if (mrpc_group_leave(g))
		errx(1, "%s", mrpc_last_error());
	mrpc_session_close(s);
}

int main(int argc, char **argv)
{
	uint32_t ranks, rank;
	int status;

	if (argc != 3)
		errx(2, "usage: collective_bench ADDRESS RANKS");
	ranks = (uint32_t)atoi(argv[2]);
	for (rank = 1; rank < ranks; rank++) {
		if (fork())
			continue;
		be_rank(argv[1], ranks, rank);
		return 0;
	}
	be_rank(argv[1], ranks, 0);
	while (wait(&status) > 0)
		if (status)
			errx(1, "a rank has failed");
	return 0;
}
