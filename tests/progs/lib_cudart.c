// SPDX-License-Identifier: BSD-3-Clause
/* Stands in for CUDA's runtime: each function calls one of the driver, as the real ones do. */
#define FIRST_ADDRESS 0

#include "stand_in.h"

#include <dlfcn.h>

static __attribute__((noipa)) int ask(const char *name, uint64_t a, uint64_t b, uint64_t c,
				      uint64_t d)
{
	int (*function)(uint64_t, uint64_t, uint64_t, uint64_t) = dlsym(RTLD_DEFAULT, name);

	return function ? function(a, b, c, d) : DEINITIALIZED;
}

#define ASK(name, a, b, c, d) ask(name, (uint64_t)(a), (uint64_t)(b), (uint64_t)(c), (uint64_t)(d))

#define ALLOC(name, driver)                                                                        \
	DRIVER(name, (uint64_t * out, size_t size), ASK(driver, out, size, 1, 0))
#define ALLOC_ASYNC(name, driver)                                                                  \
	DRIVER(name, (uint64_t * out, size_t size, uint64_t stream),                               \
	       ASK(driver, out, size, stream, 0))
#define ALLOC_POOL(name, driver)                                                                   \
	DRIVER(name, (uint64_t * out, size_t size, uint64_t pool, uint64_t stream),                \
	       ASK(driver, out, size, pool, stream))
#define FREE(name, driver) DRIVER(name, (uint64_t address), ASK(driver, address, 1, 0, 0))

DRIVER(cudaRuntimeGetVersion, (int *version), done(!version))

ALLOC(cudaMalloc, "cuMemAlloc_v2")
ALLOC(cudaMallocManaged, "cuMemAllocManaged")
ALLOC(cudaMallocHost, "cuMemHostAlloc")
ALLOC(cudaHostAlloc, "cuMemHostAlloc")
ALLOC(cudaHostRegister, "cuMemHostRegister_v2")
ALLOC_ASYNC(cudaMallocAsync, "cuMemAllocAsync")
ALLOC_ASYNC(cudaMallocAsync_ptsz, "cuMemAllocAsync_ptsz")
ALLOC_POOL(cudaMallocFromPoolAsync, "cuMemAllocFromPoolAsync")
ALLOC_POOL(cudaMallocFromPoolAsync_ptsz, "cuMemAllocFromPoolAsync_ptsz")
DRIVER(cudaMallocPitch, (uint64_t * out, uint64_t *pitch, size_t width, size_t height),
       ASK("cuMemAllocPitch_v2", out, pitch, width, height))
DRIVER(cudaMalloc3D, (uint64_t * out, size_t size), ASK("cuMemAlloc_v2", out, size, 0, 0))
DRIVER(cudaIpcOpenMemHandle, (uint64_t * out, uint64_t flags),
       ASK("cuMemAlloc_v2", out, flags, 0, 0))
FREE(cudaFree, "cuMemFree_v2")
FREE(cudaFreeHost, "cuMemFreeHost")
DRIVER(cudaFreeAsync, (uint64_t address, uint64_t stream),
       ASK("cuMemFreeAsync", address, stream, 0, 0))
DRIVER(cudaFreeAsync_ptsz, (uint64_t address, uint64_t stream),
       ASK("cuMemFreeAsync_ptsz", address, stream, 0, 0))
