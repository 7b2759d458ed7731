// SPDX-License-Identifier: BSD-3-Clause
#include "explain/match/match.h"

#include <string.h>

#include "explain/match/internal.h"

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
	for (size_t i = 0; i < decoder->processes.len; i++)
		matcher->gpu = matcher->gpu || decoder->processes.data[i]->gpu_library;
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
		op_hold(op);
		sent->from = op;
		sent->counted = !op->match;
		sent->active = op->site->op == OP_AM_SEND;
		sent->bytes = op->bytes;
		sent->start = op->start;
		sent->tid = op->tid;
		sent->op_id = op->id;
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

void matcher_sent(struct matcher *matcher, const struct event *event, struct op *op,
		  struct object *ep)
{
	const struct ub_xfer *xfer = (const struct ub_xfer *)event->h;
	enum message_class class = message_class(xfer->am_id);
	struct sent *sent;
	struct link *link;

	socket_passed(event->process, ep, xfer);
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
	fifo_expect(matcher, sent, xfer);
	if (socket_sent(matcher, sent, xfer))
		return;
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

void matcher_gap(struct matcher *matcher, int host, struct process *owner, uint64_t from,
		 uint64_t until)
{
	for (size_t i = 0; i < matcher->decoder->processes.len; i++) {
		struct process *process = matcher->decoder->processes.data[i];

		if (process->host != host)
			continue;
		if (process->blind_until < until)
			process->blind_until = until;
		if (owner && process != owner)
			continue;
		if (process->missing_until < until)
			process->missing_until = until;
		socket_hidden(process, from, until);
	}
	links_unsync(matcher, host);
	for (size_t i = 0; i < matcher->all_inboxes.len; i++) {
		struct inbox *inbox = matcher->all_inboxes.data[i];

		if (owner ? inbox->process == owner : inbox->process->host == host)
			inbox_lost(matcher, inbox);
	}
}
