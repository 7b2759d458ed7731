/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What captures show of a sweep's traffic (user/site/traffic/): its messages by their ends and
 * size. They are the ones that MPI_Isend and MPI_Start send; those of collectives are counted as
 * calls. Kept without a plan as well, since captures may become evidence before it is given.
 */
#ifndef UCXBPF_JUDGE_AGGREGATES_TRACED_H
#define UCXBPF_JUDGE_AGGREGATES_TRACED_H

#include "base/map.h"
#include "base/vec.h"
#include "explain/facts/facts.h"

enum traced_memory { TRACED_UNKNOWN, TRACED_HOST, TRACED_GPU, TRACED_MEMORIES };
enum traced_call { TRACED_ALLTOALL, TRACED_ALLREDUCE, TRACED_CALLS };

struct traced {
	VEC(struct traced_process {
		const char *id; /* aggregates_id() */
		bool counted; /* of a capture made with --count: no single messages */
		uint64_t calls[TRACED_CALLS];
	})
	processes;
	struct map by_id; /* address of an id -> 1 + index */
	VEC(uint32_t)
	by_fact; /* 1 + position by fact_process.index; 0: no process of the traffic */
	struct map sent; /* process; size * TRACED_MEMORIES + memory -> messages */
	struct map met; /* process << 32 | peer; size -> messages that arrived at their peer */
};

/* Position of the process with that id; a new one if it is unknown. */
uint32_t traced_at(struct traced *traced, const char *id);

/* Whether there is a process of that id. */
bool traced_is(const struct traced *traced, const char *id);

/* Whether a process of the facts is one of the traffic's. */
bool traced_has(const struct traced *traced, int process);

/* Other programs' traffic is not kept. */
void traced_process(struct traced *traced, const struct fact_process *fact, const char *id);
void traced_call(struct traced *traced, const struct fact_call *call);
void traced_op(struct traced *traced, const struct fact_op *op);
void traced_sums(struct traced *traced, const struct fact_op *op);
void traced_message(struct traced *traced, const struct fact_message *message);
void traced_release(struct traced *traced);

/* Keys of the sums below; part of evidence. */
uint64_t traced_sent_key(uint64_t size, enum traced_memory memory);
uint64_t traced_met_key(uint32_t process, uint32_t peer);

/* Messages of a size that a process sent, from memory of some kind. */
uint64_t traced_sent(const struct traced *traced, size_t process, uint64_t size,
		     enum traced_memory memory);
uint64_t traced_met(const struct traced *traced, size_t process, size_t peer, uint64_t size);

#endif
