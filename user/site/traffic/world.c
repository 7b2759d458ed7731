// SPDX-License-Identifier: BSD-3-Clause
/* Collectives of all ranks, by the calls that applications use. */
#include "site/traffic/traffic.h"

static uint64_t seed_of(int from, int to)
{
	return ((uint64_t)from << 40) ^ ((uint64_t)to << 16);
}

/* A block for each rank, a different one for each pair. */
static uint64_t alltoall(struct rank *rank, const struct plan_work *work, uint32_t i)
{
	const struct memory *memory = &rank->memory[work->src_mem];
	uint64_t begun, errors = 0;
	char *send = memory->send, *receive = memory->receive;

	for (int to = 0; !i && to < rank->size; to++)
		fill(work->src_mem, send + to * work->size, work->size, seed_of(rank->rank, to));
	begun = now_ns();
	MPI_Alltoall(send, work->size, MPI_BYTE, receive, work->size, MPI_BYTE, MPI_COMM_WORLD);
	rank->times[i] = now_ns() - begun;
	for (int from = 0; !i && from < rank->size; from++) {
		uint64_t seed = seed_of(from, rank->rank);

		errors +=
			!filled(work->src_mem, receive + from * work->size, work->size, seed, seed);
	}
	return errors;
}

/* All send the same, and get so many times of it as there are ranks. */
static uint64_t allreduce(struct rank *rank, const struct plan_work *work, uint32_t i)
{
	const struct memory *memory = &rank->memory[work->src_mem];
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
