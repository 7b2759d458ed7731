// SPDX-License-Identifier: BSD-3-Clause
/*
 * MPI_THREAD_MULTIPLE in both ranks: first every thread with its own tag, then every thread with
 * its own communicator, then all threads on one tag, where only counts per message size are known.
 */
#include "mpi_common.h"

#define THREADS 3
#define MESSAGES 37
#define BYTES 1021
#define SHARED_TAG 4001

struct worker {
	pthread_t thread;
	MPI_Comm comm;
	int index, tag, echo_tag;
};

static void exchange(struct worker *worker, char *buffer, int number)
{
	int peer = !rank, bytes = number % 5 ? BYTES : 30011;

	if (rank == 0)
		fill(buffer, bytes, number);
	if (rank == 1)
		T(MPI_Recv)
	(buffer, bytes, MPI_BYTE, peer, worker->tag, worker->comm, MPI_STATUS_IGNORE);
	truth_message("MPI_Send", peer, bytes);
	T(MPI_Send)
	(buffer, bytes, MPI_BYTE, peer, rank ? worker->echo_tag : worker->tag, worker->comm);
	if (rank == 0) {
		T(MPI_Recv)
		(buffer, bytes, MPI_BYTE, peer, worker->echo_tag, worker->comm, MPI_STATUS_IGNORE);
		verify(buffer, bytes, number);
	}
}

static void *run_own(void *argument)
{
	char *buffer = malloc(30011);
	int i;

	for (i = 0; i < MESSAGES; i++)
		exchange(argument, buffer, i);
	free(buffer);
	return NULL;
}

/* Which thread gets which message is up to chance: the size of all of them is the same. */
static void *run_shared(void *argument)
{
	struct worker *worker = argument;
	char buffer[BYTES];
	int i;

	for (i = 0; i < MESSAGES; i++) {
		if (rank == 0) {
			truth_message("MPI_Send", 1, BYTES);
			memset(buffer, 1, BYTES);
			T(MPI_Send)(buffer, BYTES, MPI_BYTE, 1, SHARED_TAG, worker->comm);
		} else {
			T(MPI_Recv)
			(buffer, BYTES, MPI_BYTE, 0, SHARED_TAG, worker->comm, MPI_STATUS_IGNORE);
			EXPECT(buffer[BYTES - 1] == 1);
		}
	}
	return NULL;
}

static void run(struct worker *workers, void *(*function)(void *))
{
	int i;

	for (i = 0; i < THREADS; i++)
		pthread_create(&workers[i].thread, NULL, function, &workers[i]);
	for (i = 0; i < THREADS; i++)
		pthread_join(workers[i].thread, NULL);
}

int main(int argc, char **argv)
{
	struct worker workers[THREADS];
	int provided, i;

	T(MPI_Init_thread)(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	job_ranks("mpi_threads");
	EXPECT(size == 2 && provided == MPI_THREAD_MULTIPLE);
	for (i = 0; i < THREADS; i++)
		workers[i] = (struct worker){
			.comm = MPI_COMM_WORLD, .index = i, .tag = 100 + i, .echo_tag = 200 + i
		};
	run(workers, run_own);
	run(workers, run_shared);
	for (i = 0; i < THREADS; i++) {
		T(MPI_Comm_dup)(MPI_COMM_WORLD, &workers[i].comm);
		workers[i].tag = 7;
		workers[i].echo_tag = 7;
	}
	run(workers, run_own);
	for (i = 0; i < THREADS; i++)
		T(MPI_Comm_free)(&workers[i].comm);
	return job_end();
}
