// SPDX-License-Identifier: BSD-3-Clause
/*
 * Memory that ucp_mem_map() allocated (UCP_MEM_MAP_ALLOCATE), and operations that are open when
 * ucp_mem_unmap() frees it. Memory of the program's own is left out: its handle may be a region
 * that UCX registered for an operation, which keeps it (ucs_rcache_get(), src/ucp/core/ucp_mm.c).
 */
#include "explain/attribute/internal.h"

#include <stdlib.h>

#include "base/alloc.h"

struct allocation {
	uint64_t start, end;
};

static struct allocation *take(struct attribute *attribute, const struct process *process,
			       uint64_t handle)
{
	uint64_t *slot = map_find(&attribute->allocations, handle, process->id);
	struct allocation *allocation = slot ? (struct allocation *)(uintptr_t)*slot : NULL;

	if (slot)
		*slot = 0;
	return allocation;
}

static void mapped(struct attribute *attribute, const struct process *process,
		   const struct ub_obj *record)
{
	struct allocation *allocation;

	if (!record->obj || record->status)
		return;
	free(take(attribute, process, record->obj)); /* its end was lost */
	if (record->uuid <= record->parent)
		return;
	allocation = xcalloc(1, sizeof(*allocation));
	*allocation = (struct allocation){ record->parent, record->uuid };
	*map_insert(&attribute->allocations, record->obj, process->id, NULL) =
		(uintptr_t)allocation;
}

static void unmapped(struct attribute *attribute, const struct process *process,
		     const struct ub_obj *record)
{
	struct allocation *allocation = take(attribute, process, record->obj);
	const struct owned *owned = owned_by(attribute, process);

	for (size_t i = 0; allocation && i < owned->open.len; i++) {
		struct op *op = owned->open.data[i];

		if (!op->freed && op->buffer >= allocation->start && op->buffer < allocation->end)
			op->freed = record->h.ts;
	}
	attribute->unmapped += allocation != NULL;
	free(allocation);
}

uint64_t attribute_unmapped(const struct attribute *attribute)
{
	return attribute->unmapped;
}

void allocation_event(struct attribute *attribute, const struct event *event)
{
	const struct ub_obj *record = (const struct ub_obj *)event->h;

	if (event->site->what == UB_OBJ_MEM_MAP)
		mapped(attribute, event->process, record);
	if (event->site->what == UB_OBJ_MEM_UNMAP)
		unmapped(attribute, event->process, record);
}

void allocations_release(struct attribute *attribute)
{
	struct map_slot *slot;
	size_t pos = 0;

	while ((slot = map_next(&attribute->allocations, &pos)))
		free((struct allocation *)(uintptr_t)slot->value);
	map_release(&attribute->allocations);
}
