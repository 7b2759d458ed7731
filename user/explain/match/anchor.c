// SPDX-License-Identifier: BSD-3-Clause
/* Positions of both ends of a link, from which order pairs the messages. */
#include "explain/match/internal.h"

/*
 * A message with an id of its own fixes where a link's two ends stand: before it, order counts
 * backwards; after it, forwards.
 */

static bool process_is_blind(const struct process *process, uint64_t ts)
{
	return process->blind_until && ts <= process->blind_until;
}

/* Whether a process at one of its ends has the gap. */
static bool blind_between(const struct sent *sent, const struct arrival *arrival)
{
	return sent->ts <= sent->link->process->missing_until ||
	       arrival->ts <= arrival->inbox->process->missing_until;
}

/* Messages may have been sent unseen that arrive after this one is sent, or before it arrives. */
static bool blind(const struct sent *sent, const struct arrival *arrival)
{
	const struct process *src = sent->link->process, *dst = arrival->inbox->process;

	return process_is_blind(src, sent->ts) || process_is_blind(dst, arrival->ts) ||
	       (src->host == dst->host ? sent->ts : arrival->ts) <= arrival->inbox->unseen_until;
}

/* The last arrival in the bucket before a position. */
static struct arrival *last_before(const struct bucket *bucket, uint64_t pos)
{
	struct arrival *arrival = bucket->last_arrival;

	while (arrival && arrival->pos >= pos)
		arrival = arrival->prev;
	return arrival;
}

/* The tag may have had an unseen sender since, whose message may be the last one. */
static bool blind_before(const struct sent *sent, const struct arrival *arrival)
{
	return sent->senders == TAG_OF_ONE ? blind_between(sent, arrival) : blind(sent, arrival);
}

/* Joins one send before the anchor with the last arrival that can be its own. */
static bool align(struct matcher *matcher, struct sent *sent, uint64_t pos)
{
	struct arrival *arrival;

	if (!sent->bucket || sent->bucket->many)
		return false;
	arrival = last_before(sent->bucket, pos);
	if (!arrival || arrival->length != sent->length || places_differ(sent, arrival) ||
	    arrival->pos < arrival->inbox->headless || stale(sent, arrival) ||
	    blind_before(sent, arrival))
		return false;
	join(matcher, sent, arrival);
	return true;
}

#define LOOK_BACK 64

/*
 * Overtaken by the anchor, and not known by order. After a loss: if no waiting arrival may be its
 * own, its arrival's record is missing. One that may be is given up as well, unless several links
 * fill the bucket.
 */
static const char *reason_before(struct matcher *matcher, const struct sent *sent, uint64_t pos)
{
	const struct link *link = sent->link;
	struct arrival *arrival = NULL;

	if (!class_is_exact(sent->class) && sent->bucket)
		arrival = last_before(sent->bucket, pos);
	for (int i = 0; arrival && i < LOOK_BACK && !may_be_of(sent, arrival); i++)
		arrival = arrival->prev;
	if (link->synced)
		return sent->ambiguous || (sent->bucket && sent->bucket->many &&
					   (arrival || arrival_given_up(sent)))
			       ? one_of_several
			       : "arrival not seen";
	if (!arrival && arrival_given_up(sent))
		return order_lost(link);
	if (!arrival && (link->anchor_sent || link->lost || arrival_may_be_lost(sent)))
		return "arrival not seen";
	if (link->anchor_sent && !sent->bucket->many)
		arrival_give_up(matcher, arrival, order_lost(link));
	return order_lost(link);
}

static void overtaken(struct matcher *matcher, struct sent *sent, uint64_t pos)
{
	const char *reason = reason_before(matcher, sent, pos);

	if (sent->bucket && sent->bucket->many && !class_is_exact(sent->class))
		bucket_doubt(matcher, sent, pos);
	sent_give_up(matcher, sent, reason);
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
			overtaken(matcher, before, arrival->pos);
			continue;
		}
		if (aligned && align(matcher, before, arrival->pos))
			continue;
		aligned = false;
		overtaken(matcher, before, arrival->pos);
	}
	link->anchor_sent = sent->pos;
	link->anchor_arrival = arrival->pos;
	if (link->synced || blind_between(sent, arrival))
		return;
	if (blind(sent, arrival)) {
		link_complete(matcher, link);
	} else {
		if (link->hides)
			arrival->inbox->shown = arrival->pos;
		link_sync(matcher, link);
	}
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
	if (sent->sockets || arrival->sockets)
		link->connection = 1 + ((sent->sockets ? sent->position : arrival->position) >> 32);
	bucket_remove_sent(sent);
	bucket_remove_arrival(arrival);
	anchor(matcher, sent, arrival);
	join(matcher, sent, arrival);
	return true;
}

/*
 * A late attach to a job that sends nothing but short messages: no message has an id. Both ends of
 * a link are sequences, one shifted against the other by the messages that were under way at the
 * attach. On one clock a message cannot arrive before it was sent, which bounds the shift from
 * below. A larger shift implies that messages lay there while their receiver polled for them. With
 * many such messages it is refuted, and the shift is unique.
 */

#define IDLE_NS 20000 /* polled for so long with nothing recorded: the queue was empty */
#define REFUTATIONS 16
#define MAX_SHIFT 1024 /* messages under way; a shared-memory queue holds a few hundred */

struct ends {
	VEC(struct sent *) sents;
	VEC(struct arrival *) arrivals;
};

static bool can_be_aligned(const struct sent *sent, uint64_t from)
{
	return sent->bucket && !sent->bucket->many && !class_is_exact(sent->class) &&
	       !sent->inlined && sent->ts > from;
}

static int by_pos(const void *left, const void *right)
{
	const struct arrival *a = *(struct arrival *const *)left;
	const struct arrival *b = *(struct arrival *const *)right;

	return a->pos < b->pos ? -1 : a->pos > b->pos;
}

static void anchor_collect(struct ends *ends, const struct link *link, uint64_t from)
{
	struct map seen = { 0 };

	for (struct sent *sent = link->first; sent; sent = sent->after) {
		bool fresh;

		if (!can_be_aligned(sent, from))
			continue;
		vec_push(&ends->sents, sent);
		map_insert(&seen, (uintptr_t)sent->bucket, 0, &fresh);
		if (!fresh)
			continue;
		for (struct arrival *a = sent->bucket->arrivals; a; a = a->next)
			if (a->ts > from)
				vec_push(&ends->arrivals, a);
	}
	map_release(&seen);
	if (ends->arrivals.len)
		qsort(ends->arrivals.data, ends->arrivals.len, sizeof(*ends->arrivals.data),
		      by_pos);
}

/* Whether every arrival from the shift on can be of its send. */
static bool fits(const struct ends *ends, size_t shift)
{
	if (ends->arrivals.len <= shift || ends->arrivals.len - shift > ends->sents.len)
		return false;
	for (size_t i = shift; i < ends->arrivals.len; i++) {
		const struct arrival *arrival = ends->arrivals.data[i];
		const struct sent *sent = ends->sents.data[i - shift];

		if (sent->bucket != arrival->bucket || sent->length != arrival->length ||
		    sent->ts >= arrival->ts)
			return false;
	}
	return true;
}

/* Arrivals whose receiver had been polling since after their send was done. */
static unsigned int refutations(const struct ends *ends, size_t shift)
{
	unsigned int count = 0;

	for (size_t i = shift; i < ends->arrivals.len; i++) {
		const struct arrival *arrival = ends->arrivals.data[i];

		if (arrival->idle_since && arrival->ts - arrival->idle_since > IDLE_NS &&
		    ends->sents.data[i - shift]->done < arrival->idle_since)
			count++;
	}
	return count;
}

/*
 * Returns the one shift that fits, where all larger ones are excluded: refuted (what refutes a
 * shift refutes those beyond it), or not fitting over enough messages. -1: none, or not only one.
 */
static long unique_shift(const struct ends *ends)
{
	long found = -1;

	for (size_t shift = 0; shift < MAX_SHIFT; shift++) {
		if (ends->arrivals.len < shift + REFUTATIONS)
			return -1;
		if (!fits(ends, shift))
			continue;
		if (refutations(ends, shift) >= REFUTATIONS)
			return found;
		if (found >= 0)
			return -1;
		found = (long)shift;
	}
	return found;
}

static bool align_from(struct matcher *matcher, struct link *link, uint64_t from)
{
	struct ends ends = { 0 };
	long shift;

	anchor_collect(&ends, link, from);
	shift = unique_shift(&ends);
	for (size_t i = shift; shift >= 0 && i < ends.arrivals.len; i++)
		join(matcher, ends.sents.data[i - (size_t)shift], ends.arrivals.data[i]);
	vec_release(&ends.sents);
	vec_release(&ends.arrivals);
	return shift >= 0;
}

/* Probes are placed one after the other at an attach: if the first events do not fit, try later
 * ones. */
static const uint64_t settling_ns[] = { 0, 20000000, 100000000, 500000000 };

static void align_link(struct matcher *matcher, struct link *link)
{
	uint64_t src = link->process->blind_until, dst = link->inbox->process->blind_until;
	uint64_t from = src > dst ? src : dst;

	for (size_t i = 0; i < sizeof(settling_ns) / sizeof(*settling_ns); i++)
		if (align_from(matcher, link, from + settling_ns[i]))
			return;
}

void align_links(struct matcher *matcher)
{
	for (size_t i = 0; i < matcher->links.len; i++) {
		struct link *link = matcher->links.data[i];

		if (link_ends(link) && link->first && link->inbox && !link->synced &&
		    !link->anchor_sent && !link->inbox->headless &&
		    link->inbox->process->host == link->process->host)
			align_link(matcher, link);
	}
}
