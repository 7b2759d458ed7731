/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls of GPU libraries, and what a trace should have of each. $TRUTH/RANK.memory gets a line per
 * call: thread, function, address, size, handle, device, status, the runtime's function around it
 * or -, then when it began and ended.
 */
#ifndef UCXBPF_MEMORY_LEDGER_H
#define UCXBPF_MEMORY_LEDGER_H

#include <dlfcn.h>
#include <inttypes.h>
#include <sys/syscall.h>
#include <time.h>

#include "mpi_common.h"

#define TOO_MUCH (1ull << 41)

static FILE *ledger;

static inline uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000ull + time.tv_nsec;
}

static inline void *open_gpu_library(const char *path)
{
	void *library = dlopen(path, RTLD_NOW | RTLD_GLOBAL);

	if (!library) {
		fprintf(stderr, "%s\n", dlerror());
		exit(2);
	}
	return library;
}

/* Of any library that was opened. */
static inline void *function(const char *name)
{
	void *address = dlsym(RTLD_DEFAULT, name);

	if (!address)
		fprintf(stderr, "%s\n", dlerror());
	EXPECT(address);
	return address;
}

/* Public ABI of cuda.h and hip_runtime_api.h. */
struct properties {
	int type, handle_types, location_type, location_id;
	char more[72];
};

struct ipc_handle {
	uint64_t words[8];
};

/* What stands for a handle: FNV-1a, over words of 8 bytes. */
static inline uint64_t hash_of(const struct ipc_handle *handle)
{
	uint64_t hash = 14695981039346656037ull;

	for (int i = 0; i < 8; i++)
		hash = (hash ^ handle->words[i]) * 1099511628211ull;
	return hash;
}

/* What a call is about. */
struct about {
	uint64_t address, size, handle;
	int device, status;
};

#define ABOUT(...)                                                                                 \
	{                                                                                          \
		.device = -1, __VA_ARGS__                                                          \
	}

static inline void record(const char *name, const char *around, const struct about *about,
			  uint64_t begun)
{
	if (ledger)
		fprintf(ledger,
			"%ld %s %#" PRIx64 " %" PRIu64 " %#" PRIx64 " %d %d %s %" PRIu64 " %" PRIu64
			"\n",
			(long)syscall(SYS_gettid), name, about->address, about->size, about->handle,
			about->device, about->status, around, begun, now());
}

/* Calls one function, and writes down what the driver's one in it is to be seen as. */
#define CALL_OVER(about, called, types, arguments, name)                                           \
	do {                                                                                       \
		uint64_t begun = now();                                                            \
                                                                                                   \
		(about).status = ((int(*) types)function(#called))arguments;                       \
		record(#name, #called, &(about), begun);                                           \
	} while (0)

#define CALL(about, name, types, arguments)                                                        \
	do {                                                                                       \
		uint64_t begun = now();                                                            \
                                                                                                   \
		(about).status = ((int(*) types)function(#name))arguments;                         \
		record(#name, "-", &(about), begun);                                               \
	} while (0)

/* n calls of a function (out address, size, rest...), each followed by one of its counterpart. */
#define PAIRS(n, made, types, arguments, freed, free_types, free_arguments)                        \
	for (int i = 0; i < (n); i++) {                                                            \
		struct about a = ABOUT(.size = 1000 + i), b = ABOUT();                             \
                                                                                                   \
		CALL(a, made, types, arguments);                                                   \
		b.address = a.address;                                                             \
		CALL(b, freed, free_types, free_arguments);                                        \
	}

#define ADDRESS (uint64_t)
#define ADDRESS_STREAM (uint64_t, uint64_t)

#endif
