// SPDX-License-Identifier: BSD-3-Clause
/* What each call does to the state of its process. */
#include "memory/internal.h"

/* cuda.h: CU_STREAM_LEGACY and CU_STREAM_PER_THREAD; 0 is one of these, by how it was compiled. */
#define LAST_DEFAULT_STREAM 2

static const struct device no_device = { -1, WHY_KNOWN };

static void on_device(struct space *space, uint32_t tid, const struct ub_mem *record)
{
	struct device device =
		record->device < 0 ? context_device(space, tid) : device_told(record, WHY_KNOWN);

	use_begin(space, MEMORY_GPU, MEMORY_PLAIN, device, record->address, record->size);
}

static void on_stream(struct space *space, uint32_t tid, const struct ub_mem *record)
{
	struct device device = record->handle <= LAST_DEFAULT_STREAM
				       ? context_device(space, tid)
				       : device_of(&space->streams, record->handle, WHY_NO_STREAM);

	use_begin(space, MEMORY_GPU, MEMORY_POOL, device, record->address, record->size);
}

/* Memory of a pool or a handle that was not told to be a device's may be the host's. */
static enum memory_kind kind_on(struct device device)
{
	return device.number < 0 ? MEMORY_UNKNOWN : MEMORY_GPU;
}

static void on_pool(struct space *space, uint32_t tid, const struct ub_mem *record)
{
	struct device device = device_of(&space->pools, record->handle, WHY_NO_POOL);

	(void)tid;
	use_begin(space, kind_on(device), MEMORY_POOL, device, record->address, record->size);
}

/* Wherever its pages are, they move. */
static void managed(struct space *space, uint32_t tid, const struct ub_mem *record)
{
	(void)tid;
	use_begin(space, MEMORY_MANAGED, MEMORY_PLAIN, no_device, record->address, record->size);
}

static void pinned(struct space *space, uint32_t tid, const struct ub_mem *record)
{
	(void)tid;
	use_begin(space, MEMORY_PINNED, MEMORY_PLAIN, no_device, record->address, record->size);
}

static void registered(struct space *space, uint32_t tid, const struct ub_mem *record)
{
	(void)tid;
	use_begin(space, MEMORY_PINNED, MEMORY_REGISTERED, no_device, record->address,
		  record->size);
}

static void mapped(struct space *space, uint32_t tid, const struct ub_mem *record)
{
	struct device device = device_of(&space->physical, record->handle, WHY_NO_PHYSICAL);

	(void)tid;
	use_begin(space, kind_on(device), MEMORY_MAPPED, device, record->address, record->size);
}

/*
 * A handle that is open already gives the same address again and counts (cuIpcOpenMemHandle). Only
 * device memory can be opened; on which one it lies, its own process knows.
 */
static void imported(struct space *space, uint32_t tid, const struct ub_mem *record)
{
	const struct device device = { -1, WHY_IMPORTED };
	uint64_t *opens = map_find(&space->opens, record->address, 0);

	(void)tid;
	if (opens) {
		++*opens;
		return;
	}
	use_begin(space, MEMORY_GPU, MEMORY_IMPORTED, device, record->address, record->size);
	*map_insert(&space->opens, record->address, 0, NULL) = 1;
}

static void imported_from_pool(struct space *space, uint32_t tid, const struct ub_mem *record)
{
	struct device device = device_of(&space->pools, record->handle, WHY_IMPORTED);

	(void)tid;
	use_begin(space, kind_on(device), MEMORY_IMPORTED, device, record->address, record->size);
}

static void freed(struct space *space, uint32_t tid, const struct ub_mem *record)
{
	uint64_t *opens = map_find(&space->opens, record->address, 0);

	(void)tid;
	if (!record->address)
		return;
	if (opens && *opens > 1)
		--*opens;
	else
		space->counts.unmatched += !ranges_remove(&space->ranges, record->address);
}

static void unmapped(struct space *space, uint32_t tid, const struct ub_mem *record)
{
	(void)tid;
	space->counts.unmatched +=
		!ranges_remove_within(&space->ranges, record->address, record->size);
}

static void physical_made(struct space *space, uint32_t tid, const struct ub_mem *record)
{
	(void)tid;
	device_learn(&space->physical, record->handle, device_told(record, WHY_NOT_TOLD));
}

static void physical_imported(struct space *space, uint32_t tid, const struct ub_mem *record)
{
	(void)tid;
	device_learn(&space->physical, record->handle, device_told(record, WHY_IMPORTED));
}

/* What is mapped of it stays. */
static void physical_released(struct space *space, uint32_t tid, const struct ub_mem *record)
{
	(void)tid;
	map_remove(&space->physical, record->handle, 0);
}

static void retained(struct space *space, uint32_t tid, const struct ub_mem *record)
{
	(void)tid;
	device_learn(&space->contexts, record->handle, device_told(record, WHY_NOT_TOLD));
}

static void created(struct space *space, uint32_t tid, const struct ub_mem *record)
{
	retained(space, tid, record);
	context_push(space, tid, record->handle);
}

static void set(struct space *space, uint32_t tid, const struct ub_mem *record)
{
	context_set(space, tid, record->handle);
}

static void pushed(struct space *space, uint32_t tid, const struct ub_mem *record)
{
	context_push(space, tid, record->handle);
}

static void popped(struct space *space, uint32_t tid, const struct ub_mem *record)
{
	(void)record;
	context_pop(space, tid);
}

static void stream_made(struct space *space, uint32_t tid, const struct ub_mem *record)
{
	device_learn(&space->streams, record->handle,
		     record->device < 0 ? context_device(space, tid)
					: device_told(record, WHY_KNOWN));
}

static void pool_made(struct space *space, uint32_t tid, const struct ub_mem *record)
{
	(void)tid;
	device_learn(&space->pools, record->handle, device_told(record, WHY_NOT_TOLD));
}

static const struct {
	void (*apply)(struct space *space, uint32_t tid, const struct ub_mem *record);
	bool makes; /* memory, at record->address */
} changes[] = {
	[UB_MEM_ALLOC] = { on_device, true },
	[UB_MEM_ALLOC_STREAM] = { on_stream, true },
	[UB_MEM_ALLOC_POOL] = { on_pool, true },
	[UB_MEM_ALLOC_PITCH] = { on_device, true },
	[UB_MEM_ALLOC_MANAGED] = { managed, true },
	[UB_MEM_ALLOC_HOST] = { pinned, true },
	[UB_MEM_REGISTER_HOST] = { registered, true },
	[UB_MEM_FREE] = { freed, false },
	[UB_MEM_CREATE] = { physical_made, false },
	[UB_MEM_RELEASE] = { physical_released, false },
	[UB_MEM_MAP] = { mapped, true },
	[UB_MEM_UNMAP] = { unmapped, false },
	[UB_MEM_IMPORT] = { imported, true },
	[UB_MEM_IMPORT_HANDLE] = { physical_imported, false },
	[UB_MEM_IMPORT_POOL] = { imported_from_pool, true },
	[UB_MEM_CTX_RETAIN] = { retained, false },
	[UB_MEM_CTX_CREATE] = { created, false },
	[UB_MEM_CTX_SET] = { set, false },
	[UB_MEM_CTX_PUSH] = { pushed, false },
	[UB_MEM_CTX_POP] = { popped, false },
	[UB_MEM_STREAM_CREATE] = { stream_made, false },
	[UB_MEM_POOL_CREATE] = { pool_made, false },
};

void space_apply(struct space *space, uint32_t tid, enum ub_mem_what what,
		 const struct ub_mem *record)
{
	if ((size_t)what >= sizeof(changes) / sizeof(*changes) || !changes[what].apply)
		return;
	if (record->status)
		space->counts.failed++;
	else if (changes[what].makes && !record->address)
		space->counts.unreadable++;
	else
		changes[what].apply(space, tid, record);
}
