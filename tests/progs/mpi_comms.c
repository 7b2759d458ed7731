// SPDX-License-Identifier: BSD-3-Clause
/* Communicators whose ranks are not those of the world: dup, split in reverse, create, inter. */
#include "mpi_common.h"

#define MESSAGES 31
#define BYTES 251

/* Both sides send first: equal tags on different communicators must not be mixed up. */
static void exchange(MPI_Comm comm, int world_peer)
{
	char out[BYTES], in[BYTES];
	int comm_rank, comm_size, peer, i;
	MPI_Request request;

	MPI_Comm_rank(comm, &comm_rank);
	MPI_Comm_size(comm, &comm_size);
	EXPECT(comm_size == 2);
	peer = !comm_rank;
	for (i = 0; i < MESSAGES; i++) {
		fill(out, BYTES, i);
		truth_message("MPI_Isend", world_peer, BYTES);
		T(MPI_Isend)(out, BYTES, MPI_BYTE, peer, 3, comm, &request);
		T(MPI_Recv)(in, BYTES, MPI_BYTE, peer, 3, comm, MPI_STATUS_IGNORE);
		T(MPI_Wait)(&request, MPI_STATUS_IGNORE);
		verify(in, BYTES, i);
	}
}

/* Two communicators with messages in flight at once, received in the other order. */
static void crossing(MPI_Comm first, MPI_Comm reversed, int peer)
{
	char out[2][BYTES], in[2][BYTES];
	MPI_Request requests[2];

	fill(out[0], BYTES, 1);
	fill(out[1], BYTES, 2);
	truth_message("MPI_Isend", peer, BYTES);
	T(MPI_Isend)(out[0], BYTES, MPI_BYTE, peer, 3, first, &requests[0]);
	truth_message("MPI_Isend", peer, BYTES);
	T(MPI_Isend)(out[1], BYTES, MPI_BYTE, rank, 3, reversed, &requests[1]);
	T(MPI_Recv)(in[1], BYTES, MPI_BYTE, rank, 3, reversed, MPI_STATUS_IGNORE);
	T(MPI_Recv)(in[0], BYTES, MPI_BYTE, peer, 3, first, MPI_STATUS_IGNORE);
	T(MPI_Waitall)(2, requests, MPI_STATUSES_IGNORE);
	verify(in[0], BYTES, 1);
	verify(in[1], BYTES, 2);
}

int main(int argc, char **argv)
{
	MPI_Comm dup, reversed, grouped, inter, single;
	MPI_Group group;
	char byte = 0;
	int peer;

	job_start("mpi_comms", &argc, &argv);
	EXPECT(size == 2);
	peer = !rank;
	T(MPI_Comm_dup)(MPI_COMM_WORLD, &dup);
	exchange(dup, peer);
	T(MPI_Comm_split)(MPI_COMM_WORLD, 1, -rank, &reversed);
	exchange(reversed, peer);
	crossing(dup, reversed, peer);
	MPI_Comm_group(reversed, &group);
	T(MPI_Comm_create)(MPI_COMM_WORLD, group, &grouped);
	exchange(grouped, peer);
	T(MPI_Comm_split)(MPI_COMM_WORLD, rank, 0, &single);
	T(MPI_Intercomm_create)(single, 0, MPI_COMM_WORLD, peer, 17, &inter);
	truth_message("MPI_Sendrecv", peer, 1);
	T(MPI_Sendrecv)
	(&byte, 1, MPI_BYTE, 0, 1, &byte, 1, MPI_BYTE, 0, 1, inter, MPI_STATUS_IGNORE);
	T(MPI_Comm_free)(&inter);
	T(MPI_Comm_free)(&single);
	MPI_Group_free(&group);
	T(MPI_Comm_free)(&grouped);
	T(MPI_Comm_free)(&reversed);
	T(MPI_Comm_free)(&dup);
	return job_end();
}
