// SPDX-License-Identifier: BSD-3-Clause
/* Operations, and the transfers and copies made for them until they are handed on. */
#include "explain/attribute/internal.h"

#include <string.h>

#include "base/alloc.h"

/*
 * Copies within a process. UCX stages memory that a transport cannot reach through memory that it
 * can, with operations of copying transports, on endpoints to itself: their remote address is GPU
 * memory of the process itself (src/uct/cuda/cuda_copy/cuda_copy_ep.c,
 * src/uct/cuda/gdr_copy/gdr_copy_ep.c, src/uct/rocm/copy/rocm_copy_ep.c,
 * src/uct/ze/copy/ze_copy_ep.c, 1.13.1 to 1.18.1). Eager data is packed and unpacked so, inside the
 * transfer or the arrival's handler (src/ucp/dt/dt.c); a rendezvous is staged in fragments
 * (src/ucp/rndv).
 */

uint64_t op_buffer_size(const struct op *op)
{
	uint64_t bytes = op->bytes == UINT64_MAX ? op->room : op->bytes;

	if (op->room && op->room < bytes)
		bytes = op->room;
	return op->buffer && bytes != UINT64_MAX ? bytes : 0;
}

bool op_covers(const struct op *op, uint64_t address)
{
	return address - op->buffer < op_buffer_size(op);
}

/*
 * Over these transports an operation may also move its own data: from or to a buffer of the process
 * itself, whose address is then the remote one (ucp_put and messages to itself).
 */
bool is_copy(const struct object *iface, const struct site_info *site, const struct ub_xfer *xfer,
	     const struct op *op)
{
	if (!iface_copies(iface) || (site->verb != VERB_PUT && site->verb != VERB_GET))
		return false;
	return !op || !op_covers(op, xfer->laddr) || op_covers(op, xfer->raddr);
}

/*
 * Whether what looked like copies of a send has brought its data to the peer, once it is done: into
 * memory of the peer that is mapped here ("rndv/rkey_ptr/mtype" of protocol v2, the pipeline
 * over shared memory of v1: src/ucp/rndv/rndv.c, ucp_rndv_rkey_ptr_get_mem_type()): the send is
 * done with it, and sends no data besides.
 */
static bool copies_cross(const struct op *op)
{
	return op->sends && op->copied && !op->carried && op->copied >= op->bytes;
}

/*
 * Whether it is still to be seen: its second half may show that it was one within the process.
 */
static bool copy_waits(const struct transfer *transfer)
{
	const struct op *op = transfer->op;

	return transfer->copy && op && op->process == transfer->process && op->sends &&
	       transfer->site->verb == VERB_GET && transfer->site->mode == MODE_ZCOPY &&
	       !transfer->retried && (op->open || op->framed);
}

struct transfer *transfer_new(struct attribute *attribute)
{
	struct transfer *transfer = attribute->free_transfers;

	if (transfer)
		attribute->free_transfers = transfer->next;
	else
		transfer = xmalloc(sizeof(*transfer));
	memset(transfer, 0, sizeof(*transfer));
	return transfer;
}

static void transfer_hand_out(struct attribute *attribute, struct transfer *transfer)
{
	if (attribute->sink.transfer)
		attribute->sink.transfer(attribute->sink.arg, transfer);
	op_drop(attribute, transfer->op);
	transfer->next = attribute->free_transfers;
	attribute->free_transfers = transfer;
}

/* The operation is done with it: the data is with the peer. */
static void transfer_crosses(struct attribute *attribute, struct transfer *transfer)
{
	transfer->copy = false;
	transfer->ep = transfer->op->ep;
	if (!transfer->named)
		transfer->protocol = strings_intern(&attribute->decoder->strings, "rndv/rkey_ptr");
}

/* The operation is over: what its copies were is known. */
static void transfers_settle(struct attribute *attribute, struct op *op)
{
	struct transfer *latest = op->copies, *oldest = NULL;
	bool cross = copies_cross(op);

	op->copies = NULL;
	while (latest) {
		struct transfer *before = latest->next;

		latest->next = oldest;
		oldest = latest;
		latest = before;
	}
	op_hold(op);
	while (oldest) {
		struct transfer *transfer = oldest;

		oldest = transfer->next;
		if (cross)
			transfer_crosses(attribute, transfer);
		transfer_hand_out(attribute, transfer);
	}
	op_drop(attribute, op);
}

/*
 * An endpoint that was made from a socket's address names no peer. Its first message that is
 * matched does, after that message's transfers.
 */
static bool is_stranger(struct attribute *attribute, const struct transfer *transfer)
{
	struct object *ep = transfer->ep;
	bool traced;

	return ep && ep->born && !ep->uuid && !transfer->copy && !transfer->control &&
	       !decoder_peer(attribute->decoder, ep, &traced);
}

static void stranger_keep(struct attribute *attribute, struct transfer *transfer)
{
	struct transfer **at = &attribute->strangers[attribute->next_stranger++ % STRANGERS];
	struct transfer *oldest = *at;

	*at = transfer;
	if (oldest)
		transfer_hand_out(attribute, oldest);
}

void strangers_emit(struct attribute *attribute, bool all)
{
	attribute->peers_learnt = attribute->decoder->peers_learnt;
	for (unsigned int i = 0; i < STRANGERS; i++) {
		struct transfer **at =
			&attribute->strangers[(attribute->next_stranger + i) % STRANGERS];
		struct transfer *transfer = *at;

		if (!transfer || !(all || transfer->ep->peer_process))
			continue;
		*at = NULL;
		transfer_hand_out(attribute, transfer);
	}
}

void transfer_emit(struct attribute *attribute, struct transfer *transfer)
{
	struct op *op = transfer->op;

	if (copy_waits(transfer)) {
		transfer->next = op->copies;
		op->copies = transfer;
		return;
	}
	if (transfer->copy && op && transfer->site->verb == VERB_GET && copies_cross(op))
		transfer_crosses(attribute, transfer);
	if (attribute->peers_learnt != attribute->decoder->peers_learnt)
		strangers_emit(attribute, false);
	if (is_stranger(attribute, transfer))
		stranger_keep(attribute, transfer);
	else
		transfer_hand_out(attribute, transfer);
}

void transfers_complete(struct attribute *attribute, struct inner *inner, uint64_t ns, bool one,
			bool exact)
{
	bool single = inner->pending && !inner->pending->next;

	while (inner->pending) {
		struct transfer *transfer = inner->pending;

		inner->pending = transfer->next;
		if (ns)
			transfer->end =
				(struct moment){ ns, exact && (single || one) ? PRECISION_EXACT
									      : PRECISION_UPPER };
		transfer_emit(attribute, transfer);
		if (one)
			return;
	}
}

#define SENDS                                                                                      \
	(1u << OP_TAG_SEND | 1u << OP_AM_SEND | 1u << OP_STREAM_SEND | 1u << OP_PUT |              \
	 1u << OP_ATOMIC)

#define DATATYPE_CLASS_MASK 7 /* ucp_dt_type, low bits of ucp_datatype_t; 0 = contiguous */
#define DATATYPE_SIZE_SHIFT 3
#define DATATYPE_SGL 4 /* since 1.22; lengths count its elements (src/ucp/dt/datatype_iter.h) */

#define NO_IMM_CMPL (1u << 16) /* ucp.h, public ABI */
#define REQUEST_COMPLETED 1 /* UCP_REQUEST_FLAG_COMPLETED, since 1.13 */

/* UCP_REQUEST_FLAG_STREAM_RECV_WAITALL, src/ucp/core/ucp_request.h, since 1.13 */
#define STREAM_RECV_WAITALL (1u << 12)

bool op_sends(enum op_kind kind)
{
	return SENDS >> kind & 1;
}

static bool is_handle(int64_t ret)
{
	return ret > 0 || ret < -4096;
}

static uint64_t op_bytes(const struct ub_op *record)
{
	if (record->datatype && !(record->datatype & DATATYPE_CLASS_MASK))
		return record->count * (record->datatype >> DATATYPE_SIZE_SHIFT);
	if ((record->datatype & DATATYPE_CLASS_MASK) == DATATYPE_SGL)
		return UINT64_MAX;
	return record->req_len ? record->req_len : UINT64_MAX;
}

/* Fields that only some kinds of operations have. */
static void op_kind_fields(struct op *op, const struct ub_op *record)
{
	switch (op->site->op) {
	case OP_TAG_RECV:
	case OP_TAG_MSG_RECV:
	case OP_STREAM_RECV:
		op->room = op_bytes(record);
		op->whole = record->req_flags & STREAM_RECV_WAITALL;
		op->bytes = op->info ? op->info_len : UINT64_MAX;
		break;
	case OP_FLUSH:
	case OP_CANCEL:
	case OP_TAG_PROBE: /* its count says whether it takes the message */
	case OP_OTHER:
		op->bytes = 0;
		break;
	}
	if (op->site->op == OP_TAG_MSG_RECV)
		op->message = record->aux;
	if (op->site->op == OP_TAG_PROBE) {
		op->message = record->ret;
		op->removes = record->count;
		op->immediate = true;
		op->req = 0;
	}
	if (op->site->op == OP_CANCEL) {
		op->handle = record->aux;
		op->req = 0;
	}
}

static void op_fill(struct op *op, const struct event *event, const struct ub_op *record)
{
	const struct ub_hdr *h = &record->h;
	bool handle = is_handle(record->ret);

	op->process = event->process;
	op->site = event->site;
	op->tid = h->tid;
	op->seq = h->seq;
	op->start = h->ts;
	op->returns = !(h->flags & UB_F_NO_RETURN);
	op->returned = op->returns ? h->ts + h->dur : 0;
	op->object = record->obj;
	op->tag = record->tag;
	op->mask = record->aux;
	op->buffer = record->buffer;
	op->req = record->req;
	op->handle = handle ? (uint64_t)record->ret : 0;
	op->immediate = op->returns && !handle;
	op->failed = op->immediate && record->ret < 0;
	op->status = op->immediate ? (int)record->ret : 0;
	op->deferred = record->attr_mask & NO_IMM_CMPL;
	op->info = h->flags & UB_F_INFO;
	op->info_tag = record->info_tag;
	op->info_len = record->info_len;
	if (h->flags & UB_F_POSTED && event->site->op == OP_TAG_RECV) {
		op->number = record->info_tag + 1;
		op->queued = !(record->req_flags & REQUEST_COMPLETED);
	}
	op->bytes = op_bytes(record);
	op->sends = op_sends(event->site->op);
	op->bare = !capture_records(event->capture, LEVEL_UCT, op->start);
	op->unsized = op->sends && op->bytes == UINT64_MAX;
}

/* Only of a contiguous datatype is the buffer where the data lies. */
static void op_memory(const struct attribute *attribute, const struct event *event, struct op *op)
{
	const struct ub_op *record = (const struct ub_op *)event->h;

	if (!(record->datatype & DATATYPE_CLASS_MASK)) {
		decoder_memory(attribute->decoder, event->capture, event->process, record->buffer,
			       &op->memory);
		decoder_memory_told(attribute->decoder, event, &op->memory);
		op->taken_as = decoder_memory_taken_as(event);
	} else
		op->memory = (struct memory_answer){ .device = -1,
						     .reason = "datatype is not contiguous" };
}

struct op *op_new(struct attribute *attribute, const struct event *event)
{
	const struct ub_op *record = (const struct ub_op *)event->h;
	struct op *op = attribute->free_ops;

	if (op)
		attribute->free_ops = op->newer;
	else
		op = xmalloc(sizeof(*op));
	memset(op, 0, sizeof(*op));
	op_fill(op, event, record);
	op_kind_fields(op, record);
	op_memory(attribute, event, op);
	if (event->site->to_peer)
		op->ep = decoder_ep(attribute->decoder, event->process, record->obj, record->h.ts);
	if (op->immediate) {
		op->end = (struct moment){ op->returned, PRECISION_EXACT };
		op->completed = true;
	}
	op->refs = 1;
	return op;
}

void op_hold(struct op *op)
{
	op->refs++;
}

void op_drop(struct attribute *attribute, struct op *op)
{
	if (!op || --op->refs)
		return;
	if (op->match && attribute->sink.op_over)
		attribute->sink.op_over(attribute->sink.arg, op);
	op->newer = attribute->free_ops;
	attribute->free_ops = op;
}

static void op_settle(struct attribute *attribute, struct op *op)
{
	if (op->open || op->framed)
		return;
	if (op->unsized && op->immediate && op->transfers)
		op->bytes = op->carried;
	transfers_settle(attribute, op);
	if (attribute->sink.op_done)
		attribute->sink.op_done(attribute->sink.arg, op);
	op_drop(attribute, op);
}

void op_close(struct attribute *attribute, struct op *op)
{
	if (!op->open)
		return;
	op->open = false;
	op_settle(attribute, op);
}

void op_unframe(struct attribute *attribute, struct op *op)
{
	if (!op->framed)
		return;
	op->framed = false;
	op_settle(attribute, op);
}
