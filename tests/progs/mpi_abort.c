// SPDX-License-Identifier: BSD-3-Clause
/* Rank 1 calls MPI_Abort with status 7 while rank 0 waits for a message that never comes. */
#include <time.h>

#include "mpi_common.h"

#define MESSAGES 53
#define BYTES 307

int main(int argc, char **argv)
{
	struct timespec pause = { .tv_nsec = 300000000 };
	char buffer[BYTES];
	int i;

	job_start("mpi_abort", &argc, &argv);
	EXPECT(size == 2);
	for (i = 0; i < MESSAGES; i++) {
		if (rank == 0)
			send_bytes(buffer, BYTES, 1, i);
		else
			recv_bytes(buffer, BYTES, 0, i);
	}
	if (rank == 1) {
		recv_bytes(buffer, 0, 0, 1000);
		truth_call("MPI_Abort");
		truth_end();
		nanosleep(&pause, NULL);
		MPI_Abort(MPI_COMM_WORLD, 7);
	}
	truth_call("MPI_Send");
	truth_message("MPI_Send", 1, 0);
	truth_call("MPI_Recv");
	truth_unmatched_receives(1);
	truth_end();
	MPI_Send(buffer, 0, MPI_BYTE, 1, 1000, MPI_COMM_WORLD);
	MPI_Recv(buffer, BYTES, MPI_BYTE, 1, 2000, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	return 1;
}
