/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/* --count: transfers. The return shows whether anything was sent, and how much by *_bcopy. */
#include "count_cell.bpf.h"
#include "length.bpf.h"

struct sizes {
	__u64 length;
	__u64 first; /* address of UCP's header, where it is not in a register; 0 = not known */
	bool unknown;
};

static __always_inline void xfer_sizes(const struct entry *e, struct sizes *sizes)
{
	const struct ub_site *site = e->hit.site;
	struct iov_sum sum = {};

	sizes->length = length_direct(site, e->args);
	if (likely(!site->arg_iov))
		return;
	iov_sum(&sum, entry_arg(e, site->arg_iov), entry_arg(e, site->arg_iovcnt));
	sizes->length += sum.bytes;
	sizes->unknown = sum.unknown;
	sizes->first = site->length_rule == UB_LEN_ZCOPY_AM ? entry_arg(e, site->arg_aux) : 0;
	if (!sizes->first)
		sizes->first = sum.first;
}

/* The user's header: its length lies in the upper half of UCP's, or is the operation's argument. */
static __always_inline void xfer_header(struct count_xfer *xfer, const struct entry *e,
					const struct sizes *sizes)
{
	__u64 word = 0;

	if (e->hit.site->length_rule == UB_LEN_SHORT_AM)
		xfer->header = entry_arg(e, e->hit.site->arg_aux) >> 32;
	else if (sizes->first && !bpf_probe_read_user(&word, sizeof(word), (void *)sizes->first))
		xfer->header = word >> 32;
	else
		xfer->rows |= UB_ROWS_FLAGS(UB_CELL_HEADER);
}

/* Another tracer may await the return: then the slot holds the trampoline from the entry on. */
static __always_inline bool op_live(const struct count_op *op, __u64 sp)
{
	__u64 slot;

	if (sp >= op->sp)
		return false;
	if (!SLOT_HAS_RETURN || op->span)
		return true;
	slot = read_u64(op->sp);
	return slot == op->ret || is_trampoline(slot);
}

/* A transfer that was entered between these two depths has not returned. */
static __always_inline bool inside_transfer(struct count_task *task, __u64 sp, __u64 outer_sp)
{
	const struct count_xfer *xfer = entered_last(XFERS(task));
	__u64 top = task->xfers ? xfer->sp : 0;

	return top > sp && top < outer_sp;
}

/*
 * The operation that a transfer is nested in; not if another transfer lies between them: then it is
 * some arrival's, which that transfer has run into (over self).
 */
static __always_inline struct count_op *op_around(struct count_task *task, __u64 sp)
{
	for (int i = 0; i < COUNT_FRAMES; i++) {
		struct count_op *op;

		if (!task->ops)
			return NULL;
		op = entered_last(OPS(task));
		if (!op_live(op, sp)) {
			task->ops--;
			continue;
		}
		return inside_transfer(task, sp, op->sp) ? NULL : op;
	}
	return NULL;
}

static __always_inline struct count_xfer *xfer_push(struct count_task *task, __u64 sp)
{
	count_lost_returns(entered_end(XFERS(task), sp));
	if (task->xfers >= COUNT_FRAMES) {
		count_deep();
		return NULL;
	}
	return entered_at(XFERS(task), task->xfers++);
}

static __always_inline int count_xfer_enter(struct pt_regs *ctx)
{
	struct sizes sizes = {};
	struct count_xfer *xfer;
	struct entry e;
	__u8 am_id;

	if (!entry_begin(&e, ctx) || !entry_args(&e, ctx))
		return 1;
	xfer = xfer_push(e.task, e.hit.sp);
	if (!xfer)
		return 1;
	xfer_sizes(&e, &sizes);
	am_id = entry_arg(&e, e.hit.site->arg_am_id);
	xfer->sp = e.hit.sp;
	xfer->uct_ep = e.args[1];
	xfer->length = sizes.length;
	xfer->obj = 0;
	xfer->comp = entry_arg(&e, e.hit.site->arg_comp);
	xfer->pack = entry_arg(&e, e.hit.site->arg_pack);
	xfer->local = e.hit.site->arg_iov && e.hit.site->arg_tag ? sizes.first : 0;
	xfer->remote = entry_arg(&e, e.hit.site->arg_tag);
	xfer->header = 0;
	xfer->length_rule = e.hit.site->length_rule;
	xfer->layout = e.hit.slot;
	xfer->site = e.hit.row;
	xfer->rows = UB_ROWS_XFER(e.hit.row) | UB_ROWS_AM(am_id) |
		     UB_ROWS_FLAGS(sizes.unknown ? UB_CELL_UNSIZED : 0);
	if (has_user_header(am_id))
		xfer_header(xfer, &e, &sizes);
	xfer->start = count_timed(e.task) ? bpf_ktime_get_ns() : 0;
	return 0;
}

static __always_inline struct count_xfer *xfer_pop(struct count_task *task, __u64 sp)
{
	count_lost_returns(entered_end(XFERS(task), sp - 1));
	return entered_pop(XFERS(task), sp);
}

/* Looked for at the return, which keeps a read off the message's path. */
static __always_inline void xfer_op(struct count_task *task, struct count_xfer *xfer, bool sent)
{
	struct count_op *op = op_around(task, xfer->sp);

	if (!op || !moves_data_of(op, xfer, sent))
		return;
	xfer->obj = op->obj;
	xfer->rows |= op->rows & (UB_ROWS_CALL(UB_MAX_SITES - 1) | UB_ROWS_OP(UB_MAX_SITES - 1));
	if (xfer->rows & UB_ROWS_FLAGS(UB_CELL_HEADER)) {
		xfer->rows &= ~UB_ROWS_FLAGS(UB_CELL_HEADER);
		xfer->header = op->header;
	}
}

static __always_inline int count_xfer_leave(struct pt_regs *ctx)
{
	struct count_task *task = count_return();
	struct count_xfer *xfer = task ? xfer_pop(task, PT_REGS_SP(ctx) - SP_AFTER_RETURN) : NULL;
	struct ub_cell *cell;
	__u64 length;
	__s8 status;

	if (!xfer)
		return 0;
	length = xfer->length;
	status = length_result(&length, xfer->length_rule, PT_REGS_RC(ctx));
	xfer_op(task, xfer, status >= 0);
	if (unlikely(status < 0 && status != UCS_ERR_NO_RESOURCE)) {
		count_failure(task, xfer->rows & ROWS_OF(0, UB_ROWS_FLAGS_AT), -status, xfer,
			      xfer->obj);
		return 0;
	}
	if (xfer->rows & UB_ROWS_FLAGS(UB_CELL_UNSIZED))
		length = 0;
	cell = cell_at(
		cell_number(task, xfer->rows | UB_ROWS_CLASS(size_class(length)), xfer, xfer->obj));
	if (!cell)
		return 0;
	if (status < 0) {
		__sync_fetch_and_add(&cell->refused, 1);
		return 0;
	}
	__sync_fetch_and_add(&cell->count, 1);
	__sync_fetch_and_add(&cell->bytes, length);
	if (xfer->header)
		__sync_fetch_and_add(&cell->headers, xfer->header);
	if (xfer->start && status == 0)
		cell_time(cell, xfer->start);
	return 0;
}

SPAN(count_xfer, count_xfer_enter, count_xfer_leave)
