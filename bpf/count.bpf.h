/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/*
 * What a task is inside of (--count): one MPI call, operations, transfers whose return is awaited.
 */
#ifndef UCXBPF_COUNT_BPF_H
#define UCXBPF_COUNT_BPF_H

#include "caller.bpf.h"
#include "entered.bpf.h"
#include "span.bpf.h"

#define CACHE_BITS 8
#define CACHE (1 << CACHE_BITS)
#define COUNT_FRAMES 16 /* power of two */
#define STACK_WORDS 128 /* power of two */

struct remembered {
	__u64 uct_ep;
	__u64 rows;
	__u32 epoch;
	__u32 cell;
};

#define NO_BUFFER (~0ull)

/* An operation that may be under way, until its stack slot holds something else. */
struct count_op {
	__u64 sp; /* first, see ENTERED() */
	__u64 ret;
	__u64 rows;
	__u64 obj;
	__u64 start; /* 0 = is not timed */
	__u64 buffer; /* 0 = its data may lie anywhere, NO_BUFFER = it has none */
	__u64 moved; /* of the buffer, from its start on */
	__u32 header; /* length of the user's active-message header */
	__u32 cell;
	__u32 span; /* its return is awaited, and ends it */
	__u32 error; /* already counted within it, as in struct ub_cell; 0: none */
	__u32 what;
};

/* A transfer whose return is awaited. */
struct count_xfer {
	__u64 sp; /* first, see ENTERED() */
	__u64 uct_ep;
	__u64 rows;
	__u64 length;
	__u64 start;
	__u64 obj; /* of the operation around it */
	__u64 comp;
	__u64 pack;
	__u64 local, remote; /* put and get without a copy: where the data lies; 0 = others */
	__u32 header;
	__u8 length_rule;
	__u8 layout;
	__u16 site;
};

struct count_task {
	struct task_filter filter;
	__u32 tgid;
	__u32 random;
	__u64 hits, returns; /* see struct ub_task_hits */
	__u64 call_sp; /* the MPI call that may be under way; 0 = none */
	__u64 call_ret;
	__u32 call;
	__u32 ops;
	__u32 xfers;
	__u32 call_awaits; /* ub_site.derivable until the call's operation comes; 0 */
	__u64 given_up_sp, given_up_ret, given_up; /* the last request given up, and where */
	__u32 given_up_row;
	struct caller_paths callers;
	__u64 stack[STACK_WORDS]; /* of the operation that is being entered, upwards */
	struct count_op op[COUNT_FRAMES];
	struct count_xfer xfer[COUNT_FRAMES];
	struct remembered cache[CACHE];
};

/* Per task; written and read here only. Allocation failure: the hit is counted in task_nomem. */
struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct count_task);
} count_tasks __weak SEC(".maps");

/* NULL: the task is not traced, or tracing has ended. */
static __always_inline struct count_task *count_begin(void)
{
	struct count_task *task = bpf_task_storage_get(&count_tasks, current_task(), NULL, 0);

	if (unlikely(stopped))
		return NULL;
	if (unlikely(!task))
		task = task_new(&count_tasks, bpf_get_current_pid_tgid() >> 32);
	if (unlikely(!task))
		return NULL;
	if (unlikely(!filter_valid(&task->filter))) {
		task->tgid = bpf_get_current_pid_tgid() >> 32;
		return filter_ask(&task->filter, task->tgid) ? task : NULL;
	}
	return likely(task->filter.verdict == FILTER_TRACED) ? task : NULL;
}

/* The same at a return. */
static __always_inline struct count_task *count_return(void)
{
	struct count_task *task = count_begin();

	if (task)
		task->returns++;
	return task;
}

/* One in UB_TIMED_EVERY, without a period that a program's own could meet. */
static __always_inline bool count_timed(struct count_task *task)
{
	task->random = task->random * 1664525 + 1013904223;
	return task->random >> 16 < 65536 / UB_TIMED_EVERY;
}

/* One entry: the hit without what only the recording programs need. */
struct entry {
	struct hit hit;
	struct count_task *task;
	__u64 args[ARGS];
};

static __always_inline bool entry_begin(struct entry *e, struct pt_regs *ctx)
{
	e->task = count_begin();
	if (unlikely(!e->task))
		return false;
	e->task->hits++;
	hit_place(&e->hit, ctx, attach_cookie(ctx));
	return true;
}

static __always_inline bool entry_args(struct entry *e, struct pt_regs *ctx)
{
	__u32 row = e->hit.row;

	e->hit.site = bpf_map_lookup_elem(&sites, &row);
	if (unlikely(!e->hit.site))
		return false;
	read_args(e->args, ctx, &e->hit);
	return true;
}

static __always_inline __u64 entry_arg(const struct entry *e, __u8 n)
{
	return e->args[n & (ARGS - 1)];
}

/*
 * Where an operation's data lies, for op.buffer. amount: its bytes, or its elements where the bytes
 * are not known. An operation of no elements moves nothing, whatever its buffer is.
 */
static __always_inline __u64 data_at(__u64 buffer, __u64 amount, bool anywhere)
{
	return !amount ? NO_BUFFER : anywhere ? 0 : buffer;
}

static __always_inline bool in_moved(const struct count_op *op, __u64 address)
{
	return address >= op->buffer && address - op->buffer <= op->moved;
}

/*
 * A frame that is over may seem to be under way. So a put or a get without a copy is the
 * operation's only if it begins no further into the operation's buffer than those before it have
 * come; the buffer is the remote side of copies between memories of one process.
 */
static __always_inline bool moves_data_of(struct count_op *op, const struct count_xfer *xfer,
					  bool sent)
{
	if (!xfer->local || !op->buffer)
		return true;
	if (!in_moved(op, xfer->local) && !in_moved(op, xfer->remote))
		return false;
	op->moved += sent ? xfer->length : 0;
	return true;
}

/* Another tracer may await the call's return: then its slot has the trampoline. */
static __always_inline bool call_holds(const struct count_task *task, __u64 slot)
{
	return slot == task->call_ret || is_trampoline(slot);
}

static __always_inline bool call_live(const struct count_task *task, __u64 sp)
{
	return sp < task->call_sp &&
	       (!SLOT_HAS_RETURN || call_holds(task, slot_value(task->call_sp)));
}

#define OPS(task) ENTERED((task)->op, (task)->ops)
#define XFERS(task) ENTERED((task)->xfer, (task)->xfers)

#endif
