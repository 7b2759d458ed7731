/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How far the clocks of two hosts are apart, and how much faster one goes, from messages between
 * them: none arrives before it is sent. Each message one way bounds the difference from above, each
 * one the other way from below. What is told is all that these bounds leave possible, for clocks of
 * constant rate (docs/report.md); it never helps to match messages.
 */
#ifndef UCXBPF_REPORT_CLOCKS_H
#define UCXBPF_REPORT_CLOCKS_H

#include "base/map.h"
#include "base/vec.h"

#define CLOCKS_POINTS 64

/* A message, by the first host's clock, and what it says at most of the difference. */
struct clock_point {
	uint64_t at; /* ns; 0: none */
	int64_t apart; /* ns */
};

/* The tightest message of each stretch of time; stretches grow with the time that they cover. */
struct clock_bounds {
	struct clock_point points[CLOCKS_POINTS];
	uint64_t first, last; /* ns, of all messages */
	unsigned int shift; /* of a time, to its stretch */
	uint64_t messages;
};

struct clock_pair {
	int host, other; /* host is the lower one */
	struct clock_bounds there, back;
};

/* A zeroed one is empty. */
struct clocks {
	VEC(struct clock_pair) list;
	struct map index; /* host, other -> 1 + position */
};

void clocks_release(struct clocks *clocks);

/* sent and arrived: ns, each by its host's clock. */
void clocks_add(struct clocks *clocks, int src, int dst, uint64_t sent, uint64_t arrived);

struct clock_estimate {
	const char *reason; /* static: why nothing else is known; NULL: it is */
	uint64_t at; /* by the first host's clock, ns */
	/* what the other clock shows then, less that; the truth is no further away than that */
	int64_t offset;
	uint64_t offset_uncertainty;
	/* how many ns it gains in a second of the first one, likewise */
	int64_t drift;
	uint64_t drift_uncertainty;
};

struct clock_estimate clocks_solve(const struct clock_pair *pair);

/* In order of hosts. */
void clocks_order(struct clocks *clocks);

#endif
