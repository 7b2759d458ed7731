/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/*
 * Fragments behind the first one of a big eager message: one record for as many of them as follow
 * each other, kept up to date in the outbox until something else is placed behind it.
 */
#ifndef UCXBPF_FRAGMENT_BPF_H
#define UCXBPF_FRAGMENT_BPF_H

#include "joinable.bpf.h"
#include "xfer.bpf.h"

static __always_inline bool is_fragment(const struct leaving *leaving)
{
	__u8 id = arg(leaving, leaving->site->arg_am_id);

	return leaving->site->length_rule == UB_LEN_RETURN && (__s64)leaving->ret > 0 &&
	       (id == AM_EAGER_MIDDLE || id == AM_MIDDLE);
}

/* Requests are used again: the message must be the same one. */
static __always_inline bool same_message(const struct leaving *leaving,
					 const struct ub_frags *frags, bool with_op)
{
	const struct frame *frame = leaving->frame;
	const struct ub_xfer *xfer = &frags->xfer;
	__u64 pack = arg(leaving, leaving->site->arg_pack), req = xfer->req;

	if (frame->row != xfer->h.site || frame->args[1] != xfer->uct_ep ||
	    frame->up.call != xfer->h.call || frame->up.op != xfer->h.op ||
	    frame->up.rx != xfer->h.rx ||
	    xfer->am_id != (__u8)arg(leaving, leaving->site->arg_am_id))
		return false;
	if (with_op)
		return frame->owner.req == req;
	if (pack == req && is_operation(frame_innermost(leaving->task)))
		return true;
	if (pack != req && read_u64(pack) != req)
		return false;
	return read_u64(req + leaving->layout->req_msg_id) == xfer->w[2];
}

static __always_inline bool fragment_joins(const struct leaving *leaving, bool with_op)
{
	struct ub_frags *frags = joinable(leaving->task, ub_frags, UB_FRAGS);

	if (!frags || frags->xfer.length != (__s64)frags->each * frags->count ||
	    leaving->ret > frags->each || !same_message(leaving, frags, with_op))
		return false;
	frags->count++;
	frags->xfer.length += leaving->ret;
	frags->time += leaving->now - leaving->frame->ts;
	frags->xfer.h.dur = duration(frags->xfer.h.ts, leaving->now);
	frags->xfer.h.flags |= with_op * UB_F_WITH_OP;
	return true;
}

/* The rest of the record is that of any transfer, except for its kind. */
static __always_inline struct ub_xfer *fragment_place(const struct leaving *leaving)
{
	struct task_state *task = leaving->task;
	struct ub_frags *frags = place(&task->outbox, ub_frags, UB_FRAGS, leaving->frame->ts);

	frags->count = 1;
	frags->each = leaving->ret;
	frags->time = leaving->now - leaving->frame->ts;
	joinable_from_now(task);
	return &frags->xfer;
}

/*
 * Makes the record of a transfer that is over, and whose owner was looked for; with_op: it is over
 * at the latest now.
 */
static __always_inline void xfer_make(struct task_state *task, struct frame *frame, __s64 ret,
				      __u64 now, bool with_op)
{
	__u32 row = frame->row;
	struct leaving leaving = {
		.task = task,
		.frame = frame,
		.site = bpf_map_lookup_elem(&sites, &row),
		.layout = layout_at(frame->slot),
		.ret = ret,
		.now = now,
	};
	struct ub_xfer *xfer;
	bool fragment;

	if (!leaving.site || !leaving.layout)
		return;
	fragment = is_fragment(&leaving);
	if (with_op && fragment && fragment_joins(&leaving, true))
		return;
	fragment = fragment && frame->owner.req && leaving.layout->req_msg_id != UB_OFF_UNKNOWN;
	xfer = fragment ? fragment_place(&leaving)
			: place(&task->outbox, ub_xfer, UB_XFER, frame->ts);
	xfer_fill(xfer, &leaving, &frame->owner,
		  home_of(task, frame->args[1], leaving.layout)->iface);
	xfer->h.kind = fragment ? UB_FRAGS : UB_XFER;
	xfer->h.flags |= with_op * UB_F_WITH_OP | frame->derived * UB_F_DERIVED;
}

/* Not static: verified once, and not on each way here. */
__weak __noinline int xfer_emit(struct task_state *task, struct frame *frame, __s64 ret, __u64 now,
				bool with_op)
{
	if (task && frame)
		xfer_make(task, frame, ret, now, with_op);
	return 0;
}

#endif
