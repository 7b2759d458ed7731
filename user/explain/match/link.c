// SPDX-License-Identifier: BSD-3-Clause
#include "explain/match/internal.h"

/* Every message of the link, from its first one on, was or will be seen at both ends. */
static bool seen_whole(const struct link *link)
{
	const struct process *src = link->process, *dst = link->inbox->process;
	const struct object *ep = link->ep;
	bool same_clock = src->host == dst->host;

	return (!src->blind_until || (ep->born && ep->from > src->blind_until)) &&
	       (!dst->blind_until || (same_clock && ep->born && ep->from > dst->blind_until));
}

void link_sync(struct matcher *matcher, struct link *link)
{
	link->synced = true;
	if (!link->listed)
		vec_push(&matcher->synced, link);
	link->listed = true;
}

/*
 * Goes over the links that are in order, of all hosts, and those that fell out of it since the last
 * gap: a large job has many more.
 */
void links_unsync(struct matcher *matcher, int host)
{
	size_t kept = 0;

	for (size_t i = 0; i < matcher->synced.len; i++) {
		struct link *link = matcher->synced.data[i];

		if (link->process->host == host || link->inbox->process->host == host)
			link->synced = false;
		link->listed = link->synced;
		if (link->listed)
			matcher->synced.data[kept++] = link;
	}
	matcher->synced.len = kept;
}

static void link_find_inbox(struct matcher *matcher, struct link *link)
{
	bool traced;

	if (link->inbox)
		return;
	link->untraced = !decoder_peer(matcher->decoder, link->ep, &traced) && !traced;
	if (!link->ep->peer)
		return;
	link_learn(matcher, link,
		   inbox_of(matcher, link->ep->peer->process, link->ep->peer->address));
	if (!seen_whole(link))
		return;
	link_sync(matcher, link);
	link_pair(matcher, link);
}

struct link *link_of(struct matcher *matcher, struct object *ep)
{
	struct link *link = ep->link;

	if (!link) {
		link = calloc(1, sizeof(*link));
		if (!link)
			abort();
		link->ep = ep;
		link->process = ep->process;
		ep->link = link;
		vec_push(&matcher->links, link);
	}
	link_find_inbox(matcher, link);
	return link;
}

bool link_ends(const struct link *link)
{
	return link->process->ending || (link->inbox && link->inbox->process->ending);
}

void link_append(struct link *link, struct sent *sent)
{
	sent->link = link;
	sent->pos = ++link->sends;
	sent->before = link->last;
	if (link->last)
		link->last->after = sent;
	else
		link->first = sent;
	link->last = sent;
}

void link_remove(struct sent *sent)
{
	struct link *link = sent->link;

	if (link->first != sent && !sent->before)
		return;
	*(sent->before ? &sent->before->after : &link->first) = sent->after;
	*(sent->after ? &sent->after->before : &link->last) = sent->before;
	sent->before = sent->after = NULL;
}

void link_pair(struct matcher *matcher, struct link *link)
{
	struct sent *sent;

	while ((sent = link->first) && sent->bucket && !class_is_exact(sent->class)) {
		bucket_pair(matcher, sent->bucket);
		if (link->first == sent)
			return;
	}
}

void link_learn(struct matcher *matcher, struct link *link, struct inbox *inbox)
{
	if (link->inbox)
		return;
	link->inbox = inbox;
	for (struct sent *sent = link->first; sent; sent = sent->after)
		if (!sent->bucket)
			bucket_add_sent(bucket_of(matcher, sent->key, sent->class, inbox), sent);
}
