/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/* Records of MPI calls, by their probe or from their operation, and their frames. */
#ifndef UCXBPF_CALL_BPF_H
#define UCXBPF_CALL_BPF_H

#include "caller.bpf.h"
#include "cell.bpf.h"
#include "frame.bpf.h"

/* Records inside a call name the user's call, not MPI's internal calls. */
static __always_inline __u32 call_rows(const struct hit *hit, struct parents up, __u64 call_site)
{
	__u32 tgid = hit->task->outbox.id >> 32;

	if (up.call && in_mpi(tgid, call_site))
		return up.rows | AROUND_INNER;
	return UB_ROWS_CALL(hit->row);
}

/*
 * Drops calls and arrivals on top of the stack: their slots may keep their values when they are
 * over, if the caller's frame has grown over them without writing there. Not static: verified once.
 */
__weak __noinline int calls_drop(struct task_state *task)
{
	for (int i = 0; task && i < FRAMES; i++) {
		struct frame *frame = frame_innermost(task);

		if (!frame || frame->span)
			break;
		task->depth--;
	}
	return 0;
}

#define CALLS_MOST 8 /* depth from which a call from outside MPI does not count as nested */

/*
 * Records the entry of the call at hit->sp, inside of top; ends: its return is awaited. kind:
 * UB_CALL; UB_POLLS: the caller fills the rest.
 */
static __always_inline struct ub_call *call_place(const struct hit *hit, const struct frame *top,
						  __u64 call_site, bool ends, __u8 kind)
{
	__u32 size = kind == UB_POLLS ? sizeof(struct ub_polls) : sizeof(struct ub_call);
	struct ub_call *call = outbox_place(&hit->task->outbox, kind, size, hit->ts);
	struct parents up;

	if (unlikely(hit->task->depth > CALLS_MOST &&
		     !in_mpi(hit->task->outbox.id >> 32, call_site))) {
		calls_drop(hit->task);
		top = frame_innermost(hit->task);
	}
	up = parents_in(top);
	call->ret_addr = call_site;
	up.rows = call_rows(hit, up, call_site);
	frame_enter(&call->h, hit, UB_CALL, ends, up, call_site);
	call->h.kind = kind;
	return call;
}

/* The call that was just entered awaits its operation, if it makes one. */
static __always_inline void call_awaits(const struct hit *hit)
{
	struct frame *frame = frame_innermost(hit->task);

	if (frame)
		frame->awaits = hit->site->derivable;
	call_checked(&hit->task->callers, hit->site->derivable);
}

/*
 * Drops frames that a call has ended: the ones below its stack slot, since no frame lies between a
 * call and its operation. Not static: verified once.
 */
__weak __noinline int frames_end(struct task_state *task, __u64 sp)
{
	__u32 lost = 0;

	for (int i = 0; task && i < FRAMES; i++) {
		struct frame *frame = frame_innermost(task);

		if (!frame || frame->sp >= sp)
			break;
		lost += frame->span;
		task->depth--;
	}
	count_lost_returns(lost);
	return 0;
}

/* Drops frames that are over, as frame_top() does. Not static: verified once. */
__weak __noinline int frames_settle(struct task_state *task, __u64 sp)
{
	__u32 lost = 0;

	for (int i = 0; task && i < FRAMES; i++) {
		struct frame *frame = frame_innermost(task);

		if (!frame || frame_live(frame, sp))
			break;
		lost += frame->span;
		task->depth--;
	}
	count_lost_returns(lost);
	return 0;
}

static __always_inline struct frame *frame_settled(struct task_state *task, __u64 sp)
{
	frames_settle(task, sp);
	return frame_innermost(task);
}

/* Makes the record of a call that was not seen, and its frame. */
static __always_inline void call_derive(struct task_state *task, const struct caller_path *path,
					__u64 call_site, __u64 ts)
{
	/* it may leave by another CPU than its operation, but sorts before it */
	struct hit at = { .task = task, .sp = path->call_sp, .ts = ts - 1, .row = path->row };
	struct ub_call *call;

	call = call_place(&at, frame_settled(task, path->call_sp), call_site, false, UB_CALL);
	call->h.flags |= UB_F_DERIVED;
	call->comm = 0;
}

/*
 * Whether a call by that path is the innermost frame now, as its probe or its operation has shown.
 * Not static: verified once.
 */
__weak __noinline int call_on_top(struct task_state *task, const struct caller_path *path, __u64 ts)
{
	enum call_verdict verdict;
	struct frame *frame;
	__u64 call_site;
	bool same;

	if (!task || !path)
		return 0;
	call_site = read_u64(path->call_sp);
	frames_end(task, path->call_sp);
	frame = frame_innermost(task);
	same = frame && frame->sp == path->call_sp && frame->awaits && frame->row == path->row &&
	       (frame->ret == call_site || is_trampoline(call_site));
	verdict = call_judge(&task->callers, path, same);
	if (verdict == CALL_SEEN && frame)
		frame->awaits = 0;
	if (verdict != CALL_UNSEEN)
		return verdict == CALL_SEEN;
	frames_end(task, path->call_sp + 8);
	/* another tracer awaits the call's return: its call site is not known */
	call_derive(task, path, is_trampoline(call_site) ? 0 : call_site, ts);
	return 1;
}

/* The innermost live frame around an operation. */
static __always_inline struct frame *frame_around_op(const struct hit *hit, struct pt_regs *ctx)
{
	struct op_entered op = { hit->sp, PT_REGS_FP(ctx), hit->ret };
	struct caller_paths *paths = &hit->task->callers;
	struct caller_path *path = NULL;
	struct frame *top;
	int at;

	if (!calls_wanted(paths)) {
		top = frame_settled(hit->task, hit->sp);
		/* a later call from the same place, if unseen, is not to be taken for this one */
		if (top)
			top->awaits = 0;
		return top;
	}
	at = caller_path(paths, &op);
	if (at >= 0)
		path = &paths->path[at & (CALLER_PATHS - 1)];
	if (path && path->number && (calls_checked || call_is_derived(paths, path)) &&
	    call_on_top(hit->task, path, hit->ts))
		return frame_innermost(hit->task);
	top = frame_settled(hit->task, hit->sp);
	if (unlikely(top && top->awaits)) {
		if (path)
			call_differs(paths, top->awaits);
		paths->awaited = top->awaits = 0;
	}
	return top;
}

#endif
