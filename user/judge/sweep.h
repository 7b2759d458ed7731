/* SPDX-License-Identifier: BSD-3-Clause */
/* A sweep as rules look at it: its plan, its ranks, and what their ledgers say they did. */
#ifndef UCXBPF_JUDGE_SWEEP_H
#define UCXBPF_JUDGE_SWEEP_H

#include "base/map.h"
#include "judge/exhibits.h"
#include "judge/traced.h"
#include "plan/ledger.h"

/* A process of the traffic program: the stage that confirms has processes of its own. */
struct sweep_rank {
	const char *host, *node_name; /* of the ledger, kept by the sweep */
	int node, local, rank, size; /* node: the plan's, -1: none of it */
	uint32_t pid;
	bool again; /* carries out the plan with the stage that confirms */
	unsigned int stages; /* that it was asked for */
	bool ended;
	enum plan_stage_kind stage; /* where it came to */
	uint32_t round;
	bool stuck; /* and said so, in time; then: */
	int waits_from, waits_to; /* nodes of the transfer it was in; -1: between two rounds */
	const char *waits; /* that, in words; kept by the sweep */
	uint64_t transfers, errors; /* in its ledger */
	int process; /* of traced; -1: no capture has it */
};

/* A line of a ledger. */
struct sweep_transfer {
	uint8_t stage, op, sub, src_local;
	uint16_t round, work; /* work: position among those of the stage */
	int32_t src, dst; /* nodes; dst -1: a collective */
	int32_t dst_rank;
	uint32_t count, errors;
	uint8_t times; /* how often it is there */
	bool planned;
	float p25, p50, p75, p99; /* ns; 0: not timed */
};

struct sweep {
	const struct plan *plan; /* NULL: none was given */
	VEC(struct sweep_rank) ranks;
	struct map by_rank; /* again << 32 | rank -> 1 + position */
	struct map by_place; /* again << 32 | node * PLAN_MAX_RANKS + local -> 1 + position */
	VEC(struct sweep_transfer) transfers;
	struct map index; /* what and who -> 1 + position */
	VEC(char *) made;
	struct map captured; /* hashes of hosts that captures have a process of */
	size_t current; /* 1 + whose ledger is being read */
	size_t foreign; /* ledgers of other plans */
	size_t unplanned; /* lines of transfers that the plan does not have */
	const struct traced *traced; /* once all is in */
};

void sweep_plan(struct sweep *sweep, const struct plan *plan);
void sweep_entry(struct sweep *sweep, const struct ledger_entry *entry);
void sweep_release(struct sweep *sweep);

/* All is in: finds each rank's process. */
void sweep_finish(struct sweep *sweep, struct exhibits *exhibits);

/* Whether captures have any process of that host. */
bool sweep_captured(const struct sweep *sweep, const char *host);

/* NULL: it did not start. */
struct sweep_rank *sweep_rank_at(const struct sweep *sweep, bool again, int node, int local);
struct sweep_rank *sweep_rank_of(const struct sweep *sweep, bool again, int rank);

/* What a ledger says of a planned step; NULL: nothing. */
struct sweep_transfer *sweep_transfer_of(const struct sweep *sweep, const struct plan_stage *stage,
					 uint32_t round, const struct plan_step *step);

/* Whether a stage was carried out by the processes of the confirmation. */
bool sweep_again(const struct sweep *sweep, const struct plan_stage *stage);

const struct plan_work *sweep_work(const struct sweep *sweep,
				   const struct sweep_transfer *transfer);

#endif
