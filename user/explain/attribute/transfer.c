// SPDX-License-Identifier: BSD-3-Clause
#include "explain/attribute/internal.h"

#include <string.h>

static struct transfer *transfer_new(struct attribute *attribute)
{
	struct transfer *transfer = attribute->free_transfers;

	if (transfer)
		attribute->free_transfers = transfer->next;
	else if (!(transfer = malloc(sizeof(*transfer))))
		abort();
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
	if (transfer->protocol && !strcmp(transfer->protocol, "copy"))
		transfer->protocol = strings_intern(&attribute->decoder->strings, "rndv/rkey_ptr");
}

void transfers_settle(struct attribute *attribute, struct op *op)
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

static void transfer_emit(struct attribute *attribute, struct transfer *transfer)
{
	struct op *op = transfer->op;

	if (copy_waits(transfer)) {
		transfer->next = op->copies;
		op->copies = transfer;
		return;
	}
	if (transfer->copy && op && transfer->site->verb == VERB_GET && copies_cross(op))
		transfer_crosses(attribute, transfer);
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

static struct object *transfer_ep(struct attribute *attribute, const struct event *event,
				  const struct ub_xfer *xfer, const struct op *op)
{
	struct decoder *decoder = attribute->decoder;
	const struct answer *answer = answer_find(attribute, event);
	uint64_t address = xfer->ucp_ep;

	if (!address && answer)
		address = answer->ep;
	if (!address && op && op->ep && op->process == event->process)
		address = op->ep->address;
	if (address)
		decoder_learn_lane(decoder, event->process, xfer->uct_ep, address);
	else
		address = decoder_lane_ep(decoder, event->process, xfer->uct_ep);
	return decoder_ep(decoder, event->process, address, xfer->h.ts);
}

/* Better evidence replaces an earlier name; among equals the first stays. */
static const char *note_protocol(struct attribute *attribute, const struct event *event,
				 const struct ub_xfer *xfer, bool copy, struct op *op)
{
	uint8_t rank;
	const char *name = xfer_protocol(event->site, xfer, op, &rank);

	if (copy && !xfer->proto)
		return strings_intern(&attribute->decoder->strings, "copy");
	if (xfer->proto)
		name = decoder_name(attribute->decoder, event->process, xfer->proto);
	else if (name)
		name = strings_intern(&attribute->decoder->strings, name);
	if (op && name && op->process == event->process && rank > op->rank) {
		op->protocol = name;
		op->rank = rank;
	}
	return name;
}

static void transfer_fill(struct attribute *attribute, struct transfer *transfer,
			  const struct event *event, struct op *op, const char *reason)
{
	const struct ub_xfer *xfer = (const struct ub_xfer *)event->h;

	transfer->process = event->process;
	transfer->site = event->site;
	transfer->op = op;
	transfer->tid = xfer->h.tid;
	transfer->am_id = xfer->am_id;
	transfer->start = xfer->h.ts;
	transfer->control = xfer_is_control(event->site, xfer);
	transfer->reason = transfer->control ? NULL : reason;
	transfer->retried = !xfer_sent(xfer);
	transfer->count = 1;
	transfer->bytes = xfer_payload(event->site, xfer, op);
	transfer->wire_bytes = xfer_sent(xfer) ? (uint64_t)xfer->length : 0;
	transfer->laddr = xfer->laddr;
	transfer->raddr = xfer->h.flags & UB_F_FIFO ? 0 : xfer->raddr;
	transfer->req = xfer->req;
	transfer->iface = decoder_object(attribute->decoder, event->process, OBJECT_IFACE,
					 xfer->iface, xfer->h.ts);
	transfer->copy = is_copy(transfer->iface, event->site, xfer, op);
	if (op)
		op_hold(op);
}

static void transfer_fragments(struct transfer *transfer, const struct event *event,
			       const struct op *op)
{
	const struct ub_frags *frags = (const struct ub_frags *)event->h;

	if (event->h->kind != UB_FRAGS)
		return;
	transfer->count = frags->count;
	transfer->time = frags->time;
	transfer->bytes = frags_payload(event->site, frags, op);
}

static void unknown_there(struct transfer *transfer, const char *reason)
{
	transfer->there = (struct memory_answer){ .device = -1, .reason = reason };
}

/* What another host's process had at that time, its clock does not tell. */
static void memory_there(struct attribute *attribute, struct transfer *transfer,
			 const struct event *event)
{
	const struct process *there = NULL;
	bool traced;

	if (iface_copies(transfer->iface))
		there = transfer->process;
	else if (transfer->ep && decoder_peer(attribute->decoder, transfer->ep, &traced))
		there = transfer->ep->peer_process;
	if (!there)
		unknown_there(transfer, "the peer is not traced, or not known");
	else if (there->host != event->process->host)
		unknown_there(transfer, "memory of another host");
	else
		decoder_memory(attribute->decoder, event->capture, there, transfer->raddr,
			       &transfer->there);
}

/* Data that is sent without an address is packed from the operation's buffer. */
static void transfer_memory(struct attribute *attribute, struct transfer *transfer,
			    const struct event *event, const struct op *op)
{
	attribute->gpu = attribute->gpu || event->process->gpu_library;
	if (!attribute->gpu)
		return;
	if (!transfer->laddr && !transfer->control && op && op->process == event->process)
		transfer->here = op->memory;
	else
		decoder_memory(attribute->decoder, event->capture, event->process, transfer->laddr,
			       &transfer->here);
	memory_there(attribute, transfer, event);
}

/* In progress: the completion comes later. Everything else is over at its return. */
static bool transfer_pends(const struct event *event, const struct ub_xfer *xfer)
{
	return xfer->status == 1 && xfer->req && event->site->mode != MODE_SHORT;
}

/* What does not pend is over at its return. */
static void transfer_end(struct transfer *transfer, const struct event *event)
{
	const struct ub_xfer *xfer = (const struct ub_xfer *)event->h;

	enum precision precision = xfer->h.flags & UB_F_WITH_OP ? PRECISION_UPPER : PRECISION_EXACT;

	if (!(xfer->h.flags & UB_F_NO_RETURN) && xfer->status != 1)
		transfer->end = (struct moment){ xfer->h.ts + xfer->h.dur, precision };
}

static void transfer_hand_on(struct attribute *attribute, struct transfer *transfer,
			     const struct event *event)
{
	struct transfer **last;

	if (!transfer_pends(event, (const struct ub_xfer *)event->h))
		return transfer_emit(attribute, transfer);
	last = &inner_get(attribute, event->process, transfer->req)->pending;
	while (*last)
		last = &(*last)->next;
	*last = transfer;
}

/* Once all payload of a copying send is out, the send is done. */
static void op_progress(struct op *op, const struct transfer *transfer, const struct event *event)
{
	if (!op || op->process != event->process || transfer->control)
		return;
	if (transfer->copy) {
		op->copied += transfer->bytes;
		return;
	}
	if (!op->sends)
		return;
	op->carried += transfer->bytes;
	if (op->released && op->end.precision == PRECISION_UPPER)
		op->end = (struct moment){ 0 };
	if (op->site->op == OP_ATOMIC)
		return;
	if (op->end.precision == PRECISION_UNKNOWN && event->site->mode != MODE_ZCOPY &&
	    op->carried >= op->bytes && transfer->am_id != AM_SYNC_ONLY &&
	    transfer->am_id != AM_SYNC_FIRST && transfer->am_id != AM_RNDV_DATA)
		op->end = transfer->end;
}

void transfer_event(struct attribute *attribute, struct thread *thread, const struct event *event)
{
	const struct ub_xfer *xfer = (const struct ub_xfer *)event->h;
	const char *reason;
	struct op *op = xfer_resolve(attribute, thread, event, &reason);
	struct transfer *transfer = transfer_new(attribute);
	struct inner *inner;

	transfer_fill(attribute, transfer, event, op, reason);
	transfer_fragments(transfer, event, op);
	/* a copy's endpoint is to the worker itself, whatever its request's is */
	transfer->ep = transfer->copy ? NULL : transfer_ep(attribute, event, xfer, op);
	transfer_memory(attribute, transfer, event, op);
	transfer->protocol = note_protocol(attribute, event, xfer, transfer->copy, op);
	if (xfer->req && !(transfer->retried && xfer->am_id == AM_ATS) && op &&
	    op->process == event->process && op->req != xfer->req) {
		inner = inner_get(attribute, event->process, xfer->req);
		inner_bind(attribute, inner, xfer->am_id == AM_ATS ? NULL : op);
	}
	if (op && !op->ep && !transfer->copy && op->process == event->process &&
	    !(op->site->op == OP_TAG_RECV || op->site->op == OP_TAG_MSG_RECV))
		op->ep = transfer->ep;
	if (op && !transfer->retried && !transfer->copy)
		op->transfers += transfer->count;
	if (!transfer->retried && attribute->sink.sent)
		attribute->sink.sent(attribute->sink.arg, event, op, transfer->ep);
	transfer_end(transfer, event);
	op_progress(op, transfer, event);
	if (op && op->unsized && !transfer->copy && op->process == event->process)
		thread_bytes(thread, event->h, transfer->bytes);
	if (!transfer->copy)
		thread_around(attribute, thread, xfer, op);
	transfer_hand_on(attribute, transfer, event);
}
