// SPDX-License-Identifier: BSD-3-Clause
/* mpi_paths LIBRARY [ROUNDS [MICROSECONDS [FILE]]]: MPI_Send by the paths of paths.h. */
#include "mpi_common.h"

#define BYTES 64

static char buffer[BYTES];

static void paths_noted(void)
{
	truth_call("MPI_Send");
	truth_message("MPI_Send", 1, BYTES);
}

#define PATHS_SEND() MPI_Send(buffer, BYTES, MPI_BYTE, 1, 3, MPI_COMM_WORLD)

#include "paths.h"

int main(int argc, char **argv)
{
	int rounds = argc > 2 ? atoi(argv[2]) : 10, pause = argc > 3 ? atoi(argv[3]) : 0, provided;

	T(MPI_Init_thread)(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
	job_ranks("mpi_paths");
	EXPECT(provided >= MPI_THREAD_SERIALIZED && argc > 1);
	load(argv[1], pause, argc > 4 ? argv[4] : NULL);
	for (int i = 0; i < rounds; i++) {
		if (rank == 0)
			round_of_sends();
		for (int k = 0; rank == 1 && k < PATHS_SENDS; k++)
			T(MPI_Recv)
		(buffer, BYTES, MPI_BYTE, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		usleep(pause);
	}
	print_paths();
	return job_end();
}
