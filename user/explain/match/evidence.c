// SPDX-License-Identifier: BSD-3-Clause
/* What was seen of receives and their messages beyond the order of events. */
#include "explain/match/internal.h"

bool arrival_is_told(const struct op *op, const struct arrival *arrival)
{
	return op->info_tag == arrival->tag && op->info_len == arrival->bytes;
}

/* The oldest unexpected message that is what the receive says it got. */
struct arrival *unexpected_told(const struct inbox *inbox, const struct op *op)
{
	struct arrival *arrival = inbox->unexpected;

	while (arrival && (arrival->rts || (arrival->passed && !op->immediate) ||
			   !arrival_is_told(op, arrival)))
		arrival = arrival->newer;
	return arrival;
}

/*
 * An unexpected message that UCX would have given to this receive, and did not, is no longer there:
 * a receive that was not seen took it.
 */
void arrival_taken_unseen(struct matcher *matcher, struct arrival *arrival)
{
	unexpected_remove(arrival);
	arrival->state = RECEIVE_UNSEEN;
	message_settle(matcher, arrival);
}

/* The receive says what it got: if that is not what it was thought to get, think again. */
void receive_verify(struct matcher *matcher, struct receive *receive)
{
	struct arrival *arrival = receive->arrival, *told;
	const struct op *op = receive->op;

	if (!op->info || op->failed || (arrival ? arrival_is_told(op, arrival) : receive->bound))
		return;
	told = unexpected_told(receive->inbox, op);
	if (!told) {
		if (arrival)
			arrival->ambiguous = true;
		else if (!swap_at_once(matcher, receive))
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
	if (receive && !receive_lost(receive)) {
		arrival = receive->inbox->current;
		if (!receive->bound && arrival && arrival->seq == event->h->rx &&
		    arrival->tid == event->h->tid && !arrival->rts &&
		    arrival_is_told(op, arrival)) {
			receive_proved(receive, arrival);
			bind(matcher, receive, arrival);
		}
		inbox_settle(matcher, receive->inbox);
		receive_verify(matcher, receive);
		return;
	}
	for (size_t i = 0; i < matcher->all_inboxes.len; i++) {
		struct inbox *inbox = matcher->all_inboxes.data[i];

		arrival = inbox->current;
		if (arrival && inbox->process == event->process && arrival->seq == event->h->rx &&
		    arrival->tid == event->h->tid && arrival->tag == record->tag &&
		    arrival->bytes == record->length) {
			inbox->current = NULL;
			arrival_taken_unseen(matcher, arrival);
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

	if (receive && receive_lost(receive))
		receive = NULL;
	if (receive && !receive->bound && arrival) {
		receive_proved(receive, arrival);
		return bind(matcher, receive, arrival);
	}
	if (receive)
		return infer_rts(matcher, receive, record);
	if (arrival) {
		if (inbox->current == arrival)
			inbox->current = NULL;
		arrival_taken_unseen(matcher, arrival);
	}
}
