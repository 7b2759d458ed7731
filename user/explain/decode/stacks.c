// SPDX-License-Identifier: BSD-3-Clause
/* Stacks come in parts, each once per process; calls name them by a number. */
#include <string.h>

#include "explain/decode/internal.h"

#define PARTS (UB_MAX_DEPTH / UB_STACK_PART)

struct stack_parts {
	struct stack stack; /* what is handed out; key NULL: nothing was told of it yet */
	uint32_t depth, seen; /* seen: one bit per part */
	uint16_t end;
	const struct place *frames[UB_MAX_DEPTH];
};

static struct stack_parts *parts_of(struct decoder *decoder, const struct process *process,
				    uint64_t id)
{
	bool fresh;
	uint64_t *slot = map_insert(&decoder->stacks, id, process->id, &fresh);

	if (fresh) {
		*slot = (uintptr_t)calloc(1, sizeof(struct stack_parts));
		if (!*slot)
			abort();
	}
	return (struct stack_parts *)(uintptr_t)*slot;
}

static const char *why_ended(unsigned int end)
{
	static const char *const reasons[] = {
		[UB_STACK_NO_MODULE] = "code of no file, or mapped just before",
		[UB_STACK_NO_ROWS] = "code without unwind information",
		[UB_STACK_RULE] = "a frame of an unusual kind",
		[UB_STACK_UNREADABLE] = "stack memory that is not there",
		[UB_STACK_DEEP] = "more frames than are recorded",
		[UB_STACK_NOT_YET] = "code mapped just before",
		[UB_STACK_LOST] = "a stack that is not in order",
	};

	if (end == UB_STACK_WHOLE)
		return NULL;
	return end < sizeof(reasons) / sizeof(*reasons) && reasons[end] ? reasons[end] : "unknown";
}

/* Frames from the innermost one to the last before a lost part. */
static int known_depth(const struct stack_parts *parts)
{
	int depth = 0;

	while (depth < (int)parts->depth && parts->seen >> (depth / UB_STACK_PART) & 1 &&
	       parts->frames[depth])
		depth++;
	return depth;
}

static void put_together(struct decoder *decoder, struct stack_parts *parts)
{
	VEC(char) key = { 0 };
	struct stack *stack = &parts->stack;

	stack->frames = parts->frames;
	stack->depth = known_depth(parts);
	stack->end = why_ended(parts->end);
	if (!parts->seen || stack->depth < (int)parts->depth)
		stack->end = "its record was lost";
	for (int i = 0; i < stack->depth; i++) {
		size_t size = strlen(stack->frames[i]->key);

		vec_reserve(&key, key.len + size + 1);
		memcpy(key.data + key.len, stack->frames[i]->key, size);
		key.data[key.len + size] = ';';
		key.len += size + 1;
	}
	for (const char *c = stack->end ? stack->end : "whole"; *c; c++)
		vec_push(&key, *c);
	vec_push(&key, '\0');
	stack->key = strings_intern(&decoder->strings, key.data);
	vec_release(&key);
}

void decode_stack(struct decoder *decoder, const struct event *event, const struct ub_stack *record)
{
	struct stack_parts *parts = parts_of(decoder, event->process, record->id);
	unsigned int part = record->from / UB_STACK_PART;

	if (record->depth > UB_MAX_DEPTH || part >= PARTS || record->from % UB_STACK_PART)
		return;
	parts->depth = record->depth;
	parts->end = record->end;
	parts->seen |= 1u << part;
	for (unsigned int i = 0; i < UB_STACK_PART && record->from + i < record->depth; i++)
		parts->frames[record->from + i] = decoder_place(decoder, event, record->pc[i]);
	put_together(decoder, parts);
}

const struct stack *decoder_stack(struct decoder *decoder, const struct event *event, uint64_t id)
{
	struct stack_parts *parts = parts_of(decoder, event->process, id);

	if (!parts->stack.key)
		put_together(decoder, parts);
	return &parts->stack;
}

void decoded_stacks_release(struct decoder *decoder)
{
	struct map_slot *slot;
	size_t pos = 0;

	while ((slot = map_next(&decoder->stacks, &pos)))
		free((struct stack_parts *)(uintptr_t)slot->value);
	map_release(&decoder->stacks);
}
