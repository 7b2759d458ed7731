/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What an operation that is under way waits for in UCX's protocols: from its records, and from the
 * last look at its own and its peer's queues (docs/waits.md).
 */
#ifndef UCXBPF_ANALYSIS_STEP_H
#define UCXBPF_ANALYSIS_STEP_H

#include "explain/waits/waits.h"

struct op_step {
	const char *name; /* FACT_STEP_...; NULL: not known */
	const char *reason; /* why not */
	uint64_t bytes, moved; /* as in struct fact_open */
};

/* Without any operation. */
struct op_step step_none(void);

/*
 * state: what its records show; queued: its row in the queues of its process; either may be NULL.
 * peer: of a send; NULL: not known.
 */
struct op_step step_of(const struct process *process, const struct awaited_state *state,
		       const struct queued *queued, const struct process *peer);

/* The common step of two operations, one of which it is; else none. */
struct op_step step_join(struct op_step a, struct op_step b);

/* The row of the operation in its process's queues; NULL: it is not there, or they are older. */
const struct queued *step_row(const struct process *process, const struct awaited_state *state);

void step_tell(struct op_step step, struct fact_open *open);

#endif
