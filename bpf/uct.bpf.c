/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/* UCT endpoint operations. */
#include "caller.bpf.h"
#include "with_op.bpf.h"

static __always_inline void owner_at_return(const struct leaving *leaving)
{
	struct owner_hints hints = {
		.comp = arg(leaving, leaving->site->arg_comp),
		.pack = arg(leaving, leaving->site->arg_pack),
		.sp = leaving->frame->sp,
	};

	hints_place(&hints, frame_innermost(leaving->task), leaving->site->arg_am_id);
	owner_look(leaving->task, leaving->frame, leaving->layout, &hints);
}

/* Sent inside the first operation that needs another lane, besides the operation's own. */
static __always_inline bool is_wireup(const struct frame *frame, const struct ub_site *site)
{
	return site->arg_am_id && (__u8)frame->args[site->arg_am_id & (ARGS - 1)] == AM_WIREUP;
}

static __always_inline int xfer_enter(struct pt_regs *ctx)
{
	struct frame *frame, *top;
	struct hit hit;
	__u64 comp;

	if (!hit_begin(&hit, ctx))
		return 1;
	if (derives && hit.site->derivable)
		derived_count(hit.site->derivable, seen);
	if (with_op_enter(&hit, ctx))
		return 1;
	if (derives && unlikely(hit.site->derivable))
		derived_count(hit.site->derivable, without);
	top = frame_top(&hit, UB_XFER);
	frame = span_open(&hit, ctx, UB_XFER, top);
	if (!frame)
		return 1;
	/* put and get, which have a remote address, only pack its data */
	if (top && !hit.site->arg_tag && !is_wireup(frame, hit.site))
		top->moved = 1;
	frame->comp_func = 0;
	frame->comp_count = 0;
	comp = frame->args[hit.site->arg_comp & (ARGS - 1)];
	if (comp) {
		struct uct_completion c = {};

		bpf_probe_read_user(&c, sizeof(c), (void *)comp);
		frame->comp_func = c.func;
		frame->comp_count = c.count;
	}
	frame->position =
		position_before(hit.task, hit.site, frame->args[1], frame->args[2], hit.ts);
	if (hit.site->what == UB_XFER_SELF)
		owner_at_entry(frame, &hit, top);
	return 0;
}

static __always_inline int xfer_leave(struct pt_regs *ctx)
{
	struct leaving leaving;

	if (!leave_begin(&leaving, ctx))
		return 0;
	if (is_fragment(&leaving) && fragment_joins(&leaving, false)) {
		outbox_settle(&leaving.task->outbox, leaving.now);
		return 0;
	}
	if (leaving.site->what != UB_XFER_SELF)
		owner_at_return(&leaving);
	if (derives && unlikely(leaving.site->derivable) && !leaving.ret &&
	    (__u8)arg(&leaving, leaving.site->arg_am_id) == AM_EAGER_ONLY)
		waiting_add(leaving.task, leaving.frame->args[1], -1);
	xfer_emit(leaving.task, leaving.frame, leaving.ret, leaving.now, false);
	outbox_settle(&leaving.task->outbox, leaving.now);
	return 0;
}

SPAN(xfer, xfer_enter, xfer_leave)
