// SPDX-License-Identifier: BSD-3-Clause
/* Tag receives: which arrival each of them took. */
#include "explain/match/internal.h"

#define RECEIVES (1u << OP_TAG_RECV | 1u << OP_TAG_MSG_RECV)

struct receive *receive_of(const struct op *op)
{
	return op && RECEIVES >> op->site->op & 1 ? op->match : NULL;
}

/* Receives that return a request although the message is there: fragments are still to come. */
static bool may_take(const struct op *op, const struct arrival *arrival)
{
	return !arrival->rts && ((op->tag ^ arrival->tag) & op->mask) == 0;
}

static struct arrival *take_oldest(const struct inbox *inbox, const struct op *op)
{
	struct arrival *arrival = inbox->unexpected, *newer;

	for (; arrival; arrival = newer) {
		newer = arrival->newer;
		if (!may_take(op, arrival))
			continue;
		if (arrival->multi || op->immediate || (op->deferred && !op->queued) ||
		    !op->returns)
			return arrival;
		arrival_pass(arrival, op->returned);
	}
	return NULL;
}

static struct arrival *by_handle(struct inbox *inbox, uint64_t message)
{
	uint64_t *slot = map_find(&inbox->handles, message, 0);
	struct arrival *arrival = slot ? (struct arrival *)(uintptr_t)*slot : NULL;

	if (!arrival)
		return NULL;
	map_remove(&inbox->handles, message, 0);
	arrival->held = false;
	return arrival;
}

static struct arrival *at_entry(struct inbox *inbox, const struct op *op)
{
	if (op->site->op == OP_TAG_MSG_RECV)
		return by_handle(inbox, op->message);
	if (op->failed)
		return NULL;
	if (op->immediate && op->info)
		return unexpected_told(inbox, op);
	return take_oldest(inbox, op);
}

static void receive_start(struct matcher *matcher, struct op *op)
{
	struct inbox *inbox = inbox_of(matcher, op->process, op->object);
	struct receive *receive = calloc(1, sizeof(*receive));
	struct arrival *arrival;

	if (!receive)
		abort();
	matcher->receives++;
	inbox_settle(matcher, inbox);
	inbox_catch_up(matcher, inbox, op->start);
	receive->op = op;
	receive->inbox = inbox;
	receive->epoch = inbox->epoch;
	receive->arrived = inbox->tagged;
	op_hold(op);
	op->match = receive;
	arrival = at_entry(inbox, op);
	if (arrival)
		bind(matcher, receive, arrival);
	else if (!op->failed)
		posted_add(inbox, receive);
}

/* A probe that removes a message leaves it with whoever has the handle. */
static void probed(struct matcher *matcher, struct op *op)
{
	struct inbox *inbox = inbox_of(matcher, op->process, op->object);
	struct arrival *arrival, *before;

	inbox_settle(matcher, inbox);
	inbox_catch_up(matcher, inbox, op->start);
	if (!op->removes)
		return;
	for (arrival = inbox->unexpected; arrival; arrival = arrival->newer)
		if (arrival_is_told(op, arrival))
			break;
	if (!arrival)
		return;
	unexpected_remove(arrival);
	before = by_handle(inbox, op->message);
	if (before)
		arrival_taken_unseen(matcher, before);
	*map_insert(&inbox->handles, op->message, 0, NULL) = (uintptr_t)arrival;
	arrival->held = true;
	arrival->handle = op->message;
}

#define WITH_MESSAGE                                                                               \
	(RECEIVES | 1u << OP_TAG_SEND | 1u << OP_AM_SEND | 1u << OP_STREAM_SEND |                  \
	 1u << OP_STREAM_RECV)

static void way_begin(struct matcher *matcher, struct op *op)
{
	matcher->gpu = matcher->gpu || op->process->gpu_library;
	if (matcher->gpu && (WITH_MESSAGE >> op->site->op & 1))
		op->way = way_new(&op->memory);
}

void matcher_op_start(struct matcher *matcher, struct op *op)
{
	way_begin(matcher, op);
	switch (op->site->op) {
	case OP_TAG_RECV:
	case OP_TAG_MSG_RECV:
		return receive_start(matcher, op);
	case OP_TAG_PROBE:
		return probed(matcher, op);
	case OP_STREAM_RECV:
		return stream_posted(matcher, op);
	case OP_TAG_SEND:
	case OP_AM_SEND:
	case OP_STREAM_SEND:
		matcher->sends++;
	}
}

/* Joined in mid-run, operations are seen some milliseconds before the first transfer is. */
static bool before_anchor(const struct op *op)
{
	const struct link *link = op->ep ? op->ep->link : NULL;

	return op->process->blind_until && (!link || (!link->synced && !link->anchor_sent));
}

static const char *why_unmatched(const struct matcher *matcher, const struct op *op)
{
	if (op->failed)
		return "failed or cancelled";
	if (matcher->ending && !op->completed)
		return matcher->ending;
	if (!op->sends)
		return "arrival not seen";
	return before_anchor(op) ? "before first anchor" : "no transfer seen";
}

static void receive_done(struct matcher *matcher, struct receive *receive)
{
	struct arrival *arrival;

	inbox_settle(matcher, receive->inbox);
	receive_verify(matcher, receive);
	posted_remove(receive);
	if (!receive->bound && !receive->lost && !matcher->ending && !receive->op->failed &&
	    receive->op->site->op == OP_TAG_RECV && !swap_at_once(matcher, receive))
		infer(matcher, receive);
	arrival = receive->arrival;
	if (!arrival && !receive->bound)
		reason_add(matcher->unmatched_receives,
			   receive->lost ? "lost records" : why_unmatched(matcher, receive->op), 1);
	if (arrival && arrival->doubt)
		receive_judge(matcher, receive);
	bound_remove(receive);
	receive->op->match = NULL;
	if (arrival) {
		arrival->receive = NULL;
		message_settle(matcher, arrival);
	}
	op_drop(matcher->attribute, receive->op);
	free(receive);
}

void matcher_op_done(struct matcher *matcher, struct op *op)
{
	struct receive *receive = receive_of(op);

	if (op->site->op == OP_STREAM_RECV)
		stream_done(matcher, op);
	if (receive)
		receive_done(matcher, receive);
	else if (op->site->op == OP_TAG_SEND || op->site->op == OP_AM_SEND ||
		 op->site->op == OP_STREAM_SEND)
		if (!op->match)
			reason_add(matcher->unmatched_sends, why_unmatched(matcher, op), 1);
}
