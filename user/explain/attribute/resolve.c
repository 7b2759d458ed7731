// SPDX-License-Identifier: BSD-3-Clause
/*
 * The operation behind a transfer: by its request, by the request's parents, by nesting, by the ids
 * in its header, in that order (docs/attribution.md). A candidate counts only if operations of its
 * kind can make such a transfer: request addresses are reused.
 */
#include "explain/attribute/internal.h"

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

static struct op *by_super(struct attribute *attribute, const struct thread *thread,
			   const struct event *event, const struct ub_xfer *xfer,
			   unsigned int kinds)
{
	struct inner *inner = inner_get(attribute, event->process, xfer->req);
	bool same =
		inner->op && inner->super == xfer->super_req && (kinds >> inner->op->site->op & 1);
	uint64_t super = xfer->super_req;
	struct op *op = same && is_last(event->site, xfer) ? inner->op : NULL;

	inner->super = super;
	for (int level = 0; !op && super && level < MAX_LEVELS; level++) {
		struct inner *parent = inner_find(attribute, event->process, super);

		op = thread_find(thread, super, kinds);
		if (!op)
			op = request_find(attribute, event->process, super, &xfer->h, kinds);
		super = parent ? parent->super : 0;
	}
	if (!op && xfer->super_req)
		op = by_handler(thread, &xfer->h, kinds);
	return !op && same && inner->op->open ? inner->op : op;
}

static struct op *by_wire(struct attribute *attribute, const struct event *event,
			  const struct ub_xfer *xfer, unsigned int kinds)
{
	bool named = xfer->am_id == AM_RTS || xfer->am_id == AM_SYNC_ONLY;

	if (event->site->verb != VERB_AM || !named || !(xfer->h.flags & UB_F_WIRE))
		return NULL;
	return request_find(attribute, event->process, xfer->w[2], &xfer->h, kinds);
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
 * names their request: they are the oldest ones on the endpoint that have sent nothing yet.
 */
static struct op *by_content(struct attribute *attribute, const struct event *event,
			     const struct ub_xfer *xfer, unsigned int kinds)
{
	uint64_t ep = decoder_lane_ep(attribute->decoder, event->process, xfer->uct_ep);
	uint64_t tag = xfer->am_id == AM_EAGER_ONLY ? xfer->w[0] : xfer->w[0] & 0xffff;

	if (xfer->req || event->site->mode != MODE_SHORT || !(xfer->h.flags & UB_F_WIRE))
		return NULL;
	return request_unsent(attribute, event->process, kinds, ep, tag,
			      xfer_payload(event->site, xfer, NULL));
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

/* The request of an operation that is done at its return shows only in what it sends. */
static void learn_request(struct op *op, const struct event *event, const struct ub_xfer *xfer)
{
	bool named = (xfer->am_id == AM_RTS || xfer->am_id == AM_SYNC_ONLY) &&
		     event->site->verb == VERB_AM && (xfer->h.flags & UB_F_WIRE);

	if (op->immediate && !op->req)
		op->req = named ? xfer->w[2] : xfer->req;
}

struct op *xfer_resolve(struct attribute *attribute, const struct thread *thread,
			const struct event *event, const char **reason)
{
	const struct ub_xfer *xfer = (const struct ub_xfer *)event->h;
	unsigned int kinds = transfer_makers(event->site, xfer->am_id);
	const struct answer *answer = answer_find(attribute, event);
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
	if (!op && event->site->verb == VERB_AM)
		op = by_content(attribute, event, xfer, kinds & WHOLE_SENDS);
	if (!op && (xfer->am_id == AM_GET_REP || xfer->am_id == AM_ATOMIC_REP))
		op = by_origin(attribute, thread, event, xfer);
	if (!op)
		*reason = why_not(event, xfer);
	return op;
}
