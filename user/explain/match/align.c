// SPDX-License-Identifier: BSD-3-Clause
/*
 * A late attach to a job that sends nothing but short messages: no message has an id. Both ends of
 * a link are sequences, one shifted against the other by the messages that were under way at the
 * attach. On one clock a message cannot arrive before it was sent, which bounds the shift from
 * below. A larger shift says that messages lay there while their receiver polled for them: once
 * that is said of many, it is refuted, and the shift is unique.
 */
#include "explain/match/internal.h"

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

static void collect(struct ends *ends, const struct link *link, uint64_t from)
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

	collect(&ends, link, from);
	shift = unique_shift(&ends);
	for (size_t i = shift; shift >= 0 && i < ends.arrivals.len; i++)
		join(matcher, ends.sents.data[i - (size_t)shift], ends.arrivals.data[i]);
	vec_release(&ends.sents);
	vec_release(&ends.arrivals);
	return shift >= 0;
}

/* Probes come one after the other at an attach: if what they saw first does not fit, later on. */
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
		    !link->anchor_sent && link->inbox->process->host == link->process->host)
			align_link(matcher, link);
	}
}
