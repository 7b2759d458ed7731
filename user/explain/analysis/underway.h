/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls and queued operations found by looks at the processes. */
#ifndef UCXBPF_ANALYSIS_UNDERWAY_H
#define UCXBPF_ANALYSIS_UNDERWAY_H

#include "explain/analysis/emit.h"
#include "explain/waits/waits.h"

/* Whether its thread was looked at just before a time: only then a look is valid up to it. */
bool underway_looked(const struct call *call, uint64_t until);

/* Fills in the step of a call that waits_open() has filled in. */
void underway_step(const struct emitter *emitter, const struct call *call,
		   const struct awaited_state *state, struct fact_open *open);

/*
 * Whether the last look at a call's thread after its start found the thread in it. Then *open is
 * filled in except until; filled: waits_open() already has done so, NULL: it has not.
 */
enum underway { UNDERWAY_UNKNOWN, UNDERWAY_IN_CALL, UNDERWAY_ELSEWHERE };
enum underway underway_call(const struct emitter *emitter, const struct call *call,
			    const struct awaited_state *filled, struct fact_open *open);

/* Fills in the number of a blocking collective call. */
void underway_number(struct fact_open *open, const struct collective_identity *identity);

/* At the end: calls without a record, since they began before the trace; threads; queues. */
void emit_underway(struct emitter *emitter, struct waits *waits);

#endif
