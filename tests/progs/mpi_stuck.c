/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mpi_stuck CASE: a job that never ends; whoever starts it ends it. "never": rank 1 sends nothing,
 * "skip": the last rank leaves a barrier out, "deadlock": two ranks receive from each other,
 * "wait": as "never", with MPI_Irecv and MPI_Wait, "waitall": with two receives of one rank,
 * "send": rank 1 receives nothing of what is announced to it first, "flood": nor any of rank 0's
 * short messages, "posted": rank 1 has posted the receive of what is announced, and makes no
 * progress, "ready": rank 0 receives what rank 1 has announced in the same way, "sends": two ranks
 * send each other messages that are announced first, "syncs": short ones, with MPI_Ssend, "reduce":
 * the last rank leaves out an MPI_Allreduce of the ranks of a communicator like MPI_COMM_WORLD,
 * "other": it is in another collective than the others, "start": it leaves out the third
 * MPI_Ibarrier, "peer": rank 1 sends, for as long as it runs.
 */
#include <unistd.h>

#include "mpi_common.h"

static char byte;
static char large[1 << 20]; /* by rendezvous, whatever the transport */

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

static void wait_for_two(int from)
{
	MPI_Request requests[2];
	static char bytes[2];

	for (int i = 0; i < 2; i++)
		T(MPI_Irecv)(&bytes[i], 1, MPI_CHAR, from, 7 + i, MPI_COMM_WORLD, &requests[i]);
	T(MPI_Waitall)(2, requests, MPI_STATUSES_IGNORE);
}

static void send_large(int to)
{
	T(MPI_Send)(large, sizeof(large), MPI_CHAR, to, 9, MPI_COMM_WORLD);
}

static void send_sync(int to)
{
	T(MPI_Ssend)(&byte, 1, MPI_CHAR, to, 9, MPI_COMM_WORLD);
}

static void flood(int to)
{
	for (;;)
		T(MPI_Send)(large, 64, MPI_CHAR, to, 9, MPI_COMM_WORLD);
}

/* A large message whose one end, rank 1, starts it and leaves MPI. */
static void half_started(int sender)
{
	MPI_Request request;

	if (rank == 0 && sender == 0)
		send_large(1);
	else if (rank == 0)
		T(MPI_Recv)
	(large, sizeof(large), MPI_CHAR, 1, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	else if (sender == 0)
		T(MPI_Irecv)(large, sizeof(large), MPI_CHAR, 0, 9, MPI_COMM_WORLD, &request);
	else T(MPI_Isend)(large, sizeof(large), MPI_CHAR, 0, 9, MPI_COMM_WORLD, &request);
}

static void reduce_without_last(void)
{
	int one = 1, sum;
	MPI_Comm all;

	MPI_Comm_dup(MPI_COMM_WORLD, &all);
	if (rank < size - 1)
		T(MPI_Allreduce)(&one, &sum, 1, MPI_INT, MPI_SUM, all);
}

static void other_for_last(void)
{
	int one = 1, sum;

	if (rank < size - 1)
		T(MPI_Barrier)(MPI_COMM_WORLD);
	else
		T(MPI_Allreduce)(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

static void start_barriers(int count)
{
	MPI_Request request;

	for (int i = 0; i < count; i++) {
		T(MPI_Ibarrier)(MPI_COMM_WORLD, &request);
		T(MPI_Wait)(&request, MPI_STATUS_IGNORE);
	}
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
	if (!strcmp(argv[1], "waitall") && rank == 0)
		wait_for_two(1);
	if (!strcmp(argv[1], "send") && rank == 0)
		send_large(1);
	if (!strcmp(argv[1], "syncs"))
		send_sync(!rank);
	if (!strcmp(argv[1], "flood") && rank == 0)
		flood(1);
	if (!strcmp(argv[1], "posted"))
		half_started(0);
	if (!strcmp(argv[1], "ready"))
		half_started(1);
	if (!strcmp(argv[1], "sends"))
		send_large(!rank);
	if (!strcmp(argv[1], "reduce"))
		reduce_without_last();
	if (!strcmp(argv[1], "other"))
		other_for_last();
	if (!strcmp(argv[1], "start"))
		start_barriers(rank < size - 1 ? 3 : 2);
	if (!strcmp(argv[1], "skip") && rank < size - 1)
		T(MPI_Barrier)(MPI_COMM_WORLD);
	if (!strcmp(argv[1], "peer"))
		chatter();
	compute();
	return 0;
}
