// SPDX-License-Identifier: BSD-3-Clause
/*
 * UCX's tag matching, done again: posted receives in the order they were posted, unexpected
 * messages in the order they arrived (src/ucp/tag/tag_match.inl, 1.13.1 and 1.18.1).
 */
#include "explain/match/internal.h"

#include "base/alloc.h"

/*
 * Receives that several threads post at the same time. UCX's lock decides which comes first, and
 * that is seen only where both were queued and so have numbers.
 */

/* Either may have come first. */
static bool at_once(const struct receive *receive, const struct receive *other)
{
	return other->op->tid != receive->op->tid && other->op->start <= receive->op->returned &&
	       receive->op->start <= other->op->returned;
}

static bool are_numbered(const struct receive *receive, const struct receive *other)
{
	return receive->op->number && other->op->number;
}

/* Whether it was queued first, as far as that is known: one may be put back long after. */
static bool posted_before(const struct receive *receive, const struct receive *other)
{
	if (at_once(receive, other) && are_numbered(receive, other))
		return receive->op->number < other->op->number;
	return receive->op->start < other->op->start;
}

/* Whether two receives are interchangeable: a message of either differs in time only. */
static bool are_alike(const struct op *op, const struct op *other)
{
	return matched_tag(op) == matched_tag(other) && op->mask == other->mask &&
	       op->room == other->room && op->site == other->site &&
	       op->function == other->function;
}

/* Marks two receives that a message may be of, if they were posted at the same time. */
static void contest(struct receive *receive, struct receive *other)
{
	if (!other || !at_once(receive, other) || are_numbered(receive, other))
		return;
	if (are_alike(receive->op, other->op))
		receive->alike = other->alike = true;
	else
		receive->contested = other->contested = true;
}

static void bound_add(struct receive *receive)
{
	struct inbox *inbox = receive->inbox;

	if (receive->listed)
		return;
	receive->listed = true;
	receive->newer = inbox->bound;
	if (inbox->bound)
		inbox->bound->older = receive;
	inbox->bound = receive;
}

void bound_remove(struct receive *receive)
{
	if (!receive->listed)
		return;
	*(receive->older ? &receive->older->newer : &receive->inbox->bound) = receive->newer;
	if (receive->newer)
		receive->newer->older = receive->older;
	receive->older = receive->newer = NULL;
	receive->listed = false;
}

static bool receive_accepts(const struct op *op, const struct arrival *arrival);

/* Posts the receive again, or binds it to a message that arrived meanwhile. */
static void repost(struct matcher *matcher, struct receive *receive)
{
	struct arrival *arrival = receive->inbox->unexpected;

	while (arrival &&
	       (arrival->rts || arrival->passed || !receive_accepts(receive->op, arrival)))
		arrival = arrival->newer;
	if (arrival)
		bind_arrival(matcher, receive, arrival);
	else
		posted_add(receive->inbox, receive);
}

bool swap_at_once(struct matcher *matcher, struct receive *receive)
{
	struct receive *other = receive->inbox->bound;
	struct arrival *arrival;

	while (other &&
	       !(other->arrival && at_once(receive, other) && are_alike(receive->op, other->op) &&
		 (!receive->op->info || arrival_is_told(receive->op, other->arrival)) &&
		 receive_accepts(receive->op, other->arrival)))
		other = other->newer;
	if (!other)
		return false;
	arrival = other->arrival;
	bound_remove(other);
	other->arrival = NULL;
	other->bound = false;
	if (other->op->match->end.ns == arrival->ts)
		other->op->match->end = (struct moment){ 0 };
	receive->alike = other->alike = true;
	bind_arrival(matcher, receive, arrival);
	repost(matcher, other);
	return true;
}

/*
 * A receive is over when its thread goes on, and that may be long after. Until then its message
 * must not stay bound to others: they get the next ones.
 */
static void receives_returned(struct matcher *matcher, struct inbox *inbox, uint64_t now)
{
	struct receive *receive, *newer;

	for (receive = inbox->returned ? inbox->posted : NULL; receive; receive = newer) {
		struct arrival *told;

		newer = receive->newer;
		if (!receive->op->immediate || !receive->op->info || receive->op->returned >= now)
			continue;
		told = unexpected_told(inbox, receive->op);
		if (told)
			bind_arrival(matcher, receive, told);
		else
			swap_at_once(matcher, receive);
	}
}

/*
 * The receive that has it began before the one that returned was queued, and may be seen to begin
 * later than that one.
 */
void arrival_pass(struct arrival *arrival, uint64_t returned)
{
	if (!arrival->passed)
		arrival->inbox->passed++;
	if (!arrival->passed || returned < arrival->passed)
		arrival->passed = returned;
}

void inbox_catch_up(struct matcher *matcher, struct inbox *inbox, uint64_t now)
{
	struct arrival *arrival, *newer;

	receives_returned(matcher, inbox, now);
	for (arrival = inbox->passed ? inbox->unexpected : NULL; arrival; arrival = newer) {
		newer = arrival->newer;
		if (arrival->passed && arrival->passed < now)
			arrival_taken_unseen(matcher, arrival);
	}
}

struct inbox *inbox_of(struct matcher *matcher, struct process *process, uint64_t worker)
{
	bool fresh;
	uint64_t *slot = map_insert(&matcher->inboxes, worker, process->id, &fresh);
	const uint64_t *unseen;
	struct inbox *inbox;

	if (fresh) {
		inbox = xcalloc(1, sizeof(*inbox));
		inbox->process = process;
		inbox->worker = worker;
		inbox->id = (int)matcher->all_inboxes.len;
		inbox->epoch = process->missing_until != 0;
		unseen = map_find(&matcher->unseen, worker, process->id);
		inbox->unseen_until = unseen ? *unseen : 0;
		*slot = (uintptr_t)inbox;
		vec_push(&matcher->all_inboxes, inbox);
		fifos_find(inbox);
	}
	return (struct inbox *)(uintptr_t)*slot;
}

void posted_add(struct inbox *inbox, struct receive *receive)
{
	struct receive *older = inbox->posted_last, *newer;

	while (older && posted_before(receive, older))
		older = older->older;
	newer = older ? older->newer : inbox->posted;
	inbox->returned += receive->op->immediate;
	receive->queued = true;
	receive->older = older;
	receive->newer = newer;
	*(older ? &older->newer : &inbox->posted) = receive;
	*(newer ? &newer->older : &inbox->posted_last) = receive;
}

void posted_remove(struct receive *receive)
{
	struct inbox *inbox = receive->inbox;

	if (!receive->queued)
		return;
	*(receive->older ? &receive->older->newer : &inbox->posted) = receive->newer;
	*(receive->newer ? &receive->newer->older : &inbox->posted_last) = receive->older;
	inbox->returned -= receive->op->immediate;
	receive->older = receive->newer = NULL;
	receive->queued = false;
}

void unexpected_add(struct arrival *arrival)
{
	struct inbox *inbox = arrival->inbox;

	arrival->queued = true;
	arrival->older = inbox->unexpected_last;
	if (inbox->unexpected_last)
		inbox->unexpected_last->newer = arrival;
	else
		inbox->unexpected = arrival;
	inbox->unexpected_last = arrival;
}

void unexpected_remove(struct arrival *arrival)
{
	struct inbox *inbox = arrival->inbox;

	if (!arrival->queued)
		return;
	*(arrival->older ? &arrival->older->newer : &inbox->unexpected) = arrival->newer;
	*(arrival->newer ? &arrival->newer->older : &inbox->unexpected_last) = arrival->older;
	inbox->passed -= arrival->passed != 0;
	arrival->passed = 0;
	arrival->older = arrival->newer = NULL;
	arrival->queued = false;
}

/* Where nothing better is known, a receive is over when the handler that completed it began. */
static void receive_end(const struct op *op, const struct arrival *arrival)
{
	if (matched_end(op).precision == PRECISION_UNKNOWN && !arrival->rts && !arrival->multi)
		op->match->end = (struct moment){ arrival->ts, PRECISION_LOWER };
}

void bind_arrival(struct matcher *matcher, struct receive *receive, struct arrival *arrival)
{
	posted_remove(receive);
	unexpected_remove(arrival);
	if (arrival->inbox->current == arrival)
		arrival->inbox->current = NULL;
	receive->arrival = arrival;
	receive->bound = true;
	arrival->receive = receive;
	arrival->state = RECEIVE_BOUND;
	arrival->recv_op = receive->op->site->name;
	arrival->recv_start = receive->alike ? 0 : receive->op->start;
	arrival->recv_tid = receive->alike ? 0 : receive->op->tid;
	arrival->recv_id = receive->alike ? 0 : receive->op->id;
	arrival->recv_call = receive->op->call;
	arrival->recv_place = receive->op->place;
	arrival->recv_function = receive->op->function;
	bound_add(receive);
	if (!arrival->doubt)
		receive_end(receive->op, arrival);
	message_settle(matcher, arrival);
}

/*
 * A receive that was done at its return took a message that had arrived by then: from another
 * thread's handler, perhaps, that ran while this one waited for the worker.
 */
static bool receive_accepts(const struct op *op, const struct arrival *arrival)
{
	if (op->failed || ((matched_tag(op) ^ arrival->tag) & op->mask))
		return false;
	if (!op->immediate)
		return true;
	return arrival->ts < op->returned &&
	       (!op->info || (op->info_tag == arrival->tag && op->info_len == arrival->bytes));
}

static struct receive *next_accepting(struct receive *receive, const struct arrival *arrival)
{
	while (receive && !receive_accepts(receive->op, arrival))
		receive = receive->newer;
	return receive;
}

static struct receive *next_queued(struct receive *receive, const struct arrival *arrival)
{
	receive = next_accepting(receive, arrival);
	while (receive && receive->op->immediate)
		receive = next_accepting(receive->newer, arrival);
	return receive;
}

/*
 * Receives that were done at their return were never queued: they looked among what had arrived,
 * and what meets a queued receive never gets there. Whether one of these is queued by then.
 */
static bool any_queued(const struct inbox *inbox, const struct arrival *arrival)
{
	const struct receive *receive = next_queued(inbox->posted, arrival);

	while (receive && receive->op->returns && receive->op->returned > arrival->ts)
		receive = next_queued(receive->newer, arrival);
	return receive && receive->op->returns;
}

void inbox_settle(struct matcher *matcher, struct inbox *inbox)
{
	struct receive *(*next)(struct receive * receive, const struct arrival *arrival);
	struct arrival *arrival = inbox->current;
	struct receive *receive;

	if (!arrival)
		return;
	inbox->current = NULL;
	next = any_queued(inbox, arrival) ? next_queued : next_accepting;
	receive = arrival->rts ? NULL : next(inbox->posted, arrival);
	if (!receive)
		return unexpected_add(arrival);
	contest(receive, next(receive->newer, arrival));
	arrival->ambiguous = arrival->ambiguous || receive->contested;
	bind_arrival(matcher, receive, arrival);
}

/*
 * After a late attach, a cut or a loss there may be posted receives and waiting messages that were
 * not seen. A message is then one of whichever receive UCX has: the message is matched, but a
 * receive is named for it only if that is proved. Once a receive that waited is known to have got
 * the only message that came meanwhile, nothing older with that tag was there, and from then on
 * the queues of that tag are known.
 */

bool inbox_sure(const struct inbox *inbox, uint64_t tag)
{
	const uint64_t *epoch = inbox->epoch ? map_find(&inbox->sure, tag, 0) : NULL;

	return !inbox->epoch || (epoch && *epoch == inbox->epoch);
}

/* Bound receives keep their messages. */
void inbox_lost(struct matcher *matcher, struct inbox *inbox, const char *why)
{
	inbox_settle(matcher, inbox);
	fifos_lost(inbox);
	inbox->epoch++;
	/* receives from before are not judged any more */
	for (unsigned int i = 0; i < inbox->mask_count; i++)
		map_release(&inbox->came[i]);
	inbox->mask_count = 0;
	while (inbox->posted) {
		inbox->posted->lost = why;
		posted_remove(inbox->posted);
	}
	while (inbox->unexpected)
		arrival_taken_unseen(matcher, inbox->unexpected);
}

/* Its request may have been used again, and nobody saw it. */
bool receive_lost(const struct receive *receive)
{
	return receive->lost || receive->op->start <= receive->inbox->process->missing_until;
}

/* The messages that the receive would take, since its mask was listed; NULL: it is not. */
static struct map *came_for(struct inbox *inbox, const struct receive *receive)
{
	for (unsigned int i = 0; i < inbox->mask_count; i++)
		if (inbox->masks[i] == receive->op->mask)
			return &inbox->came[i];
	return NULL;
}

static uint64_t count_came(const struct map *came, const struct receive *receive)
{
	const uint64_t *count = map_find(came, matched_tag(receive->op) & receive->op->mask, 0);

	return count ? *count : 0;
}

void inbox_came(struct inbox *inbox, uint64_t tag)
{
	for (unsigned int i = 0; i < inbox->mask_count; i++)
		++*map_insert(&inbox->came[i], tag & inbox->masks[i], 0, NULL);
}

void inbox_expect(struct inbox *inbox, struct receive *receive)
{
	const struct map *came;

	if (!inbox->epoch)
		return;
	came = came_for(inbox, receive);
	if (came)
		receive->came = count_came(came, receive);
	else if (inbox->mask_count < MASKS)
		inbox->masks[inbox->mask_count++] = receive->op->mask;
}

/* It was queued, and with it nothing older that it or its message would have met. */
static bool shows_queues(const struct receive *receive, const struct arrival *arrival)
{
	const struct inbox *inbox = receive->inbox;

	return receive->op->returns && !receive->op->immediate &&
	       (receive->op->queued || !receive->op->deferred) && receive->epoch == inbox->epoch &&
	       !receive_lost(receive) && arrival->ts > receive->op->start;
}

/* Drops receives that were posted before the one that got the message and still seem to wait. */
static void drop_stale(const struct receive *receive, const struct arrival *arrival)
{
	struct receive *other, *newer;

	for (other = receive->inbox->posted; other; other = newer) {
		newer = other->newer;
		if (other == receive || other->op->start > receive->op->start ||
		    !receive_accepts(other->op, arrival))
			continue;
		other->lost = "arrival not seen";
		posted_remove(other);
	}
}

void receive_proved(struct receive *receive, struct arrival *arrival)
{
	struct inbox *inbox = receive->inbox;

	if (arrival->doubt && shows_queues(receive, arrival)) {
		*map_insert(&inbox->sure, arrival->tag, 0, NULL) = inbox->epoch;
		drop_stale(receive, arrival);
	}
	arrival->doubt = false;
}

/* Whether it waited, and just one message that it would take has come since. */
bool receive_judged(const struct receive *receive)
{
	const struct map *came = came_for(receive->inbox, receive);

	return shows_queues(receive, receive->arrival) && came &&
	       count_came(came, receive) == receive->came + 1;
}

void receive_judge(struct matcher *matcher, struct receive *receive)
{
	struct arrival *arrival = receive->arrival;

	if (!receive_judged(receive)) {
		arrival->recv_start = arrival->recv_id = 0;
		arrival->recv_tid = 0;
		return;
	}
	receive_proved(receive, arrival);
	receive_end(receive->op, arrival);
	message_settle(matcher, arrival);
}
