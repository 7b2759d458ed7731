// SPDX-License-Identifier: BSD-3-Clause
/*
 * Wildcard receives. Every rank but 0 sends streams of equal tag and length, so that only the
 * arrival order at rank 0 tells which send met which receive; the payload names the true sender.
 */
#include "mpi_common.h"

#define MESSAGES 101
#define BYTES 64
#define LARGE 100003
#define LARGE_MESSAGES 7

struct label {
	int sender, number, tag, pad;
};

static void send_stream(int dst, int tag)
{
	char buffer[BYTES] = { 0 };
	int i;

	for (i = 0; i < MESSAGES; i++) {
		memcpy(buffer, &(struct label){ rank, i, tag, 0 }, sizeof(struct label));
		truth_message("MPI_Send", dst, BYTES);
		T(MPI_Send)(buffer, BYTES, MPI_BYTE, dst, tag, MPI_COMM_WORLD);
	}
}

/* Messages of one sender must come in the order sent. */
static void check_label(const void *buffer, const MPI_Status *status, int *next)
{
	struct label label;

	memcpy(&label, buffer, sizeof(label));
	EXPECT(label.sender == status->MPI_SOURCE && label.tag == status->MPI_TAG);
	EXPECT(label.number == next[label.sender]++);
}

static void recv_any(int count, int src, int tag)
{
	int *next = calloc(size, sizeof(*next)), i;
	char buffer[BYTES];
	MPI_Status status;

	for (i = 0; i < count; i++) {
		T(MPI_Recv)(buffer, BYTES, MPI_BYTE, src, tag, MPI_COMM_WORLD, &status);
		check_label(buffer, &status, next);
	}
	free(next);
}

static void recv_any_posted(int count)
{
	char(*buffers)[BYTES] = malloc((size_t)count * BYTES);
	MPI_Request *requests = malloc(count * sizeof(*requests));
	MPI_Status *statuses = malloc(count * sizeof(*statuses));
	int *next = calloc(size, sizeof(*next)), i;

	for (i = 0; i < count; i++)
		T(MPI_Irecv)
	(buffers[i], BYTES, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &requests[i]);
	T(MPI_Waitall)(count, requests, statuses);
	for (i = 0; i < count; i++)
		check_label(buffers[i], &statuses[i], next);
	free(buffers);
	free(requests);
	free(statuses);
	free(next);
}

static void large(void)
{
	char *buffer = malloc(LARGE);
	MPI_Status status;
	int i;

	if (rank)
		for (i = 0; i < LARGE_MESSAGES; i++)
			send_bytes(buffer, LARGE, 0, 41);
	else
		for (i = 0; i < LARGE_MESSAGES * (size - 1); i++) {
			T(MPI_Recv)
			(buffer, LARGE, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,
			 &status);
			EXPECT(status.MPI_TAG == 41);
			verify(buffer, LARGE, 41);
		}
	free(buffer);
}

int main(int argc, char **argv)
{
	job_start("mpi_wild", &argc, &argv);
	if (rank) {
		send_stream(0, 5);
		recv_bytes(NULL, 0, 0, 6);
		send_stream(0, 5);
		recv_bytes(NULL, 0, 0, 6);
		send_stream(0, 40 + rank);
		recv_bytes(NULL, 0, 0, 6);
	} else {
		int i;

		recv_any(MESSAGES * (size - 1), MPI_ANY_SOURCE, 5);
		for (i = 1; i < size; i++)
			send_bytes(NULL, 0, i, 6);
		recv_any_posted(MESSAGES * (size - 1));
		for (i = 1; i < size; i++)
			send_bytes(NULL, 0, i, 6);
		for (i = 1; i < size; i++)
			recv_any(MESSAGES, i, MPI_ANY_TAG);
		for (i = 1; i < size; i++)
			send_bytes(NULL, 0, i, 6);
	}
	large();
	return job_end();
}
