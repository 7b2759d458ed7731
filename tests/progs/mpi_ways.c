// SPDX-License-Identifier: BSD-3-Clause
/*
 * mpi_ways LIBRARY: rank 0 sends to rank 1 from and to all memory that the CPU can reach, in
 * processes that have a GPU library (a stand-in): the host's, pinned and managed; eager and by
 * rendezvous. How many messages each pair has tells the pairs apart.
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

#include "mpi_common.h"

#define ROOM (2u << 20)
#define SORTS 3

static const int sizes[] = { 13, 4099, 65551, 1048583 };
static const int times[SORTS][SORTS] = { { 2, 3, 5 }, { 7, 11, 13 }, { 17, 19, 23 } };

static void *function(void *library, const char *name)
{
	void *address = dlsym(library, name);

	EXPECT(address);
	return address;
}

/* Where the library says that it made memory, there is some. */
static void *managed(void *library)
{
	int (*make)(void **, size_t, unsigned int) = function(library, "cuMemAllocManaged");
	void *address;

	EXPECT(!make(&address, ROOM, 1));
	EXPECT(mmap(address, ROOM, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) == address);
	return address;
}

static void *pinned(void *library)
{
	int (*pin)(void *, size_t, unsigned int) = function(library, "cuMemHostRegister_v2");
	void *memory = aligned_alloc(4096, ROOM);

	EXPECT(memory && !pin(memory, ROOM, 1));
	return memory;
}

static void pause_ms(long ms)
{
	nanosleep(&(struct timespec){ 0, ms * 1000000 }, NULL);
}

static void move(void *from, void *to, int bytes, int tag)
{
	if (rank == 0) {
		fill(from, (size_t)bytes, (unsigned int)tag);
		T(MPI_Send)(from, bytes, MPI_BYTE, 1, tag, MPI_COMM_WORLD);
	}
	if (rank == 1) {
		T(MPI_Recv)(to, bytes, MPI_BYTE, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		verify(to, (size_t)bytes, (unsigned int)tag);
	}
}

int main(int argc, char **argv)
{
	void *library = argc == 2 ? dlopen(argv[1], RTLD_NOW) : NULL;
	void *sorts[SORTS];
	int tag = 0;

	EXPECT(library);
	job_start("mpi_ways", &argc, &argv);
	/* the library is not where a tracer looks beforehand */
	pause_ms(300);
	sorts[0] = calloc(1, ROOM);
	sorts[1] = pinned(library);
	sorts[2] = managed(library);
	for (int from = 0; from < SORTS; from++)
		for (int to = 0; to < SORTS; to++)
			for (int i = 0; i < 4 * times[from][to]; i++)
				move(sorts[from], sorts[to], sizes[i % 4], tag++);
	/* nobody can look at a process that is over */
	pause_ms(200);
	return job_end();
}
