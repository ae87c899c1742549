// SPDX-License-Identifier: GPL-2.0
/* mpi_bench: measures collectives of MPI. mpirun starts it, once for each rank. */
#include <mpi.h>

#include "../collective.h"

static void run(enum bench_op op, float *buffer, float *other, int count, int ranks)
{
	switch (op) {
	case BENCH_ALLREDUCE_APART:
		MPI_Allreduce(buffer, other, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
		break;
	case BENCH_ALLREDUCE:
		MPI_Allreduce(MPI_IN_PLACE, buffer, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
		break;
	case BENCH_ALLGATHER:
		MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, buffer, count / ranks, MPI_FLOAT,
			      MPI_COMM_WORLD);
		break;
	default:
		MPI_Bcast(buffer, count, MPI_FLOAT, 0, MPI_COMM_WORLD);
	}
}

static void measure(enum bench_op op, float *buffer, float *other, uint32_t bytes)
{
	int rank, ranks, i, count = bytes / sizeof(float), rounds = bench_rounds(bytes);
	double start;

	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	for (i = 0; i < bench_warm(bytes) + 1; i++)
		run(op, buffer, other, count, ranks);
	MPI_Barrier(MPI_COMM_WORLD);
	start = bench_now();
	for (i = 0; i < rounds; i++)
		run(op, buffer, other, count, ranks);
	if (!rank)
		bench_print("openmpi", "default", op, bytes, (bench_now() - start) / rounds);
}

int main(int argc, char **argv)
{
	float *buffer = calloc(1, bench_sizes[BENCH_SIZES - 1]);
	float *other = calloc(1, bench_sizes[BENCH_SIZES - 1]);
	unsigned int size, op;

	MPI_Init(&argc, &argv);
	for (size = 0; size < BENCH_SIZES; size++)
		for (op = 0; op < BENCH_NR; op++)
			if (bench_wants(op, bench_sizes[size]))
				measure(op, buffer, other, bench_sizes[size]);
	free(other);
	free(buffer);
	MPI_Finalize();
	return 0;
}
