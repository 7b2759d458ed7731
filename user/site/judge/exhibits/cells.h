/* SPDX-License-Identifier: BSD-3-Clause */
/* Cells: sums over transfers that are alike in all that rules ask for. */
#ifndef UCXBPF_JUDGE_EXHIBITS_CELLS_H
#define UCXBPF_JUDGE_EXHIBITS_CELLS_H

#include "site/judge/judge.h"
#include "explain/match/facts.h"

#define CELL_EXAMPLES 3

/*
 * Size class of messages of which only sums of their transfers are known: each message has as many
 * bytes as each of its transfers, or more.
 */
#define CELL_UNSIZED (-1)

struct exhibits;

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
	uint64_t least, most; /* bytes of the messages; CELL_UNSIZED: bounds, most UINT64_MAX */
	struct cell_example examples[CELL_EXAMPLES]; /* the earliest; of these, the smallest */
	size_t example_count;
};

/* A cell's n-th example as findings show it. */
struct finding_example cell_example(const struct cell *cell, size_t n);

/* An empty cell for such a transfer of a message of that size class. */
struct cell cell_of(const struct fact_transfer *transfer, int size_class);

/* The cell of that key, while facts come in; a new one where there is none yet. */
struct cell *cell_at(struct exhibits *exhibits, const struct cell *like);

/* Adds one of the same key. */
void cell_join(struct cell *cell, const struct cell *other);

/*
 * Whether all messages of a cell surely have at least, or surely less than, so many bytes, which
 * exhibits_line() has drawn. CELL_UNSIZED: it may be neither.
 */
bool cell_at_least(const struct exhibits *exhibits, const struct cell *cell, uint64_t bytes);
bool cell_below(const struct exhibits *exhibits, const struct cell *cell, uint64_t bytes);

#endif
