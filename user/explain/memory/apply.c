// SPDX-License-Identifier: BSD-3-Clause
/* What each call does to the state of its process. */
#include "explain/memory/internal.h"

/* cuda.h: CU_STREAM_LEGACY and CU_STREAM_PER_THREAD; 0 is one of these, by how it was compiled. */
#define LAST_DEFAULT_STREAM 2

/* hip_runtime_api.h: hipMallocSignalMemory, 8 bytes that the host waits on. */
#define FLAG_SIGNAL 2

/* Memory of a pool or a handle that was not told to be a device's may be the host's. */
static enum memory_kind kind_on(struct device device)
{
	if (device.number == UB_DEVICE_HOST)
		return MEMORY_PINNED;
	if (device.number == UB_DEVICE_MANAGED)
		return MEMORY_MANAGED;
	return device.number < 0 ? MEMORY_UNKNOWN : MEMORY_GPU;
}

static void begin(struct space *space, const struct memory_call *call, enum memory_kind kind,
		  enum memory_sort sort, struct device device, uint64_t context)
{
	use_begin(space, call, &(struct whose){ kind, sort, device, space->process, context, 0 },
		  call->record->size);
}

static void on_device(struct space *space, const struct memory_call *call)
{
	struct device device = context_device(space, call->tid);
	enum memory_kind kind = MEMORY_GPU;

	if (call->record->handle & FLAG_SIGNAL) {
		device = (struct device){ -1, WHY_NOT_TOLD };
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
	struct device device = device_of(&space->pools, call->record->handle, WHY_NO_POOL);

	begin(space, call, kind_on(device), MEMORY_POOL, device, 0);
}

static void on_host(struct space *space, const struct memory_call *call, enum memory_kind kind,
		    enum memory_sort sort)
{
	begin(space, call, kind, sort, (struct device){ -1, WHY_KNOWN },
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
	struct device device = device_of(&space->physical, call->record->handle, WHY_NO_PHYSICAL);

	begin(space, call, kind_on(device), MEMORY_MAPPED, device, 0);
}

static void imported_from_pool(struct space *space, const struct memory_call *call)
{
	struct device device = device_of(&space->pools, call->record->handle, WHY_IMPORTED);

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

/* What was allocated from it stays until it is freed (cuMemPoolDestroy). */
static void pool_destroyed(struct space *space, const struct memory_call *call)
{
	map_remove(&space->pools, call->record->handle, 0);
}

/* Each driver counts its own devices from 0: only one driver's are told apart by their number. */
static void device_given(struct space *space, const struct memory_call *call)
{
	struct device device = device_told(call->record, WHY_NOT_TOLD);

	if (!space->driver)
		space->driver = call->record->address;
	if (space->driver != call->record->address)
		device = (struct device){ -1, WHY_TWO_DRIVERS };
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
