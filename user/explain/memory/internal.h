/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shared among the files of memory/. Layers: ranges.c, device.c and evidence.c; use.c and
 * context.c; apply.c; memory.c.
 */
#ifndef UCXBPF_MEMORY_INTERNAL_H
#define UCXBPF_MEMORY_INTERNAL_H

#include "explain/memory/memory.h"
#include "explain/memory/ranges.h"

/* Why a device, or the kind of memory, is not known. */
enum why {
	WHY_KNOWN,
	WHY_NO_CURRENT,
	WHY_NO_CONTEXT,
	WHY_NO_STREAM,
	WHY_NO_POOL,
	WHY_NO_PHYSICAL,
	WHY_NO_DEVICE,
	WHY_TWO_DRIVERS,
	WHY_NOT_TOLD,
	WHY_IMPORTED,
	WHY_NO_EXPORT,
	WHY_EXPORTER,
	WHYS
};

/* A device, -1 with a reason. It may also be UB_DEVICE_HOST or UB_DEVICE_MANAGED. */
struct known_device {
	int32_t number;
	enum why why;
};

/* Equal memory that ends with one context. */
struct holding {
	struct memory_use *use;
	uint64_t context; /* 0: with no known context */
	uint64_t exported_at; /* as in struct memory_answer */
};

/* One process. */
struct space {
	struct memory *memory;
	int process;
	bool no_library;
	bool whole; /* seen from its beginning */
	struct map contexts, streams, pools, physical,
		devices; /* handle -> packed struct known_device */
	struct map physical_held; /* handle -> number of releases it needs */
	struct map stream_contexts; /* stream -> context */
	struct map primaries, retained; /* device -> its primary context; -> its reference count */
	uint64_t driver; /* whose devices are known */
	struct map threads; /* tid -> struct context_stack * */
	struct map opens; /* address -> how often live memory of another process was opened there */
	struct ranges ranges; /* value: struct holding * */
	VEC(struct memory_use *) uses;
	VEC(struct holding *) holdings;
	struct memory_counts counts;
};

/* ---- device.c ---- */
void device_learn(struct map *map, uint64_t handle, struct known_device device);
/* missing: the reason if the handle is not known. */
struct known_device device_of(const struct map *map, uint64_t handle, enum why missing);
/* The device that a record itself names. */
struct known_device device_told(const struct ub_mem *record, enum why missing);

/* ---- use.c ---- */

/* A memory's type, and the context that it ends with (0: unknown). */
struct whose {
	enum memory_kind kind;
	enum memory_sort sort;
	struct known_device device;
	int numbered_by; /* the process whose number the device's is */
	uint64_t context;
	uint64_t exported_at;
};

/* Memory of that kind is at an address from now on; size 0: not known. */
void use_begin(struct space *space, const struct memory_call *call, const struct whose *whose,
	       uint64_t size);

/* For struct ranges; arg: the space. */
void use_ended(void *arg, const struct range *range);

/* ---- context.c ---- */
/* 0: not known. */
uint64_t context_current(const struct space *space, uint32_t tid);
struct known_device context_device(const struct space *space, uint32_t tid);
void context_thread_ended(struct space *space, uint32_t tid);
void contexts_release(struct space *space);

/* Effects of calls on contexts, and on memory that ends with them. */
void call_context_retained(struct space *space, const struct memory_call *call);
void call_context_created(struct space *space, const struct memory_call *call);
void call_context_set(struct space *space, const struct memory_call *call);
void call_context_pushed(struct space *space, const struct memory_call *call);
void call_context_popped(struct space *space, const struct memory_call *call);
void call_context_destroyed(struct space *space, const struct memory_call *call);
void call_context_released(struct space *space, const struct memory_call *call);
void call_context_reset(struct space *space, const struct memory_call *call);
void call_device_set(struct space *space, const struct memory_call *call);
void call_stream_made(struct space *space, const struct memory_call *call);
void call_stream_destroyed(struct space *space, const struct memory_call *call);

/* ---- apply.c ---- */
void exports_release(struct memory *memory);
void space_apply(struct space *space, const struct memory_call *call);

#endif
