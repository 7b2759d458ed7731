// SPDX-License-Identifier: BSD-3-Clause
/*
 * Active messages by rendezvous, and the operations that fetch them: ucp_am_recv_data_nbx() gets
 * the announcement's descriptor, which may be a copy, in any order (src/ucp/core/ucp_am.c, 1.13.1).
 * What it reads from the memory of the sender shows which one it has, where one was announced
 * there and all announcements were seen.
 */
#include "explain/match/internal.h"

#include <stdlib.h>

#include "base/alloc.h"

/* A message that was announced, and that nobody was seen to fetch yet. */
struct offer {
	struct inbox *inbox;
	struct op *send; /* not over */
	struct offer *prev, *next; /* in the inbox */
};

void offer_add(struct inbox *inbox, struct op *send)
{
	struct offer *offer;

	if (send->match->offer)
		return;
	offer = xmalloc(sizeof(*offer));
	*offer = (struct offer){ inbox, send, NULL, inbox->offers };
	if (offer->next)
		offer->next->prev = offer;
	inbox->offers = offer;
	send->match->offer = offer;
}

void offer_forget(struct match_op *match)
{
	struct offer *offer = match->offer;

	if (!offer)
		return;
	*(offer->prev ? &offer->prev->next : &offer->inbox->offers) = offer->next;
	if (offer->next)
		offer->next->prev = offer->prev;
	match->offer = NULL;
	free(offer);
}

static bool may_announce(const struct arrival *arrival, const struct process *source)
{
	return arrival && arrival->rts && !arrival->sent &&
	       (!arrival->source || arrival->source == source);
}

/* Whether all that the process has announced there is listed. */
static bool lists_all(const struct inbox *inbox, const struct process *source)
{
	const struct arrival *arrival = inbox->unexpected;

	if (inbox->epoch || may_announce(inbox->current, source))
		return false;
	while (arrival && !may_announce(arrival, source))
		arrival = arrival->newer;
	return !arrival;
}

/* The one message of the process that was announced and lies there; NULL: none, or several. */
static struct op *offered_at(const struct inbox *inbox, const struct process *source,
			     uint64_t address)
{
	struct op *found = NULL;

	for (const struct offer *one = inbox->offers; one; one = one->next) {
		if (one->send->process != source || !op_covers(one->send, address))
			continue;
		if (found)
			return NULL;
		found = one->send;
	}
	return found && lists_all(inbox, source) ? found : NULL;
}

struct way *matcher_fetched(struct matcher *matcher, const struct transfer *transfer)
{
	struct op *op = transfer->op, *send;
	struct way *way;
	bool traced;

	if (!op || op->site->op != OP_AM_RECV_DATA || transfer->site->verb != VERB_GET ||
	    matched_way(op) || !transfer->ep ||
	    !decoder_peer(matcher->decoder, transfer->ep, &traced))
		return NULL;
	send = offered_at(inbox_of(matcher, op->process, op->object), transfer->ep->peer_process,
			  transfer->raddr);
	if (!send)
		return NULL;
	offer_forget(send->match);
	way = send->match->way;
	match_op_of(matcher, op)->way =
		way_new(&matcher->free_ways, way->memory ? &op->memory : NULL);
	return way;
}
