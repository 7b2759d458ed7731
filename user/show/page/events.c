// SPDX-License-Identifier: BSD-3-Clause
#include "show/page/events.h"

#include <stdlib.h>

#define TILES 64 /* tiles in a run when tiling starts */
#define LEAST_TILE 1024u

/* Tiles are numbered from long before the first fact, as later facts may start before it. */
#define BEFORE (1ull << 62)

void page_events_init(struct page_events *events, const struct page_hosts *hosts,
		      const struct page_window *window, size_t limit)
{
	*events = (struct page_events){
		.hosts = hosts, .window = window, .every = 1, .limit = limit
	};
}

void page_events_release(struct page_events *events)
{
	vec_release(&events->events);
	vec_release(&events->links);
	vec_release(&events->waits);
	vec_release(&events->threads);
	map_release(&events->thread_index);
}

uint32_t page_thread_of(struct page_events *events, int process, uint32_t tid)
{
	bool fresh;
	uint64_t *at = map_insert(&events->thread_index, (uint32_t)process, tid, &fresh);

	if (fresh) {
		vec_push(&events->threads, ((struct page_thread){ process, tid }));
		*at = events->threads.len;
	}
	return (uint32_t)*at;
}

static bool in_tile(const struct page_events *events, const struct page_host *host, uint64_t start)
{
	return !events->tile || (start - host->base + BEFORE) / events->tile % events->every == 0;
}

/* first may still move to an earlier time: then slightly too much is kept. */
static bool before_window_end(const struct page_events *events, const struct page_host *host,
			      uint64_t start)
{
	return !events->window || start < host->first || start - host->first < events->window->to;
}

static bool kept(const struct page_events *events, int host_number, uint64_t start)
{
	const struct page_host *host;

	if (host_number < 0 || !start || events->none)
		return false;
	host = &events->hosts->hosts.data[host_number];
	return in_tile(events, host, start) && before_window_end(events, host, start);
}

static bool in_window(const struct page_events *events, int host, uint64_t start)
{
	uint64_t at;

	if (!events->window)
		return true;
	if (host < 0 || !start)
		return false;
	at = start - events->hosts->hosts.data[host].first;
	return at >= events->window->from && at < events->window->to;
}

typedef bool (*page_test)(const struct page_events *events, int host, uint64_t start);

static void keep_only(struct page_events *events, page_test test)
{
	size_t left = 0;

	for (size_t i = 0; i < events->events.len; i++) {
		const struct page_event *event = &events->events.data[i];

		if (test(events, event->host, event->start))
			events->events.data[left++] = *event;
	}
	events->events.len = left;
	left = 0;
	for (size_t i = 0; i < events->links.len; i++) {
		const struct page_link *link = &events->links.data[i];

		if (test(events, link->send_host, link->send_start) ||
		    test(events, link->recv_host, link->recv_start))
			events->links.data[left++] = *link;
	}
	events->links.len = left;
	left = 0;
	for (size_t i = 0; i < events->waits.len; i++) {
		const struct page_wait *wait = &events->waits.data[i];

		if (test(events, wait->host, wait->start))
			events->waits.data[left++] = *wait;
	}
	events->waits.len = left;
}

static void first_tiles(struct page_events *events)
{
	uint64_t width = events->hosts->longest / TILES;

	events->tile = LEAST_TILE;
	while (events->tile < width)
		events->tile *= 2;
}

/*
 * Keeps every second tile; if that drops nothing, halves the tiles. Kept events are always a
 * subset.
 */
bool page_events_thin(struct page_events *events)
{
	size_t before = events->events.len;

	if (!before)
		return false;
	if (!events->tile)
		first_tiles(events);
	events->every *= 2;
	keep_only(events, kept);
	while (events->events.len > before / 4 * 3 && events->tile > 1) {
		events->tile /= 2;
		events->every *= 2;
		keep_only(events, kept);
	}
	if (events->events.len > before / 4 * 3) {
		events->events.len = events->links.len = events->waits.len = 0;
		events->none = true;
	}
	return true;
}

/* The length of the longest list: each is limited. */
static size_t longest(const struct page_events *events)
{
	size_t most = events->events.len;

	if (events->links.len > most)
		most = events->links.len;
	return events->waits.len > most ? events->waits.len : most;
}

static void make_room(struct page_events *events)
{
	if (longest(events) <= events->limit)
		return;
	if (events->window)
		keep_only(events, in_window);
	while (longest(events) > events->limit / 4 * 3)
		if (!page_events_thin(events))
			return;
}

void page_events_add(struct page_events *events, const struct page_event *event)
{
	events->seen += event->count;
	if (!kept(events, event->host, event->start))
		return;
	vec_push(&events->events, *event);
	make_room(events);
}

void page_links_add(struct page_events *events, const struct page_link *link)
{
	if (!kept(events, link->send_host, link->send_start) &&
	    !kept(events, link->recv_host, link->recv_start))
		return;
	vec_push(&events->links, *link);
	make_room(events);
}

void page_waits_add(struct page_events *events, const struct page_wait *wait)
{
	if (!kept(events, wait->host, wait->start))
		return;
	vec_push(&events->waits, *wait);
	make_room(events);
}

uint64_t page_events_count(const struct page_events *events)
{
	uint64_t count = 0;

	for (size_t i = 0; i < events->events.len; i++)
		count += events->events.data[i].count;
	return count;
}

void page_events_settle(struct page_events *events)
{
	if (events->window)
		keep_only(events, in_window);
}

/* The number-th kept tile, starting with the tile of the host's first event or the next one. */
static bool tile_at(const struct page_events *events, const struct page_host *host, uint64_t number,
		    struct page_window *window)
{
	uint64_t stride = events->tile * events->every;
	uint64_t origin = host->base - BEFORE; /* modulo 2^64, as in in_tile() */
	uint64_t first = (host->first - origin) / stride + number;
	uint64_t from = origin + first * stride, to = from + events->tile;

	if ((int64_t)(from - host->last) > 0)
		return false;
	window->from = (int64_t)(from - host->first) > 0 ? from - host->first : 0;
	window->to = (int64_t)(to - host->first) > 0 ? to - host->first : 0;
	return true;
}

bool page_events_window(const struct page_events *events, int host_number, uint64_t number,
			struct page_window *window)
{
	const struct page_host *host = &events->hosts->hosts.data[host_number];

	if (!host->last || (number && !events->tile) || events->none)
		return false;
	*window = (struct page_window){ 0, host->last - host->first + 1 };
	if (events->tile && !tile_at(events, host, number, window))
		return false;
	if (events->window && events->window->from > window->from)
		window->from = events->window->from;
	if (events->window && events->window->to < window->to)
		window->to = events->window->to;
	return true;
}

static int by_place(const void *left, const void *right, void *arg)
{
	const uint32_t *rank = arg;
	const struct page_event *a = left, *b = right;

	if (a->lane != b->lane)
		return rank[a->lane] < rank[b->lane] ? -1 : 1;
	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	if (a->id != b->id)
		return a->id < b->id ? -1 : 1;
	return (a->parent > b->parent) - (a->parent < b->parent);
}

static int by_process(const void *left, const void *right)
{
	const struct page_wait *a = left, *b = right;

	if (a->process != b->process)
		return a->process < b->process ? -1 : 1;
	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	if (a->call != b->call)
		return a->call < b->call ? -1 : 1;
	if (a->duration != b->duration)
		return a->duration < b->duration ? -1 : 1;
	return (a->culprit > b->culprit) - (a->culprit < b->culprit);
}

void page_events_sort(struct page_events *events, const uint32_t *rank)
{
	if (events->events.len)
		qsort_r(events->events.data, events->events.len, sizeof(*events->events.data),
			by_place, (void *)(uintptr_t)rank);
	if (events->waits.len)
		qsort(events->waits.data, events->waits.len, sizeof(*events->waits.data),
		      by_process);
}
