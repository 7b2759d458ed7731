// SPDX-License-Identifier: BSD-3-Clause
/* Tag receives: which arrival each of them took. */
#include "match/internal.h"

#define RECEIVES (1u << OP_TAG_RECV | 1u << OP_TAG_MSG_RECV)

struct receive *receive_of(const struct op *op)
{
	return op && RECEIVES >> op->site->op & 1 ? op->match : NULL;
}

static bool is_what(const struct op *op, const struct arrival *arrival)
{
	return op->info_tag == arrival->tag && op->info_len == arrival->bytes;
}

/* The oldest unexpected message that is what the receive says it got. */
static struct arrival *find_told(const struct inbox *inbox, const struct op *op)
{
	struct arrival *arrival = inbox->unexpected;

	while (arrival && (arrival->rts || !is_what(op, arrival)))
		arrival = arrival->newer;
	return arrival;
}

/*
 * An unexpected message that UCX would have given to this receive, and did not, is no longer there:
 * a receive that was not seen took it.
 */
static void taken_unseen(struct matcher *matcher, struct arrival *arrival)
{
	unexpected_remove(arrival);
	arrival->state = RECEIVE_UNSEEN;
	message_settle(matcher, arrival);
}

/* Receives that return a request although the message is there: fragments are still to come. */
static bool may_take(const struct op *op, const struct arrival *arrival)
{
	return !arrival->rts && ((op->tag ^ arrival->tag) & op->mask) == 0;
}

static struct arrival *take_oldest(struct matcher *matcher, struct inbox *inbox,
				   const struct op *op)
{
	struct arrival *arrival = inbox->unexpected, *newer;

	for (; arrival; arrival = newer) {
		newer = arrival->newer;
		if (!may_take(op, arrival))
			continue;
		if (arrival->multi || op->immediate || op->deferred || !op->returns)
			return arrival;
		taken_unseen(matcher, arrival);
	}
	return NULL;
}

static struct arrival *by_handle(struct inbox *inbox, uint64_t message)
{
	uint64_t *slot = map_find(&inbox->handles, message, 0);
	struct arrival *arrival = slot ? (struct arrival *)(uintptr_t)*slot : NULL;

	if (slot)
		map_remove(&inbox->handles, message, 0);
	return arrival;
}

static struct arrival *at_entry(struct matcher *matcher, struct inbox *inbox, const struct op *op)
{
	if (op->site->op == OP_TAG_MSG_RECV)
		return by_handle(inbox, op->message);
	if (op->failed)
		return NULL;
	if (op->immediate && op->info)
		return find_told(inbox, op);
	return take_oldest(matcher, inbox, op);
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
	receive->op = op;
	receive->inbox = inbox;
	op_hold(op);
	op->match = receive;
	arrival = at_entry(matcher, inbox, op);
	if (arrival)
		bind(matcher, receive, arrival);
	else if (!op->failed)
		posted_add(inbox, receive);
}

/* A probe that removes a message leaves it with whoever has the handle. */
static void probed(struct matcher *matcher, struct op *op)
{
	struct inbox *inbox = inbox_of(matcher, op->process, op->object);
	struct arrival *arrival;

	inbox_settle(matcher, inbox);
	if (!op->removes)
		return;
	for (arrival = inbox->unexpected; arrival; arrival = arrival->newer)
		if (is_what(op, arrival))
			break;
	if (!arrival)
		return;
	unexpected_remove(arrival);
	*map_insert(&inbox->handles, op->message, 0, NULL) = (uintptr_t)arrival;
}

void matcher_op_start(struct matcher *matcher, struct op *op)
{
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

/* The receive says what it got: if that is not what it was thought to get, think again. */
static void verify(struct matcher *matcher, struct receive *receive)
{
	struct arrival *arrival = receive->arrival, *told;
	const struct op *op = receive->op;

	if (!op->info || op->failed || (arrival && is_what(op, arrival)))
		return;
	told = find_told(receive->inbox, op);
	if (!told) {
		if (arrival)
			arrival->ambiguous = true;
		else if (!receive->bound)
			infer(matcher, receive);
		return;
	}
	if (arrival) {
		arrival->receive = NULL;
		arrival->state = RECEIVE_WAIT;
		unexpected_add(arrival);
	}
	bind(matcher, receive, told);
}

/*
 * A callback inside the handler of an arrival, or right behind it: frames of handlers have no known
 * end, so tag and length must agree as well.
 */
void matcher_completed(struct matcher *matcher, const struct event *event, struct op *op)
{
	const struct ub_comp *record = (const struct ub_comp *)event->h;
	struct receive *receive = receive_of(op);
	struct arrival *arrival;

	if (event->site->what != UB_COMP_RECV_CB || (op && !receive))
		return;
	if (receive) {
		arrival = receive->inbox->current;
		if (!receive->bound && arrival && arrival->seq == event->h->rx &&
		    arrival->tid == event->h->tid && !arrival->rts && is_what(op, arrival))
			bind(matcher, receive, arrival);
		inbox_settle(matcher, receive->inbox);
		verify(matcher, receive);
		return;
	}
	for (size_t i = 0; i < matcher->all_inboxes.len; i++) {
		struct inbox *inbox = matcher->all_inboxes.data[i];

		arrival = inbox->current;
		if (arrival && inbox->process == event->process && arrival->seq == event->h->rx &&
		    arrival->tid == event->h->tid && arrival->tag == record->tag &&
		    arrival->bytes == record->length) {
			inbox->current = NULL;
			taken_unseen(matcher, arrival);
			return;
		}
	}
}

static struct arrival *find_rts(struct inbox *inbox, const struct ub_match *record)
{
	struct arrival *arrival = inbox->current;

	if (arrival && arrival->rts && arrival->key == record->req_id)
		return arrival;
	for (arrival = inbox->unexpected; arrival; arrival = arrival->newer)
		if (arrival->rts && arrival->key == record->req_id &&
		    arrival->ep_id == record->ep_id)
			return arrival;
	return NULL;
}

static void infer_rts(struct matcher *matcher, struct receive *receive,
		      const struct ub_match *record)
{
	struct arrival *arrival;

	if (receive->bound)
		return;
	arrival = arrival_new(matcher);
	arrival->inbox = receive->inbox;
	arrival->class = CLASS_REQUEST;
	arrival->rts = true;
	arrival->pos = ++receive->inbox->arrivals;
	arrival->ts = record->h.ts;
	arrival->tag = record->tag;
	arrival->key = record->req_id;
	arrival->ep_id = record->ep_id;
	arrival->bytes = arrival->length = record->size;
	bind(matcher, receive, arrival);
	bucket_add_arrival(bucket_of(matcher, arrival->key, CLASS_REQUEST, NULL), arrival);
	bucket_pair_exact(matcher, arrival->bucket);
}

void matcher_met(struct matcher *matcher, const struct event *event, struct op *op)
{
	const struct ub_match *record = (const struct ub_match *)event->h;
	struct inbox *inbox = inbox_of(matcher, event->process, record->worker);
	struct arrival *arrival = find_rts(inbox, record);
	struct receive *receive = receive_of(op);

	if (receive && !receive->bound && arrival)
		return bind(matcher, receive, arrival);
	if (receive)
		return infer_rts(matcher, receive, record);
	if (arrival) {
		if (inbox->current == arrival)
			inbox->current = NULL;
		taken_unseen(matcher, arrival);
	}
}

static const char *why_unmatched(const struct matcher *matcher, const struct op *op)
{
	if (op->failed)
		return "failed or cancelled";
	if (matcher->finishing && !op->completed)
		return "in flight at end";
	return op->sends ? "no transfer seen" : "arrival not seen";
}

static void receive_done(struct matcher *matcher, struct receive *receive)
{
	struct arrival *arrival;

	inbox_settle(matcher, receive->inbox);
	verify(matcher, receive);
	posted_remove(receive);
	if (!receive->bound && !matcher->finishing && !receive->op->failed &&
	    receive->op->site->op == OP_TAG_RECV)
		infer(matcher, receive);
	arrival = receive->arrival;
	if (!arrival)
		reason_add(matcher->unmatched_receives, why_unmatched(matcher, receive->op), 1);
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
