// SPDX-License-Identifier: BSD-3-Clause
/*
 * UCX's tag matching, done again: posted receives in the order they were posted, unexpected
 * messages in the order they arrived (src/ucp/tag/tag_match.inl, 1.13.1 and 1.18.1).
 */
#include "explain/match/internal.h"

struct inbox *inbox_of(struct matcher *matcher, struct process *process, uint64_t worker)
{
	bool fresh;
	uint64_t *slot = map_insert(&matcher->inboxes, worker, process->id, &fresh);
	struct inbox *inbox;

	if (fresh) {
		inbox = calloc(1, sizeof(*inbox));
		if (!inbox)
			abort();
		inbox->process = process;
		inbox->worker = worker;
		inbox->id = (int)matcher->all_inboxes.len;
		inbox->epoch = process->missing_until != 0;
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

void receive_end(struct op *op, const struct arrival *arrival)
{
	if (op->end.precision == PRECISION_UNKNOWN && !arrival->rts && !arrival->multi)
		op->end = (struct moment){ arrival->ts, PRECISION_LOWER };
}

void bind(struct matcher *matcher, struct receive *receive, struct arrival *arrival)
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
	bound_add(receive);
	if (!arrival->doubt)
		receive_end(receive->op, arrival);
	message_settle(matcher, arrival);
}

/*
 * A receive that was done at its return took a message that had arrived by then: from another
 * thread's handler, perhaps, that ran while this one waited for the worker.
 */
bool receive_accepts(const struct op *op, const struct arrival *arrival)
{
	if (op->failed || ((op->tag ^ arrival->tag) & op->mask))
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
	bind(matcher, receive, arrival);
}
