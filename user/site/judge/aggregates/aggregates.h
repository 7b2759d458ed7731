/* SPDX-License-Identifier: BSD-3-Clause */
/* The aggregates that rules read: sums over transfers that are alike, processes, calls. */
#ifndef UCXBPF_JUDGE_AGGREGATES_AGGREGATES_H
#define UCXBPF_JUDGE_AGGREGATES_AGGREGATES_H

#include "base/map.h"
#include "site/judge/aggregates/cells.h"
#include "site/judge/aggregates/sums.h"
#include "site/judge/aggregates/traced.h"
#include "site/judge/aggregates/watch.h"
#include "site/judge/aggregates/words.h"
#include "site/judge/judge.h"

struct node {
	const char *name, *id;
	const struct policy_class *class; /* NULL: the policy names none */
	bool in_part; /* much of its traffic has the other end in no capture; then: */
	uint64_t one_ended, moved; /* bytes, of those and of all */
	bool whole; /* in_part, but by its own all is there: others have no capture (a sweep) */
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
};

/* A capture that was gathered: what tells it from every other one. */
struct exhibit_capture {
	const char *host_id, *host_name;
	uint64_t start; /* ns, CLOCK_MONOTONIC of the host */
};

/*
 * Indices are the analysis's while facts come in. exhibits_finish() sorts all lists, so that their
 * order depends on nothing but their contents.
 */
struct exhibits {
	const struct policy *policy;
	struct words words;
	VEC(struct exhibit_capture) captures;
	VEC(uint64_t)
	sizes; /* ascending: some powers of two, where the policy or a rule draws a line */
	VEC(struct cell) cells;
	struct rowset index; /* of cells, while facts come in */
	VEC(struct member) members;
	VEC(struct node) nodes; /* by fact_process.host */
	struct map by_id; /* what exhibits_member() and exhibits_place() find */
	struct waiting waiting; /* transfers that are in no cell yet */
	struct sums sums;
	struct traced traced; /* a sweep's own messages */
	struct watch watch;
	struct fact_totals totals;
};

void exhibits_init(struct exhibits *exhibits, const struct policy *policy);
void exhibits_release(struct exhibits *exhibits);
struct fact_sink exhibits_sink(struct exhibits *exhibits);

/* The process with that id, which is kept; a new one if it is unknown. */
struct member *exhibits_member(struct exhibits *exhibits, const char *id);

/* Finds the host of a process by its id and name; a new one if it is unknown. */
void exhibits_place(struct exhibits *exhibits, struct fact_process *fact);

/* All facts are in; totals: NULL where none came as facts. */
void exhibits_finish(struct exhibits *exhibits, const struct fact_totals *totals);

/* The node of a process; NULL: unknown. */
struct node *exhibits_node(const struct exhibits *exhibits, int process);

/* ---- lines between sizes of messages ---- */

/* A size that cell_at_least() may be asked for. Before facts come. */
void exhibits_line(struct exhibits *exhibits, uint64_t bytes);

/* Those that the policy's expectations and the settings of rules draw, and some powers of two. */
void exhibits_draw_lines(struct exhibits *exhibits);

/* Between which lines so many bytes are. */
int exhibits_size_class(const struct exhibits *exhibits, uint64_t bytes);

/* The line at which a class begins. */
uint64_t exhibits_class_from(const struct exhibits *exhibits, int class);

#endif
