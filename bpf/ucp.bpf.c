/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/* UCP operations, arrivals, completions. */
#include "call.bpf.h"
#include "op_stack.bpf.h"
#include "short.bpf.h"
#include "wrapper.bpf.h"

#define UCP_DATATYPE_BYTE 8

/* Reads the position of a message whose transfer will not be seen, when positions are due. */
static __always_inline __u64 op_position(const struct hit *hit, const struct frame *frame)
{
	struct sent_op *op = &hit->task->sent_op;

	if (!derives || likely(!(calls_derived & UB_SHORTS)) || !hit->site->may_short)
		return FIFO_NOT_SEEN;
	op->row = hit->row;
	op->slot = hit->slot;
	op->ts = hit->ts;
	op->ep = frame->args[hit->site->arg_obj & (ARGS - 1)];
	return short_position(hit->task);
}

static __always_inline __u64 op_caller(const struct hit *hit)
{
	return hit->wrappers ? wrapper_caller(hit->wrappers, hit->function, hit->sp, hit->ret)
			     : hit->ret;
}

static __always_inline int op_enter(struct pt_regs *ctx)
{
	struct frame *frame;
	struct hit hit;

	if (!hit_begin(&hit, ctx))
		return 1;
	hit.ret = slot_value(hit.sp);
	frame = span_open(&hit, ctx, UB_OP, frame_around_op(&hit, ctx));
	if (!frame)
		return 1;
	frame->position = op_position(&hit, frame);
	frame->caller = op_caller(&hit);
	return 0;
}

/*
 * Stores the caller's parameters; returns where it wants tag and length to be stored, 0 = nowhere.
 * Not static: verified once.
 */
__weak __noinline __u64 op_param_read(struct ub_op *op, __u64 at, __u32 req_size)
{
	struct request_param param = {};

	if (!op)
		return 0;
	if (bpf_probe_read_user(&param, sizeof(param), (void *)at))
		op->h.flags |= UB_F_READ_FAULT;
	op->attr_mask = param.op_attr_mask;
	if ((param.op_attr_mask & UCP_OP_ATTR_FIELD_REQUEST) && req_size)
		op->req = param.request - req_size;
	if (param.op_attr_mask & UCP_OP_ATTR_FIELD_CALLBACK)
		op->cb = param.cb;
	if (param.op_attr_mask & UCP_OP_ATTR_FIELD_DATATYPE)
		op->datatype = param.datatype;
	return param.op_attr_mask & UCP_OP_ATTR_FIELD_RECV_INFO ? param.recv_info : 0;
}

/* Returns the address where the caller wants tag and length to be stored, 0 = none. */
static __always_inline __u64 op_param(struct ub_op *op, const struct leaving *leaving)
{
	const struct ub_site *site = leaving->site;
	__u64 info = 0;

	if (site->arg_param)
		info = op_param_read(op, arg(leaving, site->arg_param), leaving->layout->req_size);
	return site->arg_info ? arg(leaving, site->arg_info) : info;
}

static __always_inline void op_arguments(struct ub_op *op, const struct leaving *leaving)
{
	const struct ub_site *site = leaving->site;

	op->obj = arg(leaving, site->arg_obj);
	op->buffer = arg(leaving, site->arg_buffer);
	op->count = arg(leaving, site->arg_count);
	op->tag = arg(leaving, site->arg_tag);
	op->aux = arg(leaving, site->arg_aux);
	op->datatype = UCP_DATATYPE_BYTE;
	op->req = 0;
	op->ret = leaving->ret;
	op->cb = 0;
	op->req_len = 0;
	op->info_tag = 0;
	op->info_len = 0;
	op->attr_mask = site->what == UB_OP_PROBE ? op->count : 0;
	op->req_flags = 0;
	op->mem_type = 0;
	op->mem_device = 0;
	ub_op_set_caller(op, leaving->frame->caller);
}

/*
 * The number that UCX gives to a receive as it queues it, recv.tag.sn: a callback pointer before
 * the info in UCX 1.13 to 1.18 (src/ucp/core/ucp_request.h). Threads may be queued in another order
 * than they came in.
 */
#define RECV_SN_BEFORE_INFO 16

static __always_inline void op_posted(struct ub_op *op, const struct task_state *task,
				      const struct ub_layout *layout)
{
	if (layout->req_recv_info == UB_OFF_UNKNOWN || op->h.flags & UB_F_INFO)
		return;
	op->info_tag = request_u64(task, layout->req_recv_info - RECV_SN_BEFORE_INFO);
	op->h.flags |= UB_F_POSTED;
}

/*
 * UCX's memory type of the buffer, for operations with a tag or an address: other receives have
 * requests of another form. Type and device side by side in an ucp_datatype_iter_t, right before
 * its length (src/ucp/dt/dt.h, ucp_memory_info_t); the type alone elsewhere.
 */
#define UCS_SYS_DEVICE_ID_UNKNOWN 255

static __always_inline void op_memory(struct ub_op *op, const struct task_state *task,
				      const struct ub_layout *layout, __u8 what)
{
	__u16 at = layout->req_mem, length = 0;

	if (what == UB_OP_TAG_RECV) {
		at = layout->recv_mem;
		length = layout->req_recv_length;
	} else if (op->req_flags & UCP_REQUEST_FLAG_PROTO_SEND) {
		length = layout->req_dt_length;
		at = length == UB_OFF_UNKNOWN ? 0 : length - 4;
	}
	if (!at || at == UB_OFF_UNKNOWN)
		return;
	op->mem_type = request_u8(task, at) + 1;
	if (at + 4 == length && request_u8(task, at + 1) != UCS_SYS_DEVICE_ID_UNKNOWN)
		op->mem_device = request_u8(task, at + 1) + 1;
}

/*
 * The request's fields at the return. One that was passed in and completed at once may never have
 * been touched by UCX: only a receive marks it then.
 */
static __always_inline void op_request(struct ub_op *op, struct task_state *task,
				       const struct ub_layout *layout, __u8 what, bool addressed)
{
	if (!op->req || (op->ret == 0 && what != UB_OP_TAG_RECV) || !request_load(task, op->req))
		return;
	op->req_flags = request_u32(task, layout->req_flags);
	if (addressed && is_handle(op->ret))
		op_memory(op, task, layout, what);
	if (what != UB_OP_TAG_RECV)
		op->req_len = request_length(task, layout);
	else if (op->ret != 0) {
		op->req_len = request_u64(task, layout->req_recv_length);
		op_posted(op, task, layout);
	} else if ((op->req_flags & UCP_REQUEST_FLAG_COMPLETED) && !(op->h.flags & UB_F_INFO)) {
		op->info_tag = request_u64(task, layout->req_recv_info);
		op->info_len = request_u64(task, layout->req_recv_info + 8);
		op->h.flags |= UB_F_INFO;
	}
}

static __always_inline void op_info(struct ub_op *op, __u64 out, __u8 what)
{
	__u64 info[2] = {};

	if (!out)
		return;
	if (what == UB_OP_SIZE_OUT || what == UB_OP_DATA_OUT)
		bpf_probe_read_user(&info[1], 8, (void *)out);
	else
		bpf_probe_read_user(info, sizeof(info), (void *)out);
	op->info_tag = info[0];
	op->info_len = info[1];
	op->h.flags |= UB_F_INFO;
}

static __always_inline void op_result(struct ub_op *op, const struct leaving *leaving, __u64 out)
{
	const struct ub_layout *layout = leaving->layout;
	__u8 what = leaving->site->what;

	switch (what) {
	case UB_OP_CANCEL:
		op->ret = 0;
		op->req = op->aux - layout->req_size;
		return;
	case UB_OP_PROBE:
	case UB_OP_DATA_OUT:
		op_info(op, out, what);
		return;
	}
	if (is_handle(op->ret) && !op->req && layout->req_size)
		op->req = op->ret - layout->req_size;
	if (op->ret == 0)
		op_info(op, out, what);
	op_request(op, leaving->task, layout, what, leaving->site->arg_tag);
}

/*
 * A send has returned, whose frame was popped last. True: its transfer follows from that. Not
 * static: verified once.
 */
__weak __noinline int op_short(struct task_state *task, const struct ub_op *op, __u64 now,
			       __u8 what)
{
	struct sent_op *sent;
	struct frame *frame;

	frame = task ? frame_at(task, task->depth) : NULL;
	if (!frame || !op)
		return 0;
	sent = &task->sent_op;
	sent->ep = op->obj;
	sent->length = op->count * (op->datatype >> FOLD_DATATYPE_SHIFT);
	sent->tag = op->tag;
	sent->ts = frame->ts;
	sent->now = now;
	sent->position = frame->position;
	sent->status = is_handle(op->ret) ? with_op_status(op) : op->ret;
	sent->up = parents_in(frame);
	sent->seq = frame->seq;
	sent->row = frame->row;
	sent->slot = frame->slot;
	sent->tagged = what == UB_OP_TAG_SEND && !(op->datatype & UCP_DATATYPE_CLASS);
	sent->moved = frame->moved;
	return short_leave(task);
}

static __always_inline int op_leave(struct pt_regs *ctx)
{
	struct leaving leaving;
	struct ub_op *op;
	__u8 what;

	if (!leave_begin(&leaving, ctx))
		return 0;
	what = leaving.site->what;
	if ((what == UB_OP_PROBE || what == UB_OP_DATA_OUT) && !leaving.ret) {
		outbox_settle(&leaving.task->outbox, leaving.now);
		return 0;
	}
	if (leaving.task->with_op_open && !is_handle(leaving.ret))
		with_op_leave(leaving.task, leaving.frame->seq, leaving.ret, leaving.now);
	op = place(&leaving.task->outbox, ub_op, UB_OP, leaving.frame->ts);
	leave_header(&op->h, &leaving);
	op_arguments(op, &leaving);
	op_result(op, &leaving, op_param(op, &leaving));
	if (leaving.task->with_op_open)
		with_op_leave(leaving.task, op->h.seq, with_op_status(op), leaving.now);
	if (derives && leaving.site->may_short && (calls_checked || calls_derived & UB_SHORTS) &&
	    op_short(leaving.task, op, leaving.now, what))
		with_op_leave(leaving.task, op->h.seq, 0, leaving.now);
	if (stacks_on)
		bpf_tail_call(ctx, &after_op, 0);
	outbox_settle(&leaving.task->outbox, leaving.now);
	return 0;
}

SPAN(op, op_enter, op_leave)

/*
 * Blocking operations run user callbacks inside, and an exception or a cancellation that unwinds
 * through a frame with a return probe ends the program: no return is taken, so no result is known.
 */
SEC("uprobe")
int op_call(struct pt_regs *ctx)
{
	struct parents up;
	struct ub_hdr h;
	struct ub_op *op;
	struct hit hit;

	own_stack(ctx);
	if (!hit_begin(&hit, ctx))
		return 0;
	hit.ret = slot_value(hit.sp);
	op = place(&hit.task->outbox, ub_op, UB_OP, hit.ts);
	__builtin_memset(op, 0, sizeof(*op));
	up = parents_in(frame_top(&hit, UB_OP));
	frame_enter(&op->h, &hit, UB_OP, false, up, hit.ret);
	op->obj = PT_REGS_PARM1(ctx);
	op->h.flags |= UB_F_NO_RETURN;
	ub_op_set_caller(op, hit.ret);
	if (stacks_on && op_has_stack(hit.task, up, hit.ret)) {
		h = op->h;
		stack_take_op(ctx, &hit.task->outbox, &h, hit.sp, hit.ret);
	}
	outbox_settle(&hit.task->outbox, hit.ts);
	return 0;
}

static __always_inline bool read_header(void *to, __u32 bytes, __u64 at, bool may_sleep)
{
	return likely(!bpf_probe_read_user(to, bytes, (void *)at)) ||
	       (may_sleep && !bpf_copy_from_user(to, bytes, (void *)at));
}

static __always_inline void rx_header(struct ub_rx *rx, __u8 am_id, bool may_sleep)
{
	__u32 bytes = am_header_words(am_id) * 8;
	/* the kernel takes longer to allow a read into a map (CONFIG_HARDENED_USERCOPY) */
	__u64 words[sizeof(rx->w) / 8] = {};

	if (bytes > rx->length)
		bytes = rx->length & ~7;
	if (bytes > sizeof(words))
		bytes = sizeof(words);
	if (bytes && unlikely(!read_header(words, bytes, rx->data, may_sleep)))
		rx->h.flags |= UB_F_READ_FAULT;
	__builtin_memcpy(rx->w, words, sizeof(words));
}

/*
 * A handler is called from one place in the transport's progress function for each sort of
 * message, inline or in a descriptor: at the same height of the stack and with the same flags it is
 * taken to be the place of the last time, and looked at now and then. A handler called from
 * elsewhere seems to be over when something inside it is recorded: that record
 * says no more than that it was not inside an operation, which is so, since those always look.
 */
#define LOOK_EVERY 32 /* power of two */

static __always_inline __u64 handler_call_site(const struct hit *hit, __u32 op, __u32 flags)
{
	struct handler *last = &hit->task->handlers[flags & (HANDLERS - 1)];

	if (op || last->sp != hit->sp || last->row != hit->row || last->flags != flags ||
	    !(hit->task->next_seq & (LOOK_EVERY - 1))) {
		last->sp = hit->sp;
		last->row = hit->row;
		last->flags = flags;
		last->call_site = slot_value(hit->sp);
	}
	return last->call_site;
}

static __always_inline int rx_enter(struct pt_regs *ctx, bool may_sleep)
{
	struct parents up;
	struct ub_rx *rx;
	struct hit hit;

	if (!hit_begin(&hit, ctx))
		return 0;
	if (unlikely(hit.site->what == UB_RX_SOCKET)) {
		socket_reads(&hit, PT_REGS_PARM1(ctx), PT_REGS_PARM2(ctx));
		return 0;
	}
	rx = place(&hit.task->outbox, ub_rx, UB_RX, hit.ts);
	up = parents_in(frame_top(&hit, UB_RX));
	frame_enter(&rx->h, &hit, UB_RX, false, up,
		    handler_call_site(&hit, up.op, PT_REGS_PARM4(ctx)));
	rx->worker = PT_REGS_PARM1(ctx);
	rx->data = PT_REGS_PARM2(ctx);
	rx->length = PT_REGS_PARM3(ctx);
	rx->am_flags = PT_REGS_PARM4(ctx);
	rx_header(rx, hit.site->am_id, may_sleep);
	if (am_without_id(hit.site->am_id)) {
		if (likely(!hit.task->reading.sk) || !socket_arrival(hit.task, rx, hit.site->am_id))
			fifo_arrival(&hit, rx, hit.site->am_id);
	}
	outbox_settle(&hit.task->outbox, hit.ts);
	return 0;
}

/* A handler is often the first to touch a page of the receive buffers: reading it takes a fault. */
SEC("?uprobe.multi.s")
int rx_sleepable(struct pt_regs *ctx)
{
	own_stack(ctx);
	return rx_enter(ctx, true);
}

SEC("?uprobe")
int rx_entry(struct pt_regs *ctx)
{
	own_stack(ctx);
	return rx_enter(ctx, false);
}

/* ucp_tag_rndv_matched(worker, rreq, rts_hdr, hdr_length): src/ucp/tag/tag_rndv.c */
SEC("uprobe")
int match_entry(struct pt_regs *ctx)
{
	struct ub_match *match;
	struct hit hit;
	__u64 rts[5] = {};

	own_stack(ctx);
	if (!hit_begin(&hit, ctx))
		return 0;
	match = place(&hit.task->outbox, ub_match, UB_MATCH, hit.ts);
	header_inside(&match->h, &hit, UB_MATCH);
	match->worker = PT_REGS_PARM1(ctx);
	match->req = PT_REGS_PARM2(ctx);
	if (bpf_probe_read_user(rts, sizeof(rts), (void *)PT_REGS_PARM3(ctx)))
		match->h.flags |= UB_F_READ_FAULT;
	match->tag = rts[0];
	match->ep_id = rts[1];
	match->req_id = rts[2];
	match->size = rts[4];
	outbox_settle(&hit.task->outbox, hit.ts);
	return 0;
}

static __always_inline void comp_fill(struct ub_comp *comp, struct pt_regs *ctx, __u8 what,
				      const struct ub_layout *layout)
{
	__u64 first = PT_REGS_PARM1(ctx), info[2] = {};
	__u8 status = 0;

	comp->status = (__s8)PT_REGS_PARM2(ctx);
	comp->req = first - layout->req_size;
	switch (what) {
	case UB_COMP_UCT:
		comp->req = first - layout->req_uct_comp;
		bpf_probe_read_user(&status, 1, (void *)(first + 12));
		comp->status = (__s8)status;
		break;
	case UB_COMP_RECV_CB:
		if (bpf_probe_read_user(info, sizeof(info), (void *)PT_REGS_PARM3(ctx)))
			comp->h.flags |= UB_F_READ_FAULT;
		else
			comp->h.flags |= UB_F_INFO;
		break;
	case UB_COMP_REQ_FREE:
		comp->status = 0;
		break;
	}
	comp->tag = info[0];
	comp->length = info[1];
}

SEC("uprobe")
int comp_entry(struct pt_regs *ctx)
{
	const struct ub_layout *layout;
	struct ub_comp *comp;
	struct hit hit;

	own_stack(ctx);
	if (!hit_begin(&hit, ctx))
		return 0;
	layout = layout_at(hit.slot);
	if (!layout || !layout->req_size)
		return 0;
	comp = place(&hit.task->outbox, ub_comp, UB_COMP, hit.ts);
	header_inside(&comp->h, &hit, UB_COMP);
	comp->func = hit.function;
	comp_fill(comp, ctx, hit.site->what, layout);
	outbox_settle(&hit.task->outbox, hit.ts);
	return 0;
}
