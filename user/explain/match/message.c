// SPDX-License-Identifier: BSD-3-Clause
/* Sends and arrivals: made, joined to a message, given up. */
#include "explain/match/internal.h"

#include <string.h>

#include "base/alloc.h"

struct sent *sent_new(struct matcher *matcher)
{
	struct sent *sent = matcher->free_sents;

	if (sent)
		matcher->free_sents = sent->next;
	else
		sent = xmalloc(sizeof(*sent));
	memset(sent, 0, sizeof(*sent));
	return sent;
}

void sent_free(struct matcher *matcher, struct sent *sent)
{
	struct inbox *inbox = sent->link ? sent->link->inbox : NULL;

	if (inbox && inbox->inlined.sent == sent)
		inbox->inlined.sent = NULL;
	fifo_forget(sent);
	socket_forget_sent(sent);
	op_drop(matcher->attribute, sent->from);
	sent->next = matcher->free_sents;
	matcher->free_sents = sent;
}

struct arrival *arrival_new(struct matcher *matcher)
{
	struct arrival *arrival = matcher->free_arrivals;

	if (arrival)
		matcher->free_arrivals = arrival->next;
	else
		arrival = xmalloc(sizeof(*arrival));
	memset(arrival, 0, sizeof(*arrival));
	return arrival;
}

void arrival_forget(struct matcher *matcher, struct arrival *arrival)
{
	if (arrival->receive)
		arrival->receive->arrival = NULL;
	if (arrival->inbox->current == arrival)
		arrival->inbox->current = NULL;
	if (arrival->held)
		map_remove(&arrival->inbox->handles, arrival->handle, 0);
	way_drop(arrival->way);
	arrival->next = matcher->free_arrivals;
	matcher->free_arrivals = arrival;
}

/* Some sends know their length only once they are done: not at the call, nor at the first arrival.
 */
static uint64_t bytes_of(const struct sent *sent, const struct arrival *arrival)
{
	if (sent->bytes != UINT64_MAX)
		return sent->bytes;
	return arrival->bytes == UINT64_MAX && sent->from ? sent->from->bytes : arrival->bytes;
}

static struct message message_of(const struct sent *sent, const struct arrival *arrival)
{
	return (struct message){
		.send = sent->op_id,
		.recv = arrival->recv_id,
		.src = sent->link->process,
		.dst = arrival->inbox->process,
		.function = sent->function,
		.send_op = sent->op,
		.recv_op = arrival->recv_op,
		.tag = sent->tag,
		.bytes = bytes_of(sent, arrival),
		.send_start = sent->start,
		.send_tid = sent->tid,
		.recv_start = arrival->recv_start,
		.recv_tid = arrival->recv_tid,
		.arrival = arrival->ts,
		.src_way = matched_way(sent->from),
		.dst_way = arrival->way,
		.send_call = sent->from ? sent->from->call : 0,
		.send_place = sent->from ? sent->from->place : NULL,
		.send_caller = sent->from ? sent->from->caller : NULL,
		.recv_call = arrival->recv_call,
		.recv_place = arrival->recv_place,
		.recv_function = arrival->recv_function,
		.arrival_tid = arrival->tid,
		.arrival_call = arrival->call,
		.rts = arrival->rts,
	};
}

static void message_emit(struct matcher *matcher, const struct sent *sent,
			 const struct arrival *arrival)
{
	const struct message message = message_of(sent, arrival);

	matcher->matched++;
	if (!arrival->told)
		matcher->sink.joined(matcher->sink.arg, &message);
	matcher->sink.message(matcher->sink.arg, &message);
}

/* Whether this send and this receive are the message's for certain, though both may go on. */
static bool is_certain(const struct sent *sent, const struct arrival *arrival)
{
	return sent && sent->counted && !sent->ambiguous && !arrival->ambiguous &&
	       !arrival->doubt && arrival->receive && !arrival->receive->contested &&
	       !arrival->receive->alike && arrival->state == RECEIVE_BOUND;
}

static void tell_early(struct matcher *matcher, const struct sent *sent, struct arrival *arrival)
{
	struct message message;

	if (arrival->told || !is_certain(sent, arrival))
		return;
	message = message_of(sent, arrival);
	arrival->told = true;
	matcher->sink.joined(matcher->sink.arg, &message);
}

/* Counts as matched, or as unmatched if one end's operation was not traced. */
static void message_count(struct matcher *matcher, const struct sent *sent,
			  const struct arrival *arrival)
{
	bool received = arrival->state != RECEIVE_UNSEEN;

	if (sent->counted && received) {
		if (sent->ambiguous || arrival->ambiguous)
			matcher->ambiguous++;
		else
			message_emit(matcher, sent, arrival);
	} else if (sent->counted) {
		reason_add(matcher->unmatched_sends, "receive operation not seen", 1);
	} else if (received && sent->op) {
		matcher->receives--; /* the rest of a stream send: no message of its own */
	} else if (received) {
		reason_add(matcher->unmatched_receives, "send operation not seen", 1);
	}
}

static struct other_end end_of(const struct op *op)
{
	return (struct other_end){ op->buffer, op_buffer_size(op), op->memory };
}

/* A receive's length is its message's, its protocol the sender's, where it did not say itself. */
static void enrich(const struct sent *sent, struct arrival *arrival)
{
	const struct op *op = arrival->receive->op;
	struct match_op *match = op->match;

	if (arrival->doubt)
		return;
	if (arrival->way != match->way) {
		way_drop(arrival->way);
		arrival->way = way_hold(match->way);
	}
	match->tagged = op->site->op == OP_TAG_MSG_RECV;
	match->tag = arrival->tag;
	match->peer = sent ? sent->link->process : arrival->source;
	if (!match->protocol && sent)
		match->protocol = sent->protocol;
	if (sent && sent->from) {
		match->other = end_of(sent->from);
		sent->from->match->other = end_of(op);
	}
	if (match->bytes == UINT64_MAX)
		match->bytes = sent && sent->bytes != UINT64_MAX ? sent->bytes : arrival->bytes;
}

/* Whether the send's end will tell the message's length: until then the message is kept. */
static bool awaits_length(struct sent *sent, struct arrival *arrival)
{
	const bool awaits = sent->from && sent->from->unsized &&
			    (sent->from->open || sent->from->framed) &&
			    bytes_of(sent, arrival) == UINT64_MAX;

	if (sent->from)
		sent->from->match->unsized = awaits ? arrival : NULL;
	return awaits;
}

void message_settle(struct matcher *matcher, struct arrival *arrival)
{
	struct sent *sent = arrival->sent;

	if (arrival->receive)
		enrich(sent, arrival);
	tell_early(matcher, sent, arrival);
	if (arrival->orphan && arrival->state != RECEIVE_WAIT) {
		if (arrival->state == RECEIVE_BOUND)
			reason_add(matcher->unmatched_receives, arrival->orphan, 1);
		return arrival_forget(matcher, arrival);
	}
	if (!sent || arrival->state == RECEIVE_WAIT || arrival->receive ||
	    awaits_length(sent, arrival))
		return;
	message_count(matcher, sent, arrival);
	sent_free(matcher, sent);
	arrival_forget(matcher, arrival);
}

void sent_give_up(struct matcher *matcher, struct sent *sent, const char *reason)
{
	if (sent->counted)
		reason_add(matcher->unmatched_sends, reason, 1);
	bucket_remove_sent(sent);
	link_remove(sent);
	sent_free(matcher, sent);
}

/* No send will be found for it. It takes its receive all the same, or another message would. */
void arrival_give_up(struct matcher *matcher, struct arrival *arrival, const char *reason)
{
	if (arrival->waits && arrival->bucket->given_up < arrival->ts)
		arrival->bucket->given_up = arrival->ts;
	if (arrival->state == RECEIVE_WAIT &&
	    (arrival->queued || arrival->held || arrival->inbox->current == arrival)) {
		bucket_remove_arrival(arrival);
		arrival->orphan = reason;
		return;
	}
	if (arrival->state == RECEIVE_BOUND || arrival->state == RECEIVE_IS_ARRIVAL)
		reason_add(matcher->unmatched_receives, reason, 1);
	bucket_remove_arrival(arrival);
	unexpected_remove(arrival);
	arrival_forget(matcher, arrival);
}
