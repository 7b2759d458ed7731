// SPDX-License-Identifier: BSD-3-Clause
/*
 * Collectives of the world, of rows and columns of its ranks, which are two groups each, and of a
 * communicator that has been freed and made anew. Each process counts its own, by communicator.
 */
#include "mpi_common.h"

static int on_world, on_row, on_column, on_later;

static void sum(MPI_Comm comm, int *count, int times)
{
	for (int i = 0; i < times; i++) {
		int mine = 1, all = 0, members;

		MPI_Comm_size(comm, &members);
		T(MPI_Allreduce)(&mine, &all, 1, MPI_INT, MPI_SUM, comm);
		EXPECT(all == members);
		++*count;
	}
}

static void spread(MPI_Comm comm, int *count, int times)
{
	for (int i = 0; i < times; i++) {
		int value = i;

		T(MPI_Bcast)(&value, 1, MPI_INT, 0, comm);
		EXPECT(value == i);
		++*count;
	}
}

int main(int argc, char **argv)
{
	MPI_Comm row, column, later;

	job_start("mpi_numbers", &argc, &argv);
	EXPECT(size == 4);
	T(MPI_Comm_split)(MPI_COMM_WORLD, rank / 2, rank, &row);
	T(MPI_Comm_split)(MPI_COMM_WORLD, rank % 2, rank, &column);
	for (int i = 0; i < 3; i++) {
		sum(row, &on_row, 2 + rank / 2);
		sum(column, &on_column, 3);
		spread(row, &on_row, 1);
		sum(MPI_COMM_WORLD, &on_world, 1);
	}
	T(MPI_Comm_free)(&row);
	sum(MPI_COMM_WORLD, &on_world, 1);
	sum(column, &on_column, 2);
	T(MPI_Comm_split)(MPI_COMM_WORLD, rank / 2, -rank, &later);
	sum(later, &on_later, 5);
	T(MPI_Comm_free)(&later);
	T(MPI_Comm_free)(&column);
	snprintf(truth.tail, sizeof(truth.tail),
		 ",\"collectives\":{\"world\":%d,\"row\":%d,\"column\":%d,\"later\":%d}",
		 on_world + 1, on_row, on_column, on_later);
	return job_end();
}
