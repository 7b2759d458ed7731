/* SPDX-License-Identifier: BSD-3-Clause */
/* Positions of processes and hosts in a timeline: their order, and how clocks are aligned. */
#ifndef UCXBPF_EXPORT_PLACING_H
#define UCXBPF_EXPORT_PLACING_H

#include "base/vec.h"
#include "show/export/spans.h"

/* Puts all hosts on the timeline of CLOCK_REALTIME, by their wall clocks and messages. */
struct placing_host {
	int64_t to_real; /* offset from its times to CLOCK_REALTIME */
	bool made_up; /* the offset is unknown: placed at the start */
	bool fitted; /* the offset follows from messages, by the clock of another host */
	/*
	 * Host that messages join it to; itself: none. Relative to that one it is off by no more
	 * than uncertainty, ns, in the middle of these messages.
	 */
	int reference;
	uint64_t uncertainty;
};

struct placing {
	VEC(struct placing_host) hosts; /* by number */
	uint64_t begin, end; /* CLOCK_REALTIME of the first and the last fact, or 0 */
	/*
	 * Numbers of all processes by job and rank, those without a rank last, jobs by their first
	 * process; numbers of hosts in the order of their first process.
	 */
	VEC(int) process_order, host_order;
	VEC(uint32_t) process_turns, host_turns; /* positions in these, by number */
};

/* After spans_finish(). */
void placing_make(struct placing *placing, const struct spans *spans);
void placing_release(struct placing *placing);

/* The offset of a host, 0 for -1. */
int64_t placing_to_real(const struct placing *placing, int host);

#endif
