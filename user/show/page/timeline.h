/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which processes run on which hosts, and from when to when something was seen of each host. And
 * how busy each lane was when, and with what: lanes are the layers of each process, and the devices
 * of each host. Time is halved when there are too many pieces.
 */
#ifndef UCXBPF_PAGE_TIMELINE_H
#define UCXBPF_PAGE_TIMELINE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "base/vec.h"
#include "explain/match/facts.h"

struct page_host {
	bool known;
	uint64_t first, last; /* ns on its clock, over all facts; last 0: none seen */
	uint64_t base; /* start of the first fact that came in: does not move as first may */
	bool clocked;
	int64_t ahead; /* of the time of day, its own clock; where clocked */
};

struct page_process {
	bool known;
	int host;
};

struct page_hosts {
	VEC(struct page_host) hosts;
	VEC(struct page_process) processes;
	uint64_t longest; /* ns, from first to last of a host */
};

void page_hosts_release(struct page_hosts *hosts);

void page_hosts_process(struct page_hosts *hosts, const struct fact_process *fact);
void page_hosts_clock(struct page_hosts *hosts, const struct fact_clock *fact);
void page_hosts_window(struct page_hosts *hosts, const struct fact_window *fact);

/* Whether the filter lets this process through: unknown ones pass. */
bool page_hosts_selected(const struct page_hosts *hosts, int process);

/* The process's host, NULL: unknown. Valid until the next process. */
struct page_host *page_host_of(const struct page_hosts *hosts, int process);

/* Something lasted from start to end (0: unknown) there. */
void page_hosts_see(struct page_hosts *hosts, int process, uint64_t start, uint64_t end);

/* Of buckets 2^shift ns wide, how many the longest trace of a host covers. */
uint64_t page_hosts_buckets(const struct page_hosts *hosts, unsigned int shift);

/* Whether that may be more than so many: a quick answer. */
static inline bool page_hosts_exceed(const struct page_hosts *hosts, unsigned int shift,
				     uint64_t buckets)
{
	return (hosts->longest >> shift) + 2 > buckets;
}

enum page_layer { LAYER_CALLS, LAYER_OPS, LAYER_TRANSFERS, LAYER_DEVICE };

struct page_lane {
	enum page_layer layer;
	int process; /* -1: of a device, or unknown */
	int host; /* -1: unknown */
	uint32_t transport, device; /* codes */
};

/* One name's share of a lane in a bucket. */
struct page_span {
	uint64_t bucket; /* time >> shift */
	uint64_t busy, bytes, started;
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
	uint64_t untimed; /* facts of no known time: not in it */
};

void page_timeline_init(struct page_timeline *timeline, const struct page_hosts *hosts,
			size_t limit);
void page_timeline_release(struct page_timeline *timeline);

/* The lane of a layer of a process, or of a device of a host. */
uint32_t page_lane_of(struct page_timeline *timeline, const struct page_lane *lane);

/* Some facts of one name. */
struct page_work {
	uint64_t start; /* of the first, ns */
	uint64_t end; /* of the last; 0: no duration is known */
	uint64_t time; /* over all of them */
	uint64_t count, bytes;
};

/* start must be known. Its time is spread evenly from start to end: exact where it is one fact. */
void page_timeline_add(struct page_timeline *timeline, uint32_t lane, uint32_t name,
		       const struct page_work *work);

/* Buckets so many times halved; false: there is only one. */
bool page_timeline_coarsen(struct page_timeline *timeline, unsigned int halvings);

/* By lane, in the order that rank tells (by position), then bucket, then name. */
void page_timeline_sort(struct page_timeline *timeline, const uint32_t *rank);

#endif
