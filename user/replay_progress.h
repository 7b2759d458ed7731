/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A line on stderr that says how far a replay is, shown when stderr is a terminal and the replay
 * has taken a second; it leaves no trace.
 */
#ifndef UCXBPF_REPLAY_PROGRESS_H
#define UCXBPF_REPLAY_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "match/facts.h"

struct replay_progress {
	struct fact_sink to;
	uint64_t facts;
	uint64_t started, shown; /* ns; shown 0 = nothing on the screen */
};

/* Returns a sink that counts what it passes on to *to; without a terminal, *to itself. */
struct fact_sink replay_progress_start(struct replay_progress *progress,
				       const struct fact_sink *to);

/* Clears the line. */
void replay_progress_end(struct replay_progress *progress);

#endif
