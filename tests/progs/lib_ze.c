// SPDX-License-Identifier: BSD-3-Clause
/* Stands in for Level Zero's loader: two devices of each driver. */
#define FIRST_ADDRESS 0x7b0000000000
#define GPUS 2

#include "stand_in.h"

static __attribute__((noipa)) int list(uint64_t driver, uint32_t *count, uint64_t *devices)
{
	for (uint32_t i = 0; devices && i < *count && i < GPUS; i++)
		devices[i] = driver + 16 * (i + 1);
	if (!*count || *count > GPUS)
		*count = GPUS;
	return 0;
}

DRIVER(zeInit, (unsigned int flags), done(flags ? INVALID_VALUE : 0))
DRIVER(zeDeviceGet, (uint64_t driver, uint32_t *count, uint64_t *devices),
       list(driver, count, devices))
/* With all arguments where they are, so that they outlast the beginning. */
static __attribute__((noipa)) int on_device(uint64_t context, const void *description, size_t size,
					    size_t alignment, uint64_t device, uint64_t *out)
{
	return make(out, size + !context + !!description + !alignment + !device);
}

static __attribute__((noipa)) int on_host(uint64_t context, const void *description, size_t size,
					  size_t alignment, uint64_t *out)
{
	return make(out, size + !context + !!description + !alignment);
}

static __attribute__((noipa)) int on_both(uint64_t context, const void *description,
					  const void *other, size_t size, size_t alignment,
					  uint64_t device, uint64_t *out)
{
	return make(out, size + !context + !!description + !!other + !alignment + !device);
}

DRIVER(zeMemAllocDevice,
       (uint64_t context, const void *description, size_t size, size_t alignment, uint64_t device,
	uint64_t *out),
       on_device(context, description, size, alignment, device, out))
DRIVER(zeMemAllocHost,
       (uint64_t context, const void *description, size_t size, size_t alignment, uint64_t *out),
       on_host(context, description, size, alignment, out))
DRIVER(zeMemAllocShared,
       (uint64_t context, const void *description, const void *other, size_t size, size_t alignment,
	uint64_t device, uint64_t *out),
       on_both(context, description, other, size, alignment, device, out))
DRIVER(zeMemFree, (uint64_t context, uint64_t address), end(address + !context))
DRIVER(zeMemFreeExt, (uint64_t context, const void *description, uint64_t address),
       end(address + !context + !!description))
