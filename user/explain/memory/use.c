// SPDX-License-Identifier: BSD-3-Clause
/* The memory of a process, as far as it is alike, and how much of it there is. */
#include "explain/memory/internal.h"

#include "base/alloc.h"

static const char *why_text(enum why why)
{
	static const char *const texts[WHYS] = {
		[WHY_NO_CURRENT] = "the thread's current context was not seen",
		[WHY_NO_CONTEXT] = "the current context was not seen made",
		[WHY_NO_STREAM] = "the stream was not seen made",
		[WHY_NO_POOL] = "the pool was not seen made",
		[WHY_NO_PHYSICAL] = "the physical memory was not seen made",
		[WHY_NO_DEVICE] = "the device's number was not seen",
		[WHY_TWO_DRIVERS] = "several drivers have a device of this number",
		[WHY_NOT_TOLD] = "the call did not tell the device",
		[WHY_IMPORTED] = "memory of another process",
		[WHY_NO_EXPORT] = "imported: export not seen",
		[WHY_EXPORTER] = "imported: where its own process has it is not known",
	};

	return texts[why];
}

/* A process has few rows: kinds times devices times functions. */
static struct memory_use *use_of(struct space *space, const struct memory_use *like)
{
	struct memory_use *use;

	for (size_t i = 0; i < space->uses.len; i++) {
		use = space->uses.data[i];
		if (use->kind == like->kind && use->sort == like->sort &&
		    use->device == like->device && use->numbered_by == like->numbered_by &&
		    use->reason == like->reason && use->function == like->function)
			return use;
	}
	use = xmalloc(sizeof(*use));
	*use = *like;
	vec_push(&space->uses, use);
	vec_push(&space->memory->uses, use);
	return use;
}

static struct holding *holding_of(struct space *space, const struct holding *like)
{
	struct holding *holding;

	for (size_t i = 0; i < space->holdings.len; i++) {
		holding = space->holdings.data[i];
		if (holding->use == like->use && holding->context == like->context &&
		    holding->exported_at == like->exported_at)
			return holding;
	}
	holding = xmalloc(sizeof(*holding));
	*holding = *like;
	vec_push(&space->holdings, holding);
	return holding;
}

void use_begin(struct space *space, const struct memory_call *call, const struct whose *whose,
	       uint64_t size)
{
	struct memory_use *use = use_of(
		space, &(struct memory_use){
			       .process = space->process,
			       .kind = whose->kind,
			       .sort = whose->sort,
			       .device = whose->device.number < 0 ? -1 : whose->device.number,
			       .numbered_by = whose->numbered_by,
			       .reason = why_text(whose->device.why),
			       .function = call->function });

	/* before the sums: memory in its place has ended */
	ranges_insert(
		&space->ranges, call->record->address, size,
		holding_of(space, &(struct holding){ use, whose->context, whose->exported_at }));
	use->allocations++;
	use->unsized += !size;
	use->bytes += size;
	use->live += size;
	if (use->live > use->live_peak)
		use->live_peak = use->live;
}

void use_ended(void *arg, const struct range *range)
{
	const struct holding *holding = range->value;
	struct space *space = arg;

	holding->use->live -= range->size;
	if (holding->use->sort == MEMORY_IMPORTED)
		map_remove(&space->opens, range->start, 0);
}
