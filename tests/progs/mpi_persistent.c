// SPDX-License-Identifier: BSD-3-Clause
/* Persistent requests, one by one and all at once; and every form of MPI_Sendrecv. */
#include "mpi_common.h"

#define ROUNDS 17
#define MAX_BYTES 20011
#define PAIRS 3

static const int sizes[PAIRS] = { 5, 1013, 20011 };

typedef int init_fn(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);

static const struct mode {
	const char *name;
	init_fn *function;
} modes[] = {
	{ "MPI_Send_init", MPI_Send_init },
	{ "MPI_Ssend_init", MPI_Ssend_init },
	{ "MPI_Bsend_init", MPI_Bsend_init },
};

static void start_one_by_one(MPI_Request *requests, int peer)
{
	int i;

	for (i = 0; i < PAIRS; i++)
		T(MPI_Start)(&requests[i]);
	for (i = 0; i < PAIRS; i++) {
		truth_message("MPI_Start", peer, sizes[i]);
		T(MPI_Start)(&requests[PAIRS + i]);
	}
}

static void start_all(MPI_Request *requests, int peer)
{
	int i;

	for (i = 0; i < PAIRS; i++)
		truth_message("MPI_Startall", peer, sizes[i]);
	T(MPI_Startall)(2 * PAIRS, requests);
}

static void persistent(const struct mode *mode, int peer)
{
	static char in[PAIRS][MAX_BYTES], out[PAIRS][MAX_BYTES];
	MPI_Request requests[2 * PAIRS];
	int round, i;

	for (i = 0; i < PAIRS; i++) {
		T(MPI_Recv_init)(in[i], sizes[i], MPI_BYTE, peer, i, MPI_COMM_WORLD, &requests[i]);
		truth_call(mode->name);
		mode->function(out[i], sizes[i], MPI_BYTE, peer, i, MPI_COMM_WORLD,
			       &requests[PAIRS + i]);
	}
	for (round = 0; round < ROUNDS; round++) {
		for (i = 0; i < PAIRS; i++)
			fill(out[i], sizes[i], round + i);
		if (round % 2)
			start_all(requests, peer);
		else
			start_one_by_one(requests, peer);
		T(MPI_Waitall)(2 * PAIRS, requests, MPI_STATUSES_IGNORE);
		for (i = 0; i < PAIRS; i++)
			verify(in[i], sizes[i], round + i);
	}
	for (i = 0; i < 2 * PAIRS; i++)
		T(MPI_Request_free)(&requests[i]);
}

static void sendrecv(int peer)
{
	static char in[MAX_BYTES], out[MAX_BYTES];
	int i, bytes;

	for (i = 0; i < ROUNDS; i++) {
		bytes = sizes[i % PAIRS];
		fill(out, bytes, i);
		truth_message("MPI_Sendrecv", peer, bytes);
		T(MPI_Sendrecv)
		(out, bytes, MPI_BYTE, peer, i, in, bytes, MPI_BYTE, peer, i, MPI_COMM_WORLD,
		 MPI_STATUS_IGNORE);
		verify(in, bytes, i);
		truth_message("MPI_Sendrecv_replace", peer, bytes);
		T(MPI_Sendrecv_replace)
		(out, bytes, MPI_BYTE, peer, i, peer, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		verify(out, bytes, i);
	}
	T(MPI_Sendrecv)
	(out, 11, MPI_BYTE, MPI_PROC_NULL, 0, in, 11, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_WORLD,
	 MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
	int attached_bytes = 13 * (MAX_BYTES + MPI_BSEND_OVERHEAD), i;
	void *attached;

	job_start("mpi_persistent", &argc, &argv);
	attached = malloc(attached_bytes);
	MPI_Buffer_attach(attached, attached_bytes);
	if (rank < 2) {
		for (i = 0; i < (int)(sizeof(modes) / sizeof(modes[0])); i++)
			persistent(&modes[i], !rank);
		sendrecv(!rank);
	}
	T(MPI_Buffer_detach)(&attached, &attached_bytes);
	free(attached);
	return job_end();
}
