// SPDX-License-Identifier: BSD-3-Clause
/* Which send an arrival is of: by an id, or by the order on a link. */
#include "explain/match/internal.h"

#include "base/alloc.h"

const char lost_records[] = "lost records";
const char one_of_several[] = "one of several senders";
const char order_not_known[] = "order not known";

const char *order_lost(const struct link *link)
{
	return link->lost ? link->lost : "before first anchor";
}

bool class_is_exact(enum message_class class)
{
	return class == CLASS_MULTI || class == CLASS_REQUEST;
}

struct bucket *bucket_of(struct matcher *matcher, uint64_t key, enum message_class class,
			 const struct inbox *inbox)
{
	uint64_t second = (uint64_t)(inbox ? inbox->id + 1 : 0) << 8 | class;
	bool fresh;
	uint64_t *slot = map_insert(&matcher->buckets, key, second, &fresh);
	struct bucket *bucket;

	if (fresh) {
		bucket = xcalloc(1, sizeof(*bucket));
		*slot = (uintptr_t)bucket;
		vec_push(&matcher->all_buckets, bucket);
	}
	return (struct bucket *)(uintptr_t)*slot;
}

void bucket_remove_sent(struct sent *sent)
{
	struct bucket *bucket = sent->bucket;

	if (!bucket)
		return;
	*(sent->prev ? &sent->prev->next : &bucket->sents) = sent->next;
	*(sent->next ? &sent->next->prev : &bucket->last_sent) = sent->prev;
	sent->prev = sent->next = NULL;
	sent->bucket = NULL;
}

void bucket_remove_arrival(struct arrival *arrival)
{
	struct bucket *bucket = arrival->bucket;

	if (!arrival->waits)
		return;
	*(arrival->prev ? &arrival->prev->next : &bucket->arrivals) = arrival->next;
	*(arrival->next ? &arrival->next->prev : &bucket->last_arrival) = arrival->prev;
	arrival->prev = arrival->next = NULL;
	arrival->waits = false;
	socket_forget_arrival(arrival);
}

void bucket_add_sent(struct bucket *bucket, struct sent *sent)
{
	sent->bucket = bucket;
	sent->prev = bucket->last_sent;
	*(sent->prev ? &sent->prev->next : &bucket->sents) = sent;
	bucket->last_sent = sent;
	if (bucket->only && bucket->only != sent->link)
		bucket->many = true;
	bucket->only = sent->link;
}

void bucket_add_arrival(struct bucket *bucket, struct arrival *arrival)
{
	arrival->bucket = bucket;
	arrival->waits = true;
	arrival->prev = bucket->last_arrival;
	*(arrival->prev ? &arrival->prev->next : &bucket->arrivals) = arrival;
	bucket->last_arrival = arrival;
}

void join(struct matcher *matcher, struct sent *sent, struct arrival *arrival)
{
	if (arrival->inbox->inlined.sent == sent)
		arrival->inbox->inlined.sent = NULL;
	fifo_forget(sent);
	socket_forget_sent(sent);
	bucket_remove_sent(sent);
	link_remove(sent);
	bucket_remove_arrival(arrival);
	arrival->sent = sent;
	if (sent->active && arrival->rts && arrival->state == RECEIVE_WAIT) {
		unexpected_remove(arrival);
		if (arrival->inbox->current == arrival)
			arrival->inbox->current = NULL;
		arrival->state = RECEIVE_IS_ARRIVAL;
		arrival->recv_op = "am_recv";
		arrival->recv_start = arrival->ts;
		arrival->recv_tid = arrival->tid;
		matcher->receives++;
		offer_add(arrival->inbox, sent->from);
	}
	message_settle(matcher, arrival);
}

bool is_of_one(const struct sent *sent)
{
	const struct link *link = sent->link;

	return sent->senders == TAG_OF_ONE ||
	       (sent->senders == TAG_OF_ONE_AT_A_TIME && link->inbox &&
		link->inbox->process->host == link->process->host);
}

bool in_order(const struct sent *sent)
{
	const struct link *link = sent->link;

	if (link->synced)
		return true;
	/* the message of another link, unseen or given up, may come before it */
	if (sent->bucket && sent->bucket->many)
		return false;
	return sent->pos <= link->kept || (link->complete && is_of_one(sent));
}

/* All that was sent before it on its endpoint has arrived: it may be the next. */
static bool is_next(const struct sent *sent)
{
	return in_order(sent) && sent == sent->link->first && !sent->inlined;
}

bool before_send(const struct sent *sent, const struct arrival *arrival)
{
	return sent->link->process->host == arrival->inbox->process->host && arrival->ts < sent->ts;
}

bool may_be_of(const struct sent *sent, const struct arrival *arrival)
{
	bool same_host = sent->link->process->host == arrival->inbox->process->host;

	/* two positions of one message would have been found to be the same */
	return !same_host ||
	       (arrival->ts >= sent->ts && !(arrival->placed && (sent->fifo || sent->sockets)));
}

bool arrival_given_up(const struct sent *sent)
{
	const struct process *src = sent->link->process, *dst = sent->link->inbox->process;
	uint64_t given_up =
		sent->bucket && !class_is_exact(sent->class) ? sent->bucket->given_up : 0;

	return given_up && (src->host != dst->host || given_up >= sent->ts);
}

bool arrival_may_be_lost(const struct sent *sent)
{
	const struct process *process = sent->link->inbox->process;

	return sent->link->process->host == process->host ? process->missing_until > sent->ts
							  : process->missing_until > 0;
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

static bool looks_alike(const struct sent *sent, const struct arrival *arrival)
{
	return sent->length == arrival->length && !stale(sent, arrival) &&
	       !places_differ(sent, arrival);
}

/* An earlier arrival, of which it is not known yet whose it is, may be this next send's. */
static bool came_before(const struct sent *sent, const struct arrival *arrival)
{
	const struct arrival *earlier = arrival->prev;

	while (earlier && !looks_alike(sent, earlier))
		earlier = earlier->prev;
	return earlier;
}

/* Whether the first message of its link had not arrived by then, so that this one had not either.
 */
static bool waits_for_first(const struct sent *sent, const struct arrival *then)
{
	const struct sent *first = sent->link->first;
	const struct arrival *arrival = first->bucket ? first->bucket->arrivals : NULL;

	while (arrival && arrival->pos < then->pos && !looks_alike(first, arrival))
		arrival = arrival->next;
	return !arrival || arrival->pos >= then->pos;
}

/* The arrival of the link's first message may have been joined with another one. */
static bool is_behind_ambiguous(const struct sent *sent)
{
	return sent != sent->link->first && sent->link->first->ambiguous;
}

/*
 * Several endpoints carry this key: the sender is one whose next message looks like the arrival.
 * Where that is true of several, all of them are marked, and never matched as if it were known.
 */
static struct sent *choose(struct bucket *bucket, struct arrival *arrival)
{
	struct sent *found = NULL;
	unsigned int candidates = 0;
	bool placed = arrival->placed;

	for (struct sent *sent = bucket->sents; sent; sent = sent->next) {
		if (!looks_alike(sent, arrival)) {
			if (sent->ambiguous && sent->length == arrival->length &&
			    !stale(sent, arrival))
				return NULL;
			continue;
		}
		if (!in_order(sent) || sent->maybe_gone)
			return NULL; /* it may be the one, until its link is in order */
		if (!is_next(sent)) {
			if (!waits_for_first(sent, arrival))
				return NULL;
			candidates += is_behind_ambiguous(sent);
			continue;
		}
		if (came_before(sent, arrival))
			return NULL;
		candidates++;
		found = found ? found : sent;
		placed = placed || sent->fifo || sent->sockets;
	}
	if (candidates < 2)
		return found;
	if (placed || !found)
		return NULL;
	arrival->ambiguous = true;
	for (struct sent *sent = bucket->sents; sent; sent = sent->next)
		if ((is_next(sent) || is_behind_ambiguous(sent)) &&
		    sent->length == arrival->length && !places_differ(sent, arrival))
			sent->ambiguous = true;
	return found;
}

/*
 * In a FIFO, unseen sends of others come behind the sends done before them: the first arrival of
 * its kind belongs to the first send.
 */
static bool in_order_there(const struct sent *sent, const struct arrival *arrival)
{
	return sent->pos <= sent->link->kept_in_fifo && sent->done < sent->link->lost_from &&
	       arrival->fifo && arrival->fifo == sent->into;
}

/* The next pair of a bucket that one endpoint alone fills. */
static bool pair_in_order(struct matcher *matcher, struct bucket *bucket)
{
	struct sent *sent = bucket->sents;
	struct arrival *arrival = bucket->arrivals;

	if (!in_order(sent) && !in_order_there(sent, arrival))
		return false;
	if (stale(sent, arrival)) {
		arrival_give_up(matcher, arrival, "before first anchor");
		return true;
	}
	if (sent->length != arrival->length || places_differ(sent, arrival) || sent->maybe_gone) {
		link_unsync(sent->link, order_not_known);
		return false;
	}
	join(matcher, sent, arrival);
	return true;
}

#define LOOK_AHEAD 256 /* arrivals behind those of which it is not known whose they are */

static bool pair_by_next(struct matcher *matcher, struct bucket *bucket)
{
	struct arrival *arrival = bucket->arrivals;

	for (int i = 0; arrival && i < LOOK_AHEAD; i++, arrival = arrival->next) {
		struct sent *sent = choose(bucket, arrival);

		if (!sent)
			continue;
		join(matcher, sent, arrival);
		return true;
	}
	return false;
}

/* The arrivals of all hidden sends lie before an anchor: whose they are is not known. */
static void bucket_show(struct matcher *matcher, struct bucket *bucket)
{
	struct arrival *arrival = bucket->arrivals, *next;
	uint64_t shown = arrival->inbox->shown;

	for (; arrival && arrival->pos < shown; arrival = next) {
		next = arrival->next;
		for (struct sent *sent = bucket->sents; sent; sent = sent->next)
			if (sent->link->synced && looks_alike(sent, arrival))
				link_unsync(sent->link, bucket->hidden);
		arrival_give_up(matcher, arrival, bucket->hidden);
	}
	bucket->hidden = NULL;
}

void bucket_pair(struct matcher *matcher, struct bucket *bucket)
{
	bool more = true;

	if (bucket->hidden && bucket->arrivals && !bucket->arrivals->inbox->hidden)
		bucket_show(matcher, bucket);
	while (!bucket->hidden && more && bucket->sents && bucket->arrivals)
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

/* The links that one of the arrivals that were given up may be of, by the last one of its kind. */
static void others_doubt(const struct sent *given_up, const struct arrival *last, const char *why)
{
	for (struct sent *sent = given_up->bucket->sents; sent; sent = sent->next)
		if (sent->link->synced && sent->link != given_up->link &&
		    sent->length == last->length && may_be_of(sent, last))
			link_unsync(sent->link, why);
}

/*
 * The arrival of an ambiguous send may have been joined with the send of another link, whose own
 * arrival is to come until that link's next anchor.
 */
static void partners_doubt(struct matcher *matcher, const struct sent *given_up, const char *why)
{
	struct inbox *inbox = given_up->link->inbox;

	given_up->bucket->hidden = why;
	for (size_t i = 0; i < matcher->synced.len; i++) {
		struct link *link = matcher->synced.data[i];

		if (link == given_up->link || link->inbox != inbox || !link->synced)
			continue;
		link_unsync(link, why);
		inbox->hidden += !link->hides;
		link->hides = true;
	}
}

void bucket_doubt(struct matcher *matcher, const struct sent *given_up, uint64_t pos)
{
	struct arrival *arrival = given_up->bucket->arrivals, *next;
	struct arrival last[2] = { 0 }; /* copies, [1]: of those with a position */
	const char *why = given_up->link->lost ? given_up->link->lost : one_of_several;

	if (given_up->ambiguous)
		partners_doubt(matcher, given_up, why);
	for (; arrival && arrival->pos < pos; arrival = next) {
		next = arrival->next;
		if (arrival->length != given_up->length || !may_be_of(given_up, arrival))
			continue;
		last[arrival->placed] = *arrival;
		arrival_give_up(matcher, arrival, why);
	}
	for (int i = 0; i < 2; i++)
		if (last[i].inbox)
			others_doubt(given_up, &last[i], why);
}

/* The endpoint has had no message before that time; 0: nothing was unseen. */
static bool made_after(const struct object *ep, uint64_t unseen_until)
{
	return !unseen_until || (ep->born && ep->from > unseen_until);
}

/* Every message that its own two processes made, likewise. */
static bool seen_alone(const struct link *link)
{
	const struct process *src = link->process, *dst = link->inbox->process;

	return made_after(link->ep, src->missing_until) &&
	       (src->host == dst->host ? made_after(link->ep, dst->missing_until)
				       : !dst->missing_until);
}

/* Every message of the link, from its first one on, was or will be seen at both ends. */
static bool seen_whole(const struct link *link)
{
	const struct process *src = link->process, *dst = link->inbox->process;
	uint64_t unseen_until = link->inbox->unseen_until;

	if (unseen_until < dst->blind_until)
		unseen_until = dst->blind_until;
	return made_after(link->ep, src->blind_until) &&
	       (src->host == dst->host ? made_after(link->ep, unseen_until) : !unseen_until);
}

void link_shows(struct link *link)
{
	if (link->hides)
		link->inbox->hidden--;
	link->hides = false;
}

void link_complete(struct matcher *matcher, struct link *link)
{
	link->complete = true;
	if (!link->listed)
		vec_push(&matcher->synced, link);
	link->listed = true;
}

void link_sync(struct matcher *matcher, struct link *link)
{
	link->synced = true;
	link->lost = NULL;
	link_shows(link);
	link_complete(matcher, link);
}

void link_unsync(struct link *link, const char *why)
{
	if (link->synced || link->complete)
		link->lost = why;
	link->synced = link->complete = false;
	link->kept = link->kept_in_fifo = 0;
}

/*
 * The owner's unseen messages come after all that it has sent on the same endpoint, and it has no
 * other one to that inbox: the next messages of the link are the ones under way.
 */
static bool keeps_order(struct matcher *matcher, const struct link *link,
			const struct process *owner)
{
	const uint64_t *ways = map_find(&matcher->ways, link->process->id, link->inbox->id);

	return link->process == owner && ways && *ways == 1;
}

/* Records of a process that is at neither end are missing. */
static void link_unsure(struct link *link, const struct process *owner, const char *why)
{
	const bool complete =
		link->complete && owner && owner != link->process && owner != link->inbox->process;

	link_unsync(link, why);
	link->complete = complete;
}

static void link_gap(struct matcher *matcher, struct link *link, const struct process *owner,
		     uint64_t from, const char *why)
{
	uint64_t kept = link->synced ? link->sends : link->kept;
	uint64_t kept_in_fifo = link->synced ? link->sends : link->kept_in_fifo;

	if (link->synced)
		link->lost_from = from;
	link_unsure(link, owner, why);
	if (!link->first || !owner || owner == link->inbox->process)
		return;
	if (keeps_order(matcher, link, owner) && link->first->pos <= kept)
		link->kept = kept;
	if (link->first->pos <= kept_in_fifo)
		link->kept_in_fifo = kept_in_fifo;
}

/* Whether a process has an endpoint there; NULL: any may. */
static bool reaches(struct matcher *matcher, const struct process *process,
		    const struct inbox *inbox)
{
	struct map *ends = &matcher->ends;

	if (!process)
		return true;
	for (; matcher->ends_seen < matcher->decoder->objects.len; matcher->ends_seen++) {
		struct object *ep = matcher->decoder->objects.data[matcher->ends_seen];
		bool traced;

		if (ep->kind == OBJECT_EP && decoder_peer(matcher->decoder, ep, &traced) &&
		    ep->peer)
			map_insert(ends, ep->peer->address,
				   (uint64_t)ep->peer->process->id << 32 | ep->process->id, NULL);
	}
	return map_find(ends, inbox->worker, (uint64_t)inbox->process->id << 32 | process->id);
}

/*
 * Goes over the links that are in order, of all hosts, and those that fell out of it since the last
 * gap: a large job has many more.
 */
void links_unsync(struct matcher *matcher, int host, const struct process *owner, uint64_t from,
		  const char *why)
{
	size_t kept = 0;

	for (size_t i = 0; i < matcher->synced.len; i++) {
		struct link *link = matcher->synced.data[i];

		if (link->process->host == host || link->inbox->process->host == host)
			link_gap(matcher, link, owner, from, why);
		else if (reaches(matcher, owner, link->inbox))
			link_unsure(link, owner, why);
		link->listed = link->complete || link->kept || link->kept_in_fifo;
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
	if (seen_whole(link))
		link_sync(matcher, link);
	else if (seen_alone(link))
		link_complete(matcher, link);
	link_pair(matcher, link);
}

struct link *link_of(struct matcher *matcher, struct object *ep)
{
	struct link *link = ep->link;

	if (!link) {
		link = xcalloc(1, sizeof(*link));
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
	/* an endpoint that was made from a socket's address has no other name of its peer */
	if (!link->ep->peer_process) {
		link->ep->peer_process = inbox->process;
		link->ep->peer = decoder_object(matcher->decoder, inbox->process, OBJECT_WORKER,
						inbox->worker, 0);
		matcher->decoder->peers_learnt++;
	}
	++*map_insert(&matcher->ways, link->process->id, inbox->id, NULL);
	for (struct sent *sent = link->first; sent; sent = sent->after)
		if (!sent->bucket)
			bucket_add_sent(bucket_of(matcher, sent->key, sent->class, inbox), sent);
}
