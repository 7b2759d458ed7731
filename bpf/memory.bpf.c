/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/*
 * Memory that a GPU's library makes, ends or places. Its functions have no return probes: UCX
 * patches their beginnings (user/observe/probe/place_arch.h), so that a call is entered at a probe
 * further in and left at one on each instruction that returns, where the stack pointer is what it
 * was at the entry.
 */
#define QUIET_FROM UB_STOP
#include "entered.bpf.h"
#include "frame.bpf.h"
#include "memory.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/*
 * CUmemAllocationProp, CUmemPoolProps (cuda.h, CUDA 11.2 to 13.0) and hipMemPoolProps begin alike:
 * u32 type, u32 types of handles, u32 location.type, u32 location.id. Public ABI.
 */
#define PROPERTIES_LOCATION 8
#define TYPE_MANAGED 2 /* CUDA 13 */
#define LOCATION_DEVICE 1
#define LOCATION_HOST 2 /* and 3, 4: one of its NUMA nodes */
#define LOCATION_HOST_LAST 4

#define DEVICES 8 /* per driver: further ones are not recorded */
_Static_assert(DEVICES * sizeof(struct ub_mem) <= 4 * UB_MAX_RECORD, "placed at once");

#define BIT(what) (1ull << UB_MEM_##what)

/* The result is stored where the object argument points to. */
#define MAKES                                                                                      \
	(BIT(ALLOC) | BIT(ALLOC_STREAM) | BIT(ALLOC_POOL) | BIT(ALLOC_PITCH) |                     \
	 BIT(ALLOC_MANAGED) | BIT(ALLOC_HOST) | BIT(ALLOC_ON) | BIT(CREATE) | BIT(IMPORT) |        \
	 BIT(IMPORT_HANDLE) | BIT(IMPORT_POOL) | BIT(CTX_RETAIN) | BIT(CTX_CREATE) |               \
	 BIT(CTX_POP) | BIT(STREAM_CREATE) | BIT(POOL_CREATE) | BIT(DEVICES) | BIT(RETAIN))

/* The object is no address. */
#define OF_HANDLE                                                                                  \
	(BIT(CREATE) | BIT(RELEASE) | BIT(IMPORT_HANDLE) | BIT(CTX_RETAIN) | BIT(CTX_CREATE) |     \
	 BIT(CTX_SET) | BIT(CTX_PUSH) | BIT(CTX_POP) | BIT(CTX_DESTROY) | BIT(STREAM_CREATE) |     \
	 BIT(STREAM_DESTROY) | BIT(POOL_CREATE) | BIT(POOL_DESTROY) | BIT(RETAIN))

/* Over from its entry on. */
#define ENDS                                                                                       \
	(BIT(FREE) | BIT(RELEASE) | BIT(UNMAP) | BIT(CTX_DESTROY) | BIT(CTX_RELEASE) |             \
	 BIT(CTX_RESET) | BIT(STREAM_DESTROY) | BIT(POOL_DESTROY))

static __always_inline struct memory_task *memory_task(__u64 flags)
{
	return bpf_task_storage_get(&memory_tasks, bpf_get_current_task_btf(), NULL, flags);
}

/* Calls that were left without passing an exit: by longjmp or an exception. */
static __always_inline void drop_over(struct memory_task *task, __u64 sp)
{
	count_lost_returns(entered_end(ENTERED(task->calls, task->depth), sp));
}

/* Records the loss, so that later records are not taken as complete. */
static __always_inline void miss(__u64 ts, __u64 now)
{
	struct memory_task *task = memory_task(0);

	if (!task)
		return;
	if (!task->missed)
		task->missed_from = ts;
	task->missed_until = now;
	task->missed++;
}

static __always_inline void tell_missed(struct outbox *box)
{
	struct memory_task *task = memory_task(0);

	if (!task || !task->missed)
		return;
	if (!box->lost)
		box->lost_from = task->missed_from;
	box->lost += task->missed;
	box->lost_until = task->missed_until;
	task->missed = 0;
}

/* Of 64 bytes; 0 if they cannot be read. */
static __always_inline __u64 handle_at(__u64 address)
{
	__u64 words[UB_HANDLE_WORDS];

	if (bpf_probe_read_user(words, sizeof(words), (void *)address))
		return 0;
	return ub_handle_hash(words);
}

SEC("uprobe")
int memory_entry(struct pt_regs *ctx)
{
	struct memory_task *task;
	struct memory_call *call;
	struct hit hit;

	own_stack(ctx);
	if (!hit_begin(&hit, ctx))
		return 0;
	task = memory_task(BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!task) {
		count_nomem();
		return 0;
	}
	drop_over(task, hit.sp);
	if (task->depth >= MEMORY_CALLS) {
		count_deep();
		emit_nothing(UB_MEM);
		miss(hit.ts, hit.ts);
		return 0;
	}
	call = &task->calls[task->depth++ & (MEMORY_CALLS - 1)];
	call->sp = hit.sp;
	call->ts = hit.ts;
	call->row = hit.row;
	call->ret = slot_value(hit.sp);
	read_args(call->args, ctx, &hit);
	/* by value, so that it lies among the arguments on the stack (System V ABI, class MEMORY)
	 */
	call->key = hit.site->what == UB_MEM_IMPORT ? handle_at(hit.sp + STACK_ARGS) : 0;
	return 0;
}

/* The row of the call that is on top and live, 0 = none. */
static __always_inline __u32 row_around(const struct memory_task *task)
{
	const struct memory_call *outer = &task->calls[(task->depth - 1) & (MEMORY_CALLS - 1)];

	return task->depth && slot_value(outer->sp) == outer->ret ? outer->row : 0;
}

/*
 * The call that this exit belongs to; none: it was entered before there were probes. outer: the row
 * of the call that made it, 0 = none.
 */
static __always_inline const struct memory_call *call_left(const struct hit *hit, __u32 *outer)
{
	struct memory_task *task = memory_task(0);
	const struct memory_call *call;

	*outer = 0;
	if (!task)
		return NULL;
	drop_over(task, hit->sp - 1);
	if (!task->depth)
		return NULL;
	call = &task->calls[(task->depth - 1) & (MEMORY_CALLS - 1)];
	if (call->sp != hit->sp || call->row != hit->row)
		return NULL;
	task->depth--;
	*outer = row_around(task);
	return call;
}

/*
 * A library that calls itself, or one below it, has done one thing: the outermost call reports it.
 */
static __always_inline bool is_part(__u32 outer)
{
	const struct ub_site *site = outer ? bpf_map_lookup_elem(&sites, &outer) : NULL;

	return site && site->what != UB_MEM_RUNTIME;
}

static __always_inline __u64 given(const struct memory_call *call, __u8 n)
{
	return call->args[n & (ARGS - 1)];
}

static __always_inline __u64 stored(struct ub_mem *mem, __u64 at)
{
	__u64 value = 0;

	if (at && bpf_probe_read_user(&value, sizeof(value), (void *)at))
		mem->h.flags |= UB_F_READ_FAULT;
	return value;
}

static __always_inline __s32 device_told(struct ub_mem *mem, __u64 properties)
{
	__u64 location = stored(mem, properties + PROPERTIES_LOCATION);
	__u32 kind = location;

	if ((__u32)stored(mem, properties) == TYPE_MANAGED)
		return UB_DEVICE_MANAGED;
	if (kind == LOCATION_DEVICE)
		return location >> 32;
	return kind >= LOCATION_HOST && kind <= LOCATION_HOST_LAST ? UB_DEVICE_HOST
								   : UB_DEVICE_NOT_TOLD;
}

static __always_inline __s32 device_of(struct ub_mem *mem, const struct ub_site *site,
				       const struct memory_call *call)
{
	if (site->arg_device)
		return given(call, site->arg_device);
	if (!site->arg_param)
		return UB_DEVICE_NOT_TOLD;
	return device_told(mem, given(call, site->arg_param));
}

static __always_inline __u64 handle_of(const struct ub_mem *mem, const struct ub_site *site,
				       const struct memory_call *call)
{
	if (site->what == UB_MEM_IMPORT)
		return call->key;
	if (site->what == UB_MEM_EXPORT)
		return mem->status ? 0 : handle_at(given(call, site->arg_aux));
	return given(call, site->arg_aux);
}

static __always_inline void describe(struct ub_mem *mem, const struct ub_site *site,
				     const struct memory_call *call)
{
	__u64 what = 1ull << (site->what & 63);
	__u64 object = given(call, site->arg_obj);

	if (what & MAKES)
		object = mem->status ? 0 : stored(mem, object);
	if (what & OF_HANDLE) {
		mem->handle = object;
		mem->address = given(call, site->arg_aux);
	} else {
		mem->address = object;
		mem->handle = handle_of(mem, site, call);
	}
	mem->size = given(call, site->arg_count);
	if (site->arg_info)
		mem->size *= mem->status ? 0 : stored(mem, given(call, site->arg_info));
	mem->device = device_of(mem, site, call);
}

/* One of the device handles that a driver has returned, by its number. */
static __always_inline void describe_device(struct ub_mem *mem, const struct ub_site *site,
					    const struct memory_call *call, __u32 number)
{
	mem->address = given(call, site->arg_aux);
	mem->handle = stored(mem, given(call, site->arg_obj) + number * sizeof(__u64));
	mem->device = number;
}

static __always_inline __u32 devices_given(const struct ub_site *site,
					   const struct memory_call *call)
{
	__u32 count = 0;

	if (given(call, site->arg_obj))
		bpf_probe_read_user(&count, sizeof(count), (void *)given(call, site->arg_count));
	return count;
}

static __always_inline void begin(struct ub_mem *mem, const struct hit *hit,
				  const struct memory_call *call, __s32 status, __u32 runtime)
{
	__u64 ts = 1ull << (hit->site->what & 63) & ENDS ? call->ts : hit->ts;

	__builtin_memset(mem, 0, sizeof(*mem));
	header_inside(&mem->h, hit, UB_MEM);
	mem->h.ts = ts;
	mem->h.dur = duration(call->ts, hit->ts);
	mem->status = status;
	mem->runtime = runtime;
}

/* A record, and the head that it has if it leaves by itself. */
struct lone_mem {
	struct ub_batch head;
	struct ub_mem mem;
};

/* box: NULL while its visitor holds it. */
static __always_inline void tell(struct outbox *box, struct lone_mem *lone, __u64 now)
{
	if (box)
		*place(box, ub_mem, UB_MEM, lone->mem.h.ts) = lone->mem;
	else if (!emit_alone(&lone->head, sizeof(*lone), UB_MEM))
		miss(lone->mem.h.ts, now);
}

/* Eight at most: no more than a program may place at once. */
static __always_inline void tell_devices(struct outbox *box, struct lone_mem *lone,
					 const struct hit *hit, const struct memory_call *call)
{
	__u32 devices = lone->mem.status ? 0 : devices_given(hit->site, call);

	for (__u32 i = 0; i < DEVICES && i < devices; i++) {
		describe_device(&lone->mem, hit->site, call, i);
		tell(box, lone, hit->ts);
	}
}

SEC("uprobe")
int memory_exit(struct pt_regs *ctx)
{
	const struct memory_call *call;
	struct lone_mem lone = {};
	struct outbox *box;
	struct hit hit;
	__u32 outer;

	own_stack(ctx);
	if (!hit_begin(&hit, ctx))
		return 0;
	call = call_left(&hit, &outer);
	if (!call || hit.site->what == UB_MEM_RUNTIME || is_part(outer))
		return 0;
	box = &hit.task->outbox;
	/* The verifier of Linux 6.1 loses track of a reference that is tested here: use another
	 * variable.
	 */
	asm volatile("" : "+r"(box));
	if (outbox_take(box))
		tell_missed(box);
	else
		box = NULL;
	begin(&lone.mem, &hit, call, PT_REGS_RC(ctx), outer);
	if (hit.site->what == UB_MEM_DEVICES) {
		tell_devices(box, &lone, &hit, call);
	} else {
		describe(&lone.mem, hit.site, call);
		tell(box, &lone, hit.ts);
	}
	if (box) {
		outbox_settle(box, hit.ts);
		outbox_give_back(box);
	}
	return 0;
}
