// SPDX-License-Identifier: BSD-3-Clause
/*
 * Point-to-point calls in ways that are hard to tell from their operations' stacks, each for long
 * enough that probes go and come meanwhile. Argument: which way.
 */
#include "mpi_common.h"

#include <alloca.h>
#include <dlfcn.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#ifdef OPEN_MPI
#include <mpi-ext.h>
#endif

#define BYTES 64
#define SECONDS 0.5

static char buffer[BYTES];
static MPI_Comm twin; /* of MPI_COMM_WORLD */

static double now(void)
{
	struct timespec at;

	clock_gettime(CLOCK_MONOTONIC, &at);
	return at.tv_sec + at.tv_nsec / 1e9;
}

/* In tail position: the caller's frame is gone by the time of the call. */
static __attribute__((noinline)) int send_last(int tag)
{
	truth_message("MPI_Send", !rank, BYTES);
	return T(MPI_Send)(buffer, BYTES, MPI_BYTE, !rank, tag, MPI_COMM_WORLD);
}

static void receive(int tag)
{
	T(MPI_Recv)(buffer, BYTES, MPI_BYTE, !rank, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void exchange(int tag)
{
	if (rank == 0) {
		send_last(tag);
		receive(tag);
	} else {
		receive(tag);
		send_last(tag);
	}
}

/* Each depth has another stack pointer, and alloca() moves it once more. */
static __attribute__((noinline)) void deep(int depth)
{
	volatile char *room = alloca(16 + depth * 48);

	room[0] = 1;
	if (depth)
		deep(depth - 1);
	else
		exchange(depth);
	room[1] = room[0];
}

static void depths(int round)
{
	deep(round % 23);
}

/* Calls without an operation among those with one: nobody at the other end. */
static void nobody(int round)
{
	exchange(0);
	if (round % 2)
		T(MPI_Send)(buffer, BYTES, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
	T(MPI_Recv)(buffer, BYTES, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* Operations that MPI starts inside of MPI_Recv and MPI_Send, for another call. */
static void collective(int round)
{
	MPI_Request request;
	int mine = round, sum = 0;

	T(MPI_Iallreduce)(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
	exchange(round % 5);
	exchange(round % 3);
	T(MPI_Wait)(&request, MPI_STATUS_IGNORE);
	EXPECT(sum == 2 * round);
}

/* Functions that keep their probes, beside those that do not; two communicators. */
static void mixed(int round)
{
	MPI_Request requests[2];
	char in[BYTES];

	T(MPI_Irecv)(in, BYTES, MPI_BYTE, !rank, 1, twin, &requests[0]);
	truth_message("MPI_Isend", !rank, BYTES);
	T(MPI_Isend)(buffer, BYTES, MPI_BYTE, !rank, 1, twin, &requests[1]);
	T(MPI_Waitall)(2, requests, MPI_STATUSES_IGNORE);
	truth_message("MPI_Sendrecv", !rank, BYTES);
	T(MPI_Sendrecv)
	(buffer, BYTES, MPI_BYTE, !rank, 2, in, BYTES, MPI_BYTE, !rank, 2, MPI_COMM_WORLD,
	 MPI_STATUS_IGNORE);
	if (round % 2)
		exchange(3);
}

static void on_signal(int number)
{
	(void)number;
	exchange(4);
}

/* From a handler on a stack of its own, outside of MPI. */
static void signalled(int round)
{
	if (round % 2)
		raise(SIGUSR1);
	else
		exchange(5);
}

static void on_another_stack(void)
{
	stack_t stack = { .ss_sp = malloc(1 << 20), .ss_size = 1 << 20 };
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_ONSTACK };

	sigaltstack(&stack, NULL);
	sigaction(SIGUSR1, &action, NULL);
}

/* Two stacks in turn, on one thread, as runtimes of user-level threads have them. */
static ucontext_t here, there;

static void fiber(void)
{
	for (;;) {
		exchange(2);
		swapcontext(&there, &here);
	}
}

static void fibers(int round)
{
	static char stack[1 << 18];

	if (!round) {
		getcontext(&there);
		there.uc_stack = (stack_t){ .ss_sp = stack, .ss_size = sizeof(stack) };
		makecontext(&there, fiber, 0);
	}
	exchange(1);
	swapcontext(&here, &there);
}

/* While probes are away, another MPI library is loaded and unloaded, and children come and go. */
static void remaps(int round)
{
	void *library;
	pid_t child;

	exchange(round % 3);
	if (round % 2048 != 2047)
		return;
	library = dlopen("libmpich.so.12", RTLD_LAZY | RTLD_LOCAL);
	if (!library)
		library = dlopen("libmpi.so.40", RTLD_LAZY | RTLD_LOCAL);
	EXPECT(library);
	exchange(3);
	child = fork();
	if (!child)
		_exit(0);
	EXPECT(waitpid(child, NULL, 0) == child);
	exchange(4);
	dlclose(library);
}

/* Calls without an operation begin when probes may be away already. */
static void later(int round)
{
	static double from;

	from = from > 0 ? from : now();
	exchange(0);
	if (now() - from > SECONDS / 2 && round % 2)
		T(MPI_Send)(buffer, BYTES, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
}

struct thread {
	pthread_t id;
	int tag;
	double until;
};

static void *run_thread(void *argument)
{
	struct thread *thread = argument;
	char in[BYTES];
	int go = 1;

	for (int round = 0; go; round++) {
		go = now() < thread->until;
		if (rank == 0) {
			truth_message("MPI_Send", 1, sizeof(go));
			T(MPI_Send)(&go, 1, MPI_INT, 1, thread->tag, MPI_COMM_WORLD);
			T(MPI_Recv)
			(in, BYTES, MPI_BYTE, 1, thread->tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		} else {
			T(MPI_Recv)
			(&go, 1, MPI_INT, 0, thread->tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			truth_message("MPI_Send", 0, BYTES);
			T(MPI_Send)(in, BYTES, MPI_BYTE, 0, thread->tag, MPI_COMM_WORLD);
		}
	}
	return NULL;
}

#define THREADS 3

static void run_threads(void)
{
	struct thread threads[THREADS];

	for (int i = 0; i < THREADS; i++) {
		threads[i] = (struct thread){ .tag = 10 + i, .until = now() + SECONDS };
		pthread_create(&threads[i].id, NULL, run_thread, &threads[i]);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i].id, NULL);
}

static char large[1 << 20];

static void exchange_sized(int bytes)
{
	for (int turn = 0; turn < 2; turn++) {
		if (rank == turn) {
			truth_message("MPI_Send", !rank, bytes);
			T(MPI_Send)(large, bytes, MPI_BYTE, !rank, 9, MPI_COMM_WORLD);
		} else {
			T(MPI_Recv)
			(large, bytes, MPI_BYTE, !rank, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		}
	}
}

/* Short ones and copied ones in turn. */
static void sizes(int round)
{
	static const int bytes[] = { 0, 1, 8, 64, 90, 93, 100, 200, 1000, 4000 };

	exchange_sized(bytes[round * 7 % 10]);
}

/* Short ones, and in the end some by rendezvous. */
static void rendezvous(int round)
{
	static double begin;
	int large_too;

	begin = begin > 0 ? begin : now();
	exchange_sized(8);
	if (round % 64)
		return;
	large_too = now() - begin > SECONDS * 0.8;
	T(MPI_Bcast)(&large_too, 1, MPI_INT, 0, MPI_COMM_WORLD);
	if (large_too)
		exchange_sized(sizeof(large));
}

static void run_rounds(void (*way)(int round))
{
	double until = now() + SECONDS;
	int go = 1;

	for (int round = 0; go; round++) {
		way(round);
		if (round % 64 != 63)
			continue;
		go = now() < until;
		T(MPI_Bcast)(&go, 1, MPI_INT, 0, MPI_COMM_WORLD);
	}
}

#define STALLED 400 /* more than a FIFO has room for */

/*
 * Sends that were refused wait until their receiver makes progress, which it does so late that
 * probes have gone meanwhile: it sends, and such messages prove where they go.
 */
static void stall(void)
{
	static char each[STALLED][8];
	MPI_Request requests[STALLED];
	double until;
	int go = 1;

	if (rank == 0) {
		for (int i = 0; i < STALLED; i++) {
			truth_message("MPI_Isend", 1, 8);
			T(MPI_Isend)(each[i], 8, MPI_BYTE, 1, 8, MPI_COMM_WORLD, &requests[i]);
		}
		while (go)
			T(MPI_Recv)(&go, 1, MPI_INT, 1, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		T(MPI_Waitall)(STALLED, requests, MPI_STATUSES_IGNORE);
		return;
	}
	until = now() + SECONDS;
	while (go) {
		usleep(1000);
		go = now() < until;
		truth_message("MPI_Send", 0, sizeof(go));
		T(MPI_Send)(&go, 1, MPI_INT, 0, 9, MPI_COMM_WORLD);
	}
	for (int i = 0; i < STALLED; i++)
		T(MPI_Recv)(each[i], 8, MPI_BYTE, 0, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* Once they have left, probes may go: after 0.3 s at the earliest, more on a busy machine. */
static void run_stalled(void)
{
	stall();
	for (int i = 0; i < 3; i++)
		run_rounds(depths);
}

#ifdef OPEN_MPI
#define ALLREDUCE_INIT T(MPIX_Allreduce_init)
#else
#define ALLREDUCE_INIT T(MPI_Allreduce_init)
#endif

static void start_message(int round)
{
	MPI_Request request;

	T(MPI_Send_init)(buffer, BYTES, MPI_BYTE, !rank, round % 3, MPI_COMM_WORLD, &request);
	T(MPI_Start)(&request);
	receive(round % 3);
	T(MPI_Wait)(&request, MPI_STATUS_IGNORE);
	T(MPI_Request_free)(&request);
}

static void start_collective(int round)
{
	MPI_Request request;
	int sum = 0;

	ALLREDUCE_INIT(&round, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
	T(MPI_Start)(&request);
	T(MPI_Wait)(&request, MPI_STATUS_IGNORE);
	T(MPI_Request_free)(&request);
	EXPECT(sum == 2 * round);
}

/* One operation a start at first, then several, which are MPI's own. */
static void run_started(void)
{
	snprintf(truth.tail, sizeof(truth.tail), ",\"own\":[\"MPI_Start\"]");
	run_rounds(start_message);
	run_rounds(start_collective);
}

static const struct {
	const char *name;
	void (*round)(int round); /* or: */
	void (*run)(void);
} ways[] = {
	{ "depths", depths },
	{ "nobody", nobody },
	{ "collective", collective },
	{ "mixed", mixed },
	{ "signal", signalled },
	{ "later", later },
	{ "fibers", fibers },
	{ "remaps", remaps },
	{ "threads", NULL, run_threads },
	{ "sizes", sizes },
	{ "rendezvous", rendezvous },
	{ "stalled", NULL, run_stalled },
	{ "started", NULL, run_started },
};

int main(int argc, char **argv)
{
	int provided;

	T(MPI_Init_thread)(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	job_ranks("mpi_derive");
	EXPECT(argc > 1 && provided == MPI_THREAD_MULTIPLE);
	T(MPI_Comm_dup)(MPI_COMM_WORLD, &twin);
	on_another_stack();
	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
		if (strcmp(argv[1], ways[i].name) != 0)
			continue;
		if (ways[i].round)
			run_rounds(ways[i].round);
		else
			ways[i].run();
	}
	return job_end();
}
