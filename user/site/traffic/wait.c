// SPDX-License-Identifier: BSD-3-Clause
/* More ranks than cores have to take turns, which not every MPI does while it waits. */
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "site/traffic/traffic.h"

uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ull + now.tv_nsec;
}

#ifdef OPEN_MPI

/* Yields by itself where it is told to (share_cores()); a poll of ours would be a call each. */
void wait_for(MPI_Request *request)
{
	MPI_Wait(request, MPI_STATUS_IGNORE);
}

void finalize(void)
{
	MPI_Finalize();
}

#else

#define PATIENCE 300 /* polls */
#define NAP_US 20

/* Each poll is a call that is traced: who waits long must not fill the rings with them. */
void wait_for(MPI_Request *request)
{
	int done = 0;

	for (unsigned int polls = 0; !done; polls++) {
		MPI_Test(request, &done, MPI_STATUS_IGNORE);
		if (!done && polls >= PATIENCE)
			usleep(NAP_US);
	}
}

#define FINALIZE_S 4

static void leave(int signal)
{
	static const char said[] = "ucxbpf-traffic: MPI_Finalize does not end; left without it\n";

	(void)signal;
	_exit(write(STDERR_FILENO, said, sizeof(said) - 1) < 0);
}

/*
 * With MPICH 4.0.2 over UCX 1.13.1 and tcp, ranks hang there, untraced as well, in 14 of 35 runs:
 * one waits for the others, and no longer answers those that still flush their endpoints.
 */
void finalize(void)
{
	signal(SIGALRM, leave);
	alarm(FINALIZE_S);
	MPI_Finalize();
	alarm(0);
}

#endif

void barrier(void)
{
	MPI_Request request;

	MPI_Ibarrier(MPI_COMM_WORLD, &request);
	wait_for(&request);
}
