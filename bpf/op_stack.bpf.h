/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/*
 * Stacks of operations outside of calls. Where an operation's program ends, it goes on with
 * stack_op(), since the verifier has no room for a walk in it. That is at the return: the operation
 * does not take longer for it, and only operations with a record have a stack. The caller's
 * registers and its part of the stack are as they were at the entry.
 */
#ifndef UCXBPF_OP_STACK_BPF_H
#define UCXBPF_OP_STACK_BPF_H

#include "cell.bpf.h"
#include "frame.bpf.h"
#include "stack.bpf.h"

/* stack_op(), written by user space, with stacks only. */
struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} after_op SEC(".maps");

/* Operations inside of calls have their call's stack. */
static __always_inline bool op_has_stack(const struct task_state *task, struct parents up,
					 __u64 caller)
{
	return !up.call || !in_mpi(task->outbox.id >> 32, caller);
}

#if defined(__TARGET_ARCH_x86)

/* The operation has that header; its function was entered at sp and returns to ret. */
static __always_inline void stack_take_op(struct pt_regs *ctx, struct outbox *box,
					  const struct ub_hdr *op, __u64 sp, __u64 ret)
{
	struct stack_key key = { ret, sp, address_space() };
	struct stack_walk *walk = stack_begin();

	if (!walk)
		return;
	walk->h = *op;
	walk->h.call = 0;
	walk->h.op = op->seq;
	walk->h.seq = 0;
	stack_name(walk, box, &key, PT_REGS_FP(ctx));
}

#else

static __always_inline void stack_take_op(struct pt_regs *ctx, struct outbox *box,
					  const struct ub_hdr *op, __u64 sp, __u64 ret)
{
}

#endif

SEC("?uprobe")
int stack_op(struct pt_regs *ctx)
{
	struct task_state *task;
	struct frame *frame;
	struct ub_hdr h;

	own_stack(ctx);
	task = task_state();
	if (!task)
		return 0;
	frame = frame_at(task, task->depth); /* popped last */
	if (frame && is_operation(frame) && frame->sp == PT_REGS_SP(ctx) - SP_AFTER_RETURN &&
	    op_has_stack(task, frame->up, frame->caller)) {
		header_fill(&h, task, frame->ts, frame->row, frame->slot, UB_OP, frame->up);
		h.seq = frame->seq;
		stack_take_op(ctx, &task->outbox, &h, frame->sp, PT_REGS_IP(ctx));
	}
	outbox_settle(&task->outbox, bpf_ktime_get_ns());
	return 0;
}

#endif
