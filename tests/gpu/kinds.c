// SPDX-License-Identifier: BSD-3-Clause
#include "kinds.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void cuda_expect(cudaError_t status, const char *what, const char *file, int line)
{
	if (status == cudaSuccess)
		return;
	fprintf(stderr, "%s:%d: %s: %s\n", file, line, what, cudaGetErrorString(status));
	exit(3);
}

/* Functions of the driver library, which the runtime has loaded, or of a stand-in for the runtime.
 */
static void *driver(const char *name)
{
	void *library = dlopen("libcuda.so.1", RTLD_LAZY);
	void *function = library ? dlsym(library, name) : NULL;

	if (!function)
		function = dlsym(RTLD_DEFAULT, name);
	if (function)
		return function;
	fprintf(stderr, "%s\n", dlerror());
	exit(3);
}

#define DRIVER(name, types, arguments)                                                             \
	do {                                                                                       \
		CUresult status = ((CUresult(*) types)driver(#name))arguments;                     \
                                                                                                   \
		if (status != CUDA_SUCCESS) {                                                      \
			fprintf(stderr, "%s: error %d\n", #name, status);                          \
			exit(3);                                                                   \
		}                                                                                  \
	} while (0)

static void make_malloc(struct buffer *buffer)
{
	buffer->at = malloc(buffer->size);
	if (!buffer->at)
		abort();
}

static void end_malloc(struct buffer *buffer)
{
	free(buffer->at);
}

static void make_device(struct buffer *buffer)
{
	CUDA(cudaMalloc((void **)&buffer->at, buffer->size));
}

#define ROWS 61 /* a prime: the pitch never divides a message */

static void make_pitch(struct buffer *buffer)
{
	size_t pitch;

	CUDA(cudaMallocPitch((void **)&buffer->at, &pitch, buffer->size / ROWS + 1, ROWS));
}

static void make_managed(struct buffer *buffer)
{
	CUDA(cudaMallocManaged((void **)&buffer->at, buffer->size, cudaMemAttachGlobal));
}

static void end_device(struct buffer *buffer)
{
	CUDA(cudaFree(buffer->at));
}

static void make_host(struct buffer *buffer)
{
	CUDA(cudaMallocHost((void **)&buffer->at, buffer->size));
}

static void end_host(struct buffer *buffer)
{
	CUDA(cudaFreeHost(buffer->at));
}

#define PAGE 4096

static void make_registered(struct buffer *buffer)
{
	size_t size = (buffer->size + PAGE - 1) / PAGE * PAGE;

	buffer->at = aligned_alloc(PAGE, size);
	if (!buffer->at)
		abort();
	CUDA(cudaHostRegister(buffer->at, size, cudaHostRegisterDefault));
}

static void end_registered(struct buffer *buffer)
{
	CUDA(cudaHostUnregister(buffer->at));
	free(buffer->at);
}

static cudaStream_t stream_of_ours(void)
{
	static cudaStream_t stream;

	if (!stream)
		CUDA(cudaStreamCreate(&stream));
	return stream;
}

static void make_async(struct buffer *buffer)
{
	CUDA(cudaMallocAsync((void **)&buffer->at, buffer->size, stream_of_ours()));
	CUDA(cudaStreamSynchronize(stream_of_ours()));
}

static void make_from_pool(struct buffer *buffer)
{
	static cudaMemPool_t pool;
	struct cudaMemPoolProps properties = { .allocType = cudaMemAllocationTypePinned };

	properties.location.type = cudaMemLocationTypeDevice;
	properties.location.id = buffer->device;
	if (!pool)
		CUDA(cudaMemPoolCreate(&pool, &properties));
	CUDA(cudaMallocFromPoolAsync((void **)&buffer->at, buffer->size, pool, stream_of_ours()));
	CUDA(cudaStreamSynchronize(stream_of_ours()));
}

static void end_async(struct buffer *buffer)
{
	CUDA(cudaFreeAsync(buffer->at, stream_of_ours()));
	CUDA(cudaStreamSynchronize(stream_of_ours()));
}

/* One range of addresses over as many handles as buffer->pieces says. */
static void make_mapped(struct buffer *buffer)
{
	CUmemAllocationProp properties = { .type = CU_MEM_ALLOCATION_TYPE_PINNED };
	CUmemAccessDesc access = { .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE };
	CUdeviceptr base;
	size_t unit, piece;

	properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
	properties.location.id = buffer->device;
	access.location = properties.location;
	DRIVER(cuMemGetAllocationGranularity,
	       (size_t *, const CUmemAllocationProp *, CUmemAllocationGranularity_flags),
	       (&unit, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
	piece = (buffer->size / buffer->pieces + unit) / unit * unit;
	buffer->reserved = piece * buffer->pieces;
	DRIVER(cuMemAddressReserve,
	       (CUdeviceptr *, size_t, size_t, CUdeviceptr, unsigned long long),
	       (&base, buffer->reserved, 0, 0, 0));
	for (int i = 0; i < buffer->pieces; i++) {
		DRIVER(cuMemCreate,
		       (CUmemGenericAllocationHandle *, size_t, const CUmemAllocationProp *,
			unsigned long long),
		       (&buffer->handle[i], piece, &properties, 0));
		DRIVER(cuMemMap,
		       (CUdeviceptr, size_t, size_t, CUmemGenericAllocationHandle,
			unsigned long long),
		       (base + i * piece, piece, 0, buffer->handle[i], 0));
	}
	DRIVER(cuMemSetAccess, (CUdeviceptr, size_t, const CUmemAccessDesc *, size_t),
	       (base, buffer->reserved, &access, 1));
	buffer->at = (char *)base;
}

static void make_vmm(struct buffer *buffer)
{
	buffer->pieces = 1;
	make_mapped(buffer);
}

static void make_vmm_pieces(struct buffer *buffer)
{
	buffer->pieces = PIECES;
	make_mapped(buffer);
}

static void end_mapped(struct buffer *buffer)
{
	CUdeviceptr base = (CUdeviceptr)buffer->at;

	DRIVER(cuMemUnmap, (CUdeviceptr, size_t), (base, buffer->reserved));
	for (int i = 0; i < buffer->pieces; i++)
		DRIVER(cuMemRelease, (CUmemGenericAllocationHandle), (buffer->handle[i]));
	DRIVER(cuMemAddressFree, (CUdeviceptr, size_t), (base, buffer->reserved));
}

static const struct kind kinds[] = {
	{ "malloc", "host", make_malloc, end_malloc },
	{ "cudaMalloc", "gpu", make_device, end_device },
	{ "cudaMallocPitch", "gpu", make_pitch, end_device },
	{ "cudaMallocManaged", "managed", make_managed, end_device },
	{ "cudaMallocHost", "pinned", make_host, end_host },
	{ "cudaHostRegister", "pinned", make_registered, end_registered },
	{ "cudaMallocAsync", "gpu", make_async, end_async },
	{ "cudaMallocFromPoolAsync", "gpu", make_from_pool, end_async },
	{ "vmm", "gpu", make_vmm, end_mapped },
	{ "vmm_pieces", "gpu", make_vmm_pieces, end_mapped },
};

const struct kind *kind_of(const char *name)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(kinds[i].name, name))
			return &kinds[i];
	return NULL;
}

void buffer_make(struct buffer *buffer, const struct kind *kind, size_t size, int device)
{
	*buffer = (struct buffer){ .kind = kind, .size = size, .device = device };
	kind->make(buffer);
}

void buffer_end(struct buffer *buffer)
{
	buffer->kind->end(buffer);
}

static bool is_host(const struct buffer *buffer)
{
	return !strcmp(buffer->kind->memory, "host") || !strcmp(buffer->kind->memory, "pinned");
}

void buffer_fill(const struct buffer *buffer, size_t size, int value)
{
	if (is_host(buffer)) {
		memset(buffer->at, value, size);
		return;
	}
	CUDA(cudaMemset(buffer->at, value, size));
	CUDA(cudaDeviceSynchronize());
}

static bool byte_is(const struct buffer *buffer, size_t at, int value)
{
	unsigned char byte;

	if (is_host(buffer))
		byte = buffer->at[at];
	else
		CUDA(cudaMemcpy(&byte, buffer->at + at, 1, cudaMemcpyDeviceToHost));
	return byte == (unsigned char)value;
}

bool buffer_is(const struct buffer *buffer, size_t size, int value)
{
	return byte_is(buffer, 0, value) && byte_is(buffer, size / 2, value) &&
	       byte_is(buffer, size - 1, value);
}
