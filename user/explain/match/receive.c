// SPDX-License-Identifier: BSD-3-Clause
/* Receives: which arrival each of them took, and how that is known. */
#include "explain/match/internal.h"

#include <string.h>

#include "base/alloc.h"
#include "base/mpi_function.h"

/*
 * How much a stream receive got that was not done at its return: what arrives on an endpoint fills
 * the receives that wait there, oldest first (src/ucp/stream/stream_recv.c, 1.13.1).
 */

struct stream_receive {
	struct op *op;
	struct stream_receive *next;
	uint64_t got;
	unsigned int arrivals;
};

static void stream_posted(struct matcher *matcher, struct op *op)
{
	struct stream_receive *receive, **last;

	if (op->immediate)
		return;
	receive = xcalloc(1, sizeof(*receive));
	receive->op = op;
	last = (struct stream_receive **)(uintptr_t)map_insert(&matcher->streams, op->object,
							       op->process->id, NULL);
	while (*last)
		last = &(*last)->next;
	*last = receive;
}

/* Where the arrival's header could not be read: the one endpoint of the process with a stream. */
static uint64_t *only_stream(const struct matcher *matcher, const struct process *process)
{
	struct map_slot *slot;
	uint64_t *found = NULL;
	size_t pos = 0;

	while ((slot = map_next(&matcher->streams, &pos))) {
		if (slot->b != (uint64_t)process->id)
			continue;
		if (found)
			return NULL;
		found = &slot->value;
	}
	return found;
}

void stream_arrived(struct matcher *matcher, const struct process *process, uint64_t ep,
		    uint64_t bytes)
{
	uint64_t *slot =
		ep ? map_find(&matcher->streams, ep, process->id) : only_stream(matcher, process);
	struct stream_receive *receive = slot ? (struct stream_receive *)(uintptr_t)*slot : NULL;

	for (; receive && bytes; receive = receive->next) {
		uint64_t room = receive->op->room - receive->got;
		uint64_t taken = bytes < room ? bytes : room;

		if (!taken)
			continue;
		receive->got += taken;
		receive->arrivals++;
		bytes -= taken;
	}
}

/* Half full after several arrivals: it may have been done after the first one. */
static void stream_done(struct matcher *matcher, struct op *op)
{
	struct stream_receive **link = (struct stream_receive **)(uintptr_t)map_find(
		&matcher->streams, op->object, op->process->id);
	struct stream_receive *receive;

	while (link && *link && (*link)->op != op)
		link = &(*link)->next;
	if (!link || !*link)
		return;
	receive = *link;
	*link = receive->next;
	if (!op->failed && op->whole && !matcher->ending)
		match_op_of(matcher, op)->bytes = op->room;
	else if (!op->failed && receive->arrivals &&
		 (receive->arrivals == 1 || receive->got == op->room))
		match_op_of(matcher, op)->bytes = receive->got;
	free(receive);
}

/*
 * Arrivals that were seen in part or not at all: a handler's probe may be missed, or its header lie
 * in a page that the receiver has not touched yet. Order identifies their messages.
 */

/* The message of a receive, as far as it is known. */
struct wanted {
	uint64_t tag, mask;
	uint64_t bytes; /* UINT64_MAX unknown */
};

static struct sent *first_wanted(const struct link *link, const struct wanted *wanted)
{
	struct sent *sent = link->first;

	while (sent && (((sent->tag ^ wanted->tag) & wanted->mask) || sent->active))
		sent = sent->after;
	return sent;
}

/* The one message that may have come to an inbox unseen; NULL if there are several, or none. */
static struct sent *find_unseen(const struct matcher *matcher, const struct inbox *inbox,
				const struct wanted *wanted)
{
	struct sent *found = NULL;

	for (size_t i = 0; i < matcher->links.len; i++) {
		const struct link *link = matcher->links.data[i];
		struct sent *sent;

		if (link->inbox != inbox || !link->synced)
			continue;
		sent = first_wanted(link, wanted);
		if (sent && found)
			return NULL;
		found = sent ? sent : found;
	}
	if (!found || (wanted->bytes != UINT64_MAX && wanted->bytes != found->bytes))
		return NULL;
	return found;
}

/*
 * A receive got what no arrival was seen of. Messages of one tag are received in the order they
 * were sent, so it is the next one in order.
 */
static void infer(struct matcher *matcher, struct receive *receive)
{
	const struct op *op = receive->op;
	struct wanted wanted = { op->tag, op->mask, UINT64_MAX };
	struct arrival *arrival;
	struct sent *sent;

	if (op->info)
		wanted = (struct wanted){ op->info_tag, UINT64_MAX, op->info_len };
	sent = find_unseen(matcher, receive->inbox, &wanted);
	if (!sent || !inbox_sure(receive->inbox, sent->tag))
		return;
	arrival = arrival_new(matcher);
	arrival->inbox = receive->inbox;
	arrival->class = sent->class;
	arrival->pos = receive->inbox->arrivals;
	arrival->ts = receive->op->start;
	arrival->tag = sent->tag;
	arrival->bytes = sent->bytes;
	bind_arrival(matcher, receive, arrival);
	join(matcher, sent, arrival);
}

static bool looks_like(const struct sent *sent, uint8_t am_id, uint64_t length)
{
	return sent->am_id == am_id && (class_is_exact(sent->class) || sent->length == length);
}

/* All messages of an inbox come from the fronts of its links, if none of those was lost. */
const struct sent *headless(const struct matcher *matcher, const struct inbox *inbox, uint8_t am_id,
			    uint64_t length)
{
	const struct sent *found = NULL;

	for (size_t i = 0; i < matcher->links.len; i++) {
		const struct link *link = matcher->links.data[i];
		const struct sent *sent = link->inbox == inbox ? link->first : NULL;

		if (!sent)
			continue;
		if (!link->synced)
			return NULL;
		if (!looks_like(sent, am_id, length))
			continue;
		if (found)
			return NULL;
		found = sent;
	}
	return found;
}

void headless_unknown(struct matcher *matcher, struct inbox *inbox, uint8_t am_id, uint64_t length)
{
	inbox->headless = inbox->arrivals;
	for (size_t i = 0; i < matcher->links.len; i++) {
		struct link *link = matcher->links.data[i];

		if (link->inbox != inbox)
			continue;
		/* the record of another host's send may be read later than this one */
		if (!link->synced || link->process->host != inbox->process->host)
			link_unsync(link, order_not_known);
		else if (link->first && looks_like(link->first, am_id, length))
			link->first->maybe_gone = true;
	}
}

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

/* Compares a receive's own result with the assumed message, and rebinds it if they differ. */
static void receive_verify(struct matcher *matcher, struct receive *receive)
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
	bind_arrival(matcher, receive, told);
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
			bind_arrival(matcher, receive, arrival);
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
	bind_arrival(matcher, receive, arrival);
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
		return bind_arrival(matcher, receive, arrival);
	}
	if (receive)
		return infer_rts(matcher, receive, record);
	if (arrival) {
		if (inbox->current == arrival)
			inbox->current = NULL;
		arrival_taken_unseen(matcher, arrival);
	}
}

#define RECEIVES (1u << OP_TAG_RECV | 1u << OP_TAG_MSG_RECV)

struct receive *receive_of(const struct op *op)
{
	return op && op->match && op->match->state == MATCH_RECEIVE ? op->match->receive : NULL;
}

static bool has_tag(const struct op *op, const struct arrival *arrival)
{
	return ((op->tag ^ arrival->tag) & op->mask) == 0;
}

/*
 * Receives that return a request although the message is there: fragments are still to come, or it
 * is an RTS, which the next record tells. Either is older than the messages behind it.
 */
static struct arrival *take_oldest(const struct inbox *inbox, const struct op *op)
{
	struct arrival *arrival = inbox->unexpected, *newer;

	for (; arrival; arrival = newer) {
		newer = arrival->newer;
		if (!has_tag(op, arrival) || (arrival->rts && op->immediate))
			continue;
		if (arrival->rts)
			return NULL;
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

static void blocking_forget(struct matcher *matcher, const struct receive *receive)
{
	const uint64_t *blocking =
		map_find(&matcher->blocking, receive->op->tid, receive->op->process->id);

	if (blocking && *blocking == (uintptr_t)receive)
		map_remove(&matcher->blocking, receive->op->tid, receive->op->process->id);
}

static struct receive *receive_new(struct matcher *matcher)
{
	struct receive *receive = matcher->free_receives;

	if (receive)
		matcher->free_receives = receive->newer;
	else
		receive = xmalloc(sizeof(*receive));
	memset(receive, 0, sizeof(*receive));
	return receive;
}

static void receive_start(struct matcher *matcher, struct op *op)
{
	struct inbox *inbox = inbox_of(matcher, op->process, op->object);
	struct receive *receive = receive_new(matcher);
	struct match_op *match = match_op_of(matcher, op);
	struct arrival *arrival;

	matcher->receives++;
	inbox_settle(matcher, inbox);
	inbox_catch_up(matcher, inbox, op->start);
	receive->op = op;
	receive->inbox = inbox;
	receive->epoch = inbox->epoch;
	inbox_expect(inbox, receive);
	if (inbox->epoch && op->call && decoder_function(matcher->decoder, op->function)->blocks)
		*map_insert(&matcher->blocking, op->tid, op->process->id, NULL) =
			(uintptr_t)receive;
	op_hold(op);
	match->state = MATCH_RECEIVE;
	match->receive = receive;
	arrival = at_entry(inbox, op);
	if (arrival)
		bind_arrival(matcher, receive, arrival);
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
	if (WITH_MESSAGE >> op->site->op & 1)
		match_op_of(matcher, op)->way =
			way_new(&matcher->free_ways, matcher->gpu ? &op->memory : NULL);
}

/*
 * A call that blocks until its receive is done is over when its thread begins an operation in
 * another call. Its request may tell so much later: by then more messages have come, which prove
 * nothing.
 */
static void call_over(struct matcher *matcher, const struct op *op)
{
	const uint64_t *blocking = map_find(&matcher->blocking, op->tid, op->process->id);
	struct receive *receive = blocking ? (struct receive *)(uintptr_t)*blocking : NULL;

	if (!receive || receive->op->call == op->call)
		return;
	blocking_forget(matcher, receive);
	inbox_settle(matcher, receive->inbox);
	if (receive->arrival && receive->arrival->doubt && receive_judged(receive))
		receive_judge(matcher, receive);
}

void matcher_op_start(struct matcher *matcher, struct op *op)
{
	way_begin(matcher, op);
	if (matcher->blocking.used)
		call_over(matcher, op);
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

	return op->process->blind_until &&
	       (!link || !(link->complete || link->anchor_sent || link->lost));
}

static const char *why_unmatched(const struct matcher *matcher, const struct op *op)
{
	if (op->failed)
		return "failed or cancelled";
	if (matcher->ending && !op->completed)
		return ending_at(matcher, op->process);
	if (!op->sends)
		return "arrival not seen";
	if (op->refused && !op->transfers)
		return FACT_LEFT_UNSEEN;
	return !op->bare && before_anchor(op) ? "before first anchor" : "no transfer seen";
}

static void receive_done(struct matcher *matcher, struct receive *receive)
{
	blocking_forget(matcher, receive);
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
			   receive->lost ? receive->lost : why_unmatched(matcher, receive->op), 1);
	if (arrival && arrival->doubt)
		receive_judge(matcher, receive);
	bound_remove(receive);
	receive->op->match->state = MATCH_NONE;
	receive->op->match->receive = NULL;
	if (arrival) {
		arrival->receive = NULL;
		message_settle(matcher, arrival);
	}
	op_drop(matcher->attribute, receive->op);
	receive->newer = matcher->free_receives;
	matcher->free_receives = receive;
}

void matcher_op_done(struct matcher *matcher, struct op *op)
{
	struct receive *receive = receive_of(op);

	if (op->site->op == OP_STREAM_RECV)
		stream_done(matcher, op);
	if (receive)
		receive_done(matcher, receive);
	else if (op->match && op->match->unsized)
		message_settle(matcher, op->match->unsized);
	else if (op->site->op == OP_TAG_SEND || op->site->op == OP_AM_SEND ||
		 op->site->op == OP_STREAM_SEND)
		if (!op->match || op->match->state == MATCH_NONE)
			reason_add(matcher->unmatched_sends, why_unmatched(matcher, op), 1);
}
