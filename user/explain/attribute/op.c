// SPDX-License-Identifier: BSD-3-Clause
#include "explain/attribute/internal.h"

#include <string.h>

#define SENDS                                                                                      \
	(1u << OP_TAG_SEND | 1u << OP_AM_SEND | 1u << OP_STREAM_SEND | 1u << OP_PUT |              \
	 1u << OP_ATOMIC)

#define DATATYPE_CLASS_MASK 7 /* ucp_dt_type, low bits of ucp_datatype_t; 0 = contiguous */
#define DATATYPE_SIZE_SHIFT 3
#define DATATYPE_SGL 4 /* since 1.22; lengths count its elements (src/ucp/dt/datatype_iter.h) */

#define NO_IMM_CMPL (1u << 16) /* ucp.h, public ABI */
#define REQUEST_COMPLETED 1 /* UCP_REQUEST_FLAG_COMPLETED, 1.13 to 1.22 */

/* UCP_REQUEST_FLAG_STREAM_RECV_WAITALL, src/ucp/core/ucp_request.h, 1.13.1 to 1.22.0 */
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
	op->unsized = op->sends && op->bytes == UINT64_MAX;
	if (handle && op->req)
		op->process->request_size = op->handle - op->req;
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
	else if (!(op = malloc(sizeof(*op))))
		abort();
	memset(op, 0, sizeof(*op));
	op_fill(op, event, record);
	op_kind_fields(op, record);
	op_memory(attribute, event, op);
	if (op_takes_ep(event->site->op))
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
	if (op->way && attribute->sink.op_over)
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
