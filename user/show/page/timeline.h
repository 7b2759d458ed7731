/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hosts with their processes and observed time, and the timeline: how busy each lane was, and with
 * which names. Lanes are the layers of each process, and the devices of each host. Time is
 * coarsened when there are too many pieces.
 */
#ifndef UCXBPF_PAGE_TIMELINE_H
#define UCXBPF_PAGE_TIMELINE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/level.h"
#include "base/map.h"
#include "base/vec.h"
#include "explain/facts/facts.h"

struct page_host {
	bool known;
	uint64_t first, last; /* ns on its clock, over all facts; last 0: no facts */
	uint64_t base; /* start of the first fact added: unlike first, it never moves */
	bool clocked;
	int64_t ahead; /* time of day less its own clock; valid if clocked */
	/*
	 * once placed: the host whose time of day that is, itself or one joined to it by messages
	 */
	int reference;
	uint64_t uncertainty; /* of their offset, ns */
};

struct page_process {
	bool known;
	int host;
};

struct page_hosts {
	VEC(struct page_host) hosts;
	VEC(struct page_process) processes;
	uint64_t longest; /* longest trace of a host, ns */
};

void page_hosts_release(struct page_hosts *hosts);

void page_hosts_process(struct page_hosts *hosts, const struct fact_process *fact);
void page_hosts_clock(struct page_hosts *hosts, const struct fact_clock *fact);
void page_hosts_window(struct page_hosts *hosts, const struct fact_window *fact);

/* Whether the filter lets this process through: unknown ones pass. */
bool page_hosts_selected(const struct page_hosts *hosts, int process);

/* The host of a process, NULL: unknown. Valid until the next process. */
struct page_host *page_host_of(const struct page_hosts *hosts, int process);

/* A fact lasted from start to end (0: unknown) in this process. */
void page_hosts_see(struct page_hosts *hosts, int process, uint64_t start, uint64_t end);

/* Number of buckets of 2^shift ns in the longest trace. */
uint64_t page_hosts_buckets(const struct page_hosts *hosts, unsigned int shift);

/* Whether there may be more buckets than that: a quick upper bound. */
static inline bool page_hosts_exceed(const struct page_hosts *hosts, unsigned int shift,
				     uint64_t buckets)
{
	return (hosts->longest >> shift) + 2 > buckets;
}

struct page_lane {
	enum level layer; /* LEVEL_BESIDE: of a device */
	int process; /* -1: a device, or unknown */
	int host; /* -1: unknown */
	uint32_t transport, device; /* codes */
};

/* One name's share of a lane in a bucket. */
struct page_span {
	uint64_t bucket; /* time >> shift */
	uint64_t busy, bytes, started, waited;
	uint32_t lane, name;
};

struct page_timeline {
	const struct page_hosts *hosts;
	VEC(struct page_lane) lanes;
	struct map
		lane_index; /* (layer and process or host, transport and device) -> position + 1 */
	VEC(struct page_span) spans;
	struct map index; /* (lane and name, bucket) -> position + 1 */
	unsigned int shift;
	size_t limit; /* of spans */
	uint64_t untimed; /* facts without a known time, which are not drawn */
};

void page_timeline_init(struct page_timeline *timeline, const struct page_hosts *hosts,
			size_t limit);
void page_timeline_release(struct page_timeline *timeline);

/* The lane of a layer of a process, or of a device of a host. */
uint32_t page_lane_of(struct page_timeline *timeline, const struct page_lane *lane);

/* Facts with one name. */
struct page_work {
	uint64_t start; /* start of the first, ns */
	uint64_t end; /* end of the last; 0: durations are unknown */
	uint64_t time; /* sum over all of them */
	uint64_t count, bytes;
};

/* The start must be known. Time is spread evenly from start to end: exact for a single fact. */
void page_timeline_add(struct page_timeline *timeline, uint32_t lane, uint32_t name,
		       const struct page_work *work);

/* Time of a lane in which it waited, ns, spread evenly from start to end, which differ. */
void page_timeline_wait(struct page_timeline *timeline, uint32_t lane, uint32_t name,
			const struct page_work *waited);

/* Widens buckets; false: only one is left. */
bool page_timeline_coarsen(struct page_timeline *timeline, unsigned int halvings);

/* Sorts by lane (rank: order by position), then bucket, then name. */
void page_timeline_sort(struct page_timeline *timeline, const uint32_t *rank);

#endif
