/* SPDX-License-Identifier: BSD-3-Clause */
/* What rules look at: sums over transfers that are alike, processes, calls. */
#ifndef UCXBPF_JUDGE_EXHIBITS_H
#define UCXBPF_JUDGE_EXHIBITS_H

#include "base/map.h"
#include "judge/judge.h"
#include "judge/sums.h"
#include "judge/traced.h"
#include "judge/watch.h"
#include "judge/words.h"

#define CELL_EXAMPLES 3

/* When a transfer of a cell began, ns of its process's host, and how long it was. */
struct cell_example {
	uint64_t start, bytes;
};

/* Transfers of data that have all this in common. */
struct cell {
	int process, peer; /* source and destination of the bytes; -1: unknown */
	const char *op, *transport, *device, *protocol, *function, *src_mem, *dst_mem;
	enum fact_locality locality;
	int size_class; /* between which of the policy's sizes the message's bytes are */
	uint64_t count, bytes;
	uint64_t least, most; /* bytes of the messages */
	struct cell_example examples[CELL_EXAMPLES]; /* the earliest; of these, the smallest */
	size_t example_count;
};

struct node {
	const char *name, *id;
	const struct policy_class *class; /* NULL: the policy names none */
	bool in_part; /* much of what it moved has its other end in no capture; then: */
	uint64_t one_ended, moved; /* bytes, of those and of all */
};

struct member {
	const char *id; /* words_keep(): "HOST-ID/PID/START/HOST-NAME" */
	struct fact_process fact; /* ucx and environment: NULL, see below */
	bool known;
	VEC(struct fact_ucx) ucx;
	VEC(struct fact_variable) environment;
	uint64_t data_calls, ops;
};

/* A transfer whose operation has not come yet: facts of operations come when these are over. */
struct waiting {
	struct fact_transfer transfer;
	uint64_t count, bytes;
	uint32_t next; /* 1 + the next one of the same operation */
};

/* Bytes of operations that were seen last, by id. */
#define RECENT_OPS (1 << 16)
#define MAX_WAITING (1 << 18)

/* A capture that was gathered: what tells it from every other one. */
struct exhibit_capture {
	const char *host_id, *host_name;
	uint64_t start; /* ns, CLOCK_MONOTONIC of the host */
};

/*
 * Indices are those of the analysis while facts come in. exhibits_finish() brings all lists into an
 * order that depends on nothing but what is in them.
 */
struct exhibits {
	const struct policy *policy;
	struct words words;
	VEC(struct exhibit_capture) captures;
	VEC(uint64_t)
	sizes; /* ascending: some powers of two, where the policy or a rule draws a line */
	VEC(struct cell) cells;
	struct map index; /* hash of a cell's key -> its first one, then next[] */
	VEC(uint32_t) next; /* of cells: 1 + the next one of the same hash */
	VEC(struct member) members;
	VEC(struct node) nodes; /* by fact_process.host */
	struct {
		uint64_t id, bytes;
	} * recent;
	VEC(struct waiting) waiting;
	struct map by_id; /* what exhibits_member() and exhibits_place() find */
	struct map waiting_for; /* id of an operation -> 1 + its first one */
	struct sums sums;
	struct traced traced; /* a sweep's own messages */
	struct watch watch;
	struct fact_totals totals;
};

void exhibits_init(struct exhibits *exhibits, const struct policy *policy);
void exhibits_release(struct exhibits *exhibits);
struct fact_sink exhibits_sink(struct exhibits *exhibits);

/* A cell's n-th example as findings show it. */
struct finding_example cell_example(const struct cell *cell, size_t n);

/* The id of a process, kept: the same one in whatever capture it is. */
const char *exhibits_id(struct exhibits *exhibits, const struct fact_process *fact);

/* The process of such an id, which is kept; a new one where there is none yet. */
struct member *exhibits_member(struct exhibits *exhibits, const char *id);

/* Finds the host of a process by its id and name, a new one where there is none yet. */
void exhibits_place(struct exhibits *exhibits, struct fact_process *fact);

/* An empty cell for such a transfer of a message of so many bytes. */
struct cell cell_of(const struct exhibits *exhibits, const struct fact_transfer *transfer,
		    uint64_t bytes);

/* The cell of that key, while facts come in; a new one where there is none yet. */
struct cell *cell_at(struct exhibits *exhibits, const struct cell *like);

/* Adds one of the same key. */
void cell_join(struct cell *cell, const struct cell *other);

/* Between which lines so many bytes are. */
int exhibits_size_class(const struct exhibits *exhibits, uint64_t bytes);

/* The line at which a class begins. */
uint64_t exhibits_class_from(const struct exhibits *exhibits, int class);

/* All that waits for its operation is counted by its own bytes. */
void exhibits_give_up_waiting(struct exhibits *exhibits);

/* All facts are in; totals: NULL where none came as facts. */
void exhibits_finish(struct exhibits *exhibits, const struct fact_totals *totals);

/* The node of a process; NULL: unknown. */
struct node *exhibits_node(const struct exhibits *exhibits, int process);

/* Whether all messages of a cell have at least, or less than, so many bytes. */
bool cell_at_least(const struct exhibits *exhibits, const struct cell *cell, uint64_t bytes);

/* A size that cell_at_least() may be asked for. */
void exhibits_line(struct exhibits *exhibits, uint64_t bytes);

#endif
