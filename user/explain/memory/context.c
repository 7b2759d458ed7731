// SPDX-License-Identifier: BSD-3-Clause
/*
 * Each thread's stack of current contexts. What lies below those that were seen is not known: a
 * thread may have had some before the tracer came.
 */
#include "explain/memory/internal.h"

struct context_stack {
	VEC(uint64_t) contexts;
};

static struct context_stack *stack_find(const struct space *space, uint32_t tid)
{
	const uint64_t *found = map_find(&space->threads, tid, 0);

	return found ? (struct context_stack *)(uintptr_t)*found : NULL;
}

void context_push(struct space *space, uint32_t tid, uint64_t context)
{
	struct context_stack *stack = stack_find(space, tid);

	if (!stack) {
		stack = calloc(1, sizeof(*stack));
		if (!stack)
			abort();
		*map_insert(&space->threads, tid, 0, NULL) = (uintptr_t)stack;
	}
	vec_push(&stack->contexts, context);
}

void context_pop(struct space *space, uint32_t tid)
{
	struct context_stack *stack = stack_find(space, tid);

	if (stack && stack->contexts.len)
		stack->contexts.len--;
}

void context_set(struct space *space, uint32_t tid, uint64_t context)
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

struct device context_device(const struct space *space, uint32_t tid)
{
	uint64_t context = context_current(space, tid);

	return context ? device_of(&space->contexts, context, WHY_NO_CONTEXT)
		       : (struct device){ -1, WHY_NO_CURRENT };
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
