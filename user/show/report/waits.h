/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums of waits, the time of each process, and calls that have not returned. */
#ifndef UCXBPF_REPORT_WAITS_H
#define UCXBPF_REPORT_WAITS_H

#include "base/rowset.h"
#include "base/vec.h"
#include "explain/hang/hang.h"

/* Words of a row: interned pointers and process numbers; a place by its key, 0: not known. */
struct wait_key {
	uint64_t kind, function, place, culprit_function, culprit_place;
	int64_t process, culprit;
};

/* Equal waits. */
struct wait_row {
	struct wait_key key;
	uint64_t count, ns, most; /* ns: fact_wait.ns; most: of the longest */
	uint64_t fresh; /* fact_wait.fresh: a row's share of the time that processes waited */
	uint64_t uncertainty; /* ns, sum */
	bool exact, by_clocks; /* precisions seen */
	uint64_t computing, communicating, waiting; /* part of ns by the culprit's activity */
	struct fact_wait longest;
};

/* The process at the end of a chain of waits. */
struct root_key {
	uint64_t function, place, did;
	int64_t process;
};

struct root_row {
	struct root_key key;
	uint64_t count, fresh; /* as above: sums over rows are the time that processes waited */
};

/* A process's time, ns. */
struct process_time {
	uint64_t first; /* start of its first fact; 0: none */
	uint64_t calls, timed; /* timed: calls with some time */
	uint64_t least, most; /* in MPI calls; most: only where unbounded is 0 */
	uint64_t unbounded; /* calls whose latest end is not known */
	uint64_t waited;
};

struct report_waits {
	VEC(struct wait_row) rows;
	struct rowset index;
	VEC(struct root_row) roots;
	struct rowset root_index;
	VEC(struct fact_open) open;
	struct hang_facts hang; /* not filtered; no thread: no process was looked at */
	VEC(struct fact_queued) queued;
	VEC(struct fact_unread) unread;
	VEC(struct process_time) times; /* by process */
};

void report_waits_release(struct report_waits *waits);
void report_waits_add(struct report_waits *waits, const struct fact_wait *wait);
void report_waits_call(struct report_waits *waits, const struct fact_call *call);
/* Calls of a loop in one thread. */
void report_waits_polls(struct report_waits *waits, const struct fact_call *call,
			const struct fact_sums *sums);
void report_waits_seen(struct report_waits *waits, int process, uint64_t start);

/* Puts open calls and rows into their order: oldest first, most time first. */
void report_waits_finish(struct report_waits *waits);

#endif
