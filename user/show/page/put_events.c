// SPDX-License-Identifier: BSD-3-Clause
/* Lanes, single events with what they are of, threads, and messages. */
#include <stdio.h>

#include "show/page/internal.h"

/* Where the events with ids stand, plus 1. */
static void index_events(const struct page_events *events, struct map *index)
{
	for (size_t i = 0; i < events->events.len; i++)
		if (events->events.data[i].id)
			*map_insert(index, events->events.data[i].id, 0, NULL) = i + 1;
}

static uint64_t event_of(const struct map *index, uint64_t id)
{
	const uint64_t *at = id ? map_find(index, id, 0) : NULL;

	return at ? *at : 0;
}

static uint64_t delta(const struct page_events *events, size_t i)
{
	const struct page_event *event = &events->events.data[i];
	bool first = !i || events->events.data[i - 1].lane != event->lane;

	return first ? 0 : event->start - events->events.data[i - 1].start;
}

static uint64_t field(const struct page_events *events, const struct map *index, size_t i,
		      int column)
{
	const struct page_event *event = &events->events.data[i];

	switch (column) {
	case 0:
		return delta(events, i);
	case 1:
		return event->duration;
	case 2:
		return event->precision;
	case 3:
		return event->key;
	case 4:
		return event->bytes + 1;
	case 5:
		return event->thread;
	case 6:
		return event_of(index, event->parent);
	case 7:
		return event->flags;
	}
	return event->count;
}

static void put_events(struct page *page, const struct map *index)
{
	static const char *const columns[] = { "delta",  "duration", "precision", "key",  "bytes",
					       "thread", "parent",   "flags",     "count" };
	size_t count = page->events.events.len;
	uint64_t *values = page_pack_values(&page->pack, count);

	page_pack_begin(&page->pack, "events", true);
	for (int c = 0; c < (int)(sizeof(columns) / sizeof(*columns)); c++) {
		for (size_t i = 0; i < count; i++)
			values[i] = field(&page->events, index, i, c);
		page_pack_column(&page->pack, columns[c], count);
	}
	page_pack_end(&page->pack);
}

struct pair {
	uint64_t send, recv, arrival;
};

static int by_send(const void *left, const void *right)
{
	const struct pair *a = left, *b = right;

	if (a->send != b->send)
		return a->send < b->send ? -1 : 1;
	return (a->recv > b->recv) - (a->recv < b->recv);
}

static uint64_t arrival_at(const struct page *page, const struct page_link *link)
{
	const struct page_host *host =
		link->recv_host < 0 ? NULL : &page->hosts.hosts.data[link->recv_host];

	return host && link->arrival >= host->first ? link->arrival - host->first + 1 : 0;
}

static void put_links(struct page *page, const struct map *index)
{
	VEC(struct pair) pairs = { 0 };
	uint64_t *values;

	for (size_t i = 0; i < page->events.links.len; i++) {
		const struct page_link *link = &page->events.links.data[i];
		struct pair pair = { event_of(index, link->send), event_of(index, link->recv),
				     arrival_at(page, link) };

		if (pair.send || pair.recv)
			vec_push(&pairs, pair);
	}
	if (pairs.len)
		qsort(pairs.data, pairs.len, sizeof(*pairs.data), by_send);
	values = page_pack_values(&page->pack, pairs.len);
	page_pack_begin(&page->pack, "links", true);
	for (size_t i = 0; i < pairs.len; i++)
		values[i] = pairs.data[i].send;
	page_pack_column(&page->pack, "send", pairs.len);
	for (size_t i = 0; i < pairs.len; i++)
		values[i] = pairs.data[i].recv;
	page_pack_column(&page->pack, "recv", pairs.len);
	for (size_t i = 0; i < pairs.len; i++)
		values[i] = pairs.data[i].arrival;
	page_pack_column(&page->pack, "arrival", pairs.len);
	page_pack_end(&page->pack);
	vec_release(&pairs);
}

static void put_threads(struct page *page)
{
	size_t count = page->events.threads.len;
	uint64_t *values = page_pack_values(&page->pack, count);

	page_pack_begin(&page->pack, "threads", true);
	for (size_t i = 0; i < count; i++)
		values[i] = (uint64_t)page->events.threads.data[i].process + 1;
	page_pack_column(&page->pack, "process", count);
	for (size_t i = 0; i < count; i++)
		values[i] = page->events.threads.data[i].tid;
	page_pack_column(&page->pack, "tid", count);
	page_pack_end(&page->pack);
}

/* The first event of each lane, and when that began. */
static void note_lanes(const struct page *page, uint64_t *first, uint64_t *start)
{
	const struct page_events *events = &page->events;
	size_t at = 0;

	for (size_t lane = 0; lane < page->order.len; lane++) {
		const struct page_lane *of = &page->timeline.lanes.data[page->order.data[lane]];

		first[lane] = at;
		start[lane] = 0;
		if (at < events->events.len &&
		    events->events.data[at].lane == page->order.data[lane])
			start[lane] = events->events.data[at].start -
				      page->hosts.hosts.data[of->host].first;
		while (at < events->events.len &&
		       events->events.data[at].lane == page->order.data[lane])
			at++;
	}
}

static uint64_t lane_field(const struct page_lane *lane, int column)
{
	switch (column) {
	case 0:
		return lane->layer;
	case 1:
		return (uint64_t)lane->process + 1;
	case 2:
		return lane->host < 0 ? 0 : (uint64_t)lane->host;
	case 3:
		return lane->transport;
	}
	return lane->device;
}

static void put_column(struct page *page, const char *name, const uint64_t *values, size_t count)
{
	uint64_t *to = page_pack_values(&page->pack, count);

	for (size_t i = 0; i < count; i++)
		to[i] = values[i];
	page_pack_column(&page->pack, name, count);
}

static void put_lanes(struct page *page)
{
	static const char *const columns[] = { "layer", "process", "host", "transport", "device" };
	size_t count = page->order.len, room = 0;
	uint64_t *first = NULL;
	char name[32];

	first = vec_grow(first, &room, 2 * count + 1, sizeof(*first));
	page_pack_begin(&page->pack, "lanes", true);
	for (int c = 0; c < (int)(sizeof(columns) / sizeof(*columns)); c++) {
		for (size_t i = 0; i < count; i++)
			first[i] = lane_field(&page->timeline.lanes.data[page->order.data[i]], c);
		put_column(page, columns[c], first, count);
	}
	note_lanes(page, first, first + count);
	put_column(page, "events", first, count);
	put_column(page, "start", first + count, count);
	for (size_t i = 0; i < page->levels.len; i++) {
		snprintf(name, sizeof(name), "level%zu", i);
		put_column(page, name, page->levels.data[i].first, count);
	}
	page_pack_end(&page->pack);
	free(first);
}

static void put_all(struct page *page)
{
	struct map index = { 0 };

	page_events_sort(&page->events, page->rank.data);
	index_events(&page->events, &index);
	put_lanes(page);
	put_events(page, &index);
	put_links(page, &index);
	put_threads(page);
	map_release(&index);
}

void page_put_events(struct page *page)
{
	size_t sections = page->pack.sections.len;

	page_events_settle(&page->events);
	put_all(page);
	while (page->pack.total > page_shares(page).all && page_events_thin(&page->events)) {
		page_pack_cut(&page->pack, sections);
		put_all(page);
	}
}
