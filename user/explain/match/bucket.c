// SPDX-License-Identifier: BSD-3-Clause
#include "explain/match/internal.h"

static const uint8_t classes[32] = {
	[AM_EAGER_ONLY] = CLASS_EAGER,  [AM_EAGER_FIRST] = CLASS_MULTI,
	[AM_SYNC_ONLY] = CLASS_REQUEST, [AM_SYNC_FIRST] = CLASS_MULTI,
	[AM_RTS] = CLASS_REQUEST,       [AM_STREAM] = CLASS_STREAM,
	[AM_SINGLE] = CLASS_AM,         [AM_SINGLE_REPLY] = CLASS_AM,
	[AM_FIRST] = CLASS_AM_FIRST,    [AM_FIRST_PSN] = CLASS_AM_FIRST,
};

enum message_class message_class(uint8_t am_id)
{
	return classes[am_id & 31];
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
		bucket = calloc(1, sizeof(*bucket));
		if (!bucket)
			abort();
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
	}
	message_settle(matcher, arrival);
}
