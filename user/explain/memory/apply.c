// SPDX-License-Identifier: BSD-3-Clause
/* The effect of each call on the memory of its process. */
#include "explain/memory/internal.h"

#include "base/alloc.h"

/*
 * Memory that one process exports and another one opens: it lies on the exporter's device. The two
 * calls are joined by the content of the handle. An exporter's call returns before the other
 * process can have the handle, so that it is always known by then, if it was seen.
 *
 * cuIpcOpenMemHandle opens all of the allocation that the exported address is in, wherever in it
 * that is (seen in UCX 1.13 to 1.18, src/uct/cuda/cuda_ipc: it adds the distance to the
 * allocation's base to the opened address).
 */

struct exported {
	int process;
	uint64_t address;
	struct known_device device; /* as the exporter numbers it */
	uint64_t size; /* of the allocation; 0: not known */
};

static struct exported *exported_new(struct memory *memory, const struct memory_call *call)
{
	uint64_t *slot = map_insert(&memory->exports, call->record->handle, call->host, NULL);

	if (!*slot)
		*slot = (uintptr_t)xmalloc(sizeof(struct exported));
	return (struct exported *)(uintptr_t)*slot;
}

static const struct exported *exported_find(const struct memory *memory,
					    const struct memory_call *call)
{
	const uint64_t *slot = map_find(&memory->exports, call->record->handle, call->host);

	return call->record->handle && slot ? (const struct exported *)(uintptr_t)*slot : NULL;
}

static void call_exported(struct space *space, const struct memory_call *call)
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
static void call_imported(struct space *space, const struct memory_call *call)
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

/*
 * Handles of physical memory: each creation, import and cuMemRetainAllocationHandle is released
 * once. What is mapped stays.
 */

static void hold(struct space *space, uint64_t handle, struct known_device device)
{
	device_learn(&space->physical, handle, device);
	++*map_insert(&space->physical_held, handle, 0, NULL);
}

static void call_physical_made(struct space *space, const struct memory_call *call)
{
	hold(space, call->record->handle, device_told(call->record, WHY_NOT_TOLD));
}

static void call_physical_imported(struct space *space, const struct memory_call *call)
{
	hold(space, call->record->handle, device_told(call->record, WHY_IMPORTED));
}

/* The device of a mapping; its handle may be known. */
static struct known_device mapped_at(const struct space *space, uint64_t address)
{
	const struct range *range = ranges_find(&space->ranges, address);
	const struct memory_use *use;

	if (!range)
		return (struct known_device){ -1, WHY_NO_PHYSICAL };
	use = ((const struct holding *)range->value)->use;
	if (use->kind == MEMORY_PINNED)
		return (struct known_device){ UB_DEVICE_HOST, WHY_KNOWN };
	if (use->kind == MEMORY_MANAGED)
		return (struct known_device){ UB_DEVICE_MANAGED, WHY_KNOWN };
	return (struct known_device){ use->device, use->device < 0 ? WHY_NO_PHYSICAL : WHY_KNOWN };
}

static void call_physical_retained(struct space *space, const struct memory_call *call)
{
	uint64_t handle = call->record->handle;
	struct known_device device = mapped_at(space, call->record->address);

	if (map_find(&space->physical, handle, 0))
		device = device_of(&space->physical, handle, WHY_NO_PHYSICAL);
	hold(space, handle, device);
}

static void call_physical_released(struct space *space, const struct memory_call *call)
{
	uint64_t *held = map_find(&space->physical_held, call->record->handle, 0);

	if (held && *held > 1) {
		--*held;
		return;
	}
	map_remove(&space->physical_held, call->record->handle, 0);
	map_remove(&space->physical, call->record->handle, 0);
}

/* cuda.h: CU_STREAM_LEGACY and CU_STREAM_PER_THREAD; 0 is one of these, by how it was compiled. */
#define LAST_DEFAULT_STREAM 2

/* hip_runtime_api.h: hipMallocSignalMemory, 8 bytes that the host waits on. */
#define FLAG_SIGNAL 2

/* Memory of a pool or a handle that was not told to be a device's may be the host's. */
static enum memory_kind kind_on(struct known_device device)
{
	if (device.number == UB_DEVICE_HOST)
		return MEMORY_PINNED;
	if (device.number == UB_DEVICE_MANAGED)
		return MEMORY_MANAGED;
	return device.number < 0 ? MEMORY_UNKNOWN : MEMORY_GPU;
}

static void begin(struct space *space, const struct memory_call *call, enum memory_kind kind,
		  enum memory_sort sort, struct known_device device, uint64_t context)
{
	use_begin(space, call, &(struct whose){ kind, sort, device, space->process, context, 0 },
		  call->record->size);
}

static void on_device(struct space *space, const struct memory_call *call)
{
	struct known_device device = context_device(space, call->tid);
	enum memory_kind kind = MEMORY_GPU;

	if (call->record->handle & FLAG_SIGNAL) {
		device = (struct known_device){ -1, WHY_NOT_TOLD };
		kind = MEMORY_UNKNOWN;
	}
	begin(space, call, kind, MEMORY_PLAIN, device, context_current(space, call->tid));
}

static void on_device_given(struct space *space, const struct memory_call *call)
{
	begin(space, call, MEMORY_GPU, MEMORY_PLAIN,
	      device_of(&space->devices, call->record->handle, WHY_NO_DEVICE), 0);
}

static void on_stream(struct space *space, const struct memory_call *call)
{
	uint64_t stream = call->record->handle;
	const uint64_t *context = map_find(&space->stream_contexts, stream, 0);

	if (stream <= LAST_DEFAULT_STREAM)
		begin(space, call, MEMORY_GPU, MEMORY_POOL, context_device(space, call->tid),
		      context_current(space, call->tid));
	else
		begin(space, call, MEMORY_GPU, MEMORY_POOL,
		      device_of(&space->streams, stream, WHY_NO_STREAM), context ? *context : 0);
}

static void on_pool(struct space *space, const struct memory_call *call)
{
	struct known_device device = device_of(&space->pools, call->record->handle, WHY_NO_POOL);

	begin(space, call, kind_on(device), MEMORY_POOL, device, 0);
}

static void on_host(struct space *space, const struct memory_call *call, enum memory_kind kind,
		    enum memory_sort sort)
{
	begin(space, call, kind, sort, (struct known_device){ -1, WHY_KNOWN },
	      context_current(space, call->tid));
}

/* Wherever its pages are, they move. */
static void managed(struct space *space, const struct memory_call *call)
{
	on_host(space, call, MEMORY_MANAGED, MEMORY_PLAIN);
}

static void pinned(struct space *space, const struct memory_call *call)
{
	on_host(space, call, MEMORY_PINNED, MEMORY_PLAIN);
}

static void registered(struct space *space, const struct memory_call *call)
{
	on_host(space, call, MEMORY_PINNED, MEMORY_REGISTERED);
}

static void mapped(struct space *space, const struct memory_call *call)
{
	struct known_device device =
		device_of(&space->physical, call->record->handle, WHY_NO_PHYSICAL);

	begin(space, call, kind_on(device), MEMORY_MAPPED, device, 0);
}

static void imported_from_pool(struct space *space, const struct memory_call *call)
{
	struct known_device device = device_of(&space->pools, call->record->handle, WHY_IMPORTED);

	begin(space, call, kind_on(device), MEMORY_IMPORTED, device, 0);
}

static void freed(struct space *space, const struct memory_call *call)
{
	uint64_t address = call->record->address;
	uint64_t *opens = map_find(&space->opens, address, 0);

	if (!address)
		return;
	if (opens && *opens > 1)
		--*opens;
	else
		space->counts.unmatched += !ranges_remove(&space->ranges, address);
}

static void unmapped(struct space *space, const struct memory_call *call)
{
	space->counts.unmatched +=
		!ranges_remove_within(&space->ranges, call->record->address, call->record->size);
}

static void pool_made(struct space *space, const struct memory_call *call)
{
	device_learn(&space->pools, call->record->handle, device_told(call->record, WHY_NOT_TOLD));
}

/* Allocations of the pool stay until they are freed (cuMemPoolDestroy). */
static void pool_destroyed(struct space *space, const struct memory_call *call)
{
	map_remove(&space->pools, call->record->handle, 0);
}

/* Each driver counts its own devices from 0: numbers are unique within one driver only. */
static void device_given(struct space *space, const struct memory_call *call)
{
	struct known_device device = device_told(call->record, WHY_NOT_TOLD);

	if (!space->driver)
		space->driver = call->record->address;
	if (space->driver != call->record->address)
		device = (struct known_device){ -1, WHY_TWO_DRIVERS };
	device_learn(&space->devices, call->record->handle, device);
}

static const struct {
	void (*apply)(struct space *space, const struct memory_call *call);
	bool makes; /* memory, at record->address */
} changes[] = {
	[UB_MEM_ALLOC] = { on_device, true },
	[UB_MEM_ALLOC_STREAM] = { on_stream, true },
	[UB_MEM_ALLOC_POOL] = { on_pool, true },
	[UB_MEM_ALLOC_PITCH] = { on_device, true },
	[UB_MEM_ALLOC_MANAGED] = { managed, true },
	[UB_MEM_ALLOC_HOST] = { pinned, true },
	[UB_MEM_ALLOC_ON] = { on_device_given, true },
	[UB_MEM_REGISTER_HOST] = { registered, true },
	[UB_MEM_FREE] = { freed, false },
	[UB_MEM_CREATE] = { call_physical_made, false },
	[UB_MEM_RELEASE] = { call_physical_released, false },
	[UB_MEM_RETAIN] = { call_physical_retained, false },
	[UB_MEM_MAP] = { mapped, true },
	[UB_MEM_UNMAP] = { unmapped, false },
	[UB_MEM_EXPORT] = { call_exported, false },
	[UB_MEM_IMPORT] = { call_imported, true },
	[UB_MEM_IMPORT_HANDLE] = { call_physical_imported, false },
	[UB_MEM_IMPORT_POOL] = { imported_from_pool, true },
	[UB_MEM_CTX_RETAIN] = { call_context_retained, false },
	[UB_MEM_CTX_CREATE] = { call_context_created, false },
	[UB_MEM_CTX_SET] = { call_context_set, false },
	[UB_MEM_CTX_PUSH] = { call_context_pushed, false },
	[UB_MEM_CTX_POP] = { call_context_popped, false },
	[UB_MEM_CTX_DESTROY] = { call_context_destroyed, false },
	[UB_MEM_CTX_RELEASE] = { call_context_released, false },
	[UB_MEM_CTX_RESET] = { call_context_reset, false },
	[UB_MEM_STREAM_CREATE] = { call_stream_made, false },
	[UB_MEM_STREAM_DESTROY] = { call_stream_destroyed, false },
	[UB_MEM_POOL_CREATE] = { pool_made, false },
	[UB_MEM_POOL_DESTROY] = { pool_destroyed, false },
	[UB_MEM_DEVICE_SET] = { call_device_set, false },
	[UB_MEM_DEVICES] = { device_given, false },
};

void space_apply(struct space *space, const struct memory_call *call)
{
	if ((size_t)call->what >= sizeof(changes) / sizeof(*changes) || !changes[call->what].apply)
		return;
	if (call->record->status)
		space->counts.failed++;
	else if (changes[call->what].makes && !call->record->address)
		space->counts.unreadable++;
	else
		changes[call->what].apply(space, call);
}
