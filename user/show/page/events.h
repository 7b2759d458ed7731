/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Single events, as many as fit. All are kept at first; when there are too many, time is cut into
 * tiles and only every second tile keeps its events, then every fourth... Kept tiles are complete
 * and evenly spaced over the run.
 */
#ifndef UCXBPF_PAGE_EVENTS_H
#define UCXBPF_PAGE_EVENTS_H

#include "base/map.h"
#include "show/page/timeline.h"
#include "show/page/page.h"

enum { EVENT_FAILED = 1, EVENT_RETRIED = 2, EVENT_SEVERAL = 4, EVENT_DERIVED = 8 };

struct page_event {
	uint64_t id, parent; /* ids of facts, 0: none */
	uint64_t start, duration, bytes; /* bytes: UINT64_MAX unknown */
	uint64_t count;
	uint32_t lane, key, thread;
	int host;
	uint8_t precision, flags; /* enum fact_precision */
};

/* A message: ids of its operations, and the start of each end, 0 unknown. */
struct page_link {
	uint64_t send, recv, arrival;
	uint64_t send_start, recv_start;
	int send_host, recv_host;
};

/* A wait: the event of its call, and codes of words, places and processes as in the cube. */
struct page_wait {
	uint64_t call; /* id of the fact */
	uint64_t start, duration, ns, fresh, uncertainty; /* the last three as in the fact */
	uint32_t process, culprit, root; /* codes */
	uint32_t kind, function, did, root_function, root_did; /* words; function: the culprit's */
	uint32_t place, root_place;
	int host;
};

struct page_thread {
	int process;
	uint32_t tid;
};

struct page_events {
	const struct page_hosts *hosts;
	const struct page_window *window; /* NULL: no window requested */
	VEC(struct page_event) events;
	VEC(struct page_link) links;
	VEC(struct page_wait) waits;
	VEC(struct page_thread) threads;
	struct map thread_index; /* (process, tid) -> position + 1 */
	uint64_t seen; /* events added */
	uint64_t tile; /* tile width, ns; 0: everything is kept */
	uint64_t every; /* every n-th tile is kept */
	size_t limit;
	bool none; /* not even a single instant fits */
};

void page_events_init(struct page_events *events, const struct page_hosts *hosts,
		      const struct page_window *window, size_t limit);
void page_events_release(struct page_events *events);

/* Position + 1. */
uint32_t page_thread_of(struct page_events *events, int process, uint32_t tid);

/* Host and start must be known. */
void page_events_add(struct page_events *events, const struct page_event *event);
void page_waits_add(struct page_events *events, const struct page_wait *wait);
void page_links_add(struct page_events *events, const struct page_link *link);

/* Number of facts that the kept events stand for. */
uint64_t page_events_count(const struct page_events *events);

/* Drops events; false: none are left. */
bool page_events_thin(struct page_events *events);

/* Once the first event of each host is known: keeps only the requested window. */
void page_events_settle(struct page_events *events);

/*
 * The number-th time range of a host in which all events are kept, ns from its first event. Returns
 * false after the last one.
 */
bool page_events_window(const struct page_events *events, int host, uint64_t number,
			struct page_window *window);

/* Sorts events by lane (rank: order by position), then start, then id; waits by process, start. */
void page_events_sort(struct page_events *events, const uint32_t *rank);

#endif
