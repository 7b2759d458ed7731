// SPDX-License-Identifier: BSD-3-Clause
/* Stands in for the HIP runtime of AMD's GPUs: some of its functions call HSA's. */
#define FIRST_ADDRESS 0x7c0000000000

#include "stand_in.h"

#include <dlfcn.h>

#define POOL 0x90

static __attribute__((noipa)) int hsa_make(uint64_t *out, size_t size)
{
	int (*allocate)(uint64_t, size_t, uint32_t, uint64_t *) =
		dlsym(RTLD_DEFAULT, "hsa_amd_memory_pool_allocate");

	return size >= TOO_MUCH || !allocate ? OUT_OF_MEMORY : allocate(POOL, size, 0, out);
}

static __attribute__((noipa)) int hsa_end(uint64_t address)
{
	int (*free)(uint64_t) = dlsym(RTLD_DEFAULT, "hsa_amd_memory_pool_free");

	return free ? free(address) : DEINITIALIZED;
}

DRIVER(hipInit, (unsigned int flags), done(flags ? INVALID_VALUE : 0))

DRIVER(hipMalloc, (uint64_t * out, size_t size), hsa_make(out, size))
DRIVER(hipExtMallocWithFlags, (uint64_t * out, size_t size, unsigned int flags),
       hsa_make(out, size + !flags))
DRIVER(hipMallocManaged, (uint64_t * out, size_t size, unsigned int flags),
       make(out, size + !flags))
DRIVER(hipHostMalloc, (uint64_t * out, size_t size, unsigned int flags), make(out, size + !flags))
DRIVER(hipMallocHost, (uint64_t * out, size_t size), make(out, size))
DRIVER(hipMallocPitch, (uint64_t * out, uint64_t *pitch, size_t width, size_t height),
       make_pitch(out, pitch, width, height))
DRIVER(hipMallocAsync, (uint64_t * out, size_t size, uint64_t stream), make(out, size + !stream))
DRIVER(hipMallocFromPoolAsync, (uint64_t * out, size_t size, uint64_t pool, uint64_t stream),
       make(out, size + !pool + !stream))
DRIVER(hipHostRegister, (uint64_t address, size_t size, unsigned int flags),
       end(address + !size + !flags))

DRIVER(hipFree, (uint64_t address), hsa_end(address))
DRIVER(hipFreeAsync, (uint64_t address, uint64_t stream), end(address + !stream))
DRIVER(hipHostFree, (uint64_t address), end(address))
DRIVER(hipFreeHost, (uint64_t address), end(address))
DRIVER(hipHostUnregister, (uint64_t address), end(address))
DRIVER(hipIpcCloseMemHandle, (uint64_t address), end(address))
DRIVER(hipIpcGetMemHandle, (struct ipc_handle * out, uint64_t address), export(out, address))
DRIVER(hipIpcOpenMemHandle, (uint64_t * out, struct ipc_handle handle, unsigned int flags),
       make(out, (handle.words[0] & 0xffff) + flags))

DRIVER(hipSetDevice, (int device), done(device < 0 ? INVALID_VALUE : 0))
DRIVER(hipStreamCreate, (uint64_t * out), make_handle(out))
DRIVER(hipStreamCreateWithFlags, (uint64_t * out, unsigned int flags), make_on(out, flags))
DRIVER(hipStreamCreateWithPriority, (uint64_t * out, unsigned int flags, int priority),
       make_on(out, flags + priority))
DRIVER(hipStreamDestroy, (uint64_t stream), end(stream))
DRIVER(hipMemPoolCreate, (uint64_t * out, const void *properties),
       properties ? make_handle(out) : INVALID_VALUE)
DRIVER(hipDeviceGetDefaultMemPool, (uint64_t * out, int device), make_on(out, device))
DRIVER(hipMemPoolDestroy, (uint64_t pool), end(pool))
