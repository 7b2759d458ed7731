/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/* UCP operations, arrivals, completions. */
#include "span.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

#define UCP_OP_ATTR_FIELD_REQUEST 1
#define UCP_OP_ATTR_FIELD_CALLBACK 2
#define UCP_OP_ATTR_FIELD_DATATYPE 8
#define UCP_OP_ATTR_FIELD_RECV_INFO 128
#define UCP_DATATYPE_BYTE 8

/* ucp_request_param_t, public ABI (ucp.h, UCX 1.10 and later) */
struct request_param {
	__u32 op_attr_mask;
	__u32 flags;
	__u64 request;
	__u64 cb;
	__u64 datatype;
	__u64 user_data;
	__u64 reply_buffer;
	__u32 memory_type;
	__u32 pad;
	__u64 recv_info;
};

static __always_inline void op_param(struct frame *frame, const struct hit *hit)
{
	struct request_param param = {};
	struct ub_op *op = &frame->op;

	op->datatype = UCP_DATATYPE_BYTE;
	if (!hit->site->arg_param)
		return;
	if (bpf_probe_read_user(&param, sizeof(param), (void *)arg(hit, hit->site->arg_param)))
		op->h.flags |= UB_F_READ_FAULT;
	op->attr_mask = param.op_attr_mask;
	if ((param.op_attr_mask & UCP_OP_ATTR_FIELD_REQUEST) && hit->layout->req_size)
		op->req = param.request - hit->layout->req_size;
	if (param.op_attr_mask & UCP_OP_ATTR_FIELD_CALLBACK)
		op->cb = param.cb;
	if (param.op_attr_mask & UCP_OP_ATTR_FIELD_DATATYPE)
		op->datatype = param.datatype;
	if (param.op_attr_mask & UCP_OP_ATTR_FIELD_RECV_INFO)
		frame->out = param.recv_info;
}

static __always_inline int op_enter(struct pt_regs *ctx)
{
	struct hit hit;
	struct frame *frame;
	const struct ub_site *site;

	if (!hit_begin(&hit, ctx))
		return 1;
	hit_args(&hit, ctx);
	site = hit.site;
	hit_stack_args(&hit, site->arg_param);
	frame = frame_push(&hit, UB_OP, true);
	if (!frame)
		return 1;
	op_param(frame, &hit);
	frame->op.obj = arg(&hit, site->arg_obj);
	frame->op.buffer = arg(&hit, site->arg_buffer);
	frame->op.count = arg(&hit, site->arg_count);
	frame->op.tag = arg(&hit, site->arg_tag);
	frame->op.aux = arg(&hit, site->arg_aux);
	if (site->arg_info)
		frame->out = arg(&hit, site->arg_info);
	if (site->what == UB_OP_PROBE)
		frame->op.attr_mask = frame->op.count;
	return 0;
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
 * What the request knows at the return. One that was handed in and completed at once may never have
 * been touched by UCX: only a receive marks it then.
 */
static __always_inline void op_request(struct ub_op *op, struct task_state *task,
				       const struct ub_layout *layout, __u8 what)
{
	if (!op->req || (op->ret == 0 && what != UB_OP_TAG_RECV) || !request_load(task, op->req))
		return;
	op->req_flags = request_u32(task, layout->req_flags);
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

static __always_inline void op_info(struct frame *frame, __u8 what)
{
	struct ub_op *op = &frame->op;
	__u64 info[2] = {};

	if (!frame->out)
		return;
	if (what == UB_OP_SIZE_OUT || what == UB_OP_DATA_OUT)
		bpf_probe_read_user(&info[1], 8, (void *)frame->out);
	else
		bpf_probe_read_user(info, sizeof(info), (void *)frame->out);
	op->info_tag = info[0];
	op->info_len = info[1];
	op->h.flags |= UB_F_INFO;
}

static __always_inline bool is_handle(__s64 ret)
{
	return ret > 0 || ret < -4096;
}

static __always_inline int op_leave(struct pt_regs *ctx)
{
	struct leaving leaving;
	const struct ub_layout *layout;
	const struct ub_site *site;
	struct ub_op *op;

	if (!leave_begin(&leaving, ctx))
		return 0;
	op = &leaving.frame->op;
	site = leaving.site;
	layout = leaving.layout;
	op->ret = PT_REGS_RC(ctx);
	if (site->what == UB_OP_CANCEL) {
		op->ret = 0;
		op->req = op->aux - layout->req_size;
	} else if (site->what == UB_OP_PROBE || site->what == UB_OP_DATA_OUT) {
		if (!op->ret)
			return 0;
		op_info(leaving.frame, site->what);
	} else {
		if (is_handle(op->ret) && !op->req && layout->req_size)
			op->req = op->ret - layout->req_size;
		if (op->ret == 0)
			op_info(leaving.frame, site->what);
		op_request(op, leaving.task, layout, site->what);
	}
	emit(op);
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
	struct hit hit;
	struct frame *frame;

	if (!hit_begin(&hit, ctx))
		return 0;
	hit_args(&hit, ctx);
	frame = frame_push(&hit, UB_OP, false);
	if (!frame)
		return 0;
	frame->op.obj = arg(&hit, hit.site->arg_obj);
	frame->h.flags |= UB_F_NO_RETURN;
	emit(&frame->op);
	return 0;
}

static __always_inline long read_header(void *to, __u32 bytes, __u64 at, bool may_sleep)
{
	return may_sleep ? bpf_copy_from_user(to, bytes, (void *)at)
			 : bpf_probe_read_user(to, bytes, (void *)at);
}

static __always_inline int rx_enter(struct pt_regs *ctx, bool may_sleep)
{
	struct hit hit;
	struct frame *frame;
	__u32 bytes;

	if (!hit_begin(&hit, ctx))
		return 0;
	hit_args(&hit, ctx);
	frame = frame_push(&hit, UB_RX, false);
	if (!frame)
		return 0;
	frame->rx.worker = hit.args[1];
	frame->rx.length = hit.args[3];
	frame->rx.am_flags = hit.args[4];
	frame->rx.data = hit.args[2];
	bytes = am_header_words(hit.site->am_id) * 8;
	if (bytes > frame->rx.length)
		bytes = frame->rx.length & ~7;
	if (bytes > sizeof(frame->rx.w))
		bytes = sizeof(frame->rx.w);
	if (bytes && read_header(frame->rx.w, bytes, hit.args[2], may_sleep))
		frame->h.flags |= UB_F_READ_FAULT;
	emit(&frame->rx);
	return 0;
}

/* A handler is often the first to touch a page of the receive buffers: reading it takes a fault. */
SEC("?uprobe.multi.s")
int rx_sleepable(struct pt_regs *ctx)
{
	return rx_enter(ctx, true);
}

SEC("?uprobe")
int rx_entry(struct pt_regs *ctx)
{
	return rx_enter(ctx, false);
}

/* ucp_tag_rndv_matched(worker, rreq, rts_hdr, hdr_length): src/ucp/tag/tag_rndv.c */
SEC("uprobe")
int match_entry(struct pt_regs *ctx)
{
	struct ub_match match = {};
	struct hit hit;
	__u64 rts[5] = {};

	if (!hit_begin(&hit, ctx))
		return 0;
	hit_args(&hit, ctx);
	header_init(&match.h, &hit, frame_top(hit.task, hit.sp), UB_MATCH);
	match.worker = hit.args[1];
	match.req = hit.args[2];
	if (bpf_probe_read_user(rts, sizeof(rts), (void *)hit.args[3]))
		match.h.flags |= UB_F_READ_FAULT;
	match.tag = rts[0];
	match.ep_id = rts[1];
	match.req_id = rts[2];
	match.size = rts[4];
	emit(&match);
	return 0;
}

static __always_inline void comp_fill(struct ub_comp *comp, const struct hit *hit)
{
	__u64 info[2] = {};
	__u8 status = 0;

	comp->status = (__s8)hit->args[2];
	comp->req = hit->args[1] - hit->layout->req_size;
	switch (hit->site->what) {
	case UB_COMP_UCT:
		comp->req = hit->args[1] - hit->layout->req_uct_comp;
		bpf_probe_read_user(&status, 1, (void *)(hit->args[1] + 12));
		comp->status = (__s8)status;
		break;
	case UB_COMP_RECV_CB:
		if (bpf_probe_read_user(info, sizeof(info), (void *)hit->args[3]))
			comp->h.flags |= UB_F_READ_FAULT;
		else
			comp->h.flags |= UB_F_INFO;
		comp->tag = info[0];
		comp->length = info[1];
		break;
	case UB_COMP_REQ_FREE:
		comp->status = 0;
		break;
	}
}

SEC("uprobe")
int comp_entry(struct pt_regs *ctx)
{
	struct ub_comp comp = {};
	struct hit hit;

	if (!hit_begin(&hit, ctx))
		return 0;
	if (!hit.layout->req_size)
		return 0;
	hit_args(&hit, ctx);
	header_init(&comp.h, &hit, frame_top(hit.task, hit.sp), UB_COMP);
	comp.func = hit.function;
	comp_fill(&comp, &hit);
	emit(&comp);
	return 0;
}
