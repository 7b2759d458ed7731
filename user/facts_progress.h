/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A line on stderr that says how far reading captures is, shown when stderr is a terminal and it
 * has taken a second; it leaves no trace.
 */
#ifndef UCXBPF_FACTS_PROGRESS_H
#define UCXBPF_FACTS_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "match/facts.h"

struct facts_progress {
	struct fact_sink to;
	const char *name; /* of the command */
	uint64_t facts;
	uint64_t started, shown; /* ns; shown 0 = nothing on the screen */
};

/* Returns a sink that counts what it passes on to *to; without a terminal, *to itself. */
struct fact_sink facts_progress_start(struct facts_progress *progress, const char *name,
				      const struct fact_sink *to);

/* Clears the line. */
void facts_progress_end(struct facts_progress *progress);

#endif
