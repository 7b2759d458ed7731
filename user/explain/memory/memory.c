// SPDX-License-Identifier: BSD-3-Clause
/*
 * The memory that GPU libraries made for each process: which there is, on which device, and how
 * much of each sort.
 */
#include "explain/memory/memory.h"

#include "base/alloc.h"
#include "explain/memory/internal.h"

const char *memory_sort_name(enum memory_sort sort)
{
	static const char *const names[MEMORY_SORTS] = {
		[MEMORY_PLAIN] = "plain",           [MEMORY_POOL] = "pool",
		[MEMORY_REGISTERED] = "registered", [MEMORY_MAPPED] = "mapped",
		[MEMORY_IMPORTED] = "imported",
	};

	return names[sort];
}

static struct space *space_find(const struct memory *memory, int process)
{
	const uint64_t *found = map_find(&memory->spaces, process, 0);

	return found ? (struct space *)(uintptr_t)*found : NULL;
}

static struct space *space_of(struct memory *memory, int process)
{
	struct space *space = space_find(memory, process);

	if (space)
		return space;
	space = xcalloc(1, sizeof(*space));
	space->memory = memory;
	space->process = process;
	space->ranges.ended = use_ended;
	space->ranges.arg = space;
	*map_insert(&memory->spaces, process, 0, NULL) = (uintptr_t)space;
	return space;
}

/* Keeps the sums, and certain facts of the process. */
static void space_clear(struct space *space)
{
	ranges_clear(&space->ranges);
	contexts_release(space);
	map_release(&space->streams);
	map_release(&space->pools);
	map_release(&space->physical);
	map_release(&space->physical_held);
	map_release(&space->devices);
	map_release(&space->stream_contexts);
	map_release(&space->opens);
	space->driver = 0;
}

void memory_release(struct memory *memory)
{
	struct map_slot *slot;
	size_t pos = 0;

	while ((slot = map_next(&memory->spaces, &pos))) {
		struct space *space = (struct space *)(uintptr_t)slot->value;

		space_clear(space);
		for (size_t i = 0; i < space->holdings.len; i++)
			free(space->holdings.data[i]);
		vec_release(&space->holdings);
		vec_release(&space->uses);
		free(space);
	}
	for (size_t i = 0; i < memory->uses.len; i++)
		free(memory->uses.data[i]);
	vec_release(&memory->uses);
	map_release(&memory->spaces);
	exports_release(memory);
}

void memory_apply(struct memory *memory, const struct memory_call *call)
{
	struct space *space = space_of(memory, call->process);

	space->no_library = false;
	space_apply(space, call);
}

void memory_thread_ended(struct memory *memory, int process, uint32_t tid)
{
	struct space *space = space_find(memory, process);

	if (space)
		context_thread_ended(space, tid);
}

void memory_begin(struct memory *memory, int process)
{
	struct space *space = space_of(memory, process);

	space_clear(space);
	space->whole = true;
}

void memory_forget(struct memory *memory, int process)
{
	struct space *space = space_find(memory, process);

	if (!space)
		return;
	space_clear(space);
	space->whole = false;
}

void memory_no_library(struct memory *memory, int process)
{
	space_of(memory, process)->no_library = true;
}

static struct memory_answer unknown(const char *reason)
{
	return (struct memory_answer){ .device = -1, .numbered_by = -1, .reason = reason };
}

/* Where memory of a size that was not told ends, nobody knows: only its first byte is certain. */
static struct memory_answer answer_by(const struct range *range, uint64_t address)
{
	const struct holding *holding = range->value;
	const struct memory_use *use = holding->use;

	if (!range->size && address != range->start) {
		struct memory_answer answer =
			unknown("behind the start of memory whose size was not told");

		answer.sort = use->sort;
		return answer;
	}
	return (struct memory_answer){
		.kind = use->kind,
		.sort = use->sort,
		.device = use->device,
		.numbered_by = use->numbered_by,
		.exported_at = holding->exported_at,
		.known_by = use->kind == MEMORY_UNKNOWN ? NULL : "allocation",
		.reason = use->reason,
	};
}

void memory_find(const struct memory *memory, int process, uint64_t address,
		 struct memory_answer *answer)
{
	struct space *space = space_find(memory, process);
	const struct range *range = space ? ranges_find(&space->ranges, address) : NULL;

	if (!address)
		*answer = unknown("no address");
	else if (range)
		*answer = answer_by(range, address);
	else if (space && space->no_library)
		*answer = (struct memory_answer){ .kind = MEMORY_HOST,
						  .device = -1,
						  .numbered_by = -1,
						  .known_by = "no GPU library" };
	else
		*answer = unknown("not seen allocated");
}

struct memory_counts memory_counts(const struct memory *memory, int process)
{
	const struct space *space = space_find(memory, process);
	struct memory_counts counts = { 0 };

	if (!space)
		return counts;
	counts = space->counts;
	counts.replaced = space->ranges.replaced;
	return counts;
}
