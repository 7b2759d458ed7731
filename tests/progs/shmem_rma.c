// SPDX-License-Identifier: BSD-3-Clause
/* OpenSHMEM: puts, gets, single values and atomics to the next PE, counted as UCP operations. */
#include <shmem.h>

#include "truth.h"

#define ROUNDS 25
#define LONGS 1024

static long remote[LONGS], local[LONGS];

static void put_and_get(int next)
{
	truth_op("put", sizeof(local));
	shmem_long_put(remote, local, LONGS, next);
	truth_op("put", 8);
	shmem_putmem(remote, local, 8, next);
	truth_op("put", sizeof(long));
	shmem_long_p(remote, 1, next);
	shmem_quiet();
	truth_op("get", sizeof(local));
	shmem_long_get(local, remote, LONGS, next);
}

static void add(int next)
{
	truth_op("atomic", sizeof(long));
	shmem_long_atomic_add(remote, 1, next);
	truth_op("atomic", sizeof(long));
	shmem_long_atomic_fetch_add(remote, 1, next);
	shmem_quiet();
}

int main(void)
{
	int me, next;

	shmem_init();
	me = shmem_my_pe();
	next = (me + 1) % shmem_n_pes();
	truth_begin("shmem_rma", me, shmem_n_pes());
	for (int round = 0; round < ROUNDS; round++) {
		put_and_get(next);
		add(next);
	}
	shmem_barrier_all();
	truth_end();
	shmem_finalize();
	return 0;
}
