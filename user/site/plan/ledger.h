/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The log of a sweep's ranks: one NDJSON file per rank, a line per transfer (docs/sweep-files.md).
 * A rank whose last line is missing did not finish.
 */
#ifndef UCXBPF_PLAN_LEDGER_H
#define UCXBPF_PLAN_LEDGER_H

#include "site/plan/plan.h"

#define LEDGER_SCHEMA "ucxbpf.ledger/1"

enum ledger_kind {
	LEDGER_HEAD, /* the first line: who writes */
	LEDGER_BEGIN, /* a round begins */
	LEDGER_TRANSFER, /* written by the sender, with the receiver's result */
	LEDGER_STUCK, /* it gave up waiting */
	LEDGER_END,
	LEDGER_KINDS
};

/* Times of one message and its empty answer, ns by the sender's clock; of a collective, of one
 * call. */
struct ledger_times {
	uint64_t timed; /* how many; the others are then 0 */
	uint64_t min, p25, p50, p75, p99, max;
};

struct ledger_entry {
	enum ledger_kind kind;
	int rank; /* of who wrote it, in MPI_COMM_WORLD */
	/* of a head */
	const char *plan; /* its id */
	const char *node, *host, *mpi; /* node: as the plan names it */
	unsigned int stages; /* the stages it was asked for: bits 1 << enum plan_stage_kind */
	int size, local;
	uint32_t pid; /* in its own namespace */
	uint32_t part; /* of the plan; 0 if it gives none */
	/* of all others but an end */
	enum plan_stage_kind stage;
	uint32_t round;
	/* of a transfer, or of the transfer that was awaited */
	enum plan_op op;
	uint32_t sub;
	const char *src, *dst; /* nodes; dst NULL: a collective; both: between two rounds */
	int src_rank, dst_rank; /* -1: none */
	enum plan_memory src_mem, dst_mem;
	uint64_t msg_size, count, bytes; /* of each; how many; all */
	uint64_t errors; /* messages with wrong content */
	struct ledger_times ns;
	/*
	 * of a stuck rank: it was stopped until then; it was ended, perhaps before its time was
	 * over
	 */
	bool late, by_signal;
	enum plan_ender ender; /* of one that was ended */
	/* of an end */
	uint64_t transfers; /* lines of this file that are some */
};

/*
 * Gives every line of a file to take(); the entry is valid during the call. A truncated last line
 * is ignored, so that the end is missing. -EINVAL: why names the bad line; else 0 or -errno.
 */
int ledger_read(const char *path, void (*take)(void *arg, const struct ledger_entry *entry),
		void *arg, char why[PLAN_WHY]);

#endif
