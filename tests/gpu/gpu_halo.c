// SPDX-License-Identifier: BSD-3-Clause
/*
 * gpu_halo DEVICES [ITERATIONS]: ranks in a ring, a GPU each, that exchange halos with both
 * neighbours as a stencil code does: all receives, all sends, wait. Every pair has sizes of its
 * own.
 */
#include "ledger.h"

#define LARGEST (1 << 20)

/* What a rank sends downwards (side 0) and upwards (side 1). */
static int halo_bytes(int of_rank, int side)
{
	return side ? LARGEST - 4096 * of_rank : 1000 * (of_rank + 1) + 8;
}

static int neighbour(int of_rank, int side)
{
	return (of_rank + (side ? 1 : size - 1)) % size;
}

struct halo {
	struct buffer out[2], in[2];
};

static void exchange(const struct halo *halo, int value)
{
	MPI_Request requests[4];
	const struct kind *kind = halo->out[0].kind;

	for (int side = 0; side < 2; side++) {
		int from = neighbour(rank, side);

		/* what comes from below was sent upwards */
		MPI_Irecv(halo->in[side].at, halo_bytes(from, !side), MPI_BYTE, from, !side,
			  MPI_COMM_WORLD, &requests[side]);
	}
	for (int side = 0; side < 2; side++) {
		int to = neighbour(rank, side), bytes = halo_bytes(rank, side);

		buffer_fill(&halo->out[side], bytes, value + rank);
		ledger_add("MPI_Isend", to, place_of(rank, kind), place_of(to, kind), bytes);
		MPI_Isend(halo->out[side].at, bytes, MPI_BYTE, to, side, MPI_COMM_WORLD,
			  &requests[2 + side]);
	}
	MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
	for (int side = 0; side < 2; side++) {
		int from = neighbour(rank, side);

		EXPECT(buffer_is(&halo->in[side], halo_bytes(from, !side), value + from));
	}
}

int main(int argc, char **argv)
{
	const struct kind *kind = kind_of("cudaMalloc");
	int iterations = argc > 2 ? atoi(argv[2]) : 13;
	struct halo halo;

	if (argc < 2)
		return 2;
	gpu_start("gpu_halo", &argc, &argv, argv[1]);
	for (int side = 0; side < 2; side++) {
		buffer_make(&halo.out[side], kind, LARGEST, rank_device[rank]);
		buffer_make(&halo.in[side], kind, LARGEST, rank_device[rank]);
	}
	if (getenv("HOLD"))
		exchange(&halo, 0);
	ledger_hold();
	for (int i = 0; i < iterations; i++)
		exchange(&halo, i);
	MPI_Barrier(MPI_COMM_WORLD);
	for (int side = 0; side < 2; side++) {
		buffer_end(&halo.out[side]);
		buffer_end(&halo.in[side]);
	}
	return gpu_end();
}
