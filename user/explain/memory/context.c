// SPDX-License-Identifier: BSD-3-Clause
/* Contexts of GPU libraries: the current one of each thread, and how long each of them lives. */
#include "explain/memory/internal.h"

#include "base/alloc.h"

/* ---- devices behind the handles of GPU libraries ---- */

/* In one word of a map: the number above, the reason below. */
void device_learn(struct map *map, uint64_t handle, struct known_device device)
{
	*map_insert(map, handle, 0, NULL) = (uint64_t)(uint32_t)device.number << 32 | device.why;
}

struct known_device device_of(const struct map *map, uint64_t handle, enum why missing)
{
	const uint64_t *packed = map_find(map, handle, 0);

	if (!packed)
		return (struct known_device){ -1, missing };
	return (struct known_device){ (int32_t)(*packed >> 32), (enum why)(uint32_t)*packed };
}

struct known_device device_told(const struct ub_mem *record, enum why missing)
{
	return record->device == UB_DEVICE_NOT_TOLD
		       ? (struct known_device){ -1, missing }
		       : (struct known_device){ record->device, WHY_KNOWN };
}

/* ---- contexts ---- */

/*
 * Each thread's stack of current contexts. Contexts below the seen ones are unknown: a thread may
 * have had some before the trace.
 */
struct context_stack {
	VEC(uint64_t) contexts;
};

static struct context_stack *stack_find(const struct space *space, uint32_t tid)
{
	const uint64_t *found = map_find(&space->threads, tid, 0);

	return found ? (struct context_stack *)(uintptr_t)*found : NULL;
}

static void context_push(struct space *space, uint32_t tid, uint64_t context)
{
	struct context_stack *stack = stack_find(space, tid);

	if (!stack) {
		stack = xcalloc(1, sizeof(*stack));
		*map_insert(&space->threads, tid, 0, NULL) = (uintptr_t)stack;
	}
	vec_push(&stack->contexts, context);
}

static void context_pop(struct space *space, uint32_t tid)
{
	struct context_stack *stack = stack_find(space, tid);

	if (stack && stack->contexts.len)
		stack->contexts.len--;
}

static void context_set(struct space *space, uint32_t tid, uint64_t context)
{
	context_pop(space, tid);
	if (context)
		context_push(space, tid, context);
}

uint64_t context_current(const struct space *space, uint32_t tid)
{
	const struct context_stack *stack = stack_find(space, tid);

	return stack && stack->contexts.len ? stack->contexts.data[stack->contexts.len - 1] : 0;
}

struct known_device context_device(const struct space *space, uint32_t tid)
{
	uint64_t context = context_current(space, tid);

	return context ? device_of(&space->contexts, context, WHY_NO_CONTEXT)
		       : (struct known_device){ -1, WHY_NO_CURRENT };
}

static void stack_free(struct context_stack *stack)
{
	vec_release(&stack->contexts);
	free(stack);
}

void context_thread_ended(struct space *space, uint32_t tid)
{
	struct context_stack *stack = stack_find(space, tid);

	if (!stack)
		return;
	stack_free(stack);
	map_remove(&space->threads, tid, 0);
}

void contexts_release(struct space *space)
{
	struct map_slot *slot;
	size_t pos = 0;

	while ((slot = map_next(&space->threads, &pos)))
		stack_free((struct context_stack *)(uintptr_t)slot->value);
	map_release(&space->threads);
	map_release(&space->contexts);
	map_release(&space->primaries);
	map_release(&space->retained);
}

/*
 * The lives of contexts. One that is destroyed, and a device's primary one that is released by its
 * last holder or reset, takes its memory and streams with it, and another one may get its handle
 * (cuda.h of CUDA 13.0: cuCtxDestroy, cuDevicePrimaryCtxRelease, cuDevicePrimaryCtxReset). Where it
 * is not documented that memory ends, it ends here all the same: unknown is better than wrong.
 */

/* HIP has a current device in place of a context: no handle of CUDA is as great. */
static uint64_t context_of_device(int32_t device)
{
	return UINT64_MAX - (uint32_t)device;
}

void call_context_retained(struct space *space, const struct memory_call *call)
{
	const struct ub_mem *record = call->record;

	device_learn(&space->contexts, record->handle, device_told(record, WHY_NOT_TOLD));
	*map_insert(&space->primaries, record->device, 0, NULL) = record->handle;
	++*map_insert(&space->retained, record->device, 0, NULL);
}

void call_context_created(struct space *space, const struct memory_call *call)
{
	device_learn(&space->contexts, call->record->handle,
		     device_told(call->record, WHY_NOT_TOLD));
	context_push(space, call->tid, call->record->handle);
}

void call_context_set(struct space *space, const struct memory_call *call)
{
	context_set(space, call->tid, call->record->handle);
}

void call_context_pushed(struct space *space, const struct memory_call *call)
{
	context_push(space, call->tid, call->record->handle);
}

void call_context_popped(struct space *space, const struct memory_call *call)
{
	context_pop(space, call->tid);
}

void call_device_set(struct space *space, const struct memory_call *call)
{
	uint64_t context = context_of_device(call->record->device);

	device_learn(&space->contexts, context, device_told(call->record, WHY_NOT_TOLD));
	context_set(space, call->tid, context);
}

static bool is_held_by(const void *arg, const struct range *range)
{
	return ((const struct holding *)range->value)->context == *(const uint64_t *)arg;
}

static void streams_end(struct space *space, uint64_t context)
{
	VEC(uint64_t) over = { 0 };
	struct map_slot *slot;
	size_t pos = 0;

	while ((slot = map_next(&space->stream_contexts, &pos)))
		if (slot->value == context)
			vec_push(&over, slot->a);
	for (size_t i = 0; i < over.len; i++) {
		map_remove(&space->stream_contexts, over.data[i], 0);
		map_remove(&space->streams, over.data[i], 0);
	}
	vec_release(&over);
}

static void context_ends(struct space *space, uint64_t context)
{
	if (!context)
		return;
	ranges_remove_where(&space->ranges, is_held_by, &context);
	streams_end(space, context);
	map_remove(&space->contexts, context, 0);
}

/* It is popped where the calling thread has it on top; current in others, it serves no more. */
void call_context_destroyed(struct space *space, const struct memory_call *call)
{
	context_ends(space, call->record->handle);
	if (context_current(space, call->tid) == call->record->handle)
		context_pop(space, call->tid);
}

/* A context that predates the trace may have unseen holders. */
void call_context_released(struct space *space, const struct memory_call *call)
{
	const uint64_t *context = map_find(&space->primaries, call->record->device, 0);
	uint64_t *holders = map_find(&space->retained, call->record->device, 0);

	if (context && holders && *holders && !--*holders && space->whole)
		context_ends(space, *context);
}

/* Pools are the device's; that of a device whose context was not seen made, all but mappings. */
struct reset {
	int32_t device;
	bool all;
};

static bool is_reset(const void *arg, const struct range *range)
{
	const struct memory_use *use = ((const struct holding *)range->value)->use;
	const struct reset *reset = arg;

	return use->device == reset->device && use->sort != MEMORY_MAPPED &&
	       use->sort != MEMORY_IMPORTED && (reset->all || use->sort == MEMORY_POOL);
}

void call_context_reset(struct space *space, const struct memory_call *call)
{
	const uint64_t *context = map_find(&space->primaries, call->record->device, 0);
	struct reset reset = { call->record->device, !context };

	if (context)
		context_ends(space, *context);
	ranges_remove_where(&space->ranges, is_reset, &reset);
	map_remove(&space->retained, call->record->device, 0);
}

void call_stream_made(struct space *space, const struct memory_call *call)
{
	uint64_t stream = call->record->handle;

	device_learn(&space->streams, stream, context_device(space, call->tid));
	*map_insert(&space->stream_contexts, stream, 0, NULL) = context_current(space, call->tid);
}

/* Allocations made over the stream stay. */
void call_stream_destroyed(struct space *space, const struct memory_call *call)
{
	map_remove(&space->streams, call->record->handle, 0);
	map_remove(&space->stream_contexts, call->record->handle, 0);
}
