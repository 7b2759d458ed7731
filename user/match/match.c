// SPDX-License-Identifier: BSD-3-Clause
#include "match/match.h"

#include <string.h>

#include "match/internal.h"

static const uint8_t classes[32] = {
	[AM_EAGER_ONLY] = CLASS_EAGER,  [AM_EAGER_FIRST] = CLASS_MULTI,
	[AM_SYNC_ONLY] = CLASS_REQUEST, [AM_SYNC_FIRST] = CLASS_MULTI,
	[AM_RTS] = CLASS_REQUEST,       [AM_STREAM] = CLASS_STREAM,
	[AM_SINGLE] = CLASS_AM,         [AM_SINGLE_REPLY] = CLASS_AM,
	[AM_FIRST] = CLASS_AM_FIRST,
};

/* AM id and length of the user's header; the flags between them differ by the way it is sent. */
#define AM_KEY_MASK 0xffffffff0000ffffu

struct matcher *matcher_new(struct decoder *decoder, struct attribute *attribute,
			    void (*emit)(void *arg, const struct message *message), void *arg)
{
	struct matcher *matcher = calloc(1, sizeof(*matcher));

	if (!matcher)
		abort();
	matcher->decoder = decoder;
	matcher->attribute = attribute;
	matcher->emit = emit;
	matcher->arg = arg;
	return matcher;
}

static uint64_t sent_tag(const struct ub_xfer *xfer, const struct op *op)
{
	if (op && op->site->op == OP_TAG_SEND)
		return op->tag;
	if (op && op->site->op == OP_AM_SEND)
		return (op->tag & 0xffff) | op->mask << 32;
	return xfer->w[0];
}

static void sent_key(struct sent *sent, const struct ub_xfer *xfer)
{
	bool wire = xfer->h.flags & UB_F_WIRE;

	switch (sent->class) {
	case CLASS_EAGER:
		sent->key = sent->tag;
		sent->length = xfer->length;
		break;
	case CLASS_MULTI:
		sent->key = xfer->w[2];
		sent->length = xfer->w[1];
		break;
	case CLASS_REQUEST:
		sent->key = wire ? xfer->w[2] : xfer->req;
		sent->length = sent->bytes == UINT64_MAX ? 0 : sent->bytes;
		break;
	case CLASS_AM:
	case CLASS_AM_FIRST:
		sent->key = sent->tag & AM_KEY_MASK;
		sent->length = xfer->length;
		break;
	case CLASS_STREAM:
		sent->length = xfer->length;
		break;
	case CLASS_NONE:
		break;
	}
}

static void sent_fill(struct sent *sent, const struct ub_xfer *xfer, struct op *op)
{
	sent->ts = xfer->h.ts;
	sent->done = xfer->h.ts + xfer->h.dur;
	sent->am_id = xfer->am_id;
	sent->tag = sent_tag(xfer, op);
	sent->bytes = UINT64_MAX;
	if (op) {
		sent->counted = !op->match;
		sent->active = op->site->op == OP_AM_SEND;
		sent->bytes = op->bytes;
		sent->start = op->start;
		sent->function = op->function;
		sent->op = op->site->name;
		sent->protocol = op->protocol;
		op->match = op;
	}
	sent_key(sent, xfer);
}

/* Over "self" the receiver's handler runs inside the transfer: nothing else can arrive meanwhile.
 */
static void inlined_begin(struct matcher *matcher, struct sent *sent, const struct event *event)
{
	const struct ub_xfer *xfer = (const struct ub_xfer *)event->h;
	const struct object *iface = decoder_object(matcher->decoder, event->process, OBJECT_IFACE,
						    xfer->iface, xfer->h.ts);

	struct inbox *inbox = sent->link->inbox;

	if (!inbox || !iface || !iface->transport || strcmp(iface->transport, "self"))
		return;
	sent->inlined = true;
	inbox->inlined.sent = sent;
	inbox->inlined.tid = xfer->h.tid;
	inbox->inlined.until = xfer->h.ts + xfer->h.dur;
}

static struct sent *inlined_arrived(const struct inbox *inbox, const struct event *event)
{
	struct sent *sent = inbox->inlined.sent;

	if (!sent || inbox->inlined.tid != event->h->tid || event->h->ts > inbox->inlined.until ||
	    sent->am_id != event->site->am_id)
		return NULL;
	return sent;
}

void matcher_sent(struct matcher *matcher, const struct event *event, struct op *op,
		  struct object *ep)
{
	const struct ub_xfer *xfer = (const struct ub_xfer *)event->h;
	enum message_class class = classes[xfer->am_id & 31];
	struct sent *sent;
	struct link *link;

	if (event->site->verb != VERB_AM || class == CLASS_NONE)
		return;
	if (op && (op->process != event->process || receive_of(op)))
		op = NULL;
	sent = sent_new(matcher);
	sent->class = class;
	sent_fill(sent, xfer, op);
	link = ep ? link_of(matcher, ep) : NULL;
	if (!link || link->untraced) {
		if (sent->counted)
			reason_add(matcher->unmatched_sends,
				   link ? "peer not traced" : "endpoint not known", 1);
		return sent_free(matcher, sent);
	}
	link_append(link, sent);
	inlined_begin(matcher, sent, event);
	if (!class_is_exact(class) && !link->inbox)
		return;
	bucket_add_sent(
		bucket_of(matcher, sent->key, class, class_is_exact(class) ? NULL : link->inbox),
		sent);
	if (class_is_exact(class))
		bucket_pair_exact(matcher, sent->bucket);
	else
		bucket_pair(matcher, sent->bucket);
}

static uint64_t less(uint64_t length, uint64_t header)
{
	return length > header ? length - header : 0;
}

/* Field by field of the wire headers, see attribute/payload.c. */
static void arrival_fill(struct arrival *arrival, uint8_t am_id, const struct ub_rx *rx)
{
	arrival->tag = arrival->key = rx->w[0];
	arrival->length = rx->length;
	switch (am_id) {
	case AM_EAGER_ONLY:
		arrival->bytes = less(rx->length, 8);
		break;
	case AM_SYNC_FIRST:
		arrival->ep_id = rx->w[3];
		__attribute__((fallthrough));
	case AM_EAGER_FIRST:
		arrival->key = rx->w[2];
		arrival->length = arrival->bytes = rx->w[1];
		arrival->multi = true;
		break;
	case AM_SYNC_ONLY:
		arrival->ep_id = rx->w[1];
		arrival->key = rx->w[2];
		arrival->length = arrival->bytes = less(rx->length, 24);
		break;
	case AM_RTS:
		arrival->ep_id = rx->w[1];
		arrival->key = rx->w[2];
		arrival->length = arrival->bytes = rx->w[4];
		arrival->rts = true;
		break;
	case AM_SINGLE:
	case AM_SINGLE_REPLY:
	case AM_FIRST:
		arrival->key = rx->w[0] & AM_KEY_MASK;
		arrival->bytes = less(rx->length, 8 + (rx->w[0] >> 32));
		break;
	case AM_STREAM:
		arrival->key = 0;
		arrival->bytes = less(rx->length, 8);
		break;
	}
}

static void arrival_source(struct matcher *matcher, struct arrival *arrival)
{
	struct object *ep;
	bool traced;

	if (!arrival->ep_id)
		return;
	ep = decoder_object(matcher->decoder, arrival->inbox->process, OBJECT_EP, arrival->ep_id,
			    arrival->ts);
	if (ep && decoder_peer(matcher->decoder, ep, &traced))
		arrival->source = ep->peer_process;
}

/* Fills in what the header would have said; false: it cannot be known. */
static bool arrival_from_sent(struct arrival *arrival, const struct sent *sent, uint64_t length)
{
	if (!sent)
		return false;
	arrival->tag = sent->tag;
	arrival->key = sent->key;
	arrival->bytes = sent->bytes;
	arrival->length = class_is_exact(sent->class) ? sent->length : length;
	arrival->source = sent->link->process;
	arrival->rts = sent->am_id == AM_RTS;
	arrival->multi = sent->class == CLASS_MULTI;
	return true;
}

/* AM and stream data are received by arriving. */
static void received_by_arriving(struct matcher *matcher, struct arrival *arrival)
{
	arrival->state = RECEIVE_IS_ARRIVAL;
	arrival->recv_op = arrival->class == CLASS_STREAM ? "stream_recv" : "am_recv";
	arrival->recv_start = arrival->ts;
	matcher->receives++;
}

void matcher_arrived(struct matcher *matcher, const struct event *event, uint64_t idle_since)
{
	const struct ub_rx *rx = (const struct ub_rx *)event->h;
	enum message_class class = classes[event->site->am_id & 31];
	struct inbox *inbox;
	struct arrival *arrival;
	struct bucket *bucket;
	struct sent *sent;

	if (class == CLASS_NONE)
		return;
	inbox = inbox_of(matcher, event->process, rx->worker);
	inbox_settle(matcher, inbox);
	arrival = arrival_new(matcher);
	arrival->inbox = inbox;
	arrival->class = class;
	arrival->pos = ++inbox->arrivals;
	arrival->tid = event->h->tid;
	arrival->seq = event->h->seq;
	arrival->ts = event->h->ts;
	arrival->idle_since = idle_since;
	if (!(event->h->flags & UB_F_READ_FAULT))
		arrival_fill(arrival, event->site->am_id, rx);
	else if (!arrival_from_sent(arrival,
				    headless(matcher, inbox, event->site->am_id, rx->length),
				    rx->length))
		return arrival_forget(matcher, arrival);
	arrival_source(matcher, arrival);
	if (class == CLASS_STREAM)
		stream_arrived(matcher, event->process, rx->w[0], arrival->bytes);
	if (class == CLASS_EAGER || class_is_exact(class))
		inbox->current = arrival;
	else
		received_by_arriving(matcher, arrival);
	sent = inlined_arrived(inbox, event);
	if (sent)
		return join(matcher, sent, arrival);
	bucket = bucket_of(matcher, arrival->key, class, class_is_exact(class) ? NULL : inbox);
	bucket_add_arrival(bucket, arrival);
	if (class_is_exact(class))
		bucket_pair_exact(matcher, bucket);
	else
		bucket_pair(matcher, bucket);
}

void matcher_gap(struct matcher *matcher, int host, uint64_t until)
{
	for (size_t i = 0; i < matcher->decoder->processes.len; i++) {
		struct process *process = matcher->decoder->processes.data[i];

		if (process->host == host && process->blind_until < until)
			process->blind_until = until;
	}
	for (size_t i = 0; i < matcher->links.len; i++) {
		struct link *link = matcher->links.data[i];

		if (link->process->host == host ||
		    (link->inbox && link->inbox->process->host == host))
			link->synced = false;
	}
}
