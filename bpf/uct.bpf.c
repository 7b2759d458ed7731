/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/* UCT endpoint operations. */
#include "fragment.bpf.h"
#include "short.bpf.h"

static __always_inline void owner_at_entry(struct frame *frame, const struct hit *hit,
					   const struct frame *around)
{
	const struct ub_layout *layout = layout_at(hit->slot);
	struct owner_hints hints = {
		.pack = frame->args[hit->site->arg_pack & (ARGS - 1)],
		.sp = frame->sp,
	};

	hints_place(&hints, around, hit->site->arg_am_id);
	if (layout)
		owner_find(&frame->owner, hit->task, layout,
			   home_of(hit->task, frame->args[1], layout), &hints);
}

static __always_inline void owner_at_return(struct owner *owner, const struct leaving *leaving,
					    struct home *home)
{
	struct owner_hints hints = {
		.comp = arg(leaving, leaving->site->arg_comp),
		.pack = arg(leaving, leaving->site->arg_pack),
		.sp = leaving->frame->sp,
	};

	hints_place(&hints, frame_innermost(leaving->task), leaving->site->arg_am_id);
	owner_find(owner, leaving->task, leaving->layout, home, &hints);
}

static __always_inline int xfer_enter(struct pt_regs *ctx)
{
	struct frame *frame, *top;
	struct hit hit;
	__u64 comp;

	if (!hit_begin(&hit, ctx))
		return 1;
	if (short_enter(&hit, ctx))
		return 1;
	top = frame_top(&hit, UB_XFER);
	frame = span_open(&hit, ctx, UB_XFER, top);
	if (!frame)
		return 1;
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

/* The name of a protocol-v2 request's protocol, once per process and before it is needed. */
static __always_inline void name_protocol(const struct leaving *leaving, __u64 proto)
{
	struct task_state *task = leaving->task;
	struct named_key key = {
		.pointer = proto,
		.mm = address_space(),
	};
	struct ub_name *name;
	__u8 one = 1;

	if (task->last_proto[0] == proto || task->last_proto[1] == proto)
		return;
	task->last_proto[1] = task->last_proto[0];
	task->last_proto[0] = proto;
	if (bpf_map_lookup_elem(&named, &key) ||
	    bpf_map_update_elem(&named, &key, &one, BPF_NOEXIST))
		return;
	name = place(&task->outbox, ub_name, UB_NAME, leaving->frame->ts);
	__builtin_memset(name, 0, sizeof(*name));
	leave_header(&name->h, leaving);
	name->h.kind = UB_NAME;
	name->h.seq = 0;
	name->key = proto;
	bpf_probe_read_user_str(name->name, sizeof(name->name),
				(void *)read_u64(proto + leaving->layout->proto_name));
}

static __always_inline int xfer_leave(struct pt_regs *ctx)
{
	struct leaving leaving;
	struct owner *owner;
	struct home *home;
	bool fragment;

	if (!leave_begin(&leaving, ctx))
		return 0;
	fragment = is_fragment(&leaving);
	if (fragment && fragment_joins(&leaving)) {
		outbox_settle(&leaving.task->outbox, leaving.now);
		return 0;
	}
	home = home_of(leaving.task, leaving.frame->args[1], leaving.layout);
	owner = &leaving.frame->owner;
	if (leaving.site->what != UB_XFER_SELF)
		owner_at_return(owner, &leaving, home);
	if (owner->req && owner->proto && leaving.layout->proto_name != UB_OFF_UNKNOWN)
		name_protocol(&leaving, owner->proto);
	if (fragment && owner->req && leaving.layout->req_msg_id != UB_OFF_UNKNOWN)
		fragment_place(&leaving, owner, home->iface);
	else
		xfer_place(&leaving, owner, home->iface);
	outbox_settle(&leaving.task->outbox, leaving.now);
	return 0;
}

SPAN(xfer, xfer_enter, xfer_leave)
