/* SPDX-License-Identifier: BSD-3-Clause */
/* Which processes run on which hosts, and from when to when something was seen of each host. */
#ifndef UCXBPF_PAGE_HOSTS_H
#define UCXBPF_PAGE_HOSTS_H

#include <stdbool.h>
#include <stdint.h>

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
	bool known, selected;
	int host;
};

struct page_hosts {
	VEC(struct page_host) hosts;
	VEC(struct page_process) processes;
	uint64_t longest; /* ns, from first to last of a host */
};

void page_hosts_release(struct page_hosts *hosts);

void page_hosts_process(struct page_hosts *hosts, const struct fact_process *fact, bool selected);
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

#endif
