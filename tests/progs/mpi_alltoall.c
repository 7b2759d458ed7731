// SPDX-License-Identifier: BSD-3-Clause
/*
 * mpi_alltoall STOPFILE PAUSE_US BYTES [GO]: rounds in which each rank sends BYTES to each other
 * one at once, to be attached to. With more ranks than CPUs messages wait for their receiver for
 * milliseconds. The tenth round is over when $TRUTH/RANK.running is there.
 *
 * GO: all ranks say so in $TRUTH/RANK.ready and wait for that file before the first round.
 */
#include <time.h>

#include "mpi_common.h"

static void say(const char *what)
{
	FILE *file = truth_open(what);

	EXPECT(file);
	fclose(file);
}

/* Rank 0 decides. */
static bool goes_on(const char *stop_file)
{
	int more = rank == 0 && access(stop_file, F_OK) != 0;

	T(MPI_Bcast)(&more, 1, MPI_INT, 0, MPI_COMM_WORLD);
	return more;
}

int main(int argc, char **argv)
{
	struct timespec pause;
	char *out, *in;
	int bytes;

	job_start("mpi_alltoall", &argc, &argv);
	EXPECT(argc == 4 || argc == 5);
	if (argc == 5) {
		say("ready");
		while (access(argv[4], F_OK))
			nanosleep(&(struct timespec){ .tv_nsec = 10000000 }, NULL);
	}
	pause = (struct timespec){ .tv_nsec = atol(argv[2]) * 1000 };
	bytes = atoi(argv[3]);
	out = calloc(size, bytes);
	in = calloc(size, bytes);
	for (int i = 0; goes_on(argv[1]); i++) {
		fill(out + (size_t)bytes * ((rank + i) % size), bytes, rank);
		T(MPI_Alltoall)(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, MPI_COMM_WORLD);
		if (i == 9)
			say("running");
		nanosleep(&pause, NULL);
	}
	free(out);
	free(in);
	return job_end();
}
