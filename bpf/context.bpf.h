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

/* One hit: index args[] by a site's arg_*, 0 reads as 0. */
struct hit {
	__u64 args[16];
	__u64 sp; /* at the function's entry */
	__u64 function; /* address of its first instruction */
	const struct ub_site *site;
	const struct ub_layout *layout;
	struct task_state *task;
	__u16 row;
	__u8 slot;
};

static __always_inline __u64 read_u64(__u64 address)
{
	__u64 value = 0;

	bpf_probe_read_user(&value, sizeof(value), (void *)address);
	return value;
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

/* The probes were away: calls of another window may have the same stack slots by now. */
static __noinline int frames_forget(struct task_state *task)
{
	for (__u32 i = 0; i < FRAMES; i++)
		if (i < task->depth && task->frames[i].span)
			count_lost_return();
	task->depth = 0;
	task->window = window;
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
		if (!bpf_map_lookup_elem(&processes, &tgid))
			return NULL;
		task = bpf_task_storage_get(&tasks, current, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
		if (!task) {
			struct cpu_stats *st = cpu_stats();

			if (st)
				__sync_fetch_and_add(&st->s.task_nomem, 1);
			return NULL;
		}
	}
	task->filter_gen = filter_generation;
	if (task->window != window)
		frames_forget(task);
	task->filter = bpf_map_lookup_elem(&processes, &tgid) ? FILTER_TRACED : FILTER_IGNORED;
	return task->filter == FILTER_TRACED ? task : NULL;
}

static __always_inline bool hit_begin(struct hit *hit, struct pt_regs *ctx)
{
	__u64 cookie = bpf_get_attach_cookie(ctx);
	__u32 row = UB_COOKIE_SITE(cookie), slot = UB_COOKIE_LAYOUT(cookie);
	struct cpu_stats *st;

	hit->task = task_state();
	if (!hit->task)
		return false;
	hit->site = bpf_map_lookup_elem(&sites, &row);
	hit->layout = bpf_map_lookup_elem(&layouts, &slot);
	if (!hit->site || !hit->layout)
		return false;
	st = cpu_stats();
	if (st)
		__sync_fetch_and_add(&st->s.hits, 1);
	hit->row = row;
	hit->slot = slot;
	hit->sp = PT_REGS_SP(ctx) + UB_COOKIE_SP_WORDS(cookie) * 8;
	hit->function = PT_REGS_IP(ctx) - UB_COOKIE_DELTA(cookie);
	return true;
}

static __always_inline void hit_args(struct hit *hit, struct pt_regs *ctx)
{
	__builtin_memset(hit->args, 0, sizeof(hit->args));
	hit->args[1] = PT_REGS_PARM1(ctx);
	hit->args[2] = PT_REGS_PARM2(ctx);
	hit->args[3] = PT_REGS_PARM3(ctx);
	hit->args[4] = PT_REGS_PARM4(ctx);
	hit->args[5] = PT_REGS_PARM5(ctx);
	hit->args[6] = PT_REGS_PARM6(ctx);
#if ARG_REGISTERS == 8
	hit->args[7] = PT_REGS_PARM7(ctx);
	hit->args[8] = PT_REGS_PARM8(ctx);
#endif
}

#define LAST_ARG 12 /* no function in the table has more */

/* Arguments on the stack: only for sites whose highest argument in use is one. */
static __always_inline void hit_stack_args(struct hit *hit, __u8 highest)
{
	if (highest > ARG_REGISTERS)
		bpf_probe_read_user(&hit->args[ARG_REGISTERS + 1],
				    (LAST_ARG - ARG_REGISTERS) * sizeof(__u64),
				    (void *)(hit->sp + STACK_ARGS));
}

static __always_inline __u64 arg(const struct hit *hit, __u8 n)
{
	return hit->args[n & 15];
}

static __always_inline struct frame *frame_at(struct task_state *task, __u32 i)
{
	return &task->frames[i & (FRAMES - 1)];
}

/*
 * A span's slot holds the return probe's trampoline from its entry on, so what it holds is learnt
 * at the first look: a longjmp or an exception past the span leaves other things there in time.
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
	return slot == frame->ret;
}

/*
 * Drops frames that are over; returns the innermost live one or NULL. A frame below a live span
 * frame is live by construction, so only the top is ever looked at.
 */
static __always_inline struct frame *frame_top(struct task_state *task, __u64 sp)
{
	for (int i = 0; i < FRAMES; i++) {
		struct frame *frame;

		if (!task->depth || task->depth > FRAMES)
			return NULL;
		frame = frame_at(task, task->depth - 1);
		if (frame_live(frame, sp))
			return frame;
		if (frame->span)
			count_lost_return();
		task->depth--;
	}
	return NULL;
}

/* Fills the common header: who, when, inside what. */
static __always_inline void header_init(struct ub_hdr *h, const struct hit *hit,
					const struct frame *top, __u8 kind)
{
	__u64 id = bpf_get_current_pid_tgid();

	h->ts = bpf_ktime_get_ns();
	h->tgid = id >> 32;
	h->tid = id;
	h->site = hit->row;
	h->seq = 0;
	h->call = 0;
	h->op = 0;
	h->rx = 0;
	h->dur = 0;
	h->kind = kind;
	h->layout = hit->slot;
	h->flags = 0;
	if (top) {
		h->call = top->h.kind == UB_CALL ? top->h.seq : top->h.call;
		h->op = top->h.kind == UB_OP ? top->h.seq : top->h.op;
		h->rx = top->h.kind == UB_RX ? top->h.seq : top->h.rx;
	}
}

/*
 * Opens a frame. With the stack of frames full, an entry-only record still goes out, through the
 * spare place and with a flag; a span has nowhere to wait for its return and counts as dropped.
 */
static __always_inline struct frame *frame_push(struct hit *hit, __u8 kind, bool span)
{
	struct task_state *task = hit->task;
	struct frame *top = frame_top(task, hit->sp), *frame;
	bool deep = task->depth >= FRAMES;

	if (deep) {
		struct cpu_stats *st = cpu_stats();

		if (st)
			__sync_fetch_and_add(&st->s.deep, 1);
		if (span) {
			emit_nothing(kind);
			return NULL;
		}
	}
	frame = deep ? &task->spare : frame_at(task, task->depth);
	__builtin_memset(&frame->xfer, 0, sizeof(frame->xfer));
	header_init(&frame->h, hit, top, kind);
	frame->h.seq = ++task->next_seq;
	frame->sp = hit->sp;
	frame->ret = !span && SLOT_HAS_RETURN ? read_u64(hit->sp) : 0;
	frame->span = span;
	frame->out = 0;
	if (deep)
		frame->h.flags |= UB_F_DEEP;
	else
		task->depth++;
	return frame;
}

/* The frame that this return closes; frames left above it are over without their return. */
static __always_inline struct frame *frame_pop(struct task_state *task, struct pt_regs *ctx)
{
	__u64 sp = PT_REGS_SP(ctx) - SP_AFTER_RETURN;
	__u64 cookie = bpf_get_attach_cookie(ctx);

	for (int i = 0; i < FRAMES; i++) {
		struct frame *frame;

		if (!task->depth || task->depth > FRAMES)
			return NULL;
		frame = frame_at(task, task->depth - 1);
		if (frame->sp > sp)
			return NULL;
		task->depth--;
		if (frame->sp == sp && frame->span && frame->h.site == UB_COOKIE_SITE(cookie)) {
			__u64 dur = bpf_ktime_get_ns() - frame->h.ts;

			frame->h.dur = dur > 0xffffffff ? 0xffffffff : dur;
			return frame;
		}
		if (frame->span)
			count_lost_return();
	}
	return NULL;
}

#endif
