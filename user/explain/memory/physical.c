// SPDX-License-Identifier: BSD-3-Clause
/*
 * Handles of physical memory: each creation, import and cuMemRetainAllocationHandle is released
 * once. What is mapped stays.
 */
#include "explain/memory/internal.h"

static void hold(struct space *space, uint64_t handle, struct device device)
{
	device_learn(&space->physical, handle, device);
	++*map_insert(&space->physical_held, handle, 0, NULL);
}

void call_physical_made(struct space *space, const struct memory_call *call)
{
	hold(space, call->record->handle, device_told(call->record, WHY_NOT_TOLD));
}

void call_physical_imported(struct space *space, const struct memory_call *call)
{
	hold(space, call->record->handle, device_told(call->record, WHY_IMPORTED));
}

/* Of what is mapped at an address; the handle may be one that is known. */
static struct device mapped_at(const struct space *space, uint64_t address)
{
	const struct range *range = ranges_find(&space->ranges, address);
	const struct memory_use *use;

	if (!range)
		return (struct device){ -1, WHY_NO_PHYSICAL };
	use = ((const struct holding *)range->value)->use;
	if (use->kind == MEMORY_PINNED)
		return (struct device){ UB_DEVICE_HOST, WHY_KNOWN };
	if (use->kind == MEMORY_MANAGED)
		return (struct device){ UB_DEVICE_MANAGED, WHY_KNOWN };
	return (struct device){ use->device, use->device < 0 ? WHY_NO_PHYSICAL : WHY_KNOWN };
}

void call_physical_retained(struct space *space, const struct memory_call *call)
{
	uint64_t handle = call->record->handle;
	struct device device = mapped_at(space, call->record->address);

	if (map_find(&space->physical, handle, 0))
		device = device_of(&space->physical, handle, WHY_NO_PHYSICAL);
	hold(space, handle, device);
}

void call_physical_released(struct space *space, const struct memory_call *call)
{
	uint64_t *held = map_find(&space->physical_held, call->record->handle, 0);

	if (held && *held > 1) {
		--*held;
		return;
	}
	map_remove(&space->physical_held, call->record->handle, 0);
	map_remove(&space->physical, call->record->handle, 0);
}
