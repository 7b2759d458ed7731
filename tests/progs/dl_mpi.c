// SPDX-License-Identifier: BSD-3-Clause
/*
 * dl_mpi openmpi|mpich: linked with no MPI at all, loads one late and sends through it. The handles
 * are those of the MPI's own mpi.h: addresses of exported objects in Open MPI 4.1, integers in
 * MPICH 4.0. A 64-bit register holds either.
 */
#include <dlfcn.h>
#include <time.h>

#include "truth.h"

#define MESSAGES 47
#define BYTES 613

static void *library;

static void *symbol(const char *name)
{
	void *address = dlsym(library, name);

	if (!address) {
		fprintf(stderr, "%s\n", dlerror());
		exit(2);
	}
	return address;
}

typedef int init_fn(int *, char ***);
typedef int ask_fn(uintptr_t, int *);
typedef int send_fn(const void *, int, uintptr_t, int, int, uintptr_t);
typedef int recv_fn(void *, int, uintptr_t, int, int, uintptr_t, void *);
typedef int end_fn(void);

static void bounce(uintptr_t world, uintptr_t byte_type, int rank)
{
	send_fn *send = (send_fn *)symbol("MPI_Send");
	recv_fn *receive = (recv_fn *)symbol("MPI_Recv");
	char buffer[BYTES] = { 0 }, status[64];
	int i;

	for (i = 0; i < MESSAGES; i++) {
		if (i % 2 == rank) {
			truth_call("MPI_Send");
			truth_message("MPI_Send", !rank, BYTES);
			send(buffer, BYTES, byte_type, !rank, i, world);
		} else {
			truth_call("MPI_Recv");
			receive(buffer, BYTES, byte_type, !rank, i, world, status);
		}
	}
}

int main(int argc, char **argv)
{
	bool open_mpi = argc < 2 || !strcmp(argv[1], "openmpi");
	struct timespec pause = { .tv_nsec = 200000000 };
	uintptr_t world = 0x44000000, byte_type = 0x4c00010d;
	int rank, size;

	nanosleep(&pause, NULL);
	library = dlopen(open_mpi ? "libmpi.so.40" : "libmpich.so.12", RTLD_NOW | RTLD_GLOBAL);
	if (!library) {
		fprintf(stderr, "%s\n", dlerror());
		return 2;
	}
	if (open_mpi) {
		world = (uintptr_t)symbol("ompi_mpi_comm_world");
		byte_type = (uintptr_t)symbol("ompi_mpi_byte");
	}
	truth_call("MPI_Init");
	((init_fn *)symbol("MPI_Init"))(&argc, &argv);
	((ask_fn *)symbol("MPI_Comm_rank"))(world, &rank);
	((ask_fn *)symbol("MPI_Comm_size"))(world, &size);
	truth_begin("dl_mpi", rank, size);
	bounce(world, byte_type, rank);
	truth_call("MPI_Finalize");
	truth_end();
	return ((end_fn *)symbol("MPI_Finalize"))();
}
