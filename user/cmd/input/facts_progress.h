/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A line on stderr that says how far reading captures is, shown when stderr is a terminal and it
 * has taken a second; it leaves no trace.
 */
#ifndef UCXBPF_CMD_INPUT_FACTS_PROGRESS_H
#define UCXBPF_CMD_INPUT_FACTS_PROGRESS_H

#include <stdint.h>

struct analysis;

struct facts_progress {
	const char *name; /* of the command */
	uint64_t started, shown; /* ns; shown 0 = nothing on the screen */
};

/* Before analysis_run(), through which progress must stay. */
void facts_progress_start(struct facts_progress *progress, const char *name,
			  struct analysis *analysis);

/* Clears the line. */
void facts_progress_end(struct facts_progress *progress);

#endif
