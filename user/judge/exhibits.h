/* SPDX-License-Identifier: BSD-3-Clause */
/* What rules look at: sums over transfers that are alike, processes, calls. */
#ifndef UCXBPF_JUDGE_EXHIBITS_H
#define UCXBPF_JUDGE_EXHIBITS_H

#include "base/map.h"
#include "judge/judge.h"

/* Transfers of data that have all this in common. */
struct cell {
	int process, peer; /* source and destination of the bytes; -1: unknown */
	const char *op, *transport, *device, *protocol, *function, *src_mem, *dst_mem;
	enum fact_locality locality;
	int size_class; /* between which of the policy's sizes the message's bytes are */
	uint64_t count, bytes;
	uint64_t least, most; /* bytes of the messages */
	struct finding_example examples[FINDING_EXAMPLES];
	size_t example_count;
};

struct node {
	const char *name, *id;
	const struct policy_class *class; /* NULL: the policy names none */
	bool in_part; /* much of what it moved has its other end in no capture */
};

struct member {
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

struct exhibits {
	const struct policy *policy;
	VEC(uint64_t) sizes; /* ascending: where the policy or a rule draws a line */
	VEC(struct cell) cells;
	struct map index; /* hash of a cell's key -> its first one, then next[] */
	VEC(uint32_t) next; /* of cells: 1 + the next one of the same hash */
	VEC(struct member) members;
	VEC(struct node) nodes; /* by fact_process.host */
	struct {
		uint64_t id, bytes;
	} * recent;
	VEC(struct waiting) waiting;
	struct map waiting_for; /* id of an operation -> 1 + its first one */
	struct fact_totals totals;
};

void exhibits_init(struct exhibits *exhibits, const struct policy *policy);
void exhibits_release(struct exhibits *exhibits);
struct fact_sink exhibits_sink(struct exhibits *exhibits);

/* All facts are in. */
void exhibits_finish(struct exhibits *exhibits, const struct fact_totals *totals);

/* The node of a process; NULL: unknown. */
struct node *exhibits_node(const struct exhibits *exhibits, int process);

/* Whether all messages of a cell have at least, or less than, so many bytes. */
bool cell_at_least(const struct exhibits *exhibits, const struct cell *cell, uint64_t bytes);

/* A size that cell_at_least() may be asked for. */
void exhibits_line(struct exhibits *exhibits, uint64_t bytes);

#endif
