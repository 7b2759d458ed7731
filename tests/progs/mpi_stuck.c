/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mpi_stuck CASE: a job that never ends; whoever starts it ends it. "never": rank 1 sends nothing,
 * "skip": the last rank leaves a barrier out, "deadlock": two ranks receive from each other,
 * "wait": as "never", with MPI_Irecv and MPI_Wait, "peer": rank 1 sends, for as long as it runs.
 */
#include <unistd.h>

#include "mpi_common.h"

static char byte;

static void compute(void)
{
	for (;;)
		sleep(1);
}

static void receive(int from)
{
	T(MPI_Recv)(&byte, 1, MPI_CHAR, from, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void wait_for(int from)
{
	MPI_Request request;

	T(MPI_Irecv)(&byte, 1, MPI_CHAR, from, 7, MPI_COMM_WORLD, &request);
	T(MPI_Wait)(&request, MPI_STATUS_IGNORE);
}

static void chatter(void)
{
	for (;;) {
		if (rank == 0)
			receive(1);
		else
			T(MPI_Send)(&byte, 1, MPI_CHAR, 0, 7, MPI_COMM_WORLD);
		if (rank == 1)
			usleep(10000);
	}
}

int main(int argc, char **argv)
{
	job_start("mpi_stuck", &argc, &argv);
	EXPECT(argc == 2);
	T(MPI_Barrier)(MPI_COMM_WORLD);
	if (!strcmp(argv[1], "deadlock"))
		receive(!rank);
	if (!strcmp(argv[1], "never") && rank == 0)
		receive(1);
	if (!strcmp(argv[1], "wait") && rank == 0)
		wait_for(1);
	if (!strcmp(argv[1], "skip") && rank < size - 1)
		T(MPI_Barrier)(MPI_COMM_WORLD);
	if (!strcmp(argv[1], "peer"))
		chatter();
	compute();
	return 0;
}
