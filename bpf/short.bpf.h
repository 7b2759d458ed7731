/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/*
 * A short message sent inside its operation ends with it: the operation's return shows the outcome,
 * so the transfer needs no return probe. The operation is done, or failed like the transfer, or has
 * a request, which is complete only if the message left. A transfer without resources is retried
 * within the operation, or later from its request (ucp_tag_send_nbx and ucp_request_send,
 * src/ucp/tag/tag_send.c and core/ucp_request.inl, UCX 1.13 to 1.18). An operation that completes
 * at once has a request only if the caller asked for one; any other complete request was completed
 * by another thread, with a transfer of its own.
 */
#ifndef UCXBPF_SHORT_BPF_H
#define UCXBPF_SHORT_BPF_H

#include "xfer.bpf.h"

#define UCS_ERR_NO_RESOURCE (-2)

/* Not static: verified once, and not on each way here. */
__weak __noinline int short_emit(struct task_state *task, __s64 status, __u64 now)
{
	struct owner none = {};
	struct leaving leaving = { .ret = status, .now = now };
	__u32 row;

	if (!task)
		return 0;
	row = task->last_short.row;
	leaving.task = task;
	leaving.frame = &task->last_short;
	leaving.site = bpf_map_lookup_elem(&sites, &row);
	leaving.layout = layout_at(task->last_short.slot);
	task->short_open = 0;
	if (!leaving.site || !leaving.layout)
		return 0;
	xfer_place(&leaving, &none, home_of(task, task->last_short.args[1], leaving.layout)->iface)
		->h.flags |= UB_F_WITH_OP;
	return 0;
}

/*
 * Whether the transfer ends with its operation, so that its entry is enough. The operation's
 * liveness need not be read: nothing is recorded before its return. (The value in a live
 * operation's slot is needed by later lookups.)
 */
static __always_inline bool short_enter(const struct hit *hit, struct pt_regs *ctx)
{
	struct task_state *task = hit->task;
	struct frame *frame = &task->last_short, *top = frame_innermost(task);

	if (!hit->site->ends_with_op || !hit->slot || !is_operation(top) || hit->sp >= top->sp ||
	    (__u8)PT_REGS_PARM2(ctx) != AM_EAGER_ONLY)
		return false;
	if (!top->ret && !frame_live(top, hit->sp))
		return false;
	/* a callback inside the operation that waits: that one keeps the place */
	if (task->short_open && frame->up.op == top->up.op)
		return false;
	if (task->short_open && frame->up.op == top->seq) {
		if (!frame_live(top, hit->sp)) {
			top->looked = 0;
			return false;
		}
		short_emit(task, UCS_ERR_NO_RESOURCE, hit->ts);
		outbox_settle(&task->outbox, hit->ts);
	} else if (task->short_open) {
		count_lost_return();
	}
	frame->seq = ++task->next_seq;
	frame->up = parents_in(top);
	frame->kind = UB_XFER;
	frame->row = hit->row;
	frame->slot = hit->slot;
	frame->ts = hit->ts;
	frame->comp_func = 0;
	frame->comp_count = 0;
	read_args(frame->args, ctx, hit);
	frame->position = position_before(task, hit->site, frame->args[1], AM_EAGER_ONLY, hit->ts);
	task->short_open = 1;
	return true;
}

/* At the operation's return; its record has been made. */
static __always_inline void short_leave(const struct leaving *leaving, const struct ub_op *op)
{
	struct task_state *task = leaving->task;
	__s64 status = op->ret;

	if (!task->short_open || task->last_short.up.op != leaving->frame->seq)
		return;
	if (is_handle(status))
		status = (op->attr_mask & UCP_OP_ATTR_FLAG_NO_IMM_CMPL) &&
					 (op->req_flags & UCP_REQUEST_FLAG_COMPLETED)
				 ? 0
				 : UCS_ERR_NO_RESOURCE;
	short_emit(task, status, leaving->now);
}

#endif
