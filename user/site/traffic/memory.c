// SPDX-License-Identifier: BSD-3-Clause
/* Buffers and their content: every 8 bytes differ by offset and message. */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "site/traffic/traffic.h"

/* ---- CUDA ---- */

/* NVIDIA's driver library, opened when it is needed: no toolkit, no link. */

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

static void *cuda_function(void *library, const char *name)
{
	void *found = dlsym(library, name);

	if (!found)
		give_up("libcuda.so.1 has no %s", name);
	return found;
}

static void cuda_check(int status, const char *name)
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
	cuda.init = cuda_function(library, "cuInit");
	cuda.count = cuda_function(library, "cuDeviceGetCount");
	cuda.retain = cuda_function(library, "cuDevicePrimaryCtxRetain");
	cuda.current = cuda_function(library, "cuCtxSetCurrent");
	cuda.alloc = cuda_function(library, "cuMemAlloc_v2");
	cuda.write = cuda_function(library, "cuMemcpyHtoD_v2");
	cuda.read = cuda_function(library, "cuMemcpyDtoH_v2");
	cuda.synchronize = cuda_function(library, "cuCtxSynchronize");
	cuda_check(cuda.init(0), "cuInit");
	cuda_check(cuda.count(&devices), "cuDeviceGetCount");
	if (!devices)
		give_up("the plan wants GPU memory, but there is no GPU");
	cuda_check(cuda.retain(&context, local_rank() % devices), "cuDevicePrimaryCtxRetain");
	cuda_check(cuda.current(context), "cuCtxSetCurrent");
}

static void *cuda_alloc(size_t size)
{
	address to = 0;

	cuda_check(cuda.alloc(&to, size), "cuMemAlloc");
	return (void *)(uintptr_t)to;
}

/* Synchronous, so that MPI sends the new content. */
static void cuda_write(void *to, const void *from, size_t size)
{
	cuda_check(cuda.write((uintptr_t)to, from, size), "cuMemcpyHtoD");
	cuda_check(cuda.synchronize(), "cuCtxSynchronize");
}

static void cuda_read(void *to, const void *from, size_t size)
{
	cuda_check(cuda.read(to, (uintptr_t)from, size), "cuMemcpyDtoH");
}

/* ---- contents ---- */

#define PAGE 4096
#define PIECE (1 << 20) /* of GPU memory, written and read at once */

static uint64_t word(uint64_t seed, uint64_t place)
{
	return (seed + place) * 0x9e3779b97f4a7c15;
}

/* ---- bytes from..to of a message, in host memory ---- */

static void make(unsigned char *to, uint64_t seed, size_t from, size_t size)
{
	for (size_t i = 0; i < size; i += 8) {
		uint64_t value = word(seed, from + i);

		memcpy(to + i, &value, size - i < 8 ? size - i : 8);
	}
}

static bool same(const unsigned char *bytes, uint64_t seed, size_t from, size_t size,
		 uint64_t factor)
{
	for (size_t i = 0; i < size; i += 8) {
		uint64_t value = factor * word(seed, from + i);

		if (memcmp(bytes + i, &value, size - i < 8 ? size - i : 8))
			return false;
	}
	return true;
}

static void put(enum plan_memory kind, void *buffer, uint64_t seed, size_t from, size_t size)
{
	static unsigned char piece[PIECE];

	if (kind == PLAN_HOST) {
		make((unsigned char *)buffer + from, seed, from, size);
		return;
	}
	for (size_t at = 0; at < size; at += PIECE) {
		size_t part = size - at < PIECE ? size - at : PIECE;

		make(piece, seed, from + at, part);
		cuda_write((char *)buffer + from + at, piece, part);
	}
}

static bool has_times(enum plan_memory kind, const void *buffer, uint64_t seed, size_t from,
		      size_t size, uint64_t factor)
{
	static unsigned char piece[PIECE];

	if (kind == PLAN_HOST)
		return same((const unsigned char *)buffer + from, seed, from, size, factor);
	for (size_t at = 0; at < size; at += PIECE) {
		size_t part = size - at < PIECE ? size - at : PIECE;

		cuda_read(piece, (const char *)buffer + from + at, part);
		if (!same(piece, seed, from + at, part, factor))
			return false;
	}
	return true;
}

static bool has(enum plan_memory kind, const void *buffer, uint64_t seed, size_t from, size_t size)
{
	return has_times(kind, buffer, seed, from, size, 1);
}

/* ---- whole messages ---- */

bool multiplied(enum plan_memory kind, const void *buffer, size_t size, uint64_t seed,
		uint64_t factor)
{
	return has_times(kind, buffer, seed, 0, size, factor);
}

void fill(enum plan_memory kind, void *buffer, size_t size, uint64_t seed)
{
	put(kind, buffer, seed, 0, size);
}

/* Where the stamps are: the second one of whole words, behind the first one. */
static size_t last_word(size_t size)
{
	return size < 16 ? 0 : (size - 8) & ~(size_t)7;
}

static size_t word_size(size_t size, size_t at)
{
	return size - at < 8 ? size - at : 8;
}

void stamp(enum plan_memory kind, void *buffer, size_t size, uint64_t seed)
{
	put(kind, buffer, seed, 0, word_size(size, 0));
	if (last_word(size))
		put(kind, buffer, seed, last_word(size), 8);
}

bool stamped(enum plan_memory kind, const void *buffer, size_t size, uint64_t seed)
{
	return has(kind, buffer, seed, 0, word_size(size, 0)) &&
	       (!last_word(size) || has(kind, buffer, seed, last_word(size), 8));
}

bool filled(enum plan_memory kind, const void *buffer, size_t size, uint64_t seed, uint64_t stamp)
{
	size_t last = last_word(size);

	if (!stamped(kind, buffer, size, stamp))
		return false;
	if (!last)
		return size <= 8 || has(kind, buffer, seed, 8, size - 8);
	return has(kind, buffer, seed, 8, last - 8) &&
	       has(kind, buffer, seed, last + 8, size - last - 8);
}

static void *allocate(enum plan_memory kind, size_t size)
{
	void *buffer = NULL;

	if (kind == PLAN_CUDA)
		return cuda_alloc(size);
	if (posix_memalign(&buffer, PAGE, size))
		give_up("no %zu bytes of memory", size);
	memset(buffer, 0, size);
	return buffer;
}

static size_t needed(const struct plan_stage *stage, int ranks, enum plan_memory kind)
{
	size_t most = 0;

	for (size_t i = 0; i < stage->works.len; i++) {
		const struct plan_work *work = &stage->works.data[i];
		size_t size = work->size * (work->op == PLAN_ALLTOALL ? ranks : 1);

		if ((work->src_mem == kind || work->dst_mem == kind) && size > most)
			most = size;
	}
	return most;
}

/* A node without GPUs has no use for their memory. */
static bool may_have(const struct plan *plan, int node, enum plan_memory kind)
{
	return kind != PLAN_CUDA ||
	       (node >= 0 && plan->classes.data[plan->nodes.data[node].class].gpus);
}

static size_t most_needed(const struct plan *plan, const bool stages[STAGES], int ranks,
			  enum plan_memory kind)
{
	size_t most = 0;

	for (size_t i = 0; i < plan->stages.len; i++) {
		const struct plan_stage *stage = &plan->stages.data[i];
		size_t size = stages[stage->kind] ? needed(stage, ranks, kind) : 0;

		most = size > most ? size : most;
	}
	return most;
}

bool wants_memory(const struct plan *plan, int node, const bool stages[STAGES],
		  enum plan_memory kind)
{
	return may_have(plan, node, kind) && most_needed(plan, stages, 1, kind);
}

void get_memory(struct rank *rank, const bool stages[STAGES])
{
	for (int kind = 0; kind < PLAN_MEMORIES; kind++) {
		struct traffic_memory *memory = &rank->memory[kind];

		if (!may_have(rank->plan, rank->node, kind))
			continue;
		memory->size = most_needed(rank->plan, stages, rank->size, kind);
		if (!memory->size)
			continue;
		memory->send = allocate(kind, memory->size);
		memory->receive = allocate(kind, memory->size);
	}
}
