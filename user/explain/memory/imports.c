// SPDX-License-Identifier: BSD-3-Clause
/*
 * Memory that one process exports and another one opens: it lies on the exporter's device. The two
 * calls are joined by what is in the handle. An exporter's call returns before the other process
 * can have the handle, so that it is always known by then, if it was seen.
 *
 * cuIpcOpenMemHandle opens all of the allocation that the exported address is in, wherever in it
 * that is (seen in UCX 1.13 to 1.18, src/uct/cuda/cuda_ipc: it adds the distance to the
 * allocation's base to what was opened).
 */
#include "explain/memory/internal.h"

struct exported {
	int process;
	uint64_t address;
	struct device device; /* as the exporter numbers it */
	uint64_t size; /* of the allocation; 0: not known */
};

static struct exported *exported_new(struct memory *memory, const struct memory_call *call)
{
	uint64_t *slot = map_insert(&memory->exports, call->record->handle, call->host, NULL);

	if (!*slot)
		*slot = (uintptr_t)malloc(sizeof(struct exported));
	if (!*slot)
		abort();
	return (struct exported *)(uintptr_t)*slot;
}

static const struct exported *exported_find(const struct memory *memory,
					    const struct memory_call *call)
{
	const uint64_t *slot = map_find(&memory->exports, call->record->handle, call->host);

	return call->record->handle && slot ? (const struct exported *)(uintptr_t)*slot : NULL;
}

void call_exported(struct space *space, const struct memory_call *call)
{
	const struct range *range = ranges_find(&space->ranges, call->record->address);
	struct exported *exported;

	if (!call->record->handle)
		return;
	exported = exported_new(space->memory, call);
	*exported = (struct exported){ .process = space->process,
				       .address = call->record->address,
				       .device = { -1, WHY_EXPORTER } };
	if (!range)
		return;
	exported->size = range->size;
	exported->device.number = ((const struct holding *)range->value)->use->device;
	if (exported->device.number >= 0)
		exported->device.why = WHY_KNOWN;
}

static bool is_same(const struct range *range, const struct whose *whose, uint64_t size)
{
	const struct memory_use *use = ((const struct holding *)range->value)->use;

	return use->device == whose->device.number && use->numbered_by == whose->numbered_by &&
	       range->size == size;
}

/*
 * A handle that is open already gives the same address again and counts; one that was closed unseen
 * leaves its address to another one. Only device memory can be opened.
 */
void call_imported(struct space *space, const struct memory_call *call)
{
	const struct exported *exported = exported_find(space->memory, call);
	uint64_t *opens = map_find(&space->opens, call->record->address, 0);
	const struct range *range = ranges_find(&space->ranges, call->record->address);
	struct whose whose = { .kind = MEMORY_GPU,
			       .sort = MEMORY_IMPORTED,
			       .device = { -1, WHY_NO_EXPORT },
			       .numbered_by = space->process,
			       .context = context_current(space, call->tid) };
	uint64_t size = exported ? exported->size : 0;

	if (exported) {
		whose.device = exported->device;
		whose.numbered_by = exported->process;
		if (exported->device.number < 0)
			whose.exported_at = exported->address;
	}
	if (opens && range && is_same(range, &whose, size)) {
		++*opens;
		return;
	}
	use_begin(space, call, &whose, size);
	*map_insert(&space->opens, call->record->address, 0, NULL) = 1;
}

void exports_release(struct memory *memory)
{
	struct map_slot *slot;
	size_t pos = 0;

	while ((slot = map_next(&memory->exports, &pos)))
		free((void *)(uintptr_t)slot->value);
	map_release(&memory->exports);
}
