/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/*
 * Fragments behind the first one of a big eager message: one record for as many of them as follow
 * each other, kept up to date in the outbox until something else is placed behind it.
 */
#ifndef UCXBPF_FRAGMENT_BPF_H
#define UCXBPF_FRAGMENT_BPF_H

#include "xfer.bpf.h"

static __always_inline bool is_fragment(const struct leaving *leaving)
{
	__u8 id = arg(leaving, leaving->site->arg_am_id);

	return leaving->site->length_rule == UB_LEN_RETURN && (__s64)leaving->ret > 0 &&
	       (id == AM_EAGER_MIDDLE || id == AM_MIDDLE);
}

/* The record that may go on; NULL: it has left, or something came behind it. */
static __always_inline struct ub_frags *open_record(struct task_state *task)
{
	struct outbox *box = &task->outbox;
	__u32 at = task->fragments.end - sizeof(struct ub_frags);

	if (box->bytes < sizeof(struct ub_frags) || box->bytes != task->fragments.end ||
	    box->sent != task->fragments.sent)
		return NULL;
	return (struct ub_frags *)(box->records + (at & (OUTBOX - 1)));
}

/* Requests are used again: the message must be the same one. */
static __always_inline bool same_message(const struct leaving *leaving,
					 const struct ub_frags *frags)
{
	const struct frame *frame = leaving->frame;
	const struct ub_xfer *xfer = &frags->xfer;
	__u64 pack = arg(leaving, leaving->site->arg_pack), req = xfer->req;

	if (frame->row != xfer->h.site || frame->args[1] != xfer->uct_ep ||
	    frame->up.call != xfer->h.call || frame->up.op != xfer->h.op ||
	    frame->up.rx != xfer->h.rx ||
	    xfer->am_id != (__u8)arg(leaving, leaving->site->arg_am_id))
		return false;
	if (pack == req && is_operation(frame_innermost(leaving->task)))
		return true;
	if (pack != req && read_u64(pack) != req)
		return false;
	return read_u64(req + leaving->layout->req_msg_id) == xfer->w[2];
}

static __always_inline bool fragment_joins(const struct leaving *leaving)
{
	struct ub_frags *frags = open_record(leaving->task);

	if (!frags || frags->xfer.length != (__s64)frags->each * frags->count ||
	    leaving->ret > frags->each || !same_message(leaving, frags))
		return false;
	frags->count++;
	frags->xfer.length += leaving->ret;
	frags->time += leaving->now - leaving->frame->ts;
	frags->xfer.h.dur = duration(frags->xfer.h.ts, leaving->now);
	return true;
}

static __always_inline void fragment_place(const struct leaving *leaving, const struct owner *owner,
					   __u64 iface)
{
	struct task_state *task = leaving->task;
	struct ub_frags *frags = place(&task->outbox, ub_frags, UB_FRAGS, leaving->frame->ts);

	xfer_fill(&frags->xfer, leaving, owner, iface);
	frags->xfer.h.kind = UB_FRAGS;
	frags->count = 1;
	frags->each = frags->xfer.length;
	frags->time = leaving->now - leaving->frame->ts;
	task->fragments.end = task->outbox.bytes;
	task->fragments.sent = task->outbox.sent;
}

#endif
