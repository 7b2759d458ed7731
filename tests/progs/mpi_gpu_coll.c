// SPDX-License-Identifier: BSD-3-Clause
/*
 * mpi_gpu_coll LIBRARY bcast|allreduce: a collective of buffers that a GPU's library (a stand-in)
 * says it has made, over memory of the host: UCX has no support of GPUs here and takes them for
 * that. A broadcast moves the buffers alone, a reduction needs memory in between.
 */
#include <dlfcn.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "mpi_common.h"

#define COUNT (1 << 17)
#define BYTES (COUNT * sizeof(double))
#define TIMES 4

static void *function(void *library, const char *name)
{
	void *address = dlsym(library, name);

	EXPECT(address);
	return address;
}

/* Where the library says that it made memory, there is some: for two buffers. */
static double *made(void *library)
{
	int (*make)(void **, size_t) = function(library, "cuMemAlloc_v2");
	void *address;

	EXPECT(!make(&address, 2 * BYTES));
	EXPECT(mmap(address, 2 * BYTES, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) == address);
	return address;
}

int main(int argc, char **argv)
{
	void *library = argc == 3 ? dlopen(argv[1], RTLD_NOW) : NULL;
	double *from, *to;

	EXPECT(library);
	job_start("mpi_gpu_coll", &argc, &argv);
	/* the library is not where a tracer looks beforehand */
	nanosleep(&(struct timespec){ 0, 300000000 }, NULL);
	from = made(library);
	to = from + COUNT;
	for (int i = 0; i < COUNT; i++)
		from[i] = rank + i;
	for (int i = 0; i < TIMES; i++) {
		if (!strcmp(argv[2], "bcast"))
			T(MPI_Bcast)(from, COUNT, MPI_DOUBLE, 0, MPI_COMM_WORLD);
		else
			T(MPI_Allreduce)(from, to, COUNT, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	}
	return job_end();
}
