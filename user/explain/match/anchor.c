// SPDX-License-Identifier: BSD-3-Clause
/*
 * A message with an id of its own fixes where a link's two ends stand: before it, order counts
 * backwards; after it, forwards.
 */
#include "explain/match/internal.h"

static bool blind(const struct process *process, uint64_t ts)
{
	return process->blind_until && ts <= process->blind_until;
}

/* The last arrival in the bucket before a position. */
static struct arrival *last_before(const struct bucket *bucket, uint64_t pos)
{
	struct arrival *arrival = bucket->last_arrival;

	while (arrival && arrival->pos >= pos)
		arrival = arrival->prev;
	return arrival;
}

/* Joins one send before the anchor with the last arrival that can be its own. */
static bool align(struct matcher *matcher, struct sent *sent, uint64_t pos)
{
	struct arrival *arrival;

	if (!sent->bucket || sent->bucket->many || blind(sent->link->process, sent->ts))
		return false;
	arrival = last_before(sent->bucket, pos);
	if (!arrival || arrival->length != sent->length || socket_differs(sent, arrival) ||
	    stale(sent, arrival) || blind(arrival->inbox->process, arrival->ts))
		return false;
	join(matcher, sent, arrival);
	return true;
}

static const char *reason_before(const struct link *link)
{
	if (link->synced)
		return "arrival not seen";
	return link->anchor_sent ? "lost records" : "before first anchor";
}

void anchor(struct matcher *matcher, struct sent *sent, struct arrival *arrival)
{
	struct link *link = sent->link;
	struct sent *before = sent->before, *next;
	bool aligned = true;

	link_learn(matcher, link, arrival->inbox);
	for (; before; before = next) {
		next = before->before;
		if (class_is_exact(before->class)) {
			sent_give_up(matcher, before, reason_before(link));
			continue;
		}
		if (aligned && align(matcher, before, arrival->pos))
			continue;
		aligned = false;
		sent_give_up(matcher, before, reason_before(link));
	}
	link->anchor_sent = sent->pos;
	link->anchor_arrival = arrival->pos;
	if (link->synced || blind(link->process, sent->ts) ||
	    blind(arrival->inbox->process, arrival->ts))
		return;
	link_sync(matcher, link);
	link_remove(sent);
	link_pair(matcher, link);
}

bool anchor_in_place(struct matcher *matcher, struct sent *sent, struct arrival *arrival)
{
	struct link *link = sent ? sent->link : NULL;

	if (!sent || !arrival || sent->class != arrival->class || sent->key != arrival->key ||
	    sent->length != arrival->length || (link->inbox && link->inbox != arrival->inbox) ||
	    before_send(sent, arrival))
		return false;
	link_learn(matcher, link, arrival->inbox);
	bucket_remove_sent(sent);
	bucket_remove_arrival(arrival);
	anchor(matcher, sent, arrival);
	join(matcher, sent, arrival);
	return true;
}
