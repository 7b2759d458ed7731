// SPDX-License-Identifier: BSD-3-Clause
/* Stands in for NVIDIA's driver library: see stand_in.h. */
#define FIRST_ADDRESS 0x7f0000000000

#include "stand_in.h"

static __thread uint64_t current;

static __attribute__((noipa)) int set(uint64_t context)
{
	current = context;
	return 0;
}

static __attribute__((noipa)) int pop(uint64_t *context)
{
	if (context)
		*context = current;
	return 0;
}

DRIVER(cuInit, (unsigned int flags), done(flags ? INVALID_VALUE : 0))

DRIVER(cuMemAlloc_v2, (uint64_t * out, size_t size), make(out, size))
DRIVER(cuMemAllocManaged, (uint64_t * out, size_t size, unsigned int flags),
       make(out, size + !flags))
DRIVER(cuMemHostAlloc, (uint64_t * out, size_t size, unsigned int flags), make(out, size + !flags))
DRIVER(cuMemAllocHost_v2, (uint64_t * out, size_t size), make(out, size))
DRIVER(cuMemAllocPitch_v2,
       (uint64_t * out, uint64_t *pitch, size_t width, size_t height, unsigned int element),
       make_pitch(out, pitch, width, height + !element))
DRIVER(cuMemAllocAsync, (uint64_t * out, size_t size, uint64_t stream), make(out, size + !stream))
DRIVER(cuMemAllocAsync_ptsz, (uint64_t * out, size_t size, uint64_t stream),
       make(out, size + !stream))
DRIVER(cuMemAllocFromPoolAsync, (uint64_t * out, size_t size, uint64_t pool, uint64_t stream),
       make(out, size + !pool + !stream))
DRIVER(cuMemAllocFromPoolAsync_ptsz, (uint64_t * out, size_t size, uint64_t pool, uint64_t stream),
       make(out, size + !pool + !stream))
DRIVER(cuMemHostRegister_v2, (uint64_t address, size_t size, unsigned int flags),
       end(address + !size + !flags))

DRIVER(cuMemFree_v2, (uint64_t address), end(address))
DRIVER(cuMemFreeAsync, (uint64_t address, uint64_t stream), end(address + !stream))
DRIVER(cuMemFreeAsync_ptsz, (uint64_t address, uint64_t stream), end(address + !stream))
DRIVER(cuMemFreeHost, (uint64_t address), end(address))
DRIVER(cuMemHostUnregister, (uint64_t address), end(address))
DRIVER(cuIpcCloseMemHandle, (uint64_t address), end(address))

DRIVER(cuMemCreate, (uint64_t * out, size_t size, const void *properties, unsigned long long flags),
       size &&properties && !flags ? make_handle(out) : INVALID_VALUE)
DRIVER(cuMemImportFromShareableHandle, (uint64_t * out, void *handle, int type),
       handle &&type ? make_handle(out) : INVALID_VALUE)
DRIVER(cuMemRetainAllocationHandle, (uint64_t * out, uint64_t address),
       address ? make_handle(out) : INVALID_VALUE)
DRIVER(cuMemRelease, (uint64_t handle), end(handle))
DRIVER(cuMemMap,
       (uint64_t address, size_t size, size_t offset, uint64_t handle, unsigned long long flags),
       end(address + offset + flags + !size + !handle))
DRIVER(cuMemUnmap, (uint64_t address, size_t size), end(address + !size))

DRIVER(cuIpcOpenMemHandle_v2, (uint64_t * out, struct ipc_handle handle, unsigned int flags),
       make(out, (handle.words[0] & 0xffff) + flags))
DRIVER(cuIpcOpenMemHandle, (uint64_t * out, struct ipc_handle handle, unsigned int flags),
       make(out, (handle.words[0] & 0xffff) + flags))
DRIVER(cuIpcGetMemHandle, (struct ipc_handle * out, uint64_t address), export(out, address))
DRIVER(cuMemPoolImportPointer, (uint64_t * out, uint64_t pool, void *data),
       make(out, !pool + !data))

DRIVER(cuDevicePrimaryCtxRetain, (uint64_t * out, int device), make_on(out, device))
DRIVER(cuCtxCreate_v2, (uint64_t * out, unsigned int flags, int device),
       make_on(out, device + !flags))
DRIVER(cuCtxCreate_v3, (uint64_t * out, void *params, int count, unsigned int flags, int device),
       make_on(out, device + !!params + !count + !flags))
DRIVER(cuCtxCreate_v4, (uint64_t * out, void *params, unsigned int flags, int device),
       make_on(out, device + !!params + !flags))
DRIVER(cuCtxSetCurrent, (uint64_t context), set(context))
DRIVER(cuCtxPushCurrent_v2, (uint64_t context), set(context))
DRIVER(cuCtxPopCurrent_v2, (uint64_t * context), pop(context))
DRIVER(cuStreamCreate, (uint64_t * out, unsigned int flags), make_on(out, flags))
DRIVER(cuStreamCreateWithPriority, (uint64_t * out, unsigned int flags, int priority),
       make_on(out, flags + priority))
DRIVER(cuCtxDestroy_v2, (uint64_t context), end(context))
DRIVER(cuDevicePrimaryCtxRelease, (int device), end(device * 2))
DRIVER(cuDevicePrimaryCtxRelease_v2, (int device), end(device * 2))
DRIVER(cuDevicePrimaryCtxReset, (int device), end(device * 2))
DRIVER(cuDevicePrimaryCtxReset_v2, (int device), end(device * 2))
DRIVER(cuStreamDestroy_v2, (uint64_t stream), end(stream))
DRIVER(cuDeviceGetDefaultMemPool, (uint64_t * out, int device), make_on(out, device))
DRIVER(cuMemPoolDestroy, (uint64_t pool), end(pool))
DRIVER(cuMemPoolCreate, (uint64_t * out, const void *properties),
       properties ? make_handle(out) : INVALID_VALUE)
