/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/* State of a task that calls a GPU's library. */
#ifndef UCXBPF_MEMORY_BPF_H
#define UCXBPF_MEMORY_BPF_H

#include "maps.bpf.h"

struct memory_call {
	__u64 sp; /* at the function's entry; first, see ENTERED() */
	__u64 ts;
	__u64 row;
	__u64 ret; /* value of its stack slot while it is live */
	__u64 key; /* of the handle that it was given, see ub_handle_hash() */
	__u64 args[ARGS];
};

/* Power of two: a runtime's function, the driver's in it, and calls of its own kind inside. */
#define MEMORY_CALLS 4

struct memory_task {
	__u32 depth;
	__u32 pad;
	__u64 missed; /* records that found no room, not reported yet, */
	__u64 missed_from, missed_until; /* ns */
	struct memory_call calls[MEMORY_CALLS];
};

/* Per task; written and read here only. Allocation failure: as of "tasks". */
struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct memory_task);
} memory_tasks __weak SEC(".maps");

#endif
