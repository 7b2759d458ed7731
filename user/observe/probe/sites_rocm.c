// SPDX-License-Identifier: BSD-3-Clause
/*
 * Memory of AMD's GPUs: at HIP (hip_runtime_api.h, ROCm 5 and 6), which knows on which device it
 * is, and at the HSA runtime below (hsa_ext_amd.h) for what does without HIP. What HIP calls of HSA
 * is a part of its own call. Arguments as in sites_cuda.c; a thread has a current device in place
 * of a context.
 */
#include "observe/probe/sites_tables.h"

#define MEM SITE_MEM
#define FREE(symbol) MEM(symbol, symbol, UB_MEM_FREE, .arg_obj = 1)
/* (out address, size), more behind */
#define ALLOC(symbol, what) MEM(symbol, symbol, what, .arg_obj = 1, .arg_count = 2)
#define STREAM(symbol) MEM(symbol, symbol, UB_MEM_STREAM_CREATE, .arg_obj = 1)

static const struct site hip_rows[] = {
	ALLOC("hipMalloc", UB_MEM_ALLOC),
	/* (out address, size, flags) */
	MEM("hipExtMallocWithFlags", "hipExtMallocWithFlags", UB_MEM_ALLOC, .arg_obj = 1,
	    .arg_count = 2, .arg_aux = 3),
	ALLOC("hipMallocManaged", UB_MEM_ALLOC_MANAGED),
	ALLOC("hipHostMalloc", UB_MEM_ALLOC_HOST),
	ALLOC("hipMallocHost", UB_MEM_ALLOC_HOST),
	/* (out address, out pitch, width, height) */
	MEM("hipMallocPitch", "hipMallocPitch", UB_MEM_ALLOC_PITCH, .arg_obj = 1, .arg_info = 2,
	    .arg_count = 4),
	/* (out address, size, stream) */
	MEM("hipMallocAsync", "hipMallocAsync", UB_MEM_ALLOC_STREAM, .arg_obj = 1, .arg_count = 2,
	    .arg_aux = 3),
	/* (out address, size, pool, stream) */
	MEM("hipMallocFromPoolAsync", "hipMallocFromPoolAsync", UB_MEM_ALLOC_POOL, .arg_obj = 1,
	    .arg_count = 2, .arg_aux = 3),
	/* (address, size, flags) */
	MEM("hipHostRegister", "hipHostRegister", UB_MEM_REGISTER_HOST, .arg_obj = 1,
	    .arg_count = 2),

	FREE("hipFree"),
	FREE("hipFreeAsync"),
	FREE("hipHostFree"),
	FREE("hipFreeHost"),
	FREE("hipHostUnregister"),
	FREE("hipIpcCloseMemHandle"),

	/* (out 64 bytes, address) */
	MEM("hipIpcGetMemHandle", "hipIpcGetMemHandle", UB_MEM_EXPORT, .arg_obj = 2, .arg_aux = 1),
	/* (out address, 64 bytes by value: on the stack, flags) */
	MEM("hipIpcOpenMemHandle", "hipIpcOpenMemHandle", UB_MEM_IMPORT, .arg_obj = 1),

	/* (device) */
	MEM("hipSetDevice", "hipSetDevice", UB_MEM_DEVICE_SET, .arg_device = 1),
	/* (out stream, [flags, [priority]]) */
	STREAM("hipStreamCreate"),
	STREAM("hipStreamCreateWithFlags"),
	STREAM("hipStreamCreateWithPriority"),
	/* (stream) */
	MEM("hipStreamDestroy", "hipStreamDestroy", UB_MEM_STREAM_DESTROY, .arg_obj = 1),
	/* (out pool, properties) */
	MEM("hipMemPoolCreate", "hipMemPoolCreate", UB_MEM_POOL_CREATE, .arg_obj = 1,
	    .arg_param = 2),
	/* (out pool, device) */
	MEM("hipDeviceGetDefaultMemPool", "hipDeviceGetDefaultMemPool", UB_MEM_POOL_CREATE,
	    .arg_obj = 1, .arg_device = 2),
	/* (pool) */
	MEM("hipMemPoolDestroy", "hipMemPoolDestroy", UB_MEM_POOL_DESTROY, .arg_obj = 1),
};

/* A pool belongs to an agent, which may be a CPU: no traced call shows which. */
static const struct site hsa_rows[] = {
	/* (pool, size, flags, out address) */
	MEM("hsa_amd_memory_pool_allocate", "hsa_amd_memory_pool_allocate", UB_MEM_ALLOC_POOL,
	    .arg_obj = 4, .arg_count = 2, .arg_aux = 1),
	FREE("hsa_amd_memory_pool_free"),
};

const struct site_table sites_hip = {
	hip_rows,
	ARRAY_SIZE(hip_rows),
	.marker = "hipInit",
};

const struct site_table sites_hsa = {
	hsa_rows,
	ARRAY_SIZE(hsa_rows),
	.marker = "hsa_init",
};
