// SPDX-License-Identifier: BSD-3-Clause
/*
 * CUDA's runtime, where it is a library of its own: what the driver does inside of these functions
 * is marked with them, and so counted once. They tell nothing by themselves, so that a runtime that
 * is linked statically is missed in nothing but the name.
 */
#include "observe/probe/sites_tables.h"

#include "base/array.h"

#define SITE_RUNTIME(symbol, name)                                                                 \
	SITE(symbol, name, LAYER_MEMORY, .kind = UB_MEM, .what = UB_MEM_RUNTIME)
#define RUNTIME(name) SITE_RUNTIME(#name, #name)
/* *_ptsz: what programs call that were built for a default stream per thread */
#define RUNTIME_PTSZ(name) SITE_RUNTIME(#name "_ptsz", #name)

static const struct site rows[] = {
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
	rows,
	ARRAY_SIZE(rows),
	.marker = "cudaRuntimeGetVersion",
};
