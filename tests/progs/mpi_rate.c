// SPDX-License-Identifier: BSD-3-Clause
/*
 * mpi_rate STOPFILE [PAUSE_US]: traffic whose rate is known at any time. Round by round, rank 0
 * sends some short messages and a long one to rank 1, which answers. Behind each round a rank adds
 * a line to $TRUTH/RANK.log: the time (CLOCK_MONOTONIC, ns), its MPI calls, sends and bytes of them
 * so far. The tenth round is over when $TRUTH/RANK.running is there.
 */
#include <time.h>

#include "mpi_common.h"

#define SHORT 16 /* messages of a round */
#define SHORT_BYTES 200
#define LONG_BYTES 70000

static uint64_t calls, sends, bytes;
static char buffer[LONG_BYTES];

static void send_one(int peer, int length)
{
	truth_message("MPI_Send", peer, length);
	T(MPI_Send)(buffer, length, MPI_BYTE, peer, 0, MPI_COMM_WORLD);
	calls++;
	sends++;
	bytes += length;
}

static void receive_one(int peer, int length)
{
	T(MPI_Recv)(buffer, length, MPI_BYTE, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	calls++;
}

/* The answer is 1 until rank 0 wants to stop. */
static bool round_of(const char *stop_file)
{
	for (int i = 0; i < SHORT; i++) {
		if (rank == 0)
			send_one(1, SHORT_BYTES);
		else
			receive_one(0, SHORT_BYTES);
	}
	buffer[0] = rank == 0 && access(stop_file, F_OK) != 0;
	if (rank == 0)
		send_one(1, LONG_BYTES);
	else
		receive_one(0, LONG_BYTES);
	if (rank == 1)
		send_one(0, SHORT_BYTES);
	else
		receive_one(1, SHORT_BYTES);
	return buffer[0];
}

static void add_line(FILE *log)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	fprintf(log, "%lld %llu %llu %llu\n", now.tv_sec * 1000000000ll + now.tv_nsec,
		(unsigned long long)calls, (unsigned long long)sends, (unsigned long long)bytes);
}

static void say_running(void)
{
	FILE *file = truth_open("running");

	if (!file)
		return;
	fputs("running\n", file);
	fclose(file);
}

int main(int argc, char **argv)
{
	const long pause_us = argc > 2 ? atol(argv[2]) : 0;
	FILE *log;
	long rounds = 0;
	bool more;

	job_start("mpi_rate", &argc, &argv);
	log = truth_open("log");
	do {
		more = round_of(argv[1]);
		if (log)
			add_line(log);
		if (++rounds == 10)
			say_running();
		if (pause_us && rank == 0)
			nanosleep(&(struct timespec){ 0, pause_us * 1000 }, NULL);
	} while (more);
	if (log)
		fclose(log);
	return job_end();
}
