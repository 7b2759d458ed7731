/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Offset and drift between the clocks of two hosts, estimated from messages between them: none
 * arrives before it is sent. Messages in one direction bound the offset from above, those in the
 * other direction from below. The result is the range that these bounds allow for clocks of
 * constant rate (docs/report.md). It is never used to match messages.
 */
#ifndef UCXBPF_EXPLAIN_CLOCKS_H
#define UCXBPF_EXPLAIN_CLOCKS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "base/vec.h"

#define CLOCKS_POINTS 64

/* A message: its time on the first host's clock, and its bound on the offset. */
struct clock_point {
	uint64_t at; /* ns; 0: none */
	int64_t apart; /* ns */
};

/* The tightest message of each stretch of time; stretches grow with the total time. */
struct clock_bounds {
	struct clock_point points[CLOCKS_POINTS];
	uint64_t first, last; /* range of all messages, ns */
	unsigned int shift; /* shift from a time to its stretch */
	uint64_t messages;
};

struct clock_pair {
	int host, other; /* host < other */
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
	const char *reason; /* static: why the rest is unknown; NULL: it is known */
	uint64_t at; /* on the first host's clock, ns */
	/* the other clock's time less this one's, and its uncertainty */
	int64_t offset;
	uint64_t offset_uncertainty;
	/* gain of the other clock, ns per second, and its uncertainty */
	int64_t drift;
	uint64_t drift_uncertainty;
};

struct clock_estimate clocks_solve(const struct clock_pair *pair);

/* A host placed on the clock of another one by messages. */
struct clock_place {
	int reference; /* the other host; its own number: it is its own reference */
	uint64_t at; /* on its own clock, ns: in the middle of the messages used */
	int64_t offset; /* the reference's clock less its own at that time, ns */
	int64_t drift; /* gain of the reference's clock, ns per second */
	uint64_t uncertainty; /* of the offset, ns */
};

/*
 * Places all hosts: those joined by messages, both ways and through others, have one reference, the
 * first of them. The numbers of hosts in clocks are below hosts; places has room for as many.
 */
void clocks_place(const struct clocks *clocks, size_t hosts, struct clock_place *places);

/*
 * The offset to use: that of the two hosts' times of day (known: there is one) if messages allow
 * it, which may be far more exact, else the place's own.
 */
int64_t clock_place_offset(const struct clock_place *place, bool known, int64_t by_day);

/* In order of hosts. */
void clocks_order(struct clocks *clocks);

#endif
