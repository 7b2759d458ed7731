/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of memory/ share among themselves. */
#ifndef UCXBPF_MEMORY_INTERNAL_H
#define UCXBPF_MEMORY_INTERNAL_H

#include "memory/memory.h"
#include "memory/ranges.h"

/* Why a device, or the kind of memory, is not known. */
enum why {
	WHY_KNOWN,
	WHY_NO_CURRENT,
	WHY_NO_CONTEXT,
	WHY_NO_STREAM,
	WHY_NO_POOL,
	WHY_NO_PHYSICAL,
	WHY_NOT_TOLD,
	WHY_IMPORTED,
	WHYS
};

const char *why_text(enum why why);

/* A device, -1 with a reason. */
struct device {
	int32_t number;
	enum why why;
};

/* One process. */
struct space {
	struct memory *memory;
	int process;
	bool no_library;
	struct map contexts, streams, pools, physical; /* handle -> packed struct device */
	struct map threads; /* tid -> struct context_stack * */
	struct map opens; /* address -> how often live memory of another process was opened */
	struct ranges ranges; /* value: struct memory_use * */
	VEC(struct memory_use *) uses;
	struct memory_counts counts;
};

/* ---- device.c ---- */
void device_learn(struct map *map, uint64_t handle, struct device device);
/* missing: the reason where the handle is not known. */
struct device device_of(const struct map *map, uint64_t handle, enum why missing);
/* What a record tells itself. */
struct device device_told(const struct ub_mem *record, enum why missing);

/* ---- context.c ---- */
void context_push(struct space *space, uint32_t tid, uint64_t context);
void context_pop(struct space *space, uint32_t tid);
void context_set(struct space *space, uint32_t tid, uint64_t context);
struct device context_device(const struct space *space, uint32_t tid);
void context_thread_ended(struct space *space, uint32_t tid);
void contexts_release(struct space *space);

/* ---- use.c ---- */
/* Memory of that sort is at an address from now on; size 0: not told. */
void use_begin(struct space *space, enum memory_kind kind, enum memory_sort sort,
	       struct device device, uint64_t address, uint64_t size);
/* For struct ranges; arg: the space. */
void use_ended(void *arg, const struct range *range);

/* ---- apply.c ---- */
void space_apply(struct space *space, uint32_t tid, enum ub_mem_what what,
		 const struct ub_mem *record);

#endif
