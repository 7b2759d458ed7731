// SPDX-License-Identifier: BSD-3-Clause
/*
 * node FOLDER: ranks that communicate when asked to, so that tracers come and go around one running
 * job. Rank R reads lines from FOLDER/in.R, rank 0 answers each with a line in FOLDER/out:
 *
 *   (start)                     pids PID0 PID1 ...
 *   run PATTERN MS BATCHES      US US ...              us per iteration, a number per batch
 *   loop PATTERN MS SECONDS     ITERATIONS NS NS ...   blocks of as many iterations: when the first
 *                                                      began and each ended, CLOCK_MONOTONIC
 *   quit
 *
 * Patterns: allreduce (8 bytes), alltoall (4 KiB to each rank), rate (rank R of the lower half
 * sends 32 messages of 8 bytes to its partner in the upper half, which acknowledges them).
 *
 * After each line rank R writes to FOLDER/ledger.R what it called meanwhile:
 *   NUMBER OF THE LINE, then FUNCTION CALLS BYTES SENT (of point-to-point calls)
 *
 * Between lines all ranks sleep in read(2).
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define WINDOW 32
#define ALLTOALL_BYTES 4096
#define MAX_BATCHES 1000
#define MAX_BLOCKS 100000

enum function { ALLREDUCE, ALLTOALL, BARRIER, BCAST, IRECV, ISEND, RECV, SEND, WAITALL, FUNCTIONS };

static const char *const function_names[FUNCTIONS] = {
	[ALLREDUCE] = "MPI_Allreduce", [ALLTOALL] = "MPI_Alltoall", [BARRIER] = "MPI_Barrier",
	[BCAST] = "MPI_Bcast",         [IRECV] = "MPI_Irecv",       [ISEND] = "MPI_Isend",
	[RECV] = "MPI_Recv",           [SEND] = "MPI_Send",         [WAITALL] = "MPI_Waitall",
};

static struct {
	long calls, bytes;
} ledger[FUNCTIONS];

static int rank, size;
static char *out_data, *in_data;

static void note(enum function function, long bytes)
{
	ledger[function].calls++;
	ledger[function].bytes += bytes;
}

static void allreduce(long iterations)
{
	long mine = rank, sum;

	for (long i = 0; i < iterations; i++) {
		note(ALLREDUCE, 0);
		MPI_Allreduce(&mine, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
		if (sum != (long)size * (size - 1) / 2) {
			fprintf(stderr, "node: rank %d: the sum of all ranks is %ld\n", rank, sum);
			MPI_Abort(MPI_COMM_WORLD, 1);
		}
	}
}

static void alltoall(long iterations)
{
	for (long i = 0; i < iterations; i++) {
		note(ALLTOALL, 0);
		MPI_Alltoall(out_data, ALLTOALL_BYTES, MPI_BYTE, in_data, ALLTOALL_BYTES, MPI_BYTE,
			     MPI_COMM_WORLD);
	}
}

static void send_window(int peer)
{
	MPI_Request requests[WINDOW];

	for (int k = 0; k < WINDOW; k++) {
		note(ISEND, 8);
		MPI_Isend(out_data, 8, MPI_BYTE, peer, 1, MPI_COMM_WORLD, &requests[k]);
	}
	note(WAITALL, 0);
	MPI_Waitall(WINDOW, requests, MPI_STATUSES_IGNORE);
	note(RECV, 0);
	MPI_Recv(in_data, 1, MPI_BYTE, peer, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void receive_window(int peer)
{
	MPI_Request requests[WINDOW];

	for (int k = 0; k < WINDOW; k++) {
		note(IRECV, 0);
		MPI_Irecv(in_data + 8L * k, 8, MPI_BYTE, peer, 1, MPI_COMM_WORLD, &requests[k]);
	}
	note(WAITALL, 0);
	MPI_Waitall(WINDOW, requests, MPI_STATUSES_IGNORE);
	note(SEND, 1);
	MPI_Send(out_data, 1, MPI_BYTE, peer, 2, MPI_COMM_WORLD);
}

/* The last of an odd number of ranks has no partner. */
static void rate(long iterations)
{
	int half = size / 2;

	for (long i = 0; i < iterations; i++)
		if (rank < half)
			send_window(rank + half);
		else if (rank < 2 * half)
			receive_window(rank - half);
}

static const struct pattern {
	const char *name;
	void (*run)(long iterations);
} patterns[] = { { "allreduce", allreduce }, { "alltoall", alltoall }, { "rate", rate } };

static const struct pattern *pattern_named(const char *name)
{
	for (size_t i = 0; i < sizeof(patterns) / sizeof(*patterns); i++)
		if (!strcmp(patterns[i].name, name))
			return &patterns[i];
	return NULL;
}

static long now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000L + ts.tv_nsec;
}

/* All ranks do as many iterations as rank 0 says, and none leaves before the last one has ended. */
static long together(const struct pattern *pattern, long iterations)
{
	note(BCAST, rank ? 0 : 8);
	MPI_Bcast(&iterations, 1, MPI_LONG, 0, MPI_COMM_WORLD);
	if (iterations) {
		pattern->run(iterations);
		note(BARRIER, 0);
		MPI_Barrier(MPI_COMM_WORLD);
	}
	return iterations;
}

static void follow(const struct pattern *pattern)
{
	while (together(pattern, 0))
		;
}

static double batch_us(const struct pattern *pattern, long iterations)
{
	long start = now_ns();

	together(pattern, iterations);
	return (double)(now_ns() - start) / 1e3 / (double)iterations;
}

/* Iterations that take that many milliseconds; also warms up probes that were just placed. */
static long calibrate(const struct pattern *pattern, double milliseconds)
{
	long iterations = 4;

	for (int i = 0; i < 3; i++) {
		double wanted = milliseconds * 1e3 / batch_us(pattern, iterations);

		if (wanted > 50.0 * (double)iterations)
			wanted = 50.0 * (double)iterations;
		iterations = wanted < 1 ? 1 : (long)wanted;
	}
	return iterations;
}

static void lead_run(const struct pattern *pattern, double milliseconds, int batches, FILE *out)
{
	long iterations = calibrate(pattern, milliseconds);
	double us[MAX_BATCHES];

	for (int i = 0; i < batches; i++)
		us[i] = batch_us(pattern, iterations);
	together(pattern, 0);
	for (int i = 0; i < batches; i++)
		fprintf(out, "%.4f ", us[i]);
	fprintf(out, "\n");
}

static void lead_loop(const struct pattern *pattern, double milliseconds, int seconds, FILE *out)
{
	long iterations = calibrate(pattern, milliseconds), blocks = 0, start = now_ns();
	static long ends[MAX_BLOCKS];

	do {
		together(pattern, iterations);
		ends[blocks++] = now_ns();
	} while (blocks < MAX_BLOCKS && ends[blocks - 1] - start < seconds * 1000000000L);
	together(pattern, 0);
	fprintf(out, "%ld %ld", iterations, start);
	for (long i = 0; i < blocks; i++)
		fprintf(out, " %ld", ends[i]);
	fprintf(out, "\n");
}

static FILE *open_named(const char *folder, const char *name, int number, const char *mode)
{
	char path[4096];
	FILE *file;

	snprintf(path, sizeof(path), name, folder, number);
	file = fopen(path, mode);
	if (!file) {
		perror(path);
		MPI_Abort(MPI_COMM_WORLD, 1);
	}
	return file;
}

/* Whoever reads it while it is written finds the number of an older line, or no last line. */
static void write_ledger(const char *folder, int line)
{
	FILE *file = open_named(folder, "%s/ledger.%d", rank, "w");

	fprintf(file, "%d\n", line);
	for (int i = 0; i < FUNCTIONS; i++)
		if (ledger[i].calls)
			fprintf(file, "%s %ld %ld\n", function_names[i], ledger[i].calls,
				ledger[i].bytes);
	fprintf(file, "end\n");
	fclose(file);
	memset(ledger, 0, sizeof(ledger));
}

static void serve(const char *folder, FILE *in, FILE *out)
{
	char line[256], verb[8], name[16];
	double milliseconds;
	int count;

	for (int number = 1;
	     fgets(line, sizeof(line), in) &&
	     sscanf(line, "%7s %15s %lf %d", verb, name, &milliseconds, &count) == 4;
	     number++) {
		const struct pattern *pattern = pattern_named(name);

		if (!pattern || count > MAX_BATCHES)
			return;
		if (rank)
			follow(pattern);
		else if (!strcmp(verb, "loop"))
			lead_loop(pattern, milliseconds, count, out);
		else
			lead_run(pattern, milliseconds, count, out);
		write_ledger(folder, number);
	}
}

static FILE *introduce(const char *folder)
{
	int pid = getpid(), *pids = calloc((size_t)size, sizeof(*pids));
	FILE *out = NULL;

	MPI_Gather(&pid, 1, MPI_INT, pids, 1, MPI_INT, 0, MPI_COMM_WORLD);
	if (rank == 0) {
		out = open_named(folder, "%s/out", 0, "w");
		setvbuf(out, NULL, _IOLBF, 1 << 16);
		fprintf(out, "pids");
		for (int i = 0; i < size; i++)
			fprintf(out, " %d", pids[i]);
		fprintf(out, "\n");
	}
	free(pids);
	return out;
}

int main(int argc, char **argv)
{
	FILE *in, *out;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	out_data = calloc((size_t)size, ALLTOALL_BYTES);
	in_data = calloc((size_t)size, ALLTOALL_BYTES);
	if (argc != 2 || size < 2 || !out_data || !in_data) {
		fprintf(stderr, "usage: node FOLDER, with two ranks or more\n");
		MPI_Abort(MPI_COMM_WORLD, 1);
	}
	in = open_named(argv[1], "%s/in.%d", rank, "r");
	out = introduce(argv[1]);
	serve(argv[1], in, out);
	free(out_data);
	free(in_data);
	return MPI_Finalize();
}
