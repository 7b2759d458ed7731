// SPDX-License-Identifier: BSD-3-Clause
/* Non-blocking sends in all four modes, completed through every Wait and Test function. */
#include "mpi_common.h"

#define BATCH 7
#define MAX_BYTES 50021
#define TAG_READY 9001

static const int sizes[BATCH] = { 0, 3, 61, 1009, 8209, 16411, 50021 };

static const struct mode {
	const char *name;
	isend_fn *function;
} modes[] = {
	{ "MPI_Isend", MPI_Isend },
	{ "MPI_Issend", MPI_Issend },
	{ "MPI_Ibsend", MPI_Ibsend },
	{ "MPI_Irsend", MPI_Irsend },
};

static void by_wait(MPI_Request *requests)
{
	int i;

	for (i = 0; i < BATCH; i++)
		T(MPI_Wait)(&requests[i], MPI_STATUS_IGNORE);
}

static void by_waitall(MPI_Request *requests)
{
	T(MPI_Waitall)(BATCH, requests, MPI_STATUSES_IGNORE);
}

static void by_waitany(MPI_Request *requests)
{
	int i, index;

	for (i = 0; i < BATCH; i++)
		T(MPI_Waitany)(BATCH, requests, &index, MPI_STATUS_IGNORE);
}

static void by_waitsome(MPI_Request *requests)
{
	int indices[BATCH], done, total;

	for (total = 0; total < BATCH; total += done)
		T(MPI_Waitsome)(BATCH, requests, &done, indices, MPI_STATUSES_IGNORE);
}

static void by_test(MPI_Request *requests)
{
	int i, done;

	for (i = 0; i < BATCH; i++)
		do {
			T(MPI_Test)(&requests[i], &done, MPI_STATUS_IGNORE);
		} while (!done);
}

static void by_testall(MPI_Request *requests)
{
	int done;

	do {
		T(MPI_Testall)(BATCH, requests, &done, MPI_STATUSES_IGNORE);
	} while (!done);
}

static void by_testany(MPI_Request *requests)
{
	int index, done, total = 0;

	while (total < BATCH) {
		T(MPI_Testany)(BATCH, requests, &index, &done, MPI_STATUS_IGNORE);
		total += done;
	}
}

static void by_testsome(MPI_Request *requests)
{
	int indices[BATCH], done, total;

	for (total = 0; total < BATCH; total += done)
		T(MPI_Testsome)(BATCH, requests, &done, indices, MPI_STATUSES_IGNORE);
}

static void (*const finishers[])(MPI_Request *) = {
	by_wait, by_waitall, by_waitany, by_waitsome, by_test, by_testall, by_testany, by_testsome,
};
#define FINISHERS ((int)(sizeof(finishers) / sizeof(finishers[0])))

static void send_batch(const struct mode *mode, char buffers[][MAX_BYTES], int peer, int way)
{
	MPI_Request requests[BATCH];
	char token;
	int i;

	recv_bytes(&token, 0, peer, TAG_READY);
	for (i = 0; i < BATCH; i++) {
		fill(buffers[i], sizes[i], i);
		truth_call(mode->name);
		truth_message(mode->name, peer, sizes[i]);
		mode->function(buffers[i], sizes[i], MPI_BYTE, peer, i, MPI_COMM_WORLD,
			       &requests[i]);
	}
	finishers[way](requests);
}

/* Posts in reverse order of the sends, so that tags and not the order decide. */
static void recv_batch(char buffers[][MAX_BYTES], int peer, int way)
{
	MPI_Request requests[BATCH];
	char token;
	int i;

	for (i = BATCH - 1; i >= 0; i--)
		T(MPI_Irecv)(buffers[i], sizes[i], MPI_BYTE, peer, i, MPI_COMM_WORLD, &requests[i]);
	send_bytes(&token, 0, peer, TAG_READY);
	finishers[way](requests);
	for (i = 0; i < BATCH; i++)
		verify(buffers[i], sizes[i], i);
}

static void cancelled_receive(int peer)
{
	MPI_Request request;
	char byte;

	T(MPI_Irecv)(&byte, 1, MPI_BYTE, peer, 9777, MPI_COMM_WORLD, &request);
	T(MPI_Cancel)(&request);
	T(MPI_Wait)(&request, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
	static char buffers[BATCH][MAX_BYTES];
	int attached_bytes = 11 * BATCH * (MAX_BYTES + MPI_BSEND_OVERHEAD), i, way, from;
	void *attached;

	job_start("mpi_isend", &argc, &argv);
	attached = malloc(attached_bytes);
	MPI_Buffer_attach(attached, attached_bytes);
	for (i = 0; i < (int)(sizeof(modes) / sizeof(modes[0])); i++)
		for (way = 0; way < FINISHERS; way++)
			for (from = 0; from < 2; from++) {
				if (rank == from)
					send_batch(&modes[i], buffers, !from, way);
				else if (rank == !from)
					recv_batch(buffers, from, way);
			}
	if (rank < 2)
		cancelled_receive(!rank);
	truth_unmatched_receives(1);
	T(MPI_Buffer_detach)(&attached, &attached_bytes);
	free(attached);
	return job_end();
}
