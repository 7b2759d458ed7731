// SPDX-License-Identifier: BSD-3-Clause
/*
 * gpu_pingpong DEVICES MODE KIND: two ranks that send as benchmarks do, from one buffer of that
 * kind and into another one, 1 B to 4 MiB. Modes:
 *
 *   pingpong  blocking, there and back
 *   window    64 at once from rank 0, which rank 1 answers with 4 bytes
 *   both      64 at once, each way
 *   mixed     64 at once, each way, of different sizes in turn
 *
 * All messages of a window lie at the same address, at both ends: only the order tells them apart.
 */
#include "ledger.h"

#define LARGEST (4 << 20)
#define WINDOW 64
#define SIZES 12

/* Powers of 4, those in the middle a few bytes off: no fragment's size divides them. */
static int size_of(int index)
{
	int bytes = 1 << 2 * index;

	return index > 6 && index < SIZES - 1 ? bytes + 8 * index + 3 : bytes;
}

/* The large ones are many records each. */
static int rounds_of(int index)
{
	return index < 7 ? 3 : 1;
}

struct ends {
	struct buffer out, in;
	int peer;
	struct place here, there;
};

static void counted(const struct ends *ends, const char *function, int bytes)
{
	ledger_add(function, ends->peer, ends->here, ends->there, bytes);
}

static void send_one(const struct ends *ends, int bytes)
{
	counted(ends, "MPI_Send", bytes);
	MPI_Send(ends->out.at, bytes, MPI_BYTE, ends->peer, 1, MPI_COMM_WORLD);
}

static void receive_one(const struct ends *ends, int bytes)
{
	MPI_Recv(ends->in.at, bytes, MPI_BYTE, ends->peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void pingpong(const struct ends *ends, int bytes)
{
	for (int i = 0; i < 16; i++)
		if (rank == i % 2)
			send_one(ends, bytes);
		else
			receive_one(ends, bytes);
}

static int sends_of(const struct ends *ends, const int *bytes, MPI_Request *requests)
{
	for (int i = 0; i < WINDOW; i++) {
		counted(ends, "MPI_Isend", bytes[i]);
		MPI_Isend(ends->out.at, bytes[i], MPI_BYTE, ends->peer, 2, MPI_COMM_WORLD,
			  &requests[i]);
	}
	return WINDOW;
}

static int receives_of(const struct ends *ends, const int *bytes, MPI_Request *requests)
{
	for (int i = 0; i < WINDOW; i++)
		MPI_Irecv(ends->in.at, bytes[i], MPI_BYTE, ends->peer, 2, MPI_COMM_WORLD,
			  &requests[i]);
	return WINDOW;
}

static void window(const struct ends *ends, const int *bytes)
{
	MPI_Request requests[WINDOW];
	int open = rank == 0 ? sends_of(ends, bytes, requests) : receives_of(ends, bytes, requests);

	MPI_Waitall(open, requests, MPI_STATUSES_IGNORE);
	if (rank == 1)
		send_one(ends, 4);
	else
		receive_one(ends, 4);
}

static void both(const struct ends *ends, const int *bytes)
{
	MPI_Request requests[2 * WINDOW];
	int open = receives_of(ends, bytes, requests);

	open += sends_of(ends, bytes, requests + open);
	MPI_Waitall(open, requests, MPI_STATUSES_IGNORE);
}

static void all_of_a_size(const struct ends *ends, const char *mode, int index)
{
	int bytes[WINDOW], value = 1 + index;

	for (int i = 0; i < WINDOW; i++)
		bytes[i] = size_of(strcmp(mode, "mixed") ? index : (i * 5 + index) % SIZES);
	buffer_fill(&ends->out, LARGEST, value + SIZES * rank);
	buffer_fill(&ends->in, LARGEST, 0);
	MPI_Barrier(MPI_COMM_WORLD);
	for (int i = 0; i < rounds_of(index); i++) {
		if (!strcmp(mode, "pingpong"))
			pingpong(ends, bytes[0]);
		else if (!strcmp(mode, "window"))
			window(ends, bytes);
		else
			both(ends, bytes);
	}
	if (strcmp(mode, "window") || rank == 1)
		EXPECT(buffer_is(&ends->in, bytes[0], value + SIZES * ends->peer));
}

int main(int argc, char **argv)
{
	struct ends ends = { 0 };
	const struct kind *kind;

	if (argc != 4)
		return 2;
	gpu_start("gpu_pingpong", &argc, &argv, argv[1]);
	kind = kind_of(argv[3]);
	EXPECT(size == 2 && kind);
	ends.peer = !rank;
	ends.here = place_of(rank, kind);
	ends.there = place_of(ends.peer, kind);
	buffer_make(&ends.out, kind, LARGEST, rank_device[rank]);
	buffer_make(&ends.in, kind, LARGEST, rank_device[rank]);
	/* a tracer that comes late finds all connections made */
	if (getenv("HOLD"))
		all_of_a_size(&ends, argv[2], SIZES - 1);
	ledger_hold();
	/* in a mixed window each index is a mixture of all of them */
	for (int index = 0; index < (strcmp(argv[2], "mixed") ? SIZES : 3); index++)
		all_of_a_size(&ends, argv[2], index);
	MPI_Barrier(MPI_COMM_WORLD);
	buffer_end(&ends.out);
	buffer_end(&ends.in);
	return gpu_end();
}
