// SPDX-License-Identifier: BSD-3-Clause
/*
 * Receives that several threads post at the same time. UCX's lock decides which comes first, and
 * that is seen only where both were queued and so have numbers.
 */
#include "explain/match/internal.h"

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

bool posted_before(const struct receive *receive, const struct receive *other)
{
	if (at_once(receive, other) && are_numbered(receive, other))
		return receive->op->number < other->op->number;
	return receive->op->start < other->op->start;
}

/* Whichever of them got a message: all that is told of it but its time is the same. */
static bool are_alike(const struct op *op, const struct op *other)
{
	return op->tag == other->tag && op->mask == other->mask && op->room == other->room &&
	       op->site == other->site && op->function == other->function;
}

void contest(struct receive *receive, struct receive *other)
{
	if (!other || !at_once(receive, other) || are_numbered(receive, other))
		return;
	if (are_alike(receive->op, other->op))
		receive->alike = other->alike = true;
	else
		receive->contested = other->contested = true;
}

void bound_add(struct receive *receive)
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

/* Back to waiting, or to what came while it was thought to have its message. */
static void repost(struct matcher *matcher, struct receive *receive)
{
	struct arrival *arrival = receive->inbox->unexpected;

	while (arrival &&
	       (arrival->rts || arrival->passed || !receive_accepts(receive->op, arrival)))
		arrival = arrival->newer;
	if (arrival)
		bind(matcher, receive, arrival);
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
	if (other->op->end.precision == PRECISION_LOWER && other->op->end.ns == arrival->ts)
		other->op->end = (struct moment){ 0 };
	receive->alike = other->alike = true;
	bind(matcher, receive, arrival);
	repost(matcher, other);
	return true;
}

/*
 * A receive is over when its thread goes on, and that may be long after. What it took is not left
 * with others until then: they get what comes next.
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
			bind(matcher, receive, told);
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
