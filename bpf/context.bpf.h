/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/*
 * What surrounds a probe hit: the process filter, the arguments, and the stack of live frames.
 *
 * Frames are pushed at entry. Those of ops and transfers are popped by their return probe. Those of
 * MPI calls and arrival handlers have none: such a frame is live as long as the current stack
 * pointer is below it and its stack slot still holds the return address.
 */
#ifndef UCXBPF_CONTEXT_BPF_H
#define UCXBPF_CONTEXT_BPF_H

#include "emit.bpf.h"
#include "own_stack.bpf.h"
#include <bpf/bpf_tracing.h>

#if defined(__TARGET_ARCH_x86)
#define ARG_REGISTERS 6
#define SLOT_HAS_RETURN 1 /* *(sp) is the return address at entry */
#define SP_AFTER_RETURN 8 /* how far the return moves the stack pointer */
#define STACK_ARGS 8 /* the first one's place at entry, from the stack pointer */
#else
#define ARG_REGISTERS 8
#define SLOT_HAS_RETURN 0
#define SP_AFTER_RETURN 0
#define STACK_ARGS 0
#endif

/* One hit of an entry probe. */
struct hit {
	struct task_state *task;
	const struct ub_site *site;
	__u64 sp; /* at the function's entry */
	__u64 function; /* address of its first instruction */
	__u64 ts;
	__u16 row;
	__u8 slot;
};

static __always_inline __u64 read_u64(__u64 address)
{
	__u64 value = 0;

	bpf_probe_read_user(&value, sizeof(value), (void *)address);
	return value;
}

/* What the stack slot of a function holds that was entered at this stack pointer. */
static __always_inline __u64 slot_value(__u64 sp)
{
	return SLOT_HAS_RETURN ? read_u64(sp) : 0;
}

/* ns, as records keep it; a longer one reads as the greatest. */
static __always_inline __u32 duration(__u64 from, __u64 until)
{
	return until - from > 0xffffffff ? 0xffffffff : until - from;
}

/* The mm_struct: what a process's addresses are addresses of. */
static __always_inline __u64 address_space(void)
{
	return (__u64)bpf_get_current_task_btf()->mm;
}

/* A program that also works between windows says so before it includes this. */
#ifndef QUIET_FROM
#define QUIET_FROM UB_BETWEEN_WINDOWS
#endif

static __always_inline void count_lost_return(void)
{
	struct cpu_stats *st = cpu_stats();

	if (st)
		__sync_fetch_and_add(&st->s.lost_returns, 1);
}

static __always_inline void count_deep(void)
{
	struct cpu_stats *st = cpu_stats();

	if (st)
		__sync_fetch_and_add(&st->s.deep, 1);
}

static __always_inline void count_nomem(void)
{
	struct cpu_stats *st = cpu_stats();

	if (st)
		__sync_fetch_and_add(&st->s.task_nomem, 1);
}

static __always_inline bool process_traced(__u32 tgid)
{
	return bpf_map_lookup_elem(&processes, &tgid);
}

/* The probes were away: calls of another window may have the same stack slots by now. */
static __noinline int frames_forget(struct task_state *task)
{
	for (__u32 i = 0; i < FRAMES; i++)
		if (i < task->depth && task->frames[i].span)
			count_lost_return();
	if (task->short_open)
		count_lost_return();
	task->short_open = 0;
	task->depth = 0;
	task->window = window;
	task->fifo_sends = 0;
	return 0;
}

static __always_inline struct task_state *task_state(void)
{
	struct task_struct *current = bpf_get_current_task_btf();
	struct task_state *task = bpf_task_storage_get(&tasks, current, NULL, 0);
	__u32 tgid;

	if (stopped >= QUIET_FROM)
		return NULL;
	if (task && task->filter_gen == filter_generation)
		return task->filter == FILTER_TRACED ? task : NULL;

	tgid = bpf_get_current_pid_tgid() >> 32;
	if (!task) {
		/* a task of another job never costs memory */
		if (!process_traced(tgid))
			return NULL;
		task = bpf_task_storage_get(&tasks, current, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
		if (!task) {
			count_nomem();
			return NULL;
		}
	}
	task->outbox.id = bpf_get_current_pid_tgid();
	task->filter_gen = filter_generation;
	if (task->window != window)
		frames_forget(task);
	task->filter = process_traced(tgid) ? FILTER_TRACED : FILTER_IGNORED;
	return task->filter == FILTER_TRACED ? task : NULL;
}

static __always_inline bool hit_begin(struct hit *hit, struct pt_regs *ctx)
{
	__u64 cookie = bpf_get_attach_cookie(ctx);
	__u32 row = UB_COOKIE_SITE(cookie);

	hit->task = task_state();
	if (!hit->task)
		return false;
	hit->site = bpf_map_lookup_elem(&sites, &row);
	if (!hit->site)
		return false;
	hit->task->outbox.hits++;
	hit->row = row;
	hit->slot = UB_COOKIE_LAYOUT(cookie);
	hit->sp = PT_REGS_SP(ctx) + UB_COOKIE_SP_WORDS(cookie) * 8;
	hit->function = PT_REGS_IP(ctx) - UB_COOKIE_DELTA(cookie);
	hit->ts = bpf_ktime_get_ns();
	return true;
}

static __always_inline const struct ub_layout *layout_at(__u8 slot)
{
	__u32 row = slot;

	return bpf_map_lookup_elem(&layouts, &row);
}

#define LAST_ARG 12 /* no function in the table has more */

/* Arguments in registers, and on the stack for sites whose highest argument is one. */
static __always_inline void read_args(__u64 *args, struct pt_regs *ctx, const struct hit *hit)
{
	args[0] = 0;
	args[1] = PT_REGS_PARM1(ctx);
	args[2] = PT_REGS_PARM2(ctx);
	args[3] = PT_REGS_PARM3(ctx);
	args[4] = PT_REGS_PARM4(ctx);
	args[5] = PT_REGS_PARM5(ctx);
	args[6] = PT_REGS_PARM6(ctx);
#if ARG_REGISTERS == 8
	args[7] = PT_REGS_PARM7(ctx);
	args[8] = PT_REGS_PARM8(ctx);
#endif
	if (hit->site->last_arg > ARG_REGISTERS)
		bpf_probe_read_user(&args[ARG_REGISTERS + 1],
				    (LAST_ARG - ARG_REGISTERS) * sizeof(__u64),
				    (void *)(hit->sp + STACK_ARGS));
}

/*
 * The barriers keep clang from comparing another register than the one that becomes the index, or
 * computing the address before it has compared: verifiers up to 6.12 then lose the range.
 */
static __always_inline struct frame *frame_at(struct task_state *task, __u64 i)
{
	asm volatile("" : "+r"(i));
	if (i >= FRAMES)
		return NULL;
	asm volatile("" : "+r"(i));
	return &task->frames[i];
}

/* The innermost frame; NULL: there is none. */
static __always_inline struct frame *frame_innermost(struct task_state *task)
{
	return frame_at(task, (__u64)task->depth - 1);
}

/*
 * A span's slot holds the return probe's trampoline from its entry on. A task's first one is learnt
 * at the first look inside it, and known for good once that span has returned.
 */
static __always_inline bool frame_live(struct frame *frame, __u64 sp)
{
	__u64 slot;

	if (sp >= frame->sp)
		return false;
	if (!SLOT_HAS_RETURN)
		return true;
	slot = read_u64(frame->sp);
	if (frame->span && !frame->ret)
		frame->ret = slot;
	frame->looked = slot == frame->ret;
	return frame->looked;
}

/*
 * Drops frames that are over; returns the innermost live one or NULL. A frame below a live span
 * frame is live by construction, so only the top is ever looked at; a transfer that finds a span
 * there which was looked at before does not look again.
 */
static __always_inline struct frame *frame_top(const struct hit *hit, __u8 kind)
{
	struct task_state *task = hit->task;

	for (int i = 0; i < FRAMES; i++) {
		struct frame *frame;

		frame = frame_innermost(task);
		if (!frame)
			return NULL;
		if (kind == UB_XFER && frame->span && frame->looked && hit->sp < frame->sp)
			return frame;
		if (frame_live(frame, hit->sp))
			return frame;
		if (frame->span)
			count_lost_return();
		task->depth--;
	}
	return NULL;
}

/* Operations that return at once: they progress no other messages than their own. */
static __always_inline bool is_operation(const struct frame *frame)
{
	return frame && frame->kind == UB_OP && frame->span;
}

/* The frame on top, whatever has become of it. */
static __always_inline struct frame *frame_last(struct task_state *task)
{
	return frame_innermost(task);
}

/* The frame numbers that a record or a frame inside of top carries. */
static __always_inline struct parents parents_in(const struct frame *top)
{
	struct parents up = {};

	if (!top)
		return up;
	up = top->up;
	if (top->kind == UB_CALL)
		up.call = top->seq;
	else if (top->kind == UB_OP)
		up.op = top->seq;
	else if (top->kind == UB_RX)
		up.rx = top->seq;
	return up;
}

/* Who, when, inside what. */
static __always_inline void header_fill(struct ub_hdr *h, const struct task_state *task, __u64 ts,
					__u16 row, __u8 slot, __u8 kind, struct parents up)
{
	__u64 id = task->outbox.id;

	h->ts = ts;
	h->tgid = id >> 32;
	h->tid = id;
	h->cpu_seq = 0;
	h->cpu = 0;
	h->site = row;
	h->seq = 0;
	h->call = up.call;
	h->op = up.op;
	h->rx = up.rx;
	h->dur = 0;
	h->kind = kind;
	h->layout = slot;
	h->flags = 0;
}

/* The header of a record that opens no frame. */
static __always_inline void header_inside(struct ub_hdr *h, const struct hit *hit, __u8 kind)
{
	struct parents up = parents_in(frame_top(hit, kind));

	header_fill(h, hit->task, hit->ts, hit->row, hit->slot, kind, up);
}

/* Opens a frame; NULL where there is no place for one: the sequence number is used up all the same.
 */
static __always_inline struct frame *frame_push(const struct hit *hit, __u8 kind, bool span,
						struct parents up)
{
	struct task_state *task = hit->task;
	__u32 seq = ++task->next_seq;
	struct frame *frame;

	frame = frame_at(task, task->depth);
	if (!frame) {
		count_deep();
		return NULL;
	}
	task->depth++;
	frame->sp = hit->sp;
	frame->ret = task->trampoline;
	frame->looked = 0;
	frame->seq = seq;
	frame->up = up;
	frame->kind = kind;
	frame->span = span;
	frame->row = hit->row;
	frame->slot = hit->slot;
	frame->ts = hit->ts;
	return frame;
}

/*
 * Opens a frame and fills its record's header; call_site: what the frame's stack slot holds. With
 * no place for the frame (false) the record still goes out, with a flag.
 */
static __always_inline bool frame_enter(struct ub_hdr *h, const struct hit *hit, __u8 kind,
					bool span, struct parents up, __u64 call_site)
{
	struct frame *frame = frame_push(hit, kind, span, up);

	header_fill(h, hit->task, hit->ts, hit->row, hit->slot, kind, up);
	h->seq = hit->task->next_seq;
	if (!frame) {
		h->flags = UB_F_DEEP;
		return false;
	}
	if (!span)
		frame->ret = call_site;
	return true;
}

/* The frame that this return closes; frames left above it are over without their return. */
static __always_inline struct frame *frame_pop(struct task_state *task, struct pt_regs *ctx)
{
	__u64 sp = PT_REGS_SP(ctx) - SP_AFTER_RETURN;
	__u64 cookie = bpf_get_attach_cookie(ctx);

	for (int i = 0; i < FRAMES; i++) {
		struct frame *frame;

		frame = frame_innermost(task);
		if (!frame)
			return NULL;
		if (frame->sp > sp)
			return NULL;
		task->depth--;
		if (frame->sp == sp && frame->span && frame->row == UB_COOKIE_SITE(cookie)) {
			if (frame->looked)
				task->trampoline = frame->ret;
			return frame;
		}
		if (frame->span)
			count_lost_return();
	}
	return NULL;
}

#endif
