// SPDX-License-Identifier: BSD-3-Clause
/*
 * Large messages that come while their receiver is inside a collective of small or no data: they
 * are fetched there, right after the receives that the collective itself has made.
 */
#include <unistd.h>

#include "mpi_common.h"

#define ROUNDS 40
#define LARGE 400009
#define LATE_US 2000
#define TAG 7

static unsigned char large[LARGE];

static void collective(int round, int root)
{
	int i, out[16], in[16] = { 0 };
	MPI_Request request;

	for (i = 0; i < 16; i++)
		out[i] = rank;
	switch (round % 4) {
	case 0:
		T(MPI_Barrier)(MPI_COMM_WORLD);
		return;
	case 1: /* makes receives without a buffer while it is waited for */
		T(MPI_Ibarrier)(MPI_COMM_WORLD, &request);
		T(MPI_Wait)(&request, MPI_STATUS_IGNORE);
		return;
	case 2:
		T(MPI_Allreduce)(out, in, 16, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
		break;
	case 3:
		T(MPI_Reduce)(out, in, 16, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD);
		break;
	}
	EXPECT((round % 4 == 3 && rank != root) || in[15] == size * (size - 1) / 2);
}

int main(int argc, char **argv)
{
	int round;

	job_start("mpi_late", &argc, &argv);
	for (round = 0; round < ROUNDS; round++) {
		int to = round / 2 % size, from = (to + 1) % size;
		MPI_Request request = MPI_REQUEST_NULL;

		if (rank == to)
			T(MPI_Irecv)(large, LARGE, MPI_BYTE, from, TAG, MPI_COMM_WORLD, &request);
		if (rank == from) {
			usleep(LATE_US);
			fill(large, LARGE, round);
			truth_message("MPI_Isend", to, LARGE);
			T(MPI_Isend)(large, LARGE, MPI_BYTE, to, TAG, MPI_COMM_WORLD, &request);
		}
		collective(round, to);
		T(MPI_Wait)(&request, MPI_STATUS_IGNORE);
		if (rank == to)
			verify(large, LARGE, round);
	}
	return job_end();
}
