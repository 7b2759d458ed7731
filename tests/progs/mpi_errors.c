// SPDX-License-Identifier: BSD-3-Clause
/* Calls that fail or transfer nothing, between calls that work: errors must not become messages. */
#include "mpi_common.h"

#define ROUNDS 19
#define BYTES 127

static void failing_calls(void)
{
	char byte = 0;

	EXPECT(T(MPI_Send)(&byte, 1, MPI_BYTE, size + 5, 1, MPI_COMM_WORLD) != MPI_SUCCESS);
	EXPECT(T(MPI_Send)(&byte, 1, MPI_BYTE, 0, -7, MPI_COMM_WORLD) != MPI_SUCCESS);
	EXPECT(T(MPI_Send)(&byte, -1, MPI_BYTE, 0, 1, MPI_COMM_WORLD) != MPI_SUCCESS);
	EXPECT(T(MPI_Recv)(&byte, 1, MPI_BYTE, size + 5, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE) !=
	       MPI_SUCCESS);
	EXPECT(T(MPI_Bcast)(&byte, 1, MPI_BYTE, size + 5, MPI_COMM_WORLD) != MPI_SUCCESS);
}

static void empty_calls(void)
{
	MPI_Request request = MPI_REQUEST_NULL;
	char byte = 0;
	int done;

	T(MPI_Send)(&byte, 1, MPI_BYTE, MPI_PROC_NULL, 1, MPI_COMM_WORLD);
	T(MPI_Recv)(&byte, 1, MPI_BYTE, MPI_PROC_NULL, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	T(MPI_Wait)(&request, MPI_STATUS_IGNORE);
	T(MPI_Test)(&request, &done, MPI_STATUS_IGNORE);
	EXPECT(done);
}

/* A receive larger than the message is no error: the message's length counts. */
static void short_message(char *buffer, int tag)
{
	MPI_Status status;
	int count;

	if (rank == 0) {
		send_bytes(buffer, BYTES - 20, 1, tag);
		return;
	}
	T(MPI_Recv)(buffer, BYTES, MPI_BYTE, 0, tag, MPI_COMM_WORLD, &status);
	MPI_Get_count(&status, MPI_BYTE, &count);
	EXPECT(count == BYTES - 20);
}

int main(int argc, char **argv)
{
	char buffer[BYTES];
	int i;

	job_start("mpi_errors", &argc, &argv);
	EXPECT(size == 2);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	for (i = 0; i < ROUNDS; i++) {
		failing_calls();
		empty_calls();
		short_message(buffer, i);
		if (rank == 0)
			recv_bytes(buffer, BYTES, 1, i);
		else
			send_bytes(buffer, BYTES, 0, i);
	}
	return job_end();
}
