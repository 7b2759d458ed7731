// SPDX-License-Identifier: BSD-3-Clause
#include "show/page/timeline.h"

#include <stddef.h>
#include <stdlib.h>

void page_hosts_release(struct page_hosts *hosts)
{
	vec_release(&hosts->hosts);
	vec_release(&hosts->processes);
}

static struct page_host *host_at(struct page_hosts *hosts, int index)
{
	if (index < 0)
		return NULL;
	while (hosts->hosts.len <= (size_t)index)
		vec_add(&hosts->hosts);
	hosts->hosts.data[index].known = true;
	return &hosts->hosts.data[index];
}

void page_hosts_process(struct page_hosts *hosts, const struct fact_process *fact)
{
	if (fact->index < 0)
		return;
	while (hosts->processes.len <= (size_t)fact->index)
		vec_add(&hosts->processes);
	hosts->processes.data[fact->index] =
		(struct page_process){ .known = true, .host = fact->host };
	host_at(hosts, fact->host);
}

void page_hosts_clock(struct page_hosts *hosts, const struct fact_clock *fact)
{
	struct page_host *host = host_at(hosts, fact->host);

	if (!host)
		return;
	host->clocked = true;
	host->ahead = (int64_t)(fact->real - fact->mono);
}

/* As in the report: a host's span begins with its first window. */
void page_hosts_window(struct page_hosts *hosts, const struct fact_window *fact)
{
	struct page_host *host = host_at(hosts, fact->host);

	if (!host)
		return;
	if (!host->last || fact->from < host->first)
		host->first = fact->from;
	if (fact->until > host->last)
		host->last = fact->until;
	if (host->last - host->first > hosts->longest)
		hosts->longest = host->last - host->first;
}

static const struct page_process *process_at(const struct page_hosts *hosts, int process)
{
	if (process < 0 || (size_t)process >= hosts->processes.len ||
	    !hosts->processes.data[process].known)
		return NULL;
	return &hosts->processes.data[process];
}

struct page_host *page_host_of(const struct page_hosts *hosts, int process)
{
	const struct page_process *found = process_at(hosts, process);

	return found && found->host >= 0 ? &hosts->hosts.data[found->host] : NULL;
}

void page_hosts_see(struct page_hosts *hosts, int process, uint64_t start, uint64_t end)
{
	struct page_host *host = page_host_of(hosts, process);

	if (!host || !start)
		return;
	if (!host->base)
		host->base = start;
	if (!host->last || start < host->first)
		host->first = start;
	if (start > host->last)
		host->last = start;
	if (end > host->last)
		host->last = end;
	if (host->last - host->first > hosts->longest)
		hosts->longest = host->last - host->first;
}

uint64_t page_hosts_buckets(const struct page_hosts *hosts, unsigned int shift)
{
	uint64_t most = 0;

	for (size_t i = 0; i < hosts->hosts.len; i++) {
		const struct page_host *host = &hosts->hosts.data[i];
		uint64_t buckets = (host->last >> shift) - (host->first >> shift) + 1;

		if (host->last && buckets > most)
			most = buckets;
	}
	return most;
}

#define FINEST_SHIFT 8
#define MOST_BUCKETS 16384

void page_timeline_init(struct page_timeline *timeline, const struct page_hosts *hosts,
			size_t limit)
{
	*timeline = (struct page_timeline){ .hosts = hosts, .shift = FINEST_SHIFT, .limit = limit };
}

void page_timeline_release(struct page_timeline *timeline)
{
	vec_release(&timeline->lanes);
	vec_release(&timeline->spans);
	map_release(&timeline->lane_index);
	map_release(&timeline->index);
}

uint32_t page_lane_of(struct page_timeline *timeline, const struct page_lane *lane)
{
	uint64_t who = lane->layer == LEVEL_BESIDE ? lane->host : lane->process, *at;
	bool fresh;

	at = map_insert(&timeline->lane_index, who << 2 | lane->layer,
			(uint64_t)lane->transport << 32 | lane->device, &fresh);
	if (fresh) {
		vec_push(&timeline->lanes, *lane);
		*at = timeline->lanes.len;
	}
	return (uint32_t)*at - 1;
}

static struct page_span *span_at(struct page_timeline *timeline, uint32_t lane, uint32_t name,
				 uint64_t bucket)
{
	bool fresh;
	uint64_t *at = map_insert(&timeline->index, (uint64_t)lane << 32 | name, bucket, &fresh);
	struct page_span *span;

	if (!fresh)
		return &timeline->spans.data[*at - 1];
	span = vec_add(&timeline->spans);
	*span = (struct page_span){ .bucket = bucket, .lane = lane, .name = name };
	*at = timeline->spans.len;
	return span;
}

bool page_timeline_coarsen(struct page_timeline *timeline, unsigned int halvings)
{
	size_t count = timeline->spans.len;

	if (page_hosts_buckets(timeline->hosts, timeline->shift) < 2)
		return false;
	timeline->shift += halvings;
	map_release(&timeline->index);
	timeline->spans.len = 0;
	for (size_t i = 0; i < count; i++) {
		const struct page_span old =
			timeline->spans.data[i]; /* read before it is overwritten */
		struct page_span *span =
			span_at(timeline, old.lane, old.name, old.bucket >> halvings);

		span->busy += old.busy;
		span->bytes += old.bytes;
		span->started += old.started;
		span->waited += old.waited;
	}
	return true;
}

/* The part of evenly spread work that lies before a time. */
static uint64_t done_by(const struct page_work *work, uint64_t time)
{
	return (uint64_t)((unsigned __int128)work->time * (time - work->start) /
			  (work->end - work->start));
}

/* member: offset in struct page_span of the sum that the time is added to */
static void spread(struct page_timeline *timeline, uint32_t lane, uint32_t name,
		   const struct page_work *work, size_t member)
{
	unsigned int shift = timeline->shift;
	uint64_t done = 0, last = (work->end - 1) >> shift;

	for (uint64_t bucket = work->start >> shift; bucket <= last; bucket++) {
		uint64_t by = bucket == last ? work->time : done_by(work, (bucket + 1) << shift);

		*(uint64_t *)((char *)span_at(timeline, lane, name, bucket) + member) += by - done;
		done = by;
	}
}

/* Before facts are added: their bucket follows from the width. */
static void settle_width(struct page_timeline *timeline)
{
	while (page_hosts_exceed(timeline->hosts, timeline->shift, MOST_BUCKETS))
		page_timeline_coarsen(timeline, 1);
}

static void make_room(struct page_timeline *timeline)
{
	while (timeline->spans.len > timeline->limit && page_timeline_coarsen(timeline, 1))
		;
}

void page_timeline_wait(struct page_timeline *timeline, uint32_t lane, uint32_t name,
			const struct page_work *waited)
{
	settle_width(timeline);
	spread(timeline, lane, name, waited, offsetof(struct page_span, waited));
	make_room(timeline);
}

void page_timeline_add(struct page_timeline *timeline, uint32_t lane, uint32_t name,
		       const struct page_work *work)
{
	struct page_span *first;

	settle_width(timeline);
	first = span_at(timeline, lane, name, work->start >> timeline->shift);
	first->started += work->count;
	first->bytes += work->bytes;
	if (work->end > work->start)
		spread(timeline, lane, name, work, offsetof(struct page_span, busy));
	else
		first->busy += work->time;
	make_room(timeline);
}

static int by_place(const void *left, const void *right, void *arg)
{
	const uint32_t *rank = arg;
	const struct page_span *a = left, *b = right;

	if (a->lane != b->lane)
		return rank[a->lane] < rank[b->lane] ? -1 : 1;
	if (a->bucket != b->bucket)
		return a->bucket < b->bucket ? -1 : 1;
	return (a->name > b->name) - (a->name < b->name);
}

void page_timeline_sort(struct page_timeline *timeline, const uint32_t *rank)
{
	map_release(&timeline->index);
	if (timeline->spans.len)
		qsort_r(timeline->spans.data, timeline->spans.len, sizeof(*timeline->spans.data),
			by_place, (void *)(uintptr_t)rank);
}
