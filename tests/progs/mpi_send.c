// SPDX-License-Identifier: BSD-3-Clause
/* Blocking sends in all four modes, both directions between ranks 0 and 1. */
#include "mpi_common.h"

#define TAG_READY 9001

static const int sizes[] = { 0, 1, 7, 101, 1009, 10007, 50021 };
#define SIZES ((int)(sizeof(sizes) / sizeof(sizes[0])))
#define MAX_BYTES 50021

static const struct mode {
	const char *name;
	send_fn *function;
	int count;
	bool ready; /* the receive must be posted before */
} modes[] = {
	{ "MPI_Send", MPI_Send, 23, false },
	{ "MPI_Ssend", MPI_Ssend, 19, false },
	{ "MPI_Bsend", MPI_Bsend, 17, false },
	{ "MPI_Rsend", MPI_Rsend, 13, true },
};

static void sender(const struct mode *mode, void *buffer, int peer)
{
	char token;
	int i;

	for (i = 0; i < mode->count; i++) {
		if (mode->ready)
			recv_bytes(&token, 0, peer, TAG_READY);
		send_with(mode->name, mode->function, buffer, sizes[i % SIZES], peer, i);
	}
}

static void receive_ready(void *buffer, int bytes, int peer, int tag)
{
	MPI_Request request;
	char token;

	T(MPI_Irecv)(buffer, bytes, MPI_BYTE, peer, tag, MPI_COMM_WORLD, &request);
	send_bytes(&token, 0, peer, TAG_READY);
	T(MPI_Wait)(&request, MPI_STATUS_IGNORE);
	verify(buffer, bytes, tag);
}

static void receiver(const struct mode *mode, void *buffer, int peer)
{
	int i;

	for (i = 0; i < mode->count; i++) {
		if (mode->ready)
			receive_ready(buffer, sizes[i % SIZES], peer, i);
		else
			recv_bytes(buffer, sizes[i % SIZES], peer, i);
	}
}

int main(int argc, char **argv)
{
	static char buffer[MAX_BYTES];
	int attached_bytes = 20 * (MAX_BYTES + MPI_BSEND_OVERHEAD), i, from;
	void *attached;

	job_start("mpi_send", &argc, &argv);
	attached = malloc(attached_bytes);
	MPI_Buffer_attach(attached, attached_bytes);
	for (i = 0; i < (int)(sizeof(modes) / sizeof(modes[0])); i++) {
		for (from = 0; from < 2; from++) {
			if (rank == from)
				sender(&modes[i], buffer, !from);
			else if (rank == !from)
				receiver(&modes[i], buffer, from);
		}
	}
	T(MPI_Buffer_detach)(&attached, &attached_bytes);
	free(attached);
	return job_end();
}
