// SPDX-License-Identifier: BSD-3-Clause
/*
 * Memory of NVIDIA's GPUs, at the driver library: whoever asks a CUDA runtime for memory, linked
 * statically or not, comes by here once. Prototypes: cuda.h 13.0; which runtime function ends up in
 * which of these was counted with driver 580.159.04.
 *
 * arg_obj = the address or handle it is about, or where the one it makes is stored; arg_count =
 * size (of a pitched allocation: height, and the pitch is stored at arg_info); arg_aux = stream,
 * pool or physical memory as given, where an exported handle is stored, or an address beside a
 * handle; arg_param = properties; arg_device = device.
 *
 * Not here: what UCX calls for each message (cuMemGetAddressRange, cuPointerGetAttribute,
 * cuDeviceGetUuid).
 */
#include "observe/probe/sites_tables.h"

#define MEM SITE_MEM

/* (out address, size, stream) */
#define ALLOC_ASYNC(symbol)                                                                        \
	MEM(symbol, "cuMemAllocAsync", UB_MEM_ALLOC_STREAM, .arg_obj = 1, .arg_count = 2,          \
	    .arg_aux = 3)
/* (out address, size, pool, stream) */
#define ALLOC_FROM_POOL(symbol)                                                                    \
	MEM(symbol, "cuMemAllocFromPoolAsync", UB_MEM_ALLOC_POOL, .arg_obj = 1, .arg_count = 2,    \
	    .arg_aux = 3)
/* (address), and a stream that does not matter */
#define FREE(symbol, name) MEM(symbol, name, UB_MEM_FREE, .arg_obj = 1)

static const struct site rows[] = {
	/* (out address, size), flags behind */
	MEM("cuMemAlloc_v2", "cuMemAlloc", UB_MEM_ALLOC, .arg_obj = 1, .arg_count = 2),
	MEM("cuMemAllocManaged", "cuMemAllocManaged", UB_MEM_ALLOC_MANAGED, .arg_obj = 1,
	    .arg_count = 2),
	MEM("cuMemHostAlloc", "cuMemHostAlloc", UB_MEM_ALLOC_HOST, .arg_obj = 1, .arg_count = 2),
	MEM("cuMemAllocHost_v2", "cuMemAllocHost", UB_MEM_ALLOC_HOST, .arg_obj = 1, .arg_count = 2),
	/* (out address, out pitch, width, height, element size) */
	MEM("cuMemAllocPitch_v2", "cuMemAllocPitch", UB_MEM_ALLOC_PITCH, .arg_obj = 1,
	    .arg_info = 2, .arg_count = 4),
	/* *_ptsz: what programs call that were built for a default stream per thread */
	ALLOC_ASYNC("cuMemAllocAsync"),
	ALLOC_ASYNC("cuMemAllocAsync_ptsz"),
	ALLOC_FROM_POOL("cuMemAllocFromPoolAsync"),
	ALLOC_FROM_POOL("cuMemAllocFromPoolAsync_ptsz"),
	/* (address, size, flags) */
	MEM("cuMemHostRegister_v2", "cuMemHostRegister", UB_MEM_REGISTER_HOST, .arg_obj = 1,
	    .arg_count = 2),

	FREE("cuMemFree_v2", "cuMemFree"),
	FREE("cuMemFreeAsync", "cuMemFreeAsync"),
	FREE("cuMemFreeAsync_ptsz", "cuMemFreeAsync"),
	FREE("cuMemFreeHost", "cuMemFreeHost"),
	FREE("cuMemHostUnregister", "cuMemHostUnregister"),
	FREE("cuIpcCloseMemHandle", "cuIpcCloseMemHandle"),

	/* (out handle, size, properties, flags) */
	MEM("cuMemCreate", "cuMemCreate", UB_MEM_CREATE, .arg_obj = 1, .arg_count = 2,
	    .arg_param = 3),
	/* (out handle, handle of the system, its type) */
	MEM("cuMemImportFromShareableHandle", "cuMemImportFromShareableHandle",
	    UB_MEM_IMPORT_HANDLE, .arg_obj = 1),
	/* (out handle, address) */
	MEM("cuMemRetainAllocationHandle", "cuMemRetainAllocationHandle", UB_MEM_RETAIN,
	    .arg_obj = 1, .arg_aux = 2),
	/* (handle) */
	MEM("cuMemRelease", "cuMemRelease", UB_MEM_RELEASE, .arg_obj = 1),
	/* (address, size, offset, handle, flags) */
	MEM("cuMemMap", "cuMemMap", UB_MEM_MAP, .arg_obj = 1, .arg_count = 2, .arg_aux = 4),
	/* (address, size) */
	MEM("cuMemUnmap", "cuMemUnmap", UB_MEM_UNMAP, .arg_obj = 1, .arg_count = 2),

	/* (out 64 bytes, address) */
	MEM("cuIpcGetMemHandle", "cuIpcGetMemHandle", UB_MEM_EXPORT, .arg_obj = 2, .arg_aux = 1),
	/* (out address, 64 bytes by value: on the stack, flags) */
	MEM("cuIpcOpenMemHandle_v2", "cuIpcOpenMemHandle", UB_MEM_IMPORT, .arg_obj = 1),
	MEM("cuIpcOpenMemHandle", "cuIpcOpenMemHandle", UB_MEM_IMPORT, .arg_obj = 1),
	/* (out address, pool, data) */
	MEM("cuMemPoolImportPointer", "cuMemPoolImportPointer", UB_MEM_IMPORT_POOL, .arg_obj = 1,
	    .arg_aux = 2),

	/* (out context, device) */
	MEM("cuDevicePrimaryCtxRetain", "cuDevicePrimaryCtxRetain", UB_MEM_CTX_RETAIN, .arg_obj = 1,
	    .arg_device = 2),
	/* (out context, [what version 3 and 4 put here], flags, device) */
	MEM("cuCtxCreate_v2", "cuCtxCreate", UB_MEM_CTX_CREATE, .arg_obj = 1, .arg_device = 3),
	MEM("cuCtxCreate_v3", "cuCtxCreate", UB_MEM_CTX_CREATE, .arg_obj = 1, .arg_device = 5),
	MEM("cuCtxCreate_v4", "cuCtxCreate", UB_MEM_CTX_CREATE, .arg_obj = 1, .arg_device = 4),
	/* (context) */
	MEM("cuCtxSetCurrent", "cuCtxSetCurrent", UB_MEM_CTX_SET, .arg_obj = 1),
	MEM("cuCtxPushCurrent_v2", "cuCtxPushCurrent", UB_MEM_CTX_PUSH, .arg_obj = 1),
	/* (out context, may be NULL) */
	MEM("cuCtxPopCurrent_v2", "cuCtxPopCurrent", UB_MEM_CTX_POP, .arg_obj = 1),
	/* (context) */
	MEM("cuCtxDestroy_v2", "cuCtxDestroy", UB_MEM_CTX_DESTROY, .arg_obj = 1),
	/* (device); without _v2: of programs built with CUDA 10 or older */
	MEM("cuDevicePrimaryCtxRelease", "cuDevicePrimaryCtxRelease", UB_MEM_CTX_RELEASE,
	    .arg_device = 1),
	MEM("cuDevicePrimaryCtxRelease_v2", "cuDevicePrimaryCtxRelease", UB_MEM_CTX_RELEASE,
	    .arg_device = 1),
	MEM("cuDevicePrimaryCtxReset", "cuDevicePrimaryCtxReset", UB_MEM_CTX_RESET,
	    .arg_device = 1),
	MEM("cuDevicePrimaryCtxReset_v2", "cuDevicePrimaryCtxReset", UB_MEM_CTX_RESET,
	    .arg_device = 1),
	/* (out stream, flags, [priority]) */
	MEM("cuStreamCreate", "cuStreamCreate", UB_MEM_STREAM_CREATE, .arg_obj = 1),
	MEM("cuStreamCreateWithPriority", "cuStreamCreateWithPriority", UB_MEM_STREAM_CREATE,
	    .arg_obj = 1),
	/* (stream) */
	MEM("cuStreamDestroy_v2", "cuStreamDestroy", UB_MEM_STREAM_DESTROY, .arg_obj = 1),
	/* (out pool, properties) */
	MEM("cuMemPoolCreate", "cuMemPoolCreate", UB_MEM_POOL_CREATE, .arg_obj = 1, .arg_param = 2),
	/* (out pool, device) */
	MEM("cuDeviceGetDefaultMemPool", "cuDeviceGetDefaultMemPool", UB_MEM_POOL_CREATE,
	    .arg_obj = 1, .arg_device = 2),
	/* (pool) */
	MEM("cuMemPoolDestroy", "cuMemPoolDestroy", UB_MEM_POOL_DESTROY, .arg_obj = 1),
};

/* Drivers differ in the functions that they export. */
const struct site_table sites_cuda = {
	rows,
	ARRAY_SIZE(rows),
	.marker = "cuInit",
};

/*
 * CUDA's runtime, where it is a library of its own: what the driver does inside of these functions
 * is marked with them, and so counted once. They tell nothing by themselves, so that a runtime that
 * is linked statically is missed in nothing but the name.
 */

#define SITE_RUNTIME(symbol, name)                                                                 \
	SITE(symbol, name, LEVEL_BESIDE, .kind = UB_MEM, .what = UB_MEM_RUNTIME)
#define RUNTIME(name) SITE_RUNTIME(#name, #name)
/* *_ptsz: what programs call that were built for a default stream per thread */
#define RUNTIME_PTSZ(name) SITE_RUNTIME(#name "_ptsz", #name)

static const struct site runtime_rows[] = {
	RUNTIME(cudaMalloc),
	RUNTIME(cudaMallocPitch),
	RUNTIME(cudaMalloc3D),
	RUNTIME(cudaMallocManaged),
	RUNTIME(cudaMallocHost),
	RUNTIME(cudaHostAlloc),
	RUNTIME(cudaHostRegister),
	RUNTIME(cudaMallocAsync),
	RUNTIME_PTSZ(cudaMallocAsync),
	RUNTIME(cudaMallocFromPoolAsync),
	RUNTIME_PTSZ(cudaMallocFromPoolAsync),
	RUNTIME(cudaIpcOpenMemHandle),
	RUNTIME(cudaFree),
	RUNTIME(cudaFreeAsync),
	RUNTIME_PTSZ(cudaFreeAsync),
	RUNTIME(cudaFreeHost),
};

const struct site_table sites_cudart = {
	runtime_rows,
	ARRAY_SIZE(runtime_rows),
	.marker = "cudaRuntimeGetVersion",
};
