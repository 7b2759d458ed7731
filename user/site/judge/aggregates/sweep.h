/* SPDX-License-Identifier: BSD-3-Clause */
/* A sweep as rules see it: its plan, its ranks, and their ledgers. */
#ifndef UCXBPF_JUDGE_AGGREGATES_SWEEP_H
#define UCXBPF_JUDGE_AGGREGATES_SWEEP_H

#include "base/map.h"
#include "site/judge/aggregates/aggregates.h"
#include "site/judge/aggregates/inventory.h"
#include "site/judge/aggregates/traced.h"
#include "site/plan/ledger.h"

/* Whether a rank reported its position; part of evidence (docs/evidence.md). */
enum sweep_stuck {
	STUCK_NOT,
	STUCK_TOO_LONG, /* its round took longer than it may */
	/* the job was ended then: */
	STUCK_ENDED, /* it is not known by whom */
	STUCK_LIMIT, /* by the sweep, which gives it so much time */
	STUCK_INTERRUPTED, /* as the sweep was */
	STUCK_STOPPED, /* it did not run until then: others waited for it */
};

/* A process of the traffic program: the stage that confirms has processes of its own. */
struct sweep_rank {
	const char *host, *node_name; /* of the ledger, kept by the sweep */
	int node, local, rank, size; /* node: the plan's, -1: none of it */
	uint32_t pid;
	uint32_t job; /* of sweep_job_of() */
	unsigned int stages; /* that it was asked for */
	bool ended;
	enum plan_stage_kind stage; /* its position */
	uint32_t round;
	enum sweep_stuck stuck; /* if it is: */
	int waits_from, waits_to; /* nodes of the transfer it was in; -1: between two rounds */
	const char *waits; /* that, in words; kept by the sweep */
	uint64_t transfers, errors; /* in its ledger */
	int process; /* of traced; -1: no capture has it */
	uint32_t exit_signal; /* that ended this process; 0: none did, or no capture shows one */
	uint64_t outlived_ns; /* struct member's */
	const char *gone; /* "hangs or has died", or the signal; kept by the sweep */
};

/* The fate of a rank, as far as ledgers and captures show it. */
enum sweep_fate {
	FATE_ENDED,
	/* it was stopped, or died, or wrote nothing when its time was over while others did */
	FATE_HANGS,
	FATE_TAKEN, /* it does not wait either, but another one died, or was stopped, before */
	FATE_STUCK, /* none hangs: the two ends of a message wait for the same */
	FATE_WAITED, /* for one of these */
	FATE_UNKNOWN, /* the job was ended or stopped as a whole, for an unknown reason */
};

/* A line of a ledger. */
struct sweep_transfer {
	uint8_t stage, op, sub, src_local;
	uint16_t round, work; /* work: position among those of the stage */
	int32_t src, dst; /* nodes; dst -1: a collective */
	int32_t dst_rank;
	uint32_t count, errors;
	uint8_t times; /* number of occurrences */
	bool planned;
	float p25, p50, p75, p99; /* ns; 0: not timed */
};

/* Counts of a job's ranks. */
struct sweep_job {
	size_t waiting, stopped, silent; /* reported a wait; reported a stop; reported nothing */
	size_t too_long; /* of the waiting */
	size_t died; /* of the silent */
};

struct sweep {
	const struct plan *plan; /* NULL: none was given */
	VEC(struct plan *) own; /* plans that evidence brought */
	VEC(struct sweep_rank) ranks;
	struct map by_place; /* job << 32 | node * PLAN_MAX_RANKS + local -> 1 + position */
	VEC(struct sweep_transfer) transfers;
	struct map index; /* what and who -> 1 + position */
	VEC(char *) made;
	/*
	 * by node: why its times are unusable, since they are not of a network; NULL: they are
	 * usable; set by machines_find()
	 */
	const char **unusable;
	struct map captured; /* hashes of hosts that captures have a process of */
	size_t current; /* 1 + whose ledger is being read */
	size_t foreign; /* ledgers of other plans */
	size_t unplanned; /* lines of transfers that the plan does not have */
	/* once all is in: */
	const struct traced *traced;
	struct map by_member; /* position among aggregates' members -> 1 + position of its rank */
	VEC(struct sweep_job) jobs;
};

/* The plan, the caller's, which outlives the sweep. */
void sweep_plan(struct sweep *sweep, const struct plan *plan);

/*
 * Adds a plan from evidence, owned by the sweep from then on: it must be the present one, or one of
 * the two extends the other. False: it is another plan.
 */
bool sweep_take_plan(struct sweep *sweep, struct plan *plan);

/* Adds ranks and transfers from evidence; the texts that they point to stay valid. */
void sweep_add_rank(struct sweep *sweep, const struct sweep_rank *rank);
void sweep_add_transfer(struct sweep *sweep, const struct sweep_transfer *transfer);

/* Adds the next line of a ledger: its head comes first. */
void sweep_entry(struct sweep *sweep, const struct ledger_entry *entry);
void sweep_release(struct sweep *sweep);

/* All is in: finds each rank's process. */
void sweep_finish(struct sweep *sweep, struct aggregates *aggregates);

/* Whether captures have any process of that host. */
bool sweep_captured(const struct sweep *sweep, const char *host);

/* NULL: it did not start. */
struct sweep_rank *sweep_rank_at(const struct sweep *sweep, uint32_t job, int node, int local);

/* The rank of a process of captures; NULL: none. After sweep_finish(), as all below. */
const struct sweep_rank *sweep_rank_of_member(const struct sweep *sweep, int member);

/* Whether it logged neither its end nor its position. */
bool sweep_silent(const struct sweep_rank *rank);

/*
 * Whether it is silent, and captures say that a signal ended it which a process's own fault raises,
 * or before the job was ended: launchers send SIGKILL to all ranks when one is gone.
 */
bool sweep_died(const struct sweep_rank *rank);
enum sweep_fate sweep_fate(const struct sweep *sweep, const struct sweep_rank *rank);

/* The first rank of a job that others wait for, by FATE_HANGS or FATE_STUCK; NULL: none is to
 * blame. */
const struct sweep_rank *sweep_culprit(const struct sweep *sweep, uint32_t job);

/* The ledger's line of a planned step; NULL: none. */
struct sweep_transfer *sweep_transfer_of(const struct sweep *sweep, const struct plan_stage *stage,
					 uint32_t round, const struct plan_step *step);

/* Whether no end of the transfer is a node whose times are unusable. */
bool sweep_times_usable(const struct sweep *sweep, const struct sweep_transfer *transfer);

/* Which of several jobs a node does a round in: that of its part; the last one confirms. */
uint32_t sweep_job_of(const struct sweep *sweep, const struct plan_stage *stage, uint32_t round,
		      int node);

/* The plan's work that the transfer did. */
const struct plan_work *sweep_work(const struct sweep *sweep,
				   const struct sweep_transfer *transfer);

/*
 * ---- nodes whose times are no use ----
 *
 * Several nodes may be one machine, and a node may run more ranks than it has cores: then ranks
 * wait for a core, not for the network.
 */

/*
 * All inventories are in: sets sweep->unusable. Machines are distinguished by the boot id of their
 * kernel; a node without an inventory counts as a machine of its own.
 */
void machines_find(struct sweep *sweep, const struct node_inventories *inventories);

#endif
