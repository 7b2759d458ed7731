// SPDX-License-Identifier: BSD-3-Clause
/* What is left when there are no more records. */
#include "explain/match/internal.h"

#include <string.h>

void matcher_ending(struct matcher *matcher, const char *reason)
{
	matcher->ending = reason;
}

static const char *send_reason(const struct matcher *matcher, const struct sent *sent)
{
	const struct link *link = sent->link;

	if (!link->inbox)
		return "peer not known";
	if (!link->synced)
		return link->anchor_sent ? "lost records" : "before first anchor";
	return matcher->ending;
}

static void links_cut(struct matcher *matcher)
{
	for (size_t i = 0; i < matcher->links.len; i++) {
		struct link *link = matcher->links.data[i];

		while (link_ends(link) && link->first)
			sent_give_up(matcher, link->first, send_reason(matcher, link->first));
	}
}

/* Where they stand is not known any more. */
static void links_begin_anew(struct matcher *matcher)
{
	for (size_t i = 0; i < matcher->links.len; i++) {
		struct link *link = matcher->links.data[i];

		if (!link_ends(link))
			continue;
		link->synced = false;
		link->anchor_sent = link->anchor_arrival = 0;
	}
}

static const char *arrival_reason(const struct arrival *arrival)
{
	const struct bucket *bucket = arrival->bucket;
	const struct link *link = bucket ? bucket->only : NULL;

	if (link && !link->synced)
		return link->anchor_sent ? "lost records" : "before first anchor";
	return link || arrival->source ? "send not seen" : "sender not known";
}

/* Whoever has the handle of a probe may still ask for it. */
static bool is_with_handle(const struct arrival *arrival)
{
	return arrival->state == RECEIVE_WAIT && !arrival->queued &&
	       arrival->inbox->current != arrival;
}

static bool arrival_ends(const struct arrival *arrival)
{
	return arrival->inbox->process->ending ||
	       (arrival->source && arrival->source->ending && !is_with_handle(arrival));
}

static void buckets_cut(struct matcher *matcher)
{
	for (size_t i = 0; i < matcher->all_buckets.len; i++) {
		struct arrival *arrival = matcher->all_buckets.data[i]->arrivals, *next;

		for (; arrival; arrival = next) {
			next = arrival->next;
			if (arrival_ends(arrival))
				arrival_give_up(matcher, arrival, arrival_reason(arrival));
		}
	}
}

/* Sends that arrived and were never received. */
static void inbox_cut(struct matcher *matcher, struct inbox *inbox)
{
	struct map_slot *slot;
	size_t pos = 0;

	inbox_settle(matcher, inbox);
	inbox_catch_up(matcher, inbox, UINT64_MAX);
	while ((slot = map_next(&inbox->handles, &pos))) {
		struct arrival *arrival = (struct arrival *)(uintptr_t)slot->value;

		arrival->held = false;
		unexpected_add(arrival);
	}
	map_release(&inbox->handles);
	while (inbox->unexpected) {
		struct arrival *arrival = inbox->unexpected;

		unexpected_remove(arrival);
		if (arrival->orphan) {
			arrival_forget(matcher, arrival);
			continue;
		}
		if (!arrival->sent)
			continue;
		if (arrival->sent->counted)
			reason_add(matcher->unmatched_sends, "arrived, not received", 1);
		sent_free(matcher, arrival->sent);
		arrival->sent = NULL;
		arrival_give_up(matcher, arrival, "");
	}
	inbox_lost(matcher, inbox);
}

static void inboxes_cut(struct matcher *matcher)
{
	for (size_t i = 0; i < matcher->all_inboxes.len; i++)
		if (matcher->all_inboxes.data[i]->process->ending)
			inbox_cut(matcher, matcher->all_inboxes.data[i]);
}

void matcher_cut(struct matcher *matcher)
{
	align_links(matcher);
	inboxes_cut(matcher);
	links_cut(matcher);
	buckets_cut(matcher);
	links_begin_anew(matcher);
	matcher->ending = NULL;
}

/*
 * Every send and every receive is in one place. What is in none is this program's own fault, as is
 * what is in two: it is told, never left out.
 */
static void conserve(struct fact_totals *totals, uint64_t all, struct fact_reason *unmatched)
{
	uint64_t sum = totals->matched + totals->ambiguous;

	for (int i = 0; i < FACT_MAX_REASONS; i++)
		sum += unmatched[i].count;
	if (sum < all)
		reason_add(unmatched, "lost track", all - sum);
	if (sum > all)
		reason_add(totals->notes, "sends or receives counted twice", sum - all);
}

void matcher_finish(struct matcher *matcher, struct fact_totals *totals)
{
	totals->sends = matcher->sends;
	totals->receives = matcher->receives;
	totals->matched = matcher->matched;
	totals->ambiguous = matcher->ambiguous;
	memcpy(totals->unmatched_sends, matcher->unmatched_sends, sizeof(totals->unmatched_sends));
	memcpy(totals->unmatched_receives, matcher->unmatched_receives,
	       sizeof(totals->unmatched_receives));
	conserve(totals, totals->sends, totals->unmatched_sends);
	conserve(totals, totals->receives, totals->unmatched_receives);
}

void matcher_free(struct matcher *matcher)
{
	if (!matcher)
		return;
	for (size_t i = 0; i < matcher->links.len; i++)
		free(matcher->links.data[i]);
	for (size_t i = 0; i < matcher->all_buckets.len; i++)
		free(matcher->all_buckets.data[i]);
	for (size_t i = 0; i < matcher->all_inboxes.len; i++) {
		map_release(&matcher->all_inboxes.data[i]->handles);
		map_release(&matcher->all_inboxes.data[i]->sure);
		fifos_release(matcher->all_inboxes.data[i]);
		free(matcher->all_inboxes.data[i]);
	}
	while (matcher->free_sents) {
		struct sent *sent = matcher->free_sents;

		matcher->free_sents = sent->next;
		free(sent);
	}
	while (matcher->free_arrivals) {
		struct arrival *arrival = matcher->free_arrivals;

		matcher->free_arrivals = arrival->next;
		free(arrival);
	}
	vec_release(&matcher->links);
	vec_release(&matcher->synced);
	vec_release(&matcher->all_buckets);
	vec_release(&matcher->all_inboxes);
	map_release(&matcher->streams);
	map_release(&matcher->buckets);
	map_release(&matcher->sockets);
	map_release(&matcher->inboxes);
	free(matcher);
}
