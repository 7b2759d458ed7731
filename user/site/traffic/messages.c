// SPDX-License-Identifier: BSD-3-Clause
/* Messages of steps: between two ranks, and collectives. */
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "site/traffic/traffic.h"

/* ---- waiting ---- */

/* More ranks than cores have to take turns, which not every MPI does while it waits. */

uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ull + now.tv_nsec;
}

#ifdef OPEN_MPI

/* MPI_Wait yields after share_cores(); polling here would add an MPI call each time. */
void wait_for(MPI_Request *request)
{
	MPI_Wait(request, MPI_STATUS_IGNORE);
}

void finalize(void)
{
	MPI_Finalize();
}

#else

#define PATIENCE 300 /* polls */
#define NAP_US 20

/* Each poll is a traced call: a rank that waits long must not fill the rings with them. */
void wait_for(MPI_Request *request)
{
	int done = 0;

	for (unsigned int polls = 0; !done; polls++) {
		MPI_Test(request, &done, MPI_STATUS_IGNORE);
		if (!done && polls >= PATIENCE)
			usleep(NAP_US);
	}
}

#define FINALIZE_S 4

static void leave(int signal)
{
	static const char said[] = "ucxbpf-traffic: MPI_Finalize does not end; left without it\n";

	(void)signal;
	_exit(write(STDERR_FILENO, said, sizeof(said) - 1) < 0);
}

/*
 * With MPICH 4.0.2 over UCX 1.13.1 and tcp, MPI_Finalize hung in 14 of 35 runs, untraced as well:
 * one rank waits for the others and no longer answers ranks that still flush their endpoints.
 */
void finalize(void)
{
	signal(SIGALRM, leave);
	alarm(FINALIZE_S);
	MPI_Finalize();
	alarm(0);
}

#endif

void barrier(void)
{
	MPI_Request request;

	MPI_Ibarrier(MPI_COMM_WORLD, &request);
	wait_for(&request);
}

/* ---- pairs ---- */

/*
 * Messages between two ranks. They go by MPI_Isend (persistent ones by MPI_Start), and nothing else
 * of ours with content does, so that a trace can be compared with the plan: answers are empty, and
 * what the receiver has to say goes by MPI_Issend.
 */

enum { TAG_DATA, TAG_ANSWER, TAG_RESULT };

/* A step from one side. */
struct side {
	struct rank *rank;
	const struct plan_work *work;
	int peer; /* in MPI_COMM_WORLD */
	enum plan_memory own, theirs; /* of the send buffer, of the receive buffer */
	void *send, *receive;
	uint64_t seed; /* of sent content; received content has the peer's */
	uint64_t peer_seed;
	uint64_t errors;
	MPI_Request sending, receiving; /* persistent ones */
};

static uint64_t seed_of(const struct rank *rank, const struct plan_step *step, int from)
{
	return ((uint64_t)from << 40) ^ ((uint64_t)rank->round << 24) ^
	       ((uint64_t)step->sub << 16) ^ (uint64_t)(step->work->size << 1) ^ step->work->op;
}

static uint64_t stamp_of(uint64_t seed, uint32_t i)
{
	return ~seed - i;
}

/*
 * Content in GPU memory, or from or to it, is stamped and checked only in rounds that are not
 * timed.
 */
static bool stamps(const struct side *side, uint32_t i)
{
	bool host = side->own == PLAN_HOST && side->theirs == PLAN_HOST;

	return host || !i || i == side->work->count - 1;
}

static void prepare(const struct side *side, uint32_t i)
{
	if (stamps(side, i))
		stamp(side->own, side->send, side->work->size, stamp_of(side->seed, i));
}

/* Checks a message before the next one may come: the first one whole, of others both ends. */
static bool arrived_well(const struct side *side, uint32_t i)
{
	if (!stamps(side, i))
		return true;
	if (!i)
		return filled(side->theirs, side->receive, side->work->size, side->peer_seed,
			      stamp_of(side->peer_seed, i));
	return stamped(side->theirs, side->receive, side->work->size, stamp_of(side->peer_seed, i));
}

static bool last_is_whole(const struct side *side)
{
	return filled(side->theirs, side->receive, side->work->size, side->peer_seed,
		      stamp_of(side->peer_seed, side->work->count - 1));
}

static void start_send(struct side *side, MPI_Request *request)
{
	if (side->work->op == PLAN_PERSISTENT) {
		MPI_Start(&side->sending);
		*request = side->sending;
	} else {
		MPI_Isend(side->send, side->work->size, MPI_BYTE, side->peer, TAG_DATA,
			  MPI_COMM_WORLD, request);
	}
}

static void start_receive(struct side *side, MPI_Request *request)
{
	if (side->work->op == PLAN_PERSISTENT) {
		MPI_Start(&side->receiving);
		*request = side->receiving;
	} else {
		MPI_Irecv(side->receive, side->work->size, MPI_BYTE, side->peer, TAG_DATA,
			  MPI_COMM_WORLD, request);
	}
}

static void send_all(struct side *side)
{
	MPI_Request request, answer;

	for (uint32_t i = 0; i < side->work->count; i++) {
		uint64_t begun;

		prepare(side, i);
		MPI_Irecv(NULL, 0, MPI_BYTE, side->peer, TAG_ANSWER, MPI_COMM_WORLD, &answer);
		begun = now_ns();
		start_send(side, &request);
		wait_for(&request);
		wait_for(&answer);
		side->rank->times[i] = now_ns() - begun;
	}
}

static void receive_all(struct side *side)
{
	MPI_Request request, answer;

	start_receive(side, &request);
	for (uint32_t i = 0; i < side->work->count; i++) {
		wait_for(&request);
		side->errors += !arrived_well(side, i);
		/* the next one must find its receive in place */
		if (i + 1 < side->work->count)
			start_receive(side, &request);
		MPI_Isend(NULL, 0, MPI_BYTE, side->peer, TAG_ANSWER, MPI_COMM_WORLD, &answer);
		wait_for(&answer);
	}
	if (side->work->count > 1)
		side->errors += !last_is_whole(side);
}

/* Each is the other one's answer. */
static void exchange_all(struct side *side)
{
	MPI_Request sent, received;

	for (uint32_t i = 0; i < side->work->count; i++) {
		uint64_t begun;

		prepare(side, i);
		begun = now_ns();
		start_receive(side, &received);
		start_send(side, &sent);
		wait_for(&sent);
		wait_for(&received);
		side->rank->times[i] = now_ns() - begun;
		side->errors += !arrived_well(side, i);
	}
	if (side->work->count > 1)
		side->errors += !last_is_whole(side);
}

/* Exchanges the error counts of both ends. */
static void send_errors(const struct side *side)
{
	MPI_Request request;

	MPI_Issend(&side->errors, 1, MPI_UINT64_T, side->peer, TAG_RESULT, MPI_COMM_WORLD,
		   &request);
	wait_for(&request);
}

static uint64_t receive_errors(const struct side *side)
{
	MPI_Request request;
	uint64_t errors;

	MPI_Irecv(&errors, 1, MPI_UINT64_T, side->peer, TAG_RESULT, MPI_COMM_WORLD, &request);
	wait_for(&request);
	return errors;
}

static void make_persistent(struct side *side, bool sends)
{
	if (side->work->op != PLAN_PERSISTENT)
		return;
	if (sends)
		MPI_Send_init(side->send, side->work->size, MPI_BYTE, side->peer, TAG_DATA,
			      MPI_COMM_WORLD, &side->sending);
	else
		MPI_Recv_init(side->receive, side->work->size, MPI_BYTE, side->peer, TAG_DATA,
			      MPI_COMM_WORLD, &side->receiving);
}

static void end_persistent(struct side *side, bool sends)
{
	if (side->work->op == PLAN_PERSISTENT)
		MPI_Request_free(sends ? &side->sending : &side->receiving);
}

static struct side side_of(struct rank *rank, const struct plan_step *step)
{
	const struct plan_work *work = step->work;
	struct side side = {
		.rank = rank,
		.work = work,
		.peer = step->sends ? world_rank(rank, step->dst, step->dst_local)
				    : world_rank(rank, step->src, step->src_local),
		.own = work->src_mem,
		.theirs = work->dst_mem,
	};

	side.send = rank->memory[side.own].send;
	side.receive = rank->memory[side.theirs].receive;
	side.seed = seed_of(rank, step, rank->rank);
	side.peer_seed = seed_of(rank, step, side.peer);
	return side;
}

static void do_bidirectional(struct side *side, const struct plan_step *step)
{
	uint64_t errors;

	fill(side->own, side->send, side->work->size, side->seed);
	exchange_all(side);
	/* one of them asks first */
	if (side->rank->rank < side->peer) {
		send_errors(side);
		errors = receive_errors(side);
	} else {
		errors = receive_errors(side);
		send_errors(side);
	}
	book_transfer(side->rank, step, errors, side->work->count);
}

void do_pair(struct rank *rank, const struct plan_step *step)
{
	struct side side = side_of(rank, step);

	/* the peer did not start: its missing ledger shows that */
	if (side.peer < 0)
		return;
	book_now(rank, step);
	if (step->work->op == PLAN_BIDIRECTIONAL) {
		do_bidirectional(&side, step);
		return;
	}
	make_persistent(&side, step->sends);
	if (step->sends) {
		fill(side.own, side.send, side.work->size, side.seed);
		send_all(&side);
		book_transfer(rank, step, receive_errors(&side), side.work->count);
	} else {
		receive_all(&side);
		send_errors(&side);
	}
	end_persistent(&side, step->sends);
}

/* ---- collectives ---- */

/* Collectives of all ranks, by the calls that applications use. */

static uint64_t world_seed(int from, int to)
{
	return ((uint64_t)from << 40) ^ ((uint64_t)to << 16);
}

/* A block for each rank, a different one for each pair. */
static uint64_t alltoall(struct rank *rank, const struct plan_work *work, uint32_t i)
{
	const struct traffic_memory *memory = &rank->memory[work->src_mem];
	uint64_t begun, errors = 0;
	char *send = memory->send, *receive = memory->receive;

	for (int to = 0; !i && to < rank->size; to++)
		fill(work->src_mem, send + to * work->size, work->size, world_seed(rank->rank, to));
	begun = now_ns();
	MPI_Alltoall(send, work->size, MPI_BYTE, receive, work->size, MPI_BYTE, MPI_COMM_WORLD);
	rank->times[i] = now_ns() - begun;
	for (int from = 0; !i && from < rank->size; from++) {
		uint64_t seed = world_seed(from, rank->rank);

		errors +=
			!filled(work->src_mem, receive + from * work->size, work->size, seed, seed);
	}
	return errors;
}

/* All ranks send the same, and get that multiplied by their number. */
static uint64_t allreduce(struct rank *rank, const struct plan_work *work, uint32_t i)
{
	const struct traffic_memory *memory = &rank->memory[work->src_mem];
	uint64_t begun;

	if (!i)
		fill(work->src_mem, memory->send, work->size, 1);
	begun = now_ns();
	MPI_Allreduce(memory->send, memory->receive, work->size / 8, MPI_UINT64_T, MPI_SUM,
		      MPI_COMM_WORLD);
	rank->times[i] = now_ns() - begun;
	return i ? 0 : !multiplied(work->src_mem, memory->receive, work->size, 1, rank->size);
}

void do_world(struct rank *rank, const struct plan_step *step)
{
	const struct plan_work *work = step->work;
	uint64_t errors = 0;

	book_now(rank, step);
	barrier();
	for (uint32_t i = 0; i < work->count; i++)
		errors += work->op == PLAN_ALLTOALL ? alltoall(rank, work, i)
						    : allreduce(rank, work, i);
	book_transfer(rank, step, errors, work->count);
}
