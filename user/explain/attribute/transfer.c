// SPDX-License-Identifier: BSD-3-Clause
/* Transfers: the operation behind each, its peer, its memory and its protocol. */
#include "explain/attribute/internal.h"

#include <string.h>

#include "base/vec.h"

/* It runs inside of a transfer of the same thread, whose data it packs. */
static struct op *by_transfer(const struct thread *thread, const struct ub_hdr *h)
{
	return h->ts >= thread->around.from && h->ts + h->dur <= thread->around.to
		       ? thread->around.op
		       : NULL;
}

#define FILLED                                                                                     \
	(1u << OP_TAG_RECV | 1u << OP_TAG_MSG_RECV | 1u << OP_AM_RECV_DATA |                       \
	 1u << OP_STREAM_RECV | 1u << OP_GET)
#define EMPTIED                                                                                    \
	(1u << OP_TAG_SEND | 1u << OP_AM_SEND | 1u << OP_STREAM_SEND | 1u << OP_PUT |              \
	 1u << OP_ATOMIC)

#define TAGGED                                                                                     \
	(1u << AM_EAGER_ONLY | 1u << AM_EAGER_FIRST | 1u << AM_EAGER_MIDDLE | 1u << AM_SYNC_ONLY | \
	 1u << AM_SYNC_FIRST)

static bool in_tagged(const struct thread *thread, const struct ub_hdr *h)
{
	return h->rx && h->rx == thread->arrival.seq && h->rx > h->op &&
	       (TAGGED >> (thread->arrival.am_id & 31) & 1);
}

/*
 * The operation behind a copy without a request: by the enclosing frame, or by its buffer. NULL
 * also for transfers that are no copies.
 */
static struct op *copy_resolve(struct attribute *attribute, const struct thread *thread,
			       const struct event *event)
{
	const struct ub_xfer *xfer = (const struct ub_xfer *)event->h;
	struct op *op = by_transfer(thread, event->h);

	if (!iface_copies(decoder_object(attribute->decoder, event->process, OBJECT_IFACE,
					 xfer->iface, xfer->h.ts)))
		return NULL;
	if (op && op->process == event->process && op_covers(op, xfer->raddr))
		return op;
	if (event->site->verb == VERB_PUT && in_tagged(thread, event->h))
		return request_filled(attribute, thread, xfer->raddr);
	return request_covering(attribute, event->process,
				event->site->verb == VERB_PUT ? FILLED : EMPTIED, xfer->raddr,
				(uint64_t)xfer->length);
}

/*
 * The operation behind a transfer: by its request, by the request's parents, by nesting, by the ids
 * in its header, in that order (docs/attribution.md). A candidate counts only if operations of its
 * kind can make such a transfer: request addresses are reused.
 */

#define WHOLE_SENDS (RNDV_SENDS | BIT(OP_STREAM_SEND))
#define MAX_LEVELS 3 /* pipelines: fragment of a fragment request of the receive */

/* Transfers that a request made by UCX itself may own, on behalf of its super request. */
static bool may_be_inner(const struct site_info *site, const struct ub_xfer *xfer)
{
	if (site->verb != VERB_AM)
		return true;
	return xfer->am_id == AM_ATS || xfer->am_id == AM_RTR || xfer->am_id == AM_ATP ||
	       xfer->am_id == AM_RNDV_DATA;
}

/* Control messages that end an inner request may leave after the user's request is over. */
static bool is_last(const struct site_info *site, const struct ub_xfer *xfer)
{
	return site->verb == VERB_AM && (xfer->am_id == AM_ATS || xfer->am_id == AM_ATP);
}

/*
 * Fragments of a pipeline have requests whose parents never send anything, so nobody knows whose
 * they are; but they begin in the handler of the RTR, or right after the RTS met its receive
 * (src/ucp/rndv/rndv.c of 1.13.1, proto_rndv.c and rndv_ppln.c of 1.18.1).
 */
static struct op *by_handler(const struct thread *thread, const struct ub_hdr *h,
			     unsigned int kinds)
{
	struct op *op = thread->about.op;

	if (!op || h->rx != thread->about.rx || (h->rx > h->op ? 0 : h->op) != thread->about.frame)
		return NULL;
	return kinds >> op->site->op & 1 ? op : NULL;
}

/* The operation whose request it is, or is of a request's parent whose parent is known. */
static struct op *by_parents(struct attribute *attribute, const struct thread *thread,
			     const struct event *event, uint64_t super, unsigned int kinds,
			     int levels)
{
	struct op *op = NULL;

	while (!op && super && levels--) {
		struct inner *parent = inner_find(attribute, event->process, super);

		op = thread_find(thread, super, kinds);
		if (!op)
			op = request_find(attribute, event->process, super, event->h, kinds);
		super = parent ? parent->super : 0;
	}
	return op;
}

/*
 * The parents of a request go stale when its address is handed out again: facts about this very
 * transfer come first.
 */
static struct op *by_super(struct attribute *attribute, const struct thread *thread,
			   const struct event *event, const struct ub_xfer *xfer,
			   unsigned int kinds)
{
	struct inner *inner = inner_get(attribute, event->process, xfer->req);
	uint64_t super = xfer->super_req;
	bool same = inner->op && (!inner->super || inner->super == super) &&
		    (kinds >> inner->op->site->op & 1);
	struct op *op = same && is_last(event->site, xfer) ? inner->op : NULL;

	inner->super = super;
	if (!op)
		op = by_parents(attribute, thread, event, super, kinds, 1);
	if (op && op->released) {
		struct op *about = by_handler(thread, &xfer->h, kinds);

		if (about && about != op) {
			request_close(attribute, op); /* its address is a fragment's now */
			op = about;
		}
	}
	if (!op && super)
		op = by_handler(thread, &xfer->h, kinds);
	if (!op && same && inner->op->open)
		op = inner->op;
	return op ? op : by_parents(attribute, thread, event, super, kinds, MAX_LEVELS);
}

/* The request id in the header of messages that are sent for one; 0: none, or not known. */
static uint64_t wire_request(const struct event *event, const struct ub_xfer *xfer)
{
	bool named = xfer->am_id == AM_RTS || xfer->am_id == AM_SYNC_ONLY;

	if (event->site->verb != VERB_AM || !named || !(xfer->h.flags & UB_F_WIRE))
		return 0;
	return am_header_read(xfer->am_id, xfer->w, ARRAY_SIZE(xfer->w), 0).req;
}

static struct op *by_wire(struct attribute *attribute, const struct event *event,
			  const struct ub_xfer *xfer, unsigned int kinds)
{
	uint64_t req = wire_request(event, xfer);

	return req ? request_find(attribute, event->process, req, &xfer->h, kinds) : NULL;
}

/*
 * Answers of software-emulated get and atomics come from the target, which made no call: the id in
 * them is the origin's request (send.get_reply.remote_req_id lies where message_id does).
 */
static struct op *by_origin(struct attribute *attribute, const struct thread *thread,
			    const struct event *event, const struct ub_xfer *xfer)
{
	uint64_t ids[2] = { xfer->h.flags & UB_F_WIRE ? xfer->w[0] : xfer->w[2], 0 };
	struct object *ep = decoder_object(attribute->decoder, event->process, OBJECT_EP,
					   xfer->ucp_ep, xfer->h.ts);
	bool traced;
	struct op *op = NULL;

	if (event->h->rx && event->h->rx == thread->arrival.seq)
		ids[1] = thread->arrival.req_id;
	if (!ep || !decoder_peer(attribute->decoder, ep, &traced) || !ep->peer_process)
		return NULL;
	for (int i = 0; !op && i < 2; i++)
		op = request_find(attribute, ep->peer_process, ids[i], &xfer->h,
				  BIT(OP_GET) | BIT(OP_ATOMIC));
	return op;
}

/*
 * Short sends that had to wait, for the wire-up or for resources, leave later with nothing that
 * names their request: they are the oldest ones on the endpoint that have sent nothing yet. What
 * stands for a tag in puts and atomics is the remote address.
 */
static struct op *by_content(struct attribute *attribute, const struct event *event,
			     const struct ub_xfer *xfer, unsigned int kinds)
{
	uint64_t ep = decoder_lane_ep(attribute->decoder, event->process, xfer->uct_ep);
	uint64_t tag = xfer->am_id == AM_EAGER_ONLY ? xfer->w[0] : xfer->w[0] & 0xffff;
	bool am = event->site->verb == VERB_AM;

	if (xfer->req || (event->site->mode != MODE_SHORT && event->site->verb != VERB_ATOMIC))
		return NULL;
	if (am && !(xfer->h.flags & UB_F_WIRE))
		return NULL;
	return request_unsent(attribute, event->process,
			      kinds & (am ? WHOLE_SENDS : BIT(OP_PUT) | BIT(OP_ATOMIC)), ep,
			      am ? tag : xfer->raddr, xfer_payload(event->site, xfer, NULL));
}

static const char *why_not(const struct event *event, const struct ub_xfer *xfer)
{
	if (xfer->am_id == AM_GET_REP || xfer->am_id == AM_ATOMIC_REP)
		return "reply to an unknown request";
	if (xfer->h.flags & UB_F_READ_FAULT)
		return "request not readable";
	if (xfer->h.op)
		return "record of the operation missing";
	if (!event->process->from_start)
		return "operation outside the trace";
	if (xfer->req)
		return "request of no known operation";
	return "no request and no operation around it";
}

/* The request of an operation that completes at its return appears only in its transfers. */
static void learn_request(struct op *op, const struct event *event, const struct ub_xfer *xfer)
{
	uint64_t named = wire_request(event, xfer);

	if (op->immediate && !op->req)
		op->req = named ? named : xfer->req;
}

/* The operation behind a transfer, NULL with a reason. */
static struct op *xfer_resolve(struct attribute *attribute, const struct thread *thread,
			       const struct event *event, const char **reason)
{
	const struct ub_xfer *xfer = (const struct ub_xfer *)event->h;
	unsigned int kinds = transfer_makers(event->site, xfer->am_id);
	const struct request_answer *answer = answer_find(attribute, event);
	struct op *nested = thread_op(thread, event->h), *op = NULL;

	*reason = NULL;
	op = thread_find(thread, xfer->req, kinds);
	if (op)
		return op;
	if (xfer->req && may_be_inner(event->site, xfer))
		op = by_super(attribute, thread, event, xfer, kinds & (RNDV_RECEIVES | RNDV_SENDS));
	if (!op)
		op = request_find(attribute, event->process, xfer->req, event->h, kinds);
	if (op && op->released && nested && nested != op && (kinds >> nested->site->op & 1)) {
		/* its address is the nested operation's now */
		request_close(attribute, op);
		op = NULL;
	}
	if (!op)
		op = by_wire(attribute, event, xfer, kinds);
	if (!op && answer)
		op = answer->op;
	if (!op && nested && (kinds >> nested->site->op & 1)) {
		op = nested;
		learn_request(op, event, xfer);
	}
	if (!op && (event->site->verb == VERB_PUT || event->site->verb == VERB_GET))
		op = copy_resolve(attribute, thread, event);
	if (!op)
		op = by_content(attribute, event, xfer, kinds);
	if (!op && (xfer->am_id == AM_GET_REP || xfer->am_id == AM_ATOMIC_REP))
		op = by_origin(attribute, thread, event, xfer);
	if (!op)
		*reason = why_not(event, xfer);
	return op;
}

static struct object *transfer_ep(struct attribute *attribute, const struct event *event,
				  const struct ub_xfer *xfer, const struct op *op)
{
	struct decoder *decoder = attribute->decoder;
	const struct request_answer *answer = answer_find(attribute, event);
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
	struct protocol seen = xfer_protocol(event->site, xfer, op);
	const char *name;

	if (copy && !xfer->proto)
		return strings_constant(&attribute->decoder->strings, "copy");
	if (xfer->proto)
		name = decoder_name(attribute->decoder, event->process, xfer->proto);
	else
		name = strings_constant(&attribute->decoder->strings, seen.name);
	if (op && name && op->process == event->process && seen.trust > op->protocol_trust) {
		op->protocol = name;
		op->protocol_trust = seen.trust;
		op->plain_rndv = seen.plain_rndv && !xfer->proto;
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
	transfer->named = xfer->proto;
	transfer->derived = xfer->h.flags & UB_F_DERIVED;
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

/* Memory of a process on another host is unknown: clocks differ. */
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

/* A transfer that is not pending ends at its return. */
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
static void op_progress(struct attribute *attribute, struct op *op, const struct transfer *transfer,
			const struct event *event)
{
	if (!op || op->process != event->process || transfer->control)
		return;
	if (transfer->copy) {
		op->copied += transfer->bytes;
		if (op->met && !transfer->req)
			request_filling(op, transfer->raddr, transfer->bytes);
		request_begun(attribute, op);
		return;
	}
	if (!op->sends)
		return;
	op->carried += transfer->bytes;
	if (op->released && op->end.precision == PRECISION_UPPER)
		op->end = (struct moment){ 0 };
	if (op->site->op == OP_ATOMIC && !op->released)
		return; /* done with its result */
	if (op->end.precision == PRECISION_UNKNOWN && event->site->mode != MODE_ZCOPY &&
	    op->carried >= op->bytes && transfer->am_id != AM_SYNC_ONLY &&
	    transfer->am_id != AM_SYNC_FIRST && transfer->am_id != AM_RNDV_DATA)
		op->end = transfer->end;
}

/* Word: where to write; of a fragment UCX's memory, else none or the receive's buffer (v1). */
#define RTR_ADDRESS 2

/* An RTR names the request that will have the data put by the peer: copies out of it come later. */
static void learn_receiver(struct attribute *attribute, const struct event *event, struct op *op)
{
	const struct ub_xfer *xfer = (const struct ub_xfer *)event->h;
	struct inner *inner;
	uint64_t id, address;

	if (event->site->verb != VERB_AM || xfer->am_id != AM_RTR || !(xfer->h.flags & UB_F_WIRE) ||
	    !op || op->process != event->process)
		return;
	address = xfer->w[RTR_ADDRESS];
	if (xfer_sent(xfer))
		request_asks(attribute, op, !address || op_covers(op, address));
	id = am_header_read(AM_RTR, xfer->w, ARRAY_SIZE(xfer->w), 0).receive;
	if (!id || id == op->req)
		return;
	inner = inner_get(attribute, event->process, id);
	inner->super = 0; /* not known */
	inner_bind(attribute, inner, op);
}

/* The receiver's handler of rendezvous data has no probe: the sender's record names its request. */
static void tell_receiver(struct attribute *attribute, const struct transfer *transfer,
			  const struct ub_xfer *xfer)
{
	uint64_t req = xfer->h.flags & UB_F_WIRE ? xfer->w[0] : xfer->w[2];
	bool traced;

	if (!attribute->gpu || xfer->am_id != AM_RNDV_DATA || transfer->retried || !transfer->ep ||
	    !decoder_peer(attribute->decoder, transfer->ep, &traced) ||
	    !transfer->ep->peer_process ||
	    transfer->ep->peer_process->host != transfer->process->host)
		return;
	request_sent_to(attribute, transfer->ep->peer_process, req, &xfer->h, transfer->bytes);
}

/*
 * Messages leave an endpoint in the order of their operations. One that was refused, and is
 * overtaken by one whose transfer was derived, has left while no probe was there.
 */
static void transfer_overtakes(struct attribute *attribute, const struct transfer *transfer,
			       const struct event *event)
{
	struct op *op = transfer->op;

	if (op && transfer->retried && !op->transfers)
		op->refused = attribute->refusals = true;
	if (!op || !transfer->derived || !attribute->refusals)
		return;
	while ((op = request_left(attribute, transfer->process, transfer->op->object,
				  transfer->op->start)))
		if (attribute->sink.hidden)
			attribute->sink.hidden(attribute->sink.arg, event, op->start);
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
	learn_receiver(attribute, event, op);
	tell_receiver(attribute, transfer, xfer);
	if (op && !op->ep && !transfer->copy && op->process == event->process &&
	    !(op->site->op == OP_TAG_RECV || op->site->op == OP_TAG_MSG_RECV))
		op->ep = transfer->ep;
	transfer_overtakes(attribute, transfer, event);
	if (op && !transfer->retried && !transfer->copy)
		op->transfers += transfer->count;
	if (!transfer->retried && attribute->sink.sent)
		attribute->sink.sent(attribute->sink.arg, event, op, transfer->ep);
	transfer_end(transfer, event);
	op_progress(attribute, op, transfer, event);
	if (op && op->unsized && !transfer->copy && op->process == event->process)
		thread_bytes(thread, event->h, transfer->bytes);
	if (!transfer->copy)
		thread_around(attribute, thread, xfer, op);
	transfer_hand_on(attribute, transfer, event);
}
