// SPDX-License-Identifier: BSD-3-Clause
/* Probe, Iprobe, Mprobe, Improbe, with named and wild sources, eager and rendezvous sizes. */
#include "mpi_common.h"

#define ROUNDS 29

static const int sizes[] = { 0, 17, 997, 12007, 200003 };
#define SIZES ((int)(sizeof(sizes) / sizeof(sizes[0])))
#define MAX_BYTES 200003

static void check_status(MPI_Status *status, int bytes, int tag)
{
	int count;

	MPI_Get_count(status, MPI_BYTE, &count);
	EXPECT(count == bytes && status->MPI_TAG == tag);
}

static void by_probe(void *buffer, int bytes, int peer, int tag)
{
	MPI_Status status;

	T(MPI_Probe)(MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &status);
	check_status(&status, bytes, tag);
	T(MPI_Recv)(buffer, bytes, MPI_BYTE, peer, tag, MPI_COMM_WORLD, &status);
}

static void by_iprobe(void *buffer, int bytes, int peer, int tag)
{
	MPI_Status status;
	int found;

	do {
		T(MPI_Iprobe)(peer, MPI_ANY_TAG, MPI_COMM_WORLD, &found, &status);
	} while (!found);
	check_status(&status, bytes, tag);
	T(MPI_Recv)(buffer, bytes, MPI_BYTE, peer, tag, MPI_COMM_WORLD, &status);
}

static void by_mprobe(void *buffer, int bytes, int peer, int tag)
{
	MPI_Message message;
	MPI_Status status;

	T(MPI_Mprobe)(peer, tag, MPI_COMM_WORLD, &message, &status);
	check_status(&status, bytes, tag);
	T(MPI_Mrecv)(buffer, bytes, MPI_BYTE, &message, &status);
}

static void by_improbe(void *buffer, int bytes, int peer, int tag)
{
	MPI_Message message;
	MPI_Request request;
	MPI_Status status;
	int found;

	(void)peer;
	do {
		T(MPI_Improbe)
		(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &found, &message, &status);
	} while (!found);
	check_status(&status, bytes, tag);
	T(MPI_Imrecv)(buffer, bytes, MPI_BYTE, &message, &request);
	T(MPI_Wait)(&request, &status);
}

static void (*const ways[])(void *, int, int, int) = { by_probe, by_iprobe, by_mprobe, by_improbe };

int main(int argc, char **argv)
{
	char *buffer = malloc(MAX_BYTES);
	int way, i, from, bytes;

	job_start("mpi_probe", &argc, &argv);
	for (way = 0; way < 4; way++)
		for (from = 0; from < 2; from++)
			for (i = 0; i < ROUNDS; i++) {
				bytes = sizes[i % SIZES];
				if (rank == from) {
					send_bytes(buffer, bytes, !from, i);
				} else if (rank == !from) {
					ways[way](buffer, bytes, from, i);
					verify(buffer, bytes, i);
				}
			}
	free(buffer);
	return job_end();
}
