// SPDX-License-Identifier: BSD-3-Clause
/* Sizes across every switch between protocols, blocking and not, in both directions. */
#include "mpi_common.h"

#define ROUNDS 3
#define MAX_BYTES (8 << 20)

static const int sizes[] = {
	0,    1,     7,     8,     9,     31,    64,     92,     93,      94,
	100,  208,   1000,  2041,  4096,  8175,  8191,   8192,   8193,    8256,
	8257, 16384, 23456, 65535, 65536, 65537, 100000, 262144, 1048576, 8388608,
};
#define SIZES ((int)(sizeof(sizes) / sizeof(sizes[0])))

static void one_way(char *buffer, int from)
{
	int i, round;

	for (round = 0; round < ROUNDS; round++)
		for (i = 0; i < SIZES; i++) {
			if (rank == from)
				send_bytes(buffer, sizes[i], !from, i);
			else if (rank == !from)
				recv_bytes(buffer, sizes[i], from, i);
		}
}

static void both_ways(char *out, char *in, int peer)
{
	MPI_Request requests[2];
	int i;

	for (i = 0; i < SIZES; i++) {
		fill(out, sizes[i], i);
		T(MPI_Irecv)(in, sizes[i], MPI_BYTE, peer, i, MPI_COMM_WORLD, &requests[0]);
		truth_message("MPI_Isend", peer, sizes[i]);
		T(MPI_Isend)(out, sizes[i], MPI_BYTE, peer, i, MPI_COMM_WORLD, &requests[1]);
		T(MPI_Waitall)(2, requests, MPI_STATUSES_IGNORE);
		verify(in, sizes[i], i);
	}
}

int main(int argc, char **argv)
{
	char *out = malloc(MAX_BYTES), *in = malloc(MAX_BYTES);

	job_start("mpi_sizes", &argc, &argv);
	one_way(out, 0);
	one_way(out, 1);
	if (rank < 2)
		both_ways(out, in, !rank);
	free(out);
	free(in);
	return job_end();
}
