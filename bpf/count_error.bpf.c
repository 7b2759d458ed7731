/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/*
 * --count: errors that no awaited return shows. UCX calls these functions only when something
 * fails, so a job without errors pays nothing.
 */
#include "count_cell.bpf.h"
#include "ucx_abi.bpf.h"

/* UCP_REQUEST_FLAG_*, the same in UCX 1.13 to 1.20 */
#define REQUEST_OF_V2 (1u << 2) /* PROTO_SEND */
#define REQUEST_FRAGMENT (1u << 15) /* RNDV_FRAG */
#define REQUEST_MESSAGE (1u << 13 | 1u << 14 | 1u << 16 | 1u << 17) /* SEND_, RECV_: AM, TAG */

/* Counts an error together with the MPI call in which it showed, such as MPI_Wait. */
static __always_inline int error_add(struct count_task *task, __u64 sp, __u32 row, __u32 status,
				     __u64 obj)
{
	__u64 rows = UB_ROWS_OP(row);

	if (call_live(task, sp))
		rows |= UB_ROWS_CALL(task->call);
	return count_failure(task, rows, status, NULL, obj);
}

/* Marks the error in the operation that the task is in, which may return it as well: it counts
 * once. */
static __always_inline int op_error_add(struct count_task *task, __u64 sp, __u32 row, __u32 status)
{
	struct count_op *op;

	entered_end(OPS(task), sp);
	if (task->ops) {
		op = entered_last(OPS(task));
		op->error = status;
	}
	return error_add(task, sp, row, status, 0);
}

/*
 * Whether a request is an operation of the program. Protocol v1 marks those of messages only; v2
 * marks all, and fragments are requests of its own.
 */
static __always_inline bool request_counts(const struct entry *e, __u64 req)
{
	__u32 slot = e->hit.slot, flags;
	const struct ub_layout *layout = bpf_map_lookup_elem(&layouts, &slot);

	if (!layout || !layout->req_size)
		return false;
	flags = read_u64(req + layout->req_flags);
	return flags & REQUEST_OF_V2 ? !(flags & REQUEST_FRAGMENT) : flags & REQUEST_MESSAGE;
}

/* Whether another function has just given up this request: one may call the next, also by a tail
 * call. */
static __always_inline bool given_up_here(const struct entry *e, __u64 req)
{
	const struct count_task *task = e->task;
	bool within = e->hit.sp < task->given_up_sp;

	/* the same function again: of another request that has the memory of the last one */
	within = within || (e->hit.sp == task->given_up_sp && e->hit.row != task->given_up_row);
	return within && req == task->given_up &&
	       slot_value(task->given_up_sp) == task->given_up_ret;
}

static __always_inline void request_given_up(const struct entry *e, __u64 req, __u32 status)
{
	struct count_task *task = e->task;
	__u64 sp = e->hit.sp;

	if (given_up_here(e, req))
		return;
	task->given_up_sp = sp;
	task->given_up_ret = slot_value(sp);
	task->given_up = req;
	task->given_up_row = e->hit.row;
	if (request_counts(e, req))
		op_error_add(task, sp, e->hit.row, status);
}

static __always_inline int count_error_enter(struct pt_regs *ctx)
{
	struct entry e;
	__u8 status;
	__u64 obj;

	if (!entry_begin(&e, ctx) || !entry_args(&e, ctx))
		return 1;
	obj = entry_arg(&e, e.hit.site->arg_obj);
	status = -(__s8)entry_arg(&e, e.hit.site->arg_aux);
	switch (e.hit.site->what) {
	case UB_COMP_CANCELLED:
		return 0;
	case UB_COMP_TRUNCATED:
		process_mark_failed(e.task->tgid);
		op_error_add(e.task, e.hit.sp, e.hit.row, -UCS_ERR_MESSAGE_TRUNCATED);
		break;
	case UB_COMP_EP_FAILED:
		if (ep_mark_over(e.task->tgid, obj)) {
			process_mark_failed(e.task->tgid);
			error_add(e.task, e.hit.sp, e.hit.row, status, obj);
		}
		break;
	case UB_COMP_GIVEN_UP:
		request_given_up(&e, obj, status);
		break;
	}
	return 1;
}

/* Return of ucp_tag_exp_remove(): whether the receive was still queued. */
static __always_inline int count_error_leave(struct pt_regs *ctx)
{
	struct count_task *task = count_return();
	struct hit hit;

	if (!task || !(__u32)PT_REGS_RC(ctx))
		return 0;
	hit_place(&hit, ctx, attach_cookie(ctx));
	return error_add(task, PT_REGS_SP(ctx), hit.row, -UCS_ERR_CANCELED, 0);
}

SPAN(count_error, count_error_enter, count_error_leave)

SEC("?uprobe")
int count_error_only(struct pt_regs *ctx)
{
	own_stack(ctx);
	count_error_enter(ctx);
	return 0;
}
