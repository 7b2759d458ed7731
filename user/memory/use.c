// SPDX-License-Identifier: BSD-3-Clause
#include "memory/internal.h"

/* A process has few rows: kinds times devices. */
static struct memory_use *use_of(struct space *space, const struct memory_use *like)
{
	struct memory_use *use;

	for (size_t i = 0; i < space->uses.len; i++) {
		use = space->uses.data[i];
		if (use->kind == like->kind && use->sort == like->sort &&
		    use->device == like->device && use->reason == like->reason)
			return use;
	}
	use = malloc(sizeof(*use));
	if (!use)
		abort();
	*use = *like;
	vec_push(&space->uses, use);
	vec_push(&space->memory->uses, use);
	return use;
}

void use_begin(struct space *space, enum memory_kind kind, enum memory_sort sort,
	       struct device device, uint64_t address, uint64_t size)
{
	struct memory_use *use =
		use_of(space, &(struct memory_use){ .process = space->process,
						    .kind = kind,
						    .sort = sort,
						    .device = device.number,
						    .reason = why_text(device.why) });

	/* before the sums: what was in its place is no longer live */
	ranges_insert(&space->ranges, address, size, use);
	use->allocations++;
	use->unsized += !size;
	use->bytes += size;
	use->live += size;
	if (use->live > use->live_peak)
		use->live_peak = use->live;
}

void use_ended(void *arg, const struct range *range)
{
	struct memory_use *use = range->value;
	struct space *space = arg;

	use->live -= range->size;
	if (use->sort == MEMORY_IMPORTED)
		map_remove(&space->opens, range->start, 0);
}
