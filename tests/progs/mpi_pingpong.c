// SPDX-License-Identifier: BSD-3-Clause
/*
 * mpi_pingpong ITERATIONS|STOPFILE [PAUSE_US]: a steady exchange to attach to. Every iteration
 * bounces one eager, one bcopy and one rendezvous message, whose contents depend on all before, so
 * that the printed state is bit-identical for an equal number of iterations. The tenth is over when
 * $TRUTH/RANK.running is there.
 */
#include <time.h>

#include "mpi_common.h"

#define MAX_BYTES 100003

static const int sizes[] = { 8, 1009, MAX_BYTES };

static uint64_t state = 1;

static void scramble(char *buffer, int bytes)
{
	uint64_t hash = state;
	int i;

	for (i = 0; i < bytes; i++) {
		hash = (hash ^ (unsigned char)buffer[i]) * 1099511628211ull;
		buffer[i] = (char)(hash >> 56);
	}
	state = hash;
}

static void bounce(char *buffer, int bytes, int tag)
{
	int peer = !rank;

	if (rank == 1) {
		T(MPI_Recv)(buffer, bytes, MPI_BYTE, peer, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	}
	scramble(buffer, bytes);
	truth_message("MPI_Send", peer, bytes);
	T(MPI_Send)(buffer, bytes, MPI_BYTE, peer, tag, MPI_COMM_WORLD);
	if (rank == 0)
		T(MPI_Recv)(buffer, bytes, MPI_BYTE, peer, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* Rank 0 decides, the sum of both tells rank 1. */
static bool goes_on(long iteration, long limit, const char *stop_file)
{
	int mine = rank == 0 && (limit ? iteration < limit : access(stop_file, F_OK) != 0), all;

	T(MPI_Allreduce)(&mine, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	return all;
}

/* For those that wait to attach: what comes first in a job is over. */
static void say_running(void)
{
	FILE *file = truth_open("running");

	if (!file)
		return;
	fputs("running\n", file);
	fclose(file);
}

int main(int argc, char **argv)
{
	long limit = argc > 1 ? strtol(argv[1], NULL, 10) : 101, i;
	long pause_us = argc > 2 ? strtol(argv[2], NULL, 10) : 0;
	struct timespec pause = { .tv_nsec = pause_us * 1000 };
	char *buffer = calloc(1, MAX_BYTES);
	int size_index;

	job_start("mpi_pingpong", &argc, &argv);
	EXPECT(size == 2 && (limit || argc > 1));
	for (i = 0; goes_on(i, limit, argv[1]); i++) {
		for (size_index = 0; size_index < 3; size_index++)
			bounce(buffer, sizes[size_index], size_index);
		if (i == 9)
			say_running();
		if (pause_us)
			nanosleep(&pause, NULL);
	}
	truth_data(buffer, MAX_BYTES);
	if (rank == 0)
		printf("pingpong iterations %ld state %016llx\n", i, (unsigned long long)state);
	snprintf(truth.tail, sizeof(truth.tail), ",\"iterations\":%ld,\"state\":\"%016llx\"", i,
		 (unsigned long long)state);
	free(buffer);
	return job_end();
}
