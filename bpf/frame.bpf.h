/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/*
 * The stack of live frames. They are pushed at entry. Those of ops and transfers are popped by
 * their return probe. Those of MPI calls and arrival handlers have none: such a frame is live as
 * long as the current stack pointer is below it and its stack slot still holds the return address.
 */
#ifndef UCXBPF_FRAME_BPF_H
#define UCXBPF_FRAME_BPF_H

#include "context.bpf.h"
#include <bpf/bpf_core_read.h>

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

/* The frame entered last, live or not, or NULL. frame_top() first drops frames that have ended. */
static __always_inline struct frame *frame_innermost(struct task_state *task)
{
	return frame_at(task, (__u64)task->depth - 1);
}

/* kernel/events/uprobes.c: get_trampoline_vaddr(), later uprobe_get_trampoline_vaddr(), Linux 5.15
 * to 6.18. */
struct xol_area___ub {
	unsigned long vaddr;
} __attribute__((preserve_access_index));

struct uprobes_state___ub {
	struct xol_area___ub *xol_area;
} __attribute__((preserve_access_index));

struct mm_struct___ub {
	struct uprobes_state___ub uprobes_state;
} __attribute__((preserve_access_index));

/*
 * Another tracer's return probe stands where none is awaited here: the slot has the trampoline,
 * too. Not static: verified once, and not for each frame that is looked at.
 */
__weak __noinline int is_trampoline(__u64 slot)
{
	struct mm_struct___ub *mm = (void *)bpf_get_current_task_btf()->mm;

	return slot && bpf_core_field_exists(struct xol_area___ub, vaddr) &&
	       slot == BPF_CORE_READ(mm, uprobes_state.xol_area, vaddr);
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
	return frame->looked || (!frame->span && is_trampoline(slot));
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

/* Task, time, and frames around it. */
static __always_inline void header_fill(struct ub_hdr *h, const struct task_state *task, __u64 ts,
					__u16 row, __u8 slot, __u8 kind, struct parents up)
{
	__u64 id = task->outbox.id;

	h->ts = ts;
	h->tgid = id >> 32;
	h->tid = id;
	h->cpu_seq = up.rows;
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

/* Rows that name the frames around a record inside of this one; for a call, see call_rows(). */
static __always_inline __u32 rows_inside(__u8 kind, __u16 row, __u32 rows)
{
	if (kind == UB_OP || kind == UB_RX)
		rows &= ~AROUND_OP;
	return kind == UB_OP ? rows | UB_ROWS_OP(row) : rows;
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
	frame->awaits = 0;
	frame->moved = 0;
	frame->seq = seq;
	frame->up = up;
	frame->up.rows = rows_inside(kind, hit->row, up.rows);
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
	__u64 cookie = attach_cookie(ctx);

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
