/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/*
 * Records that will not be stored become sums: calls, operations and transfers of an outbox are
 * added to cells. Records of other kinds cannot be added up, and are only counted as dropped. Times
 * are left out: only records that ended at once have one here, and they are no sample of all.
 * Nothing is read from the process: the task that made the records may be gone.
 */
#ifndef UCXBPF_FOLD_BPF_H
#define UCXBPF_FOLD_BPF_H

#include "cell.bpf.h"
#include "ucxbpf_am.h"

/*
 * While a record waits in its outbox, ub_hdr.cpu_seq holds the meaning of its frame numbers: rows
 * of the call and the operation around it, as UB_ROWS_CALL() and UB_ROWS_OP(), 0 = none. Its cpu
 * holds, for a transfer, the length of the user's header plus one, 0 = not known.
 */
#define AROUND_CALL UB_ROWS_CALL(UB_MAX_SITES - 1)
#define AROUND_OP UB_ROWS_OP(UB_MAX_SITES - 1)
#define AROUND_INNER (1u << 31) /* inside a call that the MPI library makes itself */

static __always_inline bool has_user_header(__u8 am_id)
{
	return AM_WITH_USER_HEADER >> (am_id & 31) & 1;
}

#define FOLD_RECORDS (sizeof(((struct outbox *)0)->records) / sizeof(struct ub_hdr))

static __always_inline const struct ub_hdr *record_at(const struct outbox *box, __u32 at)
{
	return (const struct ub_hdr *)(box->records + (at & (OUTBOX - 1)));
}

/* Offset of the next record, 0: the last one. Global, so that the verifier forgets its range. */
__weak __noinline __u32 record_next(struct outbox *box, __u32 at)
{
	__u32 size = box ? ub_kind_size(record_at(box, at)->kind) : 0;

	return size ? at + size : 0;
}

/* The first argument of the operation with that frame number, as far as its record is here too. */
__weak __noinline __u64 fold_object(struct outbox *box, __u32 seq)
{
	__u32 at = 0;

	if (!box || !seq)
		return 0;
	for (int i = 0; i < FOLD_RECORDS && at < box->bytes; i++) {
		const struct ub_hdr *h = record_at(box, at);

		if (h->kind == UB_OP && h->seq == seq)
			return ((const struct ub_op *)h)->obj;
		at = record_next(box, at);
		if (!at)
			break;
	}
	return 0;
}

static __always_inline struct ub_cell *fold_cell(struct outbox *box, const struct ub_hdr *h,
						 __u64 rows, __u64 obj, const struct ub_xfer *xfer)
{
	struct cell_wanted wanted = {
		.key = { .tgid = h->tgid, .rows = rows },
		.space = box->space,
		.uct_ep = xfer ? xfer->uct_ep : 0,
	};
	__u32 index = cell_get(&wanted, h->ts);
	struct ub_cell *cell = cell_at(index & ~CELL_FRESH);

	if (!cell || !(index & CELL_FRESH))
		return cell;
	if (xfer) {
		cell->uct_ep = xfer->uct_ep;
		cell->iface = xfer->iface;
		cell->ucp_ep = xfer->ucp_ep;
		cell->layout = h->layout;
		obj = rows & AROUND_OP ? fold_object(box, h->op) : 0;
	}
	cell_describe(cell, &wanted.key, box->space, obj);
	cell_ready(cell, h->ts);
	return cell;
}

static __always_inline bool fold_call(struct outbox *box, const struct ub_hdr *h, __u32 count)
{
	struct ub_cell *cell;

	if (h->cpu_seq & AROUND_INNER)
		return true;
	cell = fold_cell(box, h, UB_ROWS_CALL(h->site), 0, NULL);
	if (cell)
		__sync_fetch_and_add(&cell->count, count);
	return cell;
}

#define FOLD_DATATYPE_CLASS 7 /* ucp_dt_type; 0 = contiguous, the size above it; 4 = a list */
#define FOLD_DATATYPE_LIST 4
#define FOLD_DATATYPE_SHIFT 3

/* Payload of an operation, computed as decode/ does from its record; false: not known. */
static __always_inline bool fold_payload(const struct ub_op *op, __u64 *bytes)
{
	__u32 row = op->h.site;
	const struct ub_site *site = bpf_map_lookup_elem(&sites, &row);
	__u8 what = site ? site->what : UB_OP_PLAIN;

	*bytes = 0;
	if (what == UB_OP_PROBE || what == UB_OP_CANCEL)
		return true;
	if (what == UB_OP_TAG_RECV || what == UB_OP_SIZE_OUT || what == UB_OP_DATA_OUT) {
		*bytes = op->info_len;
		return op->h.flags & UB_F_INFO;
	}
	if (op->datatype && !(op->datatype & FOLD_DATATYPE_CLASS)) {
		*bytes = op->count * (op->datatype >> FOLD_DATATYPE_SHIFT);
		return true;
	}
	if ((op->datatype & FOLD_DATATYPE_CLASS) == FOLD_DATATYPE_LIST)
		return false;
	*bytes = op->req_len;
	return op->req_len;
}

static __always_inline bool fold_op(struct outbox *box, const struct ub_op *op)
{
	struct ub_cell *cell;
	bool known;
	__u64 rows, bytes;

	known = fold_payload(op, &bytes);
	rows = (op->h.cpu_seq & AROUND_CALL) | UB_ROWS_OP(op->h.site);
	rows |= known ? UB_ROWS_CLASS(size_class(bytes)) : UB_ROWS_FLAGS(UB_CELL_UNSIZED);
	cell = fold_cell(box, &op->h, rows, op->obj, NULL);
	if (!cell)
		return false;
	__sync_fetch_and_add(&cell->count, 1);
	if (known)
		__sync_fetch_and_add(&cell->bytes, bytes);
	return true;
}

/* The user's own header; false: its length is not known. */
static __always_inline bool fold_header(const struct ub_xfer *xfer, __u32 *header)
{
	*header = 0;
	if (!has_user_header(xfer->am_id))
		return true;
	if (xfer->h.flags & UB_F_WIRE) {
		*header = xfer->w[0] >> 32;
		return true;
	}
	*header = xfer->h.cpu - 1;
	return xfer->h.cpu;
}

static __always_inline bool fold_xfer(struct outbox *box, const struct ub_xfer *xfer, __u32 count,
				      __u64 each)
{
	__u64 rows = (xfer->h.cpu_seq & (AROUND_CALL | AROUND_OP)) | UB_ROWS_XFER(xfer->h.site) |
		     UB_ROWS_AM(xfer->am_id);
	bool sent = xfer->status >= 0 && xfer->length >= 0;
	struct ub_cell *cell;
	__u32 header;

	/* a call gets its transfers through their operation alone */
	if (!(rows & AROUND_OP))
		rows &= ~AROUND_CALL;
	if (!fold_header(xfer, &header))
		rows |= UB_ROWS_FLAGS(UB_CELL_HEADER);
	if (sent)
		rows |= UB_ROWS_CLASS(size_class(each));
	cell = fold_cell(box, &xfer->h, rows, 0, xfer);
	if (!cell)
		return false;
	if (!sent) {
		__sync_fetch_and_add(&cell->refused, 1);
		return true;
	}
	__sync_fetch_and_add(&cell->count, count);
	__sync_fetch_and_add(&cell->bytes, xfer->length);
	__sync_fetch_and_add(&cell->headers, header);
	return true;
}

/* A record that cannot be added up is left alone. */
__weak __noinline int fold_record(struct outbox *box, __u32 at)
{
	struct ub_cpu_stats *st = cpu_stats();
	const struct ub_frags *frags;
	const struct ub_xfer *xfer;
	const struct ub_hdr *h;
	bool folded = false;

	if (!box || !st)
		return 0;
	h = record_at(box, at);
	switch (h->kind) {
	case UB_CALL:
		folded = fold_call(box, h, 1);
		break;
	case UB_POLLS:
		folded = fold_call(box, h, ((const struct ub_polls *)h)->count);
		break;
	case UB_OP:
		folded = fold_op(box, (const struct ub_op *)h);
		break;
	case UB_XFER:
		xfer = (const struct ub_xfer *)h;
		folded = fold_xfer(box, xfer, 1, xfer->length);
		break;
	case UB_FRAGS:
		frags = (const struct ub_frags *)h;
		folded = fold_xfer(box, &frags->xfer, frags->count, frags->each);
		break;
	}
	if (folded)
		__sync_fetch_and_add(&st->s.folded[UB_COUNTER(h->kind)], 1);
	return 0;
}

/* Adds the records of an outbox to cells; its caller empties it. */
static __always_inline void outbox_fold(struct outbox *box)
{
	__u32 at = 0;

	for (int i = 0; i < FOLD_RECORDS && at < box->bytes; i++) {
		fold_record(box, at);
		at = record_next(box, at);
		if (!at)
			break;
	}
}

#endif
