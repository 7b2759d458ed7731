/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The owner of the memory at an address. The calls of GPU libraries (enum ub_mem_what), applied in
 * time order, give the state of each process at a time. Unseen memory is unknown, with a reason: a
 * device is never guessed.
 *
 * How calls choose a device: CUDA driver API, cuda.h of CUDA 13.0. cuMemAlloc and the like take the
 * calling thread's current context, the top of a stack per thread that cuCtxCreate and
 * cuCtxPushCurrent push onto, cuCtxPopCurrent pops, and whose top cuCtxSetCurrent replaces (NULL
 * pops); cuMemAllocAsync takes the stream's, cuMemAllocFromPoolAsync the pool's. A context's memory
 * ends with it (context.c); memory opened over IPC lies on its exporter's device (apply.c).
 */
#ifndef UCXBPF_MEMORY_MEMORY_H
#define UCXBPF_MEMORY_MEMORY_H

#include <stdbool.h>

#include "base/map.h"
#include "base/memory_name.h"
#include "base/vec.h"
#include "ucxbpf.h"

/* How it came to be there. */
enum memory_sort {
	MEMORY_NO_SORT,
	MEMORY_PLAIN,
	MEMORY_POOL, /* of a stream's or an explicit pool */
	MEMORY_REGISTERED, /* the program's own memory, pinned later */
	MEMORY_MAPPED, /* physical memory, mapped piece by piece */
	MEMORY_IMPORTED, /* of another process */
	MEMORY_SORTS
};

struct memory_answer {
	enum memory_kind kind;
	enum memory_sort sort;
	int device; /* the library's own number; -1: not a GPU's, or not known */
	int numbered_by; /* the process whose number that is: of imported memory, the exporter */
	uint64_t exported_at; /* its address there, if the exporter's device is not known */
	/* "allocation", "no GPU library", "map", "ucx"; NULL: unknown. Static. */
	const char *known_by;
	const char *reason; /* why kind or device are unknown; NULL: they are not. Static. */
};

/* Sums over all equal memory of a process. */
struct memory_use {
	int process;
	enum memory_kind kind;
	enum memory_sort sort;
	int device;
	int numbered_by; /* as in struct memory_answer */
	const char *reason;
	const char *function; /* function that the program called to make it */
	uint64_t allocations, bytes;
	uint64_t unsized; /* number of allocations of unknown size, in no other number */
	uint64_t live, live_peak; /* bytes; a peak is per row */
};

/* Calls that could not be applied to the state of a process. */
struct memory_counts {
	uint64_t failed; /* calls that returned an error: they changed nothing */
	uint64_t unreadable; /* made memory at an address that could not be read */
	uint64_t unmatched; /* frees and unmappings of memory whose allocation was not seen */
	uint64_t replaced; /* memory in whose place other memory was made: its end was not seen */
};

/* A call of a GPU library. */
struct memory_call {
	int process; /* the caller's number for it, not negative */
	int host; /* likewise: what one process exports, another one on its host can open */
	uint32_t tid;
	enum ub_mem_what what;
	const char *function; /* that the program called: the runtime's, or this; it is kept */
	const struct ub_mem *record;
};

/* A zeroed struct memory is an empty one. */
struct memory {
	struct map spaces; /* process -> struct space * */
	struct map exports; /* (hash of the handle, host) -> struct exported * */
	VEC(struct memory_use *) uses; /* in the order in which they were first seen */
};

void memory_release(struct memory *memory);

/* Applies the effect of a call. */
void memory_apply(struct memory *memory, const struct memory_call *call);

/* A thread has ended: another one may get its number. */
void memory_thread_ended(struct memory *memory, int process, uint32_t tid);

/* The process starts anew (fork, exec), and is seen from there on. */
void memory_begin(struct memory *memory, int process);

/* Forgets the process's memory after an untraced time. */
void memory_forget(struct memory *memory, int process);

/* The process never has a GPU library, so its memory is the host's; memory_apply() disproves it. */
void memory_no_library(struct memory *memory, int process);

/* The memory at an address, after all calls applied so far. */
void memory_find(const struct memory *memory, int process, uint64_t address,
		 struct memory_answer *answer);

/* Zeros if nothing was seen of the process. */
struct memory_counts memory_counts(const struct memory *memory, int process);

/* "plain", "pool", "registered", "mapped", "imported"; NULL: none. */
const char *memory_sort_name(enum memory_sort sort);

#endif
