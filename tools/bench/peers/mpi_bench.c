// SPDX-License-Identifier: GPL-2.0
/* mpi_bench: times collectives of MPI. mpirun starts it, once for each rank. */
#include <mpi.h>

#include "../collective.h"

static void run(enum bench_op op, float *buffer, int count, int ranks)
{
	switch (op) {
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

int main(int argc, char **argv)
{
	int rank, ranks, i;
	unsigned int size, op;
	float *buffer;
	double start;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	buffer = calloc(1, bench_sizes[BENCH_SIZES - 1]);
	for (size = 0; size < BENCH_SIZES; size++) {
		for (op = 0; op < BENCH_NR; op++) {
			int count = bench_sizes[size] / sizeof(float);
			int rounds = bench_rounds(bench_sizes[size]);

			for (i = 0; i < bench_warm(bench_sizes[size]) + 1; i++)
				run(op, buffer, count, ranks);
			MPI_Barrier(MPI_COMM_WORLD);
			start = bench_now();
			for (i = 0; i < rounds; i++)
				run(op, buffer, count, ranks);
			if (!rank)
				bench_print("openmpi", "default", op, bench_sizes[size],
					    (bench_now() - start) / rounds);
		}
	}
	free(buffer);
	MPI_Finalize();
	return 0;
}
