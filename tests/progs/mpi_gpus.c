// SPDX-License-Identifier: BSD-3-Clause
/*
 * mpi_gpus FOLDER: the other GPU libraries, and a CUDA runtime above the driver, all of them
 * stand-ins in that folder; then eight threads on two devices, a double free, and a child. Written
 * down as memory_ledger.h has it.
 */
#include <sys/wait.h>

#include "memory_ledger.h"

/* What CUDA's runtime calls of the driver is seen once, with the runtime's function. */
#define OVER(n, made, types, arguments, inside, freed, free_types, free_arguments, free_inside)    \
	for (int i = 0; i < (n); i++) {                                                            \
		struct about a = ABOUT(.size = 2000 + i), b = ABOUT();                             \
                                                                                                   \
		CALL_OVER(a, made, types, arguments, inside);                                      \
		b.address = a.address;                                                             \
		CALL_OVER(b, freed, free_types, free_arguments, free_inside);                      \
	}

static void runtime(void)
{
	OVER(31, cudaMalloc, (uint64_t *, size_t), (&a.address, a.size), cuMemAlloc_v2, cudaFree,
	     ADDRESS, (b.address), cuMemFree_v2);
	OVER(7, cudaMallocManaged, (uint64_t *, size_t), (&a.address, a.size), cuMemAllocManaged,
	     cudaFree, ADDRESS, (b.address), cuMemFree_v2);
	OVER(11, cudaMallocHost, (uint64_t *, size_t), (&a.address, a.size), cuMemHostAlloc,
	     cudaFreeHost, ADDRESS, (b.address), cuMemFreeHost);
	OVER(5, cudaHostAlloc, (uint64_t *, size_t), (&a.address, a.size), cuMemHostAlloc,
	     cudaFreeHost, ADDRESS, (b.address), cuMemFreeHost);
	OVER(13, cudaMallocAsync, (uint64_t *, size_t, uint64_t),
	     (&a.address, a.size, a.handle = 2), cuMemAllocAsync, cudaFreeAsync, ADDRESS_STREAM,
	     (b.address, 2), cuMemFreeAsync);
	OVER(17, cudaMallocFromPoolAsync_ptsz, (uint64_t *, size_t, uint64_t, uint64_t),
	     (&a.address, a.size, a.handle = 0x77, 2), cuMemAllocFromPoolAsync_ptsz,
	     cudaFreeAsync_ptsz, ADDRESS_STREAM, (b.address, 2), cuMemFreeAsync_ptsz);
}

/* Too much for the runtime as well; and beside it, the driver is asked itself. */
static void beside_runtime(void)
{
	struct about much = ABOUT(.size = TOO_MUCH), null = ABOUT();

	CALL_OVER(much, cudaMalloc, (uint64_t *, size_t), (&much.address, much.size),
		  cuMemAlloc_v2);
	CALL_OVER(null, cudaFree, ADDRESS, (0), cuMemFree_v2);
	PAIRS(3, cuMemAlloc_v2, (uint64_t *, size_t), (&a.address, a.size), cuMemFree_v2, ADDRESS,
	      (b.address));
}

/* What HIP calls of HSA is a part of its own call. */
static void hip(void)
{
	struct about device = ABOUT(.device = 1), stream = ABOUT(), pool = ABOUT(.device = 3);
	struct properties properties = { 1, 0, 1, 3, "" };
	struct about much = ABOUT(.size = TOO_MUCH);

	CALL(device, hipSetDevice, (int), (device.device));
	CALL(stream, hipStreamCreate, (uint64_t *), (&stream.handle));
	CALL(pool, hipMemPoolCreate, (uint64_t *, const struct properties *),
	     (&pool.handle, &properties));
	PAIRS(31, hipMalloc, (uint64_t *, size_t), (&a.address, a.size), hipFree, ADDRESS,
	      (b.address));
	PAIRS(7, hipExtMallocWithFlags, (uint64_t *, size_t, unsigned int),
	      (&a.address, a.size, a.handle = 1), hipFree, ADDRESS, (b.address));
	PAIRS(5, hipMallocManaged, (uint64_t *, size_t, unsigned int), (&a.address, a.size, 1),
	      hipFree, ADDRESS, (b.address));
	PAIRS(11, hipHostMalloc, (uint64_t *, size_t, unsigned int), (&a.address, a.size, 2),
	      hipHostFree, ADDRESS, (b.address));
	PAIRS(2, hipMallocHost, (uint64_t *, size_t), (&a.address, a.size), hipFreeHost, ADDRESS,
	      (b.address));
	PAIRS(13, hipMallocAsync, (uint64_t *, size_t, uint64_t),
	      (&a.address, a.size, a.handle = stream.handle), hipFreeAsync, ADDRESS_STREAM,
	      (b.address, stream.handle));
	PAIRS(3, hipMallocFromPoolAsync, (uint64_t *, size_t, uint64_t, uint64_t),
	      (&a.address, a.size, a.handle = pool.handle, stream.handle), hipFreeAsync,
	      ADDRESS_STREAM, (b.address, stream.handle));
	CALL(stream, hipStreamDestroy, ADDRESS, (stream.handle));
	CALL(much, hipMalloc, (uint64_t *, size_t), (&much.address, much.size));
	EXPECT(much.status);
}

#define POOL 0x33

/* Without HIP. */
static void hsa(void)
{
	PAIRS(17, hsa_amd_memory_pool_allocate, (uint64_t, size_t, uint32_t, uint64_t *),
	      (a.handle = POOL, a.size, 0, &a.address), hsa_amd_memory_pool_free, ADDRESS,
	      (b.address));
}

#define CONTEXT 0xc0
#define DRIVER 0x1000

static void level_zero(void)
{
	uint64_t devices[2], begun = now();
	uint32_t count = 0;
	int status = ((int (*)(uint64_t, uint32_t *, uint64_t *))function("zeDeviceGet"))(
		DRIVER, &count, NULL);

	EXPECT(!status && count == 2);
	begun = now();
	status = ((int (*)(uint64_t, uint32_t *, uint64_t *))function("zeDeviceGet"))(
		DRIVER, &count, devices);
	for (int i = 0; i < 2; i++)
		record("zeDeviceGet", "-", &(struct about){ DRIVER, 0, devices[i], i, status },
		       begun);
	PAIRS(19, zeMemAllocDevice, (uint64_t, const void *, size_t, size_t, uint64_t, uint64_t *),
	      (CONTEXT, NULL, a.size, 64, a.handle = devices[i & 1], &a.address), zeMemFree,
	      ADDRESS_STREAM, (CONTEXT, b.address));
	PAIRS(7, zeMemAllocHost, (uint64_t, const void *, size_t, size_t, uint64_t *),
	      (CONTEXT, NULL, a.size, 64, &a.address), zeMemFreeExt,
	      (uint64_t, const void *, uint64_t), (CONTEXT, NULL, b.address));
	PAIRS(5, zeMemAllocShared,
	      (uint64_t, const void *, const void *, size_t, size_t, uint64_t, uint64_t *),
	      (CONTEXT, NULL, NULL, a.size, 64, devices[0], &a.address), zeMemFree, ADDRESS_STREAM,
	      (CONTEXT, b.address));
}

#define THREADS 8

static uint64_t contexts[2];

/* On the first or the second device; the third part of it is never freed. */
static void *work(void *number)
{
	struct about set = ABOUT(.handle = contexts[(uintptr_t)number & 1]);

	CALL(set, cuCtxSetCurrent, ADDRESS, (set.handle));
	for (int i = 0; i < 23; i++) {
		struct about a = ABOUT(.size = 4096), b = ABOUT();

		CALL(a, cuMemAlloc_v2, (uint64_t *, size_t), (&a.address, a.size));
		b.address = a.address;
		if (i % 3)
			CALL(b, cuMemFree_v2, ADDRESS, (b.address));
	}
	return NULL;
}

static void threads(void)
{
	pthread_t all[THREADS];

	for (int i = 0; i < 2; i++) {
		struct about a = ABOUT(.device = i);

		CALL(a, cuDevicePrimaryCtxRetain, (uint64_t *, int), (&a.handle, i));
		contexts[i] = a.handle;
	}
	for (uintptr_t i = 0; i < THREADS; i++)
		EXPECT(!pthread_create(&all[i], NULL, work, (void *)i));
	for (int i = 0; i < THREADS; i++)
		pthread_join(all[i], NULL);
}

/* Freed twice, in a driver that does not mind. */
static void freed_twice(void)
{
	struct about a = ABOUT(.size = 4096), b = ABOUT();

	CALL(a, cuMemAlloc_v2, (uint64_t *, size_t), (&a.address, a.size));
	b.address = a.address;
	CALL(b, cuMemFree_v2, ADDRESS, (b.address));
	CALL(b, cuMemFree_v2, ADDRESS, (b.address));
}

static FILE *child_file(const char *suffix)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/child-%d.%s", getenv("TRUTH"), rank, suffix);
	return fopen(path, "w");
}

/* A child has none of its parent's contexts; its ledger is in child-RANK.memory. */
static void child(void)
{
	FILE *file = child_file("pid");

	EXPECT(file);
	fprintf(file, "%d\n", getpid());
	fclose(file);
	ledger = child_file("memory");
	EXPECT(ledger);
	PAIRS(5, cuMemAlloc_v2, (uint64_t *, size_t), (&a.address, a.size), cuMemFree_v2, ADDRESS,
	      (b.address));
	fclose(ledger);
	_exit(0);
}

static void forked(void)
{
	struct about set = ABOUT(.handle = contexts[1]);
	pid_t pid;

	CALL(set, cuCtxSetCurrent, ADDRESS, (set.handle));
	if (!ledger)
		return;
	fflush(ledger);
	pid = fork();
	if (!pid)
		child();
	EXPECT(pid > 0 && waitpid(pid, NULL, 0) == pid);
}

int main(int argc, char **argv)
{
	static const char *const libraries[] = { "cuda", "cudart", "hsa", "hip", "ze" };
	struct timespec pause = { .tv_nsec = 300000000 };
	char path[4096];

	for (int i = 0; i < 5; i++) {
		snprintf(path, sizeof(path), "%s/lib_%s.so", argc > 1 ? argv[1] : ".",
			 libraries[i]);
		open_gpu_library(path);
	}
	job_start("mpi_gpus", &argc, &argv);
	ledger = truth_open("memory");
	nanosleep(&pause, NULL);
	runtime();
	beside_runtime();
	hip();
	hsa();
	level_zero();
	threads();
	freed_twice();
	forked();
	if (ledger)
		fclose(ledger);
	return job_end();
}
