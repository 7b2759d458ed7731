// SPDX-License-Identifier: BSD-3-Clause
/*
 * mpi_algorithms COUNT ROUNDS: each collective of all ranks, with COUNT integers per rank or block.
 * Which algorithm does it is the environment's choice. Roots are the last rank, where one is given.
 */
#include "mpi_common.h"

static int *mine, *all, *counts;

static void fill_in(int length)
{
	for (int i = 0; i < length; i++)
		mine[i] = rank + i;
}

static void reductions(int count)
{
	const int whole = size * (size - 1) / 2, length = count * size;

	fill_in(length);
	T(MPI_Allreduce)(mine, all, length, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	EXPECT(all[0] == whole && all[length - 1] == whole + size * (length - 1));
	T(MPI_Reduce)(mine, all, length, MPI_INT, MPI_SUM, size - 1, MPI_COMM_WORLD);
	EXPECT(rank < size - 1 || all[length - 1] == whole + size * (length - 1));
	T(MPI_Reduce_scatter)(mine, all, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	EXPECT(all[0] == whole + size * rank * count);
}

static void copies(int count)
{
	const int length = count * size;

	fill_in(length);
	T(MPI_Bcast)(mine, length, MPI_INT, size - 1, MPI_COMM_WORLD);
	EXPECT(mine[length - 1] == size + length - 2);
	fill_in(length);
	T(MPI_Gather)(mine, count, MPI_INT, all, count, MPI_INT, size - 1, MPI_COMM_WORLD);
	EXPECT(rank < size - 1 || (all[0] == 0 && all[length - 1] == size + count - 2));
	T(MPI_Scatter)(mine, count, MPI_INT, all, count, MPI_INT, size - 1, MPI_COMM_WORLD);
	EXPECT(all[0] == size - 1 + rank * count);
	T(MPI_Allgather)(mine, count, MPI_INT, all, count, MPI_INT, MPI_COMM_WORLD);
	EXPECT(all[0] == 0 && all[length - 1] == size + count - 2);
	T(MPI_Alltoall)(mine, count, MPI_INT, all, count, MPI_INT, MPI_COMM_WORLD);
	EXPECT(all[0] == rank * count && all[length - count] == size - 1 + rank * count);
}

int main(int argc, char **argv)
{
	int count, rounds;

	job_start("mpi_algorithms", &argc, &argv);
	EXPECT(argc == 3);
	count = atoi(argv[1]);
	rounds = atoi(argv[2]);
	EXPECT(count > 0 && rounds > 0);
	mine = malloc((size_t)count * size * sizeof(*mine));
	all = malloc((size_t)count * size * sizeof(*all));
	counts = malloc(size * sizeof(*counts));
	for (int i = 0; i < size; i++)
		counts[i] = count;
	for (int round = 0; round < rounds; round++) {
		T(MPI_Barrier)(MPI_COMM_WORLD);
		reductions(count);
		copies(count);
	}
	free(mine);
	free(all);
	free(counts);
	return job_end();
}
