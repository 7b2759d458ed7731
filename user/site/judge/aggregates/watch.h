/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Properties of operations beyond their transfers: which ones never ended, whose memory collectives
 * move, over which devices a message's fragments go, what UCX took a buffer for. Becomes sums.
 */
#ifndef UCXBPF_JUDGE_AGGREGATES_WATCH_H
#define UCXBPF_JUDGE_AGGREGATES_WATCH_H

#include "explain/facts/facts.h"
#include "site/judge/aggregates/sums.h"
#include "site/judge/words/words.h"

/* Operations and calls under way, by id: an older one is over when another takes its place. */
#define WATCH_ROOM (1 << 14)

struct watched_call {
	uint64_t id;
	int process;
	const char *function;
	uint64_t gpu, host; /* bytes of its operations */
};

struct watched_op {
	uint64_t id;
	int process; /* whose operation it is */
	VEC(struct watched_rail {
		const char *device;
		uint64_t fragments; /* assumed to be equal: only the last one is shorter */
		uint64_t bytes;
	})
	rails;
};

struct op_watch {
	struct sums *sums; /* where all goes; borrowed */
	struct words *words; /* likewise */
	struct watched_call *calls; /* NULL: none yet */
	struct watched_op *ops;
	struct map last_calls; /* (process, thread) -> 1 + position */
	VEC(struct last_call {
		uint64_t id;
		uint64_t start;
		const char *function;
	})
	threads;
	VEC(struct open_op {
		int process;
		int peer;
		uint32_t tid;
		uint64_t call;
		uint64_t start;
		uint64_t bytes;
		const char *op;
	})
	open; /* operations without an end */
	VEC(struct life {
		uint64_t last; /* the last operation that it was seen to begin */
		uint64_t until; /* when it was last seen, 0: not known */
		bool gpu_library;
	})
	lives; /* by process */
	bool windows; /* nothing was recorded between them: an end may not have been seen */
};

void watch_init(struct op_watch *watch, struct sums *sums, struct words *words);
void watch_process(struct op_watch *watch, const struct fact_process *process);
void watch_call(struct op_watch *watch, const struct fact_call *call);
void watch_op(struct op_watch *watch, const struct fact_op *op);

/* count equal transfers of bytes in total. */
void watch_transfer(struct op_watch *watch, const struct fact_transfer *transfer, uint64_t count,
		    uint64_t bytes);
void watch_lifetime(struct op_watch *watch, const struct fact_lifetime *lifetime);

/* All facts are in. */
void watch_finish(struct op_watch *watch);
void watch_release(struct op_watch *watch);

#endif
