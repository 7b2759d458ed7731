/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/*
 * A message sent inside its operation ends with it: the operation's return shows the outcome, so
 * the transfer needs no return probe. The operation is done, or failed like the transfer, or has a
 * request, which is complete only if the message left. A transfer without resources is retried
 * within the operation, or later from its request (ucp_tag_send_nbx and ucp_request_send,
 * src/ucp/tag/tag_send.c and core/ucp_request.inl, UCX 1.13 to 1.18). An operation that completes
 * at once has a request only if the caller asked for one; any other complete request was completed
 * by another thread, with a transfer of its own.
 *
 * A message that is copied (am_bcopy) has a request from the start, which holds the bytes sent
 * before each fragment: the increase since the fragment before is that one's length, and no
 * increase means that it found no resources. The last one has the rest (ucp_do_am_bcopy_multi,
 * src/ucp/proto/proto_am.inl; ucp_proto_multi_progress, proto_multi.inl).
 */
#ifndef UCXBPF_WITH_OP_BPF_H
#define UCXBPF_WITH_OP_BPF_H

#include "caller.bpf.h"
#include "fragment.bpf.h"

/*
 * Number of an endpoint's short sends that were refused and have not left since. They leave outside
 * of operations: their probe must not be removed before that.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__type(key, struct ub_waiting);
	__type(value, __u64);
} waiting SEC(".maps");

/* Written by user space before loading: an entry can do without its return. */
#ifndef session_links
const volatile bool session_links = false;
#endif

static __always_inline __u8 with_op_id(const struct frame *frame)
{
	return frame->args[2];
}

/* The return value of am_bcopy for that much data. */
static __always_inline __s64 with_op_bytes(const struct frame *frame, __u64 data)
{
	return am_header_words(with_op_id(frame)) * 8 + data;
}

/*
 * A ucp_request_t has the number of bytes sent so far beside the lengths: protocol v1's state
 * begins with it, v2's iterator has it behind the length. It has the datatype as well, or its class
 * (src/ucp/core/ucp_request.h, dt/dt.h, dt/datatype_iter.h, UCX 1.13 to 1.18).
 */
#define SENT_BEFORE_DT_LENGTH 8
#define SENT_BEHIND_DT_LENGTH 8
#define CLASS_BEFORE_LENGTH 8

/* A generic datatype may pack less than its length: a single transfer's is known for others only.
 */
static __always_inline bool with_op_contiguous(const struct task_state *task,
					       const struct ub_layout *layout)
{
	__u16 length = task->with_op.owner.req_flags & UCP_REQUEST_FLAG_PROTO_SEND
			       ? layout->req_dt_length
			       : layout->req_length;

	return !(request_u8(task, length - CLASS_BEFORE_LENGTH) & UCP_DATATYPE_CLASS);
}

static __always_inline void owner_at_entry(struct frame *frame, const struct hit *hit,
					   const struct frame *around)
{
	const struct ub_layout *layout = layout_at(hit->slot);
	struct owner_hints hints = {
		.pack = frame->args[hit->site->arg_pack & (ARGS - 1)],
		.sp = hit->sp,
	};

	hints_place(&hints, around, hit->site->arg_am_id);
	if (layout)
		owner_look(hit->task, frame, layout, &hints);
}

/* Finds the request of a message that begins; false: it has none that can be used. */
static __always_inline bool with_op_begins(const struct hit *hit, const struct frame *op)
{
	struct task_state *task = hit->task;
	struct frame *frame = &task->with_op;
	const struct ub_layout *layout = layout_at(hit->slot);

	if (!layout || layout->req_dt_length == UB_OFF_UNKNOWN ||
	    layout->req_length == UB_OFF_UNKNOWN)
		return false;
	owner_at_entry(frame, hit, op);
	return frame->owner.req &&
	       (with_op_id(frame) != AM_EAGER_ONLY || with_op_contiguous(task, layout));
}

/* Sets *sent to the bytes sent before this fragment, if it belongs to the message under way. */
static __always_inline bool with_op_goes_on(const struct hit *hit, __u64 pack, __u64 *sent)
{
	const struct ub_layout *layout = layout_at(hit->slot);
	const struct owner *owner = &hit->task->with_op.owner;
	__u64 at;

	if (!layout || !owner->req || (pack != owner->req && read_u64(pack) != owner->req))
		return false;
	at = owner->req + layout->req_dt_length;
	at += owner->req_flags & UCP_REQUEST_FLAG_PROTO_SEND ? SENT_BEHIND_DT_LENGTH
							     : -SENT_BEFORE_DT_LENGTH;
	return !bpf_probe_read_user(sent, sizeof(*sent), (void *)at) && *sent >= hit->task->sent &&
	       *sent < owner->length;
}

static __always_inline void with_op_lose(struct task_state *task)
{
	task->with_op_open = 0;
	count_lost_return();
}

/* Not static: verified once. */
__weak __noinline int waiting_add(struct task_state *task, __u64 uct_ep, int more)
{
	struct ub_waiting key = { .uct_ep = uct_ep };
	__u64 *count, one = 1;

	if (!task)
		return 0;
	key.tgid = task->outbox.id >> 32;
	count = bpf_map_lookup_elem(&waiting, &key);
	if (more > 0 && !count)
		bpf_map_update_elem(&waiting, &key, &one, BPF_NOEXIST);
	else if (count && more < 0 && *count < 2)
		bpf_map_delete_elem(&waiting, &key);
	else if (count)
		__sync_fetch_and_add(count, more);
	return 0;
}

/* A refused short send is retried from progress: it does not follow from its operation. */
static __always_inline void with_op_strays(const struct frame *frame, __s64 status)
{
	if (derives && frame->derivable && status < 0)
		derived_count(UB_SHORT_SENDS, without);
}

/* The transfer before this one in the operation is over. */
static __always_inline bool with_op_next(const struct hit *hit, __u8 id, __u64 pack, __u64 *sent)
{
	struct task_state *task = hit->task;
	struct frame *frame = &task->with_op;
	__s64 ret = UCS_ERR_NO_RESOURCE;

	if (id == AM_EAGER_MIDDLE ? !with_op_goes_on(hit, pack, sent)
				  : with_op_id(frame) == AM_EAGER_MIDDLE) {
		with_op_lose(task);
		return false;
	}
	if (*sent > task->sent)
		ret = with_op_bytes(frame, *sent - task->sent);
	task->with_op_open = 0;
	with_op_strays(frame, ret);
	xfer_emit(task, frame, ret, hit->ts, true);
	outbox_settle(&task->outbox, hit->ts);
	return true;
}

static __always_inline bool with_op_may(const struct hit *hit, __u8 id)
{
	if (hit->site->length_rule != UB_LEN_RETURN)
		return id == AM_EAGER_ONLY;
	return session_links &&
	       (id == AM_EAGER_ONLY || id == AM_EAGER_FIRST || id == AM_EAGER_MIDDLE);
}

/*
 * Whether the transfer ends with its operation, so that its entry is enough. The operation's
 * liveness need not be read: nothing is recorded before its return. (The value in a live
 * operation's slot is needed by later lookups.)
 */
static __always_inline bool with_op_enter(const struct hit *hit, struct pt_regs *ctx)
{
	struct task_state *task = hit->task;
	struct frame *frame = &task->with_op, *top = frame_innermost(task);
	__u8 id = PT_REGS_PARM2(ctx);
	bool follows;
	__u64 sent = 0;

	if (!hit->site->ends_with_op || !hit->slot || !is_operation(top) || hit->sp >= top->sp ||
	    !with_op_may(hit, id))
		return false;
	if (!top->ret && !frame_live(top, hit->sp))
		return false;
	/* a callback inside the operation that waits: that one keeps the place */
	if (task->with_op_open && frame->up.op == top->up.op)
		return false;
	follows = task->with_op_open && frame->up.op == top->seq;
	if (follows && !(id == AM_EAGER_MIDDLE && top->looked) && !frame_live(top, hit->sp)) {
		top->looked = 0;
		return false;
	}
	if (id == AM_EAGER_MIDDLE && !follows)
		return false;
	if (follows && !with_op_next(hit, id, PT_REGS_PARM4(ctx), &sent))
		return false;
	if (!follows && task->with_op_open)
		with_op_lose(task);
	frame->up = parents_in(top);
	frame->kind = UB_XFER;
	frame->row = hit->row;
	frame->slot = hit->slot;
	frame->derivable = hit->site->derivable;
	frame->ts = hit->ts;
	frame->comp_func = 0;
	frame->comp_count = 0;
	read_args(frame->args, ctx, hit);
	/* read as the operation was entered, where that asks for it */
	frame->position = top->position;
	if (likely(top->position == FIFO_NOT_SEEN || task->found.uct_ep != frame->args[1]))
		frame->position = position_before(task, hit->site, frame->args[1], id, hit->ts);
	if (id != AM_EAGER_MIDDLE) {
		frame->owner.req = 0;
		if (hit->site->length_rule == UB_LEN_RETURN && !with_op_begins(hit, top))
			return false;
	}
	frame->seq = ++task->next_seq;
	top->moved = 1;
	task->sent = sent;
	task->with_op_open = 1;
	return true;
}

/* At the return of the operation with that number. Not static: verified once. */
__weak __noinline int with_op_leave(struct task_state *task, __u32 op, __s64 status, __u64 now)
{
	struct frame *frame;

	if (!task || !task->with_op_open || task->with_op.up.op != op)
		return 0;
	frame = &task->with_op;
	if (!status && frame->owner.req)
		status = with_op_bytes(frame, frame->owner.length - task->sent);
	task->with_op_open = 0;
	with_op_strays(frame, status);
	if (derives && frame->derivable && status == UCS_ERR_NO_RESOURCE)
		waiting_add(task, frame->args[1], 1);
	xfer_make(task, frame, status, now, true);
	frame->derived = 0;
	return 0;
}

/* The outcome, where the operation returned a request. */
static __always_inline __s64 with_op_status(const struct ub_op *op)
{
	bool sent = (op->attr_mask & UCP_OP_ATTR_FLAG_NO_IMM_CMPL) &&
		    (op->req_flags & UCP_REQUEST_FLAG_COMPLETED);

	return sent ? 0 : UCS_ERR_NO_RESOURCE;
}

#endif
