/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/*
 * Memory that a GPU's library makes, ends or places. Its functions have no return probes: UCX
 * patches their beginnings (user/probe/place_arch.h), so that a call is entered at a probe further
 * in and left at one on each instruction that returns, where the stack pointer is what it was at
 * the entry.
 */
#define QUIET_FROM UB_STOP
#include "context.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* CUmemAllocationProp and CUmemPoolProps: public ABI (cuda.h, CUDA 11.2 to 13.0) */
#define PROPERTIES_LOCATION 8 /* u32 type, u32 id */
#define LOCATION_DEVICE 1

struct memory_call {
	__u64 sp; /* at the function's entry */
	__u64 ts;
	__u64 row;
	__u64 args[ARGS];
};

#define MEMORY_CALLS 4 /* power of two: they seldom nest at all */

struct memory_task {
	__u64 depth;
	struct memory_call calls[MEMORY_CALLS];
};

/* Per task; written and read here only. Allocation failure: as of "tasks". */
struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct memory_task);
} memory_tasks SEC(".maps");

#define BIT(what) (1u << UB_MEM_##what)

/* The result is stored where the object argument points to. */
#define MAKES                                                                                      \
	(BIT(ALLOC) | BIT(ALLOC_STREAM) | BIT(ALLOC_POOL) | BIT(ALLOC_PITCH) |                     \
	 BIT(ALLOC_MANAGED) | BIT(ALLOC_HOST) | BIT(CREATE) | BIT(IMPORT) | BIT(IMPORT_HANDLE) |   \
	 BIT(IMPORT_POOL) | BIT(CTX_RETAIN) | BIT(CTX_CREATE) | BIT(CTX_POP) |                     \
	 BIT(STREAM_CREATE) | BIT(POOL_CREATE))

/* The object is no address. */
#define OF_HANDLE                                                                                  \
	(BIT(CREATE) | BIT(RELEASE) | BIT(IMPORT_HANDLE) | BIT(CTX_RETAIN) | BIT(CTX_CREATE) |     \
	 BIT(CTX_SET) | BIT(CTX_PUSH) | BIT(CTX_POP) | BIT(STREAM_CREATE) | BIT(POOL_CREATE))

/* Over from the entry on. */
#define ENDS (BIT(FREE) | BIT(RELEASE) | BIT(UNMAP))

static __always_inline struct memory_task *memory_task(__u64 flags)
{
	return bpf_task_storage_get(&memory_tasks, bpf_get_current_task_btf(), NULL, flags);
}

/* Calls that were left without passing an exit: by longjmp, or thrown out of. */
static __always_inline void drop_over(struct memory_task *task, __u64 sp)
{
	for (int i = 0; i < MEMORY_CALLS; i++) {
		if (!task->depth || task->calls[(task->depth - 1) & (MEMORY_CALLS - 1)].sp > sp)
			return;
		task->depth--;
		count_lost_return();
	}
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
		return 0;
	}
	call = &task->calls[task->depth++ & (MEMORY_CALLS - 1)];
	call->sp = hit.sp;
	call->ts = hit.ts;
	call->row = hit.row;
	read_args(call->args, ctx, &hit);
	return 0;
}

/* The call that this exit is of; none: it was entered before there were probes. */
static __always_inline const struct memory_call *call_left(const struct hit *hit)
{
	struct memory_task *task = memory_task(0);
	const struct memory_call *call;

	if (!task)
		return NULL;
	drop_over(task, hit->sp - 1);
	if (!task->depth)
		return NULL;
	call = &task->calls[(task->depth - 1) & (MEMORY_CALLS - 1)];
	if (call->sp != hit->sp || call->row != hit->row)
		return NULL;
	task->depth--;
	return call;
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

static __always_inline __s32 device_of(struct ub_mem *mem, const struct ub_site *site,
				       const struct memory_call *call)
{
	__u64 location;

	if (site->arg_device)
		return given(call, site->arg_device);
	if (!site->arg_param)
		return -1;
	location = stored(mem, given(call, site->arg_param) + PROPERTIES_LOCATION);
	return (__u32)location == LOCATION_DEVICE ? location >> 32 : -1;
}

static __always_inline void describe(struct ub_mem *mem, const struct ub_site *site,
				     const struct memory_call *call)
{
	__u32 what = 1u << (site->what & 31);
	__u64 object = given(call, site->arg_obj);

	if (what & MAKES)
		object = mem->status ? 0 : stored(mem, object);
	if (what & OF_HANDLE) {
		mem->handle = object;
	} else {
		mem->address = object;
		mem->handle = given(call, site->arg_aux);
	}
	mem->size = given(call, site->arg_count);
	if (site->arg_info)
		mem->size *= mem->status ? 0 : stored(mem, given(call, site->arg_info));
	mem->device = device_of(mem, site, call);
}

SEC("uprobe")
int memory_exit(struct pt_regs *ctx)
{
	const struct memory_call *call;
	struct ub_mem *mem;
	struct hit hit;
	__u64 ts;

	own_stack(ctx);
	if (!hit_begin(&hit, ctx))
		return 0;
	call = call_left(&hit);
	if (!call)
		return 0;
	if (!outbox_take(&hit.task->outbox)) {
		emit_nothing(UB_MEM);
		return 0;
	}
	ts = 1u << (hit.site->what & 31) & ENDS ? call->ts : hit.ts;
	mem = place(&hit.task->outbox, ub_mem, UB_MEM, ts);
	__builtin_memset(mem, 0, sizeof(*mem));
	header_inside(&mem->h, &hit, UB_MEM);
	mem->h.ts = ts;
	mem->h.dur = duration(call->ts, hit.ts);
	mem->status = PT_REGS_RC(ctx);
	describe(mem, hit.site, call);
	outbox_settle(&hit.task->outbox, hit.ts);
	outbox_give_back(&hit.task->outbox);
	return 0;
}
