// SPDX-License-Identifier: BSD-3-Clause
/* More ranks than cores have to take turns, which not every MPI does while it waits. */
#include <sched.h>
#include <time.h>

#include "traffic/traffic.h"

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

#else

#define PATIENCE 1000 /* polls */

void wait_for(MPI_Request *request)
{
	int done = 0;

	for (unsigned int polls = 0; !done; polls++) {
		MPI_Test(request, &done, MPI_STATUS_IGNORE);
		if (!done && polls >= PATIENCE)
			sched_yield();
	}
}

#endif

void barrier(void)
{
	MPI_Request request;

	MPI_Ibarrier(MPI_COMM_WORLD, &request);
	wait_for(&request);
}
