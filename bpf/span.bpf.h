/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/*
 * A span's two ends as programs: NAME_session where the kernel has session links, NAME_entry and
 * NAME_return elsewhere. User space loads one form. enter() says 1 when no return is needed.
 */
#ifndef UCXBPF_SPAN_BPF_H
#define UCXBPF_SPAN_BPF_H

#include "request.bpf.h"

/* Opens a frame that waits for its return with its arguments; NULL: there will be no record. */
static __always_inline struct frame *span_open(const struct hit *hit, struct pt_regs *ctx,
					       __u8 kind, const struct frame *top)
{
	struct frame *frame = frame_push(hit, kind, true, parents_in(top));

	if (unlikely(!frame)) {
		emit_nothing(kind);
		return NULL;
	}
	read_args(frame->args, ctx, hit);
	return frame;
}

static __always_inline int span_enter(struct pt_regs *ctx, __u8 kind)
{
	struct hit hit;

	return hit_begin(&hit, ctx) && span_open(&hit, ctx, kind, frame_top(&hit, kind)) ? 0 : 1;
}

/*
 * A return, with the data of its entry. Memory behind the arguments is read now: the caller keeps
 * it until it goes on, and the message is on its way.
 */
struct leaving {
	struct task_state *task;
	struct frame *frame;
	const struct ub_site *site;
	const struct ub_layout *layout;
	__u64 ret;
	__u64 now;
};

static __always_inline bool leave_begin(struct leaving *leaving, struct pt_regs *ctx)
{
	__u32 row;

	leaving->task = likely(stopped < QUIET_FROM) ? task_state() : NULL;
	leaving->frame = likely(leaving->task) ? frame_pop(leaving->task, ctx) : NULL;
	if (unlikely(!leaving->frame))
		return false;
	row = leaving->frame->row;
	leaving->site = bpf_map_lookup_elem(&sites, &row);
	leaving->layout = layout_at(leaving->frame->slot);
	leaving->ret = PT_REGS_RC(ctx);
	leaving->now = bpf_ktime_get_ns();
	leaving->task->outbox.hits++;
	leaving->task->returns[ub_group(leaving->frame->kind)]++;
	return leaving->site && leaving->layout;
}

static __always_inline __u64 arg(const struct leaving *leaving, __u8 n)
{
	return leaving->frame->args[n & (ARGS - 1)];
}

static __always_inline void leave_header(struct ub_hdr *h, const struct leaving *leaving)
{
	const struct frame *frame = leaving->frame;

	header_fill(h, leaving->task, frame->ts, frame->row, frame->slot, frame->kind, frame->up);
	h->seq = frame->seq;
	h->dur = duration(frame->ts, leaving->now);
}

#define SPAN(name, enter, leave)                                                                   \
	SEC("?uprobe.multi")                                                                       \
	int name##_session(struct pt_regs *ctx)                                                    \
	{                                                                                          \
		own_stack(ctx);                                                                    \
		return at_return(ctx) ? leave(ctx) : enter(ctx);                                   \
	}                                                                                          \
	SEC("?uprobe")                                                                             \
	int name##_entry(struct pt_regs *ctx)                                                      \
	{                                                                                          \
		own_stack(ctx);                                                                    \
		enter(ctx);                                                                        \
		return 0;                                                                          \
	}                                                                                          \
	SEC("?uprobe")                                                                             \
	int name##_return(struct pt_regs *ctx)                                                     \
	{                                                                                          \
		own_stack(ctx);                                                                    \
		return leave(ctx);                                                                 \
	}

#endif
