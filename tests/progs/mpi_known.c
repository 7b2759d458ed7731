// SPDX-License-Identifier: BSD-3-Clause
/*
 * mpi_known LIBRARY [GO]: sends from memory that no call of a GPU library made, in a process that
 * has such a library: host memory of all sorts, and addresses without access, as those of a GPU
 * are, from which nothing is sent but empty messages. UCX is told of two GPUs, and of a part of
 * these addresses that it is the second one's.
 *
 * GO: all ranks say "ready" in $TRUTH/RANK.ready and wait for that file before they send.
 */
#include <dlfcn.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "mpi_common.h"

#define BYTES 1000
#define AREA (2u << 20)
#define UCX_CUDA 1

/* ucs/sys/topo/base/topo.h */
struct bus_id {
	uint16_t domain;
	uint8_t bus, slot, function;
};

static void *ucs;

static void *function(const char *name)
{
	void *address = dlsym(ucs, name);

	EXPECT(address);
	return address;
}

static uint8_t tell_gpu(uint8_t bus, const char *name)
{
	int (*find)(const struct bus_id *, uint8_t *) = function("ucs_topo_find_device_by_bus_id");
	int (*set)(uint8_t, const char *, unsigned int) = function("ucs_topo_sys_device_set_name");
	const struct bus_id id = { 0, bus, 0, 0 };
	uint8_t device;

	EXPECT(!find(&id, &device));
	EXPECT(!set(device, name, 10));
	return device;
}

static void tell_memory(void *address, size_t size, uint8_t device)
{
	int (*lookup)(const void *, size_t, void *) = function("ucs_memtype_cache_lookup");
	void (*update)(const void *, size_t, int, uint8_t) = function("ucs_memtype_cache_update");
	uint64_t info[3];

	lookup(address, 1, info);
	update(address, size, UCX_CUDA, device);
}

static void *map(int protection, int flags)
{
	void *memory = mmap(NULL, AREA, protection, flags | MAP_ANONYMOUS, -1, 0);

	EXPECT(memory != MAP_FAILED);
	return memory;
}

/* Every rank to the next one. */
static void send_all(int n, void *buffer, int bytes)
{
	char got[BYTES];

	for (int i = 0; i < n; i++) {
		if (rank % 2 == 0) {
			T(MPI_Send)(buffer, bytes, MPI_BYTE, rank ^ 1, i, MPI_COMM_WORLD);
			T(MPI_Recv)
			(got, BYTES, MPI_BYTE, rank ^ 1, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		} else {
			T(MPI_Recv)
			(got, BYTES, MPI_BYTE, rank ^ 1, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			T(MPI_Send)(buffer, bytes, MPI_BYTE, rank ^ 1, i, MPI_COMM_WORLD);
		}
	}
}

/* Gone before anybody has looked. */
static void send_and_unmap(int n)
{
	for (int i = 0; i < n; i++) {
		char *memory = map(PROT_READ | PROT_WRITE, MAP_PRIVATE);

		send_all(1, memory, BYTES);
		munmap(memory, AREA);
	}
}

static void pause_ms(long ms)
{
	nanosleep(&(struct timespec){ ms / 1000, ms % 1000 * 1000000 }, NULL);
}

static void wait_for(const char *go)
{
	char path[4096];
	FILE *ready;

	snprintf(path, sizeof(path), "%s/%d.ready", getenv("TRUTH"), rank);
	ready = fopen(path, "w");
	EXPECT(ready);
	fclose(ready);
	while (access(go, F_OK))
		pause_ms(5);
}

static char data[BYTES];

int main(int argc, char **argv)
{
	char *heap = malloc(BYTES), local[BYTES] = "", *shared, *late, *told, *untold;

	EXPECT(argc >= 2 && dlopen(argv[1], RTLD_NOW));
	job_start("mpi_known", &argc, &argv);
	ucs = dlopen("libucs.so.0", RTLD_NOW | RTLD_NOLOAD);
	if (!ucs) /* of tests/renamed-ucx */
		ucs = dlopen("libucs-311e600f.so.0.0.0", RTLD_NOW | RTLD_NOLOAD);
	EXPECT(ucs && size % 2 == 0);
	memset(heap, 1, BYTES);
	shared = map(PROT_READ | PROT_WRITE, MAP_SHARED);
	told = map(PROT_NONE, MAP_PRIVATE | MAP_NORESERVE);
	/* not next to the other: two of one kind would be one */
	map(PROT_READ, MAP_PRIVATE);
	untold = map(PROT_NONE, MAP_PRIVATE | MAP_NORESERVE);
	tell_gpu(0x18, "GPU0");
	tell_memory(told, AREA, tell_gpu(0x5e, "GPU1"));
	if (argc >= 3)
		wait_for(argv[2]);
	/* what the library did before it had probes is unseen: the first look must come before
	 * sends */
	pause_ms(200);
	late = map(PROT_READ | PROT_WRITE, MAP_PRIVATE);
	send_all(17, heap, BYTES);
	send_all(11, data, BYTES);
	send_all(7, local, BYTES);
	send_all(5, shared, BYTES);
	send_all(23, late + 4096, BYTES);
	send_and_unmap(29);
	send_all(13, told + 64, 0);
	send_all(19, untold + AREA / 2, 0);
	/* nobody can look at a process that is over */
	pause_ms(200);
	return job_end();
}
