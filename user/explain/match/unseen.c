// SPDX-License-Identifier: BSD-3-Clause
/*
 * Arrivals of which a part or nothing at all was seen: a handler's probe may be missed, its header
 * lie in a page that the receiver has not touched yet. Order says which messages they were.
 */
#include "explain/match/internal.h"

/* What a receive took, as far as it is known. */
struct wanted {
	uint64_t tag, mask;
	uint64_t bytes; /* UINT64_MAX unknown */
};

static struct sent *first_wanted(const struct link *link, const struct wanted *wanted)
{
	struct sent *sent = link->first;

	while (sent && (((sent->tag ^ wanted->tag) & wanted->mask) || sent->active))
		sent = sent->after;
	return sent;
}

/* The one message that may have come to an inbox unseen; NULL if there are several, or none. */
static struct sent *find_unseen(const struct matcher *matcher, const struct inbox *inbox,
				const struct wanted *wanted)
{
	struct sent *found = NULL;

	for (size_t i = 0; i < matcher->links.len; i++) {
		const struct link *link = matcher->links.data[i];
		struct sent *sent;

		if (link->inbox != inbox || !link->synced)
			continue;
		sent = first_wanted(link, wanted);
		if (sent && found)
			return NULL;
		found = sent ? sent : found;
	}
	if (!found || (wanted->bytes != UINT64_MAX && wanted->bytes != found->bytes))
		return NULL;
	return found;
}

/*
 * A receive got what no arrival was seen of. Messages of one tag are received in the order they
 * were sent, so it is the next one in order.
 */
void infer(struct matcher *matcher, struct receive *receive)
{
	const struct op *op = receive->op;
	struct wanted wanted = { op->tag, op->mask, UINT64_MAX };
	struct arrival *arrival;
	struct sent *sent;

	if (op->info)
		wanted = (struct wanted){ op->info_tag, UINT64_MAX, op->info_len };
	sent = find_unseen(matcher, receive->inbox, &wanted);
	if (!sent || !inbox_sure(receive->inbox, sent->tag))
		return;
	arrival = arrival_new(matcher);
	arrival->inbox = receive->inbox;
	arrival->class = sent->class;
	arrival->pos = receive->inbox->arrivals;
	arrival->ts = receive->op->start;
	arrival->tag = sent->tag;
	arrival->bytes = sent->bytes;
	bind(matcher, receive, arrival);
	join(matcher, sent, arrival);
}

/* All messages of an inbox come from the fronts of its links, if none of those was lost. */
const struct sent *headless(const struct matcher *matcher, const struct inbox *inbox, uint8_t am_id,
			    uint64_t length)
{
	const struct sent *found = NULL;

	for (size_t i = 0; i < matcher->links.len; i++) {
		const struct link *link = matcher->links.data[i];
		const struct sent *sent = link->inbox == inbox ? link->first : NULL;

		if (!sent)
			continue;
		if (!link->synced)
			return NULL;
		if (sent->am_id != am_id)
			continue;
		if (!class_is_exact(sent->class) && sent->length != length)
			continue;
		if (found)
			return NULL;
		found = sent;
	}
	return found;
}
