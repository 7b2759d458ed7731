// SPDX-License-Identifier: BSD-3-Clause
/*
 * gpu_ring DEVICES FOLDER: ranks in a ring that exchange GPU buffers when told to, so that tracers
 * come and go around one running job; the protocol is that of tests/bench/job/pingpong.c. Every
 * rank R reads FOLDER/in.R, rank 0 answers in FOLDER/out:
 *
 *   (start)                     pids PID0 PID1
 *   ring BYTES MS BATCHES       messages NS NS ...   per round, a number per batch
 *   quit
 *
 * In a round each rank receives from below and sends upwards, and waits for both: what tracing one
 * message at both of its ends adds, it adds to a round.
 */
#include "ledger.h"

#define LARGEST (8 << 20)
#define MAX_BATCHES 1000

struct ring {
	struct buffer out, in;
	int bytes, below, above;
};

static void rounds_of(const struct ring *ring, long rounds)
{
	for (long i = 0; i < rounds; i++) {
		MPI_Request requests[2];

		MPI_Irecv(ring->in.at, ring->bytes, MPI_BYTE, ring->below, 1, MPI_COMM_WORLD,
			  &requests[0]);
		MPI_Isend(ring->out.at, ring->bytes, MPI_BYTE, ring->above, 1, MPI_COMM_WORLD,
			  &requests[1]);
		MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
	}
}

/* Rank 0 says how many; none is the end. Returns ns per round. */
static double batch(const struct ring *ring, long *rounds)
{
	double start;

	MPI_Bcast(rounds, 1, MPI_LONG, 0, MPI_COMM_WORLD);
	start = MPI_Wtime();
	rounds_of(ring, *rounds);
	return *rounds ? (MPI_Wtime() - start) * 1e9 / *rounds : 0;
}

static long scale(long rounds, double ns, double milliseconds)
{
	double wanted = milliseconds * 1e6 / ns;

	return wanted < 1 ? 1 : wanted > 50.0 * rounds ? 50 * rounds : (long)wanted;
}

static void lead(const struct ring *ring, double milliseconds, int batches, FILE *out)
{
	long rounds = 4, messages = 0, end = 0;
	double ns[MAX_BATCHES];

	/* also warms up what a tracer has just put in place */
	for (int i = 0; i < 3; i++) {
		messages += rounds * size;
		rounds = scale(rounds, batch(ring, &rounds), milliseconds);
	}
	for (int i = 0; i < batches; i++)
		ns[i] = batch(ring, &rounds);
	batch(ring, &end);
	fprintf(out, "%ld", messages + batches * rounds * size);
	for (int i = 0; i < batches; i++)
		fprintf(out, " %.2f", ns[i]);
	fprintf(out, "\n");
}

static void serve(struct ring *ring, FILE *in, FILE *out)
{
	char line[256], name[8];
	double milliseconds;
	int batches;

	while (fgets(line, sizeof(line), in) &&
	       sscanf(line, "%7s %d %lf %d", name, &ring->bytes, &milliseconds, &batches) == 4) {
		long rounds = 1;

		if (ring->bytes > LARGEST || batches > MAX_BATCHES)
			return;
		if (rank == 0)
			lead(ring, milliseconds, batches, out);
		while (rank && rounds)
			batch(ring, &rounds);
	}
}

static FILE *open_pipe(const char *folder, const char *name, int number, const char *mode)
{
	char path[4096];
	FILE *pipe;

	snprintf(path, sizeof(path), name, folder, number);
	pipe = fopen(path, mode);
	EXPECT(pipe);
	return pipe;
}

int main(int argc, char **argv)
{
	struct ring ring = { 0 };
	int pid = getpid(), pids[MAX_RANKS];
	FILE *in, *out = NULL;

	if (argc != 3)
		return 2;
	gpu_start("gpu_ring", &argc, &argv, argv[1]);
	ring.below = (rank + size - 1) % size;
	ring.above = (rank + 1) % size;
	buffer_make(&ring.out, kind_of("cudaMalloc"), LARGEST, rank_device[rank]);
	buffer_make(&ring.in, kind_of("cudaMalloc"), LARGEST, rank_device[rank]);
	MPI_Gather(&pid, 1, MPI_INT, pids, 1, MPI_INT, 0, MPI_COMM_WORLD);
	in = open_pipe(argv[2], "%s/in.%d", rank, "r");
	if (rank == 0) {
		out = open_pipe(argv[2], "%s/out", 0, "w");
		setvbuf(out, NULL, _IOLBF, 1 << 16);
		fprintf(out, "pids");
		for (int i = 0; i < size; i++)
			fprintf(out, " %d", pids[i]);
		fprintf(out, "\n");
	}
	serve(&ring, in, out);
	buffer_end(&ring.out);
	buffer_end(&ring.in);
	return gpu_end();
}
