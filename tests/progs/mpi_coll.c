// SPDX-License-Identifier: BSD-3-Clause
/* Collectives: blocking, non-blocking, and over a neighbourhood. */
#include "mpi_common.h"

#define ROUNDS 11
#define COUNT 1009
#define LARGE 50021

static int *out, *in;
static int *counts, *offsets;

static void check_sum(const int *values, int count)
{
	int i;

	for (i = 0; i < count; i++)
		EXPECT(values[i] == size * (size - 1) / 2 + size * i);
	truth_data(values, count * sizeof(*values));
}

static void blocking(int count)
{
	int i;

	for (i = 0; i < count; i++)
		out[i] = rank + i;
	T(MPI_Allreduce)(out, in, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	check_sum(in, count);
	T(MPI_Reduce)(out, in, count, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
	if (rank == 0)
		check_sum(in, count);
	T(MPI_Bcast)(in, count, MPI_INT, 0, MPI_COMM_WORLD);
	check_sum(in, count);
	T(MPI_Barrier)(MPI_COMM_WORLD);
	T(MPI_Scan)(out, in, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	T(MPI_Exscan)(out, in, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	T(MPI_Gather)(out, count, MPI_INT, in, count, MPI_INT, 0, MPI_COMM_WORLD);
	T(MPI_Scatter)(in, count, MPI_INT, out, count, MPI_INT, 0, MPI_COMM_WORLD);
	EXPECT(out[count - 1] == rank + count - 1);
	T(MPI_Allgather)(out, count, MPI_INT, in, count, MPI_INT, MPI_COMM_WORLD);
	for (i = 0; i < size; i++)
		EXPECT(in[i * count] == i);
	T(MPI_Alltoall)(in, count, MPI_INT, out, count, MPI_INT, MPI_COMM_WORLD);
	EXPECT(out[0] == rank);
	T(MPI_Reduce_scatter_block)(in, out, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

static void variable(int count)
{
	int i;

	for (i = 0; i < size; i++) {
		counts[i] = count;
		offsets[i] = i * count;
	}
	T(MPI_Gatherv)(out, count, MPI_INT, in, counts, offsets, MPI_INT, 0, MPI_COMM_WORLD);
	T(MPI_Scatterv)(in, counts, offsets, MPI_INT, out, count, MPI_INT, 0, MPI_COMM_WORLD);
	T(MPI_Allgatherv)(out, count, MPI_INT, in, counts, offsets, MPI_INT, MPI_COMM_WORLD);
	T(MPI_Alltoallv)
	(in, counts, offsets, MPI_INT, out, counts, offsets, MPI_INT, MPI_COMM_WORLD);
	T(MPI_Reduce_scatter)(in, out, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

static void non_blocking(int count)
{
	MPI_Request requests[5];
	int i, token = rank, *out2 = malloc(count * size * sizeof(int));
	int *out3 = malloc(count * sizeof(int));

	for (i = 0; i < count; i++)
		out[i] = rank + i;
	for (i = 0; i < count; i++)
		out3[i] = i;
	T(MPI_Ibarrier)(MPI_COMM_WORLD, &requests[0]);
	T(MPI_Iallreduce)(out, in, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[1]);
	T(MPI_Iallgather)(out, count, MPI_INT, out2, count, MPI_INT, MPI_COMM_WORLD, &requests[2]);
	T(MPI_Ibcast)(out3, count, MPI_INT, 0, MPI_COMM_WORLD, &requests[3]);
	T(MPI_Ireduce)
	(rank ? &token : MPI_IN_PLACE, &token, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD,
	 &requests[4]);
	T(MPI_Waitall)(5, requests, MPI_STATUSES_IGNORE);
	check_sum(in, count);
	EXPECT(rank || token == size * (size - 1) / 2);
	free(out2);
	free(out3);
}

static void neighbours(int count)
{
	int periods = 1, sides = size;
	MPI_Comm ring;

	T(MPI_Cart_create)(MPI_COMM_WORLD, 1, &sides, &periods, 0, &ring);
	T(MPI_Neighbor_allgather)(out, count, MPI_INT, in, count, MPI_INT, ring);
	T(MPI_Neighbor_alltoall)(in, count, MPI_INT, out, count, MPI_INT, ring);
	T(MPI_Comm_free)(&ring);
}

int main(int argc, char **argv)
{
	int round;

	job_start("mpi_coll", &argc, &argv);
	out = calloc((size_t)LARGE * (size + 2), sizeof(int));
	in = calloc((size_t)LARGE * (size + 2), sizeof(int));
	counts = calloc(size, sizeof(int));
	offsets = calloc(size, sizeof(int));
	for (round = 0; round < ROUNDS; round++) {
		blocking(COUNT + round);
		variable(COUNT);
		non_blocking(COUNT);
	}
	blocking(LARGE);
	non_blocking(LARGE);
	neighbours(COUNT);
	free(out);
	free(in);
	free(counts);
	free(offsets);
	return job_end();
}
