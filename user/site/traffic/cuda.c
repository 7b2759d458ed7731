// SPDX-License-Identifier: BSD-3-Clause
/* NVIDIA's driver library, opened when it is needed: no toolkit, no link. */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "site/traffic/traffic.h"

typedef unsigned long long address; /* CUdeviceptr */

static struct {
	int (*init)(unsigned int flags);
	int (*count)(int *count);
	int (*retain)(void **context, int device);
	int (*current)(void *context);
	int (*alloc)(address *to, size_t size);
	int (*write)(address to, const void *from, size_t size);
	int (*read)(void *to, address from, size_t size);
	int (*synchronize)(void);
} cuda;

static void *function(void *library, const char *name)
{
	void *found = dlsym(library, name);

	if (!found)
		give_up("libcuda.so.1 has no %s", name);
	return found;
}

static void check(int status, const char *name)
{
	if (status)
		give_up("%s: CUDA error %d", name, status);
}

/* Which of the node's ranks this is, as launchers tell before MPI does. */
static int local_rank(void)
{
	static const char *const names[] = { "OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID",
					     "PMI_LOCAL_RANK", "SLURM_LOCALID" };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (getenv(names[i]))
			return atoi(getenv(names[i]));
	return 0;
}

/* The device's primary context, as CUDA's runtime has it. */
void cuda_begin(void)
{
	void *library = dlopen("libcuda.so.1", RTLD_NOW), *context;
	int devices = 0;

	if (!library)
		give_up("the plan wants GPU memory, but: %s", dlerror());
	cuda.init = function(library, "cuInit");
	cuda.count = function(library, "cuDeviceGetCount");
	cuda.retain = function(library, "cuDevicePrimaryCtxRetain");
	cuda.current = function(library, "cuCtxSetCurrent");
	cuda.alloc = function(library, "cuMemAlloc_v2");
	cuda.write = function(library, "cuMemcpyHtoD_v2");
	cuda.read = function(library, "cuMemcpyDtoH_v2");
	cuda.synchronize = function(library, "cuCtxSynchronize");
	check(cuda.init(0), "cuInit");
	check(cuda.count(&devices), "cuDeviceGetCount");
	if (!devices)
		give_up("the plan wants GPU memory, but there is no GPU");
	check(cuda.retain(&context, local_rank() % devices), "cuDevicePrimaryCtxRetain");
	check(cuda.current(context), "cuCtxSetCurrent");
}

void *cuda_alloc(size_t size)
{
	address to = 0;

	check(cuda.alloc(&to, size), "cuMemAlloc");
	return (void *)(uintptr_t)to;
}

/* Done when it returns: what MPI sends next is what was written. */
void cuda_write(void *to, const void *from, size_t size)
{
	check(cuda.write((uintptr_t)to, from, size), "cuMemcpyHtoD");
	check(cuda.synchronize(), "cuCtxSynchronize");
}

void cuda_read(void *to, const void *from, size_t size)
{
	check(cuda.read(to, (uintptr_t)from, size), "cuMemcpyDtoH");
}
