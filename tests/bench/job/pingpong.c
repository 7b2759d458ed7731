// SPDX-License-Identifier: BSD-3-Clause
/*
 * pingpong FOLDER: two ranks that exchange messages when told to, so that tracers come and go
 * around one running job. Rank R reads FOLDER/in.R, rank 0 answers in FOLDER/out:
 *
 *   (start)                     pids PID0 PID1
 *   lat BYTES MS BATCHES        messages NS NS ...   one way of a ping-pong, a number per batch
 *   bw BYTES MS BATCHES         messages NS NS ...   windows of 32, acknowledged
 *   quit
 *
 * Both ranks get every line. Between lines they sleep in read(2): an idle job costs no CPU.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WINDOW 32
#define MAX_BYTES (1 << 20)
#define MAX_BATCHES 1000

struct task {
	int rank, bytes;
	char *data;
};

static void send_one(const struct task *task, int bytes)
{
	MPI_Send(task->data, bytes, MPI_BYTE, !task->rank, 1, MPI_COMM_WORLD);
}

static void receive_one(const struct task *task, int bytes)
{
	MPI_Recv(task->data, bytes, MPI_BYTE, !task->rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* Returns the messages exchanged. */
static long latency(const struct task *task, long rounds)
{
	for (long i = 0; i < rounds; i++) {
		if (task->rank == 0)
			send_one(task, task->bytes);
		receive_one(task, task->bytes);
		if (task->rank == 1)
			send_one(task, task->bytes);
	}
	return 2 * rounds;
}

/* A window of non-blocking operations, then an acknowledgement, as bandwidth tests do it. */
static long bandwidth(const struct task *task, long rounds)
{
	MPI_Request requests[WINDOW];

	for (long i = 0; i < rounds; i++) {
		for (int k = 0; k < WINDOW; k++)
			if (task->rank == 0)
				MPI_Isend(task->data, task->bytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD,
					  &requests[k]);
			else
				MPI_Irecv(task->data, task->bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD,
					  &requests[k]);
		MPI_Waitall(WINDOW, requests, MPI_STATUSES_IGNORE);
		if (task->rank == 0)
			receive_one(task, 1);
		else
			send_one(task, 1);
	}
	return WINDOW * rounds;
}

typedef long (*pattern_fn)(const struct task *task, long rounds);

/* Rank 1: as many rounds as rank 0 says, until it says none. */
static void follow(const struct task *task, pattern_fn pattern)
{
	long rounds;

	for (;;) {
		MPI_Recv(&rounds, 1, MPI_LONG, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		if (!rounds)
			return;
		pattern(task, rounds);
	}
}

/* Returns ns per message. */
static double batch(const struct task *task, pattern_fn pattern, long rounds, long *messages)
{
	double start;
	long done;

	MPI_Send(&rounds, 1, MPI_LONG, 1, 2, MPI_COMM_WORLD);
	start = MPI_Wtime();
	done = pattern(task, rounds);
	*messages += done;
	return (MPI_Wtime() - start) * 1e9 / done;
}

static long scale(long rounds, double ns_per_round, double milliseconds)
{
	double wanted = milliseconds * 1e6 / ns_per_round;

	return wanted < 1 ? 1 : wanted > 50.0 * rounds ? 50 * rounds : (long)wanted;
}

static void lead(const struct task *task, pattern_fn pattern, double milliseconds, int batches,
		 FILE *out)
{
	long per_round = pattern == latency ? 2 : WINDOW, rounds = 4, messages = 0, end = 0;
	double ns[MAX_BATCHES];

	/* also warms up what a tracer has just put in place */
	for (int i = 0; i < 3; i++)
		rounds = scale(rounds, batch(task, pattern, rounds, &messages) * per_round,
			       milliseconds);
	for (int i = 0; i < batches; i++)
		ns[i] = batch(task, pattern, rounds, &messages);
	MPI_Send(&end, 1, MPI_LONG, 1, 2, MPI_COMM_WORLD);
	fprintf(out, "%ld", messages);
	for (int i = 0; i < batches; i++)
		fprintf(out, " %.2f", ns[i]);
	fprintf(out, "\n");
}

static void serve(struct task *task, FILE *in, FILE *out)
{
	char line[256], name[8];
	double milliseconds;
	int batches;

	while (fgets(line, sizeof(line), in) &&
	       sscanf(line, "%7s %d %lf %d", name, &task->bytes, &milliseconds, &batches) == 4) {
		pattern_fn pattern = strcmp(name, "lat") ? bandwidth : latency;

		if (task->bytes > MAX_BYTES || batches > MAX_BATCHES)
			return;
		if (task->rank)
			follow(task, pattern);
		else
			lead(task, pattern, milliseconds, batches, out);
	}
}

static FILE *open_pipe(const char *folder, const char *name, int rank, const char *mode)
{
	char path[4096];
	FILE *pipe;

	snprintf(path, sizeof(path), name, folder, rank);
	pipe = fopen(path, mode);
	if (!pipe) {
		perror(path);
		MPI_Abort(MPI_COMM_WORLD, 1);
	}
	return pipe;
}

int main(int argc, char **argv)
{
	struct task task = { .data = calloc(1, MAX_BYTES) };
	int pid = getpid(), pids[2], size;
	FILE *in, *out = NULL;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &task.rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (argc != 2 || size != 2 || !task.data)
		MPI_Abort(MPI_COMM_WORLD, 1);
	MPI_Gather(&pid, 1, MPI_INT, pids, 1, MPI_INT, 0, MPI_COMM_WORLD);
	in = open_pipe(argv[1], "%s/in.%d", task.rank, "r");
	if (task.rank == 0) {
		out = open_pipe(argv[1], "%s/out", 0, "w");
		setvbuf(out, NULL, _IOLBF, 1 << 16);
		fprintf(out, "pids %d %d\n", pids[0], pids[1]);
	}
	serve(&task, in, out);
	free(task.data);
	return MPI_Finalize();
}
