// SPDX-License-Identifier: BSD-3-Clause
/* One-sided: put, get, accumulate, fetch; fence, lock, and post-start-complete-wait epochs. */
#include "mpi_common.h"

#define WORDS 4099
#define PUTS 23
#define GETS 19
#define FETCHES 13

static MPI_Win window;
static long *memory;

static void fence_epoch(int peer)
{
	long local[PUTS];
	int i;

	T(MPI_Win_fence)(0, window);
	for (i = 0; i < PUTS; i++) {
		local[i] = 1000 * rank + i;
		T(MPI_Put)(&local[i], 1, MPI_LONG, peer, i, 1, MPI_LONG, window);
	}
	T(MPI_Win_fence)(0, window);
	for (i = 0; i < PUTS; i++)
		EXPECT(memory[i] == 1000 * peer + i);
	truth_data(memory, PUTS * sizeof(*memory));
	T(MPI_Barrier)(MPI_COMM_WORLD);
}

static void lock_epoch(int peer)
{
	long *local = calloc(WORDS, sizeof(*local));
	int i;

	T(MPI_Win_lock)(MPI_LOCK_SHARED, peer, 0, window);
	for (i = 0; i < GETS; i++) {
		T(MPI_Get)(local, WORDS, MPI_LONG, peer, 0, WORDS, MPI_LONG, window);
		T(MPI_Win_flush)(peer, window);
		EXPECT(local[PUTS - 1] == 1000 * rank + PUTS - 1);
	}
	T(MPI_Win_unlock)(peer, window);
	T(MPI_Barrier)(MPI_COMM_WORLD);
	free(local);
}

static void atomic_epoch(int peer)
{
	long one = 1, old, two[2] = { 2, 3 };
	int i;

	T(MPI_Win_lock_all)(0, window);
	for (i = 0; i < FETCHES; i++) {
		T(MPI_Fetch_and_op)(&one, &old, MPI_LONG, peer, WORDS - 1, MPI_SUM, window);
		T(MPI_Win_flush)(peer, window);
		EXPECT(old == i);
	}
	T(MPI_Accumulate)(two, 2, MPI_LONG, peer, WORDS - 3, 2, MPI_LONG, MPI_SUM, window);
	T(MPI_Win_flush_all)(window);
	T(MPI_Compare_and_swap)(&one, &two[0], &old, MPI_LONG, peer, WORDS - 3, window);
	T(MPI_Win_flush_local)(peer, window);
	T(MPI_Win_unlock_all)(window);
	EXPECT(old == 2);
	T(MPI_Barrier)(MPI_COMM_WORLD);
	EXPECT(memory[WORDS - 3] == 1 && memory[WORDS - 2] == 3);
}

static void pscw_epoch(int peer)
{
	long value = 77 + rank;
	MPI_Group world, other;

	MPI_Comm_group(MPI_COMM_WORLD, &world);
	MPI_Group_incl(world, 1, &peer, &other);
	T(MPI_Win_post)(other, 0, window);
	T(MPI_Win_start)(other, 0, window);
	T(MPI_Put)(&value, 1, MPI_LONG, peer, 0, 1, MPI_LONG, window);
	T(MPI_Win_complete)(window);
	T(MPI_Win_wait)(window);
	EXPECT(memory[0] == 77 + peer);
	MPI_Group_free(&world);
	MPI_Group_free(&other);
}

int main(int argc, char **argv)
{
	int peer;

	job_start("mpi_rma", &argc, &argv);
	snprintf(truth.tail, sizeof(truth.tail), ",\"one_sided\":true");
	EXPECT(size == 2);
	peer = !rank;
	/* Not MPI_Win_allocate: MPICH 4.0.2 on one node writes 8 bytes before the address asked
	 * for. */
	memory = malloc(WORDS * sizeof(long));
	memset(memory, 0, WORDS * sizeof(long));
	T(MPI_Win_create)
	(memory, WORDS * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &window);
	T(MPI_Barrier)(MPI_COMM_WORLD);
	fence_epoch(peer);
	lock_epoch(peer);
	atomic_epoch(peer);
	pscw_epoch(peer);
	T(MPI_Win_free)(&window);
	free(memory);
	return job_end();
}
