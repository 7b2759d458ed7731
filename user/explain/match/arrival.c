// SPDX-License-Identifier: BSD-3-Clause
/* First fragments as they arrive. */
#include "explain/match/internal.h"

static struct sent *inlined_arrived(const struct inbox *inbox, const struct event *event)
{
	struct sent *sent = inbox->inlined.sent;

	if (!sent || inbox->inlined.tid != event->h->tid || event->h->ts > inbox->inlined.until ||
	    sent->am_id != event->site->am_id)
		return NULL;
	return sent;
}

static uint64_t less(uint64_t length, uint64_t header)
{
	return length > header ? length - header : 0;
}

/* Field by field of the wire headers, see attribute/payload.c. */
static void arrival_fill(struct arrival *arrival, uint8_t am_id, const struct ub_rx *rx)
{
	arrival->tag = arrival->key = rx->w[0];
	arrival->length = rx->length;
	switch (am_id) {
	case AM_EAGER_ONLY:
		arrival->bytes = less(rx->length, 8);
		break;
	case AM_SYNC_FIRST:
		arrival->ep_id = rx->w[3];
		__attribute__((fallthrough));
	case AM_EAGER_FIRST:
		arrival->key = rx->w[2];
		arrival->length = arrival->bytes = rx->w[1];
		arrival->multi = true;
		break;
	case AM_SYNC_ONLY:
		arrival->ep_id = rx->w[1];
		arrival->key = rx->w[2];
		arrival->length = arrival->bytes = less(rx->length, 24);
		break;
	case AM_RTS:
		arrival->ep_id = rx->w[1];
		arrival->key = rx->w[2];
		arrival->length = arrival->bytes = rx->w[4];
		arrival->rts = true;
		break;
	case AM_SINGLE:
	case AM_SINGLE_REPLY:
	case AM_FIRST:
		arrival->key = rx->w[0] & AM_KEY_MASK;
		arrival->bytes = less(rx->length, 8 + (rx->w[0] >> 32));
		break;
	case AM_STREAM:
		arrival->key = 0;
		arrival->bytes = less(rx->length, 8);
		break;
	}
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

void matcher_arrived(struct matcher *matcher, const struct event *event, uint64_t idle_since)
{
	const struct ub_rx *rx = (const struct ub_rx *)event->h;
	enum message_class class = message_class(event->site->am_id);
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
	arrival->ts = event->h->ts;
	arrival->idle_since = idle_since;
	if (!(event->h->flags & UB_F_READ_FAULT))
		arrival_fill(arrival, event->site->am_id, rx);
	else if (!arrival_from_sent(
			 arrival,
			 in_place ? in_place
				  : headless(matcher, inbox, event->site->am_id, rx->length),
			 rx->length))
		return arrival_forget(matcher, arrival);
	arrival_source(matcher, arrival);
	if (class == CLASS_EAGER || class_is_exact(class)) {
		inbox->tagged++;
		arrival->doubt = !inbox_sure(inbox, arrival->tag);
	}
	if (class == CLASS_STREAM)
		stream_arrived(matcher, event->process, rx->w[0], arrival->bytes);
	if (class == CLASS_EAGER || class_is_exact(class))
		inbox->current = arrival;
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
