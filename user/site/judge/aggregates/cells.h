/* SPDX-License-Identifier: BSD-3-Clause */
/* Cells: sums over transfers that do not differ in anything that rules distinguish. */
#ifndef UCXBPF_JUDGE_AGGREGATES_CELLS_H
#define UCXBPF_JUDGE_AGGREGATES_CELLS_H

#include <stdbool.h>

#include "base/map.h"
#include "base/vec.h"
#include "explain/facts/facts.h"
#include "site/judge/words/finding.h"

#define CELL_EXAMPLES 3

/*
 * Size class of messages of which only sums of their transfers are known: each message has as many
 * bytes as each of its transfers, or more.
 */
#define CELL_UNSIZED (-1)

struct aggregates;

/* When a transfer of a cell began, ns of its process's host, and how long it was. */
struct cell_example {
	uint64_t start, bytes;
};

/* Transfers of data that have all this in common. */
struct traffic_cell {
	int process, peer; /* source and destination of the bytes; -1: unknown */
	const char *op, *transport, *device, *protocol, *function, *src_mem, *dst_mem;
	enum fact_locality locality;
	/* the key ends with this */
	int size_class; /* between which of the policy's sizes the message's bytes are */
	uint64_t count, bytes;
	uint64_t least, most; /* bytes of the messages; CELL_UNSIZED: bounds, most UINT64_MAX */
	struct cell_example examples[CELL_EXAMPLES]; /* the earliest; of these, the smallest */
	size_t example_count;
	bool fetches; /* as of each transfer: by op and transport, so no part of the key */
	const char *lanes; /* fact_transfer.lanes of some of the transfers; NULL: unknown */
};

/* The process that starts the transfers, whose device the cell is of; and its peer. */
int cell_owner(const struct traffic_cell *cell);
int cell_other(const struct traffic_cell *cell);

/* A cell's n-th example as findings show it. */
struct finding_example cell_example(const struct traffic_cell *cell, size_t n);

/* Keeps the text that comes first in order of bytes. */
void cell_lanes(struct traffic_cell *cell, const char *lanes);

/* Adds one of the same key. */
void cell_join(struct traffic_cell *cell, const struct traffic_cell *other);

/*
 * Whether all messages of a cell surely have at least, or surely less than, that many bytes, a
 * limit set with aggregates_line(). CELL_UNSIZED: it may be neither.
 */
bool cell_at_least(const struct aggregates *aggregates, const struct traffic_cell *cell,
		   uint64_t bytes);
bool cell_below(const struct aggregates *aggregates, const struct traffic_cell *cell,
		uint64_t bytes);

/*
 * ---- transfers whose operation has not come yet ----
 *
 * A transfer may be a part of a message, and its cell depends on the size of the whole message,
 * which is known with the operation's fact, once the operation is over.
 */

struct waiting_transfer {
	struct fact_transfer transfer;
	uint64_t count, bytes; /* bytes of all transfers */
	uint64_t least; /* sums: bytes of each at least */
	bool sums; /* it stands for several, of which only sums are known */
	uint32_t next; /* 1 + the next one of the same operation */
};

struct recent_op {
	uint64_t id, bytes;
};

struct waiting_transfers {
	struct recent_op *recent; /* the latest ones, by id */
	VEC(struct waiting_transfer) list;
	struct map by_op; /* id of an operation -> 1 + its first one */
};

void waiting_init(struct waiting_transfers *waiting);
void waiting_release(struct waiting_transfers *waiting);

/* Counts a transfer in its cell, at once if its operation is known, else as soon as it comes. */
void waiting_take(struct aggregates *aggregates, const struct waiting_transfer *transfer);

/* An operation has come: counts all transfers that wait for it. */
void waiting_settle(struct aggregates *aggregates, uint64_t op, uint64_t bytes);

/* Counts transfers that still wait for their operation by their own bytes. */
void waiting_give_up(struct aggregates *aggregates);

/* ---- names of transports and of memory ---- */

/* Whether it goes through a NIC; false for an unknown transport. */
bool is_network(const char *transport);

/* "gpu", "gpu0"...; false for NULL, unknown. */
bool is_gpu(const char *memory);

#endif
