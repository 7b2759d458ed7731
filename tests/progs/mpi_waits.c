/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mpi_waits CASE [MS [GO]]: calls that wait for a known rank, for about MS (default 200) in each of
 * two rounds, as soon as the file GO is there. The ledger has the time right before and right after
 * each rank's call of interest, and its line: on one host the difference of two ranks' times is the
 * wait.
 */
#include <inttypes.h>
#include <time.h>

#include "mpi_common.h"

#define ROUNDS 2
#define LARGE (1 << 20)
#define FLOOD 2000
#define SMALL 4096

static char buffer[LARGE];
static struct timespec delay;
static uint64_t before[ROUNDS], after[ROUNDS];
static int lines[ROUNDS], turn;

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* The call of interest. */
#define TIMED(call)                                                                                \
	do {                                                                                       \
		lines[turn] = __LINE__;                                                            \
		before[turn] = now();                                                              \
		call;                                                                              \
		after[turn] = now();                                                               \
	} while (0)

static void late(void)
{
	nanosleep(&delay, NULL);
}

/* All ranks are past it at about one time, by another function than those of interest. */
static void together(void)
{
	char mine = 1, all[64];

	T(MPI_Allgather)(&mine, 1, MPI_CHAR, all, 1, MPI_CHAR, MPI_COMM_WORLD);
}

static void late_sender(void)
{
	if (rank == 1) {
		late();
		truth_message("MPI_Send", 0, 8);
		TIMED(T(MPI_Send)(buffer, 8, MPI_BYTE, 0, 7, MPI_COMM_WORLD));
	} else if (rank == 0) {
		TIMED(T(MPI_Recv)(buffer, 8, MPI_BYTE, 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
	}
}

/* Another message lies there when it comes, which the call does not take. */
static void late_sender_beside(void)
{
	if (rank == 1) {
		truth_message("MPI_Send", 0, 8);
		T(MPI_Send)(buffer, 8, MPI_BYTE, 0, 8, MPI_COMM_WORLD);
		late();
		truth_message("MPI_Send", 0, 8);
		TIMED(T(MPI_Send)(buffer, 8, MPI_BYTE, 0, 7, MPI_COMM_WORLD));
	} else if (rank == 0) {
		TIMED(T(MPI_Recv)(buffer, 8, MPI_BYTE, 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
		T(MPI_Recv)(buffer, 8, MPI_BYTE, 1, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	}
}

static void late_sender_wait(void)
{
	MPI_Request request;

	if (rank == 1) {
		late();
		truth_message("MPI_Send", 0, 8);
		TIMED(T(MPI_Send)(buffer, 8, MPI_BYTE, 0, 7, MPI_COMM_WORLD));
	} else if (rank == 0) {
		T(MPI_Irecv)(buffer, 8, MPI_BYTE, 1, 7, MPI_COMM_WORLD, &request);
		TIMED(T(MPI_Wait)(&request, MPI_STATUS_IGNORE));
	}
}

static void late_receiver(void)
{
	if (rank == 1) {
		late();
		TIMED(T(MPI_Recv)(buffer, LARGE, MPI_BYTE, 0, 7, MPI_COMM_WORLD,
				  MPI_STATUS_IGNORE));
	} else if (rank == 0) {
		truth_message("MPI_Send", 1, LARGE);
		TIMED(T(MPI_Send)(buffer, LARGE, MPI_BYTE, 1, 7, MPI_COMM_WORLD));
	}
}

/* The receive is there when the message is announced, and its rank computes. */
static void late_progress(void)
{
	MPI_Request request;

	if (rank == 1)
		T(MPI_Irecv)(buffer, LARGE, MPI_BYTE, 0, 7, MPI_COMM_WORLD, &request);
	together();
	if (rank == 1) {
		late();
		TIMED(T(MPI_Wait)(&request, MPI_STATUS_IGNORE));
	} else if (rank == 0) {
		truth_message("MPI_Send", 1, LARGE);
		TIMED(T(MPI_Send)(buffer, LARGE, MPI_BYTE, 1, 7, MPI_COMM_WORLD));
	}
}

/* More messages than there is room for: one of them waits until their receiver takes some. */
static void resources(void)
{
	uint64_t longest = 0, begin;

	if (rank == 1) {
		late();
		/* which is sent last */
		TIMED(T(MPI_Recv)(buffer, SMALL, MPI_BYTE, 0, 8, MPI_COMM_WORLD,
				  MPI_STATUS_IGNORE));
		for (int i = 0; i < FLOOD; i++)
			T(MPI_Recv)
		(buffer, SMALL, MPI_BYTE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	} else if (rank == 0) {
		for (int i = 0; i <= FLOOD; i++) {
			truth_message("MPI_Send", 1, SMALL);
			begin = now();
			lines[turn] = __LINE__ + 1;
			T(MPI_Send)(buffer, SMALL, MPI_BYTE, 1, 7 + i / FLOOD, MPI_COMM_WORLD);
			if (now() - begin <= longest)
				continue;
			longest = now() - begin;
			before[turn] = begin;
			after[turn] = begin + longest;
		}
	}
}

static void large_message(int tag)
{
	truth_message("MPI_Send", 1, LARGE);
	T(MPI_Send)(buffer, LARGE, MPI_BYTE, 1, tag, MPI_COMM_WORLD);
}

/* Behind these, a large message cannot even be announced; its receive has been there for long. */
static void resources_before(void)
{
	static MPI_Request requests[FLOOD];
	MPI_Request large;

	/* the first large message waits for a connection */
	if (rank == 0)
		large_message(9);
	if (rank == 1)
		T(MPI_Recv)(buffer, LARGE, MPI_BYTE, 0, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	if (rank == 1)
		T(MPI_Irecv)(buffer, LARGE, MPI_BYTE, 0, 8, MPI_COMM_WORLD, &large);
	together();
	if (rank == 1) {
		late();
		TIMED(T(MPI_Wait)(&large, MPI_STATUS_IGNORE));
		for (int i = 0; i < FLOOD; i++)
			T(MPI_Recv)
		(buffer, SMALL, MPI_BYTE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	} else if (rank == 0) {
		for (int i = 0; i < FLOOD; i++) {
			truth_message("MPI_Isend", 1, SMALL);
			T(MPI_Isend)
			(buffer, SMALL, MPI_BYTE, 1, 7, MPI_COMM_WORLD, &requests[i]);
		}
		truth_message("MPI_Send", 1, LARGE);
		TIMED(T(MPI_Send)(buffer, LARGE, MPI_BYTE, 1, 8, MPI_COMM_WORLD));
		T(MPI_Waitall)(FLOOD, requests, MPI_STATUSES_IGNORE);
	}
}

static void straggle(void)
{
	if (rank == size - 1)
		late();
}

static void barrier(void)
{
	straggle();
	TIMED(T(MPI_Barrier)(MPI_COMM_WORLD));
}

static void allreduce(void)
{
	int mine = rank, sum = 0;

	straggle();
	TIMED(T(MPI_Allreduce)(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
	EXPECT(sum == size * (size - 1) / 2);
}

static void late_broadcast(void)
{
	if (rank == 0)
		late();
	TIMED(T(MPI_Bcast)(buffer, 8, MPI_BYTE, 0, MPI_COMM_WORLD));
}

static void early_reduce(void)
{
	int mine = rank, sum = 0;

	straggle();
	TIMED(T(MPI_Reduce)(&mine, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD));
}

/* Rank 0 waits for rank 1, which waits for the last one, which computes. */
static void chain(void)
{
	const int last = size - 1;

	EXPECT(size > 2);
	if (rank == last) {
		late();
		truth_message("MPI_Send", 1, 8);
		TIMED(T(MPI_Send)(buffer, 8, MPI_BYTE, 1, 7, MPI_COMM_WORLD));
	} else if (rank == 1) {
		T(MPI_Recv)(buffer, 8, MPI_BYTE, last, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		truth_message("MPI_Send", 0, 8);
		TIMED(T(MPI_Send)(buffer, 8, MPI_BYTE, 0, 8, MPI_COMM_WORLD));
	} else if (rank == 0) {
		TIMED(T(MPI_Recv)(buffer, 8, MPI_BYTE, 1, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
	}
}

/* A late sender in the first round, late progress in the second one. */
static void mixed(void)
{
	if (turn)
		late_progress();
	else
		late_sender();
}

/* What is sent has been there for long when it is received. */
static void none(void)
{
	if (rank == 0) {
		truth_message("MPI_Send", 1, 8);
		TIMED(T(MPI_Send)(buffer, 8, MPI_BYTE, 1, 7, MPI_COMM_WORLD));
		late();
	} else if (rank == 1) {
		late();
		TIMED(T(MPI_Recv)(buffer, 8, MPI_BYTE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
	}
}

/* All ranks enter at about one time. */
static void balanced(void)
{
	int mine = rank, sum = 0;

	late();
	TIMED(T(MPI_Allreduce)(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
}

static const struct {
	const char *name;
	void (*run)(void);
} cases[] = {
	{ "late_sender", late_sender },
	{ "late_sender_beside", late_sender_beside },
	{ "late_sender_wait", late_sender_wait },
	{ "late_receiver", late_receiver },
	{ "late_progress", late_progress },
	{ "resources", resources },
	{ "resources_before", resources_before },
	{ "barrier", barrier },
	{ "allreduce", allreduce },
	{ "late_broadcast", late_broadcast },
	{ "early_reduce", early_reduce },
	{ "chain", chain },
	{ "mixed", mixed },
	{ "none", none },
	{ "balanced", balanced },
};

int main(int argc, char **argv)
{
	long ms = argc > 2 ? atol(argv[2]) : 200;
	size_t chosen = 0;

	job_start("mpi_waits", &argc, &argv);
	EXPECT(argc > 1 && size <= 64);
	delay = (struct timespec){ ms / 1000, ms % 1000 * 1000000 };
	while (chosen < sizeof(cases) / sizeof(*cases) && strcmp(cases[chosen].name, argv[1]))
		chosen++;
	EXPECT(chosen < sizeof(cases) / sizeof(*cases));
	while (argc > 3 && access(argv[3], F_OK))
		nanosleep(&(struct timespec){ .tv_nsec = 10000000 }, NULL);
	for (turn = 0; turn < ROUNDS; turn++) {
		together();
		cases[chosen].run();
	}
	snprintf(truth.tail, sizeof(truth.tail),
		 ",\"lines\":[%d,%d],\"before\":[%" PRIu64 ",%" PRIu64 "],\"after\":[%" PRIu64
		 ",%" PRIu64 "]",
		 lines[0], lines[1], before[0], before[1], after[0], after[1]);
	return job_end();
}
