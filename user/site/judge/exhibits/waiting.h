/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Transfers whose operation has not come yet: facts of operations come when these are over, and a
 * cell is told by how many bytes the message has, of which a transfer may be a part.
 */
#ifndef UCXBPF_JUDGE_EXHIBITS_WAITING_H
#define UCXBPF_JUDGE_EXHIBITS_WAITING_H

#include <stdbool.h>

#include "base/map.h"
#include "base/vec.h"
#include "explain/match/facts.h"

struct exhibits;

struct waiting_transfer {
	struct fact_transfer transfer;
	uint64_t count, bytes; /* of all that it stands for */
	uint64_t least; /* sums: bytes of each at least */
	bool sums; /* it stands for several, of which only sums are known */
	uint32_t next; /* 1 + the next one of the same operation */
};

struct recent_op {
	uint64_t id, bytes;
};

struct waiting {
	struct recent_op *recent; /* those that were seen last, by id */
	VEC(struct waiting_transfer) list;
	struct map by_op; /* id of an operation -> 1 + its first one */
};

void waiting_init(struct waiting *waiting);
void waiting_release(struct waiting *waiting);

/* Counts a transfer in its cell, at once if its operation is known, else as soon as it comes. */
void waiting_take(struct exhibits *exhibits, const struct waiting_transfer *transfer);

/* An operation has come: all that waits for it is counted. */
void waiting_settle(struct exhibits *exhibits, uint64_t op, uint64_t bytes);

/* All that waits for its operation is counted by its own bytes. */
void waiting_give_up(struct exhibits *exhibits);

#endif
