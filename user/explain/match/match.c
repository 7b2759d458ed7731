// SPDX-License-Identifier: BSD-3-Clause
/* The matcher: sends, arrivals and cuts as they come, and its sums at the end. */
#include "explain/match/match.h"

#include <string.h>

#include "base/alloc.h"
#include "base/vec.h"
#include "explain/match/internal.h"

static struct sent *inlined_arrived(const struct inbox *inbox, const struct event *event)
{
	struct sent *sent = inbox->inlined.sent;

	if (!sent || inbox->inlined.tid != event->h->tid || event->h->ts > inbox->inlined.until ||
	    sent->am_id != event->site->am_id)
		return NULL;
	return sent;
}

static uint64_t class_key(enum message_class class, const struct am_header *header)
{
	switch (class) {
	case CLASS_EAGER:
		return header->first;
	case CLASS_MULTI:
		return header->message;
	case CLASS_REQUEST:
		return header->req;
	case CLASS_AM:
	case CLASS_AM_FIRST:
		return header->first & AM_KEY_MASK;
	case CLASS_STREAM:
	case CLASS_NONE:
		break;
	}
	return 0;
}

static void arrival_fill(struct arrival *arrival, uint8_t am_id, const struct ub_rx *rx)
{
	struct am_header header = am_header_read(am_id, rx->w, ARRAY_SIZE(rx->w), rx->length);

	arrival->tag = header.first;
	arrival->key = class_key(arrival->class, &header);
	arrival->bytes = header.total;
	arrival->length = class_is_exact(arrival->class) ? header.total : rx->length;
	arrival->ep_id = class_is_exact(arrival->class) ? header.ep : 0;
	arrival->rts = am_id == AM_RTS;
	arrival->multi = arrival->class == CLASS_MULTI;
}

static void arrival_source(struct matcher *matcher, struct arrival *arrival)
{
	struct object *ep;
	bool traced;

	if (!arrival->ep_id)
		return;
	ep = decoder_object(matcher->decoder, arrival->inbox->process, OBJECT_EP, arrival->ep_id,
			    arrival->ts);
	if (ep && decoder_peer(matcher->decoder, ep, &traced))
		arrival->source = ep->peer_process;
}

/* Fills in what the header would have said; false: it cannot be known. */
static bool arrival_from_sent(struct arrival *arrival, const struct sent *sent, uint64_t length)
{
	if (!sent)
		return false;
	arrival->tag = sent->tag;
	arrival->key = sent->key;
	arrival->bytes = sent->bytes;
	arrival->length = class_is_exact(sent->class) ? sent->length : length;
	arrival->source = sent->link->process;
	arrival->rts = sent->am_id == AM_RTS;
	arrival->multi = sent->class == CLASS_MULTI;
	return true;
}

/* AM and stream data are received by arriving. */
static void received_by_arriving(struct matcher *matcher, struct arrival *arrival)
{
	arrival->state = RECEIVE_IS_ARRIVAL;
	arrival->recv_op = arrival->class == CLASS_STREAM ? "stream_recv" : "am_recv";
	arrival->recv_start = arrival->ts;
	arrival->recv_tid = arrival->tid;
	matcher->receives++;
}

static void current_set(struct matcher *matcher, struct inbox *inbox, struct arrival *arrival)
{
	inbox->current = arrival;
	if (!inbox->handling)
		vec_push(&matcher->handling, inbox);
	inbox->handling = true;
}

void matcher_arrived(struct matcher *matcher, const struct event *event, uint64_t idle_since)
{
	const struct ub_rx *rx = (const struct ub_rx *)event->h;
	enum message_class class = am_class(event->site->am_id);
	struct inbox *inbox = inbox_of(matcher, event->process, rx->worker);
	struct sent *sent, *in_place = rx->h.flags & UB_F_SOCKET ? socket_arrived(matcher, rx)
								 : fifo_arrived(inbox, rx);
	struct arrival *arrival;
	struct bucket *bucket;

	inbox->handlers |= 1u << (event->site->am_id & 31);
	if (class == CLASS_NONE)
		return;
	inbox_settle(matcher, inbox);
	inbox_catch_up(matcher, inbox, event->h->ts);
	arrival = arrival_new(matcher);
	arrival->inbox = inbox;
	arrival->class = class;
	arrival->pos = ++inbox->arrivals;
	arrival->tid = event->h->tid;
	arrival->seq = event->h->seq;
	arrival->call = event->h->call;
	arrival->ts = event->h->ts;
	arrival->idle_since = idle_since;
	arrival->placed = rx->h.flags & (UB_F_FIFO | UB_F_SOCKET);
	arrival->fifo = fifo_of(inbox, rx);
	if (!(event->h->flags & UB_F_READ_FAULT))
		arrival_fill(arrival, event->site->am_id, rx);
	else if (!arrival_from_sent(
			 arrival,
			 in_place ? in_place
				  : headless(matcher, inbox, event->site->am_id, rx->length),
			 rx->length)) {
		headless_unknown(matcher, inbox, event->site->am_id, rx->length);
		return arrival_forget(matcher, arrival);
	}
	arrival_source(matcher, arrival);
	if (class == CLASS_EAGER || class_is_exact(class)) {
		inbox_came(inbox, arrival->tag);
		arrival->doubt = !inbox_sure(inbox, arrival->tag);
	}
	if (class == CLASS_STREAM)
		stream_arrived(matcher, event->process, rx->w[0], arrival->bytes);
	if (class == CLASS_EAGER || class_is_exact(class))
		current_set(matcher, inbox, arrival);
	else
		received_by_arriving(matcher, arrival);
	sent = inlined_arrived(inbox, event);
	if (sent)
		return join(matcher, sent, arrival);
	if (anchor_in_place(matcher, in_place, arrival))
		return;
	bucket = bucket_of(matcher, arrival->key, class, class_is_exact(class) ? NULL : inbox);
	bucket_add_arrival(bucket, arrival);
	socket_await(matcher, arrival, rx);
	if (class_is_exact(class))
		bucket_pair_exact(matcher, bucket);
	else
		bucket_pair(matcher, bucket);
}

/* Endpoints that are older than the trace may have messages under way, to a worker of their host.
 */
static void unseen_find(struct matcher *matcher)
{
	for (size_t i = 0; i < matcher->decoder->objects.len; i++) {
		struct object *ep = matcher->decoder->objects.data[i];
		uint64_t *until, from = ep->process->blind_until;
		bool traced;

		if (ep->kind != OBJECT_EP || !from || (ep->born && ep->from > from) ||
		    !decoder_peer(matcher->decoder, ep, &traced) || !ep->peer ||
		    ep->peer->process->host != ep->process->host)
			continue;
		until = map_insert(&matcher->unseen, ep->peer->address, ep->peer->process->id,
				   NULL);
		if (*until < from)
			*until = from;
	}
}

struct matcher *matcher_new(struct decoder *decoder, struct attribute *attribute,
			    const struct match_sink *sink)
{
	struct matcher *matcher = xcalloc(1, sizeof(*matcher));

	matcher->decoder = decoder;
	matcher->attribute = attribute;
	matcher->sink = *sink;
	for (size_t i = 0; i < decoder->processes.len; i++)
		matcher->gpu = matcher->gpu || decoder->processes.data[i]->gpu_library;
	unseen_find(matcher);
	return matcher;
}

static uint64_t sent_tag(const struct ub_xfer *xfer, const struct op *op)
{
	if (op && op->site->op == OP_TAG_SEND)
		return op->tag;
	if (op && op->site->op == OP_AM_SEND)
		return (op->tag & 0xffff) | op->mask << 32;
	return xfer->w[0];
}

static void sent_key(struct sent *sent, const struct ub_xfer *xfer)
{
	struct am_header header = am_header_read(sent->am_id, xfer->w, ARRAY_SIZE(xfer->w), 0);

	header.first = sent->tag;
	if (!(xfer->h.flags & UB_F_WIRE))
		header.req = xfer->req;
	sent->key = class_key(sent->class, &header);
	if (sent->class == CLASS_MULTI)
		sent->length = header.total;
	else if (sent->class == CLASS_REQUEST)
		sent->length = sent->bytes == UINT64_MAX ? 0 : sent->bytes;
	else
		sent->length = xfer->length;
}

static void sent_fill(struct matcher *matcher, struct sent *sent, const struct ub_xfer *xfer,
		      struct op *op)
{
	sent->ts = xfer->h.ts;
	sent->done = xfer->h.ts + xfer->h.dur;
	sent->am_id = xfer->am_id;
	sent->tag = sent_tag(xfer, op);
	sent->bytes = UINT64_MAX;
	if (op) {
		struct match_op *match = match_op_of(matcher, op);

		op_hold(op);
		sent->from = op;
		sent->counted = match->state == MATCH_NONE;
		sent->active = op->site->op == OP_AM_SEND;
		sent->bytes = op->bytes;
		sent->start = op->start;
		sent->tid = op->tid;
		sent->op_id = op->id;
		sent->function = op->function;
		sent->op = op->site->name;
		sent->protocol = op->protocol;
		sent->senders = op->site->op == OP_TAG_SEND
					? decoder_tag_senders(op->process, op->caller, op->tag)
					: TAG_OF_ANY;
		match->state = MATCH_SENT;
	}
	sent_key(sent, xfer);
}

/* Over "self" the receiver's handler runs inside the transfer: nothing else can arrive meanwhile.
 */
static void inlined_begin(struct matcher *matcher, struct sent *sent, const struct event *event)
{
	const struct ub_xfer *xfer = (const struct ub_xfer *)event->h;
	const struct object *iface = decoder_object(matcher->decoder, event->process, OBJECT_IFACE,
						    xfer->iface, xfer->h.ts);

	struct inbox *inbox = sent->link->inbox;

	if (!inbox || !iface || iface->tl->reach != REACH_SELF)
		return;
	sent->inlined = true;
	inbox->inlined.sent = sent;
	inbox->inlined.tid = xfer->h.tid;
	inbox->inlined.until = xfer->h.ts + xfer->h.dur;
}

/*
 * A derived transfer has its operation's times. With one of another thread meanwhile, it is not
 * known which of the two was first.
 */
static void link_newest(struct matcher *matcher, struct link *link, const struct event *event)
{
	const struct ub_hdr *h = event->h;
	const bool derived = h->flags & UB_F_DERIVED;
	const uint64_t done = h->ts + h->dur;

	if (link->newest.done > h->ts && link->newest.tid != h->tid &&
	    (derived || link->newest.derived))
		matcher_gap(matcher, event->capture->host, link->process, link->newest.ts,
			    done > link->newest.done ? done : link->newest.done, order_not_known);
	link->newest.tid = h->tid;
	link->newest.derived = derived;
	link->newest.ts = h->ts;
	link->newest.done = done;
}

void matcher_sent(struct matcher *matcher, const struct event *event, struct op *op,
		  struct object *ep)
{
	const struct ub_xfer *xfer = (const struct ub_xfer *)event->h;
	enum message_class class = am_class(xfer->am_id);
	struct sent *sent;
	struct link *link;

	socket_passed(matcher, event->process, ep, xfer);
	if (event->site->verb != VERB_AM || class == CLASS_NONE)
		return;
	if (op && (op->process != event->process || receive_of(op)))
		op = NULL;
	sent = sent_new(matcher);
	sent->class = class;
	sent_fill(matcher, sent, xfer, op);
	link = ep ? link_of(matcher, ep) : NULL;
	if (!link || link->untraced) {
		if (sent->counted)
			reason_add(matcher->unmatched_sends,
				   link ? "peer not traced" : "endpoint not known", 1);
		return sent_free(matcher, sent);
	}
	link_newest(matcher, link, event);
	link_append(link, sent);
	inlined_begin(matcher, sent, event);
	fifo_expect(matcher, sent, xfer, event->site->mode == MODE_SHORT);
	if (socket_sent(matcher, sent, xfer))
		return;
	if (!class_is_exact(class) && !link->inbox)
		return;
	bucket_add_sent(
		bucket_of(matcher, sent->key, class, class_is_exact(class) ? NULL : link->inbox),
		sent);
	if (class_is_exact(class))
		bucket_pair_exact(matcher, sent->bucket);
	else
		bucket_pair(matcher, sent->bucket);
}

void matcher_handled(struct matcher *matcher, const struct process *process, uint32_t tid)
{
	for (size_t i = 0; i < matcher->handling.len;) {
		struct inbox *inbox = matcher->handling.data[i];

		if (inbox->current && (inbox->process != process || inbox->current->tid != tid)) {
			i++;
			continue;
		}
		inbox->handling = false;
		matcher->handling.data[i] = matcher->handling.data[--matcher->handling.len];
		inbox_settle(matcher, inbox);
	}
}

void matcher_gap(struct matcher *matcher, int host, struct process *owner, uint64_t from,
		 uint64_t until, const char *why)
{
	for (size_t i = 0; i < matcher->decoder->processes.len; i++) {
		struct process *process = matcher->decoder->processes.data[i];

		if (process->host != host)
			continue;
		process_blind(process, until);
		if (owner && process != owner)
			continue;
		process_missing(process, until);
		socket_hidden(matcher, process, from, until);
	}
	links_unsync(matcher, host, owner, from, why);
	for (size_t i = 0; i < matcher->all_inboxes.len; i++) {
		struct inbox *inbox = matcher->all_inboxes.data[i];

		if (owner ? inbox->process == owner : inbox->process->host == host)
			inbox_lost(matcher, inbox, why);
	}
}

const char *ending_at(const struct matcher *matcher, const struct process *process)
{
	return process->broken_off ? "in flight where a capture breaks off" : matcher->ending;
}

void matcher_ending(struct matcher *matcher, const char *reason)
{
	matcher->ending = reason;
}

/*
 * Where order is lost, a waiting arrival may be this send's: one for each send, the oldest first.
 * Where several links share a bucket, any may be.
 */
static bool claims_arrival(const struct sent *sent)
{
	struct bucket *bucket = class_is_exact(sent->class) ? NULL : sent->bucket;
	struct arrival **claim, *found;

	if (!bucket || bucket->many)
		return bucket && bucket->arrivals;
	claim = &bucket->claim[sent->fifo || sent->sockets];
	while (*claim && !may_be_of(sent, *claim))
		*claim = (*claim)->next;
	found = *claim;
	*claim = found ? found->next : NULL;
	return found;
}

/* Several senders may have sent what waits: an arrival may be of this send, or of another's. */
static bool is_undecided(const struct sent *sent)
{
	struct bucket *bucket = class_is_exact(sent->class) ? NULL : sent->bucket;
	struct arrival *arrival = bucket && bucket->many ? bucket->arrivals : NULL;

	while (arrival && (arrival->length != sent->length || !may_be_of(sent, arrival)))
		arrival = arrival->next;
	return arrival;
}

static const char *send_reason(const struct matcher *matcher, const struct sent *sent)
{
	const struct link *link = sent->link;
	bool claims;

	if (!link->inbox)
		return "peer not known";
	if (link->synced && is_undecided(sent))
		return sent->bucket->claimed = one_of_several;
	if (in_order(sent))
		return ending_at(matcher, link->inbox->process);
	claims = claims_arrival(sent);
	if (claims && !sent->bucket->claimed)
		sent->bucket->claimed = order_lost(link);
	if (claims || arrival_given_up(sent))
		return order_lost(link);
	return arrival_may_be_lost(sent) ? "arrival not seen"
					 : ending_at(matcher, link->inbox->process);
}

static void links_cut(struct matcher *matcher)
{
	for (size_t i = 0; i < matcher->all_buckets.len; i++) {
		struct bucket *bucket = matcher->all_buckets.data[i];

		bucket->claim[0] = bucket->claim[1] = bucket->arrivals;
		bucket->claimed = NULL;
	}
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
		link_unsync(link, NULL);
		link->lost = NULL;
		link_shows(link);
		link->anchor_sent = link->anchor_arrival = 0;
		link->connection = 0;
	}
}

static const char *arrival_reason(const struct arrival *arrival)
{
	const struct bucket *bucket = arrival->bucket;
	const struct link *link = bucket ? bucket->only : NULL;

	if (bucket && bucket->claimed)
		return bucket->claimed;
	if (link && !link->synced)
		return order_lost(link);
	return link || arrival->source ? "send not seen" : "sender not known";
}

/* Whether the program holds a handle of it (probe) and may still receive it. */
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
	inbox_lost(matcher, inbox, ending_at(matcher, inbox->process));
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
 * Every send and every receive is in exactly one category. Any other count is a bug of ours, and
 * reported.
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
		for (unsigned int k = 0; k < MASKS; k++)
			map_release(&matcher->all_inboxes.data[i]->came[k]);
		fifos_release(matcher->all_inboxes.data[i]);
		free(matcher->all_inboxes.data[i]);
	}
	while (matcher->free_sents) {
		struct sent *sent = matcher->free_sents;

		matcher->free_sents = sent->next;
		free(sent);
	}
	while (matcher->free_receives) {
		struct receive *receive = matcher->free_receives;

		matcher->free_receives = receive->newer;
		free(receive);
	}
	while (matcher->free_arrivals) {
		struct arrival *arrival = matcher->free_arrivals;

		matcher->free_arrivals = arrival->next;
		free(arrival);
	}
	match_ops_release(matcher);
	way_pool_release(&matcher->free_ways);
	vec_release(&matcher->hidden);
	vec_release(&matcher->handling);
	vec_release(&matcher->links);
	vec_release(&matcher->synced);
	vec_release(&matcher->all_buckets);
	vec_release(&matcher->all_inboxes);
	map_release(&matcher->streams);
	map_release(&matcher->ways);
	map_release(&matcher->unseen);
	map_release(&matcher->blocking);
	map_release(&matcher->ends);
	map_release(&matcher->buckets);
	map_release(&matcher->sockets);
	map_release(&matcher->inboxes);
	free(matcher);
}
