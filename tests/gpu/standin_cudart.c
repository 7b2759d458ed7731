// SPDX-License-Identifier: BSD-3-Clause
/*
 * Stands in for NVIDIA's runtime where there is no GPU, over the stand-in driver library
 * (tests/progs/lib_cuda.c): each function calls the driver's that the real runtime ends up in, then
 * puts host memory where the driver says that memory is. UCX takes it for the host's, as it is.
 */
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#define PAGE 4096ull
#define DEVICES 2

static __thread int current;
static uint64_t contexts[DEVICES];

static void *driver(const char *name)
{
	static void *library;

	if (!library)
		library = dlopen("libcuda.so.1", RTLD_NOW);
	return library ? dlsym(library, name) : NULL;
}

#define CALL(name, types, arguments) ((int(*) types)driver(#name)) arguments

/* Pages that have something already keep it: the driver's granule is smaller than a page. */
static cudaError_t usable(uint64_t address, size_t size)
{
	uint64_t from = address & ~(PAGE - 1), to = (address + size + PAGE - 1) & ~(PAGE - 1);

	for (; from < to; from += PAGE)
		if (mmap((void *)from, PAGE, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) == MAP_FAILED &&
		    (errno != EEXIST || mprotect((void *)from, PAGE, PROT_READ | PROT_WRITE)))
			return cudaErrorMemoryAllocation;
	return cudaSuccess;
}

static cudaError_t made(int status, void **at, uint64_t address, size_t size)
{
	if (status)
		return status;
	*at = (void *)address;
	return usable(address, size);
}

cudaError_t cudaGetDeviceCount(int *count)
{
	*count = DEVICES;
	return cudaSuccess;
}

cudaError_t cudaSetDevice(int device)
{
	if (!contexts[device])
		CALL(cuDevicePrimaryCtxRetain, (uint64_t *, int), (&contexts[device], device));
	current = device;
	return CALL(cuCtxSetCurrent, (uint64_t), (contexts[device]));
}

cudaError_t cudaDeviceGetPCIBusId(char *id, int size, int device)
{
	snprintf(id, size, "0000:%02X:00.0", device + 1);
	return cudaSuccess;
}

const char *cudaGetErrorString(cudaError_t error)
{
	static char text[32];

	snprintf(text, sizeof(text), "error %d", error);
	return text;
}

cudaError_t cudaGetLastError(void)
{
	return cudaSuccess;
}

cudaError_t cudaDeviceSynchronize(void)
{
	return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
	(void)stream;
	return cudaSuccess;
}

cudaError_t cudaMemset(void *at, int value, size_t size)
{
	memset(at, value, size);
	return cudaSuccess;
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t size, enum cudaMemcpyKind kind)
{
	(void)kind;
	memcpy(to, from, size);
	return cudaSuccess;
}

cudaError_t cudaMalloc(void **at, size_t size)
{
	uint64_t address;
	int status = CALL(cuMemAlloc_v2, (uint64_t *, size_t), (&address, size));

	return made(status, at, address, size);
}

cudaError_t cudaMallocPitch(void **at, size_t *pitch, size_t width, size_t height)
{
	uint64_t address, row;
	int status =
		CALL(cuMemAllocPitch_v2, (uint64_t *, uint64_t *, size_t, size_t, unsigned int),
		     (&address, &row, width, height, 4));

	*pitch = row;
	return made(status, at, address, row * height);
}

cudaError_t cudaMallocManaged(void **at, size_t size, unsigned int flags)
{
	uint64_t address;
	int status = CALL(cuMemAllocManaged, (uint64_t *, size_t, unsigned int),
			  (&address, size, flags));

	return made(status, at, address, size);
}

cudaError_t cudaMallocHost(void **at, size_t size)
{
	uint64_t address;
	int status = CALL(cuMemHostAlloc, (uint64_t *, size_t, unsigned int), (&address, size, 2));

	return made(status, at, address, size);
}

cudaError_t cudaHostRegister(void *at, size_t size, unsigned int flags)
{
	(void)flags;
	return CALL(cuMemHostRegister_v2, (uint64_t, size_t, unsigned int),
		    ((uintptr_t)at, size, 2));
}

cudaError_t cudaHostUnregister(void *at)
{
	return CALL(cuMemHostUnregister, (uint64_t), ((uintptr_t)at));
}

cudaError_t cudaFree(void *at)
{
	return CALL(cuMemFree_v2, (uint64_t), ((uintptr_t)at));
}

cudaError_t cudaFreeHost(void *at)
{
	return CALL(cuMemFreeHost, (uint64_t), ((uintptr_t)at));
}

cudaError_t cudaStreamCreate(cudaStream_t *stream)
{
	return CALL(cuStreamCreate, (cudaStream_t *, unsigned int), (stream, 1));
}

cudaError_t cudaMemPoolCreate(cudaMemPool_t *pool, const struct cudaMemPoolProps *properties)
{
	return CALL(cuMemPoolCreate, (cudaMemPool_t *, const void *), (pool, properties));
}

cudaError_t cudaMallocAsync(void **at, size_t size, cudaStream_t stream)
{
	uint64_t address;
	int status =
		CALL(cuMemAllocAsync, (uint64_t *, size_t, cudaStream_t), (&address, size, stream));

	return made(status, at, address, size);
}

cudaError_t cudaMallocFromPoolAsync(void **at, size_t size, cudaMemPool_t pool, cudaStream_t stream)
{
	uint64_t address;
	int status =
		CALL(cuMemAllocFromPoolAsync, (uint64_t *, size_t, cudaMemPool_t, cudaStream_t),
		     (&address, size, pool, stream));

	return made(status, at, address, size);
}

cudaError_t cudaFreeAsync(void *at, cudaStream_t stream)
{
	return CALL(cuMemFreeAsync, (uint64_t, cudaStream_t), ((uintptr_t)at, stream));
}

/* What mapping memory needs of the driver besides, and a tracer does not: addresses, of the host.
 */
#define UNIT (2ull << 20)

int cuMemGetAllocationGranularity(size_t *unit, const void *properties, int option);
int cuMemAddressReserve(uint64_t *at, size_t size, size_t alignment, uint64_t wish,
			unsigned long long flags);
int cuMemSetAccess(uint64_t at, size_t size, const void *access, size_t count);
int cuMemAddressFree(uint64_t at, size_t size);

int cuMemGetAllocationGranularity(size_t *unit, const void *properties, int option)
{
	*unit = UNIT;
	return !properties || option;
}

int cuMemAddressReserve(uint64_t *at, size_t size, size_t alignment, uint64_t wish,
			unsigned long long flags)
{
	void *memory =
		mmap(NULL, size + UNIT, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	*at = ((uintptr_t)memory + UNIT - 1) & ~(UNIT - 1);
	return memory == MAP_FAILED || alignment || wish || flags;
}

int cuMemSetAccess(uint64_t at, size_t size, const void *access, size_t count)
{
	return !at || !size || !access || !count;
}

int cuMemAddressFree(uint64_t at, size_t size)
{
	return !at || !size;
}
