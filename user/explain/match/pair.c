// SPDX-License-Identifier: BSD-3-Clause
/* Which send an arrival is of: by the order on a link, by an id. */
#include "explain/match/internal.h"

/* All that was sent before it on its endpoint has arrived: it may be the next. */
static bool is_next(const struct sent *sent)
{
	return sent->link->synced && sent == sent->link->first && !sent->inlined;
}

bool before_send(const struct sent *sent, const struct arrival *arrival)
{
	return sent->link->process->host == arrival->inbox->process->host && arrival->ts < sent->ts;
}

/*
 * An arrival that cannot be of this send: from before the link's last anchor while the send is
 * after it, or, on one clock, from before the send.
 */
bool stale(const struct sent *sent, const struct arrival *arrival)
{
	const struct link *link = sent->link;

	if (before_send(sent, arrival))
		return true;
	return link->anchor_sent && sent->pos > link->anchor_sent &&
	       arrival->pos < link->anchor_arrival;
}

/*
 * Several endpoints carry this key: the sender is one whose next message looks like the arrival.
 * Where that is true of several, all of them are marked, and never matched as if it were known.
 */
static struct sent *choose(struct bucket *bucket, struct arrival *arrival)
{
	struct sent *found = NULL;
	unsigned int candidates = 0;

	for (struct sent *sent = bucket->sents; sent; sent = sent->next) {
		if (sent->length != arrival->length || stale(sent, arrival))
			continue;
		if (!sent->link->synced)
			return NULL; /* it may be the one, until its link is in order */
		if (!is_next(sent))
			continue;
		if (!candidates++)
			found = sent;
	}
	if (candidates < 2)
		return found;
	arrival->ambiguous = true;
	for (struct sent *sent = bucket->sents; sent; sent = sent->next)
		if (is_next(sent) && sent->length == arrival->length)
			sent->ambiguous = true;
	return found;
}

/* The next pair of a bucket that one endpoint alone fills. */
static bool pair_in_order(struct matcher *matcher, struct bucket *bucket)
{
	struct sent *sent = bucket->sents;
	struct arrival *arrival = bucket->arrivals;

	if (!sent->link->synced)
		return false;
	if (stale(sent, arrival)) {
		arrival_give_up(matcher, arrival, "before first anchor");
		return true;
	}
	if (sent->length != arrival->length || socket_differs(sent, arrival)) {
		sent->link->synced = false;
		return false;
	}
	join(matcher, sent, arrival);
	return true;
}

static bool pair_by_next(struct matcher *matcher, struct bucket *bucket)
{
	for (struct arrival *arrival = bucket->arrivals; arrival; arrival = arrival->next) {
		struct sent *sent = choose(bucket, arrival);

		if (!sent)
			continue;
		join(matcher, sent, arrival);
		return true;
	}
	return false;
}

void bucket_pair(struct matcher *matcher, struct bucket *bucket)
{
	bool more = true;

	while (more && bucket->sents && bucket->arrivals)
		more = bucket->many ? pair_by_next(matcher, bucket)
				    : pair_in_order(matcher, bucket);
}

/*
 * What both ends say about themselves must agree; what one end does not know does not count. The
 * id is a request's address, and names one message after the other: one that was sent unseen may
 * lie there when the next one is sent.
 */
static bool agree(const struct sent *sent, const struct arrival *arrival)
{
	const struct link *link = sent->link;

	if (before_send(sent, arrival))
		return false;
	if (sent->tag != arrival->tag && !sent->active)
		return false;
	if (arrival->source && arrival->source != link->process)
		return false;
	if (link->inbox && link->inbox != arrival->inbox)
		return false;
	return !sent->length || !arrival->length || sent->length == arrival->length;
}

/* The oldest send that agrees. One address may be a request in several processes. */
static struct sent *find_exact(struct bucket *bucket, struct arrival *arrival)
{
	struct sent *found = NULL;

	for (struct sent *sent = bucket->sents; sent; sent = sent->next) {
		if (!agree(sent, arrival))
			continue;
		if (!found)
			found = sent;
		else if (found->link != sent->link)
			found->ambiguous = sent->ambiguous = true;
	}
	return found;
}

void bucket_pair_exact(struct matcher *matcher, struct bucket *bucket)
{
	struct arrival *arrival = bucket->arrivals;

	while (arrival && bucket->sents) {
		struct sent *sent = find_exact(bucket, arrival);
		struct arrival *next = arrival->next;

		if (sent) {
			if (!sent->ambiguous)
				anchor(matcher, sent, arrival);
			join(matcher, sent, arrival);
		}
		arrival = next;
	}
}
