// SPDX-License-Identifier: BSD-3-Clause
/* What is left when there are no more records. */
#include "match/internal.h"

#include <string.h>

void matcher_finishing(struct matcher *matcher)
{
	matcher->finishing = true;
}

static const char *send_reason(const struct sent *sent)
{
	const struct link *link = sent->link;

	if (!link->inbox)
		return "peer not known";
	if (!link->synced)
		return link->anchor_sent ? "lost records" : "before first anchor";
	return "in flight at end";
}

static void links_finish(struct matcher *matcher)
{
	for (size_t i = 0; i < matcher->links.len; i++) {
		struct link *link = matcher->links.data[i];

		while (link->first)
			sent_give_up(matcher, link->first, send_reason(link->first));
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

static void buckets_finish(struct matcher *matcher)
{
	for (size_t i = 0; i < matcher->all_buckets.len; i++) {
		struct bucket *bucket = matcher->all_buckets.data[i];

		while (bucket->arrivals)
			arrival_give_up(matcher, bucket->arrivals,
					arrival_reason(bucket->arrivals));
	}
}

/* Sends that arrived and were never received. */
static void inboxes_finish(struct matcher *matcher)
{
	for (size_t i = 0; i < matcher->all_inboxes.len; i++) {
		struct inbox *inbox = matcher->all_inboxes.data[i];
		struct map_slot *slot;
		size_t pos = 0;

		inbox_settle(matcher, inbox);
		inbox_catch_up(matcher, inbox, UINT64_MAX);
		while ((slot = map_next(&inbox->handles, &pos)))
			unexpected_add((struct arrival *)(uintptr_t)slot->value);
		while (inbox->unexpected) {
			struct arrival *arrival = inbox->unexpected;

			unexpected_remove(arrival);
			if (!arrival->sent)
				continue;
			if (arrival->sent->counted)
				reason_add(matcher->unmatched_sends, "arrived, not received", 1);
			sent_free(matcher, arrival->sent);
			arrival->sent = NULL;
			arrival_give_up(matcher, arrival, "");
		}
	}
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
	align_links(matcher);
	inboxes_finish(matcher);
	links_finish(matcher);
	buckets_finish(matcher);
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
	vec_release(&matcher->all_buckets);
	vec_release(&matcher->all_inboxes);
	map_release(&matcher->streams);
	map_release(&matcher->buckets);
	map_release(&matcher->inboxes);
	free(matcher);
}
