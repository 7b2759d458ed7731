// SPDX-License-Identifier: BSD-3-Clause
/*
 * After a late attach, a cut or a loss there may be posted receives and waiting messages that were
 * not seen. A message is then one of whichever receive UCX has: the message is matched, but a
 * receive is named for it only if that is proved. Once a receive that waited is known to have got
 * the only message that came meanwhile, nothing older with that tag was there, and from then on
 * the queues of that tag are known.
 */
#include "explain/match/internal.h"

bool inbox_sure(const struct inbox *inbox, uint64_t tag)
{
	const uint64_t *epoch = inbox->epoch ? map_find(&inbox->sure, tag, 0) : NULL;

	return !inbox->epoch || (epoch && *epoch == inbox->epoch);
}

/* Receives that are bound already have what they were seen to take. */
void inbox_lost(struct matcher *matcher, struct inbox *inbox)
{
	inbox_settle(matcher, inbox);
	fifos_lost(inbox);
	inbox->epoch++;
	while (inbox->posted) {
		inbox->posted->lost = true;
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

/* It was queued, and with it nothing older that it or its message would have met. */
static bool shows_queues(const struct receive *receive, const struct arrival *arrival)
{
	const struct inbox *inbox = receive->inbox;

	return receive->op->returns && !receive->op->immediate &&
	       (receive->op->queued || !receive->op->deferred) && receive->epoch == inbox->epoch &&
	       !receive_lost(receive) && arrival->ts > receive->op->start;
}

/* What was posted before the receive that got the message, and is still thought to wait for it. */
static void drop_stale(const struct receive *receive, const struct arrival *arrival)
{
	struct receive *other, *newer;

	for (other = receive->inbox->posted; other; other = newer) {
		newer = other->newer;
		if (other == receive || other->op->start > receive->op->start ||
		    !receive_accepts(other->op, arrival))
			continue;
		other->lost = true;
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

void receive_judge(struct matcher *matcher, struct receive *receive)
{
	struct arrival *arrival = receive->arrival;

	if (!shows_queues(receive, arrival) || receive->inbox->tagged != receive->arrived + 1) {
		arrival->recv_start = arrival->recv_id = 0;
		arrival->recv_tid = 0;
		return;
	}
	receive_proved(receive, arrival);
	receive_end(receive->op, arrival);
	message_settle(matcher, arrival);
}
