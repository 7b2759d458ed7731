/* SPDX-License-Identifier: BSD-3-Clause */
/* The aggregates that rules read: sums over equal transfers, processes, calls. */
#ifndef UCXBPF_JUDGE_AGGREGATES_AGGREGATES_H
#define UCXBPF_JUDGE_AGGREGATES_AGGREGATES_H

#include "base/map.h"
#include "explain/hang/hang.h"
#include "site/judge/aggregates/cells.h"
#include "site/judge/aggregates/sums.h"
#include "site/judge/aggregates/traced.h"
#include "site/judge/aggregates/watch.h"
#include "site/judge/words/words.h"
#include "site/judge/words/finding.h"

struct node {
	const char *name, *id;
	const struct policy_class *class; /* NULL: the policy names none */
	bool in_part; /* much of its traffic has a peer in no capture; then: */
	uint64_t one_ended, moved; /* bytes, of those and of all */
	bool whole; /* in_part, but complete by itself: others have no capture (a sweep) */
};

/* How long a process that calls MPI was observed, and in waits, ns. */
struct member_time {
	uint64_t calls; /* that were recorded; none: perhaps in one that began before */
	/* start of its first call, or when one that began before was seen; when it was last seen */
	uint64_t first, until;
	uint64_t caused; /* that others waited, at the end of a chain, for it */
	uint64_t late_progress; /* that others waited for its progress */
	uint64_t in_collectives; /* that it waited for the last one to enter, or for the root */
	uint64_t open; /* in its oldest call that has not returned for certain */
};

struct member {
	const char *id; /* words_keep(): "HOST-ID/PID/START/HOST-NAME" */
	struct fact_process fact; /* ucx and environment: NULL, see below */
	bool known;
	uint32_t exit_signal; /* that ended it; 0: none did, or that is not known */
	uint64_t ended_at; /* ns, CLOCK_MONOTONIC of its host; 0: it did not, or evidence has it */
	uint64_t outlived_ns; /* by the first rank of its host that no signal ended; 0: by none */
	VEC(struct fact_ucx) ucx;
	VEC(struct fact_variable) environment;
	uint64_t data_calls, ops;
	struct member_time time;
};

/* The identity of a capture that was gathered. */
struct aggregated_capture {
	const char *host_id, *host_name;
	uint64_t start; /* ns, CLOCK_MONOTONIC of the host */
};

/*
 * Indices are the analysis's while facts come in. aggregates_finish() sorts all lists, so that
 * their order depends on nothing but their contents.
 */
struct aggregates {
	const struct policy *policy;
	struct words words;
	VEC(struct aggregated_capture) captures;
	VEC(uint64_t)
	sizes; /* ascending: some powers of two, where the policy or a rule draws a line */
	VEC(struct traffic_cell) cells;
	size_t cells_with_lanes; /* of evidence: cells before it have got their lanes */
	struct rowset index; /* of cells, while facts come in */
	VEC(struct member) members;
	VEC(struct node) nodes; /* by fact_process.host */
	struct map by_id; /* what aggregates_member() and aggregates_place() find */
	struct waiting_transfers waiting; /* transfers that are in no cell yet */
	struct sums sums;
	struct traced traced; /* a sweep's own messages */
	struct op_watch watch;
	struct hang_facts hang; /* while facts come in */
	struct fact_totals totals;
};

void aggregates_init(struct aggregates *aggregates, const struct policy *policy);
void aggregates_release(struct aggregates *aggregates);
struct fact_sink aggregates_sink(struct aggregates *aggregates);

/* Whether a call of the process was recorded, or has not returned. */
bool member_in_mpi(const struct member *member);

/* The process with that id, which is kept; a new one if it is unknown. */
struct member *aggregates_member(struct aggregates *aggregates, const char *id);

/* Finds the host of a process by its id and name; a new one if it is unknown. */
void aggregates_place(struct aggregates *aggregates, struct fact_process *fact);

/* All facts are in; totals: NULL if none came as facts. */
void aggregates_finish(struct aggregates *aggregates, const struct fact_totals *totals);

/* The node of a process; NULL: unknown. */
struct node *aggregates_node(const struct aggregates *aggregates, int process);

/* ---- limits between sizes of messages ---- */

/* A size that cell_at_least() may be asked for. Before facts come. */
void aggregates_line(struct aggregates *aggregates, uint64_t bytes);

/*
 * Adds the sizes of the policy's expectations and of the settings of rules, and some powers of two.
 */
void aggregates_draw_lines(struct aggregates *aggregates);

/* The size class of that many bytes. */
int aggregates_size_class(const struct aggregates *aggregates, uint64_t bytes);

/* The line at which a class begins. */
uint64_t aggregates_class_from(const struct aggregates *aggregates, int class);

#endif
