// SPDX-License-Identifier: BSD-3-Clause
/*
 * Stands in for NVIDIA's driver library: the functions that make, end and place memory, over
 * addresses from a counter. They begin and end as those of driver 580.159.04 do: frame pointer, a
 * comparison of memory with a number, a conditional jump, several returns.
 */
#include <stdint.h>
#include <stddef.h>

#pragma GCC optimize("no-omit-frame-pointer", "no-optimize-sibling-calls", "no-shrink-wrap")

#define UNLOADED 0x321cba00
#define INVALID_VALUE 1
#define OUT_OF_MEMORY 2
#define DEINITIALIZED 4
#define GRANULE 512
#define TOO_MUCH (1ull << 40)

static volatile int state;
static uint64_t next_address = 0x7f0000000000, next_handle = 0x1000;

static __attribute__((noipa)) int done(int status)
{
	return status;
}

static __attribute__((noipa)) int failed(int status)
{
	return status;
}

/* What is freed before it was made, or twice, is told apart by its lowest bit. */
static __attribute__((noipa)) int end(uint64_t address)
{
	return address & 1 ? INVALID_VALUE : 0;
}

static __attribute__((noipa)) int make(uint64_t *out, uint64_t size)
{
	if (size >= TOO_MUCH)
		return OUT_OF_MEMORY;
	*out = __atomic_fetch_add(&next_address, (size / GRANULE + 1) * GRANULE, __ATOMIC_RELAXED);
	return 0;
}

static __attribute__((noipa)) int make_handle(uint64_t *out)
{
	*out = __atomic_fetch_add(&next_handle, 16, __ATOMIC_RELAXED);
	return 0;
}

static __attribute__((noipa)) int make_on(uint64_t *out, int device)
{
	return device < 0 ? INVALID_VALUE : make_handle(out);
}

static __attribute__((noipa)) int make_pitch(uint64_t *out, uint64_t *pitch, uint64_t width,
					     uint64_t height)
{
	*pitch = (width / GRANULE + 1) * GRANULE;
	return make(out, *pitch * height);
}

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

#define DRIVER(name, parameters, result)                                                           \
	__attribute__((noipa)) int name parameters;                                                \
	__attribute__((noipa)) int name parameters                                                 \
	{                                                                                          \
		int status;                                                                        \
                                                                                                   \
		if (state == UNLOADED)                                                             \
			return DEINITIALIZED;                                                      \
		status = result;                                                                   \
		if (status)                                                                        \
			return failed(status);                                                     \
		return 0;                                                                          \
	}

struct ipc_handle {
	char bytes[64];
};

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
DRIVER(cuMemRelease, (uint64_t handle), end(handle))
DRIVER(cuMemMap,
       (uint64_t address, size_t size, size_t offset, uint64_t handle, unsigned long long flags),
       end(address + offset + flags + !size + !handle))
DRIVER(cuMemUnmap, (uint64_t address, size_t size), end(address + !size))

DRIVER(cuIpcOpenMemHandle_v2, (uint64_t * out, struct ipc_handle handle, unsigned int flags),
       make(out, handle.bytes[0] + flags))
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
DRIVER(cuMemPoolCreate, (uint64_t * out, const void *properties),
       properties ? make_handle(out) : INVALID_VALUE)
