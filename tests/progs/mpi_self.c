// SPDX-License-Identifier: BSD-3-Clause
/* Every rank sends to itself in MPI_COMM_WORLD, small and large, before and after the receive. */
#include "mpi_common.h"

#define ROUNDS 43

static const int sizes[] = { 0, 8, 509, 8101, 100003 };
#define SIZES ((int)(sizeof(sizes) / sizeof(sizes[0])))
#define MAX_BYTES 100003

static void post_send(char *out, int bytes, int tag, MPI_Request *request)
{
	fill(out, bytes, tag);
	truth_message("MPI_Isend", rank, bytes);
	T(MPI_Isend)(out, bytes, MPI_BYTE, rank, tag, MPI_COMM_WORLD, request);
}

int main(int argc, char **argv)
{
	char *out = malloc(MAX_BYTES), *in = malloc(MAX_BYTES);
	MPI_Request requests[2];
	int i, bytes;

	job_start("mpi_self", &argc, &argv);
	for (i = 0; i < ROUNDS; i++) {
		bytes = sizes[i % SIZES];
		if (i % 2)
			post_send(out, bytes, i, &requests[0]);
		T(MPI_Irecv)(in, bytes, MPI_BYTE, rank, i, MPI_COMM_WORLD, &requests[1]);
		if (i % 2 == 0)
			post_send(out, bytes, i, &requests[0]);
		T(MPI_Waitall)(2, requests, MPI_STATUSES_IGNORE);
		verify(in, bytes, i);
	}
	if (rank < 2) {
		if (rank == 0)
			send_bytes(out, 13, 1, 1);
		else
			recv_bytes(in, 13, 0, 1);
	}
	free(out);
	free(in);
	return job_end();
}
